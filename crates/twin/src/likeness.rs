//! The model's own error under one load and under others like it.
//!
//! A model that is too fast under one skewed load is so under the next one, too. So the error in
//! ln T has two parts: one that loads share the more, the more alike they are, and one of each load
//! alone. What the rows leave unexplained under measured loads is then taken off the prediction for
//! others (a Gaussian process over the loads; M. Kennedy, A. O'Hagan 2001).
//!
//! ```text
//! load -> Lorenz curve (writes to the hottest x of the blocks) -> distance -> covariance
//! ```

use crate::ensemble::{LIKE, NOISE_SIGMA, OWN_SIGMA, SHARED_SIGMA};
use crate::structure::SLOT;
use crate::surface::SimulatedLoad;
use ssdlab_load::synthetic::SyntheticPattern;

/// Points of a Lorenz curve, at 1/20 to 19/20 of the blocks.
const POINTS: usize = 19;
/// How unlike hot blocks in one place are to the same ones scattered, as a distance. No drive was
/// measured under both.
const IN_PLACE: f64 = 0.2;

/// What makes loads alike: their Lorenz curve, unused capacity, and hot blocks in one place.
/// Nothing for a trace.
struct LoadTraits(Option<Vec<f64>>);

impl LoadTraits {
    fn of(load: &SimulatedLoad, capacity: u64) -> LoadTraits {
        let Ok(pattern) = SyntheticPattern::parse(&load.pattern) else {
            return LoadTraits(None);
        };
        let in_place = match pattern {
            SyntheticPattern::HotCold {
                scattered: false, ..
            } => IN_PLACE,
            _ => 0.0,
        };
        let blocks = (capacity as f64 * load.used / SLOT as f64).max(2.0);
        let curve = (1..=POINTS).map(|n| {
            let part = n as f64 / (POINTS + 1) as f64;
            lorenz(pattern, part, blocks) / (POINTS as f64).sqrt()
        });
        LoadTraits(Some(curve.chain([1.0 - load.used, in_place]).collect()))
    }

    /// Covariance of the shared part of the error.
    fn shared(&self, other: &LoadTraits) -> f64 {
        let (Some(a), Some(b)) = (&self.0, &other.0) else {
            return 0.0;
        };
        let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        SHARED_SIGMA * SHARED_SIGMA * (-0.5 * squares / (LIKE * LIKE)).exp()
    }
}

/// Part of the writes that goes to the hottest `part` of `blocks`.
fn lorenz(pattern: SyntheticPattern, part: f64, blocks: f64) -> f64 {
    match pattern {
        SyntheticPattern::Zipf(theta) => {
            // The integral instead of the sum over ranks.
            let power = |ranks: f64| {
                if (theta - 1.0).abs() < 1e-6 {
                    ranks.ln()
                } else {
                    (ranks.powf(1.0 - theta) - 1.0) / (1.0 - theta)
                }
            };
            power((part * blocks).max(1.0)) / power(blocks)
        }
        SyntheticPattern::HotCold {
            commands_pct,
            blocks_pct,
            ..
        } => {
            let (writes, hot) = (
                f64::from(commands_pct) / 100.0,
                f64::from(blocks_pct) / 100.0,
            );
            if part <= hot {
                writes * part / hot
            } else {
                writes + (1.0 - writes) * (part - hot) / (1.0 - hot)
            }
        }
        _ => part,
    }
}

/// Errors of the models under the measured loads.
pub(crate) struct MeasuredErrors {
    traits: Vec<LoadTraits>,
    /// Inverse of their covariance, a row a load.
    precision: Vec<Vec<f64>>,
    capacity: u64,
}

/// What the measured loads say of the error under another one, in ln T.
pub(crate) struct ErrorUnder {
    /// Share of the error under each measured load.
    shares: Vec<f64>,
    /// Sigma of the rest, that of a measurement included.
    pub sigma: f64,
}

impl ErrorUnder {
    /// Nothing is known of the error.
    pub fn unknown() -> ErrorUnder {
        ErrorUnder {
            shares: Vec::new(),
            sigma: own_variance().sqrt().hypot(SHARED_SIGMA).hypot(NOISE_SIGMA),
        }
    }

    /// The same with a sigma `factor` times as large.
    pub fn inflated(self, factor: f64) -> ErrorUnder {
        ErrorUnder {
            sigma: factor * self.sigma,
            ..self
        }
    }

    /// Error to be expected of a model with these errors under the measured loads.
    pub fn expected(&self, errors: &[f64]) -> f64 {
        self.shares.iter().zip(errors).map(|(a, b)| a * b).sum()
    }
}

fn own_variance() -> f64 {
    OWN_SIGMA * OWN_SIGMA
}

impl MeasuredErrors {
    /// Of measured loads, each with the number of its measurements.
    pub fn new<'a>(
        measured: impl Iterator<Item = (&'a SimulatedLoad, usize)>,
        capacity: u64,
    ) -> MeasuredErrors {
        let (traits, counts): (Vec<LoadTraits>, Vec<usize>) = measured
            .map(|(load, count)| (LoadTraits::of(load, capacity), count))
            .unzip();
        let covariance = traits
            .iter()
            .zip(counts)
            .enumerate()
            .map(|(i, (a, count))| {
                let mut row: Vec<f64> = traits.iter().map(|b| a.shared(b)).collect();
                let noise = NOISE_SIGMA * NOISE_SIGMA / count as f64;
                row[i] = SHARED_SIGMA * SHARED_SIGMA + own_variance() + noise;
                row
            });
        MeasuredErrors {
            precision: inverse(covariance.collect()),
            traits,
            capacity,
        }
    }

