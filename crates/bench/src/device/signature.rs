//! What a block device's contents say it is used for: a table of magic numbers.
//!
//! Our own small table rather than libblkid: no library to find, and every entry can be read
//! here. It reads the places where each format keeps its magic, at the start and, for some, at the
//! end. A format not in the table is not recognised, so a device without any signature still needs
//! the owner's confirmation before it is written ([`super::safety`]).
//! Sources: util-linux libblkid `superblocks/*.c`, magic(5), and the formats' own headers.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// One place to look at.
struct Magic {
    name: &'static str,
    /// Bytes from the start, or from the end when negative.
    offset: i64,
    bytes: &'static [u8],
}

const fn magic(name: &'static str, offset: i64, bytes: &'static [u8]) -> Magic {
    Magic {
        name,
        offset,
        bytes,
    }
}

/// The start of a device that is read: up to btrfs's superblock at 64 KiB and iso9660's at 32.
const HEAD: usize = 68 * 1024;
/// The end that is read: md 1.0 keeps its superblock 8 to 12 KiB before the end, rounded down to
/// 4 KiB, md 0.90 64 to 128 KiB before it, GPT in the last block.
const TAIL: usize = 132 * 1024;
/// md's magic, little-endian.
const MD: &[u8] = b"\xfc\x4e\x2b\xa9";

const TABLE: &[Magic] = &[
    magic("ext2, ext3 or ext4 file system", 0x438, b"\x53\xef"),
    magic("xfs file system", 0, b"XFSB"),
    magic("xfs log", 0, b"\xfe\xed\xba\xbe"),
    magic("btrfs file system", 0x1_0040, b"_BHRfS_M"),
    magic("f2fs file system", 0x400, b"\x10\x20\xf5\xf2"),
    magic(
        "bcachefs or bcache device",
        0x1018,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca",
    ),
    magic(
        "bcachefs file system",
        0x1018,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9",
    ),
    magic("reiserfs file system", 0x1_0034, b"ReIsEr"),
    magic("jfs file system", 0x8000, b"JFS1"),
    magic("nilfs2 file system", 0x406, b"\x34\x34"),
    magic("erofs file system", 0x400, b"\xe2\xe1\xf5\xe0"),
    magic("squashfs file system", 0, b"hsqs"),
    magic("gfs2 file system", 0x1_0000, b"\x01\x16\x19\x70"),
    magic("ocfs2 file system", 0x2000, b"OCFSV2"),
    magic("vmfs file system", 0x10_0000, b"\x0d\xd0\x01\xc0"),
    magic("apfs container", 32, b"NXSB"),
    magic("hfs+ file system", 0x400, b"H+"),
    magic("ufs2 file system", 0x1_0000 + 0x55c, b"\x19\x01\x54\x19"),
    magic("iso9660 file system", 0x8001, b"CD001"),
    magic("ntfs file system", 3, b"NTFS    "),
    magic("refs file system", 3, b"ReFS\0\0\0\0"),
    magic("exfat file system", 3, b"EXFAT   "),
    magic("fat file system", 0x36, b"FAT1"),
    magic("fat file system", 0x52, b"FAT32"),
    magic("bitlocker volume", 3, b"-FVE-FS-"),
    magic("swap", 4086, b"SWAPSPACE2"),
    magic("swap", 4086, b"SWAP-SPACE"),
    magic("suspended system", 4086, b"S1SUSPEND"),
    magic("suspended system", 4086, b"S2SUSPEND"),
    magic("lvm2 member", 0x18, b"LVM2 001"),
    magic("lvm2 member", 0x218, b"LVM2 001"),
    magic("lvm2 member", 0x418, b"LVM2 001"),
    magic("lvm2 member", 0x618, b"LVM2 001"),
    magic("luks container", 0, b"LUKS\xba\xbe"),
    magic("luks container", 0x4000, b"SKUL\xba\xbe"),
    magic("md raid member", 0, MD),
    magic("md raid member", 4096, MD),
    magic("ceph bluestore", 0, b"bluestore block device"),
    magic("ceph journal", 0, b"\x65\x53\x55\x4f"),
    magic("drbd device", -4068, b"\x83\x74\x02\x6b"),
    magic("drbd device", -4068, b"\x83\x74\x02\x67"),
    magic("vdo volume", 0, b"dmvdo001"),
    magic("stratis pool", 0x204, b"!Stra0tis\x86\xff\x02^\x41rh"),
    magic("hardware raid member", -512, b"\xde\x11\xde\x11"),
    magic("gpt partition table", 512, b"EFI PART"),
    magic("gpt partition table", 4096, b"EFI PART"),
    magic("gpt partition table", -512, b"EFI PART"),
    magic("gpt partition table", -4096, b"EFI PART"),
    magic("dos partition table or boot sector", 510, b"\x55\xaa"),
    magic("apple partition map", 512, b"PM\0\0"),
    magic("bsd disk label", 512, b"\x57\x45\x56\x82"),
    magic("sun disk label", 508, b"\xda\xbe"),
];

