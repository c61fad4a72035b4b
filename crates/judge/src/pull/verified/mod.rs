//! Pulls under a fio job with `verify=`: its writes in fio's format, fio's state file of how far
//! they came, and after the pull a check by fio's rules and by the contract.
//!
//! ```text
//! STATES/pull-0001/local-JOB-0-verify.state   how far the job had come when the target went away
//! STATES/pull-0001/verify.fio                 `fio verify.fio`, run there, gives fio's verdict
//! ```
//!
//! Before each pull the job's range is zeroed, and each pull has its own seed, so that no block of
//! an earlier one passes for one of this. Left out: a ledger of pulls, and with it the PASS of
//! `pull run`; runs that a kill of this process ended.

mod look;
mod record;
mod write;

pub use look::{FioLookPlan, look};
pub use record::{FioPull, FioPullRecord};
pub use write::FioPullEvent;

use super::switch::PullSwitch;
use super::target::{reopen, start_of};
use crate::pull::PullTestSetup;
use ssdlab_base::LabError;
use ssdlab_bench::device::OpenOptions;
use ssdlab_bench::device::direct::{DirectBuffer, DirectFile};
use ssdlab_verify::{
    VerifiedJob, VerifyFindings, VerifyState, VerifyVerdicts, WriteProgress, write_state,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use write::{CutWrites, WriterLimits, write_until_cut};

/// Bytes that are zeroed at once.
const ZERO_BYTES: u64 = 1 << 20;

/// What to test, and how.
#[derive(Clone, Debug)]
pub struct FioPullPlan {
    /// A file or a block device.
    pub target: PathBuf,
    /// The job.
    pub job: VerifiedJob,
    /// Where fio's states go: not on the target.
    pub states: PathBuf,
    /// Leave to write.
    pub open: OpenOptions,
    /// Who takes the power away.
    pub switch: PullSwitch,
    /// Number of pulls.
    pub pulls: u32,
    /// Go on after a broken promise.
    pub keep_going: bool,
    /// Mean time of writing before a pull.
    pub write_for: Duration,
    /// Time without power.
    pub settle: Duration,
    /// Longest time from the switch to the first error.
    pub gone: Duration,
    /// Longest time until the target is back.
    pub back: Duration,
}

/// Hears of a run.
pub type FioPullObserver<'a> = &'a mut dyn FnMut(FioPullEvent<'_>);

/// Reads parts of a target.
struct TargetReader<'a> {
    file: &'a DirectFile,
    buffer: DirectBuffer,
}

impl TargetReader<'_> {
    fn new<'a>(file: &'a DirectFile, job: &VerifiedJob) -> Result<TargetReader<'a>, LabError> {
        let buffer = DirectBuffer::new(job.block_bytes as usize)
            .map_err(|error| LabError::file("reading", &file.facts().name, error))?;
        Ok(TargetReader { file, buffer })
    }

    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), LabError> {
        let read = self.file.read(offset, bytes.len(), &mut self.buffer);
        read.map_err(|error| LabError::file("reading", &self.file.facts().name, error))?;
        bytes.copy_from_slice(&self.buffer.bytes()[..bytes.len()]);
        Ok(())
    }
}

/// Whether the target has the job's range, in blocks of its own.
fn check_range(file: &DirectFile, job: &VerifiedJob) -> Result<(), LabError> {
    let facts = file.facts();
    let sector = u64::from(facts.block_size);
    if !u64::from(job.block_bytes).is_multiple_of(sector) || !job.offset.is_multiple_of(sector) {
        return Err(LabError::refused(
            format!(
                "{} has blocks of {sector} bytes; the job writes {} from byte {}",
                facts.name, job.block_bytes, job.offset
            ),
            format!("give bs= and offset= as multiples of {sector}"),
        ));
    }
    if job.end() > facts.capacity {
        return Err(LabError::refused(
            format!(
                "the job goes up to byte {}, and {} has {}",
                job.end(),
                facts.name,
                facts.capacity
            ),
            "give a smaller size= or offset=",
        ));
    }
    Ok(())
}

