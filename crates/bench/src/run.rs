//! A whole run as one call: open the target, prepare it, run the plan, keep the results.

use crate::device::Needs;
use crate::device::named::{OpenTarget, TARGET_HINT, TargetName};
use crate::engine::{LoggedCommand, Observer};
use crate::export::CommandLogs;
use crate::finished::FinishedRun;
use crate::layout::FileLayout;
use crate::record::{RunEnding, Second};
use crate::request::jobs;
use crate::run_dir::{RunHeader, RunResult, RunWriter, write_columns};
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_load::plan::{JobSpec, PlanPhase, WorkloadPlan};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

pub use crate::request::RunRequest;

/// Length of a round of the steady-state test: SNIA PTS says one minute.
const ROUND_S: usize = 60;

/// Sees a run as it happens.
pub trait RunProgress: Observer {
    /// A part of the run begins: its title and its expected time on the target's clock in s; 0:
    /// not known.
    fn begins(&mut self, title: &str, expected_s: f64);

    /// A new file is being filled: bytes written, and their total.
    fn filling(&mut self, file: &Path, done: u64, total: u64);
}

/// Keeps each second in the run directory and shows it.
struct RunDirObserver<'a> {
    shown: &'a mut dyn RunProgress,
    writer: &'a mut RunWriter,
    logs: CommandLogs,
}

impl Observer for RunDirObserver<'_> {
    fn second(&mut self, second: &Second, latencies: &[Latencies]) -> Result<(), LabError> {
        self.shown.second(second, latencies)?;
        self.writer.second(second, latencies)
    }

    fn commands(&mut self, commands: &[LoggedCommand]) -> Result<(), LabError> {
        self.logs.append(commands)
    }
}

/// Carries out `request`. The run directory has every second as it is measured, and the results,
/// exports and page at the end.
///
/// # Errors
/// When the target cannot be opened, the plan does not fit it, or results cannot be written.
pub fn run(
    request: &RunRequest,
    progress: &mut dyn RunProgress,
    stop: &AtomicBool,
) -> Result<FinishedRun, LabError> {
    let plan = &request.plan;
    let name = match &request.target {
        Some(name) => name.clone(),
        None => target_of(plan)?,
    };
    let mut needs = Needs::of(plan)?;
    let fill_block = fill_block(&name, needs.depth);
    if request.fill.is_some() {
        needs.fill(fill_block);
    }
    let mut target = open(request, &name, &needs, progress, stop)?;
    target.check(plan)?;
    let seed = jobs(plan).next().map_or(0, |job| job.seed);
    let (started_at, arguments) = (&request.started_at, &request.arguments);
    let header = RunHeader::new(plan, target.facts(), seed, started_at, arguments)?;
    let mut writer = RunWriter::create(&request.directory, &header, request.existing)?;
    let logs = CommandLogs::create(plan, &request.directory)?;
    let layout = prepare(request, fill_block, &mut target, progress, stop)?;
    progress.begins(&request.label, expected_s(plan));
    let mut watch = RunDirObserver {
        shown: progress,
        writer: &mut writer,
        logs,
    };
    let record = target.run(plan, &mut watch, stop)?;
    let result = RunResult::new(plan, &record, ROUND_S);
    writer.finish(&result)?;
    write_columns(&request.directory)?;
    let finished = FinishedRun::new(request, &layout, record, result, target.rests_on());
    finished.write(&request.directory)?;
    Ok(finished)
}

fn open(
    request: &RunRequest,
    name: &TargetName,
    needs: &Needs,
    progress: &mut dyn RunProgress,
    stop: &AtomicBool,
) -> Result<OpenTarget, LabError> {
    let file = match name {
        TargetName::Path(path) => path.as_path(),
        TargetName::Drive(_) | TargetName::Volume(_) | TargetName::Null(_) => Path::new(""),
    };
    let mut filling = |filled, total| progress.filling(file, filled, total);
    OpenTarget::open(name, needs, &request.open, request.kept, &mut filling, stop)
}

/// The target that the jobs of a plan name.
fn target_of(plan: &WorkloadPlan) -> Result<TargetName, LabError> {
    if jobs(plan).any(|job| job.steps.several_files) {
        return Err(LabError::refused(
            "the workload uses several files, which lie on one target here",
            "choose a drive or a device that holds them all with --target",
        ));
    }
    let mut names: Vec<&str> = jobs(plan).filter_map(|job| job.target.as_deref()).collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [one] => TargetName::parse(one),
        [] => Err(LabError::refused(
            "the workload names no target",
            format!("add filename= to the job file, or --target; {TARGET_HINT}"),
        )),
        _ => Err(LabError::refused(
            format!("the workload names several targets: {}", names.join(", ")),
            "one run has one target here; choose it with --target",
        )),
    }
}

