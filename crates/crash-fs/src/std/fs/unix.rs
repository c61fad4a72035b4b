//! The extensions of `std::os::unix::fs`.

use super::{File, FileType, Metadata, OpenOptions, Permissions};
use crate::state::SyncKind;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// `O_DSYNC` and `O_SYNC` of Linux.
const O_DSYNC: i32 = 0o10000;
const O_SYNC: i32 = 0o4010000;
/// Flags that change nothing of what is durable: `O_CLOEXEC`, `O_NOFOLLOW`, `O_NOATIME`.
const HARMLESS: i32 = 0o2000000 | 0o400000 | 0o1000000;

/// As [`std::os::unix::fs::FileExt`].
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, std::fs::File, std::os::unix::fs::FileExt};
///
/// let machine = CrashFs::posix(1)?;
/// let pages = File::create_new(machine.root().join("pages"))?;
/// pages.write_all_at(&[1; 10], 4096)?;
/// let mut bytes = [7; 2];
/// pages.read_exact_at(&mut bytes, 4095)?;
/// assert_eq!(bytes, [0, 1]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait FileExt {
    /// As [`std::os::unix::fs::FileExt::read_at`].
    ///
    /// # Errors
    /// When it was not opened to read, and when power is lost.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize>;

    /// As [`std::os::unix::fs::FileExt::write_at`].
    ///
    /// # Errors
    /// When it was not opened to write, and when power is lost.
    fn write_at(&self, buf: &[u8], offset: u64) -> Result<usize>;

    /// As [`std::os::unix::fs::FileExt::read_exact_at`].
    ///
    /// # Errors
    /// As [`FileExt::read_at`], and at the end of the file.
    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> Result<()> {
        match self.read_at(buf, offset)? {
            count if count == buf.len() => Ok(()),
            _ => Err(Error::new(
                ErrorKind::UnexpectedEof,
                "failed to fill whole buffer",
            )),
        }
    }

    /// As [`std::os::unix::fs::FileExt::write_all_at`].
    ///
    /// # Errors
    /// As [`FileExt::write_at`].
    fn write_all_at(&self, buf: &[u8], offset: u64) -> Result<()> {
        self.write_at(buf, offset).map(drop)
    }
}

impl FileExt for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> Result<usize> {
        self.at(offset, buf)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> Result<usize> {
        self.put(offset, buf)
    }
}

/// As [`std::os::unix::fs::OpenOptionsExt`].
pub trait OpenOptionsExt {
    /// As [`std::os::unix::fs::OpenOptionsExt::mode`].
    fn mode(&mut self, mode: u32) -> &mut Self;

    /// As [`std::os::unix::fs::OpenOptionsExt::custom_flags`]: `O_SYNC` and `O_DSYNC`, and what
    /// does not matter to durability. `open` refuses others.
    fn custom_flags(&mut self, flags: i32) -> &mut Self;
}

impl OpenOptionsExt for OpenOptions {
    fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.flags.mode = Some(mode);
        self
    }

    fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.flags.sync = if flags & O_SYNC == O_SYNC {
            Some(SyncKind::All)
        } else if flags & O_DSYNC != 0 {
            Some(SyncKind::Data)
        } else {
            None
        };
        self.refused = flags & !(O_SYNC | HARMLESS) != 0;
        self
    }
}

/// As [`std::os::unix::fs::PermissionsExt`].
pub trait PermissionsExt {
    /// As [`std::os::unix::fs::PermissionsExt::mode`].
    fn mode(&self) -> u32;
    /// As [`std::os::unix::fs::PermissionsExt::set_mode`].
    fn set_mode(&mut self, mode: u32);
    /// As [`std::os::unix::fs::PermissionsExt::from_mode`].
    fn from_mode(mode: u32) -> Self;
}

impl PermissionsExt for Permissions {
    fn mode(&self) -> u32 {
        self.mode
    }

    fn set_mode(&mut self, mode: u32) {
        self.mode = mode;
    }

    fn from_mode(mode: u32) -> Permissions {
        Permissions { mode }
    }
}

/// As [`std::os::unix::fs::FileTypeExt`]: there are files and directories only.
pub trait FileTypeExt {
    /// As [`std::os::unix::fs::FileTypeExt::is_block_device`].
    fn is_block_device(&self) -> bool;
    /// As [`std::os::unix::fs::FileTypeExt::is_char_device`].
    fn is_char_device(&self) -> bool;
    /// As [`std::os::unix::fs::FileTypeExt::is_fifo`].
    fn is_fifo(&self) -> bool;
    /// As [`std::os::unix::fs::FileTypeExt::is_socket`].
    fn is_socket(&self) -> bool;
}

impl FileTypeExt for FileType {
    fn is_block_device(&self) -> bool {
        false
    }

    fn is_char_device(&self) -> bool {
        false
    }

    fn is_fifo(&self) -> bool {
        false
    }

    fn is_socket(&self) -> bool {
        false
    }
}

/// As [`std::os::unix::fs::MetadataExt`], without what a crash disk does not know: device, owner
/// and special files.
pub trait MetadataExt {
    /// As [`std::os::unix::fs::MetadataExt::ino`].
    fn ino(&self) -> u64;
    /// As [`std::os::unix::fs::MetadataExt::mode`].
    fn mode(&self) -> u32;
    /// As [`std::os::unix::fs::MetadataExt::nlink`].
    fn nlink(&self) -> u64;
    /// As [`std::os::unix::fs::MetadataExt::size`].
    fn size(&self) -> u64;
    /// As [`std::os::unix::fs::MetadataExt::mtime`].
    fn mtime(&self) -> i64;
    /// As [`std::os::unix::fs::MetadataExt::mtime_nsec`].
    fn mtime_nsec(&self) -> i64;
    /// As [`std::os::unix::fs::MetadataExt::blksize`].
    fn blksize(&self) -> u64;
}

fn since_epoch(time: SystemTime) -> std::time::Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl MetadataExt for Metadata {
    fn ino(&self) -> u64 {
        self.stat.inode
    }

    fn mode(&self) -> u32 {
        let kind = if self.is_dir() { 0o040_000 } else { 0o100_000 };
        kind | self.stat.attributes.mode
    }

    fn nlink(&self) -> u64 {
        self.stat.links
    }

    fn size(&self) -> u64 {
        self.stat.len
    }

    fn mtime(&self) -> i64 {
        since_epoch(self.stat.attributes.modified).as_secs() as i64
    }

    fn mtime_nsec(&self) -> i64 {
        i64::from(since_epoch(self.stat.attributes.modified).subsec_nanos())
    }

    fn blksize(&self) -> u64 {
        4096
    }
}

/// As [`std::os::unix::fs::symlink`].
///
/// # Errors
/// Always: there are no symbolic links.
pub fn symlink<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> Result<()> {
    super::soft_link(original, link)
}
