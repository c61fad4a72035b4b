//! What a ledger holds: records of what was sent to the target, what it answered, and what was
//! found after each pull.

use super::stamp::UnexpectedContent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Durable writes in the last second before a pull, for it to count.
pub const RECENT_NEEDED: u64 = 16;

/// The target and the shape of the test; the first record of a ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullTestSetup {
    /// Number of the run, in every stamp.
    pub run: u64,
    /// Path of the target, symbolic links resolved.
    pub path: String,
    /// Serial number of the drive (of the drive underneath a file), if known.
    pub serial: Option<String>,
    /// Its model, if known.
    pub model: Option<String>,
    /// Whether it is a file on a file system.
    pub is_file: bool,
    /// Bytes used, from the target's start.
    pub bytes: u64,
    /// Bytes of a sector, each of which has a stamp.
    pub sector_bytes: u32,
    /// Seed of the streams.
    pub seed: u64,
    /// When, as RFC 3339.
    pub at: String,
}

/// A process that writes to the target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriterSession {
    /// The kernel's number of this start of the machine.
    pub boot: String,
    /// When, as RFC 3339.
    pub at: String,
    /// Why the drive's buffer is known to be protected, if it is.
    pub protected: Option<String>,
    /// How often the drive says that it was powered up.
    pub power_cycles: Option<u64>,
}

/// Who took the power away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PowerCutSource {
    /// A command.
    Command,
    /// A hand at the plug.
    Hand,
    /// The whole host lost power, the writer with it.
    Host,
}

/// By what the streams make their writes durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullDurabilityMode {
    /// By flushes alone: a drive that ignores them is not covered for by FUA writes.
    Flush,
    /// By FUA alone, without any flush.
    Fua,
    /// By both at once.
    Both,
}

impl PullDurabilityMode {
    /// Every mode, with its share of the pulls.
    pub const SHARES: [(PullDurabilityMode, u32); 3] = [
        (PullDurabilityMode::Flush, 10),
        (PullDurabilityMode::Fua, 10),
        (PullDurabilityMode::Both, 5),
    ];
}

/// The moment at which the target stopped to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strike {
    /// By whom.
    pub by: PowerCutSource,
    /// How writes were made durable.
    pub mode: PullDurabilityMode,
    /// Whether the writer had an error for it; `false`: the target went on answering.
    pub noticed: bool,
    /// ns since the session began.
    pub at_ns: u64,
    /// Durable writes of the last second before it.
    pub promised_recently: u64,
    /// Durable writes since the power came.
    pub promised: u64,
    /// Commands that the target did not complete.
    pub failed: u64,
}

/// A finished pull: its strike and what the check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pull {
    /// From 1.
    pub number: u32,
    /// The strike.
    pub strike: Strike,
    /// Sectors whose newest acknowledged content was not promised yet.
    pub unpromised: u64,
    /// Of these, how many hold older content.
    pub unpromised_lost: u64,
    /// Sectors that broke a promise.
    pub lost: u64,
    /// How often the drive says that it was powered up.
    pub power_cycles: Option<u64>,
    /// When, as RFC 3339.
    pub at: String,
}

/// Why a sector must hold what it must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromiseBasis {
    /// A FUA write that completed.
    Fua,
    /// A flush that completed after the write had.
    Flush,
    /// It was read back after a pull, and a flush completed since.
    ReadBack,
}

impl Pull {
    /// Whether it struck the writer at work, with enough recent promises.
    pub fn counts(&self) -> bool {
        self.strike.noticed && self.strike.promised_recently >= RECENT_NEEDED
    }
}

/// A promise broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Loss {
    /// Of the target.
    pub sector: u64,
    /// The oldest write that it may hold.
    pub expected: u64,
    /// What made that durable.
    pub maker: PromiseBasis,
    /// When, in ns since the session began.
    pub since_ns: u64,
    /// What it holds.
    pub found: UnexpectedContent,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LedgerRecord {
    /// The run begins.
    Start(PullTestSetup),
    /// A process begins to write.
    Session(WriterSession),
    /// A write is about to be sent.
    Issued {
        /// Its number.
        seq: u64,
        /// First sector.
        first: u64,
        /// Sectors.
        count: u32,
        /// By FUA.
        fua: bool,
    },
    /// A write has completed.
    Acked {
        /// Its number.
        seq: u64,
        /// ns since the session began.
        at_ns: u64,
    },
    /// A flush is about to be sent. It covers what was acknowledged before.
    FlushBegun {
        /// Its number.
        flush: u64,
    },
    /// A flush has completed.
    FlushDone {
        /// Its number.
        flush: u64,
        /// ns since the session began.
        at_ns: u64,
    },
    /// The target stopped to answer.
    Strike(Strike),
    /// In a check: a sector that does not hold its newest write.
    Holds {
        /// Which.
        sector: u64,
        /// The write that it holds; `None`: nothing of use.
        seq: Option<u64>,
    },
    /// In a check: a promise broken.
    Lost(Loss),
    /// A check is over, and all that it read is durable. The pull that it ends, if one does.
    Settled(Option<Pull>),
    /// The process ends in order.
    End,
}

