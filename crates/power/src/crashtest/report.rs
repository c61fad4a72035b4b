//! Results of a campaign, for people.

use super::cuts::{CutToken, Occasion};
use super::history::CommandPiece;
use super::player::{CutPoint, SecondCut};
use super::stream::CommandStream;
use ssdlab_ssd::drive::power::{BrokenPromise, FaultKind, Promise, SectorClass};
use ssdlab_view::units::plural;
use std::fmt;

/// Who is to blame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CutVerdict {
    /// The drive kept its promises and the check passed.
    Passed,
    /// The drive kept its promises, and the check failed.
    Application,
    /// The drive broke a promise, whatever the check said.
    Drive,
}

impl CutVerdict {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            CutVerdict::Passed => "passed",
            CutVerdict::Application => "application",
            CutVerdict::Drive => "drive",
        }
    }

    /// The verdict of that name.
    pub fn named(name: &str) -> Option<CutVerdict> {
        let verdicts = [
            CutVerdict::Passed,
            CutVerdict::Application,
            CutVerdict::Drive,
        ];
        verdicts.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// How a drive broke its word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Breach {
    /// It did not come back.
    pub dead: bool,
    /// Sectors whose promise was not kept.
    pub sectors: u64,
    /// The first of them.
    pub first: Vec<BrokenPromise>,
    /// The drive's self-check: a fault of the model, not of a drive.
    pub self_check: Option<String>,
    /// Faults without which this cut keeps every promise.
    pub faults: Vec<FaultKind>,
}

/// One cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutResult {
    /// Where.
    pub point: CutPoint,
    /// What it was meant to strike.
    pub occasion: Occasion,
    /// Commands in flight then.
    pub in_flight: usize,
    /// How to run it again.
    pub token: CutToken,
    /// Who is to blame.
    pub verdict: CutVerdict,
    /// Text of the check when it failed.
    pub message: Option<String>,
    /// How the drive broke its word.
    pub breach: Option<Breach>,
    /// Marks made before it.
    pub marks: usize,
    /// Pieces of commands whose effect was not there any more.
    pub lost: Vec<CommandPiece>,
    /// Faults of the drive that had struck when it was recovered.
    pub struck: Vec<FaultKind>,
}

/// A write, or a part of it, that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWrite {
    /// Index of the command.
    pub command: u32,
    /// First byte missing.
    pub offset: u64,
    /// Bytes missing.
    pub len: u64,
    /// Index of the FLUSH before it.
    pub after_flush: Option<u32>,
    /// Index of the first FLUSH after it, if it came before the cut.
    pub before_flush: Option<u32>,
}

/// The smallest set of lost writes that still fails the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MinimalLoss {
    /// Which; empty: the check fails though nothing was lost.
    pub lost: Vec<LostWrite>,
    /// How to run it again.
    pub token: CutToken,
    /// Text of the check in that case.
    pub message: String,
    /// Checks that were run to find it.
    pub checks: usize,
    /// No smaller set fails, not even one of other writes; otherwise only: nothing can be taken
    /// away from this one.
    pub is_smallest: bool,
}

/// All cuts of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CampaignReport {
    /// In order of time.
    pub cuts: Vec<CutResult>,
    /// Of the first cut at which the application failed; `None` also when lost writes alone do
    /// not fail the check again.
    pub minimal: Option<MinimalLoss>,
    /// What was recorded, in words.
    pub stream: String,
    /// Lines for the first failure.
    pub(super) where_: String,
}

impl CampaignReport {
    /// How many cuts have a verdict.
    pub fn count(&self, verdict: CutVerdict) -> usize {
        let cuts = self.cuts.iter();
        cuts.filter(|cut| cut.verdict == verdict).count()
    }

    /// The first cut that did not pass, the drive's before the application's.
    pub fn worst(&self) -> Option<&CutResult> {
        let failed = |verdict| self.cuts.iter().find(move |cut| cut.verdict == verdict);
        failed(CutVerdict::Drive).or_else(|| failed(CutVerdict::Application))
    }

    /// Fails the test that it is called from when a cut did not pass.
    ///
    /// # Panics
    /// With the whole report, when a cut did not pass.
    pub fn assert_passed(&self) {
        assert!(self.worst().is_none(), "\n{self}");
    }
}

impl fmt::Display for CampaignReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.stream)?;
        writeln!(
            f,
            "{}: {} passed, {} failed by the application, {} by the drive",
            plural(self.cuts.len() as u64, "cut"),
            self.count(CutVerdict::Passed),
            self.count(CutVerdict::Application),
            self.count(CutVerdict::Drive)
        )?;
        let Some(worst) = self.worst() else {
            return Ok(());
        };
        writeln!(f, "first: {}", self.where_)?;
        f.write_str(&details(worst, self.minimal.as_ref()))
    }
}

