//! What a device or file holds, by its bytes: nothing, or something, and what it seems to be.
//!
//! Whether it is empty does not depend on knowing the format: a target is blank when every byte of
//! a sample equals the first one. The sample has the first and the last 4 MiB, a block at every
//! power of two, and 64 blocks at random places. Left out: data that lies in none of these.

use super::blkid::{self, FormatSignature};
use ssdlab_ssd::Bytes;
use ssdlab_ssd::rng::Rng;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes at either end that are read whole.
const ENDS: u64 = 4 << 20;
/// Bytes read at each other place.
const BLOCK: u64 = 4096;
/// Places chosen at random.
const RANDOM_PLACES: usize = 64;

/// Result of looking at a device or file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetContents {
    /// What was recognised.
    pub formats: Vec<FormatSignature>,
    /// The first place at which the sample is not blank, and what it looks like there.
    pub data: Option<DataSample>,
    /// Partitions that the kernel knows.
    pub partitions: usize,
}

/// A block that is not blank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSample {
    /// Its place.
    pub offset: u64,
    /// What its bytes look like.
    pub looks: DataLooks,
}

/// What bytes of no known format look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataLooks {
    /// Printable characters.
    Text,
    /// All values of a byte, equally often: encrypted, compressed, or random.
    Random,
    /// Anything else.
    Binary,
    /// The device cannot read it.
    Unreadable,
}

/// A magic number of a format that libblkid does not look for.
struct Magic {
    kind: &'static str,
    offset: u64,
    bytes: &'static [u8],
}

const fn magic(kind: &'static str, offset: u64, bytes: &'static [u8]) -> Magic {
    Magic {
        kind,
        offset,
        bytes,
    }
}

/// Images of disks, databases, and the copies that file systems keep of their first superblock.
/// Sources: QEMU `docs/interop/qcow2.txt`, MS-VHDX 2.2.1, VMware "Virtual Disk Format 5.0",
/// sqlite.org/fileformat.html 1.3, btrfs "On-disk format", XFS "Algorithms and Data Structures"
/// 13.1, Ceph `BlueStore.cc`.
const MAGICS: &[Magic] = &[
    magic("qcow2 image", 0, b"QFI\xfb"),
    magic("VHDX image", 0, b"vhdxfile"),
    magic("VHD image", 0, b"conectix"),
    magic("VMDK image", 0, b"KDMV"),
    magic("VMDK image", 0, b"# Disk DescriptorFile"),
    magic("VDI image", 0x40, b"\x7f\x10\xda\xbe"),
    magic("SQLite database", 0, b"SQLite format 3\0"),
    magic("XFS without its first sector", 512, b"XAGF"),
    magic("btrfs, second superblock", 0x400_0040, b"_BHRfS_M"),
    magic("btrfs, third superblock", 0x40_0000_0040, b"_BHRfS_M"),
    magic(
        "ext2, ext3 or ext4, backup superblock",
        0x800_0038,
        b"\x53\xef",
    ),
    magic("LUKS2, second header", 0x4000, b"SKUL\xba\xbe"),
    magic("Ceph BlueStore", 0, b"bluestore block device"),
    magic("gzip data", 0, b"\x1f\x8b\x08"),
    magic("zstd data", 0, b"\x28\xb5\x2f\xfd"),
    magic("xz data", 0, b"\xfd7zXZ\0"),
    magic("ZIP archive", 0, b"PK\x03\x04"),
    magic("tar archive", 257, b"ustar"),
    magic("program (ELF)", 0, b"\x7fELF"),
];

impl TargetContents {
    /// Looks at `len` bytes of `target`, which is open for reading through the page cache.
    ///
    /// # Errors
    /// When nothing of it can be read.
    pub fn look(target: &File, len: u64) -> io::Result<TargetContents> {
        let data = first_data(target, len)?;
        let mut formats = Vec::new();
        if data.is_some() {
            formats = blkid::signatures(target, len).unwrap_or_default();
            for entry in MAGICS {
                let mut bytes = vec![0; entry.bytes.len()];
                let is_here = entry.offset + entry.bytes.len() as u64 <= len
                    && target.read_exact_at(&mut bytes, entry.offset).is_ok()
                    && bytes == entry.bytes;
                if is_here {
                    formats.push(FormatSignature::named(entry.kind));
                }
            }
        }
        Ok(TargetContents {
            formats,
            data,
            partitions: 0,
        })
    }

