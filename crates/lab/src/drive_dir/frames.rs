//! Files of frames: each a length, a checksum and a record, appended in one write.

use crate::LabError;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::Smart;
use ssdlab_ssd::image::{IMAGE_VERSION, Image, ImageError, Reader, Writer};
use ssdlab_ssd::nand::media::{Content, Event};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// Bytes before a frame's payload.
const HEAD: usize = 12;
/// Longest payload: a whole buffer of a large drive fits.
const PAYLOAD_MAX: u32 = 1 << 30;

/// What a frame holds.
#[derive(Clone, Debug)]
pub enum Record {
    /// Format and configuration: the first of a checkpoint.
    Header(u32, Box<DriveConfig>),
    /// What the drive knows beside its media.
    Smart(Box<Smart>),
    /// What has happened to the media.
    Events(Vec<Event>),
    /// Mapping units acknowledged and not on media; `None`: forgotten.
    Saved(Vec<(u32, Content)>),
    /// A checkpoint is whole.
    End,
    /// The drive was shut down cleanly.
    Closed,
}

impl Record {
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        match self {
            Record::Header(version, config) => {
                (0_u8, *version).save(out)?;
                IMAGE_VERSION.save(out)?;
                config.save(out)
            }
            Record::Smart(smart) => {
                1_u8.save(out)?;
                smart.save(out)
            }
            Record::Events(events) => {
                2_u8.save(out)?;
                events.save(out)
            }
            Record::Saved(slots) => {
                3_u8.save(out)?;
                slots.save(out)
            }
            Record::End => 4_u8.save(out),
            Record::Closed => 5_u8.save(out),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<Record, ImageError> {
        match u8::load(from)? {
            0 => {
                let version = u32::load(from)?;
                let image = u32::load(from)?;
                if image != IMAGE_VERSION {
                    return Err(ImageError::Unknown(format!(
                        "it was made by a build of image format {image}, this is {IMAGE_VERSION}"
                    )));
                }
                let config = Box::new(DriveConfig::load(from)?);
                Ok(Record::Header(version, config))
            }
            1 => Smart::load(from).map(|smart| Record::Smart(Box::new(smart))),
            2 => Image::load(from).map(Record::Events),
            3 => Image::load(from).map(Record::Saved),
            4 => Ok(Record::End),
            5 => Ok(Record::Closed),
            other => Err(ImageError::Unknown(format!("a record of kind {other}"))),
        }
    }
}

/// A file of frames that grows.
#[derive(Debug)]
pub struct Frames {
    path: PathBuf,
    file: File,
    bytes: u64,
    frame: Vec<u8>,
}

impl Frames {
    /// A new, empty file; an old one of that name is gone.
    pub fn create(path: &Path) -> Result<Frames, LabError> {
        Frames::at(path, 0)
    }

    /// A file that holds `bytes` bytes of whole frames; what follows them is cut off.
    pub fn open(path: &Path, bytes: u64) -> Result<Frames, LabError> {
        Frames::at(path, bytes)
    }

    fn at(path: &Path, bytes: u64) -> Result<Frames, LabError> {
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
        })
    }

    /// Bytes of whole frames.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Appends a record, in one write.
    pub fn append(&mut self, record: &Record) -> Result<(), LabError> {
        self.frame.clear();
        self.frame.resize(HEAD, 0);
        let mut out = Writer::new(&mut self.frame);
        let saved = record.save(&mut out).and_then(|()| out.flush());
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

    /// Everything is on disk.
    pub fn sync(&mut self) -> Result<(), LabError> {
        let synced = self.file.sync_data();
        synced.map_err(|error| LabError::file("syncing", &self.path, error))
    }
}

/// Reads whole frames until the end or the first that is none; returns how many bytes they take.
pub fn read(path: &Path, mut each: impl FnMut(Record)) -> Result<u64, LabError> {
    let failed = |error| LabError::file("reading", path, error);
    let file = File::open(path).map_err(failed)?;
    let all = file.metadata().map_err(failed)?.len();
    let mut input = std::io::BufReader::new(file);
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
        let record = Record::load(&mut Reader::new(&mut payload.as_slice(), length));
        let record = record
            .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))?;
        each(record);
        bytes += HEAD as u64 + length;
    }
    Ok(bytes)
}
