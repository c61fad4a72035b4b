//! Drives whose rates under many loads are published, fitted to some of their rows and compared
//! with the rest: `cargo run --release -p ssdlab-twin --example published -- TABLE.csv CAPACITY...`
//!
//! Each drive in two settings: fitted to `uniform` rows alone, every other load predicted; and each
//! load left out of a fit to all others. Beside each the nulls "same as uniform", "mean of the
//! other rows", and "as the other drives' ratios": the rate over that of `uniform`, geometric mean
//! of the other tables that have the load.

use ssdlab_base::{LabError, parallel};
use ssdlab_twin::fit::{Twin, fit};
use ssdlab_twin::predict::{PredictionQuery, predict};
use ssdlab_twin::surface::Simulator;
use ssdlab_twin::table::{self, MeasurementRow, MeasurementTable};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// A drive of the command line.
struct PublishedDrive {
    path: String,
    capacity: u64,
    table: MeasurementTable,
}

impl PublishedDrive {
    fn read(path: &str, capacity: &str) -> Result<PublishedDrive, LabError> {
        let text = std::fs::read_to_string(path).map_err(|e| LabError::file("reading", path, e))?;
        Ok(PublishedDrive {
            path: path.into(),
            capacity: ssdlab_base::quantity::parse_size(capacity)?,
            table: table::parse(&text, path)?,
        })
    }

    /// Rate of a load over the whole drive: geometric mean of its rows.
    fn rate(&self, load: &str) -> Option<f64> {
        mean(self.full().filter(|row| row.load.pattern == load))
    }

    /// Rate of a load over that of `uniform`.
    fn ratio(&self, load: &str) -> Option<f64> {
        Some(self.rate(load)? / self.rate("uniform")?)
    }

    fn full(&self) -> impl Iterator<Item = &MeasurementRow> {
        self.table.used().filter(|row| row.load.used == 1.0)
    }

    /// Every load but `uniform`.
    fn loads(&self) -> Vec<String> {
        let mut loads: Vec<String> = self.full().map(|row| row.load.pattern.clone()).collect();
        loads.retain(|load| load != "uniform");
        loads.sort();
        loads.dedup();
        loads
    }
}

/// Geometric mean of the rates.
fn mean<'a>(rows: impl Iterator<Item = &'a MeasurementRow>) -> Option<f64> {
    geometric(rows.map(|row| row.rate))
}

fn geometric(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| {
        (sum + value.ln(), count + 1)
    });
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Errors of the twin and of its nulls.
#[derive(Clone, Default)]
struct NullComparison {
    errors: Vec<f64>,
    inside: usize,
    uniform: Vec<f64>,
    others: Vec<f64>,
    /// Loads that another drive has: error of the null, and that of the twin.
    ratios: Vec<(f64, f64)>,
}

fn percent(errors: &[f64]) -> String {
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    let worst = errors.iter().copied().fold(0.0, f64::max);
    format!("{:.1} / {:.1}", mean * 100.0, worst * 100.0)
}

impl NullComparison {
    fn add(&mut self, other: NullComparison) {
        self.errors.extend(other.errors);
        self.inside += other.inside;
        self.uniform.extend(other.uniform);
        self.others.extend(other.others);
        self.ratios.extend(other.ratios);
    }

    /// Mean / worst in per cent.
    fn text(&self) -> String {
        let (null, own): (Vec<f64>, Vec<f64>) = self.ratios.iter().copied().unzip();
        format!(
            "{} loads, mean / worst {} %, inside {}; nulls: uniform {}, mean {}, ratios {} of {} \
             loads (twin there {})",
            self.errors.len(),
            percent(&self.errors),
            self.inside,
            percent(&self.uniform),
            percent(&self.others),
            percent(&null),
            null.len(),
            percent(&own)
        )
    }
}

/// A drive under test, and the others.
struct DriveUnderTest<'a> {
    drive: &'a PublishedDrive,
    others: Vec<&'a PublishedDrive>,
    simulator: &'a Simulator<'a>,
}

