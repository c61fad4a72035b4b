//! Drives drawn from a seed, "measured" by simulation with noise, and fitted.

use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;
use ssdlab_twin::fit::fit;
use ssdlab_twin::predict::{PredictionQuery, predict};
use ssdlab_twin::structure::{ALL, FtlLayout};
use ssdlab_twin::surface::{SimulatedLoad, Simulator, waf};
use ssdlab_twin::table::{MeasurementRow, MeasurementTable};
use std::sync::atomic::AtomicBool;

/// A drive whose parameters are known.
pub struct Drawn {
    seed: u64,
    structure: FtlLayout,
    /// Effective over-provisioning.
    pub spare: f64,
    moved_cost: f64,
    scattered_cost: f64,
    skewed: &'static str,
}

/// What a fit said of a drawn drive's spare area.
pub struct Found {
    /// The spare area stated, if one was.
    pub value: Option<f64>,
    interval: [f64; 2],
    truth: f64,
}

impl Found {
    /// Stated, and within 10 %.
    pub fn is_right(&self) -> bool {
        self.value
            .is_some_and(|value| (value / self.truth).ln().abs() <= 0.1)
    }

    /// Within the 90 % interval, stated or not.
    pub fn is_inside(&self) -> bool {
        (self.interval[0]..=self.interval[1]).contains(&self.truth)
    }
}

/// Median of high / low of the intervals.
pub fn median_width(all: &[Found]) -> f64 {
    let mut widths: Vec<f64> = all.iter().map(|f| f.interval[1] / f.interval[0]).collect();
    widths.sort_by(f64::total_cmp);
    widths[widths.len() / 2]
}

fn unit(rng: &mut Rng) -> f64 {
    (rng.below(1 << 30) as f64 + 0.5) / (1 << 30) as f64
}

/// A normal draw: twelve uniform ones added up.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0
}

impl Drawn {
    /// The drive of a seed: greedy, relocated data apart, or another layout once in ten times.
    pub fn new(seed: u64) -> Drawn {
        let mut rng = Rng::named(seed, "twin: drawn drive");
        let layout = match rng.below(10) {
            0 => 3 + rng.below(ALL.len() as u64 - 3) as usize,
            _ => 0,
        };
        // Superblocks that no layout of the fit has.
        let superblocks = if layout == 0 {
            300 + rng.below(600) as u32
        } else {
            1024
        };
        Drawn {
            seed,
            structure: FtlLayout {
                superblocks,
                ..ALL[layout]
            },
            spare: 0.07 * (0.55_f64 / 0.07).powf(unit(&mut rng)),
            moved_cost: 1.3 * (0.2 * normal(&mut rng)).exp(),
            scattered_cost: (0.03 * normal(&mut rng)).abs(),
            skewed: [
                "zipf:0.8",
                "zipf:1",
                "hotcold:90/10",
                "hotcold:100/40:scattered",
            ][rng.below(4) as usize],
        }
    }

    fn row(&self, pattern: &str, line: usize, counted: bool) -> Result<MeasurementRow, LabError> {
        let stop = AtomicBool::new(false);
        let load = SimulatedLoad {
            pattern: pattern.into(),
            used: 1.0,
            overwrites: 5.0,
        };
        let seed = 1000 + self.seed;
        let waf = waf(
            &self.structure,
            self.spare,
            &load,
            CAPACITY,
            None,
            seed,
            &stop,
        )?
        .unwrap_or(1.0);
        let mut rng = Rng::named(self.seed, pattern);
        let slowdown = 1.0 + self.scattered_cost + self.moved_cost * (waf - 1.0);
        Ok(MeasurementRow {
            line,
            load,
            rate: SEQUENTIAL / slowdown * (0.02 * normal(&mut rng)).exp(),
            waf: counted.then_some(waf),
            cliff: None,
            before: None,
            left_out: None,
        })
    }
}

/// A drive whose scattered writes cost more than any prior has: fitted to `uniform` with its cliff,
/// with or without the rate before it, and asked for a load that moves little. Predicted over true
/// rate, and the interval of sequential over clean random rate.
pub fn dear_scatter(before: bool) -> Result<(f64, [f64; 2]), LabError> {
    let drive = Drawn {
        seed: 1,
        structure: ALL[0],
        spare: 0.28,
        moved_cost: 1.2,
        scattered_cost: DEAR,
        skewed: "hotcold:100/10:scattered",
    };
    let first = SEQUENTIAL / (1.0 + DEAR);
    let table = MeasurementTable {
        source: "drawn".into(),
        sequential: SEQUENTIAL,
        sequential_waf: None,
        rows: vec![MeasurementRow {
            cliff: Some(drive.spare),
            before: before.then_some(first),
            ..drive.row("uniform", 3, false)?
        }],
    };
    let stop = AtomicBool::new(false);
    let simulator = Simulator::new(CAPACITY, 1, 1, &stop);
    let twin = fit(&table, "drawn", &simulator)?;
    let question = PredictionQuery {
        loads: vec![drive.skewed.into()],
        used: 1.0,
        overwrites: 5.0,
        more_spare: 0.0,
        rates: Vec::new(),
        rated: None,
    };
    let found = predict(&twin, &question, &simulator)?[0].rate[1];
    let truth = drive.row(drive.skewed, 4, false)?.rate;
    Ok((found / truth, twin.knobs[2].interval))
}

/// j of that drive.
pub const DEAR: f64 = 0.35;
const CAPACITY: u64 = 960_000_000_000;
const SEQUENTIAL: f64 = 1.4e9;

/// Fits a drawn drive from uniform and one skewed load.
pub fn fitted(drive: &Drawn, counted: bool) -> Result<Found, LabError> {
    let table = MeasurementTable {
        source: "drawn".into(),
        sequential: SEQUENTIAL,
        sequential_waf: counted.then_some(1.0),
        rows: vec![
            drive.row("uniform", 3, counted)?,
            drive.row(drive.skewed, 4, counted)?,
        ],
    };
    let stop = AtomicBool::new(false);
    let twin = fit(&table, "drawn", &Simulator::new(CAPACITY, 1, 1, &stop))?;
    let knob = twin.knobs.first();
    Ok(Found {
        value: knob.and_then(|knob| knob.value),
        interval: knob.map_or([0.0, f64::MAX], |knob| knob.interval),
        truth: drive.spare,
    })
}
