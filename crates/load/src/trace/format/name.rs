//! The formats by name.

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
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

impl Format {
    /// Every format.
    pub const ALL: [Format; 10] = [
        Format::Csv,
        Format::Blkparse,
        Format::Blktrace,
        Format::IologV2,
        Format::IologV3,
        Format::Msr,
        Format::Spc,
        Format::Disksim,
        Format::Mqsim,
        Format::Biosnoop,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Blkparse => "blkparse",
            Format::Blktrace => "blktrace",
            Format::IologV2 => "fio-iolog-2",
            Format::IologV3 => "fio-iolog-3",
            Format::Msr => "msr",
            Format::Spc => "spc",
            Format::Disksim => "disksim",
            Format::Mqsim => "mqsim",
            Format::Biosnoop => "biosnoop",
        }
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }
}
