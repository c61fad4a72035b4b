//! Saved drives: precondition once, start from there any number of times.
//!
//! ```text
//! magic "ssdlabSV" | version u32 | about u32 | image u64 | XXH3-64 u64 | about (JSON) | image
//! ```
//! Integers are little-endian; the two lengths are in bytes; the checksum covers everything but
//! itself. A file is written beside its place and renamed into it when it is whole and on disk,
//! so that what bears the name is always a whole drive. It is read twice: the checksum first,
//! because what [`Drive::load`] reads is believed.

use crate::keep::manner::LifeConditions;
use crate::rests_on::RestsOn;
use crate::smart::AttributeSet;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_ssd::{Drive, ImageError};
use std::fs::File;
use std::hash::Hasher;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_64;

/// The first bytes of a file.
pub const MAGIC: [u8; 8] = *b"ssdlabSV";
const VERSION: u32 = 2;
const HEADER: usize = 32;
/// The checksum's place: the end of the header.
const CHECKSUM: usize = 24;
/// Longest description accepted.
const ABOUT_MAX: u32 = 1 << 20;

/// Description of a saved drive, kept with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedDriveInfo {
    /// Name of the drive.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Parameters changed from the drive's file, `key=value`.
    pub settings: Vec<String>,
    /// The calibrated and assumed values that its figures rest on.
    pub rests_on: Vec<RestsOn>,
    /// Its loads so far, oldest first.
    pub history: Vec<String>,
    /// Minutes it was powered before its own clock began.
    #[serde(default)]
    pub powered_minutes: u64,
    /// Celsius that it was aged at.
    #[serde(default)]
    pub celsius: Option<u8>,
    /// `sata`, `nvme`, `pcie`; `None`: as its name in the catalogue has it.
    #[serde(default)]
    pub interface: Option<String>,
    /// The attributes that its SMART has; `None`: as its name in the catalogue has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attributes: Option<AttributeSet>,
    /// How `ssdlab age` wrote it, when nothing else has since.
    #[serde(default)]
    pub lived: Option<LifeConditions>,
}

/// Writes an image.
type ImageWriter<'a> = dyn Fn(&mut dyn Write) -> Result<(), ImageError> + 'a;

/// Whether a file that exists may be written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverwritePolicy {
    /// It may not.
    Refuse,
    /// It may.
    Replace,
}

/// A place for a drive to be saved to: looked at before a long run, written after it.
#[derive(Debug)]
pub struct SaveTarget {
    path: PathBuf,
    temporary: PathBuf,
    file: File,
    over: OverwritePolicy,
}

impl SaveTarget {
    /// Makes the temporary file beside `path`, so that a place that cannot be written is found
    /// before the run.
    ///
    /// # Errors
    /// When it cannot, or `path` exists and may not be written over.
    pub fn reserve(path: &Path, over: OverwritePolicy) -> Result<SaveTarget, LabError> {
        if over == OverwritePolicy::Refuse && path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let name = path
            .file_name()
            .ok_or_else(|| LabError::refused(format!("{} names no file", path.display()), ""))?;
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}.part", std::process::id()));
        let temporary = path.with_file_name(temporary);
        let file = File::options()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(|error| LabError::file("creating", &temporary, error))?;
        Ok(SaveTarget {
            path: path.to_owned(),
            temporary,
            file,
            over,
        })
    }

    /// Writes the drive, whole or not at all; returns the file's size in bytes.
    ///
    /// # Errors
    /// When it cannot be written, or the drive is in no state to be saved.
    pub fn save(self, drive: &Drive, about: &SavedDriveInfo) -> Result<u64, LabError> {
        self.put(MAGIC, about, &|out| drive.save(out))
    }

    /// Writes something else in the same form: what it says of itself, and its image.
    pub fn put(
        mut self,
        magic: [u8; 8],
        about: &impl Serialize,
        image: &ImageWriter<'_>,
    ) -> Result<u64, LabError> {
        let failed = |error| LabError::file("writing", &self.path, error);
        let image_bytes = write(&mut self.file, magic, about, image)
            .map_err(|error| refusal(&self.path, &error))?;
        self.file.sync_all().map_err(failed)?;
        match self.over {
            OverwritePolicy::Replace => {
                std::fs::rename(&self.temporary, &self.path).map_err(failed)?
            }
            // A link is made only where there is no file: one made in between stays.
            OverwritePolicy::Refuse => match std::fs::hard_link(&self.temporary, &self.path) {
                Ok(()) => std::fs::remove_file(&self.temporary).map_err(failed)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(exists(&self.path));
                }
                // A file system without links.
                Err(_) => std::fs::rename(&self.temporary, &self.path).map_err(failed)?,
            },
        }
        let folder = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))
            .and_then(|folder| folder.sync_all())
            .map_err(failed)?;
        Ok(image_bytes)
    }
}

