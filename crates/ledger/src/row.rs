//! A row of the ledger: one figure of one drive, with everything that decides it.

use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The words of a column's closed list.
macro_rules! words {
    ($name:ident { $($variant:ident = $word:literal,)* }) => {
        impl $name {
            /// Every word, in order.
            pub const ALL: &[$name] = &[$($name::$variant,)*];

            /// The word in a ledger file.
            pub fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// The variant of a word.
            pub fn of_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|variant| variant.word() == word)
            }

            /// The words that are allowed, for messages.
            pub fn allowed() -> String {
                let words: Vec<&str> = $name::ALL.iter().map(|variant| variant.word()).collect();
                format!("{} are allowed", words.join(", "))
            }
        }
    };
}

/// How a drive is attached.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum LinkKind {
    /// SATA at 3 Gb/s.
    #[serde(rename = "sata-3g")]
    Sata3,
    /// SATA at 6 Gb/s.
    #[serde(rename = "sata-6g")]
    Sata6,
    /// SAS at 6 Gb/s, two ports.
    #[serde(rename = "sas-6g")]
    Sas6,
    /// SAS at 12 Gb/s, two ports.
    #[serde(rename = "sas-12g")]
    Sas12,
    /// SAS at 24 Gb/s, two ports.
    #[serde(rename = "sas-24g")]
    Sas24,
    /// NVMe; the source does not say which PCIe.
    #[serde(rename = "nvme")]
    Nvme,
    /// NVMe over two lanes of PCIe 3.0.
    #[serde(rename = "nvme-3-x2")]
    Nvme3X2,
    /// NVMe over four lanes of PCIe 3.0.
    #[serde(rename = "nvme-3")]
    Nvme3,
    /// NVMe over four lanes of PCIe 4.0.
    #[serde(rename = "nvme-4")]
    Nvme4,
    /// NVMe over four lanes of PCIe 5.0.
    #[serde(rename = "nvme-5")]
    Nvme5,
    /// Eight lanes of PCIe 2.0.
    #[serde(rename = "pcie-2-x8")]
    Pcie2X8,
    /// Eight lanes of PCIe 3.0.
    #[serde(rename = "pcie-3-x8")]
    Pcie3X8,
    /// USB, or what a USB bridge leaves visible.
    #[serde(rename = "usb")]
    Usb,
}

words!(LinkKind {
    Sata3 = "sata-3g",
    Sata6 = "sata-6g",
    Sas6 = "sas-6g",
    Sas12 = "sas-12g",
    Sas24 = "sas-24g",
    Nvme = "nvme",
    Nvme3X2 = "nvme-3-x2",
    Nvme3 = "nvme-3",
    Nvme4 = "nvme-4",
    Nvme5 = "nvme-5",
    Pcie2X8 = "pcie-2-x8",
    Pcie3X8 = "pcie-3-x8",
    Usb = "usb",
});

impl LinkKind {
    /// Bytes per second that the link can carry, after its line code.
    pub fn bytes_per_second(self) -> f64 {
        match self {
            LinkKind::Sata3 => 300e6,
            LinkKind::Sata6 => 600e6,
            LinkKind::Sas6 => 1200e6,
            LinkKind::Sas12 => 2400e6,
            LinkKind::Sas24 => 4800e6,
            LinkKind::Nvme3X2 => 1970e6,
            LinkKind::Nvme3 => 3940e6,
            LinkKind::Nvme4 | LinkKind::Pcie3X8 => 7880e6,
            LinkKind::Pcie2X8 => 4000e6,
            LinkKind::Usb => 2500e6,
            // The fastest there is.
            LinkKind::Nvme | LinkKind::Nvme5 => 15_760e6,
        }
    }

    /// Whether the drive speaks NVMe.
    pub fn is_nvme(self) -> bool {
        self.word().starts_with("nvme")
    }
}

