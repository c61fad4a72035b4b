//! Properties that the targets for workload languages share.

use ssdlab_base::LabError;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_load::stream::JobStream;

/// Size of the drive on which plans are tried, in bytes.
const DRIVE_BYTES: u64 = 1 << 30;
/// Number of commands taken of each job.
const COMMANDS: usize = 64;

/// The first commands of every job lie on the drive and have a length.
pub fn check_commands(plan: &WorkloadPlan) {
    for job in plan.phases.iter().flat_map(|phase| &phase.jobs).take(8) {
        let _ = job.what();
        for copy in [0, job.copies.saturating_sub(1)] {
            let Ok(mut stream) = JobStream::new(job, copy, DRIVE_BYTES) else {
                continue;
            };
            for _ in 0..COMMANDS {
                let Some(command) = stream.next_command() else {
                    break;
                };
                let end = command.offset.checked_add(command.len.into());
                assert!(
                    end.is_some_and(|end| end <= DRIVE_BYTES),
                    "{command:?}: {job:?}"
                );
                let is_flush = command.op == ssdlab_load::trace::Op::Flush;
                assert_eq!(command.len == 0, is_flush, "{command:?}");
            }
        }
    }
}

/// A refusal names `source` and fits on a page.
pub fn check_refusal(error: &LabError, source: &str) {
    let text = error.to_string();
    assert!(text.contains(source), "no place: {text}");
}
