//! Drives whose rates under many loads are published, fitted to some of their rows and compared
//! with the rest: `cargo run --release -p ssdlab-twin --example published -- TABLE.csv CAPACITY...`
//!
//! For each table: fitted to `uniform` rows alone, every other load predicted; then each load left
//! out of a fit to all others. Beside each the nulls "same as uniform" and "mean of the others".

use ssdlab_base::{LabError, parallel};
use ssdlab_twin::fit::{Twin, fit};
use ssdlab_twin::predict::{PredictionQuery, predict};
use ssdlab_twin::surface::Simulator;
use ssdlab_twin::table::{self, MeasurementRow, MeasurementTable};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

#[derive(Default)]
struct Sum {
    errors: Vec<f64>,
    inside: usize,
    uniform: Vec<f64>,
    others: Vec<f64>,
}

fn percent(errors: &[f64]) -> String {
    let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
    let worst = errors.iter().copied().fold(0.0, f64::max);
    format!("mean {:.1} % worst {:.1} %", mean * 100.0, worst * 100.0)
}

impl Sum {
    fn text(&self) -> String {
        format!(
            "{}, inside {}/{}; null uniform {}, null mean {}",
            percent(&self.errors),
            self.inside,
            self.errors.len(),
            percent(&self.uniform),
            percent(&self.others)
        )
    }
}

fn mean(rows: &[&MeasurementRow]) -> f64 {
    let sum: f64 = rows.iter().map(|row| row.rate.ln()).sum();
    (sum / rows.len() as f64).exp()
}

fn predicted(
    table: &MeasurementTable,
    train: impl Fn(&MeasurementRow) -> bool,
    test: &[String],
    simulator: &Simulator<'_>,
    sum: &mut Sum,
) -> Result<(), LabError> {
    let began = Instant::now();
    let rows: Vec<MeasurementRow> = table.used().filter(|row| train(row)).cloned().collect();
    let part = MeasurementTable {
        rows,
        ..table.clone()
    };
    let twin = fit(&part, "-", simulator)?;
    let fitted = began.elapsed().as_secs_f64();
    if test.len() > 1 {
        for knob in &twin.knobs {
            println!("  {}: {:.3?} {:?}", knob.name, knob.interval, knob.grade);
        }
        println!("  {:?} fit {fitted:.1} s {:?}", twin.layout, twin.unknown);
    }
    test.iter()
        .try_for_each(|load| compared(table, &twin, load, simulator, sum))
}

/// One load: predicted, measured, and the nulls.
fn compared(
    table: &MeasurementTable,
    twin: &Twin,
    load: &String,
    simulator: &Simulator<'_>,
    sum: &mut Sum,
) -> Result<(), LabError> {
    let uniform: Vec<&MeasurementRow> = table
        .used()
        .filter(|r| r.load.pattern == "uniform" && r.load.used == 1.0)
        .collect();
    let own: Vec<&MeasurementRow> = table.used().filter(|r| r.load.pattern == *load).collect();
    let question = PredictionQuery {
        loads: vec![load.clone()],
        used: 1.0,
        overwrites: own[0].load.overwrites,
        more_spare: 0.0,
        rates: Vec::new(),
        rated: None,
    };
    let found = &predict(twin, &question, simulator)?[0];
    let measured = mean(&own);
    let error = |rate: f64| (rate / measured - 1.0).abs();
    let inside = found.rate[0] <= measured && measured <= found.rate[2];
    println!(
        "  {load:26} measured {:6.1} model {:6.1} [{:6.1}, {:6.1}] {:+5.1} %{}",
        measured / 1_048_576.0,
        found.rate[1] / 1_048_576.0,
        found.rate[0] / 1_048_576.0,
        found.rate[2] / 1_048_576.0,
        (found.rate[1] / measured - 1.0) * 100.0,
        if inside { "" } else { " outside" }
    );
    sum.errors.push(error(found.rate[1]));
    sum.inside += usize::from(inside);
    sum.uniform.push(error(mean(&uniform)));
    let others: Vec<&MeasurementRow> = table
        .used()
        .filter(|r| r.load.used == 1.0 && r.load.pattern != *load)
        .collect();
    sum.others.push(error(mean(&others)));
    Ok(())
}

fn main() -> Result<(), LabError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let stop = AtomicBool::new(false);
    let (mut all, mut out) = (Sum::default(), Sum::default());
    for pair in args.chunks(2) {
        let [path, capacity] = pair else { break };
        let text = std::fs::read_to_string(path).map_err(|e| LabError::file("reading", path, e))?;
        let table = table::parse(&text, path)?;
        let capacity = ssdlab_base::quantity::parse_size(capacity)?;
        let simulator = Simulator::new(capacity, 1, parallel::cores(), &stop);
        let mut loads: Vec<String> = table.used().map(|r| r.load.pattern.clone()).collect();
        loads.retain(|load| load != "uniform");
        loads.sort();
        loads.dedup();
        println!("{path}: fitted to uniform");
        predicted(
            &table,
            |r| r.load.pattern == "uniform",
            &loads,
            &simulator,
            &mut all,
        )?;
        println!("{path}: each load left out");
        for load in &loads {
            let test = std::slice::from_ref(load);
            predicted(
                &table,
                |r| r.load.pattern != *load,
                test,
                &simulator,
                &mut out,
            )?;
        }
    }
    println!("fitted to uniform: {}", all.text());
    println!("left out: {}", out.text());
    Ok(())
}
