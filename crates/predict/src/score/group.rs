//! Kinds of figures and classes of drives.

use crate::load::{AddressOrder, Durability, Figure, FillFigure, Question, ServiceFigure};
use crate::model::protection;
use serde::Serialize;
use ssdlab_ledger::LedgerRow;
use ssdlab_ledger::row::{LedgerDrive, LinkKind};

/// Kinds of figures that are scored together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum FigureGroup {
    /// Durable writes a second, and the time of one.
    DurableWrites,
    /// Time of a sync alone.
    Syncs,
    /// Random writes a second.
    RandomWrites,
    /// Random reads a second.
    RandomReads,
    /// Writes and reads in order a second.
    InOrder,
    /// Mean and median times.
    Times,
    /// The slowest in a hundred, a thousand, ten thousand.
    SlowTimes,
    /// A fill: rate at first, and of the whole pass.
    FillRates,
    /// A fill: where the cache ends, and what follows.
    FillPhases,
    /// Write amplification.
    Waf,
    /// Host and NAND writes for one per cent of wear, cycles.
    Wear,
}

impl FigureGroup {
    /// The group of a row.
    pub fn of(row: &LedgerRow, question: &Question) -> FigureGroup {
        match question {
            Question::Service(
                ServiceFigure::HostTb | ServiceFigure::NandDriveWrites | ServiceFigure::Cycles,
            ) => FigureGroup::Wear,
            Question::Service(_) => FigureGroup::Waf,
            Question::Fill {
                figure: FillFigure::Mean | FillFigure::Rate(1),
                ..
            } => FigureGroup::FillRates,
            Question::Fill { .. } => FigureGroup::FillPhases,
            Question::Run { load, figure, .. } => match figure {
                Figure::Writes(_) | Figure::Durable(None) if load.sync != Durability::None => {
                    FigureGroup::DurableWrites
                }
                _ if row.figure.metric.name().contains("_p99") => FigureGroup::SlowTimes,
                Figure::SyncOnly(_) => FigureGroup::Syncs,
                Figure::Read(_) | Figure::Write(_) | Figure::Durable(_) => FigureGroup::Times,
                _ if load.order == AddressOrder::Sequential => FigureGroup::InOrder,
                Figure::Reads(_) => FigureGroup::RandomReads,
                _ => FigureGroup::RandomWrites,
            },
        }
    }

    /// In words, so that they sort as they are listed above.
    pub const fn name(self) -> &'static str {
        match self {
            FigureGroup::DurableWrites => "durable writes",
            FigureGroup::Syncs => "syncs alone",
            FigureGroup::RandomWrites => "random writes",
            FigureGroup::RandomReads => "random reads",
            FigureGroup::InOrder => "in order",
            FigureGroup::Times => "times",
            FigureGroup::SlowTimes => "slowest 1 % and less",
            FigureGroup::FillRates => "fill: first, whole",
            FigureGroup::FillPhases => "fill: cache and after",
            FigureGroup::Waf => "write amplification",
            FigureGroup::Wear => "wear",
        }
    }
}

/// How a drive is connected, roughly.
pub fn link(drive: &LedgerDrive) -> &'static str {
    match drive.interface {
        Some(LinkKind::Sata3 | LinkKind::Sata6) => "SATA",
        Some(LinkKind::Sas6 | LinkKind::Sas12 | LinkKind::Sas24) => "SAS",
        Some(LinkKind::Usb) => "USB",
        Some(_) => "NVMe",
        None => "unknown link",
    }
}

/// Enterprise and protected, or client and not, and how it is connected.
pub fn class(drive: &LedgerDrive) -> String {
    let words = match protection(drive) {
        Some(true) => "protected",
        Some(false) => "not protected",
        None => "protection unknown",
    };
    format!("{words}, {}", link(drive))
}
