//! What the records of a ledger add up to: per sector what it must hold at least, what it may
//! hold, and why.
//!
//! A write is durable when it completed with FUA, or when a flush that was sent after its
//! completion has completed. After a check and a flush, the contents read are durable. Between two
//! checks a sector may hold its durable write or a newer one that was sent; writes from before the
//! last check that it did not hold then may not come back. Commands in progress never overlap:
//! every stream has sectors of its own.

use super::record::{
    LedgerRecord, Loss, PromiseBasis, Pull, PullDurabilityMode, PullTestSetup, Strike,
    WriterSession,
};
use super::stamp::UnexpectedContent;
use ssdlab_base::LabError;
use std::collections::{BTreeMap, VecDeque};

/// Promises are recent for this time, ns.
pub const RECENT_NS: u64 = 1_000_000_000;
/// Most losses that are kept with their details.
const LOSSES_MAX: usize = 1000;
/// Largest number of sectors that a ledger may speak of.
const SECTORS_MAX: u64 = 1 << 26;

/// A sector. Sequence numbers begin with 1; 0 stands for no write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SectorExpectation {
    /// Oldest write that it may hold; 0: anything.
    pub floor: u64,
    /// Newest write that was acknowledged.
    pub acked: u64,
    /// Newest write that may have been sent.
    pub latest: u64,
    /// Number of the promise that set the floor.
    promise: u32,
}

struct IssuedWrite {
    first: u64,
    count: u32,
    fua: bool,
}

/// The state of a test.
pub struct Book {
    /// The target.
    pub start: PullTestSetup,
    /// Every sector of the part that is used.
    pub sectors: Vec<SectorExpectation>,
    /// Processes that have written.
    pub sessions: Vec<WriterSession>,
    /// Finished pulls.
    pub pulls: Vec<Pull>,
    /// The first broken promises, each with the number of the pull that broke it: 0 for one
    /// without a pull.
    pub losses: Vec<(u32, Loss)>,
    /// Sectors that broke a promise.
    pub lost: u64,
    /// The strike of a pull whose check is not over.
    pub struck: Option<Strike>,
    /// Whether the last session ended in order.
    pub ended: bool,
    /// Newest sequence number.
    pub seq: u64,
    /// Newest number of a flush.
    pub flush: u64,
    /// Newest sequence number at the last check.
    settled: u64,
    promises: Vec<(PromiseBasis, u64)>,
    sent: BTreeMap<u64, IssuedWrite>,
    /// Acknowledged and not promised, in order; the first has number `dropped`.
    dirty: VecDeque<(u64, IssuedWrite)>,
    dropped: u64,
    flushes: BTreeMap<u64, u64>,
    recent: VecDeque<(u64, u64)>,
    promised: u64,
    clock_ns: u64,
    holds: Vec<(u64, Option<u64>)>,
    fresh: Vec<Loss>,
}

impl Book {
    /// A book of nothing but its start.
    ///
    /// # Errors
    /// When the part of the target that it names cannot be.
    pub fn new(start: PullTestSetup) -> Result<Book, LabError> {
        let sector = u64::from(start.sector_bytes);
        let count = start.bytes.checked_div(sector).unwrap_or(0);
        if sector < 64 || count == 0 || count > SECTORS_MAX {
            return Err(LabError::refused(
                format!("a test of {count} sectors of {sector} bytes"),
                "at least one sector of 64 bytes or more, and at most 2^26 of them: see --size",
            ));
        }
        let mut sectors = Vec::new();
        let memory = sectors.try_reserve_exact(count as usize);
        memory.map_err(|error| LabError::refused(error.to_string(), "use a smaller --size"))?;
        sectors.resize(count as usize, SectorExpectation::default());
        Ok(Book {
            start,
            sectors,
            sessions: Vec::new(),
            pulls: Vec::new(),
            losses: Vec::new(),
            lost: 0,
            struck: None,
            ended: true,
            seq: 0,
            flush: 0,
            settled: 0,
            promises: vec![(PromiseBasis::ReadBack, 0)],
            sent: BTreeMap::new(),
            dirty: VecDeque::new(),
            dropped: 0,
            flushes: BTreeMap::new(),
            recent: VecDeque::new(),
            promised: 0,
            clock_ns: 0,
            holds: Vec::new(),
            fresh: Vec::new(),
        })
    }

