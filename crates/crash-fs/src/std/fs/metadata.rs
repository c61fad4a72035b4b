//! What is known of a file.

use crate::error::unsupported;
use crate::state::Stat;
use std::fmt;
use std::io::Result;
use std::time::SystemTime;

/// As [`std::fs::Metadata`].
#[derive(Clone)]
pub struct Metadata {
    pub(crate) stat: Stat,
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = f.debug_struct("Metadata");
        fields.field("file_type", &self.file_type());
        fields.field("permissions", &self.permissions());
        fields.field("len", &self.len()).finish_non_exhaustive()
    }
}

impl Metadata {
    /// As [`std::fs::Metadata::file_type`].
    pub fn file_type(&self) -> FileType {
        FileType {
            is_directory: self.stat.is_directory,
        }
    }

    /// As [`std::fs::Metadata::is_dir`].
    pub fn is_dir(&self) -> bool {
        self.stat.is_directory
    }

    /// As [`std::fs::Metadata::is_file`].
    pub fn is_file(&self) -> bool {
        !self.stat.is_directory
    }

    /// As [`std::fs::Metadata::is_symlink`]: there are none.
    pub fn is_symlink(&self) -> bool {
        false
    }

    /// As [`std::fs::Metadata::len`].
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u64 {
        self.stat.len
    }

    /// As [`std::fs::Metadata::permissions`].
    pub fn permissions(&self) -> Permissions {
        Permissions {
            mode: self.stat.attributes.mode,
        }
    }

    /// As [`std::fs::Metadata::modified`].
    ///
    /// # Errors
    /// Never.
    pub fn modified(&self) -> Result<SystemTime> {
        Ok(self.stat.attributes.modified)
    }

    /// As [`std::fs::Metadata::accessed`]: the time of creation or of `set_times`, as with
    /// `noatime`.
    ///
    /// # Errors
    /// Never.
    pub fn accessed(&self) -> Result<SystemTime> {
        Ok(self.stat.attributes.accessed)
    }

    /// As [`std::fs::Metadata::created`].
    ///
    /// # Errors
    /// Never.
    pub fn created(&self) -> Result<SystemTime> {
        Ok(self.stat.attributes.created)
    }
}

/// As [`std::fs::FileType`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileType {
    pub(super) is_directory: bool,
}

impl FileType {
    /// As [`std::fs::FileType::is_dir`].
    pub fn is_dir(&self) -> bool {
        self.is_directory
    }

    /// As [`std::fs::FileType::is_file`].
    pub fn is_file(&self) -> bool {
        !self.is_directory
    }

    /// As [`std::fs::FileType::is_symlink`]: there are none.
    pub fn is_symlink(&self) -> bool {
        false
    }
}

/// As [`std::fs::Permissions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    pub(super) mode: u32,
}

impl Permissions {
    /// As [`std::fs::Permissions::readonly`].
    pub fn readonly(&self) -> bool {
        self.mode & 0o222 == 0
    }

    /// As [`std::fs::Permissions::set_readonly`].
    pub fn set_readonly(&mut self, readonly: bool) {
        if readonly {
            self.mode &= !0o222;
        } else {
            self.mode |= 0o222;
        }
    }
}

pub(super) fn no_modes_of_directories() -> Result<()> {
    unsupported(
        "permissions and times of a directory",
        "leave them alone under test: they have no part in durability",
    )
}

/// As [`std::fs::FileTimes`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FileTimes {
    pub(super) accessed: Option<SystemTime>,
    pub(super) modified: Option<SystemTime>,
}

impl FileTimes {
    /// As [`std::fs::FileTimes::new`].
    pub fn new() -> FileTimes {
        FileTimes::default()
    }

    /// As [`std::fs::FileTimes::set_accessed`].
    pub fn set_accessed(mut self, time: SystemTime) -> FileTimes {
        self.accessed = Some(time);
        self
    }

    /// As [`std::fs::FileTimes::set_modified`].
    pub fn set_modified(mut self, time: SystemTime) -> FileTimes {
        self.modified = Some(time);
        self
    }
}