    /// Whether there is nothing to lose, as far as the sample shows.
    pub fn is_blank(&self) -> bool {
        self.data.is_none() && self.formats.is_empty() && self.partitions == 0
    }
}

/// The first place of the sample whose bytes are not all that of the first byte.
fn first_data(target: &File, len: u64) -> io::Result<Option<DataSample>> {
    let mut first = [0];
    if len == 0 {
        return Ok(None);
    }
    target.read_exact_at(&mut first, 0)?;
    let mut bytes = vec![0; BLOCK as usize];
    for (start, end) in places(len) {
        let mut offset = start;
        while offset < end {
            let block = &mut bytes[..BLOCK.min(end - offset) as usize];
            let sample = |looks| Some(DataSample { offset, looks });
            if target.read_exact_at(block, offset).is_err() {
                return Ok(sample(DataLooks::Unreadable));
            }
            if block.iter().any(|byte| *byte != first[0]) {
                return Ok(sample(looks(block)));
            }
            offset += block.len() as u64;
        }
    }
    Ok(None)
}

/// Ranges of the sample, in the order in which they are read: the ends, as most formats begin or
/// end there, then single blocks.
fn places(len: u64) -> Vec<(u64, u64)> {
    let mut places = vec![(0, ENDS.min(len)), (len.saturating_sub(ENDS), len)];
    let block = |offset: u64| {
        let start = offset.min(len.saturating_sub(BLOCK));
        (start, len.min(start + BLOCK))
    };
    let powers = (22..63).map(|power| 1 << power);
    places.extend(powers.take_while(|offset| *offset < len).map(block));
    // Other places each time: what one sample misses, the next may find.
    let mut rng = Rng::named(RandomState::new().hash_one(len), "places of a sample");
    let blocks = (len / BLOCK).max(1);
    places.extend((0..RANDOM_PLACES).map(|_| block(rng.below(blocks) * BLOCK)));
    places
}

fn looks(bytes: &[u8]) -> DataLooks {
    let text = bytes.iter().take_while(|byte| **byte != 0);
    let is_printable = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let (printable, count) = text.fold((0, 0), |(printable, count), byte| {
        (printable + usize::from(is_printable(byte)), count + 1)
    });
    if count >= 8 && printable * 20 >= count * 19 {
        return DataLooks::Text;
    }
    let mut counts = [0_u32; 256];
    bytes
        .iter()
        .for_each(|byte| counts[usize::from(*byte)] += 1);
    // Of 4,096 random bytes a value has 16 +- 4; six deviations hold for all 256.
    let random = bytes.len() as u64 == BLOCK && counts.iter().all(|count| (1..=40).contains(count));
    if random {
        DataLooks::Random
    } else {
        DataLooks::Binary
    }
}

impl fmt::Display for TargetContents {
    /// `ext4 "data" (UUID 1234-...), 2 partitions`; of no known format: where and what.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        match self.partitions {
            0 => {}
            1 => parts.push("1 partition".to_owned()),
            count => parts.push(format!("{count} partitions")),
        }
        parts.extend(self.formats.iter().map(FormatSignature::to_string));
        if parts.is_empty()
            && let Some(DataSample { offset, looks }) = self.data
        {
            let place = match offset {
                0 => "from its start on".to_owned(),
                _ => format!("{} from its start", Bytes(offset)),
            };
            parts.push(match looks {
                DataLooks::Text => format!("text, {place}"),
                DataLooks::Random => {
                    format!("data that look random (encrypted or compressed), {place}")
                }
                DataLooks::Binary => format!("data of no known format, {place}"),
                DataLooks::Unreadable => format!("what cannot be read, {place}"),
            });
        }
        f.write_str(&parts.join(", "))
    }
}

impl fmt::Display for FormatSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if let Some(label) = &self.label {
            write!(f, " {label:?}")?;
        }
        match &self.uuid {
            Some(uuid) => write!(f, " (UUID {uuid})"),
            None => Ok(()),
        }
    }
}
