//! Wear state of the translation layer: limits, superblocks to be moved, the patrol.

use crate::config::{DriveConfig, EndOfLife, LevellingConfig};
use crate::image::image_of;
use std::collections::VecDeque;

/// See the module's documentation.
#[derive(Clone, Debug, Default)]
pub(super) struct Wear {
    pub on: bool,
    pub levelling: LevellingConfig,
    /// Minimum number of native superblocks.
    pub native_min: u32,
    /// Number of native superblocks retired.
    pub native_retired: u32,
    /// Superblocks to be emptied, and whether for levelling.
    pub queue: VecDeque<(u32, bool)>,
    /// Whether the superblock being emptied now is so for levelling.
    pub levelling_now: bool,
    /// Superblocks freed since the last search for a cold one.
    pub freed: u32,
    /// Superblocks that the current patrol still has to scan.
    pub patrol_left: u32,
    /// Number of patrols begun: each reads different pages.
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

    /// Behaviour of a drive that has reached its end of life.
    #[inline(always)]
    pub fn ended(&self) -> Option<EndOfLife> {
        if !self.at_end {
            return None;
        }
        let mut all = EndOfLife::ALL.into_iter();
        all.find(|policy| *policy as u8 == self.policy)
    }

    /// Sets whether a drive read from files had reached its end of life.
    pub fn set_ended(&mut self, ended: bool) {
        self.at_end = ended;
    }

    /// Restores the number of retired native superblocks after a power failure.
    pub fn take_retired(&mut self, native: u32) {
        self.native_retired = native;
    }

    /// Drops all pending moves when all data is erased.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.levelling_now = false;
        self.patrol_left = 0;
    }
}
