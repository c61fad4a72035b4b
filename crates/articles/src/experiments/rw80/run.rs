//! Article zil: 80 minutes of 4 KiB random writes after a secure erase.

use crate::keys::{ExperimentKey, keys};
use crate::number::number;
use crate::outcome::{
    Experiment, ExperimentInfo, ExperimentOutcome, ExperimentRecords, ExperimentSetup, stopped,
};
use ssdlab_base::LabError;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_bench::analysis::stats;
use ssdlab_bench::engine::devices::{CommandSource, DeviceCompletion, Devices};
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::counters::DriveCounters;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

keys! {
    pub(crate) enum Rw80Measure {
        Iops = "iops",
        Minute1 = "minute_1",
        Minute11 = "minute_11",
        Minute11Over1 = "minute_11_over_1",
        Minute80Over1 = "minute_80_over_1",
        AfterIdle = "after_idle",
        AfterIdleOverBefore = "after_idle_over_before",
        UnevennessPct = "unevenness_pct",
        Waf = "waf",
        PriceUsd = "price_usd",
        IopsPerDollar = "iops_per_dollar",
        RatedTb = "rated_tb",
        DaysToRating = "days_to_rating",
    }

    pub(crate) enum Rw80Curve {
        Iops = "iops",
        AfterIdle = "after_idle",
    }
}

type Rw80Experiment = Experiment<Rw80Measure, Rw80Curve>;
type Rw80Outcome = ExperimentOutcome<Rw80Measure, Rw80Curve>;

const fn drive(
    name: &'static str,
    weight: u32,
    run: fn(&ExperimentSetup<'_>) -> Result<Rw80Outcome, LabError>,
) -> Rw80Experiment {
    let protocol = "secure erase, 4 KiB random writes over the whole drive, 32 outstanding, 80 \
                minutes; ten idle minutes; two minutes more";
    let about = ExperimentInfo {
        name,
        what: protocol,
        weight,
    };
    Experiment { about, run }
}

/// The drives that the article measured.
pub(crate) static DRIVES: [&Rw80Experiment; 7] = [
    &drive("rw80.710_100", 26, |setup| run("intel-710-100gb", setup)),
    &drive("rw80.710_200", 34, |setup| run("intel-710-200gb", setup)),
    &drive("rw80.710_300", 44, |setup| run("intel-710-300gb", setup)),
    &drive("rw80.320_40", 4, |setup| run("intel-320-40gb", setup)),
    &drive("rw80.320_160", 14, |setup| run("intel-320-160gb", setup)),
    &drive("rw80.320_300", 22, |setup| run("intel-320-300gb", setup)),
    &drive("rw80.x1", 60, |setup| run("ddrdrive-x1", setup)),
];

keys! {
    pub(crate) enum X1WritePattern {
        Random = "random",
        Sequential = "sequential",
        Unaligned = "unaligned",
        Trimmed = "trimmed",
        SpreadPct = "spread_pct",
    }
}

pub(crate) static PATTERNS: Experiment<X1WritePattern> = Experiment {
    about: ExperimentInfo {
        name: "x1.patterns",
        what: "4 KiB writes, 32 outstanding, a minute each: random, sequential, unaligned, random \
               between TRIMs",
        weight: 3,
    },
    run: x1_patterns,
};

/// A measure that compares several of the [`DRIVES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CrossDriveMeasure {
    /// 1 when the 710s rank as published, fastest first: 200, 300, 100 GB.
    Order710,
    /// Minute 11 over minute 1 of the drive that keeps most.
    DegradeEarly,
    /// Minute 80 over minute 1 of the drive that keeps most.
    DegradeLate,
    /// Rate after ten idle minutes over that before, of the drive that gains most.
    DegradeIdle,
}

impl CrossDriveMeasure {
    /// By name in the list of figures.
    pub const NAMES: [(&str, CrossDriveMeasure); 4] = [
        ("order_710", CrossDriveMeasure::Order710),
        ("degrade_early", CrossDriveMeasure::DegradeEarly),
        ("degrade_late", CrossDriveMeasure::DegradeLate),
        ("degrade_idle", CrossDriveMeasure::DegradeIdle),
    ];

    /// The value over `drives`, and its text if it has one; `None` unless all of them were run.
    pub fn of(
        self,
        drives: &[&Rw80Experiment],
        records: &ExperimentRecords,
    ) -> Option<(f64, Option<String>)> {
        let values = |measure| -> Option<Vec<f64>> {
            drives
                .iter()
                .map(|drive| records.value(drive, measure))
                .collect()
        };
        let most = |measure| Some((values(measure)?.into_iter().reduce(f64::max)?, None));
        match self {
            CrossDriveMeasure::Order710 => {
                let iops = values(Rw80Measure::Iops)?;
                let [small, middle, large] = iops[..] else {
                    return None;
                };
                let holds = middle > large && large > small;
                let [small, middle, large] = [small, middle, large].map(number);
                let text = format!("200: {middle}, 300: {large}, 100: {small}");
                Some((f64::from(u8::from(holds)), Some(text)))
            }
            CrossDriveMeasure::DegradeEarly => most(Rw80Measure::Minute11Over1),
            CrossDriveMeasure::DegradeLate => most(Rw80Measure::Minute80Over1),
            CrossDriveMeasure::DegradeIdle => most(Rw80Measure::AfterIdleOverBefore),
        }
    }
}

