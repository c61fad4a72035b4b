//! No possible drive, under any commands, contradicts itself, loses a command or hangs. Whole
//! configurations and command mixes are drawn from a seed; the drive checks itself repeatedly, a
//! plain set gives the slots that must be mapped, and where the law holds the counting gear must
//! produce the same map.
//!
//! `SSDLAB_SWARM=10000` sets the number of seeds, `SSDLAB_SWARM=17..18` the range of seeds.

mod kinds;

use kinds::commands::{Mix, effect};
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig, DriveCounters, Nanos};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::mpsc;
use std::time::Duration;

/// Options of a run, and the laws that must hold.
#[derive(Clone, Copy, Debug)]
struct Manner {
    /// Commands in progress at once.
    depth: u32,
    /// Pauses with idle work, and secure erases.
    pauses: bool,
}

struct Run {
    drive: Drive,
    twin: Option<CountingDrive>,
    written: BTreeSet<u64>,
    free: Vec<u32>,
    rng: Rng,
    manner: Manner,
    slot: u64,
}

impl Run {
    fn new(config: DriveConfig, seed: u64) -> Run {
        let mut rng = Rng::named(seed, "swarm run");
        let pauses = rng.percent(50);
        let twin = (!pauses).then(|| CountingDrive::new(config.clone()).expect("valid"));
        let deep = pauses || !kinds::reads_matter(&config);
        let depth = if deep { 1 + rng.below(16) as u32 } else { 1 };
        Run {
            slot: config.shape.slot_bytes.into(),
            drive: Drive::new(config).expect("valid"),
            twin,
            written: BTreeSet::new(),
            free: (0..depth).collect(),
            rng,
            manner: Manner { depth, pauses },
        }
    }

    fn wait(&mut self, until: Nanos) {
        while let Some(done) = self.drive.pop_completion(until) {
            assert!(done.done >= done.submitted, "{done:?}");
            self.free.push(done.tag);
        }
    }

    fn submit(&mut self, command: &Command) {
        if self.manner.pauses && self.rng.percent(3) {
            let most = if self.rng.percent(50) {
                100_000
            } else {
                100_000_000
            };
            let until = self.drive.now().0 + self.rng.below(most);
            self.wait(Nanos(until));
        }
        if self.free.is_empty() {
            let done = self.drive.pop_completion(Nanos::MAX).expect("under way");
            self.free.push(done.tag);
        }
        let tag = self.free.pop().expect("a free tag");
        self.drive.submit(tag, command, self.drive.now());
        if let Some(twin) = &mut self.twin {
            twin.apply(command);
        }
        match effect(command, self.slot) {
            Some((slots, true)) => self.written.extend(slots),
            Some((slots, false)) => slots.for_each(|slot| {
                self.written.remove(&slot);
            }),
            None => {}
        }
    }

    fn settle(&mut self) {
        while self.drive.outstanding() > 0 {
            let done = self.drive.pop_completion(Nanos::MAX).expect("under way");
            self.free.push(done.tag);
        }
        assert_eq!(self.free.len(), self.manner.depth as usize, "served once");
    }

    fn check(&self) {
        if let Err(error) = self.drive.check() {
            panic!("{error}");
        }
        let now = self.drive.now().0;
        let dies = 0..self.drive.config().geometry().die_count;
        let free_at = dies.map(|die| self.drive.die_free_at(die).0).max();
        let end = now.max(free_at.unwrap_or(0));
        let (dies, channels) = self.drive.busy_ns();
        let worked: u64 = dies.iter().sum();
        let purposes = self.drive.busy_by_purpose().iter().sum::<u64>();
        assert_eq!(worked, purposes, "busy time by die and by purpose");
        assert!(dies.iter().all(|&busy| busy <= end), "{dies:?} in {end}");
        // A channel's last transfer may end after its die has continued (cache read).
        let slack = 1_000_000_000;
        assert!(channels.iter().all(|&busy| busy <= end + slack));
    }

