//! Patrols by the drive's own clock.
//!
//! Every so many hours of the clock the hours since the last time reach the media, which is taken
//! to be at its reference temperature, and a patrol begins. It looks through the superblocks in
//! idle time. What the host leaves no time for is done all the same, a superblock at a time,
//! spread over half of the period: a drive that is never idle gets through too. What a patrol
//! finds faded is written anew when idle, as after any read.
//!
//! Left out: hours while the power is off (whoever switches it tells them).

use crate::config::DriveConfig;
use crate::image::image_of;

const HOUR: u64 = 3_600_000_000_000;

/// When which patrol is due.
#[derive(Clone, Debug)]
pub(super) struct Patrol {
    /// When something is next to be done; `u64::MAX`: never.
    pub next: u64,
    /// When the next one begins.
    pub begins: u64,
    hours: u32,
}

image_of!(Patrol {
    next,
    begins,
    hours
});

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

    /// The next patrol begins; returns the hours since the last one.
    pub fn begin(&mut self) -> u32 {
        let period = u64::from(self.hours) * HOUR;
        self.begins = self.begins.saturating_add(period);
        self.hours
    }

    /// When the next of `count` superblocks is looked through after `at`, while some are `left`.
    pub fn next_step(&self, at: u64, left: u32, count: u32) -> u64 {
        if left == 0 {
            return self.begins;
        }
        let pace = u64::from(self.hours) * HOUR / 2 / u64::from(count).max(1);
        self.begins.min(at + pace.max(1))
    }
}
