//! Names and inodes, as they are in memory and on the disk.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a block of the file system, and of a page of its cache.
pub(super) const BLOCK: u64 = 4096;
/// Blocks of each of the two copies of names and inodes.
pub(super) const META_BLOCKS: u64 = 8;
/// The first block of data.
pub(super) const DATA_FIRST: u64 = 2 * META_BLOCKS;

/// The directory at the top, which has no name.
pub(super) const ROOT: u64 = 0;

/// The number of a directory, and a name in it.
pub(super) type DirEntryKey = (u64, String);

/// What has a name: a number, of a file or of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InodeRef {
    File(u64),
    Directory(u64),
}

impl InodeRef {
    /// The number, which no other file or directory has.
    pub fn number(self) -> u64 {
        let (InodeRef::File(number) | InodeRef::Directory(number)) = self;
        number
    }

    pub fn file(self) -> Option<u64> {
        match self {
            InodeRef::File(inode) => Some(inode),
            InodeRef::Directory(_) => None,
        }
    }
}

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
    pub names: BTreeMap<DirEntryKey, InodeRef>,
    pub inodes: BTreeMap<u64, Inode>,
}

/// A change of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameChange {
    Create(DirEntryKey, u64),
    Rename(DirEntryKey, DirEntryKey),
    Unlink(DirEntryKey),
    Link(DirEntryKey, u64),
    MakeDirectory(DirEntryKey, u64),
    RemoveDirectory(DirEntryKey, u64),
    /// A directory gets another name, and replaces an empty one.
    Move {
        from: DirEntryKey,
        to: DirEntryKey,
        replaced: Option<u64>,
    },
}

impl NameChange {
    /// The names that it depends on and changes.
    pub fn places(&self) -> [&DirEntryKey; 2] {
        match self {
            NameChange::Create(at, _)
            | NameChange::Link(at, _)
            | NameChange::Unlink(at)
            | NameChange::MakeDirectory(at, _)
            | NameChange::RemoveDirectory(at, _) => [at, at],
            NameChange::Rename(from, to) | NameChange::Move { from, to, .. } => [from, to],
        }
    }

    /// The directory that is gone after it, which must be empty before.
    pub fn removed(&self) -> Option<u64> {
        match self {
            NameChange::RemoveDirectory(_, directory) => Some(*directory),
            NameChange::Move { replaced, .. } => *replaced,
            _ => None,
        }
    }

    /// Whether it changes which directories there are, and where.
    pub fn is_of_tree(&self) -> bool {
        let of_tree = matches!(
            self,
            NameChange::MakeDirectory(..) | NameChange::RemoveDirectory(..)
        );
        of_tree || matches!(self, NameChange::Move { .. })
    }

    /// Whether something would be lost if the directory that it goes to were not there: a rename is
    /// atomic, so that either name is.
    pub fn needs_tree(&self) -> bool {
        match self {
            NameChange::Rename(from, to) => from.0 != to.0,
            change => matches!(change, NameChange::Move { .. }),
        }
    }
}

impl Meta {
    /// Applies a change; a file that loses its last name is gone.
    pub fn apply(&mut self, change: &NameChange) {
        let gone = match change {
            NameChange::Create(at, inode) | NameChange::Link(at, inode) => {
                self.inodes.entry(*inode).or_default();
                self.names.insert(at.clone(), InodeRef::File(*inode))
            }
            NameChange::MakeDirectory(at, directory) => {
                let inode_ref = InodeRef::Directory(*directory);
                self.names.insert(at.clone(), inode_ref)
            }
            NameChange::Rename(from, to) | NameChange::Move { from, to, .. } => {
                let moved = self.names.remove(from);
                moved.and_then(|moved| self.names.insert(to.clone(), moved))
            }
            NameChange::Unlink(at) | NameChange::RemoveDirectory(at, _) => self.names.remove(at),
        };
        let gone = gone.filter(|gone| self.names.values().all(|named| named != gone));
        if let Some(inode) = gone.and_then(InodeRef::file) {
            self.inodes.remove(&inode);
        }
    }

