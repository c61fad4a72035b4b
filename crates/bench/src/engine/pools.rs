//! Jobs that share their depth: DISKSPD's `-O`.
//!
//! As in DISKSPD (IORequestGenerator.cpp): a thread keeps its number of commands outstanding over
//! all of its targets, and each time one has completed, the next goes to a target drawn evenly. A
//! job here is a target, so copy n of each such job is a part of thread n.

use super::lane::Lane;
use ssdlab_load::plan::PlanPhase;
use ssdlab_ssd::rng::Rng;

/// The lanes of one thread.
#[derive(Clone, Debug)]
struct DepthPool {
    rng: Rng,
    lanes: Vec<usize>,
}

/// The pools of a phase.
#[derive(Clone, Debug, Default)]
pub(super) struct Pools {
    pools: Vec<DepthPool>,
    /// By lane; empty when no job shares its depth.
    of_lane: Vec<Option<usize>>,
}

impl Pools {
    /// Of lanes in order of job and copy; their idle tags are dealt out.
    pub fn new(phase: &PlanPhase, lanes: &mut [Lane]) -> Pools {
        let mut pools = Pools::default();
        if phase.jobs.iter().all(|job| !job.ties.shares_depth) {
            return pools;
        }
        for job in &phase.jobs {
            for copy in 0..job.copies {
                let pool = job.ties.shares_depth.then_some(copy as usize);
                let lane = pools.of_lane.len();
                pools.of_lane.push(pool);
                let Some(pool) = pool else { continue };
                if pool >= pools.pools.len() {
                    pools.pools.push(DepthPool {
                        rng: Rng::named(job.seed, &format!("targets of thread {copy}")),
                        lanes: Vec::new(),
                    });
                }
                pools.pools[pool].lanes.push(lane);
            }
        }
        let dealt: Vec<(usize, Vec<u32>)> = (0..lanes.len())
            .filter(|lane| pools.of_lane[*lane].is_some())
            .map(|lane| (lane, std::mem::take(&mut lanes[lane].idle)))
            .collect();
        for (lane, tags) in dealt {
            for tag in tags {
                let to = pools.next(lane, lanes);
                lanes[to].idle.push(tag);
            }
        }
        pools
    }

    /// The lane that gets the tag of a completed command of `lane`.
    pub fn next(&mut self, lane: usize, lanes: &[Lane]) -> usize {
        let Some(Some(pool)) = self.of_lane.get(lane) else {
            return lane;
        };
        let pool = &mut self.pools[*pool];
        let ready = |lane: &&usize| lanes[**lane].open && lanes[**lane].next.is_some();
        let count = pool.lanes.iter().filter(ready).count() as u64;
        if count == 0 {
            return lane;
        }
        let drawn = pool.rng.below(count) as usize;
        pool.lanes
            .iter()
            .filter(ready)
            .nth(drawn)
            .copied()
            .unwrap_or(lane)
    }
}
