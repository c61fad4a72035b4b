//! A load on one setting.

use crate::volume::{BindingLimit, Volume, VolumeConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::{Command, Nanos, Op};
use std::collections::BTreeMap;

/// A command and when the host hands it over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeRequest {
    /// When.
    pub time: Nanos,
    /// What.
    pub command: Command,
}

/// A load to be served.
#[derive(Clone, Debug, PartialEq)]
pub struct FitLoad {
    /// In order of time.
    pub requests: Vec<VolumeRequest>,
    /// The byte after the last one addressed.
    pub end: u64,
    /// Which commands the limit is about: flushes and durable writes where there are some, else
    /// writes, else reads.
    pub judged: [bool; Op::COUNT],
}

impl FitLoad {
    /// A load of these requests, in any order.
    pub fn new(mut requests: Vec<VolumeRequest>) -> FitLoad {
        requests.sort_by_key(|request| request.time);
        let has = |is: &dyn Fn(&Command) -> bool| requests.iter().any(|r| is(&r.command));
        let mut judged = [false; Op::COUNT];
        if has(&|command| command.op == Op::Flush) {
            judged[Op::Flush as usize] = true;
        } else if has(&|command| command.op == Op::Write) {
            judged[Op::Write as usize] = true;
        } else {
            judged[Op::Read as usize] = true;
        }
        let end = |request: &VolumeRequest| request.command.offset + u64::from(request.command.len);
        FitLoad {
            end: requests.iter().map(end).max().unwrap_or(0),
            requests,
            judged,
        }
    }

    /// From the first command to the last, s.
    pub fn span_s(&self) -> f64 {
        let first = self.requests.first().map_or(0, |request| request.time.0);
        let last = self.requests.last().map_or(0, |request| request.time.0);
        (last - first) as f64 / 1e9
    }

    /// What the limit is about, in a word.
    pub fn judged_word(&self) -> &'static str {
        if self.judged[Op::Flush as usize] {
            "flushes"
        } else if self.judged[Op::Write as usize] {
            "writes"
        } else {
            "reads"
        }
    }
}

/// A latency that a share of the judged commands must not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct FitLimit {
    /// The latency, ns.
    pub latency_ns: u64,
    /// The share, 0 to 1: 0.99.
    pub share: f64,
}

/// How a load fared on a setting.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct FitRun {
    /// Latency that the limit's share of the judged commands did not exceed, ns.
    pub latency_ns: u64,
    /// Share of the load's time in which a command was held back.
    pub throttled: f64,
    /// The limit that held most commands back.
    pub bound: Option<BindingLimit>,
}

/// Runs the load on a volume.
pub fn replay(config: VolumeConfig, load: &FitLoad, limit: FitLimit) -> FitRun {
    let mut volume = Volume::new(config);
    let start = load
        .requests
        .first()
        .map_or(Nanos::ZERO, |request| request.time);
    let mut latencies = Vec::new();
    let mut held: BTreeMap<String, (u64, BindingLimit)> = BTreeMap::new();
    let mut last = Nanos::ZERO;
    for request in &load.requests {
        let time = request.time - start;
        let service = volume.submit(time, &request.command);
        last = last.max(service.done);
        if load.judged[request.command.op as usize] {
            latencies.push(service.done.0 - time.0);
        }
        if let Some(bound) = service.bound {
            held.entry(format!("{bound:?}")).or_insert((0, bound)).0 += 1;
        }
    }
    latencies.sort_unstable();
    let rank = (latencies.len() as f64 * limit.share).ceil() as usize;
    let latency_ns = latencies.get(rank.max(1) - 1).copied().unwrap_or(0);
    let most = held.into_values().max_by_key(|(count, _)| *count);
    FitRun {
        latency_ns,
        throttled: volume.counters().throttled_ns as f64 / last.0.max(1) as f64,
        bound: most.map(|(_, bound)| bound),
    }
}