    /// The state after all `records` of the ledger called `name`; `None` when there is none yet.
    ///
    /// # Errors
    /// When they contradict each other.
    pub fn replay(records: &[LedgerRecord], name: &str) -> Result<Option<Book>, LabError> {
        let Some((first, rest)) = records.split_first() else {
            return Ok(None);
        };
        let wrong = |what: String| {
            LabError::refused(
                format!("{name}: {what}"),
                "the ledger was not written by `ssdlab pull run`, or by another version of it",
            )
        };
        let LedgerRecord::Start(start) = first else {
            return Err(wrong("the first record does not name a target".into()));
        };
        let mut book = Book::new(start.clone())?;
        for record in rest {
            book.apply(record).map_err(wrong)?;
        }
        Ok(Some(book))
    }

    /// Enters a record. The error says how it contradicts the ones before.
    pub fn apply(&mut self, record: &LedgerRecord) -> Result<(), String> {
        match record {
            LedgerRecord::Start(_) => return Err("a second target".into()),
            LedgerRecord::Session(session) => self.begin(session),
            LedgerRecord::Issued {
                seq,
                first,
                count,
                fua,
            } => self.issue(*seq, *first, *count, *fua)?,
            LedgerRecord::Acked { seq, at_ns } => self.acknowledge(*seq, *at_ns)?,
            LedgerRecord::FlushBegun { flush } => {
                if *flush <= self.flush {
                    return Err(format!("flush {flush} after flush {}", self.flush));
                }
                self.flush = *flush;
                let covers = self.dropped + self.dirty.len() as u64;
                self.flushes.insert(*flush, covers);
            }
            LedgerRecord::FlushDone { flush, at_ns } => self.flushed(*flush, *at_ns)?,
            LedgerRecord::Strike(strike) => self.struck = Some(*strike),
            LedgerRecord::Holds { sector, seq } => self.holds.push((*sector, *seq)),
            LedgerRecord::Lost(loss) => self.fresh.push(*loss),
            LedgerRecord::Settled(pull) => self.settle(pull.as_ref())?,
            LedgerRecord::End => self.ended = true,
        }
        Ok(())
    }

    fn begin(&mut self, session: &WriterSession) {
        self.sessions.push(session.clone());
        self.ended = false;
        self.clock_ns = 0;
        self.recent.clear();
        self.holds.clear();
        self.fresh.clear();
    }

    fn range(&self, first: u64, count: u32) -> Result<std::ops::Range<usize>, String> {
        let end = first.saturating_add(u64::from(count));
        if end <= self.sectors.len() as u64 {
            Ok(first as usize..end as usize)
        } else {
            Err(format!("a write up to sector {end}, beyond the part used"))
        }
    }

    fn issue(&mut self, seq: u64, first: u64, count: u32, fua: bool) -> Result<(), String> {
        if seq <= self.seq {
            return Err(format!("write {seq} after write {}", self.seq));
        }
        let range = self.range(first, count)?;
        for sector in &mut self.sectors[range] {
            sector.latest = seq;
        }
        self.seq = seq;
        self.sent.insert(seq, IssuedWrite { first, count, fua });
        Ok(())
    }

    fn acknowledge(&mut self, seq: u64, at_ns: u64) -> Result<(), String> {
        let write = self.sent.remove(&seq);
        let write = write.ok_or_else(|| format!("write {seq} completed and was never sent"))?;
        let range = self.range(write.first, write.count)?;
        for sector in &mut self.sectors[range] {
            sector.acked = seq;
        }
        self.clock_ns = self.clock_ns.max(at_ns);
        if write.fua {
            self.promise(&[(seq, write)], PromiseBasis::Fua, at_ns)
        } else {
            self.dirty.push_back((seq, write));
            Ok(())
        }
    }

    fn flushed(&mut self, flush: u64, at_ns: u64) -> Result<(), String> {
        let covers = self.flushes.remove(&flush);
        let covers = covers.ok_or_else(|| format!("flush {flush} completed, never sent"))?;
        let count = covers.saturating_sub(self.dropped) as usize;
        let covered: Vec<_> = self.dirty.drain(..count).collect();
        self.dropped += covered.len() as u64;
        self.clock_ns = self.clock_ns.max(at_ns);
        self.promise(&covered, PromiseBasis::Flush, at_ns)
    }

    fn promise(
        &mut self,
        writes: &[(u64, IssuedWrite)],
        by: PromiseBasis,
        at_ns: u64,
    ) -> Result<(), String> {
        let number = self.promises.len() as u32;
        self.promises.push((by, at_ns));
        for (seq, write) in writes {
            let range = self.range(write.first, write.count)?;
            for sector in &mut self.sectors[range] {
                if sector.floor < *seq {
                    sector.floor = *seq;
                    sector.promise = number;
                }
            }
        }
        let count = writes.len() as u64;
        self.promised += count;
        self.recent.push_back((at_ns, count));
        let old = at_ns.saturating_sub(RECENT_NS);
        while self.recent.front().is_some_and(|&(at, _)| at < old) {
            self.recent.pop_front();
        }
        Ok(())
    }

