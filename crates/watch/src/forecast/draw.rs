//! Drawn numbers, and quantiles of weighted ones.

use ssdlab_ssd::rng::Rng;

/// Numbers drawn from a seed.
#[derive(Debug)]
pub struct EnsembleRng {
    rng: Rng,
}

impl EnsembleRng {
    /// The stream of this name.
    pub fn new(seed: u64, name: &str) -> EnsembleRng {
        EnsembleRng {
            rng: Rng::named(seed, name),
        }
    }

    /// Uniform in 0 to 1.
    pub fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform between two numbers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Normal with mean 0 and deviation 1, by Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A factor around 1 whose logarithm has this deviation.
    pub fn factor(&mut self, sigma: f64) -> f64 {
        (sigma * self.normal()).exp()
    }
}

/// A value with its weight; infinite: it never comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedValue {
    /// The value.
    pub value: f64,
    /// Its weight.
    pub weight: f64,
}

/// The smallest value up to which `share` of the weight lies; `None` without weight.
pub fn quantile(values: &mut [WeightedValue], share: f64) -> Option<f64> {
    values.sort_by(|a, b| a.value.total_cmp(&b.value));
    let total: f64 = values.iter().map(|value| value.weight).sum();
    let mut sum = 0.0;
    values
        .iter()
        .find(|value| {
            sum += value.weight;
            value.weight > 0.0 && sum >= share * total
        })
        .map(|value| value.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_follow_weights() {
        let value = |value, weight| WeightedValue { value, weight };
        let mut values = [value(3.0, 1.0), value(1.0, 1.0), value(f64::INFINITY, 2.0)];
        assert_eq!(quantile(&mut values, 0.1), Some(1.0));
        assert_eq!(quantile(&mut values, 0.5), Some(3.0));
        assert_eq!(quantile(&mut values, 0.9), Some(f64::INFINITY));
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut rng = EnsembleRng::new(1, "normal");
        let numbers: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let mean = numbers.iter().sum::<f64>() / 20_000.0;
        let square = numbers.iter().map(|number| number * number).sum::<f64>() / 20_000.0;
        assert!(
            mean.abs() < 0.03 && (square - 1.0).abs() < 0.05,
            "{mean} {square}"
        );
    }
}
