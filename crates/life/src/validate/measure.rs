//! Measures a drive's documented figures on its model.

use super::{
    DatasheetFigure, DocumentedFigure, RANGE_MAX, Validation, ValidationRow, WAF_CHANGE_MAX,
    WINDOW, documented, interval,
};
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::config::HostConfig;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands outstanding.
const DEPTH: u32 = 32;
/// Bytes of a random command.
const RANDOM: u32 = 4096;
/// Bytes of a sequential command.
const SEQUENTIAL: u32 = 128 << 10;
/// Random reads measured.
const READS: u64 = 200_000;
/// Commands one at a time.
const ALONE: u64 = 20_000;
/// Their mean, or the share that keeps the time.
const MEAN: Option<f64> = None;
const NINES: Option<f64> = Some(0.999);
/// Times that rounds may program all media. A map whose upkeep feeds on itself has no end.
const RAW_MAX: u64 = 30;
/// Parts of a round, after each of which that is looked at.
const PARTS: u64 = 16;
/// Most rounds of random writes, each half of the user capacity.
const ROUNDS_MAX: usize = 40;
/// Fewest: three times the user capacity.
const ROUNDS_MIN: usize = 6;

/// Measures every documented figure of a drive on its model, made smaller to about `capacity`
/// bytes.
///
/// # Errors
/// When the drive cannot be made so small, or `stop` was set.
pub fn validate(
    drive: &CatalogueDrive,
    capacity: u64,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Validation, LabError> {
    let small = scaled(&drive.config, capacity)?;
    let ratio = small.config.user_bytes as f64 / drive.config.user_bytes as f64;
    let sheet = &drive.file.documented;
    let span = match &sheet.random_span {
        Some(span) => Some((parse_size(&span.value)? as f64 * ratio) as u64),
        None => None,
    };
    let depth = sheet.random_depth.as_ref();
    let mut bench = ValidationBench {
        new: Devices::one(new_drive(&small.config)?),
        user: small.config.user_bytes / u64::from(SEQUENTIAL) * u64::from(SEQUENTIAL),
        depth: depth.map_or(DEPTH, |depth| depth.value.max(1)),
        span: span.map(|span| (span / u64::from(RANDOM)).max(u64::from(DEPTH))),
        compress_pct: sheet.compress_pct.as_ref().map_or(0, |pct| pct.value as u8),
        rng: Rng::named(seed, "validate"),
        stop,
    };
    let documented_figures = documented(drive)?;
    let figures: Vec<DatasheetFigure> = documented_figures
        .iter()
        .map(|sheet| sheet.figure)
        .collect();
    let (measured, checks) = bench.measure(&figures);
    if stop.load(Ordering::Relaxed) {
        return Err(LabError::refused("stopped", ""));
    }
    let row = |(documented, model): (DocumentedFigure, ModelFigure)| ValidationRow {
        ours: model.value,
        null: null(documented.figure, &drive.config.host),
        steady: model.steady,
        factor: interval::factor(&drive.file.name, documented.figure, documented.fitted),
        documented,
    };
    Ok(Validation {
        drive: drive.file.name.clone(),
        scaled: small.said,
        rows: documented_figures
            .into_iter()
            .zip(measured)
            .map(row)
            .collect(),
        checks,
    })
}

/// What controller, link and added latency alone give.
fn null(figure: DatasheetFigure, host: &HostConfig) -> f64 {
    let link = host.link_bytes_per_second as f64;
    let moved = f64::from(RANDOM) * 1e9 / link;
    let (read, write) = (host.command_overhead.0 as f64, host.write_overhead.0 as f64);
    let per_second = |overhead: f64| 1e9 / overhead.max(moved);
    match figure {
        DatasheetFigure::RandomRead => per_second(read),
        DatasheetFigure::RandomWrite => per_second(write),
        DatasheetFigure::Mixed => per_second(0.7 * read + 0.3 * write),
        DatasheetFigure::SequentialRead | DatasheetFigure::SequentialWrite => link,
        DatasheetFigure::ReadLatency | DatasheetFigure::Read999 => {
            read + moved + host.latency.0 as f64
        }
        DatasheetFigure::WriteLatency | DatasheetFigure::Write999 => {
            write + moved + (host.latency + host.write_latency).0 as f64
        }
    }
}

/// A figure of the model.
#[derive(Clone, Copy)]
struct ModelFigure {
    value: f64,
    steady: Option<bool>,
}

impl From<f64> for ModelFigure {
    fn from(value: f64) -> ModelFigure {
        ModelFigure {
            value,
            steady: None,
        }
    }
}

struct ValidationBench<'a> {
    /// The drive from the factory.
    new: Devices,
    /// Bytes of a pass.
    user: u64,
    /// Random commands outstanding.
    depth: u32,
    /// Random addresses, 4 KiB each, where the sheet names a span.
    span: Option<u64>,
    compress_pct: u8,
    rng: Rng,
    stop: &'a AtomicBool,
}