    /// Minus twice the logarithm of the likelihood of `errors`, and what each of them adds to it
    /// given all others.
    pub fn misfit(&self, errors: &[f64], parts: &mut [f64]) -> f64 {
        let mut sum = 0.0;
        for (i, row) in self.precision.iter().enumerate() {
            let product: f64 = row.iter().zip(errors).map(|(a, b)| a * b).sum();
            sum += product * errors[i];
            parts[i] = product * product / row[i];
        }
        sum
    }

    /// The error under a load.
    pub fn under(&self, load: &SimulatedLoad) -> ErrorUnder {
        let own = LoadTraits::of(load, self.capacity);
        let shared: Vec<f64> = self.traits.iter().map(|other| own.shared(other)).collect();
        let shares: Vec<f64> = self
            .precision
            .iter()
            .map(|row| row.iter().zip(&shared).map(|(a, b)| a * b).sum())
            .collect();
        let known: f64 = shares.iter().zip(&shared).map(|(a, b)| a * b).sum();
        let unknown = ErrorUnder::unknown().sigma;
        let least = own_variance() + NOISE_SIGMA * NOISE_SIGMA;
        ErrorUnder {
            shares,
            sigma: (unknown * unknown - known).max(least).sqrt(),
        }
    }
}

/// Inverse of a positive definite matrix (Gauss and Jordan; no pivots are needed).
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    for pivot in 0..size {
        let scale = 1.0 / matrix[pivot][pivot];
        matrix[pivot][pivot] = 1.0;
        matrix[pivot].iter_mut().for_each(|value| *value *= scale);
        let pivotal = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(i, _)| *i != pivot) {
            let factor = std::mem::replace(&mut row[pivot], 0.0);
            row.iter_mut()
                .zip(&pivotal)
                .for_each(|(value, p)| *value -= factor * p);
        }
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 1 << 40;

    fn load(pattern: &str) -> SimulatedLoad {
        SimulatedLoad {
            pattern: pattern.into(),
            used: 1.0,
            overwrites: 4.0,
        }
    }

    fn errors_of(measured: &[(&str, usize)]) -> MeasuredErrors {
        let loads: Vec<SimulatedLoad> = measured.iter().map(|(name, _)| load(name)).collect();
        let counts = measured.iter().map(|(_, count)| *count);
        MeasuredErrors::new(loads.iter().zip(counts), CAPACITY)
    }

    fn distance(a: &str, b: &str) -> f64 {
        let shared = LoadTraits::of(&load(a), CAPACITY).shared(&LoadTraits::of(&load(b), CAPACITY));
        (-2.0 * (shared / SHARED_SIGMA / SHARED_SIGMA).ln()).sqrt() * LIKE
    }

    #[test]
    fn alike_is_what_writes_alike() {
        // By hand: the curves of uniform and of all writes to a half are x and min(2 x, 1).
        let by_hand = (1..=9)
            .map(|n| f64::from(n) / 20.0)
            .map(|x| x * x)
            .sum::<f64>()
            * 2.0;
        let half = ((by_hand + 0.25) / 19.0).sqrt();
        assert!((distance("uniform", "hotcold:100/50:scattered") - half).abs() < 1e-9);
        assert!(distance("uniform", "zipf:0.2") < distance("uniform", "zipf:0.4"));
        assert!(distance("zipf:0.6", "zipf:0.8") < distance("uniform", "zipf:0.8"));
        assert!((distance("zipf:0.9999999", "zipf:1") - 0.0).abs() < 1e-3);
        let apart = distance("hotcold:80/20", "hotcold:80/20:scattered");
        assert!((apart - IN_PLACE).abs() < 1e-9, "{apart}");
        // Of a trace nothing is known.
        let trace = LoadTraits::of(&load(crate::trace::NAME), CAPACITY);
        assert_eq!(trace.shared(&trace), 0.0);
    }

    #[test]
    fn an_inverse_is_one_and_each_error_is_judged_by_the_others() {
        let measured = [("uniform", 1), ("zipf:0.2", 3), ("zipf:0.8", 1)];
        let judge = errors_of(&measured);
        let errors = [0.03, -0.05, 0.1];
        let mut parts = [0.0; 3];
        let misfit = judge.misfit(&errors, &mut parts);
        for (without, part) in parts.into_iter().enumerate() {
            let keep = |i: &usize| *i != without;
            let rest: Vec<(&str, usize)> = (0..3).filter(keep).map(|i| measured[i]).collect();
            let left: Vec<f64> = (0..3).filter(keep).map(|i| errors[i]).collect();
            let fewer = errors_of(&rest).misfit(&left, &mut [0.0; 2]);
            assert!((misfit - part - fewer).abs() < 1e-9 * misfit, "{without}");
        }
    }

    #[test]
    fn what_is_known_of_a_load_is_carried_to_those_like_it() {
        let judge = errors_of(&[("zipf:0.6", 100)]);
        let expected = |pattern: &str| {
            let under = judge.under(&load(pattern));
            (under.expected(&[0.1]), under.sigma)
        };
        let (own, own_sigma) = expected("zipf:0.6");
        let (near, near_sigma) = expected("zipf:0.7");
        let (far, far_sigma) = expected("uniform");
        let (trace, trace_sigma) = expected(crate::trace::NAME);
        assert!(own > 0.09 && own < 0.1, "{own}");
        assert!(
            near < own && near > 0.05 && far < 0.5 * near,
            "{near} {far}"
        );
        assert!(own_sigma < near_sigma && near_sigma < far_sigma && far_sigma < trace_sigma);
        assert_eq!((trace, trace_sigma), (0.0, ErrorUnder::unknown().sigma));
    }
}
