//! Locks, as flock(2): of open files, gone with the last handle.

use std::collections::BTreeSet;

/// Who has locked a file, by number of the open file.
#[derive(Debug, Default)]
pub(crate) struct FileLock {
    exclusive: Option<u64>,
    shared: BTreeSet<u64>,
}

impl FileLock {
    /// Whether an open file has it now; if not, nothing has changed.
    pub fn take(&mut self, holder: u64, exclusive: bool) -> bool {
        let others_share = self.shared.iter().any(|&number| number != holder);
        let other_has_all = self.exclusive.is_some_and(|number| number != holder);
        if other_has_all || exclusive && others_share {
            return false;
        }
        self.shared.remove(&holder);
        self.exclusive = exclusive.then_some(holder);
        if !exclusive {
            self.shared.insert(holder);
        }
        true
    }

    pub fn release(&mut self, holder: u64) {
        self.shared.remove(&holder);
        if self.exclusive == Some(holder) {
            self.exclusive = None;
        }
    }

    pub fn is_free(&self) -> bool {
        self.shared.is_empty() && self.exclusive.is_none()
    }
}