impl ValidationBench<'_> {
    /// The figures, and the self-checks of the drive that was written to most.
    fn measure(&mut self, figures: &[DatasheetFigure]) -> (Vec<ModelFigure>, Vec<SelfCheck>) {
        let mut full = self.new.clone();
        self.pass(&mut full, false);
        let sequential_write = self.pass(&mut full, false);
        let sequential_read = self.pass(&mut full.clone(), true);
        let random_read = self.random_reads(&mut full.clone());
        let mut used = match self.span {
            Some(_) => self.new.clone(),
            None => full.clone(),
        };
        let worn = [
            DatasheetFigure::RandomWrite,
            DatasheetFigure::Mixed,
            DatasheetFigure::Read999,
            DatasheetFigure::Write999,
        ];
        let random_write = match (figures.iter().any(|f| worn.contains(f)), self.span) {
            (false, _) => ModelFigure::from(0.0),
            (true, Some(slots)) => ModelFigure::from(self.short_run(&mut used, slots)),
            (true, None) => self.steady_run(&mut used),
        };
        let measure = |figure: &DatasheetFigure| match figure {
            DatasheetFigure::RandomRead => random_read.into(),
            DatasheetFigure::RandomWrite => random_write,
            DatasheetFigure::SequentialRead => sequential_read.into(),
            DatasheetFigure::SequentialWrite => sequential_write.into(),
            DatasheetFigure::Mixed => self.mixed(&mut used.clone()).into(),
            DatasheetFigure::ReadLatency => self.alone(&mut full.clone(), false, true, MEAN).into(),
            DatasheetFigure::WriteLatency => {
                self.alone(&mut full.clone(), false, false, MEAN).into()
            }
            DatasheetFigure::Read999 => self.alone(&mut used.clone(), true, true, NINES).into(),
            DatasheetFigure::Write999 => self.alone(&mut used.clone(), true, false, NINES).into(),
        };
        let measured = figures.iter().map(measure).collect();
        used.settle();
        (measured, used.checks())
    }

    /// Random commands per second, of which 70 % are reads.
    fn mixed(&self, host: &mut Devices) -> f64 {
        let slots = self.user / u64::from(RANDOM);
        let mut rng = self.rng.clone();
        self.rate(host, self.depth, READS, |_| {
            let offset = rng.below(slots) * u64::from(RANDOM);
            if rng.percent(70) {
                Command::read(offset, RANDOM)
            } else {
                Command::write(offset, RANDOM)
            }
        })
    }

    /// The time in ns of commands one at a time, in order or at random: their mean, or what a share
    /// of them keeps.
    fn alone(&self, host: &mut Devices, random: bool, reads: bool, share: Option<f64>) -> f64 {
        host.settle();
        let slots = self.user / u64::from(RANDOM);
        let mut rng = self.rng.clone();
        let command = if reads { Command::read } else { Command::write };
        let mut times: Vec<u64> = (0..ALONE)
            .map(|n| {
                let slot = if random { rng.below(slots) } else { n % slots };
                let began = host.now();
                self.rate(host, 1, 1, |_| command(slot * u64::from(RANDOM), RANDOM));
                (host.now() - began).0
            })
            .collect();
        times.sort_unstable();
        match share {
            None => times.iter().sum::<u64>() as f64 / ALONE as f64,
            Some(share) => times[((ALONE as f64 * share) as usize).min(times.len() - 1)] as f64,
        }
    }

    /// Commands completed per second while `count` are given, `make` giving each by its number.
    fn rate(
        &self,
        host: &mut Devices,
        depth: u32,
        count: u64,
        mut make: impl FnMut(u64) -> Command,
    ) -> f64 {
        let (began, before) = (host.now(), host.outstanding(0));
        let mut submitted = 0;
        let mut next = || {
            let stopped = submitted % 1024 == 0 && self.stop.load(Ordering::Relaxed);
            (submitted < count && !stopped).then(|| {
                submitted += 1;
                let compress_pct = self.compress_pct;
                Command {
                    compress_pct,
                    ..make(submitted - 1)
                }
            })
        };
        host.keep(depth, Nanos::MAX, &mut next);
        let completed = before + submitted - host.outstanding(0);
        completed as f64 * 1e9 / (host.now() - began).0.max(1) as f64
    }

    /// Bytes per second of a pass over the drive.
    fn pass(&self, host: &mut Devices, reads: bool) -> f64 {
        let command = if reads { Command::read } else { Command::write };
        let length = u64::from(SEQUENTIAL);
        let make = |n| command(n * length, SEQUENTIAL);
        let rate = self.rate(host, DEPTH, self.user / length, make);
        host.settle();
        rate * f64::from(SEQUENTIAL)
    }

    fn random_reads(&mut self, host: &mut Devices) -> f64 {
        let slots = self.span.unwrap_or(self.user / u64::from(RANDOM));
        let mut rng = self.rng.clone();
        let rate = self.rate(host, self.depth, READS, |_| {
            Command::read(rng.below(slots) * u64::from(RANDOM), RANDOM)
        });
        self.rng = rng;
        rate
    }

    fn random_writes(&mut self, host: &mut Devices, slots: u64, count: u64) -> f64 {
        let mut rng = self.rng.clone();
        let rate = self.rate(host, self.depth, count, |_| {
            Command::write(rng.below(slots) * u64::from(RANDOM), RANDOM)
        });
        self.rng = rng;
        rate
    }

    /// Random writes of half the slots, or until there were more programs than `most`.
    fn round(&mut self, host: &mut Devices, slots: u64, most: u64) -> f64 {
        let (began, before) = (host.now(), host.outstanding(0));
        let mut submitted = 0;
        for part in 1..=PARTS {
            let count = slots / 2 * part / PARTS - submitted;
            self.random_writes(host, slots, count);
            submitted += count;
            if host.drive(0).counters().nand_programs > most {
                break;
            }
        }
        let completed = before + submitted - host.outstanding(0);
        completed as f64 * 1e9 / (host.now() - began).0.max(1) as f64
    }

    /// As much as the span, after it was written in order.
    fn short_run(&mut self, host: &mut Devices, slots: u64) -> f64 {
        let in_order = |n| Command::write(n * u64::from(RANDOM), RANDOM);
        self.rate(host, self.depth, slots, in_order);
        host.settle();
        self.random_writes(host, slots, slots)
    }

    /// Rounds until the state is steady; mean rate of the last [`WINDOW`], and whether it was.
    fn steady_run(&mut self, host: &mut Devices) -> ModelFigure {
        let slots = self.user / u64::from(RANDOM);
        let geometry = host.drive(0).config().geometry();
        let units = geometry.raw_bytes() / geometry.unit_bytes();
        let most = host.drive(0).counters().nand_programs + RAW_MAX * units;
        let (mut rates, mut wafs) = (Vec::new(), Vec::new());
        while rates.len() < ROUNDS_MAX && !self.stop.load(Ordering::Relaxed) {
            let before = host.drive(0).counters().clone();
            rates.push(self.round(host, slots, most));
            let drive = host.drive(0);
            let slot = drive.config().shape.slot_bytes;
            wafs.push(drive.counters().waf_since(&before, slot).unwrap_or(0.0));
            let steady = rates.len() >= ROUNDS_MIN && is_steady(&rates, &wafs);
            if steady || drive.counters().nand_programs > most {
                break;
            }
        }
        let last = &rates[rates.len().saturating_sub(WINDOW)..];
        let mean = last.iter().sum::<f64>() / last.len() as f64;
        ModelFigure {
            value: mean,
            steady: Some(is_steady(&rates, &wafs)),
        }
    }
}

/// Whether the last [`WINDOW`] rounds agree.
pub(super) fn is_steady(rates: &[f64], wafs: &[f64]) -> bool {
    let agree = |series: &[f64], share: f64| {
        let Some(last) = series.len().checked_sub(WINDOW).map(|from| &series[from..]) else {
            return false;
        };
        let mean = last.iter().sum::<f64>() / WINDOW as f64;
        let range = last.iter().fold(f64::MIN, |most, x| most.max(*x))
            - last.iter().fold(f64::MAX, |least, x| least.min(*x));
        range <= share * mean
    };
    agree(rates, RANGE_MAX) && agree(wafs, WAF_CHANGE_MAX)
}
