//! What a ledger proves: the evidence of a test of pulls.
//!
//! Kept promises prove something only when there was something to lose and the power really went.
//! So a pull counts when it struck the writer at work with recent promises, and a record without
//! losses passes only if it shows, in one of three ways, that the drive was without power.

use super::book::Book;
use super::record::{Loss, PromiseBasis, Pull};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_bench::device::TargetFacts;

/// Pulls that count before a drive that lost nothing passes (docs/decisions/039).
pub const PULLS_NEEDED: u32 = 25;

/// What the pulls show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullVerdict {
    /// Every promise was kept.
    Kept,
    /// A promise was broken.
    Broken,
    /// Not decided.
    Undecided,
}

/// What a test of pulls adds up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct PullRecord {
    /// The target's path.
    pub path: String,
    /// Serial number of the drive, or of the drive underneath a file.
    pub serial: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Whether the target was a file on a file system.
    pub is_file: bool,
    /// Bytes used.
    pub bytes: u64,
    /// Pulls made.
    pub pulls: u32,
    /// Pulls that count: they struck the writer with enough recent promises.
    pub counted: u32,
    /// Pulls that the target did not notice.
    pub unnoticed: u32,
    /// Pulls in which a promise was broken.
    pub breaking: u32,
    /// Sectors that broke a promise, those found without a pull too.
    pub lost: u64,
    /// The first of them.
    pub first: Option<Loss>,
    /// Sectors acknowledged and not promised at the pulls that count.
    pub unpromised: u64,
    /// Of these, how many were lost.
    pub unpromised_lost: u64,
    /// Pulls that count and lost some of these.
    pub losing_unpromised: u32,
    /// Whether the drive says itself that it was powered up again for every pull that counts.
    pub counts_cycles: bool,
    /// Why its buffer is known to be protected, if it is.
    pub protected: Option<String>,
    /// What follows.
    pub standing: PullVerdict,
    /// Why, in a sentence or two.
    pub why: String,
}

impl PullRecord {
    /// Whether it is of the drive that `facts` describe: by serial number, or by path without
    /// one.
    ///
    /// # Errors
    /// When it is of another.
    pub fn is_of(&self, facts: &TargetFacts) -> Result<(), LabError> {
        let same = match (&self.serial, &facts.serial) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self.path == facts.name,
            _ => false,
        };
        if same {
            return Ok(());
        }
        let named = |serial: &Option<String>, path: &str| match serial {
            Some(serial) => format!("serial number {serial} ({path})"),
            None => format!("{path}, without a serial number"),
        };
        Err(LabError::refused(
            format!(
                "--pull-record: the pulls are of {}; the target is {}",
                named(&self.serial, &self.path),
                named(&facts.serial, &facts.name)
            ),
            "give the ledger of this very drive, or leave it out",
        ))
    }
}

impl Loss {
    /// Where, what was promised and what is there.
    pub fn sentence(&self) -> String {
        let since = self.since_ns as f64 / 1e9;
        let maker = match self.maker {
            PromiseBasis::Fua => format!("durable by FUA since {since:.3} s"),
            PromiseBasis::Flush => format!("durable by a flush since {since:.3} s"),
            PromiseBasis::ReadBack => "read back after the pull before".to_owned(),
        };
        format!(
            "sector {}: expected write {} or newer ({maker}), found {}",
            self.sector, self.expected, self.found
        )
    }
}

/// How often the drive's own count must rise, and whether it did.
fn counts_cycles(book: &Book) -> bool {
    let first = book.sessions.first().and_then(|s| s.power_cycles);
    let mut before = first;
    let rises = book.pulls.iter().filter(|pull| pull.counts()).all(|pull| {
        let rose = pull.power_cycles > before && before.is_some();
        before = pull.power_cycles;
        rose
    });
    rises && first.is_some()
}

/// The evidence of a ledger.
pub fn verdict(book: &Book) -> PullRecord {
    let counted: Vec<&Pull> = book.pulls.iter().filter(|pull| pull.counts()).collect();
    let sum = |of: fn(&Pull) -> u64| counted.iter().map(|pull| of(pull)).sum();
    let protected = book.sessions.iter().find_map(|s| s.protected.clone());
    let mut record = PullRecord {
        path: book.start.path.clone(),
        serial: book.start.serial.clone(),
        model: book.start.model.clone(),
        is_file: book.start.is_file,
        bytes: book.start.bytes,
        pulls: book.pulls.len() as u32,
        counted: counted.len() as u32,
        unnoticed: book.pulls.iter().filter(|p| !p.strike.noticed).count() as u32,
        breaking: book.pulls.iter().filter(|pull| pull.lost > 0).count() as u32,
        lost: book.lost,
        first: book.losses.first().map(|(_, loss)| *loss),
        unpromised: sum(|pull| pull.unpromised),
        unpromised_lost: sum(|pull| pull.unpromised_lost),
        losing_unpromised: counted.iter().filter(|p| p.unpromised_lost > 0).count() as u32,
        counts_cycles: counts_cycles(book),
        protected,
        standing: PullVerdict::Undecided,
        why: String::new(),
    };
    (record.standing, record.why) = decide(&record);
    record
}

/// How the record shows that the drive was without power.
fn shown(record: &PullRecord) -> Option<String> {
    if record.losing_unpromised > 0 {
        Some(format!(
            "unflushed writes were lost in {} of them, so the power did go",
            record.losing_unpromised
        ))
    } else if record.counts_cycles {
        Some("the drive counted a power-up for each".to_owned())
    } else {
        let why = record.protected.as_ref()?;
        Some(format!(
            "unflushed writes were kept too, as by a protected buffer ({why})"
        ))
    }
}

fn decide(record: &PullRecord) -> (PullVerdict, String) {
    if let Some(first) = &record.first {
        let why = format!(
            "{} of {} pulls broke a promise, {} sectors in all; the first: {}.",
            record.breaking,
            record.pulls,
            record.lost,
            first.sentence()
        );
        return (PullVerdict::Broken, why);
    }
    let needed = PULLS_NEEDED.saturating_sub(record.counted);
    if needed > 0 {
        let why = format!(
            "No promise was broken in {} pulls that struck the drive at work; {needed} more are \
             needed.",
            record.counted
        );
        return (PullVerdict::Undecided, why);
    }
    // With no loss in n pulls, 3/n bounds the rate with 95 % confidence (the rule of three).
    let bound = 300.0 / f64::from(record.counted);
    match shown(record) {
        Some(shown) => (
            PullVerdict::Kept,
            format!(
                "No promise was broken in {} pulls under writes (fewer than {bound:.0} % of such \
                 pulls break one, with 95 % confidence); {shown}.",
                record.counted
            ),
        ),
        None => (
            PullVerdict::Undecided,
            format!(
                "No promise was broken in {} pulls, but of {} sectors written and not flushed \
                 none was lost either, and the drive does not count them: perhaps its power never \
                 went.",
                record.counted, record.unpromised
            ),
        ),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
