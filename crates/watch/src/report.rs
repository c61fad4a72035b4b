//! What a watch has found: the document, and how it grows from requests.

use crate::account::CreditLeft;
use crate::figures::WatchFigures;
use crate::forecast::evidence::{ForecastBeginning, ForecastEvidence};
use crate::forecast::fill::WritePressure;
use crate::forecast::outlook::WatchForecast;
use crate::forecast::warmth::TemperatureReading;
use crate::heat::{HeatMap, WatchHeat};
use crate::judge::{JudgedWindow, LayerTimes, LiveAnswer};
use crate::model::{ModelComparison, trace_events};
use crate::preflight::RoleCheck;
use crate::request::BlockRequest;
use crate::source::histogram::{LatencyHistograms, LatencyRow};
use crate::source::host_counters::HostCounters;
use crate::source::settings::HostSettings;
use crate::stall::Stall;
use crate::steps::{RateStep, WatchedSecond, find_step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_load::trace::TraceEvent;
use std::collections::VecDeque;

/// Seconds that the answer looks back at.
pub const WINDOW_S: u64 = 30;
/// Requests that the answer looks back at, at most: 10 MB.
const REQUESTS_MAX: usize = 100_000;
/// Seconds that are kept: two hours.
const SECONDS_MAX: usize = 7200;
/// Stalls that are kept: the longest.
const STALLS_MAX: usize = 10;
const SECOND_NS: u64 = 1_000_000_000;

/// Where figures came from, or why one place gave none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceState {
    /// The source.
    pub name: String,
    /// Why it was not there; `None` when it was used.
    pub missing: Option<String>,
}

/// What is watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedDrive {
    /// As the user named it.
    pub given: String,
    /// The disk's name.
    pub device: String,
    /// The model, where the kernel has it.
    pub model: Option<String>,
    /// Bytes that it has.
    pub capacity: Option<u64>,
    /// The process it was found by.
    pub pid: Option<u32>,
}

/// What a watch has found.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct WatchReport {
    /// Version of this document.
    pub version: u32,
    /// What was watched.
    pub drive: WatchedDrive,
    /// How long, s.
    pub watched_s: f64,
    /// Where the figures came from.
    pub sources: Vec<SourceState>,
    /// What is the matter.
    pub answer: LiveAnswer,
    /// Figures of the last seconds.
    pub figures: WatchFigures,
    /// Settings of the host.
    pub settings: HostSettings,
    /// Times of layers above.
    pub layers: Vec<LayerTimes>,
    /// A change of rate within the watch.
    pub step: Option<RateStep>,
    /// What a model would have done with the same commands, if one was named.
    pub model: Option<ModelComparison>,
    /// Credit left of a volume, if one was named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<CreditLeft>,
    /// A role's limits, held against what was seen, if one was named.
    pub role: Option<RoleCheck>,
    /// What comes next, if it was asked for.
    pub forecast: Option<WatchForecast>,
    /// What a forecast starts from.
    #[serde(skip)]
    pub beginning: ForecastBeginning,
    /// Requests that took long, the longest first.
    pub stalls: Vec<Stall>,
    /// The seconds, from the first of the last two hours.
    pub seconds: Vec<WatchedSecond>,
    /// How long requests took, over the whole watch.
    pub heat: WatchHeat,
    /// Events that the kernel could not keep.
    pub lost_events: u64,
    /// Requests that were seen in part.
    pub seen_in_part: u64,
    /// Times by kind and size since the watch began; empty where counters alone were there.
    pub latency: Vec<LatencyRow>,
    /// Which source gave which figures.
    pub origin: FigureOrigin,
    /// Counters of the host's layers and of the drive.
    pub counters: HostCounters,
}

/// Which source gave which figures.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureOrigin {
    /// Numbers, bytes and times of `figures`, and `latency`.
    pub counts: String,
    /// Who asked, and what was beside what; `None` where nothing was seen singly.
    pub single_requests: Option<String>,
    /// Share of the requests of `figures` that were seen singly; what they show is scaled to all.
    pub share_seen: f64,
    /// Requests that the kernel's programs could not count, at most.
    pub uncounted: u64,
    /// Requests whose time in the queue is from their allocation on, as their bio was not found.
    pub queue_from_allocation: u64,
}

/// Requests as they come, and what is kept of them.
#[derive(Debug, Default)]
pub struct WatchHistory {
    begun_ns: u64,
    now_ns: u64,
    requests: VecDeque<BlockRequest>,
    /// The last ones.
    seconds: Vec<WatchedSecond>,
    /// How many were dropped before them.
    seconds_dropped: u64,
    stalls: Vec<Stall>,
    latency: LatencyHistograms,
    heat: HeatMap,
}

impl WatchHistory {
    /// From this moment on.
    pub fn new(begun_ns: u64) -> WatchHistory {
        WatchHistory {
            begun_ns,
            now_ns: begun_ns,
            ..WatchHistory::default()
        }
    }