impl Drop for SaveTarget {
    fn drop(&mut self) {
        // Gone already when the drive was saved.
        let _ = std::fs::remove_file(&self.temporary);
    }
}

fn exists(path: &Path) -> LabError {
    LabError::refused(
        format!("{} exists", path.display()),
        "choose another name, or --replace it",
    )
}

/// Saves `drive` at `path`; returns the file's size in bytes.
///
/// # Errors
/// As [`SaveTarget::reserve`] and [`SaveTarget::save`].
pub fn save(
    path: &Path,
    over: OverwritePolicy,
    drive: &Drive,
    about: &SavedDriveInfo,
) -> Result<u64, LabError> {
    SaveTarget::reserve(path, over)?.save(drive, about)
}

/// Passes written bytes on, and keeps their checksum.
struct HashingWriter<'a> {
    out: &'a mut File,
    hash: XxHash3_64,
    bytes: u64,
}

impl Write for HashingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hash.write(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Lengths are known only at the end, and the checksum covers them: they are hashed last.
fn write(
    file: &mut File,
    magic: [u8; 8],
    about: &impl Serialize,
    image: &ImageWriter<'_>,
) -> Result<u64, ImageError> {
    let about = serde_json::to_vec(about).map_err(io::Error::from)?;
    let about_bytes = u32::try_from(about.len())
        .ok()
        .filter(|bytes| *bytes <= ABOUT_MAX)
        .ok_or_else(|| ImageError::Unknown("its description is longer than 1 MiB".into()))?;
    file.write_all(&[0; HEADER])?;
    let mut out = HashingWriter {
        out: file,
        hash: XxHash3_64::new(),
        bytes: 0,
    };
    out.write_all(&about)?;
    image(&mut out)?;
    let (bytes, mut hash) = (out.bytes, out.hash);
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&magic);
    header[8..12].copy_from_slice(&VERSION.to_le_bytes());
    header[12..16].copy_from_slice(&about_bytes.to_le_bytes());
    header[16..CHECKSUM].copy_from_slice(&(bytes - about.len() as u64).to_le_bytes());
    hash.write(&header[..CHECKSUM]);
    header[CHECKSUM..].copy_from_slice(&hash.finish().to_le_bytes());
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header)?;
    Ok(bytes + HEADER as u64)
}

/// Loads a saved drive.
///
/// # Errors
/// When the file cannot be read, is not a saved drive, is one of another version, or is damaged.
pub fn load(path: &Path) -> Result<(Drive, SavedDriveInfo), LabError> {
    get(path, MAGIC, &DRIVE, |file, length| {
        Drive::load(file, length)
    })
}

/// Whether a file begins as a saved drive does.
pub fn is_saved(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == MAGIC
}

/// Loads a saved drive from `input`, which holds `length` bytes.
///
/// # Errors
/// As [`load`].
pub fn load_from<R: Read + Seek>(
    input: &mut R,
    length: u64,
) -> Result<(Drive, SavedDriveInfo), ImageError> {
    read(input, length, MAGIC, DRIVE.name, |input, length| {
        Drive::load(input, length)
    })
}

