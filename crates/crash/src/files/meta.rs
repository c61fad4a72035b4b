//! Names and inodes, as they are in memory and on the disk.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a block of the file system, and of a page of its cache.
pub(super) const BLOCK: u64 = 4096;
/// Blocks of each of the two copies of names and inodes.
pub(super) const META_BLOCKS: u64 = 8;
/// The first block of data.
pub(super) const DATA_FIRST: u64 = 2 * META_BLOCKS;

/// Size and places of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Inode {
    pub size: u64,
    /// The block of each page; pages without one read as zeroes.
    pub blocks: BTreeMap<u64, u64>,
}

/// All names and inodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Meta {
    pub names: BTreeMap<String, u64>,
    pub inodes: BTreeMap<u64, Inode>,
}

/// A change of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameChange {
    Create(String, u64),
    Rename(String, String),
    Unlink(String),
    Link(String, u64),
}

impl NameChange {
    /// The names that it depends on and changes.
    pub fn names(&self) -> [&str; 2] {
        match self {
            NameChange::Create(name, _) | NameChange::Link(name, _) | NameChange::Unlink(name) => {
                [name, name]
            }
            NameChange::Rename(from, to) => [from, to],
        }
    }
}

/// The directory of a name: what stands before its last `/`.
pub(super) fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl Meta {
    /// Applies a change; a file that loses its last name is gone.
    pub fn apply(&mut self, change: &NameChange) {
        let gone = match change {
            NameChange::Create(name, inode) | NameChange::Link(name, inode) => {
                self.inodes.entry(*inode).or_default();
                self.names.insert(name.clone(), *inode)
            }
            NameChange::Rename(from, to) => {
                let moved = self.names.remove(from);
                moved.and_then(|inode| self.names.insert(to.clone(), inode))
            }
            NameChange::Unlink(name) => self.names.remove(name),
        };
        let gone = gone.filter(|inode| self.names.values().all(|named| named != inode));
        if let Some(inode) = gone {
            self.inodes.remove(&inode);
        }
    }

    /// Blocks in use.
    pub fn blocks(&self) -> BTreeSet<u64> {
        let inodes = self.inodes.values();
        inodes
            .flat_map(|inode| inode.blocks.values().copied())
            .collect()
    }

    /// After a cut: forgets files without a name, and pages behind the end of a file.
    pub fn tidy(&mut self) {
        let named: BTreeSet<u64> = self.names.values().copied().collect();
        self.inodes.retain(|inode, _| named.contains(inode));
        for inode in self.inodes.values_mut() {
            let size = inode.size;
            inode.blocks.retain(|page, _| page * BLOCK < size);
        }
    }

    /// A copy for the disk: checksum, length, sequence number, names, inodes, in little endian.
    pub fn encode(&self, sequence: u64) -> Vec<u8> {
        let mut body = sequence.to_le_bytes().to_vec();
        let number = |body: &mut Vec<u8>, n: u64| body.extend(n.to_le_bytes());
        number(&mut body, self.names.len() as u64);
        for (name, inode) in &self.names {
            number(&mut body, *inode);
            number(&mut body, name.len() as u64);
            body.extend(name.as_bytes());
        }
        number(&mut body, self.inodes.len() as u64);
        for (inode, of) in &self.inodes {
            number(&mut body, *inode);
            number(&mut body, of.size);
            number(&mut body, of.blocks.len() as u64);
            for (page, block) in &of.blocks {
                number(&mut body, *page);
                number(&mut body, *block);
            }
        }
        let mut all = checksum(&body).to_le_bytes().to_vec();
        all.extend((body.len() as u64).to_le_bytes());
        all.extend(body);
        all
    }

    /// The sequence number and content of a copy; `None`: it is not whole.
    pub fn decode(bytes: &[u8]) -> Option<(u64, Meta)> {
        let mut head = Reader(bytes);
        let (sum, length) = (head.number()?, head.number()?);
        let body = head.0.get(..usize::try_from(length).ok()?)?;
        if checksum(body) != sum {
            return None;
        }
        let mut from = Reader(body);
        let sequence = from.number()?;
        let mut meta = Meta::default();
        for _ in 0..from.number()? {
            let inode = from.number()?;
            let length = from.number()? as usize;
            let name = String::from_utf8(from.take(length)?.to_vec()).ok()?;
            meta.names.insert(name, inode);
        }
        for _ in 0..from.number()? {
            let (inode, size) = (from.number()?, from.number()?);
            let mut blocks = BTreeMap::new();
            for _ in 0..from.number()? {
                blocks.insert(from.number()?, from.number()?);
            }
            meta.inodes.insert(inode, Inode { size, blocks });
        }
        Some((sequence, meta))
    }
}

/// FNV-1a, and never zero for what is empty.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut le = [0; 8];
        le.copy_from_slice(self.take(8)?);
        Some(u64::from_le_bytes(le))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_read_as_it_was_written_or_not_at_all() {
        let mut meta = Meta::default();
        meta.apply(&NameChange::Create("db/wal".into(), 7));
        meta.apply(&NameChange::Create("db/old".into(), 8));
        meta.apply(&NameChange::Rename("db/wal".into(), "db/old".into()));
        if let Some(inode) = meta.inodes.get_mut(&7) {
            inode.size = 5000;
            inode.blocks.insert(1, 30);
        }
        let bytes = meta.encode(9);
        assert_eq!(Meta::decode(&bytes), Some((9, meta.clone())));
        assert_eq!((meta.names.len(), meta.inodes.len()), (1, 1));
        for at in 0..bytes.len() {
            let mut torn = bytes.clone();
            torn[at] ^= 1;
            assert_eq!(Meta::decode(&torn), None, "byte {at}");
            assert_eq!(Meta::decode(&bytes[..at]), None, "length {at}");
        }
    }
}
