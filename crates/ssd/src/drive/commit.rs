//! Commits: what FLUSH, and FUA on a volatile buffer, must do before they complete.
//!
//! One at a time, each in steps: the data to media, then the map pages that lead to it, each
//! program after the one before has ended. This is what makes a small durable write cost
//! several programs on a drive whose buffer does not survive a power cut.

use super::Drive;
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Debug)]
struct Commit {
    tag: u32,
    /// The slots of a FUA write; `None` for a FLUSH, which commits everything buffered.
    slots: Option<Range<u32>>,
    ready: u64,
}

/// The commit at work and those waiting for it.
#[derive(Clone, Debug)]
pub(super) struct Commits {
    queue: VecDeque<Commit>,
    /// Map programs still to do for the commit at the head of the queue; `None`: not begun.
    map_programs_left: Option<u32>,
    /// When the next step is due.
    at: u64,
}

impl Default for Commits {
    fn default() -> Commits {
        Commits {
            queue: VecDeque::new(),
            map_programs_left: None,
            at: u64::MAX,
        }
    }
}

impl Commits {
    /// When the next step is due; `u64::MAX` when there is nothing to commit.
    #[inline(always)]
    pub fn next_time(&self) -> u64 {
        self.at
    }

    fn push(&mut self, commit: Commit) {
        if self.queue.is_empty() {
            self.at = commit.ready;
        }
        self.queue.push_back(commit);
    }
}

impl Drive {
    pub(super) fn commit_fua(&mut self, tag: u32, slots: Range<u32>, ready: u64) {
        self.commits.push(Commit {
            tag,
            slots: Some(slots),
            ready,
        });
    }

    pub(super) fn start_flush(&mut self, tag: u32, ready: u64) {
        self.ftl.counters.host_flushes += 1;
        if self.config.buffer.protected {
            self.complete(tag, ready);
            return;
        }
        self.commits.push(Commit {
            tag,
            slots: None,
            ready,
        });
    }

    pub(super) fn run_commit(&mut self, at: u64) {
        match self.commits.map_programs_left {
            None => self.begin_commit(at),
            Some(0) => self.end_commit(at),
            Some(left) => {
                self.commits.at = self.ftl.program_commit_journal(self.now, at);
                self.commits.map_programs_left = Some(left - 1);
            }
        }
    }

    fn begin_commit(&mut self, at: u64) {
        let slots = self
            .commits
            .queue
            .front()
            .expect("a commit is due")
            .slots
            .clone();
        let on_media = match slots {
            Some(slots) => {
                let before = self.ftl.ring_len();
                let end = self.ftl.program_now(self.now, at, slots);
                debug_assert_eq!(before, self.ftl.ring_len(), "entries die in place");
                end
            }
            None => self.drain_all(at, true).max(self.buffer.last_end()),
        };
        self.commits.at = on_media.max(at);
        let map_programs = if self.ftl.uncommitted() {
            self.ftl.counters.commits += 1;
            self.config.ftl.commit_map_programs
        } else {
            0
        };
        self.commits.map_programs_left = Some(map_programs);
    }

    fn end_commit(&mut self, at: u64) {
        let commit = self.commits.queue.pop_front().expect("a commit is at work");
        self.commits.map_programs_left = None;
        self.commits.at = self
            .commits
            .queue
            .front()
            .map_or(u64::MAX, |next| next.ready.max(at));
        self.complete(commit.tag, at);
    }
}
