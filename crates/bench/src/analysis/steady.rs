//! Steady state as SNIA defines it: five rounds that neither spread nor drift.
//!
//! Source: SNIA Solid State Storage Performance Test Specification (PTS) 2.0.2, definition
//! 2.1.24. With y the tracking variable (one number per round) over a window of five rounds:
//!
//! - range: max(y) - min(y) is at most 20 % of the average of y;
//! - slope: the least-squares line rises or falls by at most 10 % of that average from the first
//!   to the last round of the window, that is |slope| x 4 rounds.
//!
//! fio's `steadystate=` is another test: one criterion at a time and a slope per sample.
//!
//! The comparisons are made on sums, not on quotients, so that whole numbers (commands per
//! round) on a limit are decided exactly.

use super::{SteadyState, stats};

/// Rounds in a measurement window.
pub const WINDOW: usize = 5;
/// Largest range, as a share of the average.
pub const RANGE_SHARE_MAX: f64 = 0.20;
/// Largest excursion of the fitted line, as a share of the average.
pub const EXCURSION_SHARE_MAX: f64 = 0.10;
/// Rounds after which PTS lets the operator stop and report "not achieved".
pub const ROUNDS_MAX: usize = 25;

/// Larger values would overflow in the sums.
const VALUE_MAX: f64 = 1e300;

/// Tests one tracking variable, one number per round: the first window that attains, else the
/// last one with `attained` false. `None` when there are fewer than five rounds or any value is
/// not a rate or a latency (negative, infinite, NaN, or beyond 1e300).
///
/// Every number in the result is finite. A window in which nothing happened (average 0) has not
/// attained; its shares are 1.
pub fn steady_state(rounds: &[f64]) -> Option<SteadyState> {
    steady_state_all(&[rounds]).and_then(|mut states| states.pop())
}

/// Tests several tracking variables at once, as PTS 2.0 asks: the first window in which *every*
/// variable attains, else the last window. One entry per variable, all over the same rounds.
/// `None` as for [`steady_state`], for no variable, and for variables of different lengths.
///
/// Whether the drive is in steady state is `all.iter().all(|s| s.attained)`.
pub fn steady_state_all(variables: &[&[f64]]) -> Option<Vec<SteadyState>> {
    let rounds = variables.first()?.len();
    let valid = |y: &f64| (0.0..=VALUE_MAX).contains(y);
    let usable = |v: &&[f64]| v.len() == rounds && v.iter().all(valid);
    if rounds < WINDOW || !variables.iter().all(usable) {
        return None;
    }
    let last = rounds - WINDOW;
    let first_attained =
        (0..=last).find(|&start| variables.iter().all(|v| attains(&v[start..][..WINDOW])));
    let start = first_attained.unwrap_or(last);
    Some(variables.iter().map(|v| describe(v, start)).collect())
}

/// Averages of `values` (one per second) over consecutive rounds of `seconds_per_round`; a
/// remainder at the end is not a round. Empty when `seconds_per_round` is 0.
pub fn rounds(values: &[f64], seconds_per_round: usize) -> Vec<f64> {
    if seconds_per_round == 0 {
        return Vec::new();
    }
    values
        .chunks_exact(seconds_per_round)
        .map(stats::mean)
        .collect()
}

/// Both criteria, multiplied out: with s the sum of the window, 20 % of the average is s / 25;
/// with w = 2 (y4 - y0) + (y3 - y1), the slope is w / 10, so |slope| x 4 <= 10 % of s / 5 is
/// 20 |w| <= s.
fn attains(y: &[f64]) -> bool {
    let sum: f64 = y.iter().sum();
    let drift = 2.0 * (y[4] - y[0]) + (y[3] - y[1]);
    sum > 0.0 && 25.0 * range(y) <= sum && 20.0 * drift.abs() <= sum
}

fn range(y: &[f64]) -> f64 {
    let max = y.iter().copied().fold(f64::MIN, f64::max);
    let min = y.iter().copied().fold(f64::MAX, f64::min);
    max - min
}

