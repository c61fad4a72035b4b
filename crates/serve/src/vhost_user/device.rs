//! What the device announces: features, limits and its configuration.
//!
//! Numbers and layouts: Virtual I/O Device (VIRTIO) 1.2, sections 5.2.3 and 5.2.4.

use super::request::{DATA_MAX, RANGE_SECTORS_MAX, RANGES_MAX, SECTOR_BYTES};
use crate::sectors::SharedDrive;

/// Number of queues offered; a guest uses as many as it likes.
pub const QUEUES: usize = 16;
/// Number of descriptors of a queue.
pub const QUEUE_SIZE: usize = 1024;
/// Length of the configuration in bytes.
pub const CONFIG_BYTES: usize = 60;
/// Where the configuration holds the state of the write cache.
pub const WRITEBACK_AT: u32 = 32;
/// Maximum number of pieces in the guest's memory of one request: 4 KiB each reach [`DATA_MAX`]
/// only by larger pages, and a queue has room for them.
const SEGMENTS_MAX: u32 = 254;

const F_SEG_MAX: u64 = 1 << 2;
const F_RO: u64 = 1 << 5;
const F_BLK_SIZE: u64 = 1 << 6;
/// The device has a volatile write cache, and FLUSH empties it.
pub const F_FLUSH: u64 = 1 << 9;
const F_TOPOLOGY: u64 = 1 << 10;
/// The guest may turn the write cache off and on.
pub const F_CONFIG_WCE: u64 = 1 << 11;
const F_MQ: u64 = 1 << 12;
const F_DISCARD: u64 = 1 << 13;
const F_WRITE_ZEROES: u64 = 1 << 14;
const F_INDIRECT: u64 = 1 << 28;
const F_EVENT_IDX: u64 = 1 << 29;
/// What vhost-user itself needs.
const F_PROTOCOL: u64 = 1 << 30;
const F_VERSION_1: u64 = 1 << 32;

/// The features of `drive`.
pub fn features(drive: &SharedDrive) -> u64 {
    let transport = F_INDIRECT | F_EVENT_IDX | F_PROTOCOL | F_VERSION_1;
    let disk = F_SEG_MAX | F_BLK_SIZE | F_FLUSH | F_TOPOLOGY | F_CONFIG_WCE | F_MQ;
    let writes = if drive.is_read_only() {
        F_RO
    } else {
        F_DISCARD | F_WRITE_ZEROES
    };
    transport | disk | writes
}

/// Whether every write must be durable before it completes, by the features that the guest has
/// accepted and the state of the cache in the configuration.
pub fn is_writethrough(accepted: u64, writeback: bool) -> bool {
    accepted & F_FLUSH == 0 || (accepted & F_CONFIG_WCE != 0 && !writeback)
}

/// The configuration of `drive`, whose write cache is on if `writeback`.
pub fn config(drive: &SharedDrive, writeback: bool) -> [u8; CONFIG_BYTES] {
    let mut config = [0; CONFIG_BYTES];
    let mut put = |at: usize, bytes: &[u8]| config[at..at + bytes.len()].copy_from_slice(bytes);
    // Linux takes physical blocks of up to a page; a drive's mapping unit may be larger.
    let physical = drive.sector_size().clamp(SECTOR_BYTES, 4096);
    let exponent = (physical / SECTOR_BYTES).trailing_zeros() as u8;
    let best = (drive.sector_size().clamp(4096, DATA_MAX) / SECTOR_BYTES) as u32;
    put(0, &(drive.size() / SECTOR_BYTES).to_le_bytes());
    put(12, &SEGMENTS_MAX.to_le_bytes());
    put(20, &(SECTOR_BYTES as u32).to_le_bytes());
    put(24, &[exponent, 0]);
    put(26, &((physical / SECTOR_BYTES) as u16).to_le_bytes());
    put(28, &best.to_le_bytes());
    put(WRITEBACK_AT as usize, &[u8::from(writeback)]);
    put(34, &(QUEUES as u16).to_le_bytes());
    put(36, &RANGE_SECTORS_MAX.to_le_bytes());
    put(40, &RANGES_MAX.to_le_bytes());
    put(44, &((physical / SECTOR_BYTES) as u32).to_le_bytes());
    put(48, &RANGE_SECTORS_MAX.to_le_bytes());
    put(52, &RANGES_MAX.to_le_bytes());
    put(56, &[1]);
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStore;
    use std::sync::Arc;

    #[test]
    fn a_write_is_durable_at_once_unless_the_guest_knows_of_the_cache() {
        assert!(is_writethrough(0, true), "no FLUSH: nothing could empty it");
        assert!(
            !is_writethrough(F_FLUSH, false),
            "the guest cannot turn it off"
        );
        assert!(!is_writethrough(F_FLUSH | F_CONFIG_WCE, true));
        assert!(is_writethrough(F_FLUSH | F_CONFIG_WCE, false));
    }

    #[test]
    fn the_configuration_is_laid_out_as_the_specification_has_it() {
        let drive = SharedDrive::new(Arc::new(MemoryStore::new(1 << 20, 4096)));
        let config = config(&drive, true);
        assert_eq!(config[..8], 2048u64.to_le_bytes(), "capacity in sectors");
        assert_eq!(config[20..24], 512u32.to_le_bytes(), "logical block");
        assert_eq!(config[24], 3, "a physical block is 2^3 logical ones");
        assert_eq!((config[32], config[34], config[56]), (1, QUEUES as u8, 1));
        assert_eq!(features(&drive) & F_RO, 0);
        assert_eq!(features(&drive.read_only()) & (F_RO | F_DISCARD), F_RO);
    }
}