const MINUTE: u64 = 60_000_000_000;
const MINUTES: usize = 80;
/// The last minutes, over which write amplification is measured.
const LAST_TEN: usize = 10;
const IDLE_MINUTES: u64 = 10;
const MINUTES_AFTER_IDLE: usize = 2;
const DEPTH: u32 = 32;
const BLOCK: u32 = 4096;

/// Commands from the prefetch of a map entry to the command's turn.
const AHEAD: usize = 32;
/// Commands from the prefetch of what the entry points to, to that turn.
const ENTRY_AHEAD: usize = 12;

/// Commands, each made [`AHEAD`] turns early to prefetch its memory.
struct PrefetchedCommands<F> {
    make: F,
    ahead: [Command; AHEAD],
    position: usize,
}

impl<F: FnMut() -> Command> PrefetchedCommands<F> {
    fn new(mut make: F) -> PrefetchedCommands<F> {
        let ahead = std::array::from_fn(|_| make());
        PrefetchedCommands {
            make,
            ahead,
            position: 0,
        }
    }

    fn next(&mut self, drive: &Drive) -> Command {
        let later = (self.make)();
        drive.prefetch(&later);
        let command = std::mem::replace(&mut self.ahead[self.position], later);
        drive.prefetch_behind(&self.ahead[(self.position + ENTRY_AHEAD) % AHEAD]);
        self.position = (self.position + 1) % AHEAD;
        command
    }
}

/// A drive that is kept at [`DEPTH`] outstanding commands.
struct LoadedDrive<'a> {
    devices: Devices,
    stop: &'a AtomicBool,
    /// Counters at the start of the last [`LAST_TEN`] minutes.
    last_ten: Option<DriveCounters>,
}

/// A load for some minutes.
struct MinuteLoad<'a, F> {
    load: &'a mut PrefetchedCommands<F>,
    start: Nanos,
    /// Commands completed in each minute.
    done: Vec<u64>,
    completed: u64,
    stop: &'a AtomicBool,
    stopped: bool,
    last_ten: &'a mut Option<DriveCounters>,
}

impl<F: FnMut() -> Command> CommandSource for MinuteLoad<'_, F> {
    fn next(&mut self, drive: &Drive) -> Option<Command> {
        (!self.stopped).then(|| self.load.next(drive))
    }

    fn done(&mut self, drive: &Drive, completion: &DeviceCompletion) {
        self.completed += 1;
        let minute = ((completion.done.0 - self.start.0) / MINUTE) as usize;
        if self.last_ten.is_none() && minute + LAST_TEN >= MINUTES {
            *self.last_ten = Some(drive.counters().clone());
        }
        if let Some(count) = self.done.get_mut(minute) {
            *count += 1;
        }
        let polls_stop = self.completed.is_multiple_of(1 << 16);
        self.stopped |= polls_stop && self.stop.load(Ordering::Relaxed);
    }
}

fn make(entry: &CatalogueDrive) -> Result<Drive, LabError> {
    refuse_if_too_big(&entry.file.name, entry.config.memory_bytes(), 1)?;
    Drive::new(entry.config.clone())
        .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))
}

