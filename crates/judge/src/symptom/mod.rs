//! "It is slow: what gives?", asked with a symptom and answered about it.
//!
//! A user does not say which load is slow, but what was noticed: a [`Symptom`]. Each has loads of
//! its own, under which a model is taken apart ([`of_model`]) or by whose experiments a real drive
//! is judged ([`of_investigation`]). The answer separates what is normal for drives of this kind
//! from what is not, names the cause with the figure that shows it, and says what to do.

mod answer;
mod kind;
mod measured;
mod model;
pub mod planted;
mod show;

pub use answer::{SymptomAnswer, SymptomCause, SymptomFigure, SymptomOutcome};
pub use kind::{DriveKind, SheetFigures};
pub use measured::of_investigation;
pub use model::{fresh, of_model, rested};
pub use show::{answer, beside, evidence, outcome};

use crate::ablate::AblationLoad;
use crate::cause::Cause;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;

/// What a user notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symptom {
    /// Durable writes are slow.
    SlowDurableWrites,
    /// Writes slow down after a while.
    SlowsDown,
    /// Reads are slow.
    SlowReads,
    /// Most commands are fast, and some take long.
    Spikes,
    /// It is slower than its data sheet.
    SlowerThanSheet,
    /// It is slower than it was.
    SlowerThanBefore,
}

impl Symptom {
    /// All of them, in the order of the question.
    pub const ALL: [Symptom; 6] = [
        Symptom::SlowDurableWrites,
        Symptom::SlowsDown,
        Symptom::SlowReads,
        Symptom::Spikes,
        Symptom::SlowerThanSheet,
        Symptom::SlowerThanBefore,
    ];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Symptom::SlowDurableWrites => "slow-durable-writes",
            Symptom::SlowsDown => "slows-down",
            Symptom::SlowReads => "slow-reads",
            Symptom::Spikes => "spikes",
            Symptom::SlowerThanSheet => "slower-than-sheet",
            Symptom::SlowerThanBefore => "slower-than-before",
        }
    }

    /// In a user's words.
    pub fn words(self) -> &'static str {
        match self {
            Symptom::SlowDurableWrites => "durable writes are slow (fsync, databases)",
            Symptom::SlowsDown => "it is fast at first and slows down after a while",
            Symptom::SlowReads => "reads are slow",
            Symptom::Spikes => "mostly fast, but some commands take very long",
            Symptom::SlowerThanSheet => "it is slower than its data sheet says",
            Symptom::SlowerThanBefore => "it is slower than it was",
        }
    }

    /// The symptom of a name.
    ///
    /// # Errors
    /// When there is no such symptom.
    pub fn parse(name: &str) -> Result<Symptom, LabError> {
        let found = Symptom::ALL
            .into_iter()
            .find(|symptom| symptom.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Symptom::ALL.iter().map(|symptom| symptom.name()).collect();
            LabError::refused(
                format!("there is no symptom `{name}`"),
                format!("choose one of {}", names.join(", ")),
            )
        })
    }

    /// The loads under which it shows.
    pub fn loads(self) -> &'static [AblationLoad] {
        match self {
            Symptom::SlowDurableWrites => &[AblationLoad::DurableWrite],
            Symptom::SlowsDown => &[AblationLoad::RandomWrite, AblationLoad::SequentialWrite],
            Symptom::SlowReads => &[
                AblationLoad::ReadLatency,
                AblationLoad::RandomRead,
                AblationLoad::SequentialRead,
            ],
            Symptom::Spikes => &[AblationLoad::ReadTail, AblationLoad::WriteSlowest],
            Symptom::SlowerThanSheet => &[
                AblationLoad::RandomRead,
                AblationLoad::RandomWrite,
                AblationLoad::SequentialRead,
                AblationLoad::SequentialWrite,
            ],
            Symptom::SlowerThanBefore => &[
                AblationLoad::RandomWrite,
                AblationLoad::RandomRead,
                AblationLoad::ReadLatency,
                AblationLoad::SequentialWrite,
                AblationLoad::SequentialRead,
            ],
        }
    }

    /// Whether a cause can be that of this symptom.
    pub fn can_come_from(self, cause: Cause) -> bool {
        use Cause::{DoubledFlushes, HostPauses, VolatileBuffer};
        match self {
            _ if matches!(cause, HostPauses | DoubledFlushes) => false,
            Symptom::SlowDurableWrites => true,
            Symptom::SlowsDown
            | Symptom::SlowReads
            | Symptom::Spikes
            | Symptom::SlowerThanSheet => cause != VolatileBuffer,
            Symptom::SlowerThanBefore => cause.can_develop(),
        }
    }

    /// Whether it is asked about a drive at rest; else about one under a load that goes on.
    pub fn is_at_rest(self) -> bool {
        matches!(self, Symptom::SlowDurableWrites | Symptom::SlowReads)
    }

    /// Whether it is a change, seen beside the drive when it was new.
    pub fn is_change(self) -> bool {
        matches!(self, Symptom::SlowsDown | Symptom::SlowerThanBefore)
    }
}

#[cfg(test)]
mod tests;
