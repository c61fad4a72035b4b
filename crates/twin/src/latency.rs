//! Latency beside random writes of an offered rate, from latency measured at other rates.
//!
//! A read waits if its die is busy with writes, and for how long (the rest of a program, a
//! suspension, an erase) does not depend on how often that happens. So the share of reads that
//! take longer than t is b S(t): b, the share of time that a die is busy, is in proportion to the
//! rate of writes over the rate that the drive sustains under that load; S belongs to the drive.
//! Latency at one rate therefore gives that at another: the percentile with a share c of the
//! reads above it at b has c b / b0 above it at b0. Writes end in a buffer and wait for nothing
//! until it is full: their percentiles stay as they are. Between two measured rates, both answers
//! are weighed by the logarithm of the rate.
//!
//! Deliberately left out: rates near saturation, where queues decide, and stalls of the drive's
//! own making (a write that waits for milliseconds at a fifth of the rate).

pub mod read;

use crate::structure::SLOT;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Share of the rate that the drive sustains up to which latency is predicted.
pub const SHARE_MAX: f64 = 0.8;
/// Measurements closer than this to what the drive sustains are no evidence: queues decided.
const SATURATED: f64 = 0.9;
/// The law's own error, a factor on both ends of an interval. Chosen while looking at four drives.
const OWN_ERROR: f64 = 1.15;
/// How far below the lowest rate that was measured is still predicted.
const BELOW: f64 = 0.9;
/// The percentile that the law predicts worst, and the next one that is usually published.
const MEDIAN: f64 = 50.0;
const STEP_END: f64 = 90.0;
/// How far apart two rates may be, a factor, for the median between them to be their own. Chosen
/// while looking at four drives.
const NEAR: f64 = 4.0;
/// Percentiles that are predicted.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// A percentile of latency.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quantile {
    /// Per cent of the commands that are as fast.
    pub percent: f64,
    /// Latency, us.
    pub us: f64,
}

impl Quantile {
    fn above(self) -> f64 {
        1.0 - self.percent / 100.0
    }
}

/// Latency that was measured beside writes of a steady rate.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredLatency {
    /// Line of its file, or number of its argument.
    pub line: usize,
    /// Load of the writes.
    pub load: String,
    /// Part of the user capacity that is filled and written.
    pub used: f64,
    /// Rate of all writes, B/s.
    pub rate: f64,
    /// Of reads, by percentile.
    pub reads: Vec<Quantile>,
    /// Of writes, by percentile.
    pub writes: Vec<Quantile>,
}

/// Which commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadOrWrite {
    /// Reads of 4 KiB.
    Read,
    /// Writes of 4 KiB.
    Write,
}

impl MeasuredLatency {
    fn of(&self, kind: ReadOrWrite) -> &[Quantile] {
        match kind {
            ReadOrWrite::Read => &self.reads,
            ReadOrWrite::Write => &self.writes,
        }
    }
}

/// A predicted percentile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PredictedPercentile {
    /// Reads or writes.
    pub kind: ReadOrWrite,
    /// Per cent of the commands that are as fast.
    pub percent: f64,
    /// 5, 50 and 95 %, us.
    pub us: [f64; 3],
}

/// Latency at a rate that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LatencyAtRate {
    /// Rate of writes, 4 KiB a second.
    pub write_iops: f64,
    /// Of what the drive sustains under that load.
    pub share: f64,
    /// Why nothing is predicted, where that is so.
    pub unknown: Option<String>,
    /// Percentiles; one that no measurement reaches is left out.
    pub figures: Vec<PredictedPercentile>,
}

/// A rate that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RequestedRate {
    /// 4 KiB a second.
    Iops(f64),
    /// Part of what the drive sustains under the load.
    Share(f64),
}

/// What was measured, with the share of time that a die was busy, up to a factor that all have in
/// common.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredBusyShare<'a> {
    /// What was measured.
    pub measured: &'a MeasuredLatency,
    /// Its rate of writes over the rate sustained under that load.
    pub share: f64,
}

