//! Draws of the constants that no sheet gives, and what a quantity is over them.

use ssdlab_life::draft::prior::{DraftPrior, EstimatedConstants, PriorClass, PriorConstant};
use ssdlab_ssd::rng::Rng;

/// Standard deviations of the middles of nine parts of a normal distribution.
const PARTS: [f64; 9] = [
    -1.593, -0.967, -0.589, -0.282, 0.0, 0.282, 0.589, 0.967, 1.593,
];

/// Constants of a drive of a class: for each constant every ninth once, in an order of its own.
pub fn draws(prior: &DraftPrior, drive: PriorClass) -> Vec<EstimatedConstants> {
    let orders: Vec<(PriorConstant, [f64; 9])> = PriorConstant::ALL
        .into_iter()
        .map(|constant| {
            let mut order = PARTS;
            let mut rng = Rng::named(prior.seed, constant.name());
            for last in (1..order.len()).rev() {
                order.swap(last, rng.below(last as u64 + 1) as usize);
            }
            (constant, order)
        })
        .collect();
    let z = |constant: PriorConstant, part: usize| {
        let order = orders.iter().find(|(named, _)| *named == constant);
        order.map_or(0.0, |(_, order)| order[part])
    };
    (0..PARTS.len())
        .map(|part| prior.constants(drive, |constant| z(constant, part)))
        .collect()
}

/// The value that `share` of the draws do not exceed, between the draws by their logarithms.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)? as f64;
    let place = (share * sorted.len() as f64 - 0.5).clamp(0.0, last);
    let below = *sorted.get(place.floor() as usize)?;
    let above = *sorted.get(place.ceil() as usize)?;
    let part = place.fract();
    Some((below.ln() * (1.0 - part) + above.ln() * part).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_draws_lie_between_them() {
        let values = [8.0, 1.0, 4.0, 2.0, 16.0];
        assert_eq!(quantile(&values, 0.5), Some(4.0));
        assert_eq!(quantile(&values, 0.0), Some(1.0));
        let tenth = quantile(&[1.0; 9], 0.1);
        assert_eq!(tenth, Some(1.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
