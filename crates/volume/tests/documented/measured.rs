//! What a volume does, measured on its model in virtual time.

use ssdlab_ssd::{Command, Nanos};
use ssdlab_volume::{Volume, VolumeConfig};
use std::collections::VecDeque;

/// Outstanding commands: enough for every rate measured here.
const DEPTH: usize = 256;

/// A volume and somebody who always has `DEPTH` reads outstanding.
pub struct VolumeLoad {
    volume: Volume,
    outstanding: VecDeque<Nanos>,
    time: Nanos,
    count: u64,
    len: u32,
}

impl VolumeLoad {
    /// Reads of `len` bytes, scattered so that they do not merge.
    pub fn new(config: VolumeConfig, len: u32) -> VolumeLoad {
        VolumeLoad {
            volume: Volume::new(config),
            outstanding: VecDeque::new(),
            time: Nanos::ZERO,
            count: 0,
            len,
        }
    }

    /// When the next command is let pass.
    fn next(&mut self) -> Nanos {
        // An odd stride of 3 MiB never meets the block before.
        let blocks = (self.volume.config().bytes / u64::from(self.len)).max(1);
        let block = self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15) % blocks;
        let command = Command::read(block * u64::from(self.len), self.len);
        let service = self.volume.submit(self.time, &command);
        self.count += 1;
        self.outstanding.push_back(service.done);
        if self.outstanding.len() == DEPTH {
            let first = self.outstanding.pop_front().expect("it is not empty");
            self.time = self.time.max(first);
        }
        service.passed
    }

    /// Commands that pass in the seconds from `from` to `to`, a second.
    pub fn rate(&mut self, from: u64, to: u64) -> f64 {
        let (from, to) = (Nanos::from_secs(from), Nanos::from_secs(to));
        let mut count = 0_u64;
        loop {
            let passed = self.next();
            if passed >= to {
                return count as f64 / (to.0 - from.0) as f64 * 1e9;
            }
            count += u64::from(passed >= from);
        }
    }

    /// The first whole second in which fewer than `rate` commands pass; `None` within `most`.
    pub fn first_below(&mut self, rate: f64, most: u64) -> Option<f64> {
        for second in 0..most {
            let end = Nanos::from_secs(second + 1);
            let mut count = 0_u64;
            while self.next() < end {
                count += 1;
            }
            if (count as f64) < rate {
                return Some(second as f64);
            }
        }
        None
    }

    /// Seconds that `count` commands take.
    pub fn seconds_of(&mut self, count: u64) -> f64 {
        let mut passed = Nanos::ZERO;
        for _ in 0..count {
            passed = self.next();
        }
        passed.as_secs_f64()
    }
}