    /// When it began, ns.
    pub fn begun_ns(&self) -> u64 {
        self.begun_ns
    }

    /// Seconds since the beginning.
    pub fn watched_s(&self) -> f64 {
        (self.now_ns - self.begun_ns) as f64 / 1e9
    }

    /// Whole seconds that have passed: the one at hand is not over.
    pub fn seconds(&self) -> &[WatchedSecond] {
        let whole = (self.now_ns - self.begun_ns) / SECOND_NS;
        let kept = whole.saturating_sub(self.seconds_dropped) as usize;
        &self.seconds[..kept.min(self.seconds.len())]
    }

    /// Time has passed: seconds that ended are closed, requests that are too old are dropped.
    pub fn advance(&mut self, now_ns: u64) {
        self.now_ns = now_ns.max(self.now_ns);
        let oldest = self.now_ns.saturating_sub(WINDOW_S * SECOND_NS);
        while self
            .requests
            .front()
            .is_some_and(|first| first.done_ns < oldest)
            || self.requests.len() > REQUESTS_MAX
        {
            self.requests.pop_front();
        }
        let whole = (self.now_ns - self.begun_ns) / SECOND_NS;
        while self.seconds_dropped + (self.seconds.len() as u64) < whole {
            self.add_second(WatchedSecond::default());
        }
    }

    /// The second in which something was done at this time; `None` when it is too long ago.
    fn second_of(&mut self, done_ns: u64) -> Option<&mut WatchedSecond> {
        let second = done_ns.saturating_sub(self.begun_ns) / SECOND_NS;
        while self.seconds_dropped + self.seconds.len() as u64 <= second {
            self.add_second(WatchedSecond::default());
        }
        let place = second.checked_sub(self.seconds_dropped)?;
        self.seconds.get_mut(usize::try_from(place).ok()?)
    }

    /// Adds a request that is done.
    pub fn add(&mut self, request: BlockRequest) {
        self.advance(request.done_ns);
        if let Some(second) = self.second_of(request.done_ns) {
            second.add(&request);
        }
        self.latency.add(&request);
        let second = request.done_ns.saturating_sub(self.begun_ns) / SECOND_NS;
        let column = self.heat.column(second);
        column.add(request.kind, request.total_ns(), 1);
        if let Some(stall) = Stall::of(&request, self.begun_ns) {
            self.stall(stall);
        }
        let length = self.requests.len();
        if length == self.requests.capacity() {
            let more = length.clamp(1024, (REQUESTS_MAX + 1).saturating_sub(length).max(1024));
            self.requests.reserve_exact(more);
        }
        self.requests.push_back(request);
    }

    /// Adds what counters alone say of a second.
    pub fn add_second(&mut self, second: WatchedSecond) {
        let place = self.seconds_dropped + self.seconds.len() as u64;
        self.heat.column(place).add_means(&second);
        if self.seconds.len() >= SECONDS_MAX {
            self.seconds.remove(0);
            self.seconds_dropped += 1;
        }
        self.seconds.push(second);
    }

    fn stall(&mut self, stall: Stall) {
        self.stalls.push(stall);
        self.stalls
            .sort_by_key(|stall| std::cmp::Reverse(stall.total_ns()));
        self.stalls.truncate(STALLS_MAX);
    }

    /// Figures of the last seconds.
    pub fn figures(&mut self) -> WatchFigures {
        let window_s = self.watched_s().min(WINDOW_S as f64);
        let requests = self.requests.make_contiguous();
        let mut seconds = window_s;
        // At high rates the requests that are kept reach back less far.
        if requests.len() >= REQUESTS_MAX {
            seconds = (self.now_ns - requests[0].done_ns) as f64 / 1e9;
        }
        WatchFigures::new(requests, seconds)
    }

    /// The commands of the last seconds, by time of issue.
    pub fn events(&self) -> Vec<TraceEvent> {
        trace_events(self.requests.iter())
    }

    /// The last second is as the kernel counted it, not as its requests were seen.
    pub fn replace_second(&mut self, now_ns: u64, counted: WatchedSecond) {
        self.advance(now_ns);
        let whole = (self.now_ns - self.begun_ns) / SECOND_NS;
        let last = whole.saturating_sub(1).saturating_sub(self.seconds_dropped);
        if let Some(second) = self.seconds.get_mut(last as usize) {
            *second = counted;
        }
    }

    /// Requests from now on are seen in another way: those so far are no part of later figures.
    pub fn forget_requests(&mut self) {
        self.requests = VecDeque::new();
    }

    /// How long requests took, of the whole seconds that have passed.
    pub fn heat(&self) -> WatchHeat {
        self.heat
            .document((self.now_ns - self.begun_ns) / SECOND_NS)
    }

    /// The stalls so far.
    pub fn stalls(&self) -> &[Stall] {
        &self.stalls
    }
}