    fn compare(&self) {
        for slot in 0..self.drive.config().user_slots() {
            let found = self.drive.find(slot as u32);
            let mapped = found != SlotPlace::Unmapped;
            let written = self.written.contains(&slot);
            assert!(mapped == written, "slot {slot}");
            if let Some(twin) = &self.twin {
                assert_eq!(found, twin.find(slot as u32), "slot {slot} in both gears");
            }
        }
        let Some(twin) = &self.twin else {
            return;
        };
        twin.check().expect("the twin is consistent");
        let pairs = self.drive.counters().named().into_iter();
        for ((name, timed), (_, counted)) in pairs.zip(twin.counters().named()) {
            if !name.starts_with("nand_reads") {
                assert_eq!(timed, counted, "{name} in both gears");
            }
        }
    }
}

fn run(config: DriveConfig, seed: u64) -> Drive {
    let mut run = Run::new(config.clone(), seed);
    let media = config.geometry().raw_bytes() / u64::from(config.shape.slot_bytes);
    let mut left = (media * (1 + seed % 6)) as i64;
    for (number, command) in (0..).zip(Mix::new(&config, seed)) {
        left -= i64::from(command.len / config.shape.slot_bytes) + 1;
        if left < 0 {
            break;
        }
        run.submit(&command);
        if number % 100 == 0 {
            run.check();
        }
        if run.manner.pauses && number % 1000 == 999 {
            run.settle();
            run.compare();
            let end = run.drive.secure_erase(run.drive.now());
            assert_eq!(end, run.drive.now());
            run.written.clear();
        }
    }
    run.settle();
    run.check();
    run.compare();
    run.drive
}

/// Seeds to run.
fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("SSDLAB_SWARM") else {
        return 0..1_000;
    };
    let number = |text: &str| text.parse().expect("a number, or first..last");
    match text.split_once("..") {
        Some((first, last)) => number(first)..number(last),
        None => 0..number(&text),
    }
}

/// Outcome of a run: the counters, or the complaint about the drive.
fn outcome(seed: u64, config: DriveConfig) -> Result<DriveCounters, String> {
    let outcome = std::panic::catch_unwind(|| run(config, seed).counters().clone());
    let payload = match outcome {
        Ok(counters) => return Ok(counters),
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).into()));
    let text = text.unwrap_or_default().replace('\n', " ");
    Err(format!("seed {seed}: {text}"))
}

#[test]
fn no_possible_drive_contradicts_itself() {
    let (reported, reports) = mpsc::channel();
    std::thread::spawn(move || {
        for seed in seeds() {
            let outcome = outcome(seed, kinds::random::reading_ahead(seed));
            if reported.send((seed, outcome)).is_err() {
                return;
            }
        }
    });
    let mut complaints = Vec::new();
    let mut reached = BTreeMap::new();
    let mut next = seeds().start;
    loop {
        match reports.recv_timeout(Duration::from_secs(120)) {
            Ok((seed, outcome)) => {
                next = seed + 1;
                match outcome {
                    Ok(counters) => count(&mut reached, &counters),
                    Err(text) => complaints.push((seed, text)),
                }
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                complaints.push((next, format!("seed {next}: hangs")));
                break;
            }
        }
    }
    let texts: Vec<&str> = complaints.iter().map(|(_, text)| text.as_str()).collect();
    if let Some(&(seed, _)) = complaints.first() {
        let config = kinds::random::reading_ahead(seed);
        panic!(
            "{config:?}\n{}\n{} seeds in all",
            texts.join("\n"),
            texts.len()
        );
    }
    println!("of {:?}, drives that counted: {reached:?}", seeds());
    // A swarm that never reaches reclaim, folding or refresh does not test them.
    let few = reached.iter().find(|(name, drives)| {
        !ALWAYS_ZERO.contains(name) && **drives < (seeds().end - seeds().start) / 100
    });
    assert!(
        few.is_none() || seeds().end - seeds().start < 100,
        "{few:?}"
    );
}

/// Counters of the map that merged (decision 065).
const ALWAYS_ZERO: [&str; 2] = ["slots_merged", "merges"];

/// Number of drives on which each counter changed.
fn count(reached: &mut BTreeMap<&'static str, u64>, counters: &DriveCounters) {
    for (name, value) in counters.named() {
        *reached.entry(name).or_default() += u64::from(value > 0);
    }
}

/// Canary: a swarm that cannot fail proves nothing. The set claims that nothing is written.
#[test]
#[should_panic(expected = "slot 3")]
fn a_wrong_drive_is_noticed() {
    let mut run = Run::new(kinds::bare(), 0);
    run.submit(&Command::write(3 * kinds::SLOT, 4096));
    run.settle();
    run.written.clear();
    run.compare();
}
