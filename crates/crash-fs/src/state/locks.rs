//! Locks, as flock(2): of open files, gone with the last handle.

use super::{DiskState, OpenTarget};
use crate::error::bad_descriptor;
use std::collections::BTreeSet;
use std::io::Result;

/// Who has locked a file, by number of the open file.
#[derive(Debug, Default)]
pub(crate) struct FileLock {
    exclusive: Option<u64>,
    shared: BTreeSet<u64>,
}

impl DiskState {
    pub fn lock(&mut self, target: OpenTarget, holder: u64, exclusive: bool) -> Result<bool> {
        let file = DiskState::file(target).map_err(|_| bad_descriptor())?;
        let lock = self.locks.entry(file).or_default();
        let others_share = lock.shared.iter().any(|&number| number != holder);
        let other_has_all = lock.exclusive.is_some_and(|number| number != holder);
        if other_has_all || exclusive && others_share {
            return Ok(false);
        }
        lock.shared.remove(&holder);
        lock.exclusive = exclusive.then_some(holder);
        if !exclusive {
            lock.shared.insert(holder);
        }
        Ok(true)
    }

    pub fn unlock(&mut self, target: OpenTarget, holder: u64) {
        let OpenTarget::File(file) = target else {
            return;
        };
        let Some(lock) = self.locks.get_mut(&file) else {
            return;
        };
        lock.shared.remove(&holder);
        if lock.exclusive == Some(holder) {
            lock.exclusive = None;
        }
        if lock.shared.is_empty() && lock.exclusive.is_none() {
            self.locks.remove(&file);
        }
    }
}
