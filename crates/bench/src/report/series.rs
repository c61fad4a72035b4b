//! From recorded seconds to lines on a chart: one time axis for all phases.

use crate::analysis::SteadyState;
use crate::record::Second;
use ssdlab_ssd::Op;
use ssdlab_view::line::ChartPoints;

/// Seconds shorter than this were cut off, not slow; they are not drawn.
const LENGTH_WHOLE_S: f64 = 0.999;
/// Two averages of the same numbers differ by rounding only.
const SAME: f64 = 1e-6;

/// The recorded seconds of a run on one axis: phases follow one another.
pub struct RunTimeline<'a> {
    rows: Vec<(f64, &'a Second)>,
    starts: Vec<(usize, f64)>,
}

impl<'a> RunTimeline<'a> {
    /// x = 0 is where the first phase's counted part began; its ramp lies before.
    pub fn new(seconds: &'a [Second]) -> RunTimeline<'a> {
        let whole = seconds.iter().any(|s| s.length_s >= LENGTH_WHOLE_S);
        let mut rows: Vec<(f64, &Second)> = Vec::with_capacity(seconds.len());
        let mut starts: Vec<(usize, f64)> = Vec::new();
        for second in seconds {
            let t = second.t_s as f64;
            if starts
                .last()
                .is_none_or(|&(phase, _)| phase != second.phase)
            {
                let end = rows.last().map(|(x, _)| x + 1.0);
                starts.push((second.phase, end.map_or(0.0, |end| end - t)));
            }
            let start = starts.last().map_or(0.0, |&(_, start)| start);
            if second.length_s >= LENGTH_WHOLE_S || (!whole && second.length_s > 0.0) {
                rows.push((start + t, second));
            }
        }
        RunTimeline { rows, starts }
    }

    /// Where the counted part of `phase` begins on the axis.
    pub fn start(&self, phase: usize) -> Option<f64> {
        let entry = self.starts.iter().find(|&&(p, _)| p == phase);
        entry.map(|&(_, start)| start)
    }

    /// Where every phase but the first begins.
    pub fn later_starts(&self) -> impl Iterator<Item = f64> {
        self.starts.iter().skip(1).map(|&(_, start)| start)
    }

    /// The line of one value per second; what is not finite becomes a gap.
    pub fn line(&self, value: impl Fn(&Second) -> Option<f64>) -> ChartPoints {
        let finite = |s: &Second| value(s).filter(|v| v.is_finite());
        ChartPoints {
            x: self.rows.iter().map(|&(x, _)| x).collect(),
            y: self.rows.iter().map(|&(_, s)| finite(s)).collect(),
        }
    }
}

/// Commands per second of all kinds that move or discard data (flushes are not counted).
pub fn iops_all(second: &Second) -> Option<f64> {
    let counts = Op::ALL.into_iter().filter(|&op| op != Op::Flush);
    let count: u64 = counts.map(|op| second.ops[op as usize].count).sum();
    Some(count as f64 / second.length_s)
}

/// Commands per second of one kind.
pub fn iops(second: &Second, op: Op) -> Option<f64> {
    Some(second.ops[op as usize].count as f64 / second.length_s)
}

/// Bytes per second of one kind.
pub fn throughput(second: &Second, op: Op) -> Option<f64> {
    Some(second.ops[op as usize].bytes as f64 / second.length_s)
}

/// A latency of one kind, ns; a gap when nothing completed.
pub fn latency(second: &Second, op: Op, pick: impl Fn(&Second) -> u64) -> Option<f64> {
    (second.ops[op as usize].count > 0).then(|| pick(second) as f64)
}

/// Where the steady-state window lies on the time axis of a one-phase series, in seconds.
///
/// The record does not say how long a round was, so the window's averages are looked for among
/// averages of the recorded seconds. `None` when no length of round, or more than one, gives
/// exactly them: nothing is shaded on a guess.
pub fn steady_span(seconds: &[Second], steady: &SteadyState) -> Option<(f64, f64)> {
    let counted = seconds
        .iter()
        .filter(|s| s.t_s >= 0 && s.length_s >= LENGTH_WHOLE_S);
    let rows: Vec<&Second> = counted.collect();
    let total = |s: &Second| iops_all(s).unwrap_or(0.0);
    let kinds: [&dyn Fn(&Second) -> f64; 3] =
        [&total, &|s| iops(s, Op::Write).unwrap_or(0.0), &|s| {
            iops(s, Op::Read).unwrap_or(0.0)
        }];
    let length = kinds.iter().find_map(|kind| {
        let values: Vec<f64> = rows.iter().map(|s| kind(s)).collect();
        round_length(&values, steady)
    })?;
    let first = rows.first()?.t_s as f64;
    let from = first + (steady.window_start * length) as f64;
    Some((from, from + (steady.window.len() * length) as f64))
}

/// The one number of values per round that gives the window's averages.
fn round_length(values: &[f64], steady: &SteadyState) -> Option<usize> {
    let rounds = steady.window_start + steady.window.len();
    if steady.window.is_empty() || values.len() < rounds {
        return None;
    }
    let gives_window = |length: &usize| {
        let mut averages = values
            .chunks_exact(*length)
            .skip(steady.window_start)
            .map(|round| round.iter().sum::<f64>() / *length as f64);
        steady.window.iter().all(|&expected| {
            let average = averages.next().unwrap_or(f64::NAN);
            (average - expected).abs() <= SAME * expected.abs()
        })
    };
    let mut lengths = (1..=values.len() / rounds).filter(gives_window);
    let length = lengths.next()?;
    lengths.next().is_none().then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::OpSecond;

    fn second(phase: usize, t_s: i64, writes: u64) -> Second {
        let mut ops = [OpSecond::default(); Op::COUNT];
        ops[Op::Write as usize].count = writes;
        Second {
            phase,
            t_s,
            length_s: 1.0,
            ops,
            nand_bytes_written: None,
            device_flushes: None,
        }
    }

    #[test]
    fn phases_follow_one_another() {
        let seconds: Vec<Second> = [(0, -1), (0, 0), (0, 1), (1, -1), (1, 0)]
            .map(|(phase, t)| second(phase, t, 1))
            .to_vec();
        let timeline = RunTimeline::new(&seconds);
        assert_eq!(timeline.line(iops_all).x, [-1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(timeline.start(1), Some(3.0));
        assert_eq!(timeline.later_starts().collect::<Vec<_>>(), [3.0]);
    }

    #[test]
    fn a_cut_second_is_left_out_unless_it_is_all_there_is() {
        let mut seconds = vec![second(0, 0, 5), second(0, 1, 1)];
        seconds[1].length_s = 0.1;
        assert_eq!(RunTimeline::new(&seconds).line(iops_all).x, [0.0]);
        assert_eq!(RunTimeline::new(&seconds[1..]).line(iops_all).x, [1.0]);
    }

    #[test]
    fn the_steady_window_is_found_by_its_averages_or_not_at_all() {
        let seconds: Vec<Second> = (0..100)
            .map(|t| second(0, t, 100 + t as u64 % 13))
            .collect();
        let rates: Vec<f64> = seconds.iter().filter_map(iops_all).collect();
        let averages: Vec<f64> = rates
            .chunks_exact(10)
            .map(|c| c.iter().sum::<f64>() / 10.0)
            .collect();
        let mut steady = SteadyState {
            attained: true,
            window_start: 3,
            window: averages[3..8].to_vec(),
            average: 106.0,
            range_share: 0.0,
            excursion_share: 0.0,
            slope: 0.0,
            left_for: None,
        };
        assert_eq!(steady_span(&seconds, &steady), Some((30.0, 80.0)));
        steady.window[2] += 1.0;
        assert_eq!(steady_span(&seconds, &steady), None);
        let flat: Vec<Second> = (0..100).map(|t| second(0, t, 100)).collect();
        steady.window = vec![100.0; 5];
        assert_eq!(steady_span(&flat, &steady), None, "any length would do");
    }
}
