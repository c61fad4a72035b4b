//! Does a job with the same seed give a modelled drive, a file and nothing at all the same
//! commands, lane by lane, in the same order?

use ssdlab_base::LabError;
use ssdlab_bench::device::open::open;
use ssdlab_bench::device::{
    Counters, ModelledTarget, NullTarget, Target, TargetCompletion, TargetFacts,
};
use ssdlab_bench::device::{Needs, OpenOptions};
use ssdlab_bench::engine::{Unobserved, depth_needed, run};
use ssdlab_bench::record::RunEnding;
use ssdlab_drives::catalogue;
use ssdlab_load::fio;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_ssd::{Command, Nanos};
use std::sync::atomic::AtomicBool;

const SIZE: u64 = 16 << 20;
const JOB: &str = "
[global]
ioengine=io_uring
direct=1
size=16m
io_size=2m
randseed=7
[mix]
rw=randrw
rwmixread=30
bssplit=4k/60:16k/40
iodepth=5
numjobs=2
fdatasync=4
[sequential]
rw=write
bs=8k
iodepth=3
sync=dsync
";

/// Notes every command on its way to `inner`, by lane.
struct Noted<T> {
    inner: T,
    lane_of_tag: Vec<usize>,
    lanes: Vec<Vec<Command>>,
}

impl<T: Target> Target for Noted<T> {
    fn facts(&self) -> &TargetFacts {
        self.inner.facts()
    }
    fn depth_max(&self) -> u32 {
        self.inner.depth_max()
    }
    fn now(&mut self) -> Nanos {
        self.inner.now()
    }
    fn submit(&mut self, tag: u32, command: &Command) -> Result<(), LabError> {
        self.lanes[self.lane_of_tag[tag as usize]].push(*command);
        self.inner.submit(tag, command)
    }
    fn reap(
        &mut self,
        until: Option<Nanos>,
        done: &mut Vec<TargetCompletion>,
    ) -> Result<(), LabError> {
        self.inner.reap(until, done)
    }
    fn counters(&mut self) -> Counters {
        self.inner.counters()
    }
}

/// What each lane of `plan` submits to `inner`.
fn commands<T: Target>(plan: &WorkloadPlan, inner: T) -> Vec<Vec<Command>> {
    let lanes: Vec<u32> = plan.phases[0]
        .jobs
        .iter()
        .flat_map(|job| (0..job.copies).map(|_| job.depth))
        .collect();
    let mut noted = Noted {
        inner,
        lane_of_tag: lanes
            .iter()
            .enumerate()
            .flat_map(|(lane, &depth)| (0..depth).map(move |_| lane))
            .collect(),
        lanes: vec![Vec::new(); lanes.len()],
    };
    let record = run(plan, &mut noted, &mut Unobserved, &AtomicBool::new(false)).expect("fits");
    assert_eq!(record.ending, RunEnding::Complete);
    assert_eq!(record.failed_checks(), Vec::<String>::new());
    noted.lanes
}

#[test]
fn every_target_gets_the_same_commands() {
    let plan = fio::parse(JOB, "test").expect("a valid job");
    let depth = depth_needed(&plan) as u32;
    let null = commands(&plan, NullTarget::new(SIZE, depth));
    assert!(
        null.iter().all(|lane| lane.len() > 100),
        "something happened"
    );
    let drive = catalogue::drive("consumer-sata-1tb").expect("in the catalogue");
    let modelled = ModelledTarget::new(&drive, Some(SIZE)).expect("fits in memory");
    assert_eq!(commands(&plan, modelled), null);
    let dir = tempfile::tempdir().expect("a temporary directory");
    let options = OpenOptions {
        size: Some(SIZE),
        ..OpenOptions::default()
    };
    let needs = Needs::of(&plan).expect("possible");
    let stop = AtomicBool::new(false);
    match open(
        &dir.path().join("file"),
        &needs,
        &options,
        &mut |_, _| {},
        &stop,
    ) {
        Ok(file) => assert_eq!(commands(&plan, file), null),
        Err(error) => ssdlab_skips::skip(format_args!("the file: {error}")),
    }
}