/// A failed cut in lines.
pub fn details(cut: &CutResult, minimal: Option<&MinimalLoss>) -> String {
    let mut text = String::new();
    if let Some(breach) = &cut.breach {
        text.push_str(&format!("  {breach}\n"));
    }
    if let Some(message) = &cut.message {
        text.push_str(&format!("  the check says: {}\n", message.trim_end()));
    }
    text.push_str(&format!(
        "  {} marks before it; replay: {}\n",
        cut.marks, cut.token
    ));
    if let Some(minimal) = minimal.filter(|minimal| minimal.token.point == cut.point) {
        text.push_str(&minimal.to_string());
    }
    text
}

impl fmt::Display for MinimalLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_smallest {
            "smallest"
        } else {
            "a minimal"
        };
        if self.lost.is_empty() {
            writeln!(f, "  it fails even when nothing is lost")?;
        } else {
            writeln!(
                f,
                "  {kind} set of lost writes that fails, after {} checks:",
                self.checks
            )?;
        }
        for lost in &self.lost {
            writeln!(f, "    {lost}")?;
        }
        if !self.lost.is_empty() {
            writeln!(f, "    the check then says: {}", self.message.trim_end())?;
            writeln!(f, "    replay: {}", self.token)?;
        }
        Ok(())
    }
}

impl fmt::Display for LostWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let after = match self.after_flush {
            Some(flush) => format!("after FLUSH #{}", flush + 1),
            None => "before any FLUSH".into(),
        };
        let before = match self.before_flush {
            Some(flush) => format!("and before FLUSH #{}", flush + 1),
            None => "and followed by none before the cut".into(),
        };
        write!(
            f,
            "command #{}, {} bytes at {}, issued {after} {before}",
            self.command + 1,
            self.len,
            self.offset
        )
    }
}

/// A promise in words.
pub fn promise(by: Promise) -> String {
    match by {
        Promise::Factory => "a sector that nobody wrote".into(),
        Promise::Fua(n) => format!("FUA write #{n}"),
        Promise::Flush(n) => format!("FLUSH #{n}"),
        Promise::Completion(n) => format!("command #{n}, completed on a protected drive,"),
        Promise::Recovery(n) => format!("recovery {n}"),
    }
}

/// State of a sector, in a word.
pub fn class(class: SectorClass) -> &'static str {
    match class {
        SectorClass::Current => "current",
        SectorClass::Older => "an older value",
        SectorClass::Lost => "nothing",
        SectorClass::Torn => "what was never written there",
        SectorClass::NeverWritten => "nothing, as before",
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dead {
            write!(f, "the drive does not come back")?;
        } else if let Some(first) = self.first.first() {
            write!(
                f,
                "the drive broke its word in {} sectors: {} promised sector {} ",
                self.sectors,
                promise(first.by),
                first.sector
            )?;
            let due = match first.promised {
                0 => "as empty".to_string(),
                n => format!("as command #{n} wrote it"),
            };
            write!(f, "{due}, found is {}", class(first.class))?;
        } else if let Some(what) = &self.self_check {
            return write!(f, "self-check failed, a bug in ssdlab: {what}");
        }
        if self.faults.is_empty() {
            return Ok(());
        }
        let names: Vec<&str> = self.faults.iter().map(|kind| kind.info().name).collect();
        write!(f, " (fault: {})", names.join(" or "))
    }
}

/// A cut in words: `inside FLUSH #13 (3.2 ms after its start)`.
pub fn place(stream: &CommandStream, point: CutPoint) -> String {
    let description = stream.describe(point.command);
    let first = match point.inside {
        None => format!("before {description}"),
        Some(ns) if point.command >= stream.commands.len() => {
            format!("{} behind the last command", ssdlab_ssd::Nanos(ns))
        }
        Some(ns) => format!(
            "inside {description}, {} after its start",
            ssdlab_ssd::Nanos(ns)
        ),
    };
    match point.again {
        None => first,
        Some(SecondCut::InRecovery(share)) => {
            let percent = f64::from(share) / 10.0;
            format!("{first}, and again at {percent} % of the recovery")
        }
        Some(SecondCut::After(ns)) => {
            let after = ssdlab_ssd::Nanos(ns);
            format!("{first}, and again {after} after the recovery")
        }
        Some(SecondCut::InCheck(nth)) => {
            format!("{first}, and again inside FLUSH {nth} of the check")
        }
    }
}
