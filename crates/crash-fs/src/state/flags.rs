//! How files are opened.

use std::io::{Error, ErrorKind, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SyncKind {
    All,
    Data,
}

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
        let invalid = |what| Err(Error::new(ErrorKind::InvalidInput, what));
        if !self.read && !self.is_writing() {
            return invalid("must specify at least one of read, write, or append access");
        }
        let makes = self.create || self.create_new;
        let truncates_log = self.append && self.truncate && !self.create_new;
        if !self.is_writing() && (self.truncate || makes) || truncates_log {
            return invalid("creating or truncating a file requires write or append access");
        }
        Ok(())
    }
}