/// What is found on `device` of `size` bytes, each name once; empty when nothing is.
///
/// # Errors
/// When the device cannot be read.
pub fn signatures(device: &File, size: u64) -> io::Result<Vec<&'static str>> {
    let head = read_at(device, 0, HEAD.min(size as usize))?;
    let tail_len = TAIL.min(size as usize);
    let tail = read_at(device, size - tail_len as u64, tail_len)?;
    let mut names = Vec::new();
    for entry in TABLE {
        let is_present = if entry.offset >= 0 {
            match usize::try_from(entry.offset) {
                Ok(start) if start + entry.bytes.len() <= HEAD => holds(&head, start, entry.bytes),
                _ => matches_at_offset(device, size, entry)?,
            }
        } else {
            let back = entry.offset.unsigned_abs() as usize;
            back <= tail_len && holds(&tail, tail_len - back, entry.bytes)
        };
        if is_present && !names.contains(&entry.name) {
            names.push(entry.name);
        }
    }
    if md_at_end(&tail, size) && !names.contains(&"md raid member") {
        names.push("md raid member");
    }
    if zfs(device, size)? {
        names.push("zfs member");
    }
    Ok(names)
}

fn holds(bytes: &[u8], start: usize, magic: &[u8]) -> bool {
    bytes.get(start..start + magic.len()) == Some(magic)
}

fn matches_at_offset(device: &File, size: u64, entry: &Magic) -> io::Result<bool> {
    let end = entry.offset as u64 + entry.bytes.len() as u64;
    Ok(end <= size && read_at(device, entry.offset as u64, entry.bytes.len())? == entry.bytes)
}

/// md 1.0 and 0.90 superblocks stand at rounded places before the end.
fn md_at_end(tail: &[u8], size: u64) -> bool {
    let version_1 = (size.saturating_sub(8 * 1024)) & !4095;
    let version_0 = (size & !0xffff).saturating_sub(0x1_0000);
    let start = size - tail.len() as u64;
    [version_1, version_0]
        .into_iter()
        .any(|position| position >= start && holds(tail, (position - start) as usize, MD))
}

/// A ZFS label is 256 KiB, twice at the start and twice at the end, the second half of it an
/// array of uberblocks; any of these holding the magic, in either byte order, is enough.
fn zfs(device: &File, size: u64) -> io::Result<bool> {
    const LABEL: u64 = 256 << 10;
    const HALF: usize = 128 << 10;
    let magic = 0x00ba_b10c_u64;
    let whole = size / LABEL;
    if whole < 4 {
        return Ok(false);
    }
    for label in [0, 1, whole - 2, whole - 1] {
        let ring = read_at(device, label * LABEL + HALF as u64, HALF)?;
        let seen = ring
            .chunks_exact(1024)
            .any(|block| block[..8] == magic.to_le_bytes() || block[..8] == magic.to_be_bytes());
        if seen {
            return Ok(true);
        }
    }
    Ok(false)
}

fn read_at(device: &File, at: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    device.read_exact_at(&mut bytes, at)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(size: u64, at: u64, bytes: &[u8]) -> Vec<&'static str> {
        let file = tempfile::tempfile().unwrap();
        file.set_len(size).unwrap();
        file.write_all_at(bytes, at).unwrap();
        signatures(&file, size).unwrap()
    }

    #[test]
    fn every_entry_is_found_where_it_says_and_nowhere_else() {
        let size = 4 << 20;
        assert!(found(size, 0, b"").is_empty());
        for entry in TABLE {
            let at = if entry.offset < 0 {
                size - entry.offset.unsigned_abs()
            } else {
                entry.offset as u64
            };
            let seen = found(size, at, entry.bytes);
            assert!(seen.contains(&entry.name), "{}: {seen:?}", entry.name);
            assert!(!found(size, at + 7, entry.bytes).contains(&entry.name));
        }
    }

    #[test]
    fn md_and_zfs_are_found_at_the_end() {
        let size = (4 << 20) + 512;
        assert_eq!(found(size, (4 << 20) - 8192, MD), ["md raid member"]);
        assert_eq!(found(size, (4 << 20) - 0x1_0000, MD), ["md raid member"]);
        let uberblock = 0x00ba_b10c_u64.to_be_bytes();
        assert_eq!(
            found(size, (4 << 20) - (128 << 10) + 5 * 1024, &uberblock),
            ["zfs member"]
        );
    }

    #[test]
    fn a_tiny_device_can_be_looked_at() {
        assert!(found(512, 0, b"").is_empty());
        assert!(found(4096, 0, b"XFSB").contains(&"xfs file system"));
    }
}
