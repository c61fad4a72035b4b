//! Intervals of an ensemble: its members, each with the model's own error.

use crate::ensemble::{EnsembleMember, WeightedMember, errors, quantiles};
use crate::likeness::ErrorUnder;

/// 5, 50 and 95 % of the rate, B/s, the model's own error included.
pub(crate) fn interval(
    members: &[WeightedMember],
    error: &ErrorUnder,
    sequential: f64,
    waf: impl Fn(&EnsembleMember) -> f64,
) -> [f64; 3] {
    let mut values = cases(members, error, &waf, |_, slowdown| sequential / slowdown);
    quantiles(&mut values, [0.05, 0.5, 0.95])
}

/// `value` of a member and its slowdown, in twenty cases of the model's error under the load
/// about the one to be expected. No slot is faster than a sequential one.
pub(crate) fn cases(
    members: &[WeightedMember],
    error: &ErrorUnder,
    waf: &impl Fn(&EnsembleMember) -> f64,
    value: impl Fn(&EnsembleMember, f64) -> f64,
) -> Vec<(f64, f64)> {
    let mut values = Vec::with_capacity(members.len() * 20);
    for weighted in members {
        let slowdown = weighted.member.slowdown(waf(&weighted.member));
        let expected = error.expected(&weighted.errors);
        for case in errors() {
            let slowdown = (slowdown * (case * error.sigma - expected).exp()).max(1.0);
            values.push((value(&weighted.member, slowdown), weighted.weight / 20.0));
        }
    }
    values
}
