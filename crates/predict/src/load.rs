//! What a row of the ledger asks of a model: the load, the state before it, and which figure of it.

use ssdlab_ledger::row::{DriveState, FigureKind, LoadKind, RowState, SyncMethod, Through};
use ssdlab_ledger::{LedgerRow, Metric};
use std::fmt;

/// Why the models cannot speak of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoPrediction {
    /// A figure of a sheet: what models are made of.
    MakersFigure,
    /// Several drives behind one name.
    Raid,
    /// The source does not name the drive.
    Unnamed,
    /// The source does not give the capacity.
    NoCapacity,
    /// Neither the source nor `drives known` says whether its buffer is protected.
    ProtectionUnknown,
    /// 3D XPoint outside the catalogue.
    WrittenInPlace,
    /// The rules of drafts give no drive of these facts.
    NoDraft,
    /// The model has no quantity of that name.
    Metric,
    /// The longest time of a run: it grows with the length of the run.
    Longest,
    /// The row does not give block, depth or direction.
    LoadNotGiven,
    /// A load held at a rate, or a replay of a trace that is not here.
    LoadElsewhere,
    /// The sheet says nothing of a pSLC cache, so the model has none to run out of.
    CacheUnknown,
    /// The drive says that it has no volatile cache, so hosts send no flush.
    NoFlush,
    /// The block is larger than the region of the model that it is written to.
    BlockTooLarge,
}

impl NoPrediction {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            NoPrediction::MakersFigure => "a maker's figure: what models are made of",
            NoPrediction::Raid => "several drives behind one name",
            NoPrediction::Unnamed => "the source does not name the drive",
            NoPrediction::NoCapacity => "the source does not give the capacity",
            NoPrediction::ProtectionUnknown => "whether its buffer is protected is not known",
            NoPrediction::WrittenInPlace => "media written in place, and not in the catalogue",
            NoPrediction::NoDraft => "the rules of drafts give no drive of these facts",
            NoPrediction::Metric => "the models have no such quantity",
            NoPrediction::Longest => "the longest time of a run, which grows with its length",
            NoPrediction::LoadNotGiven => "block, depth or direction is not given",
            NoPrediction::LoadElsewhere => "a load at a held rate, or a trace that is not here",
            NoPrediction::CacheUnknown => "its pSLC cache is not known, so the model has none",
            NoPrediction::NoFlush => "hosts send it no flush, so a sync alone takes no time",
            NoPrediction::BlockTooLarge => "the block is too large for the model's region",
        }
    }
}

impl fmt::Display for NoPrediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Where the addresses of a load lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressOrder {
    /// One after another.
    Sequential,
    /// Uniform over the region.
    Random,
    /// One place again and again.
    SamePlace,
}

/// How a write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Durability {
    /// It is not.
    None,
    /// The write, then a flush.
    Flush,
    /// The write, then the file system's commit: 8 KiB of journal, a flush, a 4 KiB record by FUA.
    Journal,
    /// A write by FUA.
    Fua,
    /// A write by FUA, then the commit as in [`Durability::Journal`].
    FuaJournal,
}

/// The state of the drive before the load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StateBefore {
    /// As from the factory.
    Fresh,
    /// This percentage written in order.
    Filled(u8),
    /// Overwritten at random until rates and write amplification settle.
    Steady,
}

/// A closed load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClosedLoad {
    /// Where its addresses lie.
    pub order: AddressOrder,
    /// Percentage of reads.
    pub read_pct: u8,
    /// Bytes a command.
    pub block: u32,
    /// Commands outstanding, or writers that each wait for their own sync.
    pub outstanding: u32,
    /// How writes are made durable.
    pub sync: Durability,
}

/// Which figure of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Writes completed a second, times this.
    Writes(f64),
    /// Reads completed a second, times this.
    Reads(f64),
    /// Reads and writes completed a second.
    All,
    /// Time of a read in us, at this share of them; `None`: the mean.
    Read(Option<f64>),
    /// Time of a write in us without its sync.
    Write(Option<f64>),
    /// Time in us of what follows the write until it is durable.
    SyncOnly(Option<f64>),
    /// Time in us of write and sync.
    Durable(Option<f64>),
}

