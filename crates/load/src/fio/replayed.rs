//! `read_iolog`: a job whose commands are those of a log.

use crate::plan::JobSpec;
use crate::trace::replay::{AddressFit, Replay};
use crate::trace::{ReadOptions, TraceFormat};
use ssdlab_fio::Error;
use ssdlab_fio::JobOption;
use ssdlab_fio::Surroundings;

/// What a job says of the log it reads.
#[derive(Clone, Debug, Default)]
pub(super) struct IologOptions {
    /// `read_iolog`.
    pub log: Option<JobOption>,
    /// `replay_no_stall`.
    pub no_stall: bool,
    /// `replay_time_scale`, in per cent of the recorded speed; 0: not given.
    pub speed_pct: u64,
}

impl IologOptions {
    /// `None`: as fast as possible.
    fn speed(&self) -> Option<f64> {
        match (self.no_stall, self.speed_pct) {
            (true, _) => None,
            (false, 0) => Some(1.0),
            (false, percent) => Some(percent as f64 / 100.0),
        }
    }
}

/// The job, with the commands of the log that it names.
pub(super) fn replayed(
    job: JobSpec,
    options: &IologOptions,
    surroundings: &Surroundings,
) -> Result<JobSpec, (Box<JobSpec>, Error)> {
    let Some(setting) = &options.log else {
        return Ok(job);
    };
    match replay(setting, options, surroundings) {
        Ok(replay) => Ok(with_commands(job, replay)),
        Err(error) => Err((Box::new(job), error)),
    }
}

fn replay(
    setting: &JobOption,
    options: &IologOptions,
    surroundings: &Surroundings,
) -> Result<Replay, Error> {
    let bad = |why: &str| setting.bad(why, "it is a log of fio's, of version 2 or 3");
    let path = (surroundings.log)(setting.text()).map_err(|why| bad(&why))?;
    let read = ReadOptions {
        bad_share: 0.0,
        ..ReadOptions::default()
    };
    let surveyed = Replay::survey(&path, &read, options.speed(), AddressFit::Refuse);
    let (replay, reading) = surveyed.map_err(|error| bad(&error.to_string()))?;
    if !matches!(reading.format, TraceFormat::IologV2 | TraceFormat::IologV3) {
        let hint = "replay it with: ssdlab run --trace FILE";
        return Err(setting.bad("it is no log of fio's", hint));
    }
    Ok(replay)
}

/// `job` with the commands of `replay`.
fn with_commands(job: JobSpec, replay: Replay) -> JobSpec {
    let mut jobs = replay.phase(job.depth).jobs;
    let Some(replayed_job) = jobs.pop() else {
        return job;
    };
    JobSpec {
        mix: replayed_job.mix,
        order: replayed_job.order,
        block_sizes: replayed_job.block_sizes,
        offset: 0,
        region: replayed_job.region,
        io_limit: None,
        replay: replayed_job.replay,
        // Those of the order that the log takes the place of.
        random_pct: 100,
        steps: crate::plan::AddressSteps {
            several_files: job.steps.several_files,
            ..crate::plan::AddressSteps::default()
        },
        shares: crate::plan::CapacityShares::default(),
        ..job
    }
}
