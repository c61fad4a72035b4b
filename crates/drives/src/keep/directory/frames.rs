//! Files of frames, in the form of [`super::file`]: written, and read to their end or to the first
//! byte that is damaged.

use super::file::{
    FrameFileId, FrameFileKind, FrameHead, HEAD, MARK, PAYLOAD_MAX, VERSION, VERSION_MIN,
    write_all_at,
};
use super::places::DataPlaces;
use super::records::{FrameRecord, LastContents};
use ssdlab_base::LabError;
use ssdlab_ssd::image::{Reader, Writer};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use twox_hash::XxHash3_64;

/// Room for pending frames that is kept.
const KEEP_BYTES: usize = 4 << 20;

/// A file of frames that grows.
#[derive(Debug)]
pub struct FrameFileWriter {
    path: PathBuf,
    file: File,
    place: FrameFileId,
    /// Of whole frames in the file, its head included.
    bytes: u64,
    /// Frames, pending ones included, and the chain behind them.
    count: u64,
    chain: u64,
    /// Bytes that are on disk.
    synced: u64,
    /// Frames that are not in the file yet.
    pending: Vec<u8>,
    last_contents: LastContents,
    /// Why nothing can be written any more.
    broken: Option<String>,
}

impl FrameFileWriter {
    /// A new file without frames; an old one of that name is gone. One that cannot be written
    /// leaves nothing.
    pub fn create(
        path: &Path,
        place: FrameFileId,
        chain: u64,
        places: &Arc<DataPlaces>,
    ) -> Result<FrameFileWriter, LabError> {
        let file = File::create(path).map_err(|e| LabError::file("creating", path, e))?;
        if let Err(error) = write_all_at(&file, &place.head(chain), 0) {
            let _ = std::fs::remove_file(path);
            return Err(LabError::file("writing", path, error));
        }
        Ok(FrameFileWriter {
            path: path.to_owned(),
            file,
            place,
            bytes: HEAD as u64,
            count: 0,
            chain,
            synced: 0,
            pending: Vec::new(),
            last_contents: LastContents::of(places),
            broken: None,
        })
    }

    /// The file that `scan` has read; what is behind its frames is cut off.
    pub fn open(
        path: &Path,
        place: FrameFileId,
        scan: FrameScan,
    ) -> Result<FrameFileWriter, LabError> {
        let failed = |error| LabError::file("opening", path, error);
        let file = File::options().write(true).open(path).map_err(failed)?;
        file.set_len(scan.bytes).map_err(failed)?;
        Ok(FrameFileWriter {
            path: path.to_owned(),
            file,
            place,
            bytes: scan.bytes,
            count: scan.count,
            chain: scan.chain,
            synced: scan.synced.min(scan.bytes),
            pending: Vec::new(),
            last_contents: scan.last_contents,
            broken: None,
        })
    }

    /// Which file it is.
    pub fn place(&self) -> FrameFileId {
        self.place
    }

    /// Bytes of the file, pending ones not counted.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Frames, pending ones included.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The chain behind the last frame.
    pub fn chain(&self) -> u64 {
        self.chain
    }

    /// Bytes that are on disk for certain.
    pub fn synced(&self) -> u64 {
        self.synced
    }

    /// Adds a record to those that [`FrameFileWriter::commit`] writes.
    ///
    /// # Errors
    /// When it is too long; nothing can be added then any more.
    pub fn append(&mut self, record: &FrameRecord) -> Result<(), LabError> {
        self.is_sound()?;
        let outcome = self.encode(record);
        self.breaks(outcome)
    }

    fn encode(&mut self, record: &FrameRecord) -> Result<(), LabError> {
        let begin = self.pending.len();
        self.pending.resize(begin + HEAD, 0);
        let mut out = Writer::new(&mut self.pending);
        let saved = record.save(&mut out, &mut self.last_contents);
        let saved = saved.and_then(|()| out.flush());
        saved.map_err(|error| LabError::refused(error.to_string(), ""))?;
        let payload = &self.pending[begin + HEAD..];
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        if length > PAYLOAD_MAX {
            return Err(LabError::refused(
                format!("a record of {length} bytes, at most {PAYLOAD_MAX} are allowed"),
                "",
            ));
        }
        let head = FrameHead {
            length,
            number: self.count,
            chain: self.chain,
            synced: self.synced,
            sum: XxHash3_64::oneshot(payload),
        };
        let (head, chain) = head.bytes(self.place);
        self.pending[begin..begin + HEAD].copy_from_slice(&head);
        (self.count, self.chain) = (self.count + 1, chain);
        Ok(())
    }

