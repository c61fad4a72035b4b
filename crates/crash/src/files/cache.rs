//! Write-back: how what is in the cache reaches the disk.

use super::meta::{BLOCK, DirEntryKey};
use super::{CrashFiles, refused};
use crate::error::CrashError;
use std::collections::BTreeSet;

impl CrashFiles {
    /// A page as programs see it.
    pub(super) fn page(&mut self, inode: u64, page: u64) -> Result<Vec<u8>, CrashError> {
        if let Some(content) = self.dirty.get(&(inode, page)) {
            return Ok(content.clone());
        }
        let inode_entry = self.meta.inodes.get(&inode);
        let size = inode_entry.map_or(0, |inode_entry| inode_entry.size);
        let Some(&block) = inode_entry.and_then(|inode_entry| inode_entry.blocks.get(&page)) else {
            return Ok(vec![0; BLOCK as usize]);
        };
        let mut content = self.disk.read(block * BLOCK, BLOCK as usize)?;
        // Data of before a cut may lie behind the end, where it never counted.
        let used = size.saturating_sub(page * BLOCK).min(BLOCK) as usize;
        content[used..].fill(0);
        Ok(content)
    }

    /// A block that neither the files nor the disk's copy of them use.
    fn free_block(&self) -> Result<u64, CrashError> {
        let used: BTreeSet<u64> = &self.meta.blocks() | &self.on_disk.blocks();
        let mut blocks = 2 * self.meta_blocks()..self.disk.capacity() / BLOCK;
        match blocks.find(|block| !used.contains(block)) {
            Some(block) => Ok(block),
            None => refused(
                "the disk is full".into(),
                "unlink() and sync_dir() files, or give the drive more `user_bytes`",
            ),
        }
    }

    /// Writes one page to its place, which it is given now if it has none.
    fn write_page(&mut self, inode: u64, page: u64) -> Result<(), CrashError> {
        let Some(content) = self.dirty.get(&(inode, page)).cloned() else {
            return Ok(());
        };
        let place = self
            .meta
            .inodes
            .get(&inode)
            .and_then(|of| of.blocks.get(&page));
        let block = match place {
            Some(block) => *block,
            None => self.free_block()?,
        };
        self.disk.write(block * BLOCK, &content)?;
        if let Some(of) = self.meta.inodes.get_mut(&inode) {
            of.blocks.insert(page, block);
        }
        self.dirty.remove(&(inode, page));
        Ok(())
    }

    /// Writes all pages of a file.
    pub(super) fn write_back(&mut self, inode: u64) -> Result<(), CrashError> {
        let pages = self.dirty.range((inode, 0)..=(inode, u64::MAX));
        let pages: Vec<u64> = pages.map(|(&(_, page), _)| page).collect();
        pages
            .into_iter()
            .try_for_each(|page| self.write_page(inode, page))
    }

    /// Whether the disk knows less of a file than the cache.
    pub(super) fn has_changed(&self, inode: u64) -> bool {
        self.meta.inodes.get(&inode) != self.on_disk.inodes.get(&inode)
    }

    pub(super) fn sync(&mut self, inode: u64) -> Result<(), CrashError> {
        self.write_back(inode)?;
        let names: Vec<usize> = if self.rules.fsync_commits_names {
            (0..self.changes.len()).collect()
        } else {
            Vec::new()
        };
        if names.is_empty() && !self.has_changed(inode) {
            return self.disk.flush();
        }
        let size = self.meta.inodes.get(&inode).map_or(0, |of| of.size);
        self.commit(&names, &[(inode, size)])
    }

    pub(super) fn sync_names(&mut self, directory: u64) -> Result<(), CrashError> {
        let of_directory = |index: &usize| {
            let places = self.changes[*index].places();
            places.iter().any(|at| at.0 == directory)
        };
        let dir_changes: Vec<usize> = (0..self.changes.len()).filter(of_directory).collect();
        if dir_changes.is_empty() {
            return Ok(());
        }
        self.commit(&dir_changes, &[])
    }

    /// The changes of names that must reach the disk with these, in order.
    fn with_earlier(&self, wanted: &[usize]) -> Vec<usize> {
        let Some(&last) = wanted.iter().max() else {
            return Vec::new();
        };
        if self.rules.names_in_order {
            return (0..=last).collect();
        }
        let mut places: BTreeSet<&DirEntryKey> = BTreeSet::new();
        let mut emptied: BTreeSet<u64> = BTreeSet::new();
        let mut with_tree = false;
        let mut indices = Vec::new();
        for index in (0..=last).rev() {
            let change = &self.changes[index];
            let places_changed = change.places();
            let is_met = |at: &&DirEntryKey| places.contains(at) || emptied.contains(&at.0);
            let is_needed = places_changed.iter().any(is_met) || with_tree && change.is_of_tree();
            if wanted.contains(&index) || is_needed {
                places.extend(places_changed);
                emptied.extend(change.removed());
                with_tree |= change.needs_tree();
                indices.push(index);
            }
        }
        indices.reverse();
        indices
    }