    /// A check is over: the contents read are durable from now on.
    fn settle(&mut self, pull: Option<&Pull>) -> Result<(), String> {
        let beyond = |sector: u64| format!("sector {sector} is beyond the part used");
        for sector in &mut self.sectors {
            let latest = sector.latest;
            (sector.floor, sector.acked, sector.promise) = (latest, latest, 0);
        }
        for (sector, seq) in std::mem::take(&mut self.holds) {
            let held = self.sectors.get_mut(sector as usize);
            let seq = seq.unwrap_or(0);
            *held.ok_or_else(|| beyond(sector))? = SectorExpectation {
                floor: seq,
                acked: seq,
                latest: seq,
                promise: 0,
            };
        }
        let number = pull.map_or(0, |pull| pull.number);
        let fresh = std::mem::take(&mut self.fresh);
        self.lost += fresh.len() as u64;
        let room = LOSSES_MAX.saturating_sub(self.losses.len());
        let recorded = fresh.into_iter().take(room).map(|loss| (number, loss));
        self.losses.extend(recorded);
        self.pulls.extend(pull.cloned());
        self.struck = None;
        self.settled = self.seq;
        self.promises.truncate(1);
        self.sent.clear();
        self.dirty.clear();
        self.flushes.clear();
        self.recent.clear();
        self.promised = 0;
        Ok(())
    }

    /// How the writes before the next pull are made durable: in turn, by the pulls that count.
    pub fn next_mode(&self) -> PullDurabilityMode {
        let counted = |mode| {
            let same = |pull: &&Pull| pull.strike.mode == mode && pull.counts();
            self.pulls.iter().filter(same).count() as u32
        };
        // The mode that is furthest behind its share; the first of several.
        let behind = |(mode, share): (PullDurabilityMode, u32)| (counted(mode) * 100 / share, mode);
        let modes = PullDurabilityMode::SHARES.map(behind);
        let least = modes.iter().map(|(done, _)| *done).min();
        let next = modes.iter().find(|(done, _)| Some(*done) == least);
        next.map_or(PullDurabilityMode::Both, |(_, mode)| *mode)
    }

    /// The strike that ends now, by the records so far; `at_ns`: when, if that is known.
    pub fn strike(&self, at_ns: Option<u64>) -> Strike {
        let at_ns = at_ns.unwrap_or(self.clock_ns);
        let old = at_ns.saturating_sub(RECENT_NS);
        let recent = self.recent.iter().filter(|&&(at, _)| at >= old);
        Strike {
            by: super::record::PowerCutSource::Host,
            mode: self.next_mode(),
            noticed: true,
            at_ns,
            promised_recently: recent.map(|&(_, count)| count).sum(),
            promised: self.promised,
            failed: self.sent.len() as u64,
        }
    }

    /// What `found` in a sector means.
    ///
    /// # Errors
    /// When it holds a write that the ledger does not know.
    pub fn judge(
        &self,
        number: u64,
        found: Result<u64, UnexpectedContent>,
    ) -> Result<SectorVerdict, LabError> {
        let sector = self.sectors[number as usize];
        if let Ok(seq) = found {
            if seq > sector.latest {
                return Err(LabError::refused(
                    format!(
                        "sector {number} holds write {seq}; the ledger knows none after {}",
                        sector.latest
                    ),
                    "the ledger lost its end, or is an older copy: it cannot judge this target; \
                     begin with a new one",
                ));
            }
            let newer = seq > sector.floor && seq > self.settled;
            if seq == sector.floor || newer || sector.floor == 0 {
                return Ok(SectorVerdict::Holds(Some(seq)));
            }
        }
        if sector.floor == 0 {
            return Ok(SectorVerdict::Holds(None));
        }
        let (maker, since_ns) = self.promises[sector.promise as usize];
        Ok(SectorVerdict::Lost(Loss {
            sector: number,
            expected: sector.floor,
            maker,
            since_ns,
            found: found.map_or_else(|found| found, UnexpectedContent::Write),
        }))
    }
}

/// What a sector's content means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorVerdict {
    /// It may hold this write; `None`: it may hold anything.
    Holds(Option<u64>),
    /// It breaks a promise.
    Lost(Loss),
}

#[cfg(test)]
#[path = "book_tests.rs"]
mod tests;
