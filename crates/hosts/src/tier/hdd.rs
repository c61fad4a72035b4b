//! A hard disk, as far as a cache tier feels it: one access at a time, each with its seek, its
//! wait for the platter and its transfer.
//!
//! Left out: the disk's own cache and command queue (the tier sorts accesses itself), zones.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// Model of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HddSpec {
    /// Bytes.
    pub capacity: u64,
    /// Seek to the next track, ns.
    pub seek_min_ns: u64,
    /// Seek from one end to the other, ns.
    pub seek_max_ns: u64,
    /// A turn of the platter, ns.
    pub turn_ns: u64,
    /// Bytes per second from or to the platter.
    pub bytes_per_second: u64,
}

impl Default for HddSpec {
    /// A nearline disk of 7,200 turns a minute and 4 TB: its seek law (the time grows with the
    /// root of the distance: C. Ruemmler, J. Wilkes, "An introduction to disk drive modeling",
    /// IEEE Computer 1994) is set so that a random seek takes the 8.5 ms that data sheets of the
    /// class give; about 78 random accesses a second. Transfer rate: assumed, mid-platter.
    fn default() -> HddSpec {
        HddSpec {
            capacity: 4_000_000_000_000,
            seek_min_ns: 1_000_000,
            seek_max_ns: 15_000_000,
            turn_ns: 8_333_333,
            bytes_per_second: 180_000_000,
        }
    }
}

/// A disk at work.
#[derive(Clone, Debug)]
pub struct Hdd {
    spec: HddSpec,
    /// Byte at which the last access ended.
    head: u64,
    rng: Rng,
}

impl Hdd {
    /// A disk with its head at the beginning; `rng` draws where the platter is.
    pub fn new(spec: HddSpec, rng: Rng) -> Hdd {
        Hdd { spec, head: 0, rng }
    }

    /// Where the head is, in bytes.
    pub fn head(&self) -> u64 {
        self.head
    }

    /// Makes an access; how long it takes. One that goes on where the last one ended only takes
    /// its transfer.
    pub fn access(&mut self, offset: u64, bytes: u64) -> Nanos {
        let spec = &self.spec;
        let distance = offset.abs_diff(self.head);
        let transfer = (u128::from(bytes) * 1_000_000_000)
            .div_ceil(u128::from(spec.bytes_per_second.max(1))) as u64;
        self.head = offset + bytes;
        if distance == 0 {
            return Nanos(transfer);
        }
        // Root of the distance as a share of 2^20.
        let share = (u128::from(distance) << 40) / u128::from(spec.capacity.max(1));
        let root = share.isqrt().min(1 << 20) as u64;
        let span = spec.seek_max_ns.saturating_sub(spec.seek_min_ns);
        let seek = spec.seek_min_ns + ((u128::from(span) * u128::from(root)) >> 20) as u64;
        Nanos(seek + self.rng.below(spec.turn_ns.max(1)) + transfer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean time of random accesses: 8.5 ms of seek, half a turn, and the transfer.
    #[test]
    fn random_accesses_take_what_data_sheets_say() {
        let spec = HddSpec::default();
        let mut rng = Rng::new(1);
        let mut hdd = Hdd::new(spec, Rng::new(2));
        let count = 20_000;
        let sum: u64 = (0..count)
            .map(|_| hdd.access(rng.below(spec.capacity / 4096) * 4096, 4096).0)
            .sum();
        let mean = sum as f64 / count as f64 / 1e6;
        assert!((mean - (8.47 + 4.17 + 0.02)).abs() < 0.15, "{mean} ms");
    }

    #[test]
    fn going_on_takes_the_transfer_alone() {
        let mut hdd = Hdd::new(HddSpec::default(), Rng::new(2));
        hdd.access(1 << 30, 4096);
        assert_eq!(hdd.access((1 << 30) + 4096, 180_000), Nanos::from_millis(1));
    }
}
