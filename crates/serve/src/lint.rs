//! What a client promised itself: observations of each session, for people who wonder why data
//! was lost although the drive kept its word.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Orders writes and flushes of all sessions, so that a flush on one connection is known to
/// cover a write on another. A flush covers what was acknowledged before it began.
#[derive(Debug, Default)]
pub struct Coverage {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Coverage {
    /// A flush begins; its number.
    pub fn begin_flush(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// The flush of that number succeeded.
    pub fn end_flush(&self, number: u64) {
        self.done.fetch_max(number, Ordering::SeqCst);
    }

    fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    fn done(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }
}

/// Counts of one session. Failed commands count in `errors` only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionNotes {
    /// Who: front end and number of the connection.
    pub name: String,
    /// Whether FUA was offered to the client.
    pub fua_offered: bool,
    /// Reads.
    pub reads: u64,
    /// Writes, writes of zeroes included.
    pub writes: u64,
    /// Bytes of these.
    pub bytes_written: u64,
    /// Writes with FUA among them.
    pub fua_writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Accesses not aligned to the drive's sector: each write among them cost a read.
    pub unaligned: u64,
    /// Commands that failed, for want of power among others.
    pub errors: u64,
    /// Whether the client said that it goes, before it went.
    pub said_goodbye: bool,
    /// Writes acknowledged and covered by no flush of any session when this one ended.
    pub uncovered: u64,
    /// Acknowledged writes by the number of flushes begun before, as far as no flush covers them.
    waiting: BTreeMap<u64, u64>,
}

impl SessionNotes {
    /// Notes of a session that begins.
    pub fn new(name: String, fua_offered: bool) -> Self {
        Self {
            name,
            fua_offered,
            ..Self::default()
        }
    }

    /// A write succeeded.
    pub fn wrote(&mut self, coverage: &Coverage, bytes: u64, fua: bool) {
        self.writes += 1;
        self.bytes_written += bytes;
        if fua {
            self.fua_writes += 1;
            return;
        }
        *self.waiting.entry(coverage.begun()).or_default() += 1;
        if self.waiting.len() > 1 {
            self.drop_covered(coverage);
        }
    }

    /// A flush begun as `number` succeeded.
    pub fn flushed(&mut self, coverage: &Coverage, number: u64) {
        self.flushes += 1;
        coverage.end_flush(number);
        self.drop_covered(coverage);
    }

    /// The session ends.
    pub fn close(&mut self, coverage: &Coverage) {
        self.drop_covered(coverage);
        self.uncovered = self.waiting.values().sum();
    }

    /// Flush number n covers what was acknowledged when fewer than n had begun.
    fn drop_covered(&mut self, coverage: &Coverage) {
        self.waiting = self.waiting.split_off(&coverage.done());
    }

    /// Flushes for each write; nothing without a write.
    pub fn flushes_per_write(&self) -> Option<f64> {
        (self.writes > 0).then(|| self.flushes as f64 / self.writes as f64)
    }

    /// What deserves a word, one line each.
    pub fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        let plain = self.writes - self.fua_writes;
        if plain > 0 && self.flushes == 0 {
            found.push(format!(
                "never flushed: {plain} writes rely on another session, or on luck"
            ));
        }
        if self.fua_offered && self.writes > 0 && self.fua_writes == 0 {
            found.push("FUA was offered and never used".to_string());
        }
        if self.uncovered > 0 {
            let left = self.uncovered;
            found.push(format!(
                "{left} writes acknowledged, covered by no flush at the end"
            ));
        }
        if self.unaligned > 0 {
            let ragged = self.unaligned;
            found.push(format!(
                "{ragged} accesses not aligned to the drive's sector"
            ));
        }
        if !self.said_goodbye {
            found.push("went away without a word".to_string());
        }
        found
    }
}

impl fmt::Display for SessionNotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} reads, {} writes",
            self.name, self.reads, self.writes
        )?;
        write!(
            f,
            " ({} FUA), {} trims, {} flushes",
            self.fua_writes, self.trims, self.flushes
        )?;
        if let Some(ratio) = self.flushes_per_write() {
            write!(f, ", {ratio:.3} flushes per write")?;
        }
        if self.errors > 0 {
            write!(f, ", {} errors", self.errors)?;
        }
        for finding in self.findings() {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}

/// Most sessions that are kept; later ones are only counted.
const SESSIONS_MAX: usize = 10_000;

/// The notes of all sessions that have ended, and the order of their flushes.
#[derive(Debug, Default)]
pub struct Lint {
    /// Orders the flushes of all sessions.
    pub coverage: Coverage,
    ended: Mutex<(Vec<SessionNotes>, u64)>,
}

impl Lint {
    /// Keeps the notes of a session that ended.
    pub fn keep(&self, mut notes: SessionNotes) {
        notes.close(&self.coverage);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.0.len() < SESSIONS_MAX {
            ended.0.push(notes);
        } else {
            ended.1 += 1;
        }
    }

    /// The sessions that ended, in that order.
    pub fn sessions(&self) -> Vec<SessionNotes> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .clone()
    }

    /// All of it as text.
    pub fn render(&self) -> String {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for notes in &ended.0 {
            text.push_str(&format!("{notes}\n"));
        }
        if ended.1 > 0 {
            text.push_str(&format!("and {} more sessions\n", ended.1));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes() -> SessionNotes {
        let mut notes = SessionNotes::new("nbd 1".into(), true);
        notes.said_goodbye = true;
        notes
    }

    #[test]
    fn a_flush_elsewhere_covers_what_was_acknowledged_before_it_began() {
        let lint = Lint::default();
        let (mut a, mut b) = (notes(), notes());
        a.wrote(&lint.coverage, 512, false);
        let number = lint.coverage.begin_flush();
        a.wrote(&lint.coverage, 512, false);
        b.flushed(&lint.coverage, number);
        a.close(&lint.coverage);
        assert_eq!(
            a.uncovered, 1,
            "the second write came after the flush began"
        );
        assert!(
            a.findings()
                .iter()
                .any(|line| line.starts_with("never flushed: 2 writes"))
        );
    }

    #[test]
    fn a_failed_flush_covers_nothing() {
        let lint = Lint::default();
        let mut a = notes();
        a.wrote(&lint.coverage, 512, false);
        lint.coverage.begin_flush();
        a.close(&lint.coverage);
        assert_eq!(a.uncovered, 1);
    }

    #[test]
    fn a_careful_client_gets_no_finding() {
        let lint = Lint::default();
        let mut a = notes();
        a.wrote(&lint.coverage, 512, true);
        a.wrote(&lint.coverage, 512, false);
        let number = lint.coverage.begin_flush();
        a.flushed(&lint.coverage, number);
        lint.keep(a);
        let text = lint.render();
        let want =
            "nbd 1: 0 reads, 2 writes (1 FUA), 0 trims, 1 flushes, 0.500 flushes per write\n";
        assert_eq!(text, want);
    }
}
