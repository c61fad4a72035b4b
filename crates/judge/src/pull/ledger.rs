//! Ledgers to which frames are appended: a file, opened by one process at a time, or another
//! machine.

use super::frames;
use super::frames::{FramePosition, LedgerContents};
use super::place::LedgerLocation;
use super::wire::RemoteLedger;
use ssdlab_base::LabError;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// An open ledger to which frames are appended.
pub enum LedgerStore {
    /// A file.
    File(LedgerFile),
    /// On another machine, or in another process.
    Remote(RemoteLedger),
}

impl LedgerStore {
    /// Opens a ledger to be continued; a file that does not exist is created.
    ///
    /// # Errors
    /// When it cannot be reached, is in use, is not a ledger, or is damaged.
    pub fn open(place: &LedgerLocation) -> Result<(LedgerStore, LedgerContents), LabError> {
        match place {
            LedgerLocation::File(path) => {
                let (file, contents) = LedgerFile::open(path)?;
                Ok((LedgerStore::File(file), contents))
            }
            LedgerLocation::Tcp(address) => {
                let (remote, bytes) = RemoteLedger::open(address)?;
                let contents = frames::read(&bytes, &place.to_string())?;
                Ok((LedgerStore::Remote(remote), contents))
            }
        }
    }

    /// Appends a frame; it survives a kill and a power cut of the ledger when this returns.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn append(&mut self, frame: &[u8], at: FramePosition) -> Result<(), LabError> {
        match self {
            LedgerStore::File(file) => file.append(frame, at),
            LedgerStore::Remote(remote) => remote.append(frame, at),
        }
    }
}

/// A ledger in a file.
pub struct LedgerFile {
    file: File,
    path: PathBuf,
}

/// A number that no other ledger or run has.
///
/// # Errors
/// When the system gives no random bytes.
pub fn random_number() -> Result<u64, LabError> {
    let path = Path::new("/dev/urandom");
    let mut bytes = [0; 8];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| LabError::file("reading", path, error))?;
    Ok(u64::from_le_bytes(bytes))
}

impl LedgerFile {
    /// Opens or creates it, cuts off a torn tail, and locks it.
    ///
    /// # Errors
    /// When it cannot be opened, another process has it, or it is not a ledger, or is
    /// damaged.
    pub fn open(path: &Path) -> Result<(LedgerFile, LedgerContents), LabError> {
        let failed = |action| move |error| LabError::file(action, path, error);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(failed("opening"))?;
        let lock = rustix::fs::FlockOperation::NonBlockingLockExclusive;
        if rustix::fs::flock(&file, lock).is_err() {
            return Err(LabError::refused(
                format!("{} is in use", path.display()),
                "one `pull run` or `pull ledger` writes to a ledger at a time",
            ));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("reading"))?;
        if bytes.len() < frames::HEAD && frames::head(0).starts_with(&bytes[..bytes.len().min(16)])
        {
            // New, or killed before its head was whole.
            bytes = frames::head(random_number()?);
            file.set_len(0).map_err(failed("writing"))?;
            file.write_all_at(&bytes, 0).map_err(failed("writing"))?;
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
            let folder = File::open(folder.unwrap_or(Path::new(".")));
            let synced = file.sync_all().and_then(|()| folder?.sync_all());
            synced.map_err(failed("writing"))?;
        }
        let contents = frames::read(&bytes, &path.display().to_string())?;
        if contents.end.len < bytes.len() as u64 {
            let cut = file.set_len(contents.end.len);
            cut.and_then(|()| file.sync_all())
                .map_err(failed("writing"))?;
        }
        let path = path.to_owned();
        Ok((LedgerFile { file, path }, contents))
    }

    /// Writes a frame and syncs the file.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn append(&mut self, frame: &[u8], at: FramePosition) -> Result<(), LabError> {
        let written = self.file.write_all_at(frame, at.len);
        written
            .and_then(|()| self.file.sync_data())
            .map_err(|error| LabError::file("writing", &self.path, error))
    }

    /// The first `len` bytes.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn bytes(&self, len: u64) -> Result<Vec<u8>, LabError> {
        let mut bytes = vec![0; len as usize];
        let read = self.file.read_exact_at(&mut bytes, 0);
        read.map_err(|error| LabError::file("reading", &self.path, error))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull::record::LedgerRecord;

    #[test]
    fn a_ledger_file_is_continued_after_a_torn_tail_and_has_one_writer() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger");
        let mut payload = Vec::new();
        LedgerRecord::End.encode(&mut payload);
        let (mut file, contents) = LedgerFile::open(&path).expect("made");
        let frame = contents.end.frame(&payload);
        file.append(&frame, contents.end).expect("kept");
        assert!(LedgerFile::open(&path).is_err(), "one writer at a time");
        drop(file);
        let mut bytes = std::fs::read(&path).expect("there");
        bytes.extend(&frame[..9]);
        std::fs::write(&path, &bytes).expect("written");
        let (_, contents) = LedgerFile::open(&path).expect("a torn tail");
        assert_eq!(contents.records, [LedgerRecord::End]);
        let cut = std::fs::metadata(&path).expect("there").len();
        assert_eq!(cut + 9, bytes.len() as u64);
    }

    #[test]
    fn another_file_is_not_taken_for_a_ledger() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("letter");
        std::fs::write(&path, "dear").expect("written");
        assert!(LedgerFile::open(&path).is_err());
        assert_eq!(std::fs::read(&path).expect("there"), b"dear");
    }

    #[test]
    fn names_of_ledgers() {
        assert_eq!(
            LedgerLocation::parse("a/b").expect("a path"),
            LedgerLocation::File("a/b".into())
        );
        let far = LedgerLocation::parse("tcp:host:70").expect("an address");
        assert_eq!(far.to_string(), "tcp:host:70");
        for bad in ["", "tcp:host", "tcp:host:http"] {
            assert!(LedgerLocation::parse(bad).is_err(), "{bad}");
        }
    }
}
