//! The few statistics everything else rests on: order statistics, spread, least squares.
//!
//! Every function takes finite numbers and gives a finite number; an empty slice gives 0, so that
//! a result can always be written as JSON. What counts as finite is the caller's affair.

/// Robust standard deviation per unit of median absolute deviation, for normal noise.
pub const SIGMA_PER_MAD: f64 = 1.482_602_218_505_602;

/// Arithmetic mean; 0 for an empty slice.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample standard deviation (divisor n - 1, as fio prints it); 0 below two values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Population standard deviation (divisor n, as DISKSPD prints it); 0 for an empty slice.
pub fn population_deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    if values.len() < 2 {
        return 0.0;
    }
    standard_deviation(values) * ((n - 1.0) / n).sqrt()
}

/// Sample standard deviation from a count, a sum and a sum of squares; 0 below two values.
///
/// Exact enough for latencies: the cancellation error is below `1e-15 * sum_squares / count`.
pub fn standard_deviation_of_sums(count: u64, sum: f64, sum_squares: f64) -> f64 {
    if count < 2 {
        return 0.0;
    }
    let n = count as f64;
    ((sum_squares - sum * sum / n) / (n - 1.0)).max(0.0).sqrt()
}

/// Quantile `share` (0 to 1, clamped) with linear interpolation between order statistics
/// (Hyndman and Fan's type 7, the default of R and NumPy); 0 for an empty slice. O(n).
pub fn quantile(values: &[f64], share: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let mut scratch = values.to_vec();
    let place = share.clamp(0.0, 1.0) * (scratch.len() - 1) as f64;
    let low = place.floor() as usize;
    let (_, &mut at_low, above) = scratch.select_nth_unstable_by(low, f64::total_cmp);
    let next = above.iter().copied().min_by(f64::total_cmp);
    let weight = place - low as f64;
    match next {
        Some(next) if weight > 0.0 => at_low + (next - at_low) * weight,
        _ => at_low,
    }
}

/// Median; 0 for an empty slice.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// Median absolute deviation from `centre`, unscaled; 0 for an empty slice.
pub fn mad(values: &[f64], centre: f64) -> f64 {
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations)
}

/// Slope per step of the least-squares line through `values` at 0, 1, 2...; 0 below two values.
pub fn slope(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let n = values.len() as f64;
    let middle = (n - 1.0) / 2.0;
    let weighted: f64 = values
        .iter()
        .enumerate()
        .map(|(x, y)| (x as f64 - middle) * y)
        .sum();
    weighted / (n * (n * n - 1.0) / 12.0)
}

/// Theil-Sen line: median of all pairwise slopes and of the intercepts they leave, as
/// (intercept, slope per step). Outliers on fewer than 29 % of the points do not move it. O(n^2).
pub fn robust_line(values: &[f64]) -> (f64, f64) {
    let mut slopes = Vec::with_capacity(values.len() * values.len().saturating_sub(1) / 2);
    for (x, y) in values.iter().enumerate() {
        for (steps, later) in values[x + 1..].iter().enumerate() {
            slopes.push((later - y) / (steps + 1) as f64);
        }
    }
    let slope = median(&slopes);
    let intercepts: Vec<f64> = values
        .iter()
        .enumerate()
        .map(|(x, y)| y - slope * x as f64)
        .collect();
    (median(&intercepts), slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_cases_by_hand() {
        let v = [4.0, 1.0, 3.0, 2.0];
        assert_eq!(mean(&v), 2.5);
        assert_eq!(median(&v), 2.5);
        assert_eq!(quantile(&v, 0.0), 1.0);
        assert_eq!(quantile(&v, 1.0), 4.0);
        assert_eq!(quantile(&v, 0.25), 1.75);
        assert_eq!(mad(&v, 2.5), 1.0);
        assert!((standard_deviation(&v) - (5.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert_eq!(
            standard_deviation_of_sums(4, 10.0, 30.0),
            standard_deviation(&v)
        );
        assert_eq!(slope(&[1.0, 3.0, 5.0]), 2.0);
        assert_eq!(robust_line(&[1.0, 3.0, 5.0, 7.0, 1000.0]), (1.0, 2.0));
    }

    #[test]
    fn nothing_gives_zero() {
        for f in [mean, standard_deviation, median, slope] {
            assert_eq!(f(&[]), 0.0);
        }
        assert_eq!(robust_line(&[]), (0.0, 0.0));
        assert_eq!(standard_deviation_of_sums(0, 0.0, 0.0), 0.0);
    }

    proptest! {
        #[test]
        fn quantile_is_that_of_the_sorted_values(
            mut v in prop::collection::vec(-1e9f64..1e9, 1..60),
            share in 0.0f64..=1.0,
        ) {
            let got = quantile(&v, share);
            v.sort_by(f64::total_cmp);
            let place = share * (v.len() - 1) as f64;
            let (low, high) = (place.floor() as usize, place.ceil() as usize);
            let want = v[low] + (v[high] - v[low]) * place.fract();
            prop_assert!((got - want).abs() <= 1e-6);
        }
    }
}
