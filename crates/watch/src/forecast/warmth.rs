//! How warm a drive will be: one body of heat capacity C, a resistance R to the air, and the power
//! of the present load (docs/model.md, section 16). What its temperature has shown so far decides
//! which R, C and air are likely.
//!
//! T(t) = air (1 - d) + T0 d + g H(t), with d = exp(-t / tau) and H the power of the load so far,
//! each part decayed by its age. For a given tau this is linear in air, T0 and g, so that their
//! distribution after the readings is normal and exact; tau itself is taken from a grid.

use super::draw::EnsembleRng;
use super::load::LoadSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::config::{EnergyConfig, HeatConfig};
use ssdlab_ssd::{DriveConfig, nand::SLC_KIND};

/// A temperature that the drive said.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TemperatureReading {
    /// When, s from the beginning.
    pub at_s: f64,
    /// What it said, C.
    pub celsius: f64,
}

/// Deviation of ln tau: R and C of a drive, a heat sink, and its place are not in a catalogue.
const TAU_SIGMA: f64 = 0.35;
/// Points of the grid of ln tau, and its half width in deviations.
const TAU_POINTS: usize = 25;
const TAU_WIDTH: f64 = 2.2;
/// Deviation of the gain, as a share: energies of operations and C.
const GAIN_SIGMA: f64 = 0.35;
/// Deviation of the air's temperature around that of the catalogue, K.
const AIR_SIGMA: f64 = 8.0;
/// Temperature at the beginning above that of the air, before any reading, and its deviation, K.
const BEGIN_ABOVE_AIR: f64 = 10.0;
const BEGIN_SIGMA: f64 = 20.0;
/// Deviation of a reading in whole degrees, with the model's own error, K.
const READING_SIGMA: f64 = 0.6;
/// Deviation of the temperature at which throttling begins, K.
const LIMIT_SIGMA: f64 = 2.0;
/// Readings that are used: near ones say the same.
const READINGS_MAX: usize = 40;

/// Power of a load, W.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerLaw {
    idle: f64,
    asleep: f64,
    asleep_after: f64,
    active: f64,
    written: f64,
    read: f64,
    command: f64,
}

impl PowerLaw {
    /// Of a drive whose writes cost `cost` bytes of media each, in SLC mode or not.
    pub fn new(config: &DriveConfig, cost: f64, in_slc: bool) -> PowerLaw {
        let energy: &EnergyConfig = &config.energy;
        let unit = config.geometry().unit_bytes() as f64;
        let kinds = config.shape.bits_per_cell as usize;
        let mean = |table: &[u64; 8]| {
            let sum: u64 = table[..kinds].iter().sum();
            sum as f64 / kinds as f64
        };
        let program = if in_slc {
            energy.program_nj[SLC_KIND] as f64
        } else {
            mean(&energy.program_nj)
        };
        let moved = energy.channel_pj_per_byte as f64 * 1e-12;
        let link = energy.link_pj_per_byte as f64 * 1e-12;
        let deepest = energy.states.last();
        PowerLaw {
            idle: energy.idle_mw as f64 / 1e3,
            asleep: deepest.map_or(energy.idle_mw, |state| state.mw) as f64 / 1e3,
            asleep_after: deepest.map_or(f64::INFINITY, |state| state.after.0 as f64 / 1e9),
            active: energy.active_mw as f64 / 1e3,
            written: cost * (program * 1e-9 / unit + moved) + link,
            read: mean(&energy.read_nj) * 1e-9 / unit + moved + link,
            command: energy.command_nj as f64 * 1e-9,
        }
    }

    /// Mean power of a span.
    pub fn watts(&self, span: &LoadSpan) -> f64 {
        if span.is_rest() {
            let awake = span.seconds.min(self.asleep_after);
            let joules = awake * self.idle + (span.seconds - awake) * self.asleep;
            return joules / span.seconds.max(1e-9);
        }
        let joules = span.busy * self.active
            + span.written * self.written
            + span.read * self.read
            + span.requests * self.command;
        self.idle + joules / span.seconds.max(1e-9)
    }

