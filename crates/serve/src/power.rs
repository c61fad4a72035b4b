//! The power switch of a drive, and the moments at which it can be told to open.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;

/// Before or inside the flush that a cut is aimed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlushSide {
    /// Nothing of the flush has happened.
    Before,
    /// The drive is at work on it; part may be durable. It is never acknowledged.
    Inside,
}

/// A moment at which power is cut. As JSON: one object with the one key that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CutAt {
    /// `{"flush": {"nth": 3, "side": "inside"}}`: the nth flush from now, counted from 1.
    Flush {
        /// Which, from 1.
        nth: u64,
        /// Before or inside it.
        side: FlushSide,
    },
    /// `{"nand-op": {"nth": 1000}}`: inside the nth NAND operation from now, counted from 1.
    NandOp {
        /// Which, from 1.
        nth: u64,
    },
    /// `{"write-to": {"offset": 0, "length": 4096}}`: right after a write that touches the
    /// range was done, before its acknowledgement.
    WriteTo {
        /// First byte.
        offset: u64,
        /// Bytes.
        length: u64,
    },
    /// `{"after-bytes": {"bytes": 1048576}}`: after the write with which so many bytes were
    /// written from now.
    AfterBytes {
        /// Host bytes.
        bytes: u64,
    },
    /// `{"magic": {"text": "CUT HERE"}}`: on a write whose first bytes are these. The write
    /// itself is not done.
    Magic {
        /// What the write begins with.
        text: String,
    },
}

/// What the switch says of the drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PowerStatus {
    /// Whether the power is on.
    pub powered: bool,
    /// Cuts so far.
    pub cuts: u64,
    /// Flushes completed so far.
    pub flushes: u64,
    /// Host bytes written so far.
    pub bytes_written: u64,
    /// Promises that the drive has broken so far, at all recoveries together.
    #[serde(default)]
    pub promises_broken: u64,
    /// Cuts after which it had broken some.
    #[serde(default)]
    pub cuts_with_broken: u64,
    /// NAND operations so far, if the drive has media.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nand_ops: Option<u64>,
    /// What the next cut waits for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub armed: Option<CutAt>,
    /// What caused the last cut.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_cut: Option<String>,
    /// What the last cut did in the drive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut: Option<CutNote>,
    /// Virtual time of the last recovery in ns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_ns: Option<u64>,
    /// The steps of the last recovery, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub recovery_steps: Vec<StepNote>,
    /// What the last recovery found of the data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<FoundNote>,
}

/// What a cut did in the drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CutNote {
    /// Virtual time in ns.
    pub at_ns: u64,
    /// Mapping units that were only in the controller.
    pub buffered: u64,
    /// Of these, how many a capacitor saved.
    pub saved: u64,
    /// Programs at work.
    pub torn_programs: u64,
    /// Erases at work.
    pub torn_erases: u64,
    /// Pages lost because the page above them was being programmed.
    pub lower_pages_lost: u64,
    /// Programs and erases booked that had not begun.
    pub not_begun: u64,
}

/// One step of a recovery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepNote {
    /// What it does.
    pub name: String,
    /// Reads, or mapping units moved.
    pub operations: u64,
    /// Virtual time in ns.
    pub ns: u64,
}

/// Sectors that read otherwise after a recovery than just before the cut.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundNote {
    /// They hold a value that they held before.
    pub older: u64,
    /// They hold a value that was never written there.
    pub torn: u64,
    /// They hold nothing, though they held something durable.
    pub lost: u64,
    /// Of all these, how many the drive had promised to keep.
    pub broken: u64,
    /// The first of those, at most eight: sectors of 512 bytes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub broken_sectors: Vec<u64>,
}

/// Why the switch did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PowerError {
    /// This drive cannot be cut at such a moment.
    #[error("this drive cannot be cut at {0}\nhint: `nand-op` needs a drive with media")]
    Unsupported(&'static str),
    /// A moment that can never come.
    #[error("{0}")]
    Invalid(String),
    /// The drive does not come back.
    #[error("the drive does not come back: {0}")]
    Dead(String),
    /// What holds the drive's data failed.
    #[error("{0}")]
    Broken(String),
}

/// A drive with a switch. Every call returns when it has happened.
pub trait Power: Send + Sync {
    /// Cuts the power now. Cutting a drive that is off does nothing.
    fn off(&self) -> Result<PowerStatus, PowerError>;
    /// Gives power and waits for the drive's recovery. A drive that is on stays as it is.
    fn on(&self) -> Result<PowerStatus, PowerError>;
    /// What the drive is at.
    fn status(&self) -> PowerStatus;
    /// Arms one cut in place of the one armed before; nothing disarms.
    fn cut_when(&self, at: Option<CutAt>) -> Result<PowerStatus, PowerError>;
    /// Waits until the drive has had more than `cuts` cuts; false when `at_most` has passed.
    fn wait_for_cut(&self, cuts: u64, at_most: Duration) -> bool;
}

