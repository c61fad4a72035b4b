//! What can be said about one measure, and how it is said.

use super::names;
use super::roles::DurableMethod;
use ssdlab_bench::device::health::Grade;

/// What the evidence says about a measure.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// A number in the measure's unit.
    Number {
        /// The number.
        value: f64,
        /// How it is known.
        grade: Grade,
        /// One sentence with what it rests on.
        why: String,
    },
    /// Something that holds or does not.
    Fact {
        /// Whether it holds.
        holds: bool,
        /// How it is known.
        grade: Grade,
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
        /// [`Grade::Behavioural`] when something was measured that bears on it without deciding.
        grade: Grade,
        /// One sentence: what is missing.
        why: String,
    },
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

pub(super) fn number(value: f64, why: String) -> Reading {
    if !value.is_finite() {
        return unknown("the measurement gave no usable number".into());
    }
    Reading::Number {
        value,
        grade: Grade::Behavioural,
        why,
    }
}

pub(super) fn unknown(why: String) -> Reading {
    Reading::Unknown {
        grade: Grade::None,
        why,
    }
}

pub(super) fn not_measured(what: &str) -> Reading {
    unknown(format!("{what} was not measured"))
}