    /// Mean power of several spans.
    pub fn mean_watts(&self, spans: &[LoadSpan]) -> Option<f64> {
        let seconds: f64 = spans.iter().map(|span| span.seconds).sum();
        let joules = |span: &LoadSpan| self.watts(span) * span.seconds;
        (seconds > 0.0).then(|| spans.iter().map(joules).sum::<f64>() / seconds)
    }
}

/// A drive that agrees with the readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarmMember {
    /// R C, s.
    pub tau: f64,
    /// K for each J.
    pub gain: f64,
    /// Of the air, C.
    pub air: f64,
    /// Its temperature now, C.
    pub celsius: f64,
    /// Temperature at which it throttles, C.
    pub limit: f64,
}

impl WarmMember {
    /// Seconds until it throttles at this power; infinite: it does not.
    pub fn seconds_until(&self, watts: f64) -> f64 {
        if self.celsius >= self.limit {
            return 0.0;
        }
        let end = self.air + self.gain * watts * self.tau;
        if end <= self.limit {
            return f64::INFINITY;
        }
        self.tau * ((end - self.celsius) / (end - self.limit)).ln()
    }
}

/// A normal distribution of (air, temperature at the beginning, gain) for one tau.
struct WarmFit {
    tau: f64,
    log_weight: f64,
    mean: [f64; 3],
    /// Lower triangle L of the precision L L'.
    root: [[f64; 3]; 3],
    end: WarmRow,
}

/// What the temperature at a time is made of: factors of air, of the beginning, of the gain.
#[derive(Clone, Copy)]
struct WarmRow([f64; 3]);

impl WarmRow {
    fn begin() -> WarmRow {
        WarmRow([0.0, 1.0, 0.0])
    }

    /// After `seconds` at a power.
    fn after(self, seconds: f64, watts: f64, tau: f64) -> WarmRow {
        let decay = (-seconds / tau).exp();
        let [air, begin, gain] = self.0;
        WarmRow([
            air * decay + 1.0 - decay,
            begin * decay,
            gain * decay + watts * tau * (1.0 - decay),
        ])
    }

    fn celsius(self, member: &[f64; 3]) -> f64 {
        self.0.iter().zip(member).map(|(a, b)| a * b).sum()
    }
}

/// The rows at each reading, and the one at the end.
fn rows(
    spans: &[LoadSpan],
    power: &PowerLaw,
    readings: &[TemperatureReading],
    tau: f64,
) -> (Vec<WarmRow>, WarmRow) {
    let mut row = WarmRow::begin();
    let mut time_s = 0.0;
    let mut rows = Vec::new();
    let mut next = readings.iter().peekable();
    for span in spans {
        let watts = power.watts(span);
        let end = time_s + span.seconds;
        while let Some(reading) = next.next_if(|reading| reading.at_s <= end) {
            let seconds = (reading.at_s - time_s).max(0.0);
            row = row.after(seconds, watts, tau);
            time_s += seconds;
            rows.push(row);
        }
        row = row.after(end - time_s, watts, tau);
        time_s = end;
    }
    rows.extend(next.map(|_| row));
    (rows, row)
}

fn thinned(readings: &[TemperatureReading]) -> Vec<TemperatureReading> {
    let step = readings.len().div_ceil(READINGS_MAX).max(1);
    let mut some: Vec<_> = readings.iter().rev().step_by(step).copied().collect();
    some.reverse();
    some
}

/// L of a symmetric, positive matrix L L'.
fn root(matrix: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let mut lower = [[0.0; 3]; 3];
    for row in 0..3 {
        for column in 0..=row {
            let sum: f64 = (0..column).map(|k| lower[row][k] * lower[column][k]).sum();
            lower[row][column] = if row == column {
                (matrix[row][row] - sum).max(1e-12).sqrt()
            } else {
                (matrix[row][column] - sum) / lower[column][column]
            };
        }
    }
    lower
}