const NONE: u64 = u64::MAX;

fn put(out: &mut Vec<u8>, kind: u8, numbers: &[u64]) {
    out.push(kind);
    for number in numbers {
        out.extend(number.to_le_bytes());
    }
}

fn put_json(out: &mut Vec<u8>, kind: u8, value: &impl Serialize) {
    // Plain structs of numbers and text always have a JSON form.
    let text = serde_json::to_vec(value).unwrap_or_default();
    put(out, kind, &[text.len() as u64]);
    out.extend(text);
}

impl LedgerRecord {
    /// Appends its bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            LedgerRecord::Start(start) => put_json(out, 1, start),
            LedgerRecord::Session(session) => put_json(out, 2, session),
            LedgerRecord::Issued {
                seq,
                first,
                count,
                fua,
            } => put(out, 3 + u8::from(*fua), &[*seq, *first, u64::from(*count)]),
            LedgerRecord::Acked { seq, at_ns } => put(out, 5, &[*seq, *at_ns]),
            LedgerRecord::FlushBegun { flush } => put(out, 6, &[*flush]),
            LedgerRecord::FlushDone { flush, at_ns } => put(out, 7, &[*flush, *at_ns]),
            LedgerRecord::Strike(strike) => put_json(out, 8, strike),
            LedgerRecord::Holds { sector, seq } => put(out, 9, &[*sector, seq.unwrap_or(NONE)]),
            LedgerRecord::Lost(loss) => put_json(out, 10, loss),
            LedgerRecord::Settled(pull) => put_json(out, 11, pull),
            LedgerRecord::End => put(out, 12, &[]),
        }
    }

    /// Every record of a frame's payload; `None` when it is not one.
    pub fn decode_all(mut bytes: &[u8]) -> Option<Vec<LedgerRecord>> {
        let mut records = Vec::new();
        while !bytes.is_empty() {
            let (record, rest) = LedgerRecord::decode(bytes)?;
            records.push(record);
            bytes = rest;
        }
        Some(records)
    }

    fn decode(bytes: &[u8]) -> Option<(LedgerRecord, &[u8])> {
        let (&kind, mut rest) = bytes.split_first()?;
        let mut next = || -> Option<u64> {
            let (number, left) = rest.split_first_chunk()?;
            rest = left;
            Some(u64::from_le_bytes(*number))
        };
        let record = match kind {
            1 | 2 | 8 | 10 | 11 => {
                let len = usize::try_from(next()?).ok()?;
                let (text, left) = rest.split_at_checked(len)?;
                return Some((LedgerRecord::from_json(kind, text)?, left));
            }
            3 | 4 => LedgerRecord::Issued {
                seq: next()?,
                first: next()?,
                count: next()?.try_into().ok()?,
                fua: kind == 4,
            },
            5 => LedgerRecord::Acked {
                seq: next()?,
                at_ns: next()?,
            },
            6 => LedgerRecord::FlushBegun { flush: next()? },
            7 => LedgerRecord::FlushDone {
                flush: next()?,
                at_ns: next()?,
            },
            9 => LedgerRecord::Holds {
                sector: next()?,
                seq: Some(next()?).filter(|&seq| seq != NONE),
            },
            12 => LedgerRecord::End,
            _ => return None,
        };
        Some((record, rest))
    }

    fn from_json(kind: u8, text: &[u8]) -> Option<LedgerRecord> {
        Some(match kind {
            1 => LedgerRecord::Start(serde_json::from_slice(text).ok()?),
            2 => LedgerRecord::Session(serde_json::from_slice(text).ok()?),
            8 => LedgerRecord::Strike(serde_json::from_slice(text).ok()?),
            10 => LedgerRecord::Lost(serde_json::from_slice(text).ok()?),
            _ => LedgerRecord::Settled(serde_json::from_slice(text).ok()?),
        })
    }
}
