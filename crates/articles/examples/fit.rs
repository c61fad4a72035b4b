//! Fits a family's calibrated constants to the 80-minute figures of article zil, and predicts
//! each member from the others.
//!
//! `cargo run --release -p ssdlab-articles --example fit -- [--leave-one-out] [--entry B,...]
//! [--programs N,...] FAMILY...`
//!
//! Protocol of the article: secure erase (a fresh drive), 4 KiB random writes of random data over
//! the whole drive, 32 outstanding, 80 minutes; the figure is the last 60-second mean. The
//! candidates are the grid below; the score is the sum of squared logarithms of ours / published,
//! so that a factor of two either way counts the same.

use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::config::DriveConfig;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos};
use std::sync::Mutex;
use std::thread;

const MINUTES: u64 = 80;
const MINUTE: u64 = 60_000_000_000;

/// The drives that article zil measured. (A base's documented figure is inherited by its members.)
const MEASURED: [&str; 7] = [
    "intel-710-100gb",
    "intel-710-200gb",
    "intel-710-300gb",
    "intel-320-40gb",
    "intel-320-160gb",
    "intel-320-300gb",
    "ddrdrive-x1",
];

/// Constants of a candidate: bytes per map entry, programs per leaf.
type Constants = (u32, u32);

/// What one run gave.
#[derive(Clone, Debug)]
struct Outcome {
    /// Mean of the last minute, commands per second.
    iops: f64,
    /// Mean of the first, sixth and eleventh minute.
    early: [f64; 3],
    /// NAND bytes programmed / host bytes written over the last ten minutes.
    waf: f64,
    /// Map misses per host write, over the same.
    misses: f64,
}

/// The protocol, on a drive of this configuration.
fn run(config: &DriveConfig) -> Outcome {
    let mut drive = Drive::new(config.clone()).expect("checked by the catalogue");
    let units = config.user_bytes / 4096;
    let mut rng = Rng::named(1, "rw80");
    let mut next = move || Command::write(rng.below(units) * 4096, 4096);
    for tag in 0..32 {
        drive.submit(tag, &next(), Nanos(0));
    }
    let mut per_minute = vec![0_u64; MINUTES as usize];
    let mut before = drive.counters().clone();
    let last_ten = (MINUTES - 10) * MINUTE;
    let mut in_last_ten = false;
    while let Some(completion) = drive.pop_completion(Nanos(MINUTES * MINUTE)) {
        let at = completion.done.0;
        if let Some(count) = per_minute.get_mut((at / MINUTE) as usize) {
            *count += 1;
        }
        if !in_last_ten && at >= last_ten {
            in_last_ten = true;
            before = drive.counters().clone();
        }
        drive.submit(completion.tag, &next(), completion.done);
    }
    let after = drive.counters();
    let writes = (after.host_writes - before.host_writes) as f64;
    let rate = |minute: u64| per_minute[minute as usize] as f64 / 60.0;
    Outcome {
        iops: rate(MINUTES - 1),
        early: [rate(0), rate(5), rate(10)],
        waf: after
            .waf_since(&before, config.shape.slot_bytes)
            .unwrap_or(0.0),
        misses: (after.map_misses - before.map_misses) as f64 / writes,
    }
}

/// Members with a published figure.
fn members(family: &str) -> Vec<(CatalogueDrive, f64)> {
    let names = catalogue::names().expect("the catalogue is good");
    names
        .iter()
        .filter(|name| MEASURED.contains(&name.as_str()))
        .map(|name| catalogue::drive(name).expect("the catalogue is good"))
        .filter(|drive| drive.family() == family)
        .filter_map(|drive| {
            let published = f64::from(drive.file.documented.rw80_iops.as_ref()?.value);
            Some((drive, published))
        })
        .collect()
}