/// Latency with `above` (0 to 1) of the commands slower, and the measured ones around it: between
/// two of them linear in the logarithm of what is slower. Nothing beyond the first and the last.
fn quantile_at(quantiles: &[Quantile], above: f64) -> Option<[f64; 3]> {
    let first = quantiles.first()?;
    if above >= first.above() {
        return (above * BELOW <= first.above()).then_some([first.us; 3]);
    }
    let pair = quantiles
        .windows(2)
        .find(|pair| above >= pair[1].above() * (1.0 - 1e-9))?;
    let (slow, fast) = (pair[1], pair[0]);
    let part = (fast.above() / above).ln() / (fast.above() / slow.above()).ln();
    let value = fast.us + (slow.us - fast.us) * part.clamp(0.0, 1.0);
    Some([fast.us, value, slow.us])
}

fn from_measurement(
    measurement: &MeasuredBusyShare<'_>,
    kind: ReadOrWrite,
    percent: f64,
    share: f64,
) -> Option<[f64; 3]> {
    let quantiles = measurement.measured.of(kind);
    let above = 1.0 - percent / 100.0;
    match kind {
        ReadOrWrite::Read => quantile_at(quantiles, (above * measurement.share / share).min(1.0)),
        ReadOrWrite::Write => quantile_at(quantiles, above),
    }
}

/// The median read between two rates that are near each other, where nothing is known between p50
/// and p90: the step from reads that wait to those that do not lies there, and the law would have
/// to guess its place. So it is that of the rates themselves, by the logarithm of the rate.
fn median_between(
    below: &MeasuredBusyShare<'_>,
    over: &MeasuredBusyShare<'_>,
    share: f64,
) -> Option<f64> {
    let own = |measurement: &MeasuredBusyShare<'_>| {
        let quantiles = &measurement.measured.reads;
        let step = |q: &&Quantile| q.percent > MEDIAN && q.percent < STEP_END;
        let median = quantiles.iter().find(|q| q.percent == MEDIAN)?;
        quantiles.iter().find(step).is_none().then_some(median.us)
    };
    let wide = over.share / below.share;
    if wide > NEAR {
        return None;
    }
    let part = (share / below.share).ln() / wide.ln();
    Some((own(below)?.ln() * (1.0 - part) + own(over)?.ln() * part).exp())
}

/// A percentile at a busy share, from the measurements next to it.
fn figure(
    measurements: &[MeasuredBusyShare<'_>],
    kind: ReadOrWrite,
    percent: f64,
    share: f64,
) -> Option<PredictedPercentile> {
    let known = |measurement: &&MeasuredBusyShare<'_>| !measurement.measured.of(kind).is_empty();
    let below = measurements
        .iter()
        .filter(known)
        .filter(|measurement| measurement.share <= share);
    let below = below.max_by(|a, b| a.share.total_cmp(&b.share));
    let over = measurements
        .iter()
        .filter(known)
        .filter(|measurement| measurement.share > share);
    let over = over.min_by(|a, b| a.share.total_cmp(&b.share));
    let from = |measurement: Option<&MeasuredBusyShare<'_>>| {
        measurement.and_then(|measurement| from_measurement(measurement, kind, percent, share))
    };
    let us = match (from(below), from(over)) {
        (Some([a_low, a_us, a_high]), Some([b_low, b_us, b_high])) => {
            let (a, b) = (below?.share, over?.share);
            let part = (share / a).ln() / (b / a).ln();
            let value = (a_us.ln() * (1.0 - part) + b_us.ln() * part).exp();
            [a_low.min(b_low), value, a_high.max(b_high)]
        }
        (Some(alone), None) | (None, Some(alone)) => alone,
        (None, None) => return None,
    };
    let us = match (below, over) {
        (Some(a), Some(b)) if kind == ReadOrWrite::Read && percent == MEDIAN => {
            median_between(a, b, share).map_or(us, |value| {
                let [low, _, high] = us;
                [low.min(value), value, high.max(value)]
            })
        }
        _ => us,
    };
    let us = [us[0] / OWN_ERROR, us[1], us[2] * OWN_ERROR];
    Some(PredictedPercentile { kind, percent, us })
}

