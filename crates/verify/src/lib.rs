#![doc = include_str!("../README.md")]

mod block;
mod checksum;
mod crc;
mod digest;
mod findings;
mod fio_rule;
mod format;
mod header;
mod job;
mod options;
mod pattern;
mod progress;
mod random;
mod run;
mod state;
mod state_file;
mod verdicts;
mod writes;

pub use checksum::BlockChecksum;
pub use findings::{BrokenBlock, ContractFindings, FoundBlock, VerifyFindings};
pub use fio_rule::RuleFindings;
pub use format::FioFormat;
pub use header::{VerifyHeader, WriteTime};
pub use job::{VerifiedJob, VerifyPolicy};
pub use pattern::VerifyPattern;
pub use progress::WriteProgress;
pub use run::{RunEnd, VerifyTarget, run};
pub use state::{NewestWrites, VerifyState};
pub use state_file::{read_state, state_path, write_state};
pub use verdicts::{RuleCounts, RuleVerdict, VerifyVerdicts};
pub use writes::{JobWrite, JobWrites};