/// Which figure of a drive that is filled from end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillFigure {
    /// MB/s of this phase, from 1.
    Rate(usize),
    /// GB at which this phase ends.
    End(usize),
    /// MB/s of the whole pass.
    Mean,
}

/// Which figure of drives in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceFigure {
    /// Write amplification: of the tenth least, the median, the tenth highest.
    WafLow,
    /// See [`ServiceFigure::WafLow`].
    WafMedian,
    /// See [`ServiceFigure::WafLow`].
    WafHigh,
    /// Host TB for one per cent of wear.
    HostTb,
    /// Drive writes of flash for one per cent of wear.
    NandDriveWrites,
    /// Erase cycles at 100 %.
    Cycles,
    /// Write amplification of 4 KiB writes at random over the whole drive.
    WafUniform,
}

/// What a row asks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Question {
    /// A figure of a load.
    Run {
        /// StateBefore before it.
        state: StateBefore,
        /// The load.
        load: ClosedLoad,
        /// The figure.
        figure: Figure,
    },
    /// A figure of a drive filled in order.
    Fill {
        /// Bytes a command.
        block: u32,
        /// The figure.
        figure: FillFigure,
    },
    /// A figure of years of service.
    Service(ServiceFigure),
}

/// The question of a row, and what was assumed to ask it.
///
/// # Errors
/// The reason for which no model can answer.
pub fn question(row: &LedgerRow) -> Result<(Question, String), NoPrediction> {
    if !row.is_measured() {
        return Err(NoPrediction::MakersFigure);
    }
    if row.path.through == Through::Raid {
        return Err(NoPrediction::Raid);
    }
    if !row.is_of_a_drive() {
        return Err(NoPrediction::Unnamed);
    }
    if let Some(figure) = service(row) {
        return Ok((Question::Service(figure), IN_SERVICE.to_owned()));
    }
    if let Some(figure) = fill(row.figure.metric) {
        let block = row.load.block_bytes.unwrap_or(1 << 20);
        let block = u32::try_from(block).map_err(|_| NoPrediction::BlockTooLarge)?;
        let assumed = "written once in order, 8 commands outstanding".to_owned();
        return Ok((Question::Fill { block, figure }, assumed));
    }
    closed(row)
}

/// What is assumed of the loads of drives in service.
const IN_SERVICE: &str = "in service: 16 KiB writes, 80 % of them to 20 % of three quarters of \
                          the drive; least: in order; most: 4 KiB at random over all of it";

fn service(row: &LedgerRow) -> Option<ServiceFigure> {
    Some(match row.figure.metric {
        Metric::FleetWafP10 => ServiceFigure::WafLow,
        Metric::FleetWafMedian => ServiceFigure::WafMedian,
        Metric::FleetWafP90 => ServiceFigure::WafHigh,
        Metric::FleetHostTbPerPctMedian | Metric::HostTbPerPct => ServiceFigure::HostTb,
        Metric::FleetNandDriveWritesPerPctMedian => ServiceFigure::NandDriveWrites,
        Metric::FleetEraseCyclesAt100Pct => ServiceFigure::Cycles,
        Metric::Waf if row.kind == FigureKind::Field => ServiceFigure::WafMedian,
        Metric::Waf if row.load.rw == Some(LoadKind::RandWrite) => ServiceFigure::WafUniform,
        _ => return None,
    })
}

fn fill(metric: Metric) -> Option<FillFigure> {
    Some(match metric {
        Metric::SeqFillMeanRate => FillFigure::Mean,
        Metric::SeqFillPhase1Rate => FillFigure::Rate(1),
        Metric::SeqFillPhase2Rate => FillFigure::Rate(2),
        Metric::SeqFillPhase3Rate => FillFigure::Rate(3),
        Metric::SeqFillPhase1End => FillFigure::End(1),
        Metric::SeqFillPhase2End => FillFigure::End(2),
        _ => return None,
    })
}

