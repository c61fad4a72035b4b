//! Arguments of `ssdlab pull fio`.

use super::power_args::{PullPowerArgs, PullTimesArgs, WriteLeaveArgs};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_bench::device::OpenOptions;
use ssdlab_judge::pull::verified::{FioLookPlan, FioPullPlan};
use ssdlab_verify::{FioFormat, VerifiedJob};
use std::path::PathBuf;

/// `ssdlab pull fio`.
#[derive(Args, Debug)]
#[command(after_help = "\
The job writes and verifies, as the one in `ssdlab crashtest fio --help` does.
Its writes go to the target one at a time, as fio would write them. When the
power is gone, STATES/pull-0001 gets fio's state file and verify.fio: `fio
verify.fio`, run there, checks by fio's rules. Each pull zeroes the job's range
and takes the next randseed=. A pass here is none for `qualify`: see `pull run`.

With --verify-only (or verify_only=1 in the job) nothing is written and nothing
pulled: what fio or an earlier pull has left is read, by the state file in
--states if that is given (or verify_state_load=1), or else as a whole job.

Exit codes: 0 the contract holds, 1 it is broken, 2 an error.")]
pub struct PullFioArgs {
    /// The job file.
    #[arg(value_name = "JOB.fio")]
    pub job: PathBuf,
    /// A block device, or a file (made if it does not exist). What the job's range holds is lost.
    /// [default: filename= of the job]
    #[arg(long)]
    pub target: Option<PathBuf>,
    /// Whose headers and states: 3.33 (Debian 12), or current (fio's source of 2026).
    #[arg(long, value_name = "FORMAT", value_parser = ["3.33", "current"], default_value = "3.33")]
    pub fio: String,
    /// Where state files are, or go to; not on the target. [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub states: Option<PathBuf>,
    /// Only read what is there.
    #[arg(long)]
    pub verify_only: bool,
    #[command(flatten)]
    pub power: PullPowerArgs,
    /// Pulls.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub pulls: u32,
    /// Go on after a broken promise.
    #[arg(long)]
    pub keep_going: bool,
    #[command(flatten)]
    pub times: PullTimesArgs,
    #[command(flatten)]
    pub leave: WriteLeaveArgs,
    /// Print the record as JSON.
    #[arg(long)]
    pub json: bool,
    /// Say nothing between the pulls.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What the arguments ask for.
pub enum PullFioPlan {
    /// Pulls.
    Pull(Box<FioPullPlan>),
    /// A look at what is there.
    Look(Box<FioLookPlan>),
}

impl PullFioArgs {
    /// What to do.
    ///
    /// # Errors
    /// When the job, a time, or the target cannot be read.
    pub fn plan(&self) -> Result<PullFioPlan, LabError> {
        let format = FioFormat::named(&self.fio).unwrap_or(FioFormat::V3_33);
        let job = VerifiedJob::read(&self.job, format)?;
        let target = self.target.clone().or_else(|| job.filename.clone());
        let target = target.ok_or_else(|| {
            LabError::refused(
                format!("{} names no file or device", self.job.display()),
                "give --target, or add filename= to the job",
            )
        })?;
        if self.verify_only || job.verifies_only {
            let here = || job.loads_state.then(|| PathBuf::from("."));
            let states = self.states.clone().or_else(here);
            let plan = FioLookPlan {
                target,
                job,
                states,
            };
            return Ok(PullFioPlan::Look(Box::new(plan)));
        }
        let switch = self.power.switch();
        Ok(PullFioPlan::Pull(Box::new(FioPullPlan {
            target,
            job,
            states: self.states.clone().unwrap_or(".".into()),
            open: OpenOptions {
                write: self.leave.options(),
                ..OpenOptions::default()
            },
            gone: self.times.gone(&switch)?,
            switch,
            pulls: self.pulls,
            keep_going: self.keep_going,
            write_for: self.times.write_for()?,
            settle: self.times.settle()?,
            back: self.times.back()?,
        })))
    }
}
