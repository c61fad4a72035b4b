//! Commands of the host, the same for a modelled and for a real drive.

/// The kind of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Op {
    /// Read `len` bytes at `offset`.
    Read = 0,
    /// Write `len` bytes at `offset`.
    Write = 1,
    /// Mark `len` bytes at `offset` as no longer needed (TRIM, Deallocate).
    Trim = 2,
    /// Make every write completed before this command durable; `offset` and `len` are zero.
    Flush = 3,
    /// Write zeroes without transferring them.
    WriteZeroes = 4,
}

impl Op {
    /// Number of kinds, for tables indexed by `op as usize`.
    pub const COUNT: usize = 5;
    /// Every kind, in index order.
    pub const ALL: [Op; Op::COUNT] = [Op::Read, Op::Write, Op::Trim, Op::Flush, Op::WriteZeroes];

    /// The name used in the command line, JSON, CSV and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "flush",
            Op::WriteZeroes => "write_zeroes",
        }
    }
}

/// One host command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Command {
    /// First byte addressed. A multiple of the logical block size (512).
    pub offset: u64,
    /// Bytes addressed. A multiple of the logical block size; zero for a flush.
    pub len: u32,
    /// Kind of the command.
    pub op: Op,
    /// Force unit access: a write must be durable when it completes.
    pub fua: bool,
    /// Compressibility: percentage of the data that a compressor removes (0 = random data).
    pub compress_pct: u8,
    /// Stream that the host names for a write; used by drives that separate data by stream.
    pub stream: u8,
}

impl Command {
    /// A read.
    pub const fn read(offset: u64, len: u32) -> Command {
        Command {
            offset,
            len,
            op: Op::Read,
            fua: false,
            compress_pct: 0,
            stream: 0,
        }
    }

    /// A write of incompressible data, not forced to media.
    pub const fn write(offset: u64, len: u32) -> Command {
        Command {
            offset,
            len,
            op: Op::Write,
            fua: false,
            compress_pct: 0,
            stream: 0,
        }
    }

    /// A write of incompressible data that is durable when it completes.
    pub const fn write_fua(offset: u64, len: u32) -> Command {
        Command {
            fua: true,
            ..Command::write(offset, len)
        }
    }

    /// A TRIM.
    pub const fn trim(offset: u64, len: u32) -> Command {
        Command {
            op: Op::Trim,
            ..Command::write(offset, len)
        }
    }

    /// A flush of the drive's write buffer.
    pub const fn flush() -> Command {
        Command {
            op: Op::Flush,
            ..Command::write(0, 0)
        }
    }
}