impl<'a> LoadedDrive<'a> {
    fn new(
        entry: &CatalogueDrive,
        setup: &ExperimentSetup<'a>,
    ) -> Result<LoadedDrive<'a>, LabError> {
        Ok(LoadedDrive {
            devices: Devices::one(make(entry)?),
            stop: setup.stop,
            last_ten: None,
        })
    }

    /// Keeps the drive busy for `count` minutes and returns the commands a second of each.
    fn minutes(
        &mut self,
        count: usize,
        load: &mut PrefetchedCommands<impl FnMut() -> Command>,
    ) -> Result<Vec<f64>, LabError> {
        let start = self.devices.now();
        let mut minutes = MinuteLoad {
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

    fn checks<M: ExperimentKey, L: ExperimentKey>(&self, outcome: &mut ExperimentOutcome<M, L>) {
        for check in self.devices.checks() {
            outcome.check(check.name, check.failure.map_or(Ok(()), Err));
        }
    }
}

/// Runs the protocol on the named drive, then idles and writes once more.
fn run(name: &str, setup: &ExperimentSetup<'_>) -> Result<Rw80Outcome, LabError> {
    let entry = catalogue::drive(name)?;
    let mut loaded = LoadedDrive::new(&entry, setup)?;
    let blocks = entry.config.user_bytes / u64::from(BLOCK);
    let mut rng = Rng::named(setup.seed, "rw80");
    let mut next = PrefetchedCommands::new(move || {
        Command::write(rng.below(blocks) * u64::from(BLOCK), BLOCK)
    });
    let minutes = loaded.minutes(MINUTES, &mut next)?;
    let counters = loaded.drive().counters();
    let slot = entry.config.shape.slot_bytes;
    let waf = loaded
        .last_ten
        .as_ref()
        .and_then(|before| counters.waf_since(before, slot));
    loaded.devices.settle();
    loaded.devices.rest(Nanos(IDLE_MINUTES * MINUTE));
    let after_idle = loaded.minutes(MINUTES_AFTER_IDLE, &mut next)?;
    loaded.devices.settle();
    let mut outcome = ExperimentOutcome::resting_on(entry.rests_on());
    loaded.checks(&mut outcome);
    measure(&mut outcome, &minutes, &after_idle);
    outcome.value(Rw80Measure::Waf, waf);
    prices(&mut outcome, &entry);
    Ok(outcome)
}

fn measure(outcome: &mut Rw80Outcome, minutes: &[f64], after_idle: &[f64]) {
    let last = minutes[minutes.len() - 1];
    let mean = stats::mean(minutes);
    let deviations = minutes.iter().map(|m| (m / mean - 1.0).abs());
    for (measure, value) in [
        (Rw80Measure::Iops, last),
        (Rw80Measure::Minute1, minutes[0]),
        (Rw80Measure::Minute11, minutes[10]),
        (Rw80Measure::Minute11Over1, minutes[10] / minutes[0]),
        (Rw80Measure::Minute80Over1, last / minutes[0]),
        (Rw80Measure::AfterIdle, stats::mean(after_idle)),
        (
            Rw80Measure::AfterIdleOverBefore,
            stats::mean(after_idle) / last,
        ),
        (
            Rw80Measure::UnevennessPct,
            100.0 * deviations.fold(0.0, f64::max),
        ),
    ] {
        outcome.value(measure, value);
    }
    outcome.series(Rw80Curve::Iops, 60.0, minutes.to_vec());
    outcome.series(Rw80Curve::AfterIdle, 60.0, after_idle.to_vec());
}

/// IOPS per dollar, and days until the rated writes are used up at this rate.
fn prices(outcome: &mut Rw80Outcome, entry: &CatalogueDrive) {
    let iops = outcome.get(Rw80Measure::Iops).unwrap_or(f64::NAN);
    let price = entry.file.documented.price_usd.as_ref();
    let price = price.map(|price| f64::from(price.value));
    outcome.value(Rw80Measure::PriceUsd, price);
    outcome.value(Rw80Measure::IopsPerDollar, price.map(|price| iops / price));
    let rated = entry.rated_bytes_written().map(|bytes| bytes as f64);
    let per_day = iops * f64::from(BLOCK) * 86_400.0;
    outcome.value(Rw80Measure::RatedTb, rated.map(|bytes| bytes / 1e12));
    outcome.value(
        Rw80Measure::DaysToRating,
        rated.map(|bytes| bytes / per_day),
    );
}

/// The X1 under four patterns.
fn x1_patterns(setup: &ExperimentSetup<'_>) -> Result<ExperimentOutcome<X1WritePattern>, LabError> {
    let entry = catalogue::drive("ddrdrive-x1")?;
    let blocks = entry.config.user_bytes / u64::from(BLOCK) - 1;
    let mut outcome = ExperimentOutcome::resting_on(entry.rests_on());
    let mut rates = Vec::new();
    for pattern in [
        X1WritePattern::Random,
        X1WritePattern::Sequential,
        X1WritePattern::Unaligned,
        X1WritePattern::Trimmed,
    ] {
        let mut loaded = LoadedDrive::new(&entry, setup)?;
        let mut rng = Rng::named(setup.seed, &pattern.name());
        let mut count = 0;
        let mut next = PrefetchedCommands::new(move || {
            count += 1;
            let place = rng.below(blocks) * u64::from(BLOCK);
            match pattern {
                X1WritePattern::Sequential => {
                    Command::write(count % blocks * u64::from(BLOCK), BLOCK)
                }
                X1WritePattern::Unaligned => Command::write(place + 512, BLOCK),
                X1WritePattern::Trimmed if count % 16 == 0 => Command::trim(place, BLOCK),
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
    let spread = 100.0 * (highest - lowest) / stats::mean(&rates);
    outcome.value(X1WritePattern::SpreadPct, spread);
    Ok(outcome)
}