impl CutAt {
    /// Refuses a moment that can never come.
    pub fn check(&self) -> Result<(), PowerError> {
        let wrong = match self {
            CutAt::Flush { nth: 0, .. } | CutAt::NandOp { nth: 0 } => "`nth` counts from 1",
            CutAt::WriteTo { length: 0, .. } => "`length` 0: no write touches an empty range",
            CutAt::AfterBytes { bytes: 0 } => "`bytes` 0: use `off` to cut now",
            CutAt::Magic { text } if text.is_empty() => "`text` is empty: every write begins so",
            _ => return Ok(()),
        };
        Err(PowerError::Invalid(wrong.to_string()))
    }
}

/// Decides, command by command, whether the armed moment has come. A drive calls it at the
/// points named; every method returns true exactly once per arming and disarms by that.
#[derive(Debug, Default)]
pub struct CutTrigger {
    armed: Option<CutAt>,
    seen: u64,
}

impl CutTrigger {
    /// Arms `at`, counting from now.
    pub fn arm(&mut self, at: Option<CutAt>) {
        self.armed = at;
        self.seen = 0;
    }

    /// What is armed.
    pub fn armed(&self) -> Option<&CutAt> {
        self.armed.as_ref()
    }

    fn fire(&mut self, now: bool) -> bool {
        if now {
            self.armed = None;
        }
        now
    }

    fn count(&mut self, step: u64, until: u64) -> bool {
        self.seen = self.seen.saturating_add(step);
        self.fire(self.seen >= until)
    }

    /// A flush is about to begin: cut on which side of it, if at all?
    pub fn at_flush(&mut self) -> Option<FlushSide> {
        let Some(CutAt::Flush { nth, side }) = self.armed else {
            return None;
        };
        self.count(1, nth).then_some(side)
    }

    /// One NAND operation is about to begin: cut inside it?
    pub fn at_nand_op(&mut self) -> bool {
        match self.armed {
            Some(CutAt::NandOp { nth }) => self.count(1, nth),
            _ => false,
        }
    }

    /// A write is about to begin: cut instead?
    pub fn before_write(&mut self, from: &[u8]) -> bool {
        let magic = match &self.armed {
            Some(CutAt::Magic { text }) => from.starts_with(text.as_bytes()),
            _ => return false,
        };
        self.fire(magic)
    }

    /// A write was done and not yet acknowledged: cut now?
    pub fn after_write(&mut self, offset: u64, length: u64) -> bool {
        match self.armed {
            Some(CutAt::WriteTo {
                offset: o,
                length: l,
            }) => {
                let touches = offset < o.saturating_add(l) && o < offset.saturating_add(length);
                self.fire(touches)
            }
            Some(CutAt::AfterBytes { bytes }) => self.count(length, bytes),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_moment_comes_once() {
        let mut trigger = CutTrigger::default();
        trigger.arm(Some(CutAt::Flush {
            nth: 2,
            side: FlushSide::Inside,
        }));
        assert_eq!(trigger.at_flush(), None);
        assert!(!trigger.before_write(b"x") && !trigger.after_write(0, 9) && !trigger.at_nand_op());
        assert_eq!(trigger.at_flush(), Some(FlushSide::Inside));
        assert_eq!((trigger.at_flush(), trigger.armed()), (None, None));
        trigger.arm(Some(CutAt::WriteTo {
            offset: 10,
            length: 5,
        }));
        assert!(!trigger.after_write(0, 10) && !trigger.after_write(15, 10));
        assert!(trigger.after_write(14, 1) && !trigger.after_write(14, 1));
        trigger.arm(Some(CutAt::AfterBytes { bytes: 100 }));
        assert!(!trigger.after_write(0, 99) && trigger.after_write(0, 1));
        trigger.arm(Some(CutAt::Magic { text: "CUT".into() }));
        assert!(!trigger.before_write(b"CU") && trigger.before_write(b"CUT it"));
        trigger.arm(Some(CutAt::NandOp { nth: 1 }));
        assert!(trigger.at_nand_op() && !trigger.at_nand_op());
    }

    #[test]
    fn a_moment_that_never_comes_is_refused() {
        let side = FlushSide::Before;
        assert!(CutAt::Flush { nth: 0, side }.check().is_err());
        assert!(
            CutAt::Magic {
                text: String::new()
            }
            .check()
            .is_err()
        );
        assert!(CutAt::Flush { nth: 1, side }.check().is_ok());
    }
}
