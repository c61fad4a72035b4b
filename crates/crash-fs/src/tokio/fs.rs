//! `tokio::fs` on a crash disk: the same names, signatures and errors.
//!
//! Calls are done at once, on the thread of the task: no pool of threads, and the same order in
//! each
//! run. With [`CrashFsBuilder::sleep`](crate::CrashFsBuilder::sleep) each takes the time that the
//! drive takes.
//!
//! ```
//! use ssdlab_crash_fs::{CrashFs, tokio::fs};
//! use tokio::io::AsyncWriteExt;
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! # runtime.block_on(async {
//! let machine = CrashFs::builder().sleep(tokio::time::sleep).build()?;
//! let path = machine.root().join("log");
//! let mut log = fs::File::create(&path).await?;
//! log.write_all(b"one").await?;
//! log.sync_all().await?;
//! assert_eq!(fs::read(&path).await?, b"one");
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```

pub use super::file::File;
pub use super::options::OpenOptions;
pub use crate::std::fs::{FileType, Metadata, Permissions};

use super::file::timed;
use crate::std::fs as blocking;
use std::ffi::OsString;
use std::io::Result;
use std::path::{Path, PathBuf};

/// The disk of the first path.
macro_rules! first_machine {
    ($path:ident $(, $other:ident)*) => {
        crate::paths::place($path.as_ref())?.machine
    };
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $bound:path),+) -> $answer:ty;)*) => {$(
        #[doc = concat!("As `tokio::fs::", stringify!($name), "`.")]
        ///
        /// # Errors
        /// As the function of this name in [`crate::std::fs`].
        pub async fn $name($($argument: impl $bound),+) -> Result<$answer> {
            let machine = first_machine!($($argument),+);
            timed(machine, || blocking::$name($($argument.as_ref()),+)).await
        }
    )*};
}

functions! {
    canonicalize(path: AsRef<Path>) -> PathBuf;
    copy(from: AsRef<Path>, to: AsRef<Path>) -> u64;
    create_dir(path: AsRef<Path>) -> ();
    create_dir_all(path: AsRef<Path>) -> ();
    hard_link(original: AsRef<Path>, link: AsRef<Path>) -> ();
    metadata(path: AsRef<Path>) -> Metadata;
    read(path: AsRef<Path>) -> Vec<u8>;
    read_link(path: AsRef<Path>) -> PathBuf;
    read_to_string(path: AsRef<Path>) -> String;
    remove_dir(path: AsRef<Path>) -> ();
    remove_dir_all(path: AsRef<Path>) -> ();
    remove_file(path: AsRef<Path>) -> ();
    rename(from: AsRef<Path>, to: AsRef<Path>) -> ();
    symlink_metadata(path: AsRef<Path>) -> Metadata;
    write(path: AsRef<Path>, contents: AsRef<[u8]>) -> ();
}

/// As `tokio::fs::try_exists`.
///
/// # Errors
/// As [`blocking::exists`].
pub async fn try_exists(path: impl AsRef<Path>) -> Result<bool> {
    let machine = crate::paths::place(path.as_ref())?.machine;
    timed(machine, || blocking::exists(path)).await
}

/// As `tokio::fs::set_permissions`.
///
/// # Errors
/// As [`blocking::set_permissions`].
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> Result<()> {
    blocking::set_permissions(path, permissions)
}

/// As `tokio::fs::symlink`.
///
/// # Errors
/// Always: there are no symbolic links.
pub async fn symlink(original: impl AsRef<Path>, link: impl AsRef<Path>) -> Result<()> {
    blocking::soft_link(original, link)
}

pub use TaskDirBuilder as DirBuilder;

/// As `tokio::fs::DirBuilder`, which is its name here too.
#[derive(Debug, Default)]
pub struct TaskDirBuilder {
    recursive: bool,
}

impl TaskDirBuilder {
    /// As `tokio::fs::DirBuilder::new`.
    pub fn new() -> TaskDirBuilder {
        TaskDirBuilder::default()
    }

    /// As `tokio::fs::DirBuilder::recursive`.
    pub fn recursive(&mut self, recursive: bool) -> &mut TaskDirBuilder {
        self.recursive = recursive;
        self
    }

    /// As `tokio::fs::DirBuilder::create`.
    ///
    /// # Errors
    /// As [`create_dir`].
    pub async fn create(&self, path: impl AsRef<Path>) -> Result<()> {
        if self.recursive {
            create_dir_all(path).await
        } else {
            create_dir(path).await
        }
    }
}

/// As `tokio::fs::read_dir`.
///
/// # Errors
/// As [`blocking::read_dir`].
pub async fn read_dir(path: impl AsRef<Path>) -> Result<ReadDir> {
    let machine = crate::paths::place(path.as_ref())?.machine;
    let entries = timed(machine, || blocking::read_dir(path)).await?;
    Ok(ReadDir { entries })
}

/// As `tokio::fs::ReadDir`.
#[derive(Debug)]
pub struct ReadDir {
    entries: blocking::ReadDir,
}

impl ReadDir {
    /// As `tokio::fs::ReadDir::next_entry`.
    ///
    /// # Errors
    /// Never.
    pub async fn next_entry(&mut self) -> Result<Option<DirEntry>> {
        let entry = self.entries.next().transpose()?;
        Ok(entry.map(|entry| DirEntry { entry }))
    }
}

/// As `tokio::fs::DirEntry`.
#[derive(Debug)]
pub struct DirEntry {
    entry: blocking::DirEntry,
}

impl DirEntry {
    /// As `tokio::fs::DirEntry::path`.
    pub fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// As `tokio::fs::DirEntry::file_name`.
    pub fn file_name(&self) -> OsString {
        self.entry.file_name()
    }

    /// As `tokio::fs::DirEntry::metadata`.
    ///
    /// # Errors
    /// As [`blocking::DirEntry::metadata`].
    pub async fn metadata(&self) -> Result<Metadata> {
        self.entry.metadata()
    }

    /// As `tokio::fs::DirEntry::file_type`.
    ///
    /// # Errors
    /// Never.
    pub async fn file_type(&self) -> Result<FileType> {
        self.entry.file_type()
    }
}