fn closed(row: &LedgerRow) -> Result<(Question, String), NoPrediction> {
    let block = row
        .load
        .block_bytes
        .and_then(|bytes| u32::try_from(bytes).ok());
    let figure = figure(row.figure.metric, block)?;
    let rw = row.load.rw.ok_or(NoPrediction::LoadNotGiven)?;
    let (order, read_pct) = direction(rw, row.load.read_pct)?;
    let block = block.ok_or(NoPrediction::LoadNotGiven)?;
    let (sync, sync_words) = sync(row, order);
    let depth = match sync {
        Durability::None => row.load.queue_depth.ok_or(NoPrediction::LoadNotGiven)?,
        _ => 1,
    };
    let outstanding = depth.saturating_mul(row.load.jobs.unwrap_or(1)).max(1);
    let (state, state_words) = state(&row.state);
    let load = ClosedLoad {
        order,
        read_pct,
        block,
        outstanding,
        sync,
    };
    let question = Question::Run {
        state,
        load,
        figure,
    };
    Ok((question, format!("{state_words}{sync_words}")))
}

fn figure(metric: Metric, block: Option<u32>) -> Result<Figure, NoPrediction> {
    let megabytes = |figure: fn(f64) -> Figure| block.map(|block| figure(f64::from(block) / 1e6));
    Ok(match metric {
        Metric::WriteIops => Figure::Writes(1.0),
        Metric::ReadIops => Figure::Reads(1.0),
        Metric::WriteRate => megabytes(Figure::Writes).ok_or(NoPrediction::LoadNotGiven)?,
        Metric::ReadRate => megabytes(Figure::Reads).ok_or(NoPrediction::LoadNotGiven)?,
        Metric::MixedIops => Figure::All,
        Metric::ReadLatencyMean | Metric::ReadLatencyTypical => Figure::Read(None),
        Metric::ReadLatencyP50 => Figure::Read(Some(0.5)),
        Metric::ReadLatencyP99 => Figure::Read(Some(0.99)),
        Metric::ReadLatencyP999 => Figure::Read(Some(0.999)),
        Metric::ReadLatencyP9999 => Figure::Read(Some(0.9999)),
        Metric::WriteLatencyMean | Metric::WriteLatencyTypical => Figure::Write(None),
        Metric::WriteLatencyP50 => Figure::Write(Some(0.5)),
        Metric::WriteLatencyP99 => Figure::Write(Some(0.99)),
        Metric::WriteLatencyP999 => Figure::Write(Some(0.999)),
        Metric::WriteLatencyP9999 => Figure::Write(Some(0.9999)),
        Metric::SyncLatencyMean => Figure::SyncOnly(None),
        Metric::SyncLatencyP50 => Figure::SyncOnly(Some(0.5)),
        Metric::SyncLatencyP99 => Figure::SyncOnly(Some(0.99)),
        Metric::SyncLatencyP999 => Figure::SyncOnly(Some(0.999)),
        Metric::SyncLatencyP9999 => Figure::SyncOnly(Some(0.9999)),
        Metric::SyncWriteLatencyMean => Figure::Durable(None),
        Metric::ReadShareOver1ms
        | Metric::ReadShareOver8ms
        | Metric::WriteShareOver1ms
        | Metric::WriteShareOver8ms => return Err(NoPrediction::LoadElsewhere),
        Metric::ReadLatencyMax | Metric::WriteLatencyMax | Metric::SyncLatencyMax => {
            return Err(NoPrediction::Longest);
        }
        _ => return Err(NoPrediction::Metric),
    })
}

fn direction(rw: LoadKind, read_pct: Option<u8>) -> Result<(AddressOrder, u8), NoPrediction> {
    Ok(match rw {
        LoadKind::RandWrite => (AddressOrder::Random, 0),
        LoadKind::Overwrite => (AddressOrder::SamePlace, 0),
        LoadKind::Write => (AddressOrder::Sequential, 0),
        LoadKind::RandRead => (AddressOrder::Random, 100),
        LoadKind::Read => (AddressOrder::Sequential, 100),
        LoadKind::RandRw => (
            AddressOrder::Random,
            read_pct.ok_or(NoPrediction::LoadNotGiven)?,
        ),
        LoadKind::Rw => (
            AddressOrder::Sequential,
            read_pct.ok_or(NoPrediction::LoadNotGiven)?,
        ),
        LoadKind::Trace => return Err(NoPrediction::LoadElsewhere),
    })
}

