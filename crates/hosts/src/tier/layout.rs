//! Where blocks lie on the disks, and the caches before the load.

use super::spec::TierSpec;
use ssdlab_bench::engine::devices::Devices;
use ssdlab_ssd::{Command, Drive, DriveCounters, Nanos};

/// Bytes after which blocks go to the next disk of a side, and to the next set of sides.
pub(super) const CHUNK: u64 = 1 << 20;

/// Disks are spread over their whole length by the working set.
pub(super) fn place_on_disk(spec: &TierSpec, block: u32, blocks: u64) -> u64 {
    let room = spec.hdd.capacity - blocks * u64::from(spec.block).min(spec.hdd.capacity / blocks);
    let chunk = CHUNK / u64::from(spec.block);
    // Chunks are spread, blocks of a chunk are neighbours.
    let first = u64::from(block) / chunk * chunk;
    let spread = u128::from(room) * u128::from(first) / u128::from(blocks);
    spread as u64 + u64::from(block) * u64::from(spec.block)
}

/// About the block at a place of a disk, to go on from.
pub(super) fn block_at(spec: &TierSpec, place: u64, blocks: u64) -> u32 {
    let (mut low, mut high) = (0, blocks as u32);
    while low < high {
        let middle = low.midpoint(high);
        if place_on_disk(spec, middle, blocks) < place {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

pub(super) fn counters(devices: &Devices) -> Vec<DriveCounters> {
    let per_device = (0..devices.count()).map(|device| devices.drive(device).counters().clone());
    per_device.collect()
}

/// Writes each cache front to back, so often as asked for, and waits until the drives have put
/// their houses in order.
pub(super) fn fill(spec: &TierSpec, devices: &mut Devices, slots: u64) {
    let bytes = slots * u64::from(spec.block);
    let step = 1 << 20;
    for _ in 0..spec.fill_passes {
        for offset in (0..bytes).step_by(step as usize) {
            let len = step.min(bytes - offset) as u32;
            for device in 0..devices.count() {
                devices.submit(device, &Command::write(offset, len), 0);
            }
            while (0..devices.count()).any(|device| devices.outstanding(device) >= 8) {
                if devices.next(Nanos::MAX).is_none() {
                    return;
                }
            }
        }
    }
    for device in 0..devices.count() {
        devices.submit(device, &Command::flush(), 0);
    }
    devices.settle();
    let rest_end = |devices: &Devices| {
        let drives = (0..devices.count()).map(|device| devices.drive(device));
        drives.map(Drive::now).max().unwrap_or_default() + Nanos::from_secs(60)
    };
    let until = rest_end(devices);
    devices.next(until);
}
