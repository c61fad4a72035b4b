//! The power switch of a drive, and the moments at which it can cut the power.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;

/// The side of a flush on which a cut falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlushSide {
    /// Before the flush has begun.
    Before,
    /// During the flush: part of it may be durable, and it is never acknowledged.
    Inside,
}

/// A moment at which power is cut. As JSON: an object whose only key names the kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CutMoment {
    /// `{"flush": {"nth": 3, "side": "inside"}}`: the nth flush from now, counted from 1.
    Flush {
        /// Ordinal, from 1.
        nth: u64,
        /// Side of the flush.
        side: FlushSide,
    },
    /// `{"nand-op": {"nth": 1000}}`: inside the nth NAND operation from now, counted from 1.
    NandOp {
        /// Ordinal, from 1.
        nth: u64,
    },
    /// `{"write-to": {"offset": 0, "length": 4096}}`: after a write that touches the range,
    /// before its acknowledgement.
    WriteTo {
        /// First byte of the range.
        offset: u64,
        /// Length of the range in bytes.
        length: u64,
    },
    /// `{"after-bytes": {"bytes": 1048576}}`: once the host has written that many more bytes,
    /// before the last write is acknowledged.
    AfterBytes {
        /// Number of host bytes.
        bytes: u64,
    },
    /// `{"magic": {"text": "CUT HERE"}}`: at a write that begins with the text. The write
    /// itself does not happen.
    Magic {
        /// Text at the beginning of the write.
        text: String,
    },
}

/// Status of a drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct PowerStatus {
    /// Whether the power is on.
    pub powered: bool,
    /// Why nothing is acknowledged, if so: what holds the data cannot be written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trouble: Option<String>,
    /// Number of cuts so far.
    pub cuts: u64,
    /// Number of flushes completed so far.
    pub flushes: u64,
    /// Host bytes written so far.
    pub bytes_written: u64,
    /// Number of promises broken so far, over all recoveries.
    #[serde(default)]
    pub promises_broken: u64,
    /// Number of cuts after which some promise was broken.
    #[serde(default)]
    pub cuts_with_broken: u64,
    /// Number of NAND operations so far, if the drive has media.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nand_ops: Option<u64>,
    /// The armed cut.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub armed: Option<CutMoment>,
    /// Cause of the last cut.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_cut: Option<String>,
    /// Effect of the last cut in the drive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cut: Option<CutNote>,
    /// Virtual time of the last recovery in ns.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub recovery_ns: Option<u64>,
    /// The steps of the last recovery, in order.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub recovery_steps: Vec<StepNote>,
    /// State of the data after the last recovery.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub found: Option<SectorDiffNote>,
}

/// Effect of a cut in the drive.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct CutNote {
    /// Virtual time in ns.
    pub at_ns: u64,
    /// Number of mapping units that only the controller held.
    pub buffered: u64,
    /// Number of these that the capacitors saved.
    pub saved: u64,
    /// Number of interrupted programs.
    pub torn_programs: u64,
    /// Number of interrupted erases.
    pub torn_erases: u64,
    /// Number of lower pages lost because the program of their upper page was interrupted.
    pub lower_pages_lost: u64,
    /// Number of scheduled programs and erases that had not begun.
    pub not_begun: u64,
}

/// One step of a recovery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct StepNote {
    /// Name of the step.
    pub name: String,
    /// Number of reads, or of mapping units moved.
    pub operations: u64,
    /// Virtual time in ns.
    pub ns: u64,
}

/// Numbers of sectors whose value after a recovery differs from the value before the cut.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct SectorDiffNote {
    /// Sectors that hold one of their earlier values.
    pub older: u64,
    /// Sectors that hold a value never written there.
    pub torn: u64,
    /// Sectors that hold nothing although they held a durable value.
    pub lost: u64,
    /// Sectors among all these whose value the drive had promised to keep.
    pub broken: u64,
    /// Numbers of the first of those, at most eight, in units of 512 bytes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    #[schemars(length(max = 8))]
    pub broken_sectors: Vec<u64>,
}

/// The reason why the switch refused or failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PowerError {
    /// The drive does not support a cut at this moment.
    #[error("this drive cannot be cut at {0}\nhint: `nand-op` needs a drive with media")]
    Unsupported(&'static str),
    /// A moment that never comes.
    #[error("{0}")]
    Invalid(String),
    /// The drive does not recover.
    #[error("the drive does not come back: {0}")]
    Dead(String),
    /// The storage that holds the drive's data failed.
    #[error("{0}")]
    Broken(String),
}

