//! Lines of a chart, and thinning for display that keeps every peak.

/// Points of a chart, in order of x. `None` is a gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChartPoints {
    /// In the unit of the axis.
    pub x: Vec<f64>,
    /// One value, or a gap, for each x.
    pub y: Vec<Option<f64>>,
}

/// Thins a line to about `points_max` points: each span of the axis keeps its lowest and its
/// highest value, in order of time. A line that is short enough is returned as it is.
pub fn thin(line: &ChartPoints, points_max: usize) -> ChartPoints {
    if line.x.len() <= points_max {
        return line.clone();
    }
    let span = line.x.len().div_ceil((points_max / 2).max(1));
    let mut thinned = ChartPoints::default();
    for from in (0..line.x.len()).step_by(span) {
        let to = (from + span).min(line.x.len());
        for index in extremes(&line.y[from..to]) {
            thinned.x.push(line.x[from + index]);
            thinned.y.push(line.y[from + index]);
        }
    }
    thinned
}

/// Positions of the lowest and highest value, in order; of the first entry when all are gaps.
fn extremes(values: &[Option<f64>]) -> Vec<usize> {
    let known = || (0..values.len()).filter_map(|i| values[i].map(|v| (v, i)));
    let low = known().min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, i)| i);
    let high = known().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, i)| i);
    match (low, high) {
        (Some(a), Some(b)) if a != b => vec![a.min(b), a.max(b)],
        (Some(a), _) => vec![a],
        _ => vec![0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_every_peak() {
        let y = |i: usize| Some(if i == 4_321 { 900.0 } else { (i % 7) as f64 });
        let line = ChartPoints {
            x: (0..10_000).map(|i| i as f64).collect(),
            y: (0..10_000).map(y).collect(),
        };
        let thinned = thin(&line, 2_000);
        assert!(thinned.x.len() <= 2_000);
        assert!(thinned.x.is_sorted());
        let peak = thinned.y.iter().position(|y| *y == Some(900.0));
        assert_eq!(peak.map(|i| thinned.x[i]), Some(4_321.0));
        assert_eq!(thin(&line, 10_000), line);
    }
}