    /// Writes what is pending, in one piece; returns whether there was anything.
    ///
    /// # Errors
    /// When it cannot be written. Where there is no room it stays pending, and may be tried again.
    pub fn commit(&mut self) -> Result<bool, LabError> {
        self.is_sound()?;
        if self.pending.is_empty() {
            return Ok(false);
        }
        let written = write_all_at(&self.file, &self.pending, self.bytes);
        let written = written.map_err(|error| LabError::file("writing", &self.path, error));
        self.breaks(written)?;
        self.bytes += self.pending.len() as u64;
        self.pending.clear();
        self.pending.shrink_to(KEEP_BYTES);
        Ok(true)
    }

    /// Everything that was committed is on disk.
    pub fn sync(&mut self) -> Result<(), LabError> {
        self.is_sound()?;
        let synced = self.file.sync_data();
        if let Err(error) = synced {
            // The system may have dropped what it could not write: no second try can know.
            let error = LabError::file("syncing", &self.path, error);
            self.give_up(error.to_string());
            return Err(error);
        }
        self.synced = self.bytes;
        Ok(())
    }

    /// Nothing is written any more.
    pub fn give_up(&mut self, why: String) {
        self.broken = Some(why);
    }

    fn is_sound(&self) -> Result<(), LabError> {
        let hint = "what was acknowledged is kept: mend the cause, and open the directory again";
        match &self.broken {
            Some(why) => Err(LabError::refused(why.clone(), hint)),
            None => Ok(()),
        }
    }

    fn breaks(&mut self, outcome: Result<(), LabError>) -> Result<(), LabError> {
        outcome.inspect_err(|error| {
            if !error.is_out_of_room() {
                self.give_up(error.to_string());
            }
        })
    }
}

/// Good frames behind damage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrailingFrames {
    /// Their number.
    pub frames: u64,
    /// Bytes from the damage to the file's end.
    pub bytes: u64,
}

/// How a file ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameFileEnd {
    /// With its last frame.
    Whole,
    /// With the beginning of a frame, as a killed process leaves it.
    Torn,
    /// Something at the end of the whole frames was never written so.
    Damaged(String, TrailingFrames),
}

/// The whole frames at the beginning of a file.
#[derive(Debug)]
pub struct FrameScan {
    /// Which file it is; `None` where its head is not whole.
    pub place: Option<FrameFileId>,
    /// The chain that its frames begin with.
    pub begins: u64,
    /// Bytes, the head included.
    pub bytes: u64,
    /// Frames.
    pub count: u64,
    /// The chain behind the last.
    pub chain: u64,
    /// The chain at the byte that was asked for, if a frame ends there.
    pub chain_there: Option<u64>,
    /// Bytes that were on disk, as any good frame of the file says.
    pub synced: u64,
    /// The last contents in them.
    pub last_contents: LastContents,
    /// How the file ends.
    pub ended: FrameFileEnd,
}

impl FrameScan {
    /// Result for an empty file.
    pub(super) fn nothing(places: &Arc<DataPlaces>) -> FrameScan {
        FrameScan {
            place: None,
            begins: 0,
            bytes: 0,
            count: 0,
            chain: 0,
            chain_there: None,
            synced: 0,
            last_contents: LastContents::of(places),
            ended: FrameFileEnd::Whole,
        }
    }
}

/// What a file should be; `None`: whatever it is.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedFrameFile {
    /// Checkpoint or log.
    pub kind: FrameFileKind,
    /// The directory that it belongs to.
    pub directory: Option<u64>,
    /// The number in its name.
    pub number: Option<u64>,
    /// The chain that its frames begin with.
    pub begins: Option<u64>,
    /// Byte at which the chain is noted.
    pub there: u64,
    /// Frames after which it is taken to be torn.
    pub frames_max: u64,
}