impl DriveUnderTest<'_> {
    /// Fits to the rows that `train` picks, and compares the loads of `test`.
    fn score(
        &self,
        train: impl Fn(&MeasurementRow) -> bool,
        test: &[String],
    ) -> Result<NullComparison, LabError> {
        let began = Instant::now();
        let table = &self.drive.table;
        let rows: Vec<MeasurementRow> = table.used().filter(|row| train(row)).cloned().collect();
        let part = MeasurementTable {
            rows,
            ..table.clone()
        };
        let twin = fit(&part, "-", self.simulator)?;
        if test.len() > 1 {
            for knob in &twin.knobs {
                println!("  {}: {:.3?} {:?}", knob.name, knob.interval, knob.grade);
            }
            let seconds = began.elapsed().as_secs_f64();
            println!("  {:?} fit {seconds:.1} s {:?}", twin.layout, twin.unknown);
        }
        let mut score = NullComparison::default();
        for load in test {
            self.compare(&twin, load, &mut score)?;
        }
        Ok(score)
    }

    /// One load: predicted, measured, and the nulls.
    fn compare(&self, twin: &Twin, load: &str, score: &mut NullComparison) -> Result<(), LabError> {
        let drive = self.drive;
        let own = drive.full().find(|row| row.load.pattern == load);
        let (Some(own), Some(measured)) = (own, drive.rate(load)) else {
            return Ok(());
        };
        let question = PredictionQuery {
            loads: vec![load.to_owned()],
            used: 1.0,
            overwrites: own.load.overwrites,
            more_spare: 0.0,
            rates: Vec::new(),
            rated: None,
        };
        let found = &predict(twin, &question, self.simulator)?[0];
        let error = |rate: f64| (rate / measured - 1.0).abs();
        let inside = found.rate[0] <= measured && measured <= found.rate[2];
        let [low, model, high] = found.rate.map(|rate| rate / 1_048_576.0);
        println!(
            "  {load:26} measured {:6.1} model {model:6.1} [{low:6.1}, {high:6.1}] {:+5.1} %{}",
            measured / 1_048_576.0,
            (found.rate[1] / measured - 1.0) * 100.0,
            if inside { "" } else { " outside" }
        );
        score.errors.push(error(found.rate[1]));
        score.inside += usize::from(inside);
        let uniform = drive.rate("uniform").unwrap_or(f64::NAN);
        score.uniform.push(error(uniform));
        let rest = mean(drive.full().filter(|row| row.load.pattern != load));
        score.others.push(error(rest.unwrap_or(f64::NAN)));
        let ratios = self.others.iter().filter_map(|other| other.ratio(load));
        if let Some(ratio) = geometric(ratios) {
            score
                .ratios
                .push((error(uniform * ratio), error(found.rate[1])));
        }
        Ok(())
    }
}

fn main() -> Result<(), LabError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let stop = AtomicBool::new(false);
    let pairs = args.chunks_exact(2);
    let drives: Vec<PublishedDrive> = pairs
        .map(|pair| PublishedDrive::read(&pair[0], &pair[1]))
        .collect::<Result<_, _>>()?;
    let mut summary = Vec::new();
    let (mut all, mut out) = (NullComparison::default(), NullComparison::default());
    for drive in &drives {
        let simulator = Simulator::new(drive.capacity, 1, parallel::cores(), &stop);
        let others = drives.iter().filter(|other| other.path != drive.path);
        let case = DriveUnderTest {
            drive,
            others: others.collect(),
            simulator: &simulator,
        };
        let (path, loads) = (&drive.path, drive.loads());
        println!("{path}: fitted to uniform");
        let from_uniform = case.score(|row| row.load.pattern == "uniform", &loads)?;
        println!("{path}: each load left out");
        let mut left_out = NullComparison::default();
        for load in &loads {
            let test = std::slice::from_ref(load);
            left_out.add(case.score(|row| row.load.pattern != *load, test)?);
        }
        summary.push((
            path,
            ["fitted to uniform", "left out"],
            [from_uniform.clone(), left_out.clone()],
        ));
        all.add(from_uniform);
        out.add(left_out);
    }
    for (path, names, scores) in &summary {
        for (name, score) in names.iter().zip(scores) {
            println!("{path}, {name}: {}", score.text());
        }
    }
    println!("all, fitted to uniform: {}", all.text());
    println!("all, left out: {}", out.text());
    Ok(())
}
