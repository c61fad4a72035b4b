//! A file or block device whose contents matter: reads, writes and flushes of given bytes, past
//! the page cache.
//!
//! Writing needs the same permission as for a target that is measured ([`super::claim`]). The page
//! cache must not answer after a power cut, so there is no buffered form.

use super::OpenOptions;
use super::claim::{ClaimedKind, claim};
use super::open::{describe, failed, open_to_read, refuse_memory};
use super::slab::Slab;
use super::{TargetFacts, TargetKind};
use rustix::fs::{FileType, SeekFrom};
use rustix::io::{IoSlice, ReadWriteFlags};
use ssdlab_base::LabError;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Page-aligned memory for direct I/O.
pub struct DirectBuffer(Slab);

impl DirectBuffer {
    /// `len` bytes, zeroed.
    ///
    /// # Errors
    /// When there is no memory.
    pub fn new(len: usize) -> io::Result<DirectBuffer> {
        Slab::new(len).map(DirectBuffer)
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.0.bytes()
    }
}

/// An open file or block device.
pub struct DirectFile {
    file: File,
    facts: TargetFacts,
}

impl DirectFile {
    /// Opens `path` to be written to. A file that does not exist is created with `options.size`
    /// bytes and stays; an existing one keeps its length.
    ///
    /// # Errors
    /// When it may not be written ([`claim`]) or cannot be opened past the page
    /// cache.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<DirectFile, LabError> {
        let direct_options = OpenOptions {
            keep: true,
            buffered: false,
            ..options.clone()
        };
        let claim = claim(path, &direct_options)?;
        let (path, kind) = (claim.path().to_owned(), claim.kind());
        let (path, file) = (path.as_path(), claim.into_file());
        if kind == ClaimedKind::NewFile {
            let size = options.size.unwrap_or(0);
            let created = file.set_len(size).and_then(|()| file.sync_all());
            let folder = path.parent().unwrap_or(Path::new("."));
            created
                .and_then(|()| File::open(folder)?.sync_all())
                .map_err(|error| LabError::file("creating", path, error))?;
        }
        DirectFile::around(file, path, &direct_options)
    }

    /// Opens `path` to be read only.
    ///
    /// # Errors
    /// When it cannot be opened past the page cache.
    pub fn open_to_read(path: &Path) -> Result<DirectFile, LabError> {
        let options = OpenOptions::default();
        let file = open_to_read(path, &options)?;
        DirectFile::around(file, path, &options)
    }

    fn around(file: File, path: &Path, options: &OpenOptions) -> Result<DirectFile, LabError> {
        let stat = rustix::fs::fstat(&file).map_err(|error| failed("looking at", path, error))?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            refuse_memory(&file, path, options)?;
        }
        let (mut facts, _) = describe(&file, path, &stat, options);
        facts.capacity = rustix::fs::seek(&file, SeekFrom::End(0))
            .map_err(|error| failed("sizing", path, error))?;
        Ok(DirectFile { file, facts })
    }

    /// Its identity and properties; the capacity is its length.
    pub fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    /// Whether it is a file on a file system.
    pub fn is_file(&self) -> bool {
        self.facts.kind == TargetKind::File
    }

    /// Fills the first `len` bytes of `buffer` from byte `offset`.
    ///
    /// # Errors
    /// What the system says; also when the target ends before.
    pub fn read(&self, offset: u64, len: usize, buffer: &mut DirectBuffer) -> io::Result<()> {
        self.file.read_exact_at(&mut buffer.bytes()[..len], offset)
    }

    /// Writes the first `len` bytes of `buffer` to byte `offset`, in one command, by FUA if `fua`
    /// (`RWF_DSYNC`).
    ///
    /// # Errors
    /// What the system says; a write that was cut short is an error too.
    pub fn write(
        &self,
        offset: u64,
        len: usize,
        buffer: &mut DirectBuffer,
        fua: bool,
    ) -> io::Result<()> {
        let flags = if fua {
            ReadWriteFlags::DSYNC
        } else {
            ReadWriteFlags::empty()
        };
        let bytes = IoSlice::new(&buffer.bytes()[..len]);
        let written = rustix::io::retry_on_intr(|| {
            rustix::io::pwritev2(&self.file, &[bytes], offset, flags)
        })?;
        if written == len {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::WriteZero))
        }
    }

    /// Makes every write durable that has completed (fdatasync).
    ///
    /// # Errors
    /// What the system says: then nothing is promised.
    pub fn flush(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