impl ExpectedFrameFile {
    /// Any file of a kind.
    pub fn any(kind: FrameFileKind) -> ExpectedFrameFile {
        ExpectedFrameFile {
            kind,
            directory: None,
            number: None,
            begins: None,
            there: 0,
            frames_max: u64::MAX,
        }
    }

    /// Why a file with such a head is not this one.
    fn refuses(&self, place: FrameFileId, begins: u64) -> Option<&'static str> {
        if self
            .directory
            .is_some_and(|expected| expected != place.directory)
        {
            return Some("it belongs to another directory");
        }
        if self.number.is_some_and(|expected| expected != place.number) {
            return Some("it is another file of this directory");
        }
        let follows = self.begins.is_none_or(|expected| expected == begins);
        (!follows).then_some("it does not follow what was before it")
    }
}

/// Reads the frames of the file `path`; `take_record` gets their records.
///
/// # Errors
/// When the file cannot be read, or another build wrote it.
pub fn read(
    path: &Path,
    expected: ExpectedFrameFile,
    places: &Arc<DataPlaces>,
    take_record: impl FnMut(FrameRecord),
) -> Result<FrameScan, LabError> {
    let failed = |error| LabError::file("reading", path, error);
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    read_from(
        &mut BufReader::new(file),
        len,
        path,
        expected,
        places,
        take_record,
    )
}

/// Reads an `input` of `len` bytes as [`read`] does.
pub fn read_from<R: Read + Seek>(
    input: &mut R,
    len: u64,
    path: &Path,
    expected: ExpectedFrameFile,
    places: &Arc<DataPlaces>,
    mut take_record: impl FnMut(FrameRecord),
) -> Result<FrameScan, LabError> {
    let failed = |error| LabError::file("reading", path, error);
    let mut scan = FrameScan::nothing(places);
    if len < HEAD as u64 {
        scan.ended = FrameFileEnd::Torn;
        return Ok(scan);
    }
    let head = read_head(input).map_err(failed)?;
    let Some((place, chain)) = FrameFileId::of_head(expected.kind, &head) else {
        scan.ended = not_it("the head of the file is wrong", len);
        return Ok(scan);
    };
    let version = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
    if !(VERSION_MIN..=VERSION).contains(&version) {
        let problem = format!("format {version}, this build knows {VERSION_MIN} to {VERSION}");
        return Err(of_other_build(path, 0, &problem));
    }
    if let Some(why) = expected.refuses(place, chain) {
        scan.ended = not_it(why, len);
        return Ok(scan);
    }
    (scan.place, scan.begins, scan.chain) = (Some(place), chain, chain);
    scan.bytes = HEAD as u64;
    let mut payload = Vec::new();
    scan.ended = loop {
        if scan.bytes == expected.there {
            scan.chain_there = Some(scan.chain);
        }
        if scan.count == expected.frames_max && scan.bytes < len {
            break FrameFileEnd::Torn;
        }
        let next = next(input, len, place, &mut scan, &mut payload).map_err(failed)?;
        if let NextFrame::Ended(ended) = next {
            break ended;
        }
        let mut from = payload.as_slice();
        let mut reader = Reader::new(&mut from, payload.len() as u64);
        let frame_start = scan.bytes - (HEAD + payload.len()) as u64;
        let record = FrameRecord::load(&mut reader, &mut scan.last_contents);
        take_record(record.map_err(|error| of_other_build(path, frame_start, &error.to_string()))?);
    };
    if let FrameFileEnd::Damaged(_, behind) = &mut scan.ended {
        let (seen, synced) = look_behind(input, scan.bytes, len, place).map_err(failed)?;
        *behind = seen;
        scan.synced = scan.synced.max(synced);
    }
    Ok(scan)
}

/// The end of a file without a usable frame.
fn not_it(why: &str, bytes: u64) -> FrameFileEnd {
    FrameFileEnd::Damaged(why.to_owned(), TrailingFrames { frames: 0, bytes })
}

