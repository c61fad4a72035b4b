//! A test of pulls in words.

use super::book::Book;
use super::check::SectorCheckResult;
use super::record::{PowerCutSource, Pull, PullDurabilityMode, RECENT_NEEDED, Strike};
use super::verdict::{PULLS_NEEDED, PullRecord, PullVerdict};
use ssdlab_ssd::Bytes;
use std::fmt::Write as _;

/// Losses that are shown one by one.
const SHOWN: usize = 5;

/// The strike, in a line.
pub fn strike(strike: &Strike) -> String {
    if strike.noticed {
        format!(
            "the target stopped to answer: {} commands failed; {} durable writes in the second \
         before",
            strike.failed, strike.promised_recently
        )
    } else {
        "the target went on answering: this pull does not count".to_owned()
    }
}

fn plural(count: u64, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    }
}

/// What a check found, a line for each loss after the first.
pub fn found(checked: &SectorCheckResult) -> String {
    let lost = checked.losses.len();
    let mut text = match lost {
        0 => "nothing lost".to_owned(),
        _ => format!("{} broke a promise", plural(lost as u64, "sector")),
    };
    let _ = write!(
        text,
        "; {} of {} unflushed sectors older",
        checked.unpromised_lost, checked.unpromised
    );
    for loss in checked.losses.iter().take(SHOWN) {
        let _ = write!(text, "\n  {}", loss.sentence());
    }
    if lost > SHOWN {
        let _ = write!(text, "\n  and {} more", lost - SHOWN);
    }
    text
}

/// A finished pull.
pub fn pulled(pull: &Pull, checked: &SectorCheckResult) -> String {
    let counts = if pull.counts() {
        ""
    } else {
        " (does not count)"
    };
    format!("pull {}{counts}: {}", pull.number, found(checked))
}

/// The verdict, and what it rests on.
pub fn record(record: &PullRecord) -> String {
    let word = match record.standing {
        PullVerdict::Kept => "PASS",
        PullVerdict::Broken => "FAIL",
        PullVerdict::Undecided => "UNKNOWN",
    };
    let drive = record.model.as_deref().unwrap_or("drive");
    let serial = record.serial.as_deref().unwrap_or("not known");
    let mut text = format!("{word}  {}\n\n", record.why);
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<22}{value}");
    };
    row(
        "target",
        format!("{}, {}", record.path, Bytes(record.bytes)),
    );
    row("drive", format!("{drive}, serial number {serial}"));
    row(
        "pulls that count",
        format!("{} of {} needed", record.counted, PULLS_NEEDED),
    );
    row(
        "pulls made",
        format!(
            "{}; {} unnoticed, {} with fewer than {RECENT_NEEDED} recent promises",
            record.pulls,
            record.unnoticed,
            record.pulls - record.counted - record.unnoticed
        ),
    );
    row(
        "promises broken",
        format!("{} sectors, in {} pulls", record.lost, record.breaking),
    );
    row(
        "unflushed sectors",
        format!(
            "{} of {} lost, in {} pulls",
            record.unpromised_lost, record.unpromised, record.losing_unpromised
        ),
    );
    text
}

/// The state of a ledger: its pulls, its losses, and the verdict.
pub fn status(book: &Book, verdict: &PullRecord) -> String {
    let mut text = String::from("pull  by       durable by  recent  unflushed  older  lost\n");
    for pull in &book.pulls {
        let by = match pull.strike.by {
            PowerCutSource::Command => "command",
            PowerCutSource::Hand => "hand",
            PowerCutSource::Host => "host",
        };
        let mode = match pull.strike.mode {
            PullDurabilityMode::Flush => "flush",
            PullDurabilityMode::Fua => "FUA",
            PullDurabilityMode::Both => "both",
        };
        let _ = writeln!(
            text,
            "{:>4}  {by:<7}  {mode:<10}  {:>6}  {:>9}  {:>5}  {:>4}{}",
            pull.number,
            pull.strike.promised_recently,
            pull.unpromised,
            pull.unpromised_lost,
            pull.lost,
            if pull.counts() {
                ""
            } else {
                "  does not count"
            }
        );
    }
    for (pull, loss) in book.losses.iter().take(SHOWN) {
        let _ = writeln!(text, "pull {pull}: {}", loss.sentence());
    }
    if book.struck.is_some() {
        text += "the check after the last pull is not over: run it again\n";
    } else if !book.ended {
        text += "the last session has not ended, or was killed\n";
    }
    text + "\n" + &record(verdict)
}
