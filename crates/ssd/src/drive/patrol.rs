//! Patrols by the drive's own clock.
//!
//! At each patrol period of the clock, the hours since the last patrol reach the media, which is
//! assumed to be at its reference temperature, and a patrol begins. It scans the superblocks in
//! idle time. Without enough idle time it scans them anyway, one at a time, spread over half of the
//! period, so that it also finishes on a drive that is never idle. Data that a patrol finds faded
//! is rewritten when idle, as after any read.
//!
//! Left out: hours while the power is off (the caller adds them).

use crate::config::DriveConfig;
use crate::image::image_of;

const HOUR: u64 = 3_600_000_000_000;

image_of! {
    /// Schedule of patrols.
    #[derive(Clone, Debug)]
    pub(super) struct Patrol {
        /// Time of the next patrol step; `u64::MAX`: never.
        pub next: u64,
        /// Time at which the next patrol begins.
        pub begins: u64,
        hours: u32,
    }
}

impl Patrol {
    pub fn new(config: &DriveConfig) -> Patrol {
        let wear = config.wear.as_ref();
        let hours = wear.map_or(0, |wear| match wear.patrol_pages {
            0 => 0,
            _ => wear.patrol_hours,
        });
        let begins = match hours {
            0 => u64::MAX,
            _ => u64::from(hours) * HOUR,
        };
        Patrol {
            next: begins,
            begins,
            hours,
        }
    }

    /// Begins the next patrol; returns the hours since the last one.
    pub fn begin(&mut self) -> u32 {
        let period = u64::from(self.hours) * HOUR;
        self.begins = self.begins.saturating_add(period);
        self.hours
    }

    /// Time of the next step after `at`, with `left` of `count` superblocks still to scan.
    pub fn next_step(&self, at: u64, left: u32, count: u32) -> u64 {
        if left == 0 {
            return self.begins;
        }
        let pace = u64::from(self.hours) * HOUR / 2 / u64::from(count).max(1);
        self.begins.min(at + pace.max(1))
    }
}
