//! Is this drive a good choice for a role, and if it is slow, what gives?
//!
//! Procedures measure [`Evidence`] on any target; a role's requirements (`roles/`, each with
//! its citation) are held against it and give a [`RoleVerdict`].

mod account;
pub mod by_others;
pub mod compare;
mod cuts;
pub mod draws;
pub mod ensemble;
pub mod evidence;
pub mod files;
pub mod kept_ensembles;
mod later;
pub mod laws;
pub mod loads;
pub mod mechanisms;
pub mod metrics;
pub mod names;
pub mod next_step;
#[cfg(test)]
mod next_step_tests;
pub mod overwrite;
pub mod plan;
pub mod procedures;
mod ratings;
pub mod readings;
pub mod references;
pub mod roles;
pub mod states;
pub mod terminal;
pub mod verdict;

mod extract;
#[cfg(test)]
pub(crate) mod fixtures;
mod health;
#[cfg(test)]
mod mechanism_tests;
mod plans;
#[cfg(test)]
mod procedure_tests;
mod reading;

mod settings;
mod show;
mod steps;
mod sustained;
#[cfg(test)]
mod verdict_tests;
mod weigh;

pub use later::LaterStates;
pub use loads::UsedRun;
pub use mechanisms::explain;
pub use next_step::{MissingEvidence, OpenQuestion};
pub use overwrite::{DurableRun, Overwrite};
pub use plan::{QualifyPlan, qualify};
pub use procedures::{QualifyProgress, QualifyStep, SilentProgress, measure};
pub use references::{ReferenceSelection, references};
pub use roles::{MeasureUnit, QualifyMeasure, Requirement, Role, role, roles};
pub use settings::{Precondition, QualifyProfile, QualifySettings};
pub use ssdlab_bench::device::health::EvidenceGrade;
pub use verdict::judge;

pub use evidence::{
    Assessment, Evidence, FlushPoint, Mechanism, Qualification, QualifyOutcome, RoleFinding,
    RoleVerdict, SustainedRun, WriteProbe,
};
