//! Do the profiles send what their sources say? Judged on the commands, by chi-square.

use super::*;
use crate::stream::JobStream;
use ssdlab_ssd::{Command, Op};
use std::collections::BTreeMap;

const GIB: u64 = 1 << 30;

/// The first `count` commands of the profile's last job.
fn commands(name: &str, count: usize, capacity: u64) -> Vec<Command> {
    let plan = WorkloadProfile::named(name)
        .unwrap()
        .plan(None, None)
        .unwrap();
    let job = plan.phases.last().unwrap().jobs.last().unwrap();
    let mut stream = JobStream::new(job, 0, capacity).unwrap();
    (0..count).map(|_| stream.next_command().unwrap()).collect()
}

/// Chi-square of counts against shares in per cent, and its degrees of freedom.
fn chi_square<K: Ord + Copy>(seen: &BTreeMap<K, u64>, shares: &[(K, f64)]) -> (f64, f64) {
    let total: u64 = seen.values().sum();
    let chi = shares.iter().map(|(key, percent)| {
        let expected = percent / 100.0 * total as f64;
        let count = seen.get(key).copied().unwrap_or(0) as f64;
        (count - expected) * (count - expected) / expected
    });
    assert!(
        seen.keys().all(|key| shares.iter().any(|(k, _)| k == key)),
        "something that should not occur did"
    );
    (chi.sum(), shares.len() as f64 - 1.0)
}

/// Chi-square's value that chance exceeds once in 10,000 (Wilson and Hilferty's approximation).
fn limit(freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + 3.719 * spread.sqrt()).powi(3)
}

fn assert_shares<K: Ord + Copy>(what: &str, keys: impl Iterator<Item = K>, shares: &[(K, f64)]) {
    let mut seen = BTreeMap::new();
    keys.for_each(|key| *seen.entry(key).or_insert(0) += 1);
    let (chi, freedom) = chi_square(&seen, shares);
    eprintln!("{what}: chi-square {chi:.1} with {freedom} degrees of freedom");
    assert!(chi < limit(freedom), "{what}: {chi} of {freedom}");
}

#[test]
fn every_profile_is_a_job_file_with_a_head() {
    for profile in PROFILES {
        let summary = profile.summary().unwrap();
        assert!(!summary.what.is_empty(), "{}", profile.name);
        assert!(!summary.source.is_empty(), "{}", profile.name);
        let plan = profile.plan(None, None).unwrap();
        for job in plan.phases.iter().flat_map(|phase| &phase.jobs) {
            assert!(job.direct && job.target.is_none(), "{}", profile.name);
            JobStream::new(job, 0, 64 * GIB).unwrap();
        }
    }
    let mut names: Vec<_> = PROFILES.iter().map(|p| p.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), PROFILES.len());
}

#[test]
fn jesd219_has_its_sizes_its_skew_and_its_writes() {
    let capacity = 100 * GIB;
    let all = commands("jesd219-enterprise", 1_000_000, capacity);
    let sizes = [
        (512, 4.0),
        (1024, 1.0),
        (1536, 1.0),
        (2048, 1.0),
        (2560, 1.0),
        (3072, 1.0),
        (3584, 1.0),
        (4096, 67.0),
        (8192, 10.0),
        (16384, 7.0),
        (32768, 3.0),
        (65536, 3.0),
    ];
    assert_shares("sizes", all.iter().map(|c| c.len), &sizes);
    let ops = [(Op::Read as u8, 40.0), (Op::Write as u8, 60.0)];
    assert_shares("reads and writes", all.iter().map(|c| c.op as u8), &ops);
    let zone = |c: &Command| match c.offset as f64 / capacity as f64 {
        x if x < 0.05 => 0,
        x if x < 0.2 => 1,
        _ => 2,
    };
    let zones = [(0, 50.0), (1, 30.0), (2, 20.0)];
    assert_shares("zones", all.iter().map(zone), &zones);
    // Even within each zone: twentieths of all of the region.
    let twentieth = |c: &Command| c.offset * 20 / capacity;
    let even: Vec<(u64, f64)> = (0..20)
        .map(|part| {
            let percent = match part {
                0 => 50.0,
                1..4 => 10.0,
                _ => 1.25,
            };
            (part, percent)
        })
        .collect();
    assert_shares("twentieths", all.iter().map(twentieth), &even);
    // Sizes do not depend on the zone: the mix of the hot zone is that of all.
    let hot = all.iter().filter(|c| zone(c) == 0);
    assert_shares("sizes in the hot zone", hot.map(|c| c.len), &sizes);
    assert!(all.iter().all(|c| c.offset.is_multiple_of(4096)));
    assert!(all.iter().all(|c| c.offset + u64::from(c.len) <= capacity));
    let mean = all.iter().map(|c| u64::from(c.len)).sum::<u64>() as f64 / all.len() as f64;
    assert!((mean / 1024.0 - 7.64).abs() < 0.05, "mean of {mean} bytes");
}

