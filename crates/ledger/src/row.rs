//! A row of the ledger: one figure of one drive, with everything that decides it.

use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A closed list of words of a column.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
        )]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)*
        }

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

words! {
    /// How a drive is attached.
    LinkKind {
        /// SATA at 3 Gb/s.
        Sata3 = "sata-3g",
        /// SATA at 6 Gb/s.
        Sata6 = "sata-6g",
        /// SAS at 6 Gb/s, two ports.
        Sas6 = "sas-6g",
        /// SAS at 12 Gb/s, two ports.
        Sas12 = "sas-12g",
        /// SAS at 24 Gb/s, two ports.
        Sas24 = "sas-24g",
        /// NVMe; the source does not say which PCIe.
        Nvme = "nvme",
        /// NVMe over two lanes of PCIe 3.0.
        Nvme3X2 = "nvme-3-x2",
        /// NVMe over four lanes of PCIe 3.0.
        Nvme3 = "nvme-3",
        /// NVMe over four lanes of PCIe 4.0.
        Nvme4 = "nvme-4",
        /// NVMe over four lanes of PCIe 5.0.
        Nvme5 = "nvme-5",
        /// Eight lanes of PCIe 2.0.
        Pcie2X8 = "pcie-2-x8",
        /// Eight lanes of PCIe 3.0.
        Pcie3X8 = "pcie-3-x8",
        /// USB, or what a USB bridge leaves visible.
        Usb = "usb",
    }
}

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

words! {
    /// What the drive held when the figure was taken.
    DriveState {
        /// Empty or nearly so.
        Fresh = "fresh",
        /// Filled once or more.
        Filled = "filled",
        /// In use before, how is not said.
        Used = "used",
        /// Written until the rate no longer changed.
        Steady = "steady",
        /// At work for its owner.
        InService = "in-service",
        /// Not said.
        Unknown = "unknown",
    }
}

words! {
    /// What lay between the load and the drive.
    Through {
        /// The block device itself.
        Raw = "raw",
        /// A file of a file system on one drive.
        FileSystem = "file-system",
        /// Several drives as one.
        Raid = "raid",
        /// A maker's sheet, which seldom says.
        Sheet = "sheet",
        /// The drive's own counters.
        Counters = "counters",
        /// Not said.
        Unknown = "unknown",
    }
}

words! {
    /// Kind of the commands of a load.
    LoadKind {
        /// Sequential reads.
        Read = "read",
        /// Sequential writes.
        Write = "write",
        /// Random reads.
        RandRead = "randread",
        /// Random writes.
        RandWrite = "randwrite",
        /// Random reads and writes.
        RandRw = "randrw",
        /// Sequential reads and writes.
        Rw = "rw",
        /// The same place written again and again, as `pg_test_fsync` does.
        Overwrite = "overwrite",
        /// A trace played back.
        Trace = "trace",
    }
}

impl LoadKind {
    /// Whether the load writes.
    pub fn writes(self) -> bool {
        !matches!(self, LoadKind::Read | LoadKind::RandRead)
    }
}

words! {
    /// How a load makes its writes durable.
    SyncMethod {
        /// Not at all.
        None = "none",
        /// `fsync` after each write.
        Fsync = "fsync",
        /// `fdatasync` after each write.
        Fdatasync = "fdatasync",
        /// A flush command after each write.
        Flush = "flush",
        /// `O_DSYNC`: FUA, or a write and a flush.
        OpenDatasync = "open-datasync",
        /// `O_SYNC`: the same, and the file's times.
        OpenSync = "open-sync",
    }
}

words! {
    /// Who says the figure, and how it came about.
    FigureKind {
        /// A maker's sheet.
        Sheet = "sheet",
        /// A test whose raw results were read.
        Test = "test",
        /// A review.
        Review = "review",
        /// Counters of drives in service.
        Field = "field",
    }
}

words! {
    /// What a row may be used for.
    RowUse {
        /// It is a figure of the drive.
        Drive = "drive",
        /// It only gives context: a RAID, a drive without a name, a doubtful unit.
        Context = "context",
    }
}

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
