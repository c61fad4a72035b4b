//! A victim policy of one's own, from outside the crate: the example that `docs/simulate.md` names.

use ssdlab_ssd::config::FtlConfig;
use ssdlab_ssd::ftl::Candidates;
use ssdlab_ssd::ftl::policies::VictimPolicy;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, DriveConfig};

/// The oldest superblock with at most half of its slots valid; failing that, the emptiest.
#[derive(Debug)]
struct HalfEmpty;

impl VictimPolicy for HalfEmpty {
    fn pick(&self, candidates: &mut Candidates, _: &mut Rng) -> Option<u32> {
        let mut next = candidates.oldest();
        while let Some(superblock) = next {
            if candidates.valid(superblock) <= candidates.capacity() / 2 {
                return Some(superblock);
            }
            next = candidates.newer(superblock);
        }
        candidates.fewest_valid()
    }
}

/// Write amplification under uniform random writes, on a drive of 28 % over-provisioning.
fn waf(victim: Box<dyn VictimPolicy>) -> f64 {
    let mut config = DriveConfig::tiny();
    config.shape.blocks_per_plane = 256;
    config.ftl = FtlConfig::default();
    config.user_bytes = config.geometry().raw_bytes() / 128 * 100 / 4096 * 4096;
    let slots = config.user_slots();
    let mut drive = CountingDrive::with_victim(config, victim).expect("a possible drive");
    let mut rng = Rng::named(1, "load");
    let mut write = |drive: &mut CountingDrive| {
        drive.apply(&Command::write(rng.below(slots) * 4096, 4096));
    };
    (0..6 * slots).for_each(|_| write(&mut drive));
    let before = drive.counters().clone();
    (0..4 * slots).for_each(|_| write(&mut drive));
    drive.check().expect("consistent");
    drive.counters().waf_since(&before, 4096).expect("writes")
}

use ssdlab_ssd::ftl::policies::{Fifo, Greedy};

#[test]
fn an_own_policy_drives_reclaim() {
    let own = waf(Box::new(HalfEmpty));
    let (greedy, fifo) = (waf(Box::new(Greedy)), waf(Box::new(Fifo)));
    assert!(
        greedy < own && own < fifo,
        "greedy {greedy}, own {own}, fifo {fifo}: under uniform load nothing beats greedy"
    );
}
