//! Files of frames: each a length, a checksum and a record, appended in one write.

use super::records::{Record, Said};
use ssdlab_base::LabError;
use ssdlab_ssd::image::{Reader, Writer};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// Bytes before a frame's payload.
const HEAD: usize = 12;
/// Longest payload: a whole buffer of a large drive fits.
const PAYLOAD_MAX: u32 = 1 << 30;

/// A file of frames that grows.
#[derive(Debug)]
pub struct Frames {
    path: PathBuf,
    file: File,
    bytes: u64,
    frame: Vec<u8>,
    said: Said,
    /// Why nothing can be appended any more: what follows a broken frame is not read.
    broken: Option<String>,
}

impl Frames {
    /// A new, empty file; an old one of that name is gone.
    pub fn create(path: &Path) -> Result<Frames, LabError> {
        Frames::at(path, 0, Said::default())
    }

    /// A file that holds `bytes` bytes of whole frames, in which `said` was said; what follows
    /// them is cut off.
    pub fn open(path: &Path, bytes: u64, said: Said) -> Result<Frames, LabError> {
        Frames::at(path, bytes, said)
    }

    fn at(path: &Path, bytes: u64, said: Said) -> Result<Frames, LabError> {
        let failed = |error| LabError::file("opening", path, error);
        let mut options = File::options();
        options.create(true).truncate(false).write(true);
        let mut file = options.open(path).map_err(failed)?;
        file.set_len(bytes).map_err(failed)?;
        file.seek(SeekFrom::Start(bytes)).map_err(failed)?;
        Ok(Frames {
            path: path.to_owned(),
            file,
            bytes,
            frame: Vec::new(),
            said,
            broken: None,
        })
    }

    /// Bytes of whole frames.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a record, in one write.
    ///
    /// # Errors
    /// When it cannot be written; nothing can be appended then any more.
    pub fn append(&mut self, record: &Record) -> Result<(), LabError> {
        if let Some(why) = &self.broken {
            let hint = "what was acknowledged is kept: make room, and open the directory again";
            return Err(LabError::refused(why.clone(), hint));
        }
        let done = self.try_append(record);
        if let Err(error) = &done {
            self.broken = Some(error.to_string());
        }
        done
    }

    fn try_append(&mut self, record: &Record) -> Result<(), LabError> {
        self.frame.clear();
        self.frame.resize(HEAD, 0);
        let mut out = Writer::new(&mut self.frame);
        let saved = record.save(&mut out, &mut self.said);
        let saved = saved.and_then(|()| out.flush());
        saved.map_err(|error| LabError::refused(error.to_string(), ""))?;
        let payload = &self.frame[HEAD..];
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        if length > PAYLOAD_MAX {
            return Err(LabError::refused(
                format!("a record of {length} bytes, at most {PAYLOAD_MAX} are allowed"),
                "",
            ));
        }
        let sum = XxHash3_64::oneshot(payload);
        self.frame[..4].copy_from_slice(&length.to_le_bytes());
        self.frame[4..HEAD].copy_from_slice(&sum.to_le_bytes());
        let written = self.file.write_all(&self.frame);
        written.map_err(|error| LabError::file("writing", &self.path, error))?;
        self.bytes += self.frame.len() as u64;
        Ok(())
    }

    /// Nothing is appended any more.
    pub fn give_up(&mut self, why: String) {
        self.broken = Some(why);
    }

    /// Everything is on disk.
    pub fn sync(&mut self) -> Result<(), LabError> {
        let synced = self.file.sync_data();
        synced.map_err(|error| LabError::file("syncing", &self.path, error))
    }
}

/// Reads whole frames until the end or the first that is none; returns how many bytes they take,
/// and what was said in them.
pub fn read(path: &Path, each: impl FnMut(Record)) -> Result<(u64, Said), LabError> {
    let failed = |error| LabError::file("reading", path, error);
    let file = File::open(path).map_err(failed)?;
    let all = file.metadata().map_err(failed)?.len();
    read_from(std::io::BufReader::new(file), all, path, each)
}

/// Reads whole frames of an `input` of `all` bytes, as [`read`] does; `path` names it in messages.
pub fn read_from(
    mut input: impl Read,
    all: u64,
    path: &Path,
    mut each: impl FnMut(Record),
) -> Result<(u64, Said), LabError> {
    let failed = |error| LabError::file("reading", path, error);
    let mut said = Said::default();
    let mut bytes = 0;
    let mut payload = Vec::new();
    while all - bytes >= HEAD as u64 {
        let mut head = [0; HEAD];
        input.read_exact(&mut head).map_err(failed)?;
        let (length, sum) = head.split_at(4);
        let length = length
            .iter()
            .rev()
            .fold(0, |n, &byte| n << 8 | u64::from(byte));
        let sum = sum
            .iter()
            .rev()
            .fold(0, |n, &byte| n << 8 | u64::from(byte));
        if length > u64::from(PAYLOAD_MAX) || length > all - bytes - HEAD as u64 {
            break;
        }
        payload.resize(length as usize, 0);
        input.read_exact(&mut payload).map_err(failed)?;
        if XxHash3_64::oneshot(&payload) != sum {
            break;
        }
        let mut from = payload.as_slice();
        let record = Record::load(&mut Reader::new(&mut from, length), &mut said);
        let record = record
            .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))?;
        each(record);
        bytes += HEAD as u64 + length;
    }
    Ok((bytes, said))
}