enum NextFrame {
    Frame,
    Ended(FrameFileEnd),
}

/// Reads the next frame's payload and steps over it.
fn next<R: Read>(
    input: &mut R,
    len: u64,
    place: FrameFileId,
    scan: &mut FrameScan,
    payload: &mut Vec<u8>,
) -> io::Result<NextFrame> {
    let damaged = |problem: &str| {
        let message = format!("frame {}: {problem}", scan.count);
        Ok(NextFrame::Ended(FrameFileEnd::Damaged(
            message,
            TrailingFrames::default(),
        )))
    };
    let remaining = len - scan.bytes;
    if remaining == 0 {
        return Ok(NextFrame::Ended(FrameFileEnd::Whole));
    }
    if remaining < HEAD as u64 {
        let mut begun = vec![0; remaining as usize];
        input.read_exact(&mut begun)?;
        return if FrameHead::may_begin(scan.count, scan.chain, &begun) {
            Ok(NextFrame::Ended(FrameFileEnd::Torn))
        } else {
            damaged("its head is wrong and cut short")
        };
    }
    let head = read_head(input)?;
    let Some((head, chain)) = FrameHead::of_bytes(place, &head) else {
        return damaged("its head is wrong");
    };
    if (head.number, head.chain) != (scan.count, scan.chain) {
        return damaged("it does not follow the frame before it");
    }
    if u64::from(head.length) > remaining - HEAD as u64 {
        return Ok(NextFrame::Ended(FrameFileEnd::Torn));
    }
    payload.resize(head.length as usize, 0);
    input.read_exact(payload)?;
    if XxHash3_64::oneshot(payload) != head.sum {
        return damaged("its content is wrong");
    }
    scan.bytes += HEAD as u64 + u64::from(head.length);
    scan.count += 1;
    scan.chain = chain;
    scan.synced = scan.synced.max(head.synced);
    Ok(NextFrame::Frame)
}

fn read_head(input: &mut impl Read) -> io::Result<[u8; HEAD]> {
    let mut head = [0; HEAD];
    input.read_exact(&mut head)?;
    Ok(head)
}

/// Good frames of `place` from byte `from` on, wherever they lie, and how many bytes the last of
/// them says are on disk.
fn look_behind<R: Read + Seek>(
    input: &mut R,
    from: u64,
    len: u64,
    place: FrameFileId,
) -> io::Result<(TrailingFrames, u64)> {
    let bytes = len - from;
    let (mut behind, mut synced) = (TrailingFrames { frames: 0, bytes }, 0);
    let (mut at, mut part) = (from, Vec::new());
    while len - at >= HEAD as u64 {
        input.seek(SeekFrom::Start(at))?;
        part.clear();
        Read::by_ref(input).take(1 << 20).read_to_end(&mut part)?;
        let Some(mark) = part.windows(4).position(|bytes| bytes == MARK) else {
            // A mark may begin in its last bytes.
            at += part.len().saturating_sub(3).max(1) as u64;
            continue;
        };
        at += mark as u64;
        if len - at < HEAD as u64 {
            break;
        }
        input.seek(SeekFrom::Start(at))?;
        let head = FrameHead::of_bytes(place, &read_head(input)?);
        let remaining = len - at - HEAD as u64;
        let Some((head, _)) = head.filter(|(head, _)| u64::from(head.length) <= remaining) else {
            at += 1;
            continue;
        };
        let mut payload = vec![0; head.length as usize];
        input.read_exact(&mut payload)?;
        synced = synced.max(head.synced);
        if XxHash3_64::oneshot(&payload) == head.sum {
            behind.frames += 1;
            at += HEAD as u64 + u64::from(head.length);
        } else {
            at += HEAD as u64;
        }
    }
    Ok((behind, synced))
}

fn of_other_build(path: &Path, byte: u64, problem: &str) -> LabError {
    LabError::refused(
        format!("{}: byte {byte}: {problem}", path.display()),
        "the build that wrote it reads it; nothing was changed",
    )
}