/// Sees a watch, or a recording that is read, as it goes on.
pub trait WatchProgress {
    /// It begins at this time, ns of the clock of its requests.
    fn begins(&mut self, _begun_ns: u64) {}

    /// A request is done.
    fn request(&mut self, _request: &BlockRequest) {}

    /// A second has ended.
    fn second(&mut self, report: &WatchReport);
}

/// A report, and the commands that it looks back at.
#[derive(Debug)]
pub struct WatchOutcome {
    /// The report.
    pub report: WatchReport,
    /// The commands, by time of issue; empty where counters alone were there.
    pub events: Vec<TraceEvent>,
}

/// What surrounds the requests.
#[derive(Clone, Debug, Default)]
pub struct WatchSurroundings {
    /// What is watched.
    pub drive: WatchedDrive,
    /// Where figures come from.
    pub sources: Vec<SourceState>,
    /// The host's settings.
    pub settings: HostSettings,
    /// Times of the layers above.
    pub layers: Vec<LayerTimes>,
    /// Events that the kernel could not keep.
    pub lost_events: u64,
    /// Requests seen in part.
    pub seen_in_part: u64,
    /// What the kernel counted, where it did.
    pub counted: Option<LatencyHistograms>,
    /// Which source gave which figures.
    pub origin: FigureOrigin,
    /// Counters of the host's layers and of the drive.
    pub counters: HostCounters,
    /// What a forecast starts from.
    pub beginning: ForecastBeginning,
}

impl WatchReport {
    /// What a forecast is made from.
    pub fn forecast_evidence(&self) -> ForecastEvidence {
        let capacity = self.drive.capacity.map(|bytes| bytes as f64);
        let used = self
            .settings
            .file_systems
            .iter()
            .filter_map(|file_system| file_system.used)
            .reduce(f64::max);
        let pattern = &self.figures.pattern;
        let knows_places = !self.figures.only_means && self.figures.writes.count() > 0;
        // Seconds are kept for two hours: readings before the first of them are no use.
        let skipped_s = (self.watched_s - self.seconds.len() as f64).max(0.0);
        let readings = self.beginning.temperatures.iter();
        let readings = readings
            .filter(|reading| reading.at_s >= skipped_s)
            .map(|reading| TemperatureReading {
                at_s: reading.at_s - skipped_s,
                ..*reading
            });
        ForecastEvidence {
            slices: self.seconds.clone(),
            slice_s: 1.0,
            temperatures: readings.collect(),
            written_since_boot: self.beginning.written_since_boot,
            used: used.filter(|_| capacity.is_some()),
            pressure: knows_places.then_some(WritePressure {
                random: 1.0 - pattern.sequential,
                span_bytes: None,
            }),
            ..ForecastEvidence::default()
        }
    }

    /// The report of these figures.
    pub fn new(
        history: &WatchHistory,
        figures: WatchFigures,
        surroundings: &WatchSurroundings,
    ) -> WatchReport {
        let step = find_step(history.seconds());
        let answer = JudgedWindow {
            figures: &figures,
            settings: &surroundings.settings,
            layers: &surroundings.layers,
            step: step.as_ref(),
            seconds: history.seconds(),
            model: surroundings.drive.model.as_deref(),
            counters: &surroundings.counters,
        }
        .judge();
        WatchReport {
            version: 1,
            drive: surroundings.drive.clone(),
            watched_s: history.watched_s(),
            sources: surroundings.sources.clone(),
            answer,
            figures,
            settings: surroundings.settings.clone(),
            layers: surroundings.layers.clone(),
            step,
            model: None,
            credits: Vec::new(),
            role: None,
            forecast: None,
            beginning: surroundings.beginning.clone(),
            stalls: history.stalls().to_vec(),
            seconds: history.seconds().to_vec(),
            heat: history.heat(),
            lost_events: surroundings.lost_events,
            seen_in_part: surroundings.seen_in_part,
            latency: surroundings
                .counted
                .as_ref()
                .unwrap_or(&history.latency)
                .table(),
            origin: surroundings.origin.clone(),
            counters: surroundings.counters.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;

    /// A day of one read each second: memory does not grow, and the last seconds are kept.
    #[test]
    fn a_day_is_as_large_as_two_hours() {
        let mut history = WatchHistory::new(5);
        let day = 24 * 3600;
        for second in 0..day {
            history.add(request(
                "R",
                8 * second,
                4096,
                second * SECOND_NS,
                0,
                200_000_000,
            ));
        }
        history.advance(5 + day * SECOND_NS);
        assert_eq!(history.seconds().len(), SECONDS_MAX);
        assert!(
            history
                .seconds()
                .iter()
                .all(|second| second.reads.count == 1)
        );
        assert_eq!(history.requests.len() as u64, WINDOW_S);
        assert_eq!(history.stalls().len(), STALLS_MAX);
    }
}
