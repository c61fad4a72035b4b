//! A device that takes the same time for everything: for access patterns, which it does not shape.

use ssdlab_base::LabError;
use ssdlab_bench::device::{Counters, Target, TargetCompletion, TargetFacts, TargetKind};
use ssdlab_ssd::{Command, Nanos, Op};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Commands that may be outstanding.
const DEPTH: u32 = 1024;

/// Fixed latencies in virtual time, whatever else is under way.
pub struct FixedTarget {
    facts: TargetFacts,
    latency: Nanos,
    flush: Nanos,
    now: Nanos,
    sequence: u64,
    under_way: BinaryHeap<Reverse<(Nanos, u64, u32, Nanos)>>,
    counts: [u64; Op::COUNT],
    bytes_written: u64,
}

impl FixedTarget {
    /// A device of `capacity` bytes: `latency` for a read or write, `flush` for a flush.
    pub fn new(capacity: u64, latency: Nanos, flush: Nanos) -> FixedTarget {
        let mut facts = TargetFacts::unknown(String::from("fixed"), TargetKind::Modelled);
        facts.capacity = capacity;
        facts.notes = vec![format!(
            "every write takes {latency}, every flush {flush}, whatever else is under way"
        )];
        FixedTarget {
            facts,
            latency,
            flush,
            now: Nanos::ZERO,
            sequence: 0,
            under_way: BinaryHeap::new(),
            counts: [0; Op::COUNT],
            bytes_written: 0,
        }
    }
}

impl Target for FixedTarget {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn depth_max(&self) -> u32 {
        DEPTH
    }

    fn now(&mut self) -> Nanos {
        self.now
    }

    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        let time = match command.op {
            Op::Flush => self.flush,
            _ => self.latency,
        };
        self.counts[command.op as usize] += 1;
        if command.op == Op::Write {
            self.bytes_written += u64::from(command.len);
        }
        self.sequence += 1;
        let completion_time = self.now.saturating_add(time);
        self.under_way
            .push(Reverse((completion_time, self.sequence, tag, self.now)));
        Ok(())
    }

    fn reap(
        &mut self,
        until: Option<Nanos>,
        completions: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        let until = until.unwrap_or(Nanos::MAX);
        let first = self.under_way.peek().map(|Reverse(next)| next.0);
        let Some(time) = first.filter(|time| *time <= until) else {
            self.now = self.now.max(until);
            return Ok(());
        };
        self.now = self.now.max(time);
        while let Some(Reverse((at, _, tag, submitted))) = self.under_way.peek().copied() {
            if at > time {
                break;
            }
            self.under_way.pop();
            completions.push(TargetCompletion {
                tag,
                submitted,
                done: at,
                errno: 0,
            });
        }
        Ok(())
    }

    fn counters(&mut self) -> Counters {
        let count = |op: Op| Some(self.counts[op as usize]);
        Counters {
            reads: count(Op::Read),
            writes: count(Op::Write),
            flushes: count(Op::Flush),
            trims: count(Op::Trim),
            host_bytes_written: Some(self.bytes_written),
            ..Counters::default()
        }
    }
}
