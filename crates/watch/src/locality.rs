//! Whether reads are slow far from the last ones: what a drive does that holds a part of its map.

use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use crate::spread::{BesideSpread, ENOUGH, TimeSpread};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashSet, VecDeque};

/// Bytes of a region whose part of the map a drive reads at once: 1,024 entries of 4 KiB.
pub const REGION: u64 = 4 << 20;
/// Regions that are followed: those behind them count as never read.
const FOLLOWED: usize = 1024;
/// Reads that are looked at: the last ones.
const READS_MAX: usize = 20_000;
/// Blocks and ends of reads that are kept, to leave out what a read cache or read-ahead answers.
const REMEMBERED: usize = 8192;

/// Reads alone in the drive, by how many other regions were read since theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ReadLocality {
    /// Those of the last `near_bytes` of regions, and the others.
    pub near: BesideSpread,
    /// Bytes of the map's reach at which the times part best.
    pub near_bytes: u64,
}

/// A read, and how many regions were read since its own.
struct PlacedRead {
    distance: usize,
    device_ns: u64,
}

/// Places that were read last, up to a number of entries.
#[derive(Default)]
struct RecentPlaces {
    order: VecDeque<u64>,
    places: HashSet<u64>,
}

impl RecentPlaces {
    fn contains(&self, place: u64) -> bool {
        self.places.contains(&place)
    }

    fn add(&mut self, place: u64) {
        if !self.places.insert(place) {
            return;
        }
        self.order.push_back(place);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.places.remove(&oldest);
        }
    }
}

/// Reads that had the drive to themselves, and were neither read before nor follow a read.
fn placed_reads(requests: &[BlockRequest]) -> Vec<PlacedRead> {
    let mut reads: Vec<&BlockRequest> = requests
        .iter()
        .rev()
        .filter(|request| request.kind == RequestKind::Read)
        .take(READS_MAX)
        .collect();
    reads.sort_by_key(|request| request.issued_ns);
    let mut regions: Vec<u64> = Vec::new();
    let (mut blocks, mut ends) = (RecentPlaces::default(), RecentPlaces::default());
    let mut placed = Vec::new();
    for read in reads {
        let region = read.sector * 512 / REGION;
        let place = regions.iter().rev().position(|&last| last == region);
        let is_new = !blocks.contains(read.sector) && !ends.contains(read.sector);
        if is_new && read.was_alone() {
            placed.push(PlacedRead {
                distance: place.unwrap_or(FOLLOWED),
                device_ns: read.device_ns(),
            });
        }
        match place {
            Some(place) => {
                regions.remove(regions.len() - 1 - place);
            }
            None if regions.len() == FOLLOWED => {
                regions.remove(0);
            }
            None => {}
        }
        regions.push(region);
        blocks.add(read.sector);
        ends.add(read.sector + read.bytes / 512);
    }
    placed
}

fn median(sorted_times: &[u64]) -> u64 {
    sorted_times[(sorted_times.len() - 1) / 2]
}

fn sorted(reads: &[PlacedRead], is_in: impl Fn(usize) -> bool) -> Vec<u64> {
    let mut times: Vec<u64> = reads
        .iter()
        .filter(|read| is_in(read.distance))
        .map(|read| read.device_ns)
        .collect();
    times.sort_unstable();
    times
}

impl ReadLocality {
    /// The reach, a power of two of regions, that parts short reads from long ones best.
    pub(crate) fn new(requests: &[BlockRequest]) -> ReadLocality {
        let reads = placed_reads(requests);
        // The last of equals is taken: the shortest reach.
        let reaches = (0..FOLLOWED.ilog2()).rev().map(|bits| 1 << bits);
        let splits = reaches.filter_map(|reach| ReachSplit::new(&reads, reach));
        let best = splits
            .filter(|split| split.separation >= APART)
            .max_by(|a, b| a.separation.total_cmp(&b.separation));
        best.map(|split| ReadLocality {
            near: BesideSpread {
                beside: TimeSpread::new(split.near.into_iter()),
                apart: TimeSpread::new(split.far.into_iter()),
            },
            near_bytes: split.reach as u64 * REGION,
        })
        .unwrap_or_default()
    }
}

/// Separation from which near and far reads are of two kinds.
const APART: f64 = 0.4;

/// Reads on both sides of a reach.
struct ReachSplit {
    reach: usize,
    near: Vec<u64>,
    far: Vec<u64>,
    /// Share of near reads below the middle of both medians, less that of far ones (Youden's J).
    separation: f64,
}

impl ReachSplit {
    fn new(reads: &[PlacedRead], reach: usize) -> Option<ReachSplit> {
        let near = sorted(reads, |distance| distance < reach);
        let far = sorted(reads, |distance| distance >= reach);
        if (near.len() as u64) < ENOUGH || (far.len() as u64) < ENOUGH {
            return None;
        }
        let middle = u64::midpoint(median(&near), median(&far));
        let below = |times: &[u64]| {
            times.partition_point(|&time| time < middle) as f64 / times.len() as f64
        };
        Some(ReachSplit {
            reach,
            separation: below(&near) - below(&far),
            near,
            far,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;

    const REGIONS: usize = 128;

    /// Reads at random of a drive that holds `held` parts of its map.
    fn reads(held: usize) -> Vec<BlockRequest> {
        let mut recent: Vec<u64> = Vec::new();
        let mut state = 7_u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        (0..4000)
            .map(|i| {
                let region = random() % REGIONS as u64;
                let sector = region * REGION / 512 + random() % 1024 * 8;
                let place = recent.iter().position(|&last| last == region);
                if let Some(place) = place {
                    recent.remove(place);
                }
                recent.push(region);
                if recent.len() > held {
                    recent.remove(0);
                }
                // Noise of a quarter, and one read in 50 that waits for something else.
                let is_held = place.is_some() || held == REGIONS;
                let base = if is_held { 300_000 } else { 520_000 };
                let noise = random() % (base / 4) + u64::from(random() % 50 == 0) * 3_000_000;
                request("R", sector, 4096, 1_000_000 * i, 0, base + noise)
            })
            .collect()
    }

    #[test]
    fn the_reach_of_the_map_is_found() {
        for held in [1, 4, 16] {
            let locality = ReadLocality::new(&reads(held));
            assert_eq!(locality.near_bytes, held as u64 * REGION, "{held} held");
            let (near, far) = (locality.near.beside, locality.near.apart);
            assert!(far.median_ns > 3 * near.median_ns / 2, "{locality:?}");
        }
    }

    #[test]
    fn a_drive_with_its_whole_map_shows_no_difference() {
        let near = ReadLocality::new(&reads(REGIONS)).near;
        let ratio = near.apart.median_ns as f64 / near.beside.median_ns.max(1) as f64;
        assert!(near.beside.count == 0 || ratio < 1.4, "{near:?}");
        // Streams are answered by read-ahead, whatever the map does.
        let streams: Vec<_> = (0..4000)
            .map(|i| request("R", 8 * i, 4096, 1_000_000 * i, 0, 90_000))
            .collect();
        assert_eq!(ReadLocality::new(&streams), ReadLocality::default());
    }
}
