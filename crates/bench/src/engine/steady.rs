//! Jobs that end when their rate is steady: fio's `steadystate`.
//!
//! The jobs of a group that name a criterion are judged together, by the rate of each whole
//! second, over a moving window: the largest deviation from its mean, or the slope of the
//! least-squares line through it (fio's steadystate.c).

use ssdlab_load::plan::{PlanPhase, SteadyRateCriterion};
use ssdlab_ssd::Nanos;
use std::collections::VecDeque;

/// One criterion and the jobs that it ends.
#[derive(Clone, Debug)]
pub(super) struct Criterion {
    spec: SteadyRateCriterion,
    group: u32,
    /// Positions in the phase.
    pub jobs: Vec<usize>,
    /// Rates of the last seconds.
    rates: VecDeque<f64>,
    /// What was counted up to the last second.
    counted: u64,
    reached: bool,
}

impl Criterion {
    /// The criteria of a phase.
    pub fn of(phase: &PlanPhase) -> Vec<Criterion> {
        let mut criteria: Vec<Criterion> = Vec::new();
        for (position, job) in phase.jobs.iter().enumerate() {
            let Some(spec) = job.ties.steady else {
                continue;
            };
            let same = |c: &&mut Criterion| c.group == job.ties.group && c.spec == spec;
            match criteria.iter_mut().find(same) {
                Some(criterion) => criterion.jobs.push(position),
                None => criteria.push(Criterion {
                    spec,
                    group: job.ties.group,
                    jobs: vec![position],
                    rates: VecDeque::new(),
                    counted: 0,
                    reached: false,
                }),
            }
        }
        criteria
    }

    /// A second ended, `since` the jobs began to be counted, after which they have transferred
    /// `count` commands and `bytes`. Returns whether the rate is steady now, for the first time.
    pub fn second(&mut self, since: Nanos, length_s: f64, count: u64, bytes: u64) -> bool {
        let total = if self.spec.bandwidth { bytes } else { count };
        let rate = (total - self.counted) as f64 / length_s;
        self.counted = total;
        if self.reached || since <= self.spec.ramp || length_s < 0.5 {
            return false;
        }
        if self.rates.len() == self.spec.window_s as usize {
            self.rates.pop_front();
        }
        self.rates.push_back(rate);
        if self.rates.len() < self.spec.window_s as usize {
            return false;
        }
        let mean = self.rates.iter().sum::<f64>() / self.rates.len() as f64;
        let value = if self.spec.slope {
            slope(&self.rates, mean).abs()
        } else {
            let deviations = self.rates.iter().map(|rate| (rate - mean).abs());
            deviations.fold(0.0, f64::max)
        };
        let value = if self.spec.percent {
            100.0 * value / mean
        } else {
            value
        };
        self.reached = value < self.spec.limit;
        self.reached
    }

    /// The outcome, for the reader of the result.
    pub fn note(&self) -> String {
        let measure = match (self.spec.bandwidth, self.spec.slope) {
            (false, false) => "iops",
            (false, true) => "iops_slope",
            (true, false) => "bw",
            (true, true) => "bw_slope",
        };
        let unit = if self.spec.percent { "%" } else { "" };
        let how = if self.reached {
            "was reached, and ended its jobs"
        } else {
            "was not reached"
        };
        format!("steadystate={measure}:{}{unit} {how}", self.spec.limit)
    }
}

/// Of the least-squares line, per second.
fn slope(rates: &VecDeque<f64>, mean: f64) -> f64 {
    let middle = (rates.len() - 1) as f64 / 2.0;
    let (mut over, mut under) = (0.0, 0.0);
    for (index, rate) in rates.iter().enumerate() {
        let x = index as f64 - middle;
        over += x * (rate - mean);
        under += x * x;
    }
    if under > 0.0 { over / under } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::{Criterion, SteadyRateCriterion};
    use ssdlab_load::fio;
    use ssdlab_ssd::Nanos;

    fn criterion(options: &str) -> Criterion {
        let text = format!("[j]\n{}\n", options.replace(' ', "\n"));
        let plan = fio::parse(&text, "job.fio").unwrap();
        Criterion::of(&plan.phases[0]).remove(0)
    }

    /// The second in which these rates are steady.
    fn reached(options: &str, rates: &[u64]) -> Option<usize> {
        let mut criterion = criterion(options);
        let (mut count, mut seconds) = (0, 0);
        rates.iter().position(|rate| {
            count += rate;
            seconds += 1;
            criterion.second(Nanos::from_secs(seconds), 1.0, count, count * 4096)
        })
    }

    #[test]
    fn the_deviation_is_the_largest_from_the_mean() {
        // Of 90, 100, 110 the mean is 100 and the largest deviation 10 %.
        let rates = [500, 90, 100, 110, 100, 104];
        assert_eq!(reached("ss=iops:10% ss_dur=3", &rates), Some(4));
        assert_eq!(reached("ss=iops:10.1% ss_dur=3", &rates), Some(3));
        assert_eq!(reached("ss=iops:1% ss_dur=3", &rates), None);
    }

    #[test]
    fn the_slope_is_that_of_the_least_squares_line() {
        // 100, 110, 120 rises by 10 a second: 9.09 % of its mean.
        let rates = [100, 110, 120, 120, 121];
        assert_eq!(reached("ss=iops_slope:9% ss_dur=3", &rates), Some(3));
        assert_eq!(reached("ss=iops_slope:9.1% ss_dur=3", &rates), Some(2));
        assert_eq!(reached("ss=bw_slope:40961 ss_dur=3", &rates), Some(2));
    }

    #[test]
    fn the_ramp_counts_for_nothing() {
        let steady: SteadyRateCriterion = criterion("ss=iops:5% ss_dur=2 ss_ramp=3").spec;
        assert_eq!(steady.ramp, Nanos::from_secs(3));
        let rates = [100; 10];
        assert_eq!(reached("ss=iops:5% ss_dur=2 ss_ramp=3", &rates), Some(4));
    }
}