    /// Makes data on its way, some changes of names, and some files with these sizes durable:
    /// everything or nothing of it.
    pub(super) fn commit(
        &mut self,
        names: &[usize],
        inodes: &[(u64, u64)],
    ) -> Result<(), CrashError> {
        let names = self.with_earlier(names);
        let mut next = self.on_disk.clone();
        for &index in &names {
            next.apply(&self.changes[index]);
        }
        let named = next.named_files();
        let replaced = self.replaced.iter().filter(|inode| named.contains(inode));
        let replaced = replaced.map(|&inode| (inode, self.size_on_disk(inode)));
        let mut written = Vec::new();
        for (inode, size) in inodes.iter().copied().chain(replaced) {
            if let Some(of) = self.meta.inodes.get(&inode) {
                let mut of = of.clone();
                of.size = size;
                written.push(inode);
                next.inodes.insert(inode, of);
            }
        }
        // A file whose last name the disk still has stays there until that change is on it.
        let known = |inode: &u64| named.contains(inode) || self.meta.inodes.contains_key(inode);
        next.inodes.retain(|inode, _| known(inode));
        let sequence = self.sequence + 1;
        let mut copy = next.encode(sequence);
        let most = self.meta_blocks() * BLOCK;
        if copy.len() as u64 > most {
            return refused(
                format!("{} names take more than {most} bytes", next.names.len()),
                "use fewer or shorter files",
            );
        }
        copy.resize(copy.len().next_multiple_of(512), 0);
        self.disk.flush()?;
        self.disk.write(sequence % 2 * most, &copy)?;
        self.disk.flush()?;
        self.sequence = sequence;
        self.on_disk = next;
        self.shortest.retain(|inode, _| !written.contains(inode));
        let on_disk = &self.on_disk.inodes;
        self.steps.retain(|inode, steps| {
            // A size before a step may have been written, and the step be still to come.
            let size = on_disk.get(inode).map_or(0, |of| of.size);
            steps.retain(|step| step.end > size);
            !steps.is_empty()
        });
        let mut index = 0;
        self.changes.retain(|_| {
            index += 1;
            !names.contains(&(index - 1))
        });
        Ok(())
    }

    /// Largest size that a file may have on the disk now.
    fn size_on_disk(&self, inode: u64) -> u64 {
        let size = self.meta.inodes.get(&inode).map_or(0, |of| of.size);
        let old = self.shortest_on_disk(inode);
        let has_tail = !old.is_multiple_of(BLOCK) && self.dirty.contains_key(&(inode, old / BLOCK));
        if !self.rules.size_after_data {
            // What an earlier cut left behind the end must not come into view.
            return if has_tail { old } else { size };
        }
        let pages = self.dirty.range((inode, old / BLOCK)..=(inode, u64::MAX));
        let first = pages.map(|(&(_, page), _)| page * BLOCK).next();
        size.min(first.unwrap_or(size).max(old))
    }

    /// Writes back what a file system may write back of its own accord, drawn from the seed:
    /// nothing, everything, or some pages, then some names and inodes.
    pub(super) fn write_back_some(&mut self) -> Result<(), CrashError> {
        let share = [0, 100, 50, 50, 20, 80][self.rng.below(6) as usize];
        let pages: Vec<(u64, u64)> = self.dirty.keys().copied().collect();
        for (inode, page) in pages {
            if self.rng.percent(share) {
                self.write_page(inode, page)?;
            }
        }
        if self.rng.percent(40) {
            return Ok(());
        }
        let names = 0..self.changes.len();
        let names: Vec<usize> = names.filter(|_| self.rng.percent(share)).collect();
        let inodes: Vec<u64> = self.meta.inodes.keys().copied().collect();
        let mut chosen = Vec::new();
        for inode in inodes {
            if self.has_changed(inode) && self.rng.percent(share) {
                chosen.push((inode, self.any_size(inode)));
            }
        }
        if names.is_empty() && chosen.is_empty() {
            return Ok(());
        }
        self.commit(&names, &chosen)
    }

    /// A size between the one on the disk and the largest that it may have there.
    fn any_size(&mut self, inode: u64) -> u64 {
        let most = self.size_on_disk(inode);
        let old = self.shortest_on_disk(inode);
        let size = match self.rng.below(3) {
            0 if most > old => old + self.rng.below(most - old),
            1 => old.min(most),
            _ => most,
        };
        self.outside_steps(inode, size)
    }
}