fn sync(row: &LedgerRow, order: AddressOrder) -> (Durability, &'static str) {
    let raw = row.path.through == Through::Raw;
    // A file that grows changes its size, which fdatasync commits too.
    let grows = order == AddressOrder::Sequential && !raw;
    match row.load.sync.unwrap_or(SyncMethod::None) {
        SyncMethod::None => (Durability::None, ""),
        SyncMethod::Flush => (Durability::Flush, "; a sync is a flush"),
        SyncMethod::Fsync if raw => (Durability::Flush, "; raw: a sync is a flush"),
        SyncMethod::Fdatasync if !grows => (
            Durability::Flush,
            "; fdatasync of an overwritten file is a flush alone",
        ),
        SyncMethod::Fsync | SyncMethod::Fdatasync => (
            Durability::Journal,
            "; the sync commits a journal: 8 KiB, a flush, 4 KiB by FUA",
        ),
        SyncMethod::OpenDatasync => (Durability::Fua, "; O_DSYNC is FUA, over SATA a flush"),
        // A block device has no journal: the flush after the write finds nothing to write.
        SyncMethod::OpenSync if raw => (
            Durability::Fua,
            "; raw: O_SYNC is FUA, over SATA a flush, and a flush that finds nothing",
        ),
        SyncMethod::OpenSync => (
            Durability::FuaJournal,
            "; O_SYNC is FUA and a commit of a journal",
        ),
    }
}

/// How full a drive is assumed to be of which the source does not say it.
const USUAL_FILL: u8 = 50;

fn state(row: &RowState) -> (StateBefore, String) {
    let assumed = |percent: u8| {
        let words = format!("state assumed: {percent} % written in order, idle");
        (StateBefore::Filled(percent), words)
    };
    match row.state {
        DriveState::Steady => (
            StateBefore::Steady,
            "overwritten at random until steady".into(),
        ),
        DriveState::Fresh => (StateBefore::Fresh, "fresh".into()),
        DriveState::Filled => {
            let percent = filled(&row.how).unwrap_or(100);
            let words = format!("{percent} % written in order");
            (StateBefore::Filled(percent), words)
        }
        DriveState::Used | DriveState::InService | DriveState::Unknown => assumed(USUAL_FILL),
    }
}

/// The percentage that a text such as `about 50 GB left of 375 GB` or `89 % of 960 GiB` gives.
fn filled(text: &str) -> Option<u8> {
    let numbers: Vec<f64> = text
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter_map(|word| word.parse().ok())
        .collect();
    let percent = match numbers[..] {
        [free, whole, ..] if text.contains("left of") && whole > free => {
            100.0 * (1.0 - free / whole)
        }
        [percent, ..] if text.contains('%') && percent <= 100.0 => percent,
        _ => return None,
    };
    Some(percent.round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block device has no journal. Every O_SYNC was taken as three commits, and a drive of 1,000
    /// of them a second as one of which nothing but programs could be left.
    #[test]
    fn a_commit_of_a_journal_is_asked_of_file_systems_alone() {
        let ledger = ssdlab_ledger::Ledger::open();
        let is_o_sync = |row: &&LedgerRow| row.load.sync == Some(SyncMethod::OpenSync);
        let mut seen = [0, 0];
        for row in ledger.all_rows().iter().filter(is_o_sync) {
            let raw = row.path.through == Through::Raw;
            let wanted = if raw {
                Durability::Fua
            } else {
                Durability::FuaJournal
            };
            assert_eq!(sync(row, AddressOrder::Random).0, wanted, "{}", row.source);
            seen[usize::from(raw)] += 1;
        }
        assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
    }

    #[test]
    fn how_full_a_drive_was_is_read_as_sources_word_it() {
        assert_eq!(filled("about 50 GB left of 375 GB"), Some(87));
        assert_eq!(filled("89 % of 960 GiB, 4x capacity written"), Some(89));
        assert_eq!(filled("twice"), None);
    }
}
