//! Notes on each session: whether the client flushed the writes that it relies on. They explain
//! lost data where the drive kept its promises.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Orders the writes and flushes of all sessions: a flush covers every write that was acknowledged
/// before it began, on any connection.
#[derive(Debug, Default)]
pub struct Coverage {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Coverage {
    /// Begins a flush and returns its number.
    pub fn begin_flush(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::SeqCst) + 1
    }

    /// Records that the flush of that number succeeded.
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

/// Counts of one session. A failed command counts in `errors` only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionNotes {
    /// Front end and number of the connection.
    pub name: String,
    /// Whether FUA was offered to the client.
    pub fua_offered: bool,
    /// Number of reads.
    pub reads: u64,
    /// Number of writes, writes of zeroes included.
    pub writes: u64,
    /// Bytes written.
    pub bytes_written: u64,
    /// Number of writes with FUA.
    pub fua_writes: u64,
    /// Number of trims.
    pub trims: u64,
    /// Number of flushes.
    pub flushes: u64,
    /// Number of accesses not aligned to the drive's sector; each such write costs a read.
    pub unaligned: u64,
    /// Number of failed commands, those without power included.
    pub errors: u64,
    /// Whether the client announced its disconnection.
    pub said_goodbye: bool,
    /// Number of acknowledged writes that no flush of any session covered at the end of this one.
    pub uncovered: u64,
    /// Number of acknowledged writes not covered by a flush, by the number of flushes begun before.
    waiting: BTreeMap<u64, u64>,
}

impl SessionNotes {
    /// Begins the notes of a session.
    pub fn new(name: String, fua_offered: bool) -> Self {
        Self {
            name,
            fua_offered,
            ..Self::default()
        }
    }

    /// Records a successful write.
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

    /// Records the success of the flush begun as `number`.
    pub fn flushed(&mut self, coverage: &Coverage, number: u64) {
        self.flushes += 1;
        coverage.end_flush(number);
        self.drop_covered(coverage);
    }

    /// Adds what another thread has noted of the same session.
    pub fn add(&mut self, other: SessionNotes) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes_written += other.bytes_written;
        self.fua_writes += other.fua_writes;
        self.trims += other.trims;
        self.flushes += other.flushes;
        self.unaligned += other.unaligned;
        self.errors += other.errors;
        self.said_goodbye |= other.said_goodbye;
        self.uncovered += other.uncovered;
        for (flushes, writes) in other.waiting {
            *self.waiting.entry(flushes).or_default() += writes;
        }
    }

    /// Ends the session.
    pub fn close(&mut self, coverage: &Coverage) {
        self.drop_covered(coverage);
        self.uncovered = self.waiting.values().sum();
    }

    /// Flush number n covers the writes acknowledged when fewer than n flushes had begun.
    fn drop_covered(&mut self, coverage: &Coverage) {
        self.waiting = self.waiting.split_off(&coverage.done());
    }

    /// Whether the client sent no command at all.
    fn is_empty(&self) -> bool {
        let counts = [
            self.reads,
            self.writes,
            self.trims,
            self.flushes,
            self.errors,
        ];
        counts == [0; 5]
    }

    /// Number of flushes per write; `None` without writes.
    pub fn flushes_per_write(&self) -> Option<f64> {
        (self.writes > 0).then(|| self.flushes as f64 / self.writes as f64)
    }

    /// Remarks on the session, one line each.
    pub fn findings(&self) -> Vec<String> {
        let mut findings = Vec::new();
        let plain = self.writes - self.fua_writes;
        if plain > 0 && self.flushes == 0 {
            findings.push(format!(
                "never flushed: {plain} writes rely on another session, or on luck"
            ));
        }
        if self.fua_offered && self.writes > 0 && self.fua_writes == 0 {
            findings.push("FUA was offered and never used".to_string());
        }
        if self.uncovered > 0 {
            let uncovered = self.uncovered;
            findings.push(format!(
                "{uncovered} writes acknowledged, covered by no flush at the end"
            ));
        }
        if self.unaligned > 0 {
            let ragged = self.unaligned;
            findings.push(format!(
                "{ragged} accesses not aligned to the drive's sector"
            ));
        }
        if !self.said_goodbye {
            findings.push("disconnected without notice".to_string());
        }
        findings
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

/// Maximum number of sessions kept; later ones are only counted.
const SESSIONS_MAX: usize = 10_000;

/// The notes of all ended sessions, and the order of their flushes.
#[derive(Debug, Default)]
pub struct Lint {
    /// Orders the flushes of all sessions.
    pub coverage: Coverage,
    ended: Mutex<(Vec<SessionNotes>, u64)>,
}

impl Lint {
    /// Ends a session and keeps its notes.
    pub fn keep(&self, mut notes: SessionNotes) {
        notes.close(&self.coverage);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        if ended.0.len() < SESSIONS_MAX {
            ended.0.push(notes);
        } else {
            ended.1 += 1;
        }
    }

    /// The ended sessions, in the order of their ends.
    pub fn sessions(&self) -> Vec<SessionNotes> {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .0
            .clone()
    }

    /// All notes as text; sessions without a command are only counted.
    pub fn render(&self) -> String {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for notes in ended.0.iter().filter(|notes| !notes.is_empty()) {
            text.push_str(&format!("{notes}\n"));
        }
        let empty = ended.0.iter().filter(|notes| notes.is_empty()).count();
        if empty > 0 {
            let sessions = if empty == 1 { "session" } else { "sessions" };
            text.push_str(&format!("{empty} {sessions} without a command\n"));
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

    /// A thousand idle clients once ended in two thousand lines.
    #[test]
    fn sessions_without_a_command_are_counted() {
        let lint = Lint::default();
        (0..1000).for_each(|_| lint.keep(SessionNotes::new("nbd".into(), true)));
        assert_eq!(lint.render(), "1000 sessions without a command\n");
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
