//! fio job files: a plan survives being written and read back, its commands stay on the drive,
//! and a refusal names the file.

use super::plans::{check_commands, check_refusal};
use crate::Target;
use ssdlab_load::fio;
use ssdlab_load::plan::{Language, WorkloadPlan};
use ssdlab_load::profiles::PROFILES;

/// A job file.
pub const TARGET: Target = Target {
    name: "fio_job",
    run,
    seeds: || {
        let profiles = PROFILES.iter();
        let mut seeds: Vec<_> = profiles.map(|profile| profile.text.into()).collect();
        seeds.push(include_bytes!("../../../../examples/mixed.fio").to_vec());
        seeds.push(include_bytes!("../../../../examples/slog.fio").to_vec());
        seeds
    },
    words: &[
        "[global]\n",
        "[job]\n",
        "rw=randrw\n",
        "bs=4k,8k,16k\n",
        "bssplit=4k/50:64k/50\n",
        "size=100%\n",
        "io_size=1g\n",
        "offset=50%\n",
        "rwmixread=70\n",
        "iodepth=32\n",
        "numjobs=2\n",
        "runtime=1m\n",
        "ramp_time=5s\n",
        "time_based\n",
        "stonewall\n",
        "random_distribution=zipf:1.2\n",
        "random_distribution=zoned:60/10:40/90\n",
        "percentage_random=50\n",
        "rate_iops=100,200\n",
        "thinktime=10ms\n",
        "kb_base=1000\n",
        "fsync=8\n",
        "randseed=7\n",
        "blockalign=4k\n",
        "norandommap\n",
        "rw=read:-8k\n",
        "rw=randread:4\n",
        "directory=d\n",
        "filename=a:b\n",
        "filename_format=$jobname.$filenum\n",
        "nrfiles=3\n",
        "filesize=1m\n",
        "offset_increment=1m\n",
        "loops=3\n",
        "number_ios=5\n",
        "wait_for=job\n",
        "ioengine=net\n",
        "%",
        "k",
        "m",
        "#",
    ],
};

fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    match fio::parse(&text, "input.fio") {
        Err(error) => check_refusal(&error, "input.fio"),
        Ok(plan) => {
            let _ = fio::notes(&plan);
            let written = write(&plan);
            let again = fio::parse(&written, "input.fio");
            let again = again.unwrap_or_else(|error| panic!("{error}\n{written}"));
            assert_eq!(shown(&again), shown(&plan), "{written}");
            check_commands(&plan);
        }
    }
}

/// The plan as a job file: its jobs carry all options that apply to them.
fn write(plan: &WorkloadPlan) -> String {
    let mut text = String::new();
    for (number, phase) in plan.phases.iter().enumerate() {
        for (index, job) in phase.jobs.iter().enumerate() {
            text.push_str(&format!("[{}]\n", job.name));
            for (name, value) in &job.options {
                if name != "stonewall" && name != "wait_for_previous" && name != "name" {
                    text.push_str(&format!("{name}={value}\n"));
                }
            }
            if number > 0 && index == 0 {
                text.push_str("stonewall\n");
            }
        }
    }
    text
}

/// Everything that a plan makes a drive do; where its options were written is left out.
fn shown(plan: &WorkloadPlan) -> String {
    assert!(matches!(plan.language, Language::Fio { .. }));
    let mut plan = plan.clone();
    for job in plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        job.options.clear();
    }
    format!("{:?}", plan.phases)
}
