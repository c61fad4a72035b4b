//! The design and its weights.
//!
//! Unknowns: the layout, spare area s, cost of a moved slot k, and j, what scattered writes cost
//! besides. Of every layout, [`POINTS`] points of an Owen-scrambled Sobol sequence cover (ln s,
//! ln k, j); each weighs as much as its prior times its agreement with the table. The error of the
//! model itself is part of the agreement: without it the ensemble would be too sure.

use crate::structure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points of each layout.
pub const POINTS: u32 = 2048;
/// Spare area, effective over-provisioning: uniform in the logarithm.
pub const SPARE: (f64, f64) = (0.05, 0.8);
/// Cost of a moved slot in host slots: range of the design.
const MOVED: (f64, f64) = (0.6, 2.6);
/// Median and sigma of ln k: two drives whose counted WAF is published give 1.28 and 1.42.
const MOVED_MEDIAN: f64 = 1.3;
const MOVED_SIGMA: f64 = 0.2;
/// Range of j, and sigma of its half-normal prior: one drive with counted WAF gives 0.03.
const SCATTERED_MAX: f64 = 0.08;
const SCATTERED_SIGMA: f64 = 0.03;
/// Sigma of the model's own error in ln T, the part that loads which are alike share. Chosen, with
/// the two that follow, while looking at three drives.
pub const SHARED_SIGMA: f64 = 0.045;
/// Sigma of the part that each load has alone.
pub const OWN_SIGMA: f64 = 0.01;
/// Distance of the Lorenz curves of two loads (root mean square) at which they share exp(-1/2) of
/// the first part.
pub const LIKE: f64 = 0.1;
/// Sigma of a measurement in ln T.
pub const NOISE_SIGMA: f64 = 0.02;

/// A model of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnsembleMember {
    /// Index in [`structure::ALL`]; files have its name.
    #[serde(with = "layout")]
    #[schemars(with = "String")]
    pub layout: usize,
    /// Effective over-provisioning.
    pub spare: f64,
    /// k: cost of a moved slot, in host slots.
    pub moved_cost: f64,
    /// j: cost of scattered writes besides, in host slots.
    pub scattered_cost: f64,
}