#[test]
fn iometer_mixes_have_their_shares() {
    let file = commands("iometer-file-server", 300_000, 10 * GIB);
    let k = 1024;
    let sizes = [
        (512, 10.0),
        (k, 5.0),
        (2 * k, 5.0),
        (4 * k, 60.0),
        (8 * k, 2.0),
        (16 * k, 4.0),
        (32 * k, 4.0),
        (64 * k, 10.0),
    ];
    assert_shares("file server", file.iter().map(|c| c.len), &sizes);
    let ops = [(0, 80.0), (1, 20.0)];
    assert_shares("file server", file.iter().map(|c| c.op as u8), &ops);
    let web = commands("iometer-web-server", 300_000, 10 * GIB);
    let sizes = [
        (512, 22.0),
        (k, 15.0),
        (2 * k, 8.0),
        (4 * k, 23.0),
        (8 * k, 15.0),
        (16 * k, 2.0),
        (32 * k, 6.0),
        (64 * k, 7.0),
        (128 * k, 1.0),
        (512 * k, 1.0),
    ];
    assert_shares("web server", web.iter().map(|c| c.len), &sizes);
    assert!(web.iter().all(|c| c.op == Op::Read));
    let database = commands("iometer-database", 300_000, 10 * GIB);
    let ops = [(0, 67.0), (1, 33.0)];
    assert_shares("database", database.iter().map(|c| c.op as u8), &ops);
}

#[test]
fn the_workstation_goes_on_sequentially_for_a_fifth_of_its_commands() {
    let all = commands("iometer-workstation", 300_000, 10 * GIB);
    let mut ends = [0; 2];
    let follows: Vec<bool> = all
        .iter()
        .map(|c| {
            let end = &mut ends[c.op as usize];
            std::mem::replace(end, c.offset + u64::from(c.len)) == c.offset
        })
        .collect();
    // A random address follows by chance once in 1.3 million.
    let shares = [(true, 20.0), (false, 80.0)];
    assert_shares("sequential", follows.into_iter(), &shares);
    let ops = [(0, 80.0), (1, 20.0)];
    assert_shares("workstation", all.iter().map(|c| c.op as u8), &ops);
}

#[test]
fn a_sequential_share_moves_no_random_address() {
    let plan = WorkloadProfile::named("iometer-workstation")
        .unwrap()
        .plan(None, None);
    let mut job = plan.unwrap().phases[0].jobs[0].clone();
    let list = |job: &crate::plan::JobSpec| {
        let mut stream = JobStream::new(job, 0, GIB).unwrap();
        let offsets = (0..1000).map(|_| stream.next_command().unwrap().offset);
        offsets.collect::<std::collections::BTreeSet<_>>()
    };
    let mixed = list(&job);
    job.random_pct = 100;
    let random = list(&job);
    let shared = mixed.intersection(&random).count();
    assert!(shared > 750, "{shared} of 1000 addresses are the same");
}

#[test]
fn host_idle_recovery_works_five_seconds_and_waits_ever_longer() {
    let plan = WorkloadProfile::named("pts-host-idle-recovery").unwrap();
    let plan = plan.plan(None, None).unwrap();
    let jobs: Vec<_> = plan.phases.iter().map(|phase| &phase.jobs[0]).collect();
    let waits: Vec<u64> = jobs
        .iter()
        .map(|job| job.pace.think.0 / 1_000_000_000)
        .collect();
    assert_eq!(waits, [0, 5, 0, 10, 0, 15, 0, 25, 0, 50, 0]);
    for job in &jobs[1..] {
        let run = job.time.run.unwrap();
        if job.pace.think == Nanos::ZERO {
            assert_eq!(run, Nanos::from_secs(1800), "the baseline");
            continue;
        }
        assert_eq!(job.pace.think_after, Nanos::from_secs(5));
        let cycle = job.pace.think.0 + job.pace.think_after.0;
        assert_eq!(run.0 / cycle, 360);
    }
}

