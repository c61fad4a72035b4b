//! Files that grow and shrink.

use super::meta::BLOCK;
use super::{CrashFiles, FileId};
use crate::error::CrashError;

impl CrashFiles {
    /// Makes a file shorter, or longer by zeroes, as ftruncate(2) does. It is durable after
    /// [`CrashFiles::fsync`]; until then a cut leaves a length between the shortest and the longest
    /// that the file has had since, but none inside a step that this call made: it changes the
    /// inode at once.
    ///
    /// # Errors
    /// When the file is gone, and when power is lost.
    ///
    /// ```
    /// # use ssdlab_crash::{CrashDisk, DriveConfig, CrashFiles, FileSystemRules};
    /// # let disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
    /// let mut files = CrashFiles::format(disk, FileSystemRules::posix())?;
    /// let log = files.create("log")?;
    /// files.append(log, b"abc")?;
    /// files.set_len(log, 1)?;
    /// files.set_len(log, 3)?;
    /// assert_eq!(files.read_at(log, 0, 3)?, b"a\0\0");
    /// # Ok::<(), ssdlab_crash::CrashError>(())
    /// ```
    pub fn set_len(&mut self, file: FileId, bytes: u64) -> Result<(), CrashError> {
        self.call()?;
        let inode = self.known(file)?;
        let size = self.size(file)?;
        if bytes < size {
            self.shrink(inode, bytes)
        } else {
            self.grow(inode, bytes)?;
            self.steps.entry(inode).or_default().push(size..bytes);
        }
        Ok(())
    }

    /// A size for the disk that no step of [`CrashFiles::set_len`] was on its way through.
    pub(super) fn outside_steps(&self, inode: u64, size: u64) -> u64 {
        let steps = self.steps.get(&inode).into_iter().flatten();
        let around = steps.filter(|step| step.start < size && size < step.end);
        around.map(|step| step.start).min().unwrap_or(size)
    }

    /// Gives a file at least this size. What lies behind its present end, in the same page, never
    /// counted and must not come into view.
    pub(super) fn grow(&mut self, inode: u64, bytes: u64) -> Result<(), CrashError> {
        let size = self.meta.inodes.get(&inode).map_or(0, |of| of.size);
        if bytes <= size {
            return Ok(());
        }
        if !size.is_multiple_of(BLOCK) {
            let tail = (inode, size / BLOCK);
            let content = self.page(inode, tail.1)?;
            self.dirty.entry(tail).or_insert(content);
        }
        self.meta.inodes.entry(inode).or_default().size = bytes;
        Ok(())
    }

    fn shrink(&mut self, inode: u64, bytes: u64) {
        let first_gone = bytes.div_ceil(BLOCK);
        self.dirty
            .retain(|&(of, page), _| of != inode || page < first_gone);
        if let Some(tail) = self.dirty.get_mut(&(inode, bytes / BLOCK)) {
            tail[(bytes % BLOCK) as usize..].fill(0);
        }
        let inode_entry = self.meta.inodes.entry(inode).or_default();
        inode_entry.size = bytes;
        inode_entry.blocks.retain(|&page, _| page < first_gone);
        self.steps.remove(&inode);
        let shortest = self.shortest.entry(inode).or_insert(bytes);
        *shortest = bytes.min(*shortest);
    }

    /// The size that the disk has of a file, or may have of it at least.
    pub(super) fn shortest_on_disk(&self, inode: u64) -> u64 {
        let size = self.on_disk.inodes.get(&inode).map_or(0, |of| of.size);
        let shortest = self.shortest.get(&inode);
        shortest.map_or(size, |&shortest| shortest.min(size))
    }
}
