//! A tape played on files of a crash disk, and cut.

use super::tape::{CallTape, TapeCall};
use ssdlab_base::LabError;
use ssdlab_crash::{CrashDisk, CrashError, CrashFiles, FileId, FileSystemRules};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::rng::Rng;

/// Bytes of a write that fills a drive, and of one that overwrites it at random.
const FILL: u64 = 128 << 10;
const OVERWRITE: u64 = 4 << 10;

/// How far the files have come.
#[derive(Clone)]
pub struct TapeCourse<'a> {
    tape: &'a CallTape,
    files: CrashFiles,
    /// The open file of each number of the tape.
    ids: Vec<Option<FileId>>,
    next: usize,
}

/// What a course is played on.
pub struct CourseDrive<'a> {
    pub config: &'a DriveConfig,
    pub faults: &'a [String],
    pub rules: FileSystemRules,
    /// Full of earlier data.
    pub is_full: bool,
}

/// What a cut has left.
pub struct CutRemains {
    /// As they are after the recovery.
    pub files: CrashFiles,
    /// The call in which the power went.
    pub call: usize,
    /// Pieces of commands that are lost.
    pub lost: usize,
    /// How the drive broke its word.
    pub breach: Option<String>,
}

pub fn refused(error: &CrashError) -> LabError {
    LabError::refused(error.what(), error.hint())
}

impl CourseDrive<'_> {
    /// Empty files on a drive.
    fn files(&self, seed: u64) -> Result<CrashFiles, CrashError> {
        let faults: Vec<&str> = self.faults.iter().map(String::as_str).collect();
        let mut disk = CrashDisk::with_faults(self.config.clone(), seed, &faults)?;
        disk.stop_history();
        if self.is_full {
            fill(&mut disk, seed)?;
        }
        CrashFiles::format(disk, self.rules)
    }
}

/// Writes everything once in order, and once more at random.
fn fill(disk: &mut CrashDisk, seed: u64) -> Result<(), CrashError> {
    let zeroes = vec![0; FILL as usize];
    let bytes = disk.capacity();
    let mut offset = 0;
    while offset < bytes {
        let len = (bytes - offset).min(FILL);
        disk.write(offset, &zeroes[..len as usize])?;
        offset += len;
    }
    let mut rng = Rng::named(seed, "aged");
    let units = bytes / OVERWRITE;
    for _ in 0..units {
        let offset = rng.below(units) * OVERWRITE;
        disk.write(offset, &zeroes[..OVERWRITE as usize])?;
    }
    disk.flush()
}

impl<'a> TapeCourse<'a> {
    /// Before the first call.
    ///
    /// # Errors
    /// When the drive cannot exist.
    pub fn new(
        tape: &'a CallTape,
        drive: &CourseDrive<'_>,
        seed: u64,
    ) -> Result<TapeCourse<'a>, LabError> {
        Ok(TapeCourse {
            tape,
            files: drive.files(seed).map_err(|error| refused(&error))?,
            ids: vec![None; tape.names.len()],
            next: 0,
        })
    }

    /// Plays up to a call, without it.
    ///
    /// # Errors
    /// When a call cannot be replayed, such as on a disk that is full.
    pub fn seek(&mut self, call: usize) -> Result<(), LabError> {
        while self.next < call {
            self.step().map_err(|error| {
                let number = self.next + 1;
                LabError::refused(
                    format!("call {number} cannot be replayed: {}", error.what()),
                    format!("{}; --size SIZE makes a larger drive", error.hint()),
                )
            })?;
        }
        Ok(())
    }

    /// The next call.
    fn step(&mut self) -> Result<(), CrashError> {
        let files = &mut self.files;
        let id = |file: &usize| {
            self.ids[*file].ok_or_else(|| CrashError::File {
                what: "the file was never made".into(),
                hint: "record the program again".into(),
            })
        };
        match &self.tape.calls[self.next] {
            TapeCall::Create { file, path } => self.ids[*file] = Some(files.create(path)?),
            TapeCall::MakeDirectory { path } => files.mkdir(path)?,
            TapeCall::Unlink { path } => files.unlink(path)?,
            TapeCall::RemoveDirectory { path } => files.rmdir(path)?,
            TapeCall::Rename { from, to } => files.rename(from, to)?,
            TapeCall::Link { from, to } => files.hard_link(from, to)?,
            TapeCall::Write {
                file,
                offset,
                bytes,
                ..
            } => files.write_at(id(file)?, *offset, bytes)?,
            TapeCall::SetLength { file, len } => files.set_len(id(file)?, *len)?,
            TapeCall::Sync { file } => files.fsync(id(file)?)?,
            TapeCall::SyncData { file } => files.fdatasync(id(file)?)?,
            TapeCall::SyncDirectory { path } => files.sync_dir(path)?,
            TapeCall::SyncAll => files.sync_all()?,
        }
        self.next += 1;
        Ok(())
    }

    /// The files as they are.
    pub fn files(&self) -> CrashFiles {
        self.files.fork()
    }

    /// Cuts the power in the next call or soon after, and switches it on again; inside the
    /// recovery, too, after this share of it in thousandths.
    ///
    /// # Errors
    /// When a call cannot be replayed.
    pub fn cut(mut self, draw: u64, in_recovery: Option<u16>) -> Result<CutRemains, LabError> {
        self.files.reseed(draw);
        self.files.arm_call(0);
        let call = loop {
            if self.next == self.tape.calls.len() {
                self.files.cut().map_err(|error| refused(&error))?;
                break self.next;
            }
            match self.step() {
                Ok(()) => {}
                Err(error) if error.is_power() => break self.next,
                Err(error) => return Err(refused(&error)),
            }
        };
        if let Some(share) = in_recovery {
            self.files.arm_recovery(share);
        }
        let recovered = match self.files.power_on() {
            Err(error) if error.is_power() => self.files.power_on(),
            recovered => recovered,
        };
        let (lost, breach) = match recovered {
            Ok(report) if report.is_kept() => (report.lost.len(), None),
            Ok(report) => {
                let text = report.to_string();
                let first = text.lines().next().unwrap_or_default();
                let count = report.broken.len();
                let breach = format!("the drive broke its word in {count} sectors: {first}");
                (report.lost.len(), Some(breach))
            }
            Err(error) => (
                0,
                Some(format!("the drive broke its word: {}", error.what())),
            ),
        };
        Ok(CutRemains {
            files: self.files,
            call,
            lost,
            breach,
        })
    }
}