/// All candidates on all members, over the cores.
fn all(members: &[(CatalogueDrive, f64)], grid: &[Option<Constants>]) -> Vec<Vec<Outcome>> {
    let jobs: Vec<(usize, usize)> = (0..members.len())
        .flat_map(|m| (0..grid.len()).map(move |g| (m, g)))
        .collect();
    let next = Mutex::new(jobs.into_iter());
    let done = Mutex::new(Vec::new());
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some((m, g)) = next.lock().expect("not poisoned").next() else {
                        return;
                    };
                    let mut config = members[m].0.config.clone();
                    if let Some((entry, programs)) = grid[g] {
                        config.ftl.mapping.entry_bytes = entry;
                        config.ftl.mapping.leaf_programs = programs;
                    }
                    let outcome = run(&config);
                    done.lock().expect("not poisoned").push((m, g, outcome));
                }
            });
        }
    });
    let mut done = done.into_inner().expect("not poisoned");
    done.sort_by_key(|&(m, g, _)| (m, g));
    done.chunks(grid.len())
        .map(|chunk| chunk.iter().map(|(_, _, o)| o.clone()).collect())
        .collect()
}

/// The candidate that does best on all members but `left_out`.
fn best(ours: &[Vec<Outcome>], published: &[f64], left_out: Option<usize>) -> usize {
    let score = |g: usize| -> f64 {
        (0..ours.len())
            .filter(|&m| Some(m) != left_out)
            .map(|m| (ours[m][g].iops / published[m]).ln().powi(2))
            .sum()
    };
    (0..ours[0].len())
        .min_by(|&a, &b| score(a).total_cmp(&score(b)))
        .unwrap_or(0)
}

fn print_row(name: &str, published: f64, o: &Outcome) {
    println!(
        "{name:18} {published:9.0} {:8.0} {:+6.0} %  {:5.1} {:6.2}  {:6.0} {:6.0} {:6.0}",
        o.iops,
        (o.iops / published - 1.0) * 100.0,
        o.waf,
        o.misses,
        o.early[0],
        o.early[1],
        o.early[2],
    );
}

/// The numbers after an option, or the usual ones.
fn list(arguments: &[String], option: &str, usual: &[u32]) -> Vec<u32> {
    let at = arguments.iter().position(|a| a == option);
    let given = at.and_then(|at| arguments.get(at + 1));
    given.map_or(usual.to_vec(), |text| {
        text.split(',').filter_map(|n| n.parse().ok()).collect()
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let leave_one_out = arguments.iter().any(|a| a == "--leave-one-out");
    let entries = list(&arguments, "--entry", &[8, 16]);
    let programs = list(&arguments, "--programs", &[3, 4, 6, 8, 10, 12]);
    let families = arguments
        .iter()
        .filter(|a| a.starts_with(|c: char| c.is_ascii_alphabetic()));
    for family in families {
        let members = members(family);
        if members.is_empty() {
            eprintln!("{family}: no member has documented.rw80_iops");
            continue;
        }
        if leave_one_out {
            report_left_out(&members, &entries, &programs);
        } else {
            report_as_given(family, &members);
        }
    }
}

fn report_as_given(family: &str, members: &[(CatalogueDrive, f64)]) {
    println!("{family}, as in the catalogue\n{HEAD}");
    for (m, row) in all(members, &[None]).iter().enumerate() {
        print_row(&members[m].0.file.name, members[m].1, &row[0]);
    }
}

fn report_left_out(members: &[(CatalogueDrive, f64)], entries: &[u32], programs: &[u32]) {
    let published: Vec<f64> = members.iter().map(|m| m.1).collect();
    let grid: Vec<Option<Constants>> = entries
        .iter()
        .flat_map(|&entry| programs.iter().map(move |&p| Some((entry, p))))
        .collect();
    let ours = all(members, &grid);
    let show = |m: usize, g: usize| print_row(&members[m].0.file.name, published[m], &ours[m][g]);
    println!("(bytes per map entry, programs per leaf)\n{HEAD}");
    for (g, constants) in grid.iter().enumerate() {
        println!("{constants:?}");
        (0..members.len()).for_each(|m| show(m, g));
    }
    let fitted = best(&ours, &published, None);
    println!("fitted to all: {:?}", grid[fitted]);
    for m in 0..members.len() {
        let without = best(&ours, &published, Some(m));
        println!("fitted without this one: {:?}", grid[without]);
        show(m, without);
    }
}

const HEAD: &str =
    "drive              published     ours   error    WAF misses  minute 1      6     11";
