//! `tempfile::NamedTempFile`, as engines use it to replace a file: `new_in`, `persist`.

use crate::std::fs::{self, File};
use std::fmt;
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// As `tempfile::NamedTempFile`.
///
/// ```
/// use ssdlab_crash_fs::{CrashFs, compat::tempfile::NamedTempFile, std::fs};
/// use std::io::Write;
///
/// let machine = CrashFs::posix(1)?;
/// let mut file = NamedTempFile::new_in(machine.root())?;
/// file.write_all(b"one")?;
/// file.as_file().sync_all()?;
/// file.persist(machine.root().join("conf"))?;
/// drop(NamedTempFile::new_in(machine.root())?);
/// assert_eq!(fs::read_dir(machine.root())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct NamedTempFile {
    file: Option<File>,
    path: PathBuf,
}

impl NamedTempFile {
    /// As `tempfile::NamedTempFile::new_in`. The names are `.tmp0`, `.tmp1` and so on.
    ///
    /// # Errors
    /// As [`File::create_new`].
    pub fn new_in<P: AsRef<Path>>(folder: P) -> Result<NamedTempFile> {
        let mut number = 0_u64;
        loop {
            let path = folder.as_ref().join(format!(".tmp{number}"));
            match File::create_new(&path) {
                Ok(file) => {
                    let file = Some(file);
                    return Ok(NamedTempFile { file, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// As `tempfile::NamedTempFile::path`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// As `tempfile::NamedTempFile::as_file`.
    pub fn as_file(&self) -> &File {
        match &self.file {
            Some(file) => file,
            None => unreachable!("it is taken only when this is consumed"),
        }
    }

    /// As `tempfile::NamedTempFile::as_file_mut`.
    pub fn as_file_mut(&mut self) -> &mut File {
        match &mut self.file {
            Some(file) => file,
            None => unreachable!("it is taken only when this is consumed"),
        }
    }

    /// As `tempfile::NamedTempFile::persist`: a rename, and no sync.
    ///
    /// # Errors
    /// As [`fs::rename`].
    pub fn persist<P: AsRef<Path>>(mut self, path: P) -> std::result::Result<File, PersistError> {
        if let Err(error) = fs::rename(&self.path, path) {
            return Err(PersistError { error, file: self });
        }
        match self.file.take() {
            Some(file) => Ok(file),
            None => unreachable!("it is taken only when this is consumed"),
        }
    }
}

impl Drop for NamedTempFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            // As the crate does: nothing can be done about a failure.
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl Read for NamedTempFile {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.as_file_mut().read(bytes)
    }
}

impl Write for NamedTempFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Seek for NamedTempFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.as_file_mut().seek(to)
    }
}

/// As `tempfile::PersistError`.
#[derive(Debug)]
pub struct PersistError {
    /// Why.
    pub error: Error,
    /// The file, which is still there.
    pub file: NamedTempFile,
}

impl fmt::Display for PersistError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed to persist temporary file: {}", self.error)
    }
}

impl std::error::Error for PersistError {}

impl From<PersistError> for Error {
    fn from(error: PersistError) -> Error {
        error.error
    }
}