/// What the drive held when the figure was taken.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum DriveState {
    /// Empty or nearly so.
    #[serde(rename = "fresh")]
    Fresh,
    /// Filled once or more.
    #[serde(rename = "filled")]
    Filled,
    /// In use before, how is not said.
    #[serde(rename = "used")]
    Used,
    /// Written until the rate no longer changed.
    #[serde(rename = "steady")]
    Steady,
    /// At work for its owner.
    #[serde(rename = "in-service")]
    InService,
    /// Not said.
    #[serde(rename = "unknown")]
    Unknown,
}

words!(DriveState {
    Fresh = "fresh",
    Filled = "filled",
    Used = "used",
    Steady = "steady",
    InService = "in-service",
    Unknown = "unknown",
});

/// What lay between the load and the drive.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Through {
    /// The block device itself.
    #[serde(rename = "raw")]
    Raw,
    /// A file of a file system on one drive.
    #[serde(rename = "file-system")]
    FileSystem,
    /// Several drives as one.
    #[serde(rename = "raid")]
    Raid,
    /// A maker's sheet, which seldom says.
    #[serde(rename = "sheet")]
    Sheet,
    /// The drive's own counters.
    #[serde(rename = "counters")]
    Counters,
    /// Not said.
    #[serde(rename = "unknown")]
    Unknown,
}

words!(Through {
    Raw = "raw",
    FileSystem = "file-system",
    Raid = "raid",
    Sheet = "sheet",
    Counters = "counters",
    Unknown = "unknown",
});

/// Kind of the commands of a load.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum LoadKind {
    /// Sequential reads.
    #[serde(rename = "read")]
    Read,
    /// Sequential writes.
    #[serde(rename = "write")]
    Write,
    /// Random reads.
    #[serde(rename = "randread")]
    RandRead,
    /// Random writes.
    #[serde(rename = "randwrite")]
    RandWrite,
    /// Random reads and writes.
    #[serde(rename = "randrw")]
    RandRw,
    /// Sequential reads and writes.
    #[serde(rename = "rw")]
    Rw,
    /// The same place written again and again, as `pg_test_fsync` does.
    #[serde(rename = "overwrite")]
    Overwrite,
    /// A trace played back.
    #[serde(rename = "trace")]
    Trace,
}

words!(LoadKind {
    Read = "read",
    Write = "write",
    RandRead = "randread",
    RandWrite = "randwrite",
    RandRw = "randrw",
    Rw = "rw",
    Overwrite = "overwrite",
    Trace = "trace",
});

impl LoadKind {
    /// Whether the load writes.
    pub fn writes(self) -> bool {
        !matches!(self, LoadKind::Read | LoadKind::RandRead)
    }
}

/// How a load makes its writes durable.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum SyncMethod {
    /// Not at all.
    #[serde(rename = "none")]
    None,
    /// `fsync` after each write.
    #[serde(rename = "fsync")]
    Fsync,
    /// `fdatasync` after each write.
    #[serde(rename = "fdatasync")]
    Fdatasync,
    /// A flush command after each write.
    #[serde(rename = "flush")]
    Flush,
    /// `O_DSYNC`: FUA, or a write and a flush.
    #[serde(rename = "open-datasync")]
    OpenDatasync,
    /// `O_SYNC`: the same, and the file's times.
    #[serde(rename = "open-sync")]
    OpenSync,
}

words!(SyncMethod {
    None = "none",
    Fsync = "fsync",
    Fdatasync = "fdatasync",
    Flush = "flush",
    OpenDatasync = "open-datasync",
    OpenSync = "open-sync",
});

/// Who says the figure, and from which kind of evidence.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum FigureKind {
    /// A maker's sheet.
    #[serde(rename = "sheet")]
    Sheet,
    /// A test whose raw results were read.
    #[serde(rename = "test")]
    Test,
    /// A review.
    #[serde(rename = "review")]
    Review,
    /// Counters of drives in service.
    #[serde(rename = "field")]
    Field,
}

words!(FigureKind {
    Sheet = "sheet",
    Test = "test",
    Review = "review",
    Field = "field",
});