/// Bytes of each write that fills a target whose buffers are for `depth` commands: 1 MiB on a
/// model; on a real target as much, unless such buffers would take over 64 MiB together or the
/// drive takes less.
fn fill_block(name: &TargetName, depth: u32) -> u32 {
    const BLOCK: u64 = 1 << 20;
    const BUFFERS: u64 = 64 << 20;
    if !matches!(name, TargetName::Path(_)) {
        return BLOCK as u32;
    }
    let buffer = BUFFERS / u64::from(depth.max(1));
    let most = BLOCK.min(buffer).min(name.len_max().unwrap_or(BLOCK));
    1 << most.max(4096).ilog2()
}

/// Fills the target or lays out the files, and leaves it idle, as requested.
fn prepare(
    request: &RunRequest,
    fill_block: u32,
    target: &mut OpenTarget,
    progress: &mut dyn RunProgress,
    stop: &AtomicBool,
) -> Result<FileLayout, LabError> {
    let capacity = target.facts().capacity;
    let layout = match target {
        OpenTarget::Modelled(drive, _) if request.layout && !drive.is_kept() => {
            FileLayout::of(&request.plan, capacity)?
        }
        _ => FileLayout::default(),
    };
    if let Some(percent) = request.fill {
        let bytes = u128::from(capacity) * u128::from(percent) / 100;
        let plan = WorkloadPlan::fill_by(u64::try_from(bytes).unwrap_or(u64::MAX), fill_block);
        let title = format!("writing front to back, {percent} %");
        write_first(&plan, &title, target, progress, stop)?;
    } else if !layout.is_empty() {
        write_first(&layout.plan(), "writing the files", target, progress, stop)?;
    }
    match request.idle {
        Some(time) if !stop.load(Ordering::Relaxed) => target.idle(time)?,
        _ => {}
    }
    Ok(match request.fill {
        Some(_) => FileLayout::default(),
        None => layout,
    })
}

fn write_first(
    plan: &WorkloadPlan,
    title: &str,
    target: &mut OpenTarget,
    progress: &mut dyn RunProgress,
    stop: &AtomicBool,
) -> Result<(), LabError> {
    target.check(plan)?;
    progress.begins(title, 0.0);
    let record = target.run(plan, progress, stop)?;
    match record.ending {
        RunEnding::Failed(why) => Err(LabError::refused(
            format!("while filling the target: {why}"),
            "",
        )),
        RunEnding::Complete | RunEnding::Interrupted => Ok(()),
    }
}

/// Seconds of the target's clock that the plan takes, where time bounds it.
fn expected_s(plan: &WorkloadPlan) -> f64 {
    let duration_s = |job: &JobSpec| {
        let replay = job.replay.as_ref();
        let recorded = replay.and_then(|r| Some(r.survey.span_ns as f64 / 1e9 / r.speed?));
        let run = job.time.run.unwrap_or_default();
        (job.time.delay + job.time.ramp + run + job.time.cool_down).as_secs_f64()
            + recorded.unwrap_or(0.0)
    };
    let phase = |phase: &PlanPhase| phase.jobs.iter().map(duration_s).fold(0.0, f64::max);
    plan.phases.iter().map(phase).sum()
}

#[cfg(test)]
mod tests {
    use super::target_of;
    use ssdlab_load::fio;

    /// One file would be written far beyond itself, were it taken for the several of a job.
    #[test]
    fn a_plan_with_several_files_names_no_target() {
        let target = |text: &str| target_of(&fio::parse(text, "job.fio").unwrap());
        assert!(target("[j]\nfilename=data/a\nsize=1m\nnumjobs=2").is_ok());
        assert!(target("[j]\ndirectory=data\nsize=1m").is_ok());
        for several in [
            "[j]\ndirectory=data\nsize=1m\nnumjobs=2",
            "[j]\nfilename=data/a:data/b\nsize=1m",
            "[j]\nnrfiles=2\nsize=1m",
        ] {
            let error = target(several).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains("several files"), "{several}: {error}");
        }
        let two = target("[a]\nfilename=data/a\nsize=1m\n[b]\nfilename=data/b\nsize=1m");
        assert!(
            two.map(|_| ())
                .unwrap_err()
                .to_string()
                .contains("several targets")
        );
    }
}