/// Pulls until there are enough, a promise is broken, or `stop`.
///
/// # Errors
/// When the target or a state cannot be used, or the switch does not work.
pub fn run_fio(
    plan: &FioPullPlan,
    watch: FioPullObserver<'_>,
    stop: &AtomicBool,
) -> Result<FioPullRecord, LabError> {
    let options = OpenOptions {
        size: Some(plan.job.end()),
        ..plan.open.clone()
    };
    let mut file = DirectFile::open(&plan.target, &options)?;
    check_range(&file, &plan.job)?;
    let setup = start_of(&file, plan.job.end(), plan.job.seed)?;
    let mut record = FioPullRecord::new(&plan.job, &setup.path);
    let mut earlier: Option<VerifiedJob> = None;
    for number in 1..=plan.pulls {
        let job = VerifiedJob {
            seed: plan.job.seed + u64::from(number - 1),
            ..plan.job.clone()
        };
        let round = FioRound {
            plan,
            job: &job,
            number,
            setup: &setup,
        };
        let Some((writes, again)) = round.pull(file, watch, stop)? else {
            break;
        };
        file = again;
        let pull = round.judge(&file, &writes, earlier.as_ref())?;
        watch(FioPullEvent::Pulled(&pull));
        let is_broken = !pull.verdicts.keeps_contract();
        record.enter(pull);
        earlier = Some(job);
        if is_broken && !plan.keep_going {
            break;
        }
    }
    Ok(record)
}

/// One pull.
struct FioRound<'a> {
    plan: &'a FioPullPlan,
    job: &'a VerifiedJob,
    number: u32,
    setup: &'a PullTestSetup,
}

impl FioRound<'_> {
    /// Writes, loses power and gets it back; `None`: stopped before.
    fn pull(
        &self,
        file: DirectFile,
        watch: FioPullObserver<'_>,
        stop: &AtomicBool,
    ) -> Result<Option<(CutWrites, DirectFile)>, LabError> {
        let plan = self.plan;
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.zero(&file)?;
        watch(FioPullEvent::Writing {
            number: self.number,
            by_hand: plan.switch == PullSwitch::Hand,
        });
        let limits = WriterLimits {
            write_for: plan.write_for,
            gone: plan.gone,
        };
        let Some(writes) = write_until_cut(&file, self.job, &plan.switch, &limits, stop)? else {
            return Ok(None);
        };
        // The state is kept before the power is back: whoever reads it has it from before.
        if self.job.saves_state {
            self.keep(&writes.progress)?;
        }
        watch(FioPullEvent::Struck(&writes));
        drop(file);
        std::thread::sleep(plan.settle);
        if plan.switch == PullSwitch::Hand {
            watch(FioPullEvent::PlugIn);
        }
        plan.switch.on()?;
        let mut options = plan.open.clone();
        options.write.allow_overwrite |= self.setup.is_file;
        let file = reopen(&plan.target, self.setup, &options, plan.back, false)?;
        Ok(Some((writes, file)))
    }

    /// Zeroes the job's range, and flushes.
    fn zero(&self, file: &DirectFile) -> Result<(), LabError> {
        let failed = |error| LabError::file("zeroing", &file.facts().name, error);
        let mut buffer = DirectBuffer::new(ZERO_BYTES as usize).map_err(failed)?;
        let mut offset = self.job.offset;
        while offset < self.job.end() {
            let length = ZERO_BYTES.min(self.job.end() - offset);
            file.write(offset, length as usize, &mut buffer, false)
                .map_err(failed)?;
            offset += length;
        }
        file.flush().map_err(failed)
    }

    /// Keeps the state, and the job by which fio verifies.
    fn keep(&self, progress: &WriteProgress) -> Result<(), LabError> {
        let folder = self.plan.states.join(format!("pull-{:04}", self.number));
        let failed = |error| LabError::file("writing", &folder, error);
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let target = Path::new(&self.setup.path);
        let target = target.canonicalize().unwrap_or(target.to_owned());
        let verify = self.job.to_verify_only(&target.display().to_string());
        std::fs::write(folder.join("verify.fio"), verify).map_err(failed)?;
        write_state(&folder, self.job, &VerifyState::of(self.job, progress))?;
        Ok(())
    }

    /// Reads what is there.
    fn judge(
        &self,
        file: &DirectFile,
        writes: &CutWrites,
        earlier: Option<&VerifiedJob>,
    ) -> Result<FioPull, LabError> {
        let mut reader = TargetReader::new(file, self.job)?;
        let read = |offset: u64, bytes: &mut [u8]| reader.read(offset, bytes);
        let findings = VerifyFindings::after(earlier, self.job, &writes.progress, read)?;
        let progress = &writes.progress;
        Ok(FioPull {
            number: self.number,
            seed: self.job.seed,
            issued: progress.issued,
            durable: progress.durable,
            was_over: progress.issued == self.job.count() && progress.in_flight.is_empty(),
            verdicts: VerifyVerdicts::of(&findings),
        })
    }
}
