//! Article zil: 80 minutes of 4 KiB random writes after a secure erase.

use super::experiment::{Outcome, Series, Setup, stopped};
use ssdlab_base::LabError;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_bench::analysis::stats;
use ssdlab_bench::engine::devices::{Devices, Done, Source};
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::counters::DriveCounters;
use ssdlab_ssd::geometry::Geometry;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

const MINUTE: u64 = 60_000_000_000;
const MINUTES: usize = 80;
/// The ten minutes at the end, over which write amplification is taken.
const LAST_TEN: usize = 10;
const IDLE_MINUTES: u64 = 10;
const MINUTES_AFTER_IDLE: usize = 2;
const DEPTH: u32 = 32;
const BLOCK: u32 = 4096;
const LARGE: u32 = 8192;
const MINUTES_LARGE: usize = 5;

/// Commands are made this many ahead of their turn, so that the drive's memory can be fetched.
const AHEAD: usize = 32;
/// And what the map leads to is fetched this many ahead of its turn.
const BEHIND: usize = 12;

/// Commands, some of them known ahead; a command that is not given stays the next one.
struct Load<F> {
    make: F,
    ahead: [Command; AHEAD],
    at: usize,
}

impl<F: FnMut() -> Command> Load<F> {
    fn new(mut make: F) -> Load<F> {
        let ahead = std::array::from_fn(|_| make());
        Load { make, ahead, at: 0 }
    }

    fn next(&mut self, drive: &Drive) -> Command {
        let later = (self.make)();
        drive.prefetch(&later);
        let command = std::mem::replace(&mut self.ahead[self.at % AHEAD], later);
        drive.prefetch_behind(&self.ahead[(self.at + BEHIND) % AHEAD]);
        self.at = (self.at + 1) % AHEAD;
        command
    }
}

/// A drive under a load of always [`DEPTH`] commands.
struct Loaded<'a> {
    devices: Devices,
    stop: &'a AtomicBool,
    /// Counters when the tenth minute before the end began.
    last_ten: Option<DriveCounters>,
}

/// A load for some minutes.
struct Minutes<'a, F> {
    load: &'a mut Load<F>,
    start: Nanos,
    /// Commands completed in each minute.
    done: Vec<u64>,
    completed: u64,
    stop: &'a AtomicBool,
    stopped: bool,
    last_ten: &'a mut Option<DriveCounters>,
}

impl<F: FnMut() -> Command> Source for Minutes<'_, F> {
    fn next(&mut self, drive: &Drive) -> Option<Command> {
        (!self.stopped).then(|| self.load.next(drive))
    }

    fn done(&mut self, drive: &Drive, done: &Done) {
        self.completed += 1;
        let minute = ((done.done.0 - self.start.0) / MINUTE) as usize;
        if self.last_ten.is_none() && minute + LAST_TEN >= MINUTES {
            *self.last_ten = Some(drive.counters().clone());
        }
        if let Some(done) = self.done.get_mut(minute) {
            *done += 1;
        }
        let looks = self.completed.is_multiple_of(1 << 16);
        self.stopped |= looks && self.stop.load(Ordering::Relaxed);
    }
}

fn make(entry: &CatalogueDrive) -> Result<Drive, LabError> {
    refuse_if_too_big(&entry.file.name, entry.config.memory_bytes(), 1)?;
    Drive::new(entry.config.clone())
        .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))
}