/// `pts-demand-intensity` went through the depths of each number of threads: the standard goes
/// from the most commands outstanding to the fewest.
#[test]
fn demands_are_every_pair_of_threads_and_depth_from_high_to_low() {
    for name in ["pts-demand-intensity", "pts-composite"] {
        let plan = WorkloadProfile::named(name)
            .unwrap()
            .plan(None, None)
            .unwrap();
        let prepares = plan.phases[..2].iter().map(|p| p.jobs[0].time.run.unwrap());
        assert!(prepares.eq([Nanos::from_secs(9000), Nanos::from_secs(300)]));
        let mut pairs: Vec<(u32, u32)> = plan.phases[2..]
            .iter()
            .map(|phase| (phase.jobs[0].copies, phase.jobs[0].depth))
            .collect();
        let falls = |pair: &[(u32, u32)]| pair[0].0 * pair[0].1 >= pair[1].0 * pair[1].1;
        assert!(pairs.windows(2).all(falls), "{name}: {pairs:?}");
        pairs.sort_unstable();
        let all = [1, 2, 4, 6, 8, 16, 32];
        let wanted = all.iter().flat_map(|t| all.iter().map(|d| (*t, *d)));
        assert!(pairs.iter().copied().eq(wanted), "{name}: {pairs:?}");
    }
}

/// The profiles read addresses that a fresh drive had never been given; the tool reads its file.
#[test]
fn crystaldiskmark_reads_only_what_it_has_written() {
    let mine = |p: &&WorkloadProfile| p.name.starts_with("crystaldiskmark");
    assert_eq!(PROFILES.iter().filter(mine).count(), 4);
    for profile in PROFILES.iter().filter(mine) {
        let plan = profile.plan(None, None).unwrap();
        let (file, tests) = plan.phases.split_first().unwrap();
        let mut stream = JobStream::new(&file.jobs[0], 0, 64 * GIB).unwrap();
        let mut written = 0;
        while let Some(c) = stream.next_command() {
            assert_eq!((c.op, c.offset), (Op::Write, written), "{}", profile.name);
            written += u64::from(c.len);
        }
        assert_eq!(written, GIB, "{}", profile.name);
        for job in tests.iter().flat_map(|phase| &phase.jobs) {
            assert!(job.time.time_based, "{} {}", profile.name, job.name);
            let mut stream = JobStream::new(job, 0, 64 * GIB).unwrap();
            let sent: Vec<Command> = (0..3000).map_while(|_| stream.next_command()).collect();
            assert_eq!(sent.len(), 3000, "{} {}", profile.name, job.name);
            let inside = |c: &Command| c.offset + u64::from(c.len) <= written;
            assert!(sent.iter().all(inside), "{} {}", profile.name, job.name);
        }
    }
}

#[test]
fn depth_and_time_change_the_last_phase_only() {
    let profile = WorkloadProfile::named("fill-and-dirty").unwrap();
    let plan = profile.plan(Some(7), Some(Nanos::from_secs(90))).unwrap();
    assert_eq!(plan.phases[0].jobs[0].depth, 4);
    let last = &plan.phases[1].jobs[0];
    assert_eq!((last.depth, last.time.run), (7, Some(Nanos::from_secs(90))));
    assert!(last.time.time_based);
    let error = WorkloadProfile::named("iometer").unwrap_err();
    assert!(
        error.hint().contains("iometer-database"),
        "{}",
        error.hint()
    );
}

#[test]
fn fio_takes_every_profile() {
    let dir = tempfile::tempdir().unwrap();
    for profile in PROFILES {
        let path = dir.path().join("profile.fio");
        let text = profile
            .text
            .replace("[global]", "[global]\nfilename=x\nfilesize=1g");
        std::fs::write(&path, text).unwrap();
        let fio = std::process::Command::new("fio")
            .arg("--parse-only")
            .arg(&path)
            .output();
        let Ok(output) = fio else {
            return ssdlab_skips::skip("fio is not installed");
        };
        assert!(output.status.success(), "{}: {output:?}", profile.name);
    }
}
