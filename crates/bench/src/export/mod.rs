//! Results in the formats of other tools, so that their users can keep their plots and scripts.

mod diskspd_spans;
pub mod diskspd_text;
pub mod diskspd_xml;
pub mod fio_command_log;
mod fio_json;
pub mod fio_log;
pub mod openmetrics;

pub use diskspd_spans::DiskspdMachine;
pub use diskspd_text::diskspd_text;
pub use diskspd_xml::diskspd_xml;
pub use fio_command_log::CommandLogs;
pub use fio_json::fio_json;
pub use fio_log::{LogFile, asked_logs, fio_logs, logs_of_seconds};

use crate::record::JobRecord;
use ssdlab_load::plan::{JobSpec, WorkloadPlan};

/// The description of a recorded job; `None` when the record is not of this plan.
fn spec_of<'a>(plan: &'a WorkloadPlan, job: &JobRecord) -> Option<&'a JobSpec> {
    plan.phases.get(job.phase)?.jobs.get(job.job)
}
