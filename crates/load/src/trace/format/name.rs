//! The formats by name.

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// Our own: `t_us,op,offset,length,done_us`, and optionally `,fua,preflush`.
    Csv,
    /// Text output of `blkparse`.
    Blkparse,
    /// What `blktrace` writes: `struct blk_io_trace`, either byte order.
    Blktrace,
    /// fio's `write_iolog` before 3.31.
    IologV2,
    /// fio's `write_iolog`, with times.
    IologV3,
    /// Microsoft Research Cambridge.
    Msr,
    /// Storage Performance Council.
    Spc,
    /// DiskSim ASCII: times in ms with a point.
    Disksim,
    /// MQSim ASCII: the same columns, times in whole ns.
    Mqsim,
    /// bcc's and libbpf-tools' `biosnoop`.
    Biosnoop,
}

impl TraceFormat {
    /// Every format.
    pub const ALL: [TraceFormat; 10] = [
        TraceFormat::Csv,
        TraceFormat::Blkparse,
        TraceFormat::Blktrace,
        TraceFormat::IologV2,
        TraceFormat::IologV3,
        TraceFormat::Msr,
        TraceFormat::Spc,
        TraceFormat::Disksim,
        TraceFormat::Mqsim,
        TraceFormat::Biosnoop,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            TraceFormat::Csv => "csv",
            TraceFormat::Blkparse => "blkparse",
            TraceFormat::Blktrace => "blktrace",
            TraceFormat::IologV2 => "fio-iolog-2",
            TraceFormat::IologV3 => "fio-iolog-3",
            TraceFormat::Msr => "msr",
            TraceFormat::Spc => "spc",
            TraceFormat::Disksim => "disksim",
            TraceFormat::Mqsim => "mqsim",
            TraceFormat::Biosnoop => "biosnoop",
        }
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<TraceFormat> {
        TraceFormat::ALL.into_iter().find(|f| f.name() == name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        TraceFormat::ALL.map(TraceFormat::name).join(", ")
    }
}
