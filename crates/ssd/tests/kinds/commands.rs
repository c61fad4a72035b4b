//! Random commands: uniform, hot and in order, whole slots and parts, all hints.

use ssdlab_ssd::config::DriveConfig;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Op};

/// A source of random commands for one drive.
#[derive(Clone, Debug)]
pub struct Mix {
    rng: Rng,
    slot: u64,
    sectors: u64,
    next: u64,
    /// Maximum slots of a command.
    most: u64,
    /// Percentages of reads, trims, flushes and FUA writes.
    reads: u32,
    trims: u32,
    flushes: u32,
    fua: u32,
    /// Percentages of offsets that are hot, in order, not whole slots.
    hot: u32,
    in_order: u32,
    parts: u32,
}

impl Mix {
    /// The mix of `seed`.
    pub fn new(config: &DriveConfig, seed: u64) -> Mix {
        let mut rng = Rng::named(seed, "mix");
        let mut percent = |most: u64| rng.below(most) as u32;
        let (reads, trims, flushes, fua) = (percent(50), percent(10), percent(6), percent(30));
        let (hot, in_order, parts) = (percent(80), percent(50), percent(30));
        Mix {
            slot: config.shape.slot_bytes.into(),
            sectors: config.user_bytes / 512,
            next: 0,
            most: 1 + rng.below(24),
            reads,
            trims,
            flushes,
            fua,
            hot,
            in_order,
            parts,
            rng,
        }
    }

    fn span(&mut self) -> (u64, u32) {
        let whole = self.slot / 512;
        let slots = self.sectors / whole;
        let count = 1 + self.rng.below(self.most);
        let first = if self.rng.percent(self.in_order) {
            self.next
        } else if self.rng.percent(self.hot) {
            self.rng.below(slots.div_ceil(8))
        } else {
            self.rng.below(slots)
        };
        let (mut at, mut len) = (first * whole, count * whole);
        if self.rng.percent(self.parts) {
            at += self.rng.below(whole);
            len = 1 + self.rng.below(len);
        }
        let len = len.min(self.sectors - at);
        self.next = (at + len).div_ceil(whole) % slots;
        (at * 512, (len * 512) as u32)
    }
}

impl Iterator for Mix {
    type Item = Command;

    fn next(&mut self) -> Option<Command> {
        if self.rng.percent(self.flushes) {
            return Some(Command::flush());
        }
        let (offset, len) = self.span();
        if self.rng.percent(self.reads) {
            return Some(Command::read(offset, len));
        }
        let mut command = Command::write(offset, len);
        command.fua = self.rng.percent(self.fua);
        command.stream = self.rng.below(256) as u8;
        if self.rng.percent(60) {
            command.compress_pct = self.rng.below(101) as u8;
        }
        if self.rng.percent(self.trims) {
            command.op = if self.rng.percent(70) {
                Op::Trim
            } else {
                Op::WriteZeroes
            };
        }
        Some(command)
    }
}

/// The mapping units that a command writes or trims, and which of the two, if it does either.
pub fn effect(command: &Command, slot: u64) -> Option<(std::ops::Range<u64>, bool)> {
    let end = command.offset + u64::from(command.len);
    match command.op {
        Op::Write => Some((command.offset / slot..end.div_ceil(slot), true)),
        Op::Trim | Op::WriteZeroes => {
            let first = command.offset.div_ceil(slot);
            Some((first..(end / slot).max(first), false))
        }
        Op::Read | Op::Flush => None,
    }
}
