//! What the translation layer keeps about wear: limits, what waits to be moved, the patrol.

use crate::config::{DriveConfig, EndOfLife, LevellingConfig};
use crate::image::image_of;
use std::collections::VecDeque;

/// See the module's text.
#[derive(Clone, Debug, Default)]
pub(super) struct Wear {
    pub on: bool,
    pub levelling: LevellingConfig,
    /// Native superblocks that must stay.
    pub native_min: u32,
    /// Native superblocks given up.
    pub native_retired: u32,
    /// Superblocks to be emptied, and whether that is for levelling.
    pub queue: VecDeque<(u32, bool)>,
    /// The one that is emptied now is so for levelling.
    pub levelling_now: bool,
    /// Superblocks freed since the last look for a cold one.
    pub freed: u32,
    /// Superblocks that the patrol under way has still to look through.
    pub patrol_left: u32,
    /// Patrols begun: each reads other pages.
    pub patrols: u32,
    pub at_end: bool,
    policy: u8,
}

image_of!(Wear {
    on,
    levelling,
    native_min,
    native_retired,
    queue,
    levelling_now,
    freed,
    patrol_left,
    patrols,
    at_end,
    policy
});

impl Wear {
    pub fn new(config: &DriveConfig) -> Wear {
        let Some(wear) = &config.wear else {
            return Wear::default();
        };
        Wear {
            on: true,
            levelling: wear.levelling,
            native_min: config.native_superblocks_min() as u32,
            policy: wear.end_of_life as u8,
            ..Wear::default()
        }
    }

    #[inline(always)]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// What the drive does at its end, once it is there.
    #[inline(always)]
    pub fn ended(&self) -> Option<EndOfLife> {
        if !self.at_end {
            return None;
        }
        let mut all = EndOfLife::ALL.into_iter();
        all.find(|policy| *policy as u8 == self.policy)
    }

    /// A drive that comes back from files was at its end, or not.
    pub fn set_ended(&mut self, ended: bool) {
        self.at_end = ended;
    }

    /// After power failed: so many native superblocks were given up by then.
    pub fn take_retired(&mut self, native: u32) {
        self.native_retired = native;
    }

    /// Nothing waits to be moved any more: all data is gone.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.levelling_now = false;
        self.patrol_left = 0;
    }
}
