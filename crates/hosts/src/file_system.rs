//! Files on a drive: which blocks they have, which are free. No data, no directories, no journal.
//!
//! Files are created and deleted at random. Free space is handed out first free run after the
//! last one, so that the whole drive is used in turn, as the allocators of ext4, XFS and NTFS do
//! that spread files over their groups; what is freed is not written again soon.

use ssdlab_ssd::rng::Rng;

/// A run of blocks: first, count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileExtent {
    /// First block.
    pub first: u64,
    /// Blocks.
    pub count: u64,
}

/// The file system.
#[derive(Clone, Debug)]
pub struct BitmapFileSystem {
    blocks: u64,
    used: u64,
    /// A bit per block: in use.
    bitmap: Vec<u64>,
    cursor: u64,
    files: Vec<Vec<FileExtent>>,
}

impl BitmapFileSystem {
    /// An empty file system of `blocks` blocks.
    pub fn new(blocks: u64) -> BitmapFileSystem {
        BitmapFileSystem {
            blocks,
            used: 0,
            bitmap: vec![0; blocks.div_ceil(64) as usize],
            cursor: 0,
            files: Vec::new(),
        }
    }

    /// Blocks in all.
    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Blocks in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Files.
    pub fn file_count(&self) -> usize {
        self.files.len()
    }

    fn is_used(&self, block: u64) -> bool {
        self.bitmap[(block / 64) as usize] >> (block % 64) & 1 == 1
    }

    fn set(&mut self, extent: FileExtent, used: bool) {
        for block in extent.first..extent.first + extent.count {
            let bit = 1 << (block % 64);
            let word = &mut self.bitmap[(block / 64) as usize];
            *word = if used { *word | bit } else { *word & !bit };
        }
        if used {
            self.used += extent.count;
        } else {
            self.used -= extent.count;
        }
    }

    /// The first block at or after `from` that is `used`, or the end.
    fn find(&self, from: u64, used: bool) -> u64 {
        let mut block = from;
        while block < self.blocks {
            let word = self.bitmap[(block / 64) as usize];
            let word = if used { word } else { !word } >> (block % 64);
            if word != 0 {
                return (block + u64::from(word.trailing_zeros())).min(self.blocks);
            }
            block = (block / 64 + 1) * 64;
        }
        self.blocks
    }

    /// Runs of free blocks, in order.
    pub fn free_runs(&self) -> impl Iterator<Item = FileExtent> + '_ {
        let mut position = 0;
        std::iter::from_fn(move || {
            let first = self.find(position, false);
            if first >= self.blocks {
                return None;
            }
            position = self.find(first, true);
            Some(FileExtent {
                first,
                count: position - first,
            })
        })
    }

    /// Creates a file of `count` blocks; its extents. `None` when there is no room.
    pub fn create(&mut self, count: u64) -> Option<&[FileExtent]> {
        if count == 0 || count > self.blocks - self.used {
            return None;
        }
        let mut extents = Vec::new();
        let mut remaining = count;
        while remaining > 0 {
            let mut first = self.find(self.cursor, false);
            if first >= self.blocks {
                first = self.find(0, false);
            }
            let end = self.find(first, true).min(first + remaining);
            let extent = FileExtent {
                first,
                count: end - first,
            };
            self.set(extent, true);
            self.cursor = end;
            remaining -= extent.count;
            extents.push(extent);
        }
        self.files.push(extents);
        self.files.last().map(Vec::as_slice)
    }

    /// Deletes a random file and returns its extents; empty if there is no file.
    pub fn delete(&mut self, rng: &mut Rng) -> Vec<FileExtent> {
        if self.files.is_empty() {
            return Vec::new();
        }
        let file = self
            .files
            .swap_remove(rng.below(self.files.len() as u64) as usize);
        for &extent in &file {
            self.set(extent, false);
        }
        file
    }

    /// A block in use, drawn uniformly; `None` when all are free.
    pub fn any_used(&self, rng: &mut Rng) -> Option<u64> {
        if self.used == 0 {
            return None;
        }
        // Most of a file system that is worth modelling is in use: few draws are needed.
        loop {
            let block = rng.below(self.blocks);
            if self.is_used(block) {
                return Some(block);
            }
        }
    }

    /// Checks that files share no block, stay in the file system and have all blocks in use.
    ///
    /// # Errors
    /// The first one found.
    pub fn check(&self) -> Result<(), String> {
        let mut seen = vec![0_u64; self.bitmap.len()];
        let mut count = 0;
        for extent in self.files.iter().flatten() {
            for block in extent.first..extent.first + extent.count {
                let (word, bit) = ((block / 64) as usize, 1 << (block % 64));
                if block >= self.blocks {
                    let blocks = self.blocks;
                    return Err(format!(
                        "block {block} of a file is beyond the {blocks} blocks"
                    ));
                }
                if seen[word] & bit != 0 {
                    return Err(format!("block {block} belongs to two files"));
                }
                seen[word] |= bit;
                count += 1;
            }
        }
        if count != self.used {
            return Err(format!(
                "files have {count} blocks, {} are marked as used",
                self.used
            ));
        }
        if seen != self.bitmap {
            return Err("the blocks marked as used are not those of the files".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_and_go_and_no_block_is_given_twice() {
        let mut rng = Rng::new(5);
        let mut fs = BitmapFileSystem::new(1000);
        for step in 0..5000 {
            let count = 1 + rng.below(60);
            while fs.used() + count > 700 {
                assert!(!fs.delete(&mut rng).is_empty());
            }
            let given: u64 = fs.create(count).unwrap().iter().map(|e| e.count).sum();
            assert_eq!(given, count);
            if step % 100 == 0 {
                fs.check().unwrap();
                let free: u64 = fs.free_runs().map(|e| e.count).sum();
                assert_eq!(free + fs.used(), 1000);
            }
        }
        assert!(fs.create(1000).is_none() && fs.create(0).is_none());
    }

    #[test]
    fn free_space_is_handed_out_in_turn() {
        let mut rng = Rng::new(1);
        let mut fs = BitmapFileSystem::new(100);
        assert_eq!(
            fs.create(30).unwrap(),
            [FileExtent {
                first: 0,
                count: 30
            }]
        );
        fs.delete(&mut rng);
        assert_eq!(fs.create(30).unwrap()[0].first, 30);
        fs.delete(&mut rng);
        let split: Vec<_> = fs.create(60).unwrap().to_vec();
        assert_eq!(
            split,
            [
                FileExtent {
                    first: 60,
                    count: 40
                },
                FileExtent {
                    first: 0,
                    count: 20
                }
            ]
        );
    }

    #[test]
    fn a_contradiction_is_found() {
        let mut fs = BitmapFileSystem::new(100);
        fs.create(10).unwrap();
        fs.bitmap[0] |= 1 << 50;
        assert!(fs.check().is_err());
    }
}
