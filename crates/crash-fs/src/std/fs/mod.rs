//! [`std::fs`] on a crash disk: the same names, signatures and errors.
//!
//! ```
//! use ssdlab_crash_fs::{CrashFs, std::fs};
//!
//! let machine = CrashFs::posix(1)?;
//! let folder = machine.root().join("db");
//! fs::create_dir_all(folder.join("wal"))?;
//! fs::write(folder.join("wal/1"), "one")?;
//! fs::rename(folder.join("wal/1"), folder.join("wal/2"))?;
//! assert_eq!(fs::read_to_string(folder.join("wal/2"))?, "one");
//! let error = fs::remove_dir(folder.join("wal")).unwrap_err();
//! assert_eq!(error.kind(), std::io::ErrorKind::DirectoryNotEmpty);
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | std has | here |
//! |---|---|
//! | symbolic links | none; `soft_link` and `read_link` are refused as unsupported |
//! | permissions, times | in memory, and gone with a cut; only "not writable" is enforced |
//! | `custom_flags` | `O_SYNC` and `O_DSYNC`; others are refused as unsupported |
//! | descriptors, `mmap` of a file | do not compile |

mod directory;
mod file;
mod functions;
mod metadata;
mod options;
pub(crate) mod unix;

pub use directory::{DirBuilder, DirEntry, ReadDir};
#[cfg(all(feature = "descriptors", target_os = "linux"))]
pub(crate) use file::OpenDescription;
pub use file::{File, TryLockError};
pub use functions::{
    canonicalize, copy, create_dir, create_dir_all, exists, hard_link, metadata, read, read_dir,
    read_link, read_to_string, remove_dir, remove_dir_all, remove_file, rename, set_permissions,
    soft_link, symlink_metadata, write,
};
pub use metadata::{FileTimes, FileType, Metadata, Permissions};
pub use options::OpenOptions;