/// Layouts by name.
mod layout {
    use crate::structure;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(index: &usize, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(structure::ALL[*index].name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<usize, D::Error> {
        let name = String::deserialize(d)?;
        structure::named(&name).ok_or_else(|| D::Error::custom(format!("no layout `{name}`")))
    }
}

impl EnsembleMember {
    /// Host time of a slot, in sequential slots, at a WAF: T0 / T.
    pub fn slowdown(&self, waf: f64) -> f64 {
        1.0 + self.scattered_cost + self.moved_cost * (waf - 1.0)
    }

    /// WAF at which a slot takes `slowdown`.
    pub fn waf_at(&self, slowdown: f64) -> f64 {
        1.0 + ((slowdown - 1.0 - self.scattered_cost) / self.moved_cost).max(0.0)
    }
}

/// Members with their weights, which add up to 1.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedMember {
    /// The model.
    pub member: EnsembleMember,
    /// Its weight.
    pub weight: f64,
    /// ln(measured / model) under each load that was measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<f64>,
}

/// Sigma of ln(1 + j) that the rate before the write cliff gives: both rates are measured.
pub const BEFORE_SIGMA: f64 = 0.02;
/// Sigmas around it that the design then covers.
const BEFORE_WIDTH: f64 = 3.0;

/// Range and prior of j in a design.
#[derive(Clone, Copy, Debug)]
enum ScatteredPrior {
    /// The half-normal prior.
    Usual,
    /// A rate before the cliff was measured, which knows j better than any prior; level over a
    /// range of ln(1 + j).
    Around(f64, f64),
}

/// The design: all members with the logarithm of their prior weight. `before`: sequential rate over
/// that of uniform writes before the cliff, where it was measured. It can be far beyond the prior,
/// and the design has its points there.
pub fn design(seed: u32, before: Option<f64>) -> Vec<(EnsembleMember, f64)> {
    let scattered = before.map_or(ScatteredPrior::Usual, |ratio| {
        let (middle, wide) = (ratio.ln().max(0.0), BEFORE_WIDTH * BEFORE_SIGMA);
        ScatteredPrior::Around((middle - wide).max(0.0), middle + wide)
    });
    let mut design = Vec::new();
    let between = |(low, high): (f64, f64), u: f64| (low.ln() + (high / low).ln() * u).exp();
    for layout in 0..structure::ALL.len() {
        let own = seed.wrapping_add(layout as u32);
        let coordinate = |n, dimension| f64::from(sobol_burley::sample(n, dimension, own));
        let members: Vec<(EnsembleMember, f64)> = (0..POINTS)
            .map(|n| {
                let own = coordinate(n, 2);
                let (scattered_cost, scattered) = match scattered {
                    ScatteredPrior::Usual => {
                        let cost = SCATTERED_MAX * own;
                        (cost, cost / SCATTERED_SIGMA)
                    }
                    ScatteredPrior::Around(low, high) => ((low + (high - low) * own).exp_m1(), 0.0),
                };
                let member = EnsembleMember {
                    layout,
                    spare: between(SPARE, coordinate(n, 0)),
                    moved_cost: between(MOVED, coordinate(n, 1)),
                    scattered_cost,
                };
                let moved = (member.moved_cost / MOVED_MEDIAN).ln() / MOVED_SIGMA;
                (member, -0.5 * (moved * moved + scattered * scattered))
            })
            .collect();
        let sum: f64 = members.iter().map(|(_, log)| log.exp()).sum();
        let own = structure::prior(layout).ln() - sum.ln();
        design.extend(members.into_iter().map(|(member, log)| (member, log + own)));
    }
    design
}

/// Weights that add up to 1, from their logarithms.
pub fn normalised(logs: &[f64]) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// `count` members drawn at equal steps of the cumulated weight; a member drawn several times
/// weighs as much.
pub fn drawn(members: &[WeightedMember], count: usize) -> Vec<WeightedMember> {
    let step = 1.0 / count as f64;
    let (mut next, mut sum, mut selected) = (step / 2.0, 0.0, Vec::new());
    for candidate in members {
        sum += candidate.weight;
        let mut times = 0;
        while next < sum && times < count {
            times += 1;
            next += step;
        }
        if times > 0 {
            let weight = times as f64 * step;
            selected.push(WeightedMember {
                weight,
                ..candidate.clone()
            });
        }
    }
    selected
}

/// Normal quantiles at the middles of twenty equal parts: the model's error as twenty cases.
const STEPS: [f64; 10] = [
    0.0627, 0.1891, 0.3186, 0.4538, 0.5978, 0.7554, 0.9346, 1.1503, 1.4395, 1.9600,
];

/// Twenty cases of a normal error of mean 0 and sigma 1, each as likely.
pub fn errors() -> impl Iterator<Item = f64> {
    STEPS.into_iter().flat_map(|z| [-z, z])
}

/// Quantiles of weighted values; values are sorted, weights add up to 1.
pub fn quantiles<const N: usize>(values: &mut [(f64, f64)], shares: [f64; N]) -> [f64; N] {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    shares.map(|share| {
        let mut sum = 0.0;
        let entry = values.iter().find(|(_, weight)| {
            sum += weight;
            sum >= share
        });
        entry.or(values.last()).map_or(f64::NAN, |value| value.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_design_covers_its_range_and_its_prior_adds_up() {
        let all = design(1, None);
        let logs: Vec<f64> = all.iter().map(|(_, log)| *log).collect();
        let sum: f64 = logs.iter().map(|log| log.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        let mut spares: Vec<(f64, f64)> = all.iter().map(|(m, log)| (m.spare, log.exp())).collect();
        let [low, middle, high] = quantiles(&mut spares, [0.05, 0.5, 0.95]);
        // 5, 50 and 95 % of the way in the logarithm.
        for (found, wanted) in [(low, 0.0574), (middle, 0.2), (high, 0.696)] {
            assert!(
                (found / wanted - 1.0_f64).abs() < 0.01,
                "{found} for {wanted}"
            );
        }
    }

    #[test]
    fn drawn_members_keep_their_weights() {
        let member = design(1, None)[0].0;
        let weights = [0.5, 0.25, 0.125, 0.125];
        let all = weights.map(|weight| WeightedMember {
            member,
            weight,
            errors: Vec::new(),
        });
        let drawn = drawn(&all, 400);
        let found: Vec<f64> = drawn.iter().map(|one| one.weight).collect();
        let near = found
            .iter()
            .zip(weights)
            .all(|(a, b)| (a - b).abs() < 0.003);
        assert!(near && found.len() == 4, "{found:?}");
    }

    #[test]
    fn slowdown_and_waf_are_inverse() {
        let member = design(1, None)[7].0;
        assert!((member.waf_at(member.slowdown(2.5)) - 2.5).abs() < 1e-9);
        assert_eq!(member.waf_at(0.5), 1.0);
    }
}