fn describe(rounds: &[f64], start: usize) -> SteadyState {
    let y = &rounds[start..start + WINDOW];
    let average = stats::mean(y);
    let slope = stats::slope(y);
    let share = |x: f64| if average > 0.0 { x / average } else { 1.0 };
    let attained = attains(y);
    let last = stats::mean(&rounds[rounds.len() - WINDOW..]);
    let was_left = attained && (last - average).abs() > RANGE_SHARE_MAX * average;
    SteadyState {
        attained,
        window_start: start,
        window: y.to_vec(),
        average,
        range_share: share(range(y)),
        excursion_share: share(slope.abs() * (WINDOW - 1) as f64),
        slope,
        left_for: was_left.then_some(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A drive at a quarter of the rate at which it seemed steady was called steady there.
    #[test]
    fn a_state_that_is_left_again_is_told() {
        let mut rounds = vec![1690.0; 6];
        assert_eq!(steady_state(&rounds).unwrap().left_for, None);
        rounds.extend([1200.0, 800.0, 390.0, 385.0, 386.0, 384.0, 385.0]);
        let found = steady_state(&rounds).unwrap();
        assert!(found.attained && found.average == 1690.0);
        assert_eq!(found.left_for, Some(386.0));
    }

    /// The definition in whole numbers, by another route: the normal equations of the line
    /// through (1, y1) .. (5, y5), each condition cross-multiplied.
    fn attains_by_counts(y: &[i128]) -> bool {
        let n = 5;
        let sum: i128 = y.iter().sum();
        let sum_x: i128 = (1..=n).sum();
        let sum_xx: i128 = (1..=n).map(|x| x * x).sum();
        let sum_xy: i128 = (1..=n).zip(y).map(|(x, y)| x * y).sum();
        let slope_over = n * sum_xy - sum_x * sum;
        let slope_under = n * sum_xx - sum_x * sum_x;
        let range = y.iter().max().unwrap() - y.iter().min().unwrap();
        // range <= 20/100 * sum/5 and |slope| * 4 <= 10/100 * sum/5
        sum > 0
            && range * 100 * n <= 20 * sum
            && slope_over.abs() * 4 * 100 * n <= 10 * sum * slope_under
    }

    fn attained(y: &[i128]) -> bool {
        let rounds: Vec<f64> = y.iter().map(|&v| v as f64).collect();
        steady_state(&rounds).unwrap().attained
    }

    #[test]
    fn range_at_the_limit_and_one_above() {
        let at = [100_000, 110_000, 100_000, 90_000, 100_000];
        assert!(attains_by_counts(&at) && attained(&at));
        for (index, delta) in [(1, 1), (3, -1)] {
            let mut above = at;
            above[index] += delta;
            assert!(!attains_by_counts(&above), "{above:?}");
            assert!(!attained(&above), "{above:?}");
        }
    }

    #[test]
    fn slope_at_the_limit_and_one_above() {
        // A line with slope 2500 per round: 10 000 over the window, average 100 000.
        let at = [95_000, 97_500, 100_000, 102_500, 105_000];
        assert!(attains_by_counts(&at) && attained(&at));
        for (index, delta) in [(0, -1), (4, 1), (1, -1), (3, 1)] {
            let mut above = at;
            above[index] += delta;
            assert!(!attains_by_counts(&above), "{above:?}");
            assert!(!attained(&above), "{above:?}");
        }
        let falling: Vec<i128> = at.iter().rev().copied().collect();
        assert!(attained(&falling));
    }

    #[test]
    fn the_shares_are_those_of_the_definition() {
        let s = steady_state(&[95.0, 97.5, 100.0, 102.5, 105.0]).unwrap();
        assert_eq!((s.average, s.slope), (100.0, 2.5));
        assert!((s.range_share - 0.10).abs() < 1e-15);
        assert!((s.excursion_share - EXCURSION_SHARE_MAX).abs() < 1e-15);
        assert!(s.range_share <= RANGE_SHARE_MAX);
    }

    #[test]
    fn first_window_that_attains_else_the_last() {
        let falling = [
            500.0, 400.0, 300.0, 200.0, 100.0, 100.0, 101.0, 99.0, 100.0, 100.0,
        ];
        let s = steady_state(&falling).unwrap();
        assert!(s.attained);
        assert_eq!(s.window_start, 4);
        let s = steady_state(&falling[..7]).unwrap();
        assert!(!s.attained);
        assert_eq!(s.window_start, 2);
        assert_eq!(s.window, falling[2..7]);
    }

    #[test]
    fn all_variables_in_the_same_window() {
        let flat = [10.0; 8];
        let late = [90.0, 60.0, 30.0, 10.0, 10.0, 10.0, 10.0, 10.0];
        let all = steady_state_all(&[&flat, &late]).unwrap();
        assert!(all.iter().all(|s| s.attained && s.window_start == 3));
        let all = steady_state_all(&[&flat[..7], &late[..7]]).unwrap();
        assert!(all[0].attained && !all[1].attained && all[0].window_start == 2);
        assert_eq!(steady_state_all(&[]), None);
        assert_eq!(steady_state_all(&[&flat, &late[..7]]), None);
    }

    #[test]
    fn what_is_no_rate_is_refused_and_nothing_is_not_steady() {
        assert_eq!(steady_state(&[1.0; 4]), None);
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e301] {
            assert_eq!(steady_state(&[1.0, 1.0, bad, 1.0, 1.0, 1.0]), None);
        }
        let idle = steady_state(&[0.0; 5]).unwrap();
        assert!(!idle.attained);
        assert_eq!((idle.range_share, idle.excursion_share), (1.0, 1.0));
        let huge = steady_state(&[1e300; 5]).unwrap();
        assert!(huge.attained && huge.average.is_finite());
    }

    #[test]
    fn rounds_average_whole_rounds_only() {
        assert_eq!(rounds(&[1.0, 3.0, 5.0, 7.0, 100.0], 2), [2.0, 6.0]);
        assert!(rounds(&[1.0], 2).is_empty());
        assert!(rounds(&[1.0], 0).is_empty());
    }

    proptest! {
        #[test]
        fn agrees_with_whole_numbers(
            counts in prop::collection::vec(900i128..1150, 5..30),
        ) {
            let float: Vec<f64> = counts.iter().map(|&v| v as f64).collect();
            let got = steady_state(&float).unwrap();
            let first = counts.windows(5).position(attains_by_counts);
            prop_assert_eq!(got.attained, first.is_some());
            prop_assert_eq!(got.window_start, first.unwrap_or(counts.len() - 5));
        }

        #[test]
        fn never_gives_what_json_cannot_hold(
            values in prop::collection::vec(prop::num::f64::ANY, 0..12),
        ) {
            if let Some(s) = steady_state(&values) {
                let shown = [s.average, s.range_share, s.excursion_share, s.slope];
                prop_assert!(shown.iter().all(|v| v.is_finite()));
            }
        }
    }
}
