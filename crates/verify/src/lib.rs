#![doc = include_str!("../README.md")]

mod checksum;
mod findings;
mod header;
mod job;
mod options;
mod progress;
mod random;
mod run;
mod state;
mod state_file;
mod writes;

pub use checksum::BlockChecksum;
pub use findings::{BrokenBlock, ContractFindings, FoundBlock, RuleFindings, VerifyFindings};
pub use header::{VerifyHeader, WriteTime};
pub use job::{FioFormat, VerifiedJob, VerifyPolicy};
pub use progress::WriteProgress;
pub use run::{RunEnd, VerifyTarget, run};
pub use state::{NewestWrites, VerifyState};
pub use state_file::{read_state, state_path, write_state};
pub use writes::{JobWrite, JobWrites};
