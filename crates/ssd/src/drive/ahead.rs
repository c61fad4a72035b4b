//! Read-ahead: what follows on reads in order is read before the host asks for it.
//!
//! A read that begins where an earlier one ended continues its *stream*. From the second
//! continuation on, the drive keeps up to `read_ahead` slots behind the last read in the
//! controller: when half of them or fewer are left, it reads more, in one batch that ends at a
//! multiple of a program unit. A batch is an ordinary read of the media, booked after the command
//! that causes it; a command waits for the batches that hold its slots, and reads the others
//! itself. Up to [`STREAMS`] streams are known; a new one replaces that continued longest ago. A
//! write or TRIM of a slot that was read ahead drops the batches of its stream; a restart drops
//! all.
//!
//! Left out: controller time for reading ahead, reads in descending order or with strides, and
//! data kept after it was read once.

use crate::config::HostConfig;
use crate::image::image_of;
use std::ops::Range;

/// Number of streams known at a time.
const STREAMS: usize = 8;
/// Continuations before the drive reads ahead: fewer could be chance.
const CONTINUATIONS: u32 = 2;

image_of! {
    /// Slots read together.
    #[derive(Clone, Debug, Default)]
    struct ReadAheadBatch {
        /// End of its slots; it begins where the previous one ends.
        end: u32,
        /// Time at which all of them are in the controller.
        ready: u64,
    }
}

image_of! {
    /// Reads in order.
    #[derive(Clone, Debug, Default)]
    struct ReadAheadStream {
        /// Byte at which the next read begins.
        next: u64,
        continued: u32,
        /// Number of the read that continued it last.
        used: u64,
        /// First slot of the batches.
        begin: u32,
        batches: Vec<ReadAheadBatch>,
    }
}

impl ReadAheadStream {
    /// End of the slots read ahead.
    fn end(&self) -> u32 {
        self.batches.last().map_or(self.begin, |last| last.end)
    }

    /// Takes `slots`: the time at which those read ahead are in the controller, and the rest.
    fn take(&mut self, slots: Range<u32>) -> (u64, Range<u32>) {
        let held = self.end();
        let mut ready = 0;
        for batch in self.batches.iter().filter(|b| b.end > slots.start) {
            ready = ready.max(batch.ready);
            if batch.end >= slots.end {
                break;
            }
        }
        // The last slot of a read can be the first of the next.
        let passed = slots.end - u32::from(!slots.is_empty());
        let gone = self.batches.partition_point(|batch| batch.end <= passed);
        if gone > 0 {
            self.begin = self.batches[gone - 1].end;
            self.batches.drain(..gone);
        }
        (ready, held.clamp(slots.start, slots.end)..slots.end)
    }
}

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct ReadAhead {
        streams: Vec<ReadAheadStream>,
        reads: u64,
    }
}

/// What a read finds.
pub(super) struct ReadAheadHit {
    /// Time at which the slots that were read ahead are in the controller.
    pub ready: u64,
    /// The others, to be read now.
    pub missing: Range<u32>,
    stream: usize,
}

impl ReadAhead {
    /// That of a drive; `None` if it does not read ahead.
    pub fn of(host: &HostConfig) -> Option<Box<ReadAhead>> {
        let none = ReadAhead {
            streams: Vec::new(),
            reads: 0,
        };
        (host.read_ahead > 0).then(|| Box::new(none))
    }

    /// Finds what the read of `bytes`, which touches `slots`, has in the controller.
    pub fn find(&mut self, bytes: Range<u64>, slots: Range<u32>) -> ReadAheadHit {
        self.reads += 1;
        let known = self.streams.iter().position(|s| s.next == bytes.start);
        let stream = known.unwrap_or_else(|| self.begin(slots.start));
        let read_stream = &mut self.streams[stream];
        read_stream.next = bytes.end;
        read_stream.used = self.reads;
        read_stream.continued += u32::from(known.is_some());
        let (ready, missing) = read_stream.take(slots);
        ReadAheadHit {
            ready,
            missing,
            stream,
        }
    }

    fn begin(&mut self, slot: u32) -> usize {
        if self.streams.len() < STREAMS {
            self.streams.push(ReadAheadStream::default());
        }
        let idle = self.streams.iter().enumerate().min_by_key(|(_, s)| s.used);
        let index = idle.map_or(0, |(index, _)| index);
        self.streams[index] = ReadAheadStream {
            begin: slot,
            ..ReadAheadStream::default()
        };
        index
    }

    /// The slots to read ahead after a read that ended before slot `end`; `depth` in slots, `unit`
    /// those of a program unit, `user` those of the drive.
    pub fn wants(
        &self,
        found: &ReadAheadHit,
        end: u32,
        depth: u32,
        unit: u32,
        user: u32,
    ) -> Range<u32> {
        let stream = &self.streams[found.stream];
        let from = stream.end().max(end);
        let to = end.saturating_add(depth).min(user);
        let whole = to - to % unit;
        let to = if whole > from { whole } else { to };
        if stream.continued < CONTINUATIONS || from - end > depth / 2 || to <= from {
            return 0..0;
        }
        from..to
    }

    /// Notes that `slots` will be in the controller at `ready`.
    pub fn read(&mut self, found: &ReadAheadHit, slots: Range<u32>, ready: u64) {
        let stream = &mut self.streams[found.stream];
        if stream.batches.is_empty() {
            stream.begin = slots.start;
        }
        stream.batches.push(ReadAheadBatch {
            end: slots.end,
            ready,
        });
    }

    /// Drops the batches of streams in which slots change.
    pub fn forget(&mut self, slots: &Range<u32>) {
        for stream in &mut self.streams {
            if stream.begin < slots.end && slots.start < stream.end() {
                stream.batches.clear();
                stream.begin = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Slots 8 to 20 are in the controller, each at its own time.
    #[test]
    fn a_read_waits_for_its_own_slots_and_for_no_others() {
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let mut stream = ReadAheadStream {
                begin: 8,
                ..ReadAheadStream::default()
            };
            let mut ready_of = vec![0; 8];
            while ready_of.len() < 20 {
                let end = (ready_of.len() as u32 + 1 + rng.below(4) as u32).min(20);
                let ready = rng.below(1_000);
                stream.batches.push(ReadAheadBatch { end, ready });
                ready_of.resize(end as usize, ready);
            }
            for (start, end) in (8..20).flat_map(|start| (start..=20).map(move |end| (start, end)))
            {
                let slots = ready_of[start as usize..end as usize].iter().copied();
                let expected = slots.max().unwrap_or(0);
                let (ready, missing) = stream.clone().take(start..end);
                if start < end {
                    assert_eq!(ready, expected, "seed {seed}: {start}..{end}");
                }
                assert!(missing.is_empty(), "seed {seed}: {missing:?}");
            }
        }
    }
}
