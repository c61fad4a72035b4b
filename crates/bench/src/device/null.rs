//! The null target: completes everything at once, to measure the generator itself.
//!
//! It does what every real target must: reads the clock once when a batch of commands is handed
//! over (on entering `reap`) and once when it is complete. No data is touched.

use super::{Counters, Target, TargetCompletion, TargetFacts, TargetKind};
use ssdlab_base::LabError;
use ssdlab_ssd::{Command, Nanos, Op};
use std::time::{Duration, Instant};

/// Completes everything at once.
pub struct NullTarget {
    facts: TargetFacts,
    depth_max: u32,
    opened: Instant,
    pending: Vec<u32>,
    counts: [u64; Op::COUNT],
    fua_writes: u64,
    bytes_written: u64,
}

impl NullTarget {
    /// A target of `capacity` bytes that takes `depth_max` commands at a time.
    pub fn new(capacity: u64, depth_max: u32) -> NullTarget {
        let mut facts = TargetFacts::unknown(String::from("null"), TargetKind::Null);
        facts.capacity = capacity;
        facts.notes = vec![String::from(
            "nothing is read or written: this measures the load generator itself",
        )];
        NullTarget {
            facts,
            depth_max: depth_max.max(1),
            opened: Instant::now(),
            pending: Vec::new(),
            counts: [0; Op::COUNT],
            fua_writes: 0,
            bytes_written: 0,
        }
    }

    fn clock(&self) -> Nanos {
        since(self.opened)
    }
}

/// Time since `opened`, 584 years at most.
#[inline]
pub(super) fn since(opened: Instant) -> Nanos {
    let elapsed = opened.elapsed();
    Nanos(elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos()))
}

impl Target for NullTarget {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        self.depth_max
    }

    fn now(&mut self) -> Nanos {
        self.clock()
    }

    #[inline]
    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        self.counts[command.op as usize] += 1;
        if command.op == Op::Write {
            self.fua_writes += u64::from(command.fua);
            self.bytes_written += u64::from(command.len);
        }
        self.pending.push(tag);
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let submitted = self.clock();
        if self.pending.is_empty() {
            let until = until.unwrap_or(submitted);
            std::thread::sleep(Duration::from_nanos(until.saturating_sub(submitted).0));
            return Ok(());
        }
        let completed = self.clock();
        completions.extend(self.pending.drain(..).map(|tag| TargetCompletion {
            tag,
            submitted,
            done: completed,
            errno: 0,
        }));
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        let count = |op: Op| Some(self.counts[op as usize]);
        Counters {
            reads: count(Op::Read),
            writes: count(Op::Write),
            fua_writes: Some(self.fua_writes),
            flushes: count(Op::Flush),
            trims: count(Op::Trim),
            host_bytes_written: Some(self.bytes_written),
            nand_bytes_written: None,
            more: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_completes_at_once_in_order() {
        let mut null = NullTarget::new(1 << 20, 4);
        for tag in [3, 1, 2] {
            null.submit(tag, &Command::write_fua(0, 4096)).unwrap();
        }
        let mut done = Vec::new();
        null.reap(None, &mut done).unwrap();
        let tags: Vec<u32> = done.iter().map(|d| d.tag).collect();
        assert_eq!(tags, [3, 1, 2]);
        assert!(done.iter().all(|d| d.submitted <= d.done && d.errno == 0));
        assert_eq!(null.counters().fua_writes, Some(3));
    }

    #[test]
    fn with_nothing_outstanding_it_waits_until_told() {
        let mut null = NullTarget::new(1 << 20, 4);
        let until = null.now() + Nanos::from_millis(5);
        null.reap(Some(until), &mut Vec::new()).unwrap();
        assert!(null.now() >= until);
    }
}
