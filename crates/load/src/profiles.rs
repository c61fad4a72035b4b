//! Workloads by name: published mixes, standards' definitions and the articles' protocols.
//!
//! Each is a fio job file (`profiles/*.fio`) without a target, so it can be read, copied and
//! given to fio itself. Comments at its top say what it is (`# what:`), where it comes from
//! (`# source:`) and what to know (`# note:`, any number).

use crate::fio;
use crate::plan::{PlanPhase, WorkloadPlan};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;

/// A workload with a name.
#[derive(Clone, Copy, Debug)]
pub struct WorkloadProfile {
    /// Its name on the command line.
    pub name: &'static str,
    /// The job file.
    pub text: &'static str,
}

macro_rules! profiles {
    ($($name:literal),* $(,)?) => {
        &[$(WorkloadProfile {
            name: $name,
            text: include_str!(concat!("profiles/", $name, ".fio")),
        }),*]
    };
}

/// Every profile, in the order in which they are listed.
pub static PROFILES: &[WorkloadProfile] = profiles![
    "iometer-database",
    "iometer-file-server",
    "iometer-web-server",
    "iometer-workstation",
    "streaming-read",
    "streaming-write",
    "jesd219-enterprise",
    "crystaldiskmark",
    "crystaldiskmark-nvme",
    "crystaldiskmark-peak",
    "crystaldiskmark-real-world",
    "pts-iops",
    "pts-throughput-128k",
    "pts-throughput-1024k",
    "pts-latency",
    "pts-write-saturation",
    "pts-cross-stimulus",
    "pts-host-idle-recovery",
    "pts-demand-intensity",
    "pts-composite",
    "random-write-80",
    "cache-device-buffered",
    "cache-device-through",
    "fill",
    "fill-and-dirty",
    "sweep-2m-4k",
];

/// What a list shows of a profile.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProfileSummary {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: String,
    /// Where it comes from.
    pub source: String,
    /// What to know before and after.
    pub notes: Vec<String>,
    /// Jobs in it.
    pub jobs: usize,
    /// How long it takes where it is bounded by time, in s.
    pub timed_s: f64,
}

impl WorkloadProfile {
    /// The profile called `name`.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<WorkloadProfile, LabError> {
        let profile = PROFILES.iter().find(|profile| profile.name == name);
        profile.copied().ok_or_else(|| {
            let near: Vec<&str> = PROFILES
                .iter()
                .map(|profile| profile.name)
                .filter(|known| known.split('-').any(|part| name.contains(part)))
                .collect();
            let hint = match near[..] {
                [] => "`ssdlab list profiles` lists them".to_owned(),
                _ => format!(
                    "there are {}; `ssdlab list profiles` lists all",
                    near.join(", ")
                ),
            };
            LabError::refused(format!("`{name}` is no profile"), hint)
        })
    }

    /// As a plan, with the depth and the time of its last phase changed if given.
    ///
    /// # Errors
    /// Only when a profile's own file is wrong, which a test rules out.
    pub fn plan(&self, depth: Option<u32>, run: Option<Nanos>) -> Result<WorkloadPlan, LabError> {
        let mut plan = fio::parse(self.text, &format!("profile {}", self.name))?;
        let last = plan.phases.last_mut();
        for job in last.into_iter().flat_map(|phase| &mut phase.jobs) {
            job.depth = depth.unwrap_or(job.depth);
            if let Some(run) = run {
                job.time.run = Some(run);
                job.time.time_based = true;
            }
            // What fio's JSON says of the job must be what was run.
            let mut written = |name: &str, value: Option<String>| {
                if let Some(value) = value {
                    job.options.retain(|(option, _)| option != name);
                    job.options.push((name.to_owned(), value));
                }
            };
            written("iodepth", depth.map(|depth| depth.to_string()));
            written("runtime", run.map(|run| format!("{}us", run.0 / 1000)));
            written("time_based", run.map(|_| "1".to_owned()));
        }
        Ok(plan)
    }

    /// Lines of its head that begin with `key`.
    fn head(&self, key: &str) -> Vec<String> {
        let prefix = format!("# {key}: ");
        let lines = self.text.lines().take_while(|line| line.starts_with('#'));
        lines
            .filter_map(|line| line.strip_prefix(&prefix))
            .map(str::to_owned)
            .collect()
    }

    /// What a list shows.
    ///
    /// # Errors
    /// As [`Profile::plan`].
    pub fn summary(&self) -> Result<ProfileSummary, LabError> {
        let plan = self.plan(None, None)?;
        let longest = |phase: &PlanPhase| {
            let times = phase.jobs.iter().filter_map(|job| job.time.run);
            times.max().unwrap_or_default().as_secs_f64()
        };
        Ok(ProfileSummary {
            name: self.name,
            what: self.head("what").join(" "),
            source: self.head("source").join(" "),
            notes: self.head("note"),
            jobs: plan.phases.iter().map(|phase| phase.jobs.len()).sum(),
            timed_s: plan.phases.iter().map(longest).sum(),
        })
    }
}

#[cfg(test)]
mod tests;
