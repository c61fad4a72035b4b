//! [`std::os`], with the extensions of files that are on a crash disk.

/// [`std::os::unix`], with [`fs`](unix::fs) on a crash disk.
#[cfg(unix)]
pub mod unix {
    pub use ::std::os::unix::*;

    /// [`std::os::unix::fs`] for files on a crash disk. What is missing does not compile.
    pub mod fs {
        pub use crate::std::fs::unix::{
            FileExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink,
        };
    }

    /// [`std::os::unix::prelude`] for files on a crash disk. A crash file has no descriptor.
    pub mod prelude {
        pub use super::fs::*;
        pub use ::std::os::unix::ffi::{OsStrExt, OsStringExt};
        pub use ::std::os::unix::io::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
    }
}

#[cfg(not(unix))]
pub use ::std::os::*;
#[cfg(unix)]
pub use ::std::os::{fd, raw};
