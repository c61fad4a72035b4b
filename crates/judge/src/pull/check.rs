//! Reads every sector that the ledger knows and holds it against the book.

use super::book::{Book, SectorVerdict};
use super::place::LedgerLocation;
use super::read;
use super::record::{LedgerRecord, Loss};
use super::stamp::{Stamp, UnexpectedContent};
use super::target::is_same;
use ssdlab_base::LabError;
use ssdlab_bench::device::direct::{DirectBuffer, DirectFile};
use std::path::Path;
use std::time::Duration;

/// Bytes read at once.
const CHUNK: u64 = 1 << 20;
/// A chunk that cannot be read is tried again, once a second: a drive may still be starting.
const TRIES: u32 = 5;
/// After this many unreadable sectors in a row, one that could be read is read again.
const PROBE_EVERY: u64 = 64;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectorCheckResult {
    /// Promises broken.
    pub losses: Vec<Loss>,
    /// Sectors whose newest acknowledged content was not promised.
    pub unpromised: u64,
    /// Of these, how many hold something older.
    pub unpromised_lost: u64,
    /// Sectors that do not hold their newest write.
    pub holds: Vec<(u64, Option<u64>)>,
}

impl SectorCheckResult {
    /// The records of this check, without its end.
    pub fn records(&self) -> Vec<LedgerRecord> {
        let holds = self.holds.iter();
        let holds = holds.map(|&(sector, seq)| LedgerRecord::Holds { sector, seq });
        holds
            .chain(self.losses.iter().map(|loss| LedgerRecord::Lost(*loss)))
            .collect()
    }

    fn enter(
        &mut self,
        book: &Book,
        number: u64,
        found: Result<u64, UnexpectedContent>,
    ) -> Result<(), LabError> {
        let sector = book.sectors[number as usize];
        let held = found.unwrap_or(0);
        match book.judge(number, found)? {
            SectorVerdict::Holds(_) => {}
            SectorVerdict::Lost(loss) => self.losses.push(loss),
        }
        if sector.acked > sector.floor {
            self.unpromised += 1;
            self.unpromised_lost += u64::from(held < sector.acked);
        }
        if held != sector.latest {
            self.holds.push((number, found.ok()));
        }
        Ok(())
    }
}

/// The target while it is read.
struct SectorReader<'a> {
    file: &'a DirectFile,
    buffer: DirectBuffer,
    sector: u64,
    patience: u32,
    /// The last sector that could be read.
    readable: Option<u64>,
    /// Unreadable sectors in a row.
    unreadable: u64,
}

impl SectorReader<'_> {
    /// Whether all of `at..at + len` could be read at once.
    fn whole(&mut self, at: u64, len: u64) -> bool {
        loop {
            if self.file.read(at, len as usize, &mut self.buffer).is_ok() {
                self.readable = Some(at / self.sector);
                return true;
            }
            if self.patience == 0 {
                return false;
            }
            self.patience -= 1;
            std::thread::sleep(Duration::from_secs(1));
        }
    }

    /// One sector of a part that could not be read at once; `None`: it cannot be read, while
    /// others can.
    fn one(&mut self, number: u64) -> Result<Option<&[u8]>, LabError> {
        let len = self.sector as usize;
        match self.file.read(number * self.sector, len, &mut self.buffer) {
            Ok(()) => {
                (self.readable, self.unreadable) = (Some(number), 0);
                Ok(Some(&self.buffer.bytes()[..len]))
            }
            Err(error) => {
                self.unreadable += 1;
                if self.unreadable.is_multiple_of(PROBE_EVERY) {
                    self.probe(&error)?;
                }
                Ok(None)
            }
        }
    }

    /// Whether the target still answers where it did before.
    fn probe(&mut self, error: &std::io::Error) -> Result<(), LabError> {
        let len = self.sector as usize;
        let again = self.readable.is_some_and(|number| {
            let offset = number * self.sector;
            self.file.read(offset, len, &mut self.buffer).is_ok()
        });
        if again {
            Ok(())
        } else {
            Err(LabError::refused(
                format!("{} does not answer: {error}", self.file.facts().name),
                "see that it has power and is connected, and run this again: it continues. A \
             drive that never answers again has failed, which no check can prove",
            ))
        }
    }
}

/// Reads and judges all of `file`. `progress` is given the bytes read, and all of them.
///
/// # Errors
/// When the target does not answer, or holds what the ledger does not know.
pub fn check(
    file: &DirectFile,
    book: &Book,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<SectorCheckResult, LabError> {
    let sector = u64::from(book.start.sector_bytes);
    let run = book.start.run;
    let total = book.sectors.len() as u64 * sector;
    let mut reader = SectorReader {
        file,
        buffer: DirectBuffer::new(CHUNK as usize)
            .map_err(|error| LabError::file("reading", &file.facts().name, error))?,
        sector,
        patience: TRIES,
        readable: None,
        unreadable: 0,
    };
    let mut checked = SectorCheckResult::default();
    let mut offset = 0;
    while offset < total {
        let len = CHUNK.min(total - offset);
        let numbers = offset / sector..(offset + len) / sector;
        if reader.whole(offset, len) {
            let sectors = reader.buffer.bytes()[..len as usize].chunks(sector as usize);
            for (number, bytes) in numbers.zip(sectors) {
                checked.enter(book, number, Stamp::read(bytes, run, number))?;
            }
        } else {
            for number in numbers {
                let stamp = match reader.one(number)? {
                    Some(bytes) => Stamp::read(bytes, run, number),
                    None => Err(UnexpectedContent::Unreadable),
                };
                checked.enter(book, number, stamp)?;
            }
        }
        offset += len;
        progress(offset, total);
    }
    match reader.readable {
        Some(_) => Ok(checked),
        None => reader
            .probe(&std::io::Error::other("no sector can be read"))
            .map(|()| checked),
    }
}

/// Reads every sector of `target` and holds it against `ledger`; changes neither.
///
/// # Errors
/// When one of them cannot be read, or they do not belong together.
pub fn check_target(
    target: &Path,
    ledger: &LedgerLocation,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<SectorCheckResult, LabError> {
    let book = read(ledger)?;
    let path = target
        .canonicalize()
        .map_err(|error| LabError::file("looking at", target, error))?;
    let file = DirectFile::open_to_read(&path)?;
    is_same(&book.start, &file)?;
    check(&file, &book, progress)
}
