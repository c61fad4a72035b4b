//! Layouts that a drive may have: everything about reclaim that is not a number.

use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::FtlConfig;
use ssdlab_ssd::ftl::policies::{Separation, VictimChoice};

/// Bytes of a mapping unit of the small drives that are simulated.
pub const SLOT: u64 = 4096;
/// Mapping units of media of a small drive, whatever its number of superblocks: of the usual
/// layouts, and of others. With few slots in a superblock, chance makes emptier victims than a real
/// drive has.
pub(crate) const MEDIA_SLOTS: (u32, u32) = (131_072, 32_768);
/// Prior probability that a drive relocates greedily to frontiers of its own: the layout that
/// agreed best with each of the drives measured (chosen while looking at them).
const USUAL: f64 = 0.9;

/// A layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtlLayout {
    /// Name in files.
    pub name: &'static str,
    /// Victim policy, as in drive files.
    pub victim: &'static str,
    /// Its parameter, where it has one.
    pub parameter: u64,
    /// Whether relocated data shares the host's open superblock.
    pub shared: bool,
    /// Whether data overwritten soon has an open superblock of its own.
    pub by_lifespan: bool,
    /// Superblocks of the small drive.
    pub superblocks: u32,
    /// Mapping units of its media.
    pub media_slots: u32,
}

const fn layout(name: &'static str, victim: &'static str, parameter: u64) -> FtlLayout {
    FtlLayout {
        name,
        victim,
        parameter,
        shared: false,
        by_lifespan: false,
        superblocks: 1024,
        media_slots: MEDIA_SLOTS.1,
    }
}

const fn shared(name: &'static str, victim: &'static str, parameter: u64) -> FtlLayout {
    FtlLayout {
        shared: true,
        ..layout(name, victim, parameter)
    }
}

const fn greedy(name: &'static str, superblocks: u32) -> FtlLayout {
    FtlLayout {
        superblocks,
        media_slots: MEDIA_SLOTS.0,
        ..layout(name, "greedy", 0)
    }
}

/// Every layout that is tried. The first ones are the usual: greedy, relocated data apart, and as
/// many superblocks as 3D TLC of 128 to 176 layers has blocks in a plane, some 250 to 700.
pub const ALL: [FtlLayout; 12] = [
    greedy("greedy-apart-256", 256),
    greedy("greedy-apart-512", 512),
    shared("greedy-shared", "greedy", 0),
    layout("cost-benefit-apart", "cost-benefit", 0),
    shared("cost-benefit-shared", "cost-benefit", 0),
    layout("d-choices-4-apart", "d-choices", 4),
    shared("d-choices-4-shared", "d-choices", 4),
    layout("d-choices-10-apart", "d-choices", 10),
    shared("d-choices-10-shared", "d-choices", 10),
    layout("windowed-apart", "windowed", 256),
    layout("fifo-apart", "fifo", 0),
    FtlLayout {
        by_lifespan: true,
        ..layout("greedy-by-lifespan", "greedy", 0)
    },
];
/// How many of [`ALL`] are the usual layout.
const USUAL_COUNT: usize = 2;

/// Index in [`ALL`] of a name.
pub fn named(name: &str) -> Option<usize> {
    ALL.iter().position(|structure| structure.name == name)
}

/// Prior probability of a layout of [`ALL`]; they add up to 1.
pub fn prior(index: usize) -> f64 {
    if index < USUAL_COUNT {
        USUAL / USUAL_COUNT as f64
    } else {
        (1.0 - USUAL) / (ALL.len() - USUAL_COUNT) as f64
    }
}

impl FtlLayout {
    /// Victim policy and frontiers in words, without the number of superblocks.
    pub fn text(&self) -> String {
        let victim = match self.parameter {
            0 => self.victim.to_owned(),
            parameter => format!("{}:{parameter}", self.victim),
        };
        let frontiers = match (self.by_lifespan, self.shared) {
            (true, _) => "frontiers by lifespan",
            (false, true) => "one shared frontier",
            (false, false) => "relocated data apart",
        };
        format!("{victim}, {frontiers}")
    }

    /// Victim policy as a drive file names it.
    pub fn victim_setting(&self) -> String {
        match self.parameter {
            0 => self.victim.to_owned(),
            parameter => format!("{}:{parameter}", self.victim),
        }
    }

    /// Open superblocks for host data.
    pub fn streams(&self) -> u32 {
        1 + u32::from(self.by_lifespan)
    }

    /// A small drive of this layout with the effective over-provisioning `spare`.
    pub fn config(&self, spare: f64) -> DriveConfig {
        let mut config = DriveConfig::tiny();
        config.name = self.name.into();
        let shape = &mut config.shape;
        shape.channel_count = 1;
        shape.dies_per_channel = 1;
        shape.planes_per_die = 1;
        shape.blocks_per_plane = self.superblocks;
        shape.pages_per_block = self.media_slots / self.superblocks;
        shape.page_bytes = SLOT as u32;
        shape.slot_bytes = SLOT as u32;
        shape.bits_per_cell = 1;
        config.nand.timing.read.truncate(1);
        config.nand.timing.program.truncate(1);
        let low = 2 * self.streams() + 1;
        config.ftl = FtlConfig::default();
        let reclaim = &mut config.ftl.reclaim;
        reclaim.victim = VictimChoice::new(self.victim, self.parameter);
        reclaim.free_superblocks_low = low;
        reclaim.shared_frontier = self.shared;
        reclaim.streams = self.streams();
        if self.by_lifespan {
            reclaim.separation = Separation::Lifespan;
        }
        let usable = self.superblocks - low - self.streams();
        let slots = f64::from(usable) * f64::from(config.shape.pages_per_block);
        config.user_bytes = (slots / (1.0 + spare)) as u64 * SLOT;
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_is_possible_and_has_the_spare_area_asked_for() {
        for structure in &ALL {
            for spare in [0.05, 0.2, 1.12] {
                let config = structure.config(spare);
                config
                    .validate()
                    .unwrap_or_else(|e| panic!("{}: {e}", structure.name));
                let found = config.effective_op();
                assert!(
                    (found - spare).abs() < 2e-4,
                    "{}: {found} for {spare}",
                    structure.name
                );
            }
            assert_eq!(
                named(structure.name).map(|i| ALL[i].name),
                Some(structure.name)
            );
        }
        let sum: f64 = (0..ALL.len()).map(prior).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }
}
