//! The formats by name.

use super::columns::{ALIBABA, ColumnTable, SYSTOR, TENCENT};
use ssdlab_base::LabError;

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
    /// CloudPhysics' records of virtual disks; read only.
    CloudPhysics,
    /// Columns in an order of their own; read only.
    Columns(&'static ColumnTable),
}

impl TraceFormat {
    /// Every format that is written, too.
    pub const WRITTEN: [TraceFormat; 10] = [
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

    /// Formats that are read only.
    pub const READ_ONLY: [TraceFormat; 4] = [
        TraceFormat::Columns(&ALIBABA),
        TraceFormat::Columns(&TENCENT),
        TraceFormat::Columns(&SYSTOR),
        TraceFormat::CloudPhysics,
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
            TraceFormat::CloudPhysics => "cloudphysics",
            TraceFormat::Columns(table) => table.name,
        }
    }

    /// The format of that name, or of the columns that it describes.
    ///
    /// # Errors
    /// When it is neither; the hint lists the names.
    pub fn named(name: &str) -> Result<TraceFormat, LabError> {
        if let Some(table) = ColumnTable::described(name) {
            return table.map(TraceFormat::Columns);
        }
        let mut formats = TraceFormat::WRITTEN
            .into_iter()
            .chain(TraceFormat::READ_ONLY);
        formats.find(|format| format.name() == name).ok_or_else(|| {
            LabError::refused(
                format!("`{name}` is no trace format"),
                format!("known are {}", TraceFormat::names()),
            )
        })
    }

    /// The format of that name, to be written.
    ///
    /// # Errors
    /// When the name is unknown or the format is only read; the hint lists those there are.
    pub fn to_write(name: &str) -> Result<TraceFormat, LabError> {
        let format = TraceFormat::named(name)?;
        format.require_written().map(|()| format)
    }

    /// Refuses a format that is only read.
    ///
    /// # Errors
    /// When it is; the hint lists those that are written.
    pub fn require_written(self) -> Result<(), LabError> {
        if TraceFormat::WRITTEN.contains(&self) {
            return Ok(());
        }
        let names = TraceFormat::WRITTEN.map(TraceFormat::name);
        Err(LabError::refused(
            format!("traces are not written as `{}`", self.name()),
            format!("written are {}", names.join(", ")),
        ))
    }

    /// All names, for messages.
    pub fn names() -> String {
        let formats = TraceFormat::WRITTEN
            .into_iter()
            .chain(TraceFormat::READ_ONLY);
        let names: Vec<&str> = formats.map(TraceFormat::name).collect();
        format!(
            "{}; or columns, as csv:time=us,op,offset,length",
            names.join(", ")
        )
    }
}