    /// What stands in a directory, by name.
    pub fn entries(&self, directory: u64) -> impl Iterator<Item = (&str, InodeRef)> {
        let from = self.names.range((directory, String::new())..);
        from.take_while(move |(at, _)| at.0 == directory)
            .map(|(at, &named)| (at.1.as_str(), named))
    }

    /// The files that have a name.
    pub fn named_files(&self) -> BTreeSet<u64> {
        self.names
            .values()
            .filter_map(|named| named.file())
            .collect()
    }

    /// Directories that a path leads to.
    fn reachable(&self) -> BTreeSet<u64> {
        let mut directories = BTreeSet::from([ROOT]);
        let mut open = vec![ROOT];
        while let Some(directory) = open.pop() {
            for (_, named) in self.entries(directory) {
                if let InodeRef::Directory(inner) = named
                    && directories.insert(inner)
                {
                    open.push(inner);
                }
            }
        }
        directories
    }

    /// Blocks in use.
    pub fn blocks(&self) -> BTreeSet<u64> {
        let inodes = self.inodes.values();
        inodes
            .flat_map(|inode| inode.blocks.values().copied())
            .collect()
    }

    /// After a cut: forgets what no path leads to, and pages behind the end of a file.
    pub fn tidy(&mut self) {
        let reachable = self.reachable();
        self.names.retain(|at, _| reachable.contains(&at.0));
        let named = self.named_files();
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
        for ((directory, name), named) in &self.names {
            number(&mut body, *directory);
            number(&mut body, u64::from(named.file().is_none()));
            number(&mut body, named.number());
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
        let mut encoded = checksum(&body).to_le_bytes().to_vec();
        encoded.extend((body.len() as u64).to_le_bytes());
        encoded.extend(body);
        encoded
    }

    /// The sequence number and content of a copy; `None`: it is not whole.
    pub fn decode(bytes: &[u8]) -> Option<(u64, Meta)> {
        let mut head = MetaReader(bytes);
        let (sum, length) = (head.number()?, head.number()?);
        let body = head.0.get(..usize::try_from(length).ok()?)?;
        if checksum(body) != sum {
            return None;
        }
        let mut from = MetaReader(body);
        let sequence = from.number()?;
        let mut meta = Meta::default();
        for _ in 0..from.number()? {
            let (directory, is_directory) = (from.number()?, from.number()? == 1);
            let number = from.number()?;
            let length = from.number()? as usize;
            let name = String::from_utf8(from.take(length)?.to_vec()).ok()?;
            let named = if is_directory {
                InodeRef::Directory(number)
            } else {
                InodeRef::File(number)
            };
            meta.names.insert((directory, name), named);
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

/// Bytes of a copy, as its head says; a torn head says anything.
pub(super) fn encoded_len(bytes: &[u8]) -> usize {
    let mut head = MetaReader(bytes);
    let length = head.number().and_then(|_| head.number());
    length.map_or(0, |length| {
        usize::try_from(length).unwrap_or(0).saturating_add(16)
    })
}

/// FNV-1a, and never zero for what is empty.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

struct MetaReader<'a>(&'a [u8]);

impl<'a> MetaReader<'a> {
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
        meta.apply(&NameChange::MakeDirectory((ROOT, "db".into()), 3));
        meta.apply(&NameChange::Create((3, "wal".into()), 7));
        meta.apply(&NameChange::Create((3, "old".into()), 8));
        let rename = NameChange::Rename((3, "wal".into()), (3, "old".into()));
        meta.apply(&rename);
        if let Some(inode) = meta.inodes.get_mut(&7) {
            inode.size = 5000;
            inode.blocks.insert(1, 30);
        }
        let bytes = meta.encode(9);
        assert_eq!(Meta::decode(&bytes), Some((9, meta.clone())));
        assert_eq!((meta.names.len(), meta.inodes.len()), (2, 1));
        for at in 0..bytes.len() {
            let mut torn = bytes.clone();
            torn[at] ^= 1;
            assert_eq!(Meta::decode(&torn), None, "byte {at}");
            assert_eq!(Meta::decode(&bytes[..at]), None, "length {at}");
        }
    }
}
