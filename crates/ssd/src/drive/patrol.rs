//! Patrols by the drive's own clock.
//!
//! Every so many hours of the clock the hours since the last time reach the media, which is taken
//! to be at its reference temperature, and a patrol begins. It looks through the superblocks in
//! idle time. What the host leaves no time for is done all the same, a superblock at a time,
//! spread over half of the period: a drive that is never idle gets through too. What a patrol
//! finds faded is written anew when idle, as after any read.
//!
//! Left out: hours while the power is off (whoever switches it tells them).

use super::engine::Engine;
use crate::config::DriveConfig;
use crate::ftl::Translation;
use crate::image::image_of;

const HOUR: u64 = 3_600_000_000_000;

/// When which patrol is due.
#[derive(Clone, Debug)]
pub(super) struct Patrol {
    /// When something is next to be done; `u64::MAX`: never.
    pub next: u64,
    /// When the next one begins.
    begins: u64,
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
}

impl<F: Translation> Engine<F> {
    /// The clock is at `until`, or will be before anything else happens.
    #[cold]
    pub(super) fn patrol_by_clock(&mut self, until: u64) {
        while self.patrol.next <= until {
            let at = self.patrol.next;
            // What is to be done by then; with commands under way only they know.
            self.run_internal(at);
            self.set_now(self.now.max(at));
            if at >= self.patrol.begins {
                self.begin_patrol();
            } else if self.ftl.patrol_left() > 0 {
                self.ftl.patrol_now(self.now);
            }
            self.patrol.next = self.next_patrol_step(at);
        }
        self.run_internal(until);
    }

    fn begin_patrol(&mut self) {
        let period = u64::from(self.patrol.hours) * HOUR;
        self.patrol.begins = self.patrol.begins.saturating_add(period);
        self.rest(self.patrol.hours);
    }

    fn next_patrol_step(&self, at: u64) -> u64 {
        let begins = self.patrol.begins;
        if self.ftl.patrol_left() == 0 {
            return begins;
        }
        let count = u64::from(self.config.geometry().superblock_count);
        let pace = u64::from(self.patrol.hours) * HOUR / 2 / count.max(1);
        begins.min(at + pace.max(1))
    }
}
