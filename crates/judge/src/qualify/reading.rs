//! What can be said about one measure, and how it is said.

use super::names;
use super::roles::DurableMethod;
use ssdlab_bench::device::health::EvidenceGrade;

/// What the evidence says about a measure.
#[derive(Clone, Debug, PartialEq)]
pub enum MeasureReading {
    /// A number in the measure's unit.
    Number {
        /// The number.
        value: f64,
        /// How it is known.
        grade: EvidenceGrade,
        /// One sentence with what it rests on.
        why: String,
    },
    /// Something that holds or does not.
    Fact {
        /// Whether it holds.
        holds: bool,
        /// How it is known.
        grade: EvidenceGrade,
        /// One sentence with what it rests on.
        why: String,
    },
    /// A number from a run that time ended too early: it can miss a limit, not meet it.
    Partial {
        /// The number so far.
        value: f64,
        /// One sentence with what it rests on, and one with what is missing.
        why: String,
    },
    /// A number of a drive that never settles: what it was after the longest published run, and
    /// what it fell to before it was given up. It can miss a limit by either, and not meet it.
    Falling {
        /// After 80 minutes.
        value: f64,
        /// The last one seen.
        last: f64,
        /// One sentence with what it rests on, and one that it does not settle.
        why: String,
    },
    /// The evidence does not tell.
    Unknown {
        /// [`EvidenceGrade::Behavioural`] when something was measured that bears on it without
        /// deciding.
        grade: EvidenceGrade,
        /// One sentence: what is missing.
        why: String,
    },
}

impl MeasureReading {
    /// Its number, where it has one; of a drive that never settles the last.
    pub fn amount(&self) -> Option<f64> {
        match self {
            MeasureReading::Number { value, .. } | MeasureReading::Partial { value, .. } => {
                Some(*value)
            }
            MeasureReading::Falling { last, .. } => Some(*last),
            MeasureReading::Fact { .. } | MeasureReading::Unknown { .. } => None,
        }
    }
}

impl DurableMethod {
    /// The probe that measures it.
    pub const fn probe(self) -> &'static str {
        match self {
            DurableMethod::Fua => names::FUA,
            DurableMethod::WriteFlush => names::WRITE_FLUSH,
        }
    }

    /// As said in a sentence.
    pub const fn says(self) -> &'static str {
        match self {
            DurableMethod::Fua => "written through",
            DurableMethod::WriteFlush => "write, then flush",
        }
    }
}

pub(super) fn number(value: f64, why: String) -> MeasureReading {
    if !value.is_finite() {
        return unknown("the measurement gave no usable number".into());
    }
    MeasureReading::Number {
        value,
        grade: EvidenceGrade::Behavioural,
        why,
    }
}

pub(super) fn unknown(why: String) -> MeasureReading {
    MeasureReading::Unknown {
        grade: EvidenceGrade::None,
        why,
    }
}

pub(super) fn not_measured(what: &str) -> MeasureReading {
    unknown(format!("{what} was not measured"))
}