/// What a row may be used for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum RowUse {
    /// It is a figure of the drive.
    #[serde(rename = "drive")]
    Drive,
    /// It only gives context: a RAID, a drive without a name, a doubtful unit.
    #[serde(rename = "context")]
    Context,
}

words!(RowUse {
    Drive = "drive",
    Context = "context",
});

/// The drive of a row. Facts other than `model` and `capacity_gb` may be general knowledge of the
/// family (`ledger/README.md`).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LedgerDrive {
    /// Maker.
    pub maker: String,
    /// Model, with the maker's code in parentheses where it is known.
    pub model: String,
    /// Family: the name of the ledger's file.
    pub family: String,
    /// Capacity in units of 10^9 bytes.
    pub capacity_gb: Option<f64>,
    /// Firmware.
    pub firmware: String,
    /// Link.
    pub interface: Option<LinkKind>,
    /// Form factor.
    pub form: String,
    /// Bits per cell.
    pub bits_per_cell: Option<u8>,
    /// Media, in words.
    pub nand: String,
    /// Whether the map is in DRAM.
    pub dram: Option<bool>,
    /// Whether acknowledged writes survive a power cut.
    pub plp: Option<bool>,
    /// Raw flash, in GiB, where someone counted it.
    pub raw_gib: Option<f64>,
    /// Year in which the drive came out.
    pub year: Option<u16>,
}

/// A state and how the drive came into it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowState {
    /// The state.
    pub state: DriveState,
    /// How, in words; may be empty.
    pub how: String,
}

/// The way to the drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowPath {
    /// What lay between.
    pub through: Through,
    /// Which file system or RAID; may be empty.
    pub how: String,
}

/// The load of a row; a sheet often leaves most of it out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowLoad {
    /// Kind of commands.
    pub rw: Option<LoadKind>,
    /// Share of reads of a mixed load, per cent.
    pub read_pct: Option<u8>,
    /// Bytes of a command.
    pub block_bytes: Option<u64>,
    /// Commands outstanding in each job.
    pub queue_depth: Option<u32>,
    /// Jobs at once.
    pub jobs: Option<u32>,
    /// How writes were made durable.
    pub sync: Option<SyncMethod>,
}

impl RowLoad {
    /// Commands outstanding in all jobs.
    pub fn outstanding(&self) -> Option<u32> {
        self.queue_depth?.checked_mul(self.jobs?)
    }

    /// Whether each write is made durable.
    pub fn is_durable(&self) -> bool {
        self.sync.is_some_and(|sync| sync != SyncMethod::None)
    }
}

/// A figure with its spread.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RowFigure {
    /// What it measures.
    pub metric: Metric,
    /// The value, in the unit of the metric.
    pub value: f64,
    /// The least of the runs, or the tenth percentile of a fleet.
    pub low: Option<f64>,
    /// The most of the runs, or the ninetieth percentile of a fleet.
    pub high: Option<f64>,
    /// Runs or drives that the value summarises.
    pub samples: Option<u32>,
}

/// File and line of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RowLocation {
    /// File name.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
}

/// A row: one figure of one drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LedgerRow {
    /// The drive.
    pub drive: LedgerDrive,
    /// What it held.
    pub state: RowState,
    /// The way to it.
    pub path: RowPath,
    /// The load.
    pub load: RowLoad,
    /// The figure.
    pub figure: RowFigure,
    /// Who says it.
    pub kind: FigureKind,
    /// What it may be used for.
    pub row_use: RowUse,
    /// Id of the source.
    pub source: String,
    /// Where in the source; may be empty.
    pub place: String,
    /// What misleads about this figure; may be empty.
    pub trap: String,
    /// What else decides it; may be empty.
    pub note: String,
    /// Where the row is.
    pub location: RowLocation,
}

impl LedgerRow {
    /// Whether the figure is of one named drive, and not of a RAID or of a drive without a name.
    pub fn is_of_a_drive(&self) -> bool {
        self.row_use == RowUse::Drive
    }

    /// Whether someone measured it, as opposed to a sheet.
    pub fn is_measured(&self) -> bool {
        self.kind != FigureKind::Sheet
    }
}
