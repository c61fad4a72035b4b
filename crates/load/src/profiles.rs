//! Workloads by name: published mixes, standards' definitions and the articles' protocols.
//!
//! Each is a fio job file without a target, so it can be read, copied and given to fio itself. Its
//! text is `profiles/*.fio`, followed by the jobs of a matrix that a macro writes. Comments at its
//! top say what it is (`# what:`), where it comes from (`# source:`) and what to know (`# note:`,
//! any number).

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

/// Random jobs of a minute for every mix of reads and writes and every size.
macro_rules! mixes_and_sizes {
    ([$($read_pct:literal)*] $sizes:tt $options:literal) => {
        concat!($(mixes_and_sizes!($read_pct, $sizes $options)),*)
    };
    ($read_pct:literal, [$($size:literal)*] $options:literal) => {
        concat!($(
            "\n[r", $read_pct, "-", $size, "]\nstonewall\nrw=randrw\nrwmixread=", $read_pct,
            "\nbs=", $size, "\n", $options, "time_based\nruntime=60\n"
        ),*)
    };
}

/// Random jobs of a minute for every pair of threads and depth, from the most commands outstanding
/// to the fewest.
macro_rules! threads_and_depths {
    ($threads_name:literal, $depth_name:literal, $read_pct:literal) => {
        threads_and_depths!($threads_name, $depth_name, $read_pct,
            32 32, 32 16, 16 32, 32 8, 16 16, 8 32, 32 6, 6 32, 32 4, 16 8, 8 16, 4 32, 16 6, 6 16,
            32 2, 16 4, 8 8, 4 16, 2 32, 8 6, 6 8, 6 6, 32 1, 16 2, 8 4, 4 8, 2 16, 1 32, 6 4, 4 6,
            16 1, 8 2, 4 4, 2 8, 1 16, 6 2, 2 6, 8 1, 4 2, 2 4, 1 8, 6 1, 1 6, 4 1, 2 2, 1 4, 2 1,
            1 2, 1 1)
    };
    (
        $threads_name:literal, $depth_name:literal, $read_pct:literal,
        $($threads:literal $depth:literal),*
    ) => {
        concat!($(
            "\n[", $threads_name, $threads, "-", $depth_name, $depth,
            "]\nstonewall\nrw=randrw\nrwmixread=", $read_pct,
            "\niodepth=", $depth, "\nnumjobs=", $threads, "\nruntime=60\n"
        ),*)
    };
}

/// Five rounds of a minute of reads and a minute of writes in order.
macro_rules! rounds_in_order {
    ($size:literal) => {
        rounds_in_order!($size, 1 "read", 1 "write", 2 "read", 2 "write", 3 "read", 3 "write",
            4 "read", 4 "write", 5 "read", 5 "write")
    };
    ($size:literal, $($round:literal $op:literal),*) => {
        concat!($(
            "\n[round", $round, "-", $op, "]\nstonewall\nrw=", $op,
            "\nbs=", $size, "\ntime_based\nruntime=60\n"
        ),*)
    };
}

/// CrystalDiskMark's measurements of five seconds: reads, then writes.
macro_rules! crystaldiskmark {
    ($($name:literal $random:literal $size:literal $depth:literal $threads:literal),*) => {
        concat!($(
            crystaldiskmark!(@ $name "read" $random $size $depth $threads),
            crystaldiskmark!(@ $name "write" $random $size $depth $threads)
        ),*)
    };
    (@ $name:literal $op:literal $random:literal $size:literal $depth:literal $threads:literal) => {
        concat!(
            "\n[", $name, "-", $op, "]\nstonewall\nrw=", $random, $op, "\nbs=", $size,
            "\niodepth=", $depth, "\nnumjobs=", $threads, "\ntime_based\nruntime=5\n"
        )
    };
}

/// Random commands of 4 KiB at each depth.
macro_rules! depths {
    ($op:literal) => { depths!($op, 1, 2, 4, 8, 16, 32, 64) };
    ($op:literal, $($depth:literal),*) => {
        concat!($(
            "\n[rnd4k-", $op, "-q", $depth, "]\nstonewall\nrw=rand", $op,
            "\nbs=4k\niodepth=", $depth, "\n"
        ),*)
    };
}

macro_rules! profiles {
    ($($name:literal $(+ $jobs:expr)?),* $(,)?) => {
        &[$(WorkloadProfile {
            name: $name,
            text: concat!(include_str!(concat!("profiles/", $name, ".fio")) $(, $jobs)?),
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
    "crystaldiskmark"
        + crystaldiskmark!(
            "seq1m-q8t1" "" "1m" 8 1,
            "seq1m-q1t1" "" "1m" 1 1,
            "rnd4k-q32t1" "rand" "4k" 32 1,
            "rnd4k-q1t1" "rand" "4k" 1 1
        ),
    "crystaldiskmark-nvme"
        + crystaldiskmark!(
            "seq1m-q8t1" "" "1m" 8 1,
            "seq128k-q32t1" "" "128k" 32 1,
            "rnd4k-q32t16" "rand" "4k" 32 16,
            "rnd4k-q1t1" "rand" "4k" 1 1
        ),
    "crystaldiskmark-peak"
        + crystaldiskmark!(
            "seq1m-q8t1" "" "1m" 8 1,
            "rnd4k-q32t1" "rand" "4k" 32 1
        ),
    "crystaldiskmark-real-world"
        + crystaldiskmark!(
            "seq1m-q1t1" "" "1m" 1 1,
            "rnd4k-q1t1" "rand" "4k" 1 1
        ),
    "pts-iops"
        + mixes_and_sizes!(
            [100 95 65 50 35 5 0]
            ["1024k" "128k" "64k" "32k" "16k" "8k" "4k" "512"]
            "iodepth=32\nnumjobs=4\n"
        ),
    "pts-throughput-128k" + rounds_in_order!("128k"),
    "pts-throughput-1024k" + rounds_in_order!("1024k"),
    "pts-latency" + mixes_and_sizes!([100 65 0] ["8k" "4k" "512"] "iodepth=1\n"),
    "pts-write-saturation",
    "pts-cross-stimulus",
    "pts-host-idle-recovery",
    "pts-demand-intensity" + threads_and_depths!("threads", "depth", 65),
    "pts-composite" + threads_and_depths!("t", "q", 40),
    "random-write-80",
    "cache-device-buffered",
    "cache-device-through",
    "fill",
    "fill-and-dirty",
    "sweep-2m-4k" + concat!(depths!("write"), depths!("read")),
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
    /// When no profile has that name.
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