/// A kind of file in this form, for errors.
pub struct SavedFileKind {
    /// What it is called.
    pub name: &'static str,
    /// What to do when one cannot be loaded.
    pub hint: &'static str,
}

const DRIVE: SavedFileKind = SavedFileKind {
    name: "saved drive",
    hint: "save the drive again with this build: `ssdlab simulate ... --save FILE`, or `ssdlab \
           age`; how it was made is in the run directory",
};

/// Loads what [`SaveTarget::put`] wrote with the same magic number.
pub fn get<A: DeserializeOwned, T>(
    path: &Path,
    magic: [u8; 8],
    kind: &SavedFileKind,
    image: impl Fn(&mut File, u64) -> Result<T, ImageError>,
) -> Result<(T, A), LabError> {
    let open = || {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(unknown("it is no regular file"));
        }
        read(&mut file, metadata.len(), magic, kind.name, image)
    };
    open().map_err(|error| match error {
        ImageError::Io(error) => LabError::file("reading", path, error),
        ImageError::Unknown(what) => {
            LabError::refused(format!("loading {}: {what}", path.display()), kind.hint)
        }
    })
}

fn unknown(problem: impl Into<String>) -> ImageError {
    ImageError::Unknown(problem.into())
}

fn read<R: Read + Seek, A: DeserializeOwned, T>(
    file: &mut R,
    length: u64,
    magic: [u8; 8],
    what: &str,
    image: impl Fn(&mut R, u64) -> Result<T, ImageError>,
) -> Result<(T, A), ImageError> {
    let mut header = Vec::with_capacity(HEADER);
    Read::by_ref(file)
        .take(HEADER as u64)
        .read_to_end(&mut header)?;
    if header.len() < 8 || header[..8] != magic {
        return Err(unknown(format!("it is no {what}")));
    }
    let Ok(header) = <[u8; HEADER]>::try_from(header) else {
        return Err(unknown("it is cut short"));
    };
    let version = le_u32(&header[8..12]);
    if version != VERSION {
        return Err(unknown(format!(
            "it is a {what} of version {version}, this build knows version {VERSION}"
        )));
    }
    let about_bytes = le_u32(&header[12..16]);
    let image_bytes = le_u64(&header[16..CHECKSUM]);
    let whole = (HEADER as u64 + u64::from(about_bytes)).checked_add(image_bytes);
    if about_bytes > ABOUT_MAX || whole != Some(length) {
        return Err(unknown(format!(
            "it should have {} bytes and has {}: it is cut short or damaged",
            whole.map_or("more than 2^64".to_owned(), |whole| whole.to_string()),
            length
        )));
    }
    let sum = checksum(file, &header)?;
    if sum != le_u64(&header[CHECKSUM..]) {
        return Err(unknown(format!(
            "it is damaged: its checksum is {sum:016x}, it says {:016x}",
            le_u64(&header[CHECKSUM..])
        )));
    }
    file.seek(SeekFrom::Start(HEADER as u64))?;
    let mut about = vec![0; about_bytes as usize];
    file.read_exact(&mut about)?;
    let about = serde_json::from_slice(&about)
        .map_err(|error| unknown(format!("its description: {error}")))?;
    Ok((image(file, image_bytes)?, about))
}

/// Of what follows the header, and the header up to the checksum.
fn checksum(file: &mut impl Read, header: &[u8; HEADER]) -> io::Result<u64> {
    let mut hash = XxHash3_64::new();
    let mut part = vec![0; 1 << 18];
    loop {
        match file.read(&mut part)? {
            0 => break,
            bytes => hash.write(&part[..bytes]),
        }
    }
    hash.write(&header[..CHECKSUM]);
    Ok(hash.finish())
}

fn le_u32(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u32::from(b))
}

fn le_u64(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn refusal(path: &Path, error: &ImageError) -> LabError {
    let hint = match error {
        ImageError::Io(_) => "see what the system said above",
        ImageError::Unknown(_) => "",
    };
    LabError::refused(format!("saving to {}: {error}", path.display()), hint)
}

#[cfg(test)]
mod tests;
