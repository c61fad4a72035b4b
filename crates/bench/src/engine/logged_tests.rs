//! Are the commands that are logged those that are counted?

use super::{LoggedCommand, Observer, run};
use crate::device::ModelledTarget;
use crate::export::CommandLogs;
use crate::record::Second;
use ssdlab_base::LabError;
use ssdlab_base::latencies::Latencies;
use ssdlab_drives::catalogue;
use ssdlab_load::fio;
use std::sync::atomic::AtomicBool;

/// Writes the logs, and counts what comes with each second.
struct Kept {
    logs: CommandLogs,
    commands: usize,
    seconds: Vec<(u64, usize)>,
}

impl Observer for Kept {
    fn second(&mut self, second: &Second, _: &[Latencies]) -> Result<(), LabError> {
        let counted = second.ops.iter().map(|op| op.count).sum();
        self.seconds
            .push((counted, std::mem::take(&mut self.commands)));
        Ok(())
    }

    fn commands(&mut self, commands: &[LoggedCommand]) -> Result<(), LabError> {
        self.commands += commands.len();
        self.logs.append(commands)
    }
}

#[test]
fn a_log_has_a_line_for_every_command_that_counts() {
    let text = "[global]\nbs=4k\nsize=1g\nrw=randrw\nruntime=2\ntime_based\niodepth=4\n\
        write_lat_log=x\nlog_offset=1\n[a]\nnumjobs=2\nwrite_bw_log\n\
        [b]\nstonewall\nruntime=1\nramp_time=1\nlog_offset=0\n";
    let plan = fio::parse(text, "job.fio").unwrap();
    let drive = catalogue::drive("intel-x25e-32gb").unwrap();
    let mut target = ModelledTarget::new(&drive, None).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut kept = Kept {
        logs: CommandLogs::create(&plan, dir.path()).unwrap(),
        commands: 0,
        seconds: Vec::new(),
    };
    let record = run(&plan, &mut target, &mut kept, &AtomicBool::new(false)).unwrap();
    assert!(record.checks.iter().all(|check| check.failure.is_none()));
    let lines = |name: &str| -> Vec<Vec<u64>> {
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
        let lines = text.lines();
        lines
            .map(|line| line.split(", ").map(|word| word.parse().unwrap()).collect())
            .collect()
    };
    let (first, second, third) = (
        lines("x_lat.1.log"),
        lines("x_lat.2.log"),
        lines("x_clat.3.log"),
    );
    let of = |job: usize| record.jobs[job].ops.iter().map(|op| op.count).sum::<u64>();
    assert_eq!((first.len() + second.len()) as u64, of(0));
    assert_eq!(third.len() as u64, of(1));
    assert!(!first.is_empty() && !second.is_empty() && !third.is_empty());
    // The mean of the latencies is the job's own.
    let latencies = first.iter().chain(&second).map(|line| u128::from(line[1]));
    let sums = record.jobs[0].ops.iter().map(|op| op.latency_ns_sum);
    assert_eq!(latencies.sum::<u128>(), sums.sum::<u128>());
    assert!(
        first
            .iter()
            .all(|line| line.len() == 6 && line[3] == 4096 && line[4] < 1 << 30)
    );
    assert!(third.iter().all(|line| line.len() == 5 && line[0] <= 1000));
    assert_eq!(lines("a_bw.2.log").len(), second.len());
    assert!(!dir.path().join("b_bw.3.log").exists());
    // Each second comes with its commands; those of a ramp are counted in none.
    let counted = kept.seconds.iter().filter(|(_, logged)| *logged > 0);
    assert!(counted.count() >= 3);
    assert!(
        kept.seconds
            .iter()
            .all(|(all, logged)| *logged == 0 || *all == *logged as u64)
    );
}
