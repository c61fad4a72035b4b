//! The routes by which a guest makes a block durable, and the blocks.

use serde::Serialize;

/// Size in bytes of a drive that a guest tests.
pub const DRIVE_BYTES: u64 = 64 << 20;
/// Size in bytes of the file system at the beginning of it.
pub const EXT4_BYTES: u64 = 40 << 20;
/// Length in bytes of a block.
pub const BLOCK_BYTES: usize = 4096;
/// Distance in bytes of blocks beside the file system.
pub const BLOCK_STEP: u64 = 64 << 10;
/// What the first sector of a drive begins with; its name follows, then a line feed.
pub const LABEL: &str = "ssdlab-conform drive ";
/// What a block begins with; its token follows as 8 bytes, least significant first.
pub const MARK: &[u8; 16] = b"ssdlab-conform!\n";

/// What a guest may rely on once a route has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoutePromise {
    /// The block is durable.
    Always,
    /// The block is durable if the device announces no volatile write cache.
    Writethrough,
    /// Nothing, whatever people believe.
    Never,
}

/// A route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Name, as in reports.
    pub name: &'static str,
    /// What it promises, and where that is written.
    pub promise: RoutePromise,
    /// On what it works.
    pub on: RouteTarget,
}

/// On what a route works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteTarget {
    /// The block device.
    Device,
    /// A file of ext4 on it, whose metadata are durable before.
    Ext4,
    /// The same, where the file's metadata change: the commit of the journal must be durable, too.
    Ext4Metadata,
    /// Disks that understand SCSI, ATA disks of Linux among them.
    Scsi,
    /// ATA disks.
    Ata,
    /// NVMe namespaces.
    Nvme,
    /// Disks whose write cache the guest can turn off.
    CacheSwitch,
}

const fn route(name: &'static str, promise: RoutePromise, on: RouteTarget) -> Route {
    Route { name, promise, on }
}

/// Every route, in the order in which a guest takes them. The last one turns the write cache off.
pub const ROUTES: &[Route] = &[
    route("write", RoutePromise::Writethrough, RouteTarget::Device),
    route("write, fsync", RoutePromise::Always, RouteTarget::Device),
    route(
        "write, fdatasync",
        RoutePromise::Always,
        RouteTarget::Device,
    ),
    route("O_DSYNC write", RoutePromise::Always, RouteTarget::Device),
    route("RWF_DSYNC write", RoutePromise::Always, RouteTarget::Device),
    route(
        "buffered write, fsync",
        RoutePromise::Always,
        RouteTarget::Device,
    ),
    route(
        "buffered O_SYNC write",
        RoutePromise::Always,
        RouteTarget::Device,
    ),
    route("mmap, msync", RoutePromise::Always, RouteTarget::Device),
    route(
        "buffered write, sync_file_range",
        RoutePromise::Never,
        RouteTarget::Device,
    ),
    route(
        "buffered write, BLKFLSBUF",
        RoutePromise::Never,
        RouteTarget::Device,
    ),
    route(
        "SCSI WRITE with FUA",
        RoutePromise::Always,
        RouteTarget::Scsi,
    ),
    route(
        "SCSI SYNCHRONIZE CACHE",
        RoutePromise::Always,
        RouteTarget::Scsi,
    ),
    route(
        "ATA WRITE DMA FUA EXT",
        RoutePromise::Always,
        RouteTarget::Ata,
    ),
    route(
        "ATA FLUSH CACHE EXT",
        RoutePromise::Always,
        RouteTarget::Ata,
    ),
    route(
        "NVMe write with FUA",
        RoutePromise::Always,
        RouteTarget::Nvme,
    ),
    route("NVMe flush", RoutePromise::Always, RouteTarget::Nvme),
    route(
        "ext4: O_DSYNC overwrite",
        RoutePromise::Always,
        RouteTarget::Ext4,
    ),
    route(
        "ext4: overwrite, fdatasync",
        RoutePromise::Always,
        RouteTarget::Ext4,
    ),
    route(
        "ext4: append, fsync",
        RoutePromise::Always,
        RouteTarget::Ext4Metadata,
    ),
    route(
        "cache turned off, write",
        RoutePromise::Always,
        RouteTarget::CacheSwitch,
    ),
];

/// The route of that name.
pub fn named(name: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.name == name)
}

/// Fills a block with its token.
pub fn fill(block: &mut [u8], token: u64) {
    for (at, byte) in block.iter_mut().enumerate() {
        *byte = (token as u8).wrapping_add(at as u8) | 1;
    }
    block[..MARK.len()].copy_from_slice(MARK);
    block[MARK.len()..MARK.len() + 8].copy_from_slice(&token.to_le_bytes());
}

/// The token of a block, if it is one.
pub fn token(block: &[u8]) -> Option<u64> {
    let number = block.strip_prefix(MARK)?;
    Some(u64::from_le_bytes(*number.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_by_its_token() {
        let mut block = [0; BLOCK_BYTES];
        fill(&mut block, 0x0102_0304);
        assert_eq!(token(&block), Some(0x0102_0304));
        assert_eq!(token(&block[1..]), None);
    }

    #[test]
    fn routes_have_names_of_their_own() {
        for route in ROUTES {
            assert_eq!(named(route.name), Some(route));
        }
    }
}