/// Latency beside writes at `rate`, where the drive sustains `sustained` B/s of that load.
pub fn predict(
    measurements: &[MeasuredBusyShare<'_>],
    rate: RequestedRate,
    sustained: f64,
) -> LatencyAtRate {
    let share = match rate {
        RequestedRate::Iops(iops) => iops * SLOT as f64 / sustained,
        RequestedRate::Share(share) => share,
    };
    let mut prediction = LatencyAtRate {
        write_iops: share * sustained / SLOT as f64,
        share,
        unknown: None,
        figures: Vec::new(),
    };
    let usable: Vec<MeasuredBusyShare<'_>> = measurements
        .iter()
        .filter(|measurement| measurement.share <= SATURATED)
        .copied()
        .collect();
    let lowest = usable
        .iter()
        .map(|measurement| measurement.share)
        .fold(f64::MAX, f64::min);
    if share > SHARE_MAX {
        let most = SHARE_MAX * 100.0;
        prediction.unknown = Some(format!(
            "above {most:.0} % of what the drive sustains, queues decide; at the limit a command \
             takes as long as all that are outstanding take at that rate (Little's law)"
        ));
    } else if usable.is_empty() {
        let most = SATURATED * 100.0;
        prediction.unknown = Some(format!(
            "every rate that was measured is above {most:.0} % of what the drive sustains: measure \
             lower ones"
        ));
    } else if share < BELOW * lowest {
        prediction.unknown = Some(format!(
            "the lowest rate that was measured is {:.0} % of what the drive sustains: measure a \
             lower one",
            lowest * 100.0
        ));
    } else {
        let kinds = [ReadOrWrite::Read, ReadOrWrite::Write].into_iter();
        prediction.figures = kinds
            .flat_map(|kind| {
                let usable = &usable;
                let percentiles = PERCENTILES.into_iter();
                percentiles.filter_map(move |percent| figure(usable, kind, percent, share))
            })
            .collect();
        if prediction.figures.is_empty() {
            prediction.unknown = Some("no percentile was measured that could tell".into());
        }
    }
    prediction
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of 50 us wait with probability `busy`, for a time of mean 100 us that is exponential:
    /// the percentile in closed form.
    fn exact(busy: f64, percent: f64) -> f64 {
        let above = 1.0 - percent / 100.0;
        50.0 + 100.0 * (busy / above).ln().max(0.0)
    }

    fn measured(busy: f64, percents: &[f64]) -> MeasuredLatency {
        let of = |us: &dyn Fn(f64) -> f64| {
            let each = percents.iter().map(|&percent| Quantile {
                percent,
                us: us(percent),
            });
            each.collect()
        };
        MeasuredLatency {
            line: 1,
            load: "uniform".into(),
            used: 1.0,
            rate: busy * 1e9,
            reads: of(&|percent| exact(busy, percent)),
            writes: of(&|percent| 10.0 + percent / 100.0),
        }
    }

    fn busy(measured: &MeasuredLatency) -> MeasuredBusyShare<'_> {
        MeasuredBusyShare {
            measured,
            share: measured.rate / 1e9,
        }
    }

    #[test]
    fn a_wait_behind_a_busy_die_is_predicted_exactly() {
        let fio = [50.0, 70.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
        let low = measured(0.1, &fio);
        for share in [0.2, 0.4, 0.7] {
            let found = predict(&[busy(&low)], RequestedRate::Share(share), 1e9);
            assert_eq!(found.unknown, None);
            for figure in &found.figures {
                let [low, us, high] = figure.us;
                assert!(low <= us && us <= high);
                match figure.kind {
                    ReadOrWrite::Write => assert_eq!(us, 10.0 + figure.percent / 100.0),
                    // Above the percentile at which waits begin at the measured rate, the law is
                    // exact: an exponential is linear in the logarithm.
                    ReadOrWrite::Read if 0.1 * (1.0 - figure.percent / 100.0) / share <= 0.1 => {
                        let true_us = exact(share, figure.percent);
                        assert!(
                            (us / true_us - 1.0).abs() < 0.03,
                            "{share} {figure:?} {true_us}"
                        );
                    }
                    ReadOrWrite::Read => {}
                }
            }
            // The percentile that would need more than was measured is left out.
            let reads = found.figures.iter().filter(|f| f.kind == ReadOrWrite::Read);
            assert_eq!(reads.map(|f| f.percent).fold(0.0, f64::max), 99.9);
        }
    }

    #[test]
    fn between_two_rates_both_are_heard() {
        let (low, high) = (measured(0.1, &PERCENTILES), measured(0.7, &PERCENTILES));
        let both = [busy(&high), busy(&low)];
        for percent in [50.0, 90.0, 99.0] {
            let at = |share| figure(&both, ReadOrWrite::Read, percent, share).unwrap().us[1];
            assert!((at(0.1) - exact(0.1, percent)).abs() < 1e-6);
            assert!((at(0.7) - exact(0.7, percent)).abs() < 1e-6);
            assert!(
                (at(0.3) / exact(0.3, percent) - 1.0).abs() < 0.25,
                "{percent}"
            );
        }
    }

    /// 70 us where few reads wait, 115 us where most do; between them the law says more.
    #[test]
    fn the_median_between_near_rates_is_their_own_unless_more_is_known() {
        let with = |rate: f64, reads: &[(f64, f64)]| MeasuredLatency {
            rate,
            reads: reads
                .iter()
                .map(|&(percent, us)| Quantile { percent, us })
                .collect(),
            ..measured(0.1, &[50.0])
        };
        let median = |low: &MeasuredLatency, high: &MeasuredLatency| {
            let both = [busy(low), busy(high)];
            figure(&both, ReadOrWrite::Read, 50.0, 0.2).unwrap().us
        };
        let low = with(1e8, &[(50.0, 70.0), (90.0, 300.0)]);
        let high = with(4e8, &[(50.0, 115.0), (90.0, 310.0)]);
        let [least, own, most] = median(&low, &high);
        assert!((own - (70.0_f64 * 115.0).sqrt()).abs() < 1e-6, "{own}");
        assert!(least < 70.0 && most > 115.0, "{least} {most}");
        // Rates far apart, and a percentile within the step: the law's answer.
        let far = with(4.1e8, &[(50.0, 115.0), (90.0, 310.0)]);
        assert!(median(&low, &far)[1] > 110.0);
        let known = with(1e8, &[(50.0, 70.0), (75.0, 71.0), (90.0, 300.0)]);
        assert!((median(&known, &high)[1] / 71.0 - 1.0).abs() < 0.3);
        assert!(median(&known, &high)[1] != own);
    }

    #[test]
    fn what_cannot_be_told_is_not_told() {
        let low = measured(0.1, &PERCENTILES);
        let ask = |rate| predict(&[busy(&low)], rate, 1e9);
        for (rate, why) in [
            (RequestedRate::Share(0.81), "queues decide"),
            (RequestedRate::Share(0.05), "lower one"),
            (RequestedRate::Iops(1e9 / 4096.0), "queues decide"),
        ] {
            let found = ask(rate);
            assert!(found.unknown.unwrap().contains(why) && found.figures.is_empty());
        }
        assert!(ask(RequestedRate::Iops(0.5e9 / 4096.0)).unknown.is_none());
        let saturated = measured(0.95, &PERCENTILES);
        let found = predict(&[busy(&saturated)], RequestedRate::Share(0.5), 1e9);
        assert!(found.unknown.unwrap().contains("measure lower ones"));
    }
}