/// Solves L x = b.
fn forward(lower: &[[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let mut x = [0.0; 3];
    for row in 0..3 {
        let sum: f64 = (0..row).map(|k| lower[row][k] * x[k]).sum();
        x[row] = (b[row] - sum) / lower[row][row];
    }
    x
}

/// Solves L' x = b.
fn backward(lower: &[[f64; 3]; 3], b: [f64; 3]) -> [f64; 3] {
    let mut x = [0.0; 3];
    for row in (0..3).rev() {
        let sum: f64 = (row + 1..3).map(|k| lower[k][row] * x[k]).sum();
        x[row] = (b[row] - sum) / lower[row][row];
    }
    x
}

/// What the readings say of one tau.
fn fit(
    tau: f64,
    heat: &HeatConfig,
    spans: &[LoadSpan],
    power: &PowerLaw,
    readings: &[TemperatureReading],
) -> WarmFit {
    let (rows, end) = rows(spans, power, readings, tau);
    let gain = 1e3 / heat.capacity_mj_per_k as f64;
    let air = f64::from(heat.ambient_c);
    let prior = [
        (air, AIR_SIGMA),
        (air + BEGIN_ABOVE_AIR, BEGIN_SIGMA),
        (gain, GAIN_SIGMA * gain),
    ];
    let mut precision = [[0.0; 3]; 3];
    let mut vector = [0.0; 3];
    let mut log_weight = 0.0;
    for (index, (mean, sigma)) in prior.into_iter().enumerate() {
        precision[index][index] = 1.0 / (sigma * sigma);
        vector[index] = mean / (sigma * sigma);
        log_weight -= 0.5 * (mean / sigma).powi(2);
    }
    let noise = 1.0 / (READING_SIGMA * READING_SIGMA);
    for (row, reading) in rows.iter().zip(readings) {
        for (index, line) in precision.iter_mut().enumerate() {
            let factor = row.0[index] * noise;
            for (value, other) in line.iter_mut().zip(row.0) {
                *value += factor * other;
            }
            vector[index] += factor * reading.celsius;
        }
        log_weight -= 0.5 * reading.celsius * reading.celsius * noise;
    }
    let root = root(&precision);
    let half = forward(&root, vector);
    log_weight += 0.5 * half.iter().map(|value| value * value).sum::<f64>();
    log_weight -= (0..3).map(|index| root[index][index].ln()).sum::<f64>();
    WarmFit {
        tau,
        log_weight,
        mean: backward(&root, half),
        root,
        end,
    }
}

/// `count` drives that agree with the readings, all of which have not throttled so far.
pub fn warm_members(
    heat: &HeatConfig,
    spans: &[LoadSpan],
    power: &PowerLaw,
    readings: &[TemperatureReading],
    count: usize,
) -> Vec<WarmMember> {
    let readings = thinned(readings);
    let tau = heat.time_constant().0 as f64 / 1e9;
    let fits: Vec<WarmFit> = (0..TAU_POINTS)
        .map(|point| {
            let z = TAU_WIDTH * (2.0 * point as f64 / (TAU_POINTS - 1) as f64 - 1.0);
            let tau = tau * (TAU_SIGMA * z).exp();
            let mut fit = fit(tau, heat, spans, power, &readings);
            fit.log_weight -= 0.5 * z * z;
            fit
        })
        .collect();
    let highest = fits
        .iter()
        .map(|fit| fit.log_weight)
        .fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = fits
        .iter()
        .map(|fit| (fit.log_weight - highest).exp())
        .sum();
    let mut rng = EnsembleRng::new(1, "warmth");
    let mut members = Vec::new();
    for _ in 0..count {
        let mut place = rng.uniform() * total;
        let chosen = fits.iter().find(|fit| {
            place -= (fit.log_weight - highest).exp();
            place <= 0.0
        });
        let (Some(chosen), z) = (chosen, [rng.normal(), rng.normal(), rng.normal()]) else {
            continue;
        };
        let spread = backward(&chosen.root, z);
        let mut drawn = chosen.mean;
        drawn
            .iter_mut()
            .zip(spread)
            .for_each(|(value, more)| *value += more);
        let member = WarmMember {
            tau: chosen.tau,
            gain: drawn[2].max(0.0),
            air: drawn[0],
            celsius: chosen.end.celsius(&drawn),
            limit: f64::from(heat.light.at_c) + LIMIT_SIGMA * rng.normal(),
        };
        if member.celsius < member.limit {
            members.push(member);
        }
    }
    members
}
