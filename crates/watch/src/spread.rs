//! How times are spread, and like requests beside something else and without it.

use crate::request::BlockRequest;
use schemars::JsonSchema;
use serde::Serialize;

/// Requests are compared when there are at least this many of each.
pub const ENOUGH: u64 = 30;

/// How times are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TimeSpread {
    /// How many.
    pub count: u64,
    /// All together, ns.
    pub sum_ns: u64,
    /// Half are at most this, ns.
    pub median_ns: u64,
    /// 99 of 100 are at most this, ns.
    pub p99_ns: u64,
    /// The longest, ns.
    pub max_ns: u64,
}

impl TimeSpread {
    /// Of these times, ns.
    pub fn new(times: impl Iterator<Item = u64>) -> TimeSpread {
        let mut times: Vec<u64> = times.collect();
        times.sort_unstable();
        let Some(&max_ns) = times.last() else {
            return TimeSpread::default();
        };
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        TimeSpread {
            count: times.len() as u64,
            sum_ns: times.iter().sum(),
            median_ns: at(0.5),
            p99_ns: at(0.99),
            max_ns,
        }
    }

    /// Mean, ns; 0 when there are no times.
    pub fn mean_ns(&self) -> f64 {
        self.sum_ns as f64 / self.count.max(1) as f64
    }
}

/// Times of like requests, some beside something else and some not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct BesideSpread {
    /// Those that had it beside them.
    pub beside: TimeSpread,
    /// The others.
    pub apart: TimeSpread,
}

impl BesideSpread {
    pub(crate) fn new<'a>(
        requests: impl Iterator<Item = &'a BlockRequest>,
        is_beside: impl Fn(&BlockRequest) -> bool,
    ) -> BesideSpread {
        let (beside, apart): (Vec<_>, Vec<_>) = requests.partition(|request| is_beside(request));
        let spread = |part: &[&BlockRequest]| {
            TimeSpread::new(part.iter().map(|request| request.device_ns()))
        };
        BesideSpread {
            beside: spread(&beside),
            apart: spread(&apart),
        }
    }
}
