//! How files are opened.

use super::SyncKind;
use crate::error::system;
use std::io::{ErrorKind, Result};

/// How a file is opened.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenFlags {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub truncate: bool,
    pub create: bool,
    pub create_new: bool,
    pub mode: Option<u32>,
    pub sync: Option<SyncKind>,
}

impl OpenFlags {
    /// Whether the call may change the file.
    pub fn is_writing(&self) -> bool {
        self.write || self.append
    }

    /// What `std` refuses before it asks the kernel.
    pub(super) fn check(&self) -> Result<()> {
        let writes = self.is_writing();
        let makes = self.create || self.create_new;
        let is_invalid = !self.read && !writes
            || !self.write && (self.truncate || makes && !self.append)
            || self.append && self.truncate && !self.create_new;
        if is_invalid {
            return Err(system(ErrorKind::InvalidInput));
        }
        Ok(())
    }
}