/// A drive with a power switch. Every call returns when it has taken effect.
pub trait PowerControl: Send + Sync {
    /// Cuts the power now. Has no effect on a drive that is off.
    fn off(&self) -> Result<PowerStatus, PowerError>;
    /// Restores the power and waits for the drive's recovery. Has no effect on a drive that is on.
    fn on(&self) -> Result<PowerStatus, PowerError>;
    /// The status of the drive.
    fn status(&self) -> PowerStatus;
    /// Arms a cut in place of the one armed before; `None` disarms.
    fn cut_when(&self, at: Option<CutMoment>) -> Result<PowerStatus, PowerError>;
    /// Waits until the drive has had more than `cuts` cuts; returns false after `at_most`.
    fn wait_for_cut(&self, cuts: u64, at_most: Duration) -> bool;
}

impl CutMoment {
    /// Refuses a moment that never comes.
    ///
    /// # Errors
    /// [`PowerError::Invalid`], with the reason.
    pub fn check(&self) -> Result<(), PowerError> {
        let wrong = match self {
            CutMoment::Flush { nth: 0, .. } | CutMoment::NandOp { nth: 0 } => "`nth` counts from 1",
            CutMoment::WriteTo { length: 0, .. } => "`length` 0: no write touches an empty range",
            CutMoment::AfterBytes { bytes: 0 } => "`bytes` 0: use `off` to cut now",
            CutMoment::Magic { text } if text.is_empty() => {
                "`text` is empty: every write begins so"
            }
            _ => return Ok(()),
        };
        Err(PowerError::Invalid(wrong.to_string()))
    }
}

/// Decides, command by command, whether the armed moment has come. The drive calls the method
/// named after each point; a method that fires disarms the trigger.
#[derive(Debug, Default)]
pub struct CutTrigger {
    armed: Option<CutMoment>,
    seen: u64,
}

impl CutTrigger {
    /// Arms `at`, counting from now.
    pub fn arm(&mut self, at: Option<CutMoment>) {
        self.armed = at;
        self.seen = 0;
    }

    /// The armed cut.
    pub fn armed(&self) -> Option<&CutMoment> {
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

    /// A flush is about to begin: the side on which to cut, if at all.
    pub fn at_flush(&mut self) -> Option<FlushSide> {
        let Some(CutMoment::Flush { nth, side }) = self.armed else {
            return None;
        };
        self.count(1, nth).then_some(side)
    }

    /// A NAND operation is about to begin: whether to cut inside it.
    pub fn at_nand_op(&mut self) -> bool {
        match self.armed {
            Some(CutMoment::NandOp { nth }) => self.count(1, nth),
            _ => false,
        }
    }

    /// A write is about to begin: whether to cut instead.
    pub fn before_write(&mut self, from: &[u8]) -> bool {
        let magic = match &self.armed {
            Some(CutMoment::Magic { text }) => from.starts_with(text.as_bytes()),
            _ => return false,
        };
        self.fire(magic)
    }

    /// A write is complete and not yet acknowledged: whether to cut now.
    pub fn after_write(&mut self, offset: u64, length: u64) -> bool {
        match self.armed {
            Some(CutMoment::WriteTo {
                offset: o,
                length: l,
            }) => {
                let touches = offset < o.saturating_add(l) && o < offset.saturating_add(length);
                self.fire(touches)
            }
            Some(CutMoment::AfterBytes { bytes }) => self.count(length, bytes),
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
        trigger.arm(Some(CutMoment::Flush {
            nth: 2,
            side: FlushSide::Inside,
        }));
        assert_eq!(trigger.at_flush(), None);
        assert!(!trigger.before_write(b"x") && !trigger.after_write(0, 9) && !trigger.at_nand_op());
        assert_eq!(trigger.at_flush(), Some(FlushSide::Inside));
        assert_eq!((trigger.at_flush(), trigger.armed()), (None, None));
        trigger.arm(Some(CutMoment::WriteTo {
            offset: 10,
            length: 5,
        }));
        assert!(!trigger.after_write(0, 10) && !trigger.after_write(15, 10));
        assert!(trigger.after_write(14, 1) && !trigger.after_write(14, 1));
        trigger.arm(Some(CutMoment::AfterBytes { bytes: 100 }));
        assert!(!trigger.after_write(0, 99) && trigger.after_write(0, 1));
        trigger.arm(Some(CutMoment::Magic { text: "CUT".into() }));
        assert!(!trigger.before_write(b"CU") && trigger.before_write(b"CUT it"));
        trigger.arm(Some(CutMoment::NandOp { nth: 1 }));
        assert!(trigger.at_nand_op() && !trigger.at_nand_op());
    }

    #[test]
    fn a_moment_that_never_comes_is_refused() {
        let side = FlushSide::Before;
        assert!(CutMoment::Flush { nth: 0, side }.check().is_err());
        assert!(
            CutMoment::Magic {
                text: String::new()
            }
            .check()
            .is_err()
        );
        assert!(CutMoment::Flush { nth: 1, side }.check().is_ok());
    }
}
