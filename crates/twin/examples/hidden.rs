//! Drives of the catalogue as strangers: their write rates are measured on small models of them,
//! without a look at their configuration; a twin is fitted to the sequential rate and to uniform
//! writes, and predicts two other loads, which are then measured:
//! `cargo run --release -p ssdlab-twin --example hidden`

use ssdlab_base::{LabError, parallel};
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_load::synthetic::{SyntheticCommands, SyntheticLoad, SyntheticPattern};
use ssdlab_ssd::{Command, DriveConfig, Nanos};
use ssdlab_twin::measured::cliff;
use ssdlab_twin::predict::{PredictionQuery, predict};
use ssdlab_twin::surface::Simulator;
use ssdlab_twin::{fit, table};
use std::sync::atomic::AtomicBool;

/// Ten drives that map by pages, of several makers and years.
const DRIVES: [&str; 10] = [
    "intel-320-160gb",
    "intel-710-200gb",
    "intel-dc-s3500-480gb",
    "intel-dc-s3700-400gb",
    "intel-dc-p3700-800gb",
    "intel-dc-s4500-3840gb",
    "samsung-pm983-960gb",
    "micron-7450-max-800gb",
    "sk-hynix-pe8110-960gb",
    "solidigm-d7-p5520-1920gb",
];
/// User bytes of a small model.
const USER: u64 = 512 << 20;
/// User capacities written after the fill.
const OVERWRITES: u64 = 4;
/// Samples of one user capacity.
const SAMPLES: u64 = 50;
const PREDICTED: [&str; 2] = ["zipf:0.8", "hotcold:80/20:scattered"];

/// Seconds and bytes of each sample of a load on the drive, after a fill in order.
fn measured(config: &DriveConfig, pattern: &str) -> Result<Vec<(f64, f64)>, LabError> {
    let user = config.user_bytes;
    let mut host = Devices::one(new_drive(config)?);
    let large = 128 << 10;
    let mut places = (0..user / large).map(|n| n * large);
    host.keep(32, Nanos::MAX, &mut || {
        Some(Command::write(places.next()?, large as u32))
    });
    let load = SyntheticLoad {
        pattern: SyntheticPattern::parse(pattern)?,
        block: 4096,
        read_pct: 0,
        trim_pct: 0,
        seed: 7,
    };
    let mut commands = SyntheticCommands::new(&load, user)?;
    let sample = user / SAMPLES / 4096;
    let mut found = Vec::new();
    for _ in 0..SAMPLES * OVERWRITES {
        let (began, mut left) = (host.now(), sample);
        host.keep(32, Nanos::MAX, &mut || {
            left = left.checked_sub(1)?;
            Some(commands.command())
        });
        let seconds = host.now().saturating_sub(began).as_secs_f64();
        found.push((seconds, (sample * 4096) as f64));
    }
    Ok(found)
}

/// Rate of the last quarter, B/s.
fn settled(samples: &[(f64, f64)]) -> f64 {
    let last = &samples[samples.len() * 3 / 4..];
    let sum = last.iter().fold((0.0, 0.0), |s, a| (s.0 + a.0, s.1 + a.1));
    sum.1 / sum.0
}

/// What was found of a drive, and the errors of its predictions.
fn stranger(name: &&str) -> Result<(String, Vec<f64>), LabError> {
    let config = scaled(&catalogue::open(name)?.config, USER)?.config;
    let sequential = settled(&measured(&config, "sequential")?);
    let uniform = measured(&config, "uniform")?;
    // Writes of a page at random may be as fast as large ones in order, and a little faster.
    let rate = settled(&uniform);
    let first = cliff(&uniform).filter(|cliff| cliff.before < 1.15 * sequential);
    let at = first.map_or(String::new(), |cliff| {
        format!("{:.4}", cliff.at / config.user_bytes as f64)
    });
    let before = first.map_or(String::new(), |cliff| format!("{}", cliff.before / 1e6));
    let text = format!(
        "load,overwrites,write_mbs,cliff,before_mbs\nsequential,,{},,\n\
         uniform,{OVERWRITES},{},{at},{before}\n",
        sequential.max(rate) / 1e6,
        rate / 1e6
    );
    let stop = AtomicBool::new(false);
    let simulator = Simulator::new(config.user_bytes, 1, 1, &stop);
    let table = match table::parse(&text, name) {
        Ok(table) => table,
        Err(refused) => return Ok((format!("{name}: refused: {refused}"), Vec::new())),
    };
    let twin = fit(&table, name, &simulator)?;
    let mut said = format!(
        "{name}: sequential {:.0}, uniform {:.0} MB/s, cliff {at} from {before}; spare area \
         {:?}, true {:.3}",
        sequential / 1e6,
        rate / 1e6,
        twin.knobs.first().map(|knob| knob.interval),
        config.effective_op()
    );
    if let Some(why) = &twin.unknown {
        return Ok((format!("{said}; UNKNOWN: {why}"), Vec::new()));
    }
    let question = PredictionQuery {
        loads: PREDICTED.map(String::from).to_vec(),
        used: 1.0,
        overwrites: OVERWRITES as f64,
        more_spare: 0.0,
        rates: Vec::new(),
        rated: None,
    };
    let mut errors = Vec::new();
    for found in predict(&twin, &question, &simulator)? {
        let truth = settled(&measured(&config, &found.load.pattern)?);
        let error = found.rate[1] / truth - 1.0;
        let inside = (found.rate[0]..=found.rate[2]).contains(&truth);
        said += &format!(
            "; {} {:.0} for {:.0} MB/s, {:+.1} %{}",
            found.load.pattern,
            found.rate[1] / 1e6,
            truth / 1e6,
            100.0 * error,
            if inside { "" } else { " outside" }
        );
        errors.push(error.abs());
    }
    Ok((said, errors))
}

fn main() -> Result<(), LabError> {
    let all = parallel::all(&DRIVES, parallel::cores(), stranger)?;
    for (said, _) in &all {
        println!("{said}");
    }
    let errors: Vec<f64> = all.into_iter().flat_map(|(_, errors)| errors).collect();
    let within = errors.iter().filter(|error| **error <= 0.1).count();
    println!(
        "{} predictions, {within} within 10 %, worst {:.1} %, mean {:.1} %",
        errors.len(),
        100.0 * errors.iter().copied().fold(0.0, f64::max),
        100.0 * errors.iter().sum::<f64>() / errors.len().max(1) as f64
    );
    Ok(())
}