impl<'a> Loaded<'a> {
    fn new(entry: &CatalogueDrive, setup: &Setup<'a>) -> Result<Loaded<'a>, LabError> {
        Ok(Loaded {
            devices: Devices::one(make(entry)?),
            stop: setup.stop,
            last_ten: None,
        })
    }

    /// Keeps the drive busy from now for `count` minutes; commands a second in each.
    fn minutes(
        &mut self,
        count: usize,
        load: &mut Load<impl FnMut() -> Command>,
    ) -> Result<Vec<f64>, LabError> {
        let start = self.devices.now();
        let mut minutes = Minutes {
            load,
            start,
            done: vec![0; count],
            completed: 0,
            stop: self.stop,
            stopped: false,
            last_ten: &mut self.last_ten,
        };
        let end = Nanos(start.0 + count as u64 * MINUTE);
        self.devices.keep(DEPTH, end, &mut minutes);
        if minutes.stopped {
            return Err(stopped());
        }
        Ok(minutes
            .done
            .iter()
            .map(|done| *done as f64 / 60.0)
            .collect())
    }

    fn drive(&self) -> &Drive {
        self.devices.drive(0)
    }

    fn checks(&self, outcome: &mut Outcome) {
        for check in self.devices.checks() {
            outcome.check(&check.name, check.failure.map_or(Ok(()), Err));
        }
    }
}

/// Runs the protocol on the named drive, then idles and writes once more.
///
/// # Errors
/// When the drive is not in the catalogue or does not fit in memory, or the run is stopped.
pub fn run(name: &str, setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let entry = catalogue::drive(name)?;
    let mut loaded = Loaded::new(&entry, setup)?;
    let blocks = entry.config.user_bytes / u64::from(BLOCK);
    let mut rng = Rng::named(setup.seed, "rw80");
    let mut next = Load::new(move || Command::write(rng.below(blocks) * u64::from(BLOCK), BLOCK));
    let minutes = loaded.minutes(MINUTES, &mut next)?;
    let now = loaded.drive().counters();
    let slot = entry.config.shape.slot_bytes;
    let waf = loaded
        .last_ten
        .as_ref()
        .and_then(|before| now.waf_since(before, slot));
    loaded.devices.settle();
    loaded.devices.rest(Nanos(IDLE_MINUTES * MINUTE));
    let again = loaded.minutes(MINUTES_AFTER_IDLE, &mut next)?;
    let waf_8k = large(&mut loaded, &entry, setup.seed)?;
    let mut outcome = Outcome {
        rests_on: entry.rests_on(),
        ..Outcome::default()
    };
    loaded.checks(&mut outcome);
    measure(&mut outcome, &minutes, &again);
    if let Some(waf) = waf {
        outcome.value("waf", waf);
    }
    prices(&mut outcome, &entry);
    endurance(&mut outcome, &entry, waf, waf_8k);
    Ok(outcome)
}

/// Where the maker rates 8 KiB writes too: ten minutes of them, and the write amplification of the
/// last five.
fn large(
    loaded: &mut Loaded<'_>,
    entry: &CatalogueDrive,
    seed: u64,
) -> Result<Option<f64>, LabError> {
    let mut waf = None;
    if entry.file.documented.rated_writes_8k.is_some() {
        let blocks = entry.config.user_bytes / u64::from(LARGE);
        let mut rng = Rng::named(seed, "rw80, 8 KiB");
        let mut next =
            Load::new(move || Command::write(rng.below(blocks) * u64::from(LARGE), LARGE));
        for _ in 0..2 {
            loaded.devices.settle();
            let before = loaded.drive().counters().clone();
            loaded.minutes(MINUTES_LARGE, &mut next)?;
            let now = loaded.drive().counters();
            waf = now.waf_since(&before, entry.config.shape.slot_bytes);
        }
    }
    loaded.devices.settle();
    Ok(waf)
}

/// What the host may write until the cells' cycles are used up, at these write amplifications.
fn endurance(outcome: &mut Outcome, entry: &CatalogueDrive, waf: Option<f64>, waf_8k: Option<f64>) {
    let Some(cycles) = &entry.file.documented.program_erase_cycles else {
        return;
    };
    let raw = Geometry::new(entry.config.shape).raw_bytes() as f64;
    let programmed = raw * f64::from(cycles.value);
    for (name, waf) in [("endurance_tb", waf), ("endurance_8k_tb", waf_8k)] {
        if let Some(waf) = waf.filter(|waf| *waf > 0.0) {
            outcome.value(name, programmed / waf / 1e12);
        }
    }
}

fn measure(outcome: &mut Outcome, minutes: &[f64], again: &[f64]) {
    let last = minutes[minutes.len() - 1];
    let mean = stats::mean(minutes);
    let farthest = minutes.iter().map(|m| (m / mean - 1.0).abs());
    outcome.value("iops", last);
    outcome.value("minute_1", minutes[0]);
    outcome.value("minute_11", minutes[10]);
    outcome.value("minute_11_over_1", minutes[10] / minutes[0]);
    outcome.value("minute_80_over_1", last / minutes[0]);
    outcome.value("after_idle", stats::mean(again));
    outcome.value("after_idle_over_before", stats::mean(again) / last);
    outcome.value("unevenness_pct", 100.0 * farthest.fold(0.0, f64::max));
    outcome.series.push(Series {
        name: "iops".into(),
        step_s: 60.0,
        y: minutes.to_vec(),
    });
    outcome.series.push(Series {
        name: "after_idle".into(),
        step_s: 60.0,
        y: again.to_vec(),
    });
}

/// What the rate is worth in money and in the drive's rated life.
fn prices(outcome: &mut Outcome, entry: &CatalogueDrive) {
    let iops = outcome.values["iops"];
    if let Some(price) = &entry.file.documented.price_usd {
        outcome.value("price_usd", f64::from(price.value));
        outcome.value("iops_per_dollar", iops / f64::from(price.value));
    }
    if let Some(rated) = entry.rated_bytes_written() {
        let rated = rated as f64;
        let per_day = iops * f64::from(BLOCK) * 86_400.0;
        outcome.value("rated_tb", rated / 1e12);
        outcome.value("days_to_rating", rated / per_day);
    }
}

/// The X1 under four patterns.
///
/// # Errors
/// When the run is stopped.
pub fn x1_patterns(setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let entry = catalogue::drive("ddrdrive-x1")?;
    let blocks = entry.config.user_bytes / u64::from(BLOCK) - 1;
    let mut outcome = Outcome {
        rests_on: entry.rests_on(),
        ..Outcome::default()
    };
    let mut rates = Vec::new();
    for pattern in ["random", "sequential", "unaligned", "trimmed"] {
        let mut loaded = Loaded::new(&entry, setup)?;
        let mut rng = Rng::named(setup.seed, pattern);
        let mut count = 0;
        let mut next = Load::new(move || {
            count += 1;
            let place = rng.below(blocks) * u64::from(BLOCK);
            match pattern {
                "sequential" => Command::write(count % blocks * u64::from(BLOCK), BLOCK),
                "unaligned" => Command::write(place + 512, BLOCK),
                "trimmed" if count % 16 == 0 => Command::trim(place, BLOCK),
                _ => Command::write(place, BLOCK),
            }
        });
        let rate = loaded.minutes(1, &mut next)?[0];
        loaded.devices.settle();
        loaded.checks(&mut outcome);
        outcome.value(pattern, rate);
        rates.push(rate);
    }
    let highest = rates.iter().copied().fold(f64::MIN, f64::max);
    let lowest = rates.iter().copied().fold(f64::MAX, f64::min);
    outcome.value(
        "spread_pct",
        100.0 * (highest - lowest) / stats::mean(&rates),
    );
    Ok(outcome)
}
