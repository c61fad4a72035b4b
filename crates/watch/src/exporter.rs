//! Metrics of a watch for Prometheus: latency by kind and by where it was spent, stalls, causes.
//!
//! Served as OpenMetrics text at `/metrics`.

use crate::cause::{CauseLayer, LiveCause};
use crate::forecast::{ForecastOutlook, WatchForecast};
use crate::judge::LiveAnswer;
use crate::report::{SourceState, WatchProgress, WatchReport};
use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use crate::source::host_counters::DriveCounters;
use crate::stall::{STALL_CAUSES, UNEXPLAINED, is_stall, stall_cause};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use ssdlab_base::LabError;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Bytes of a question at most.
const REQUEST_BYTES_MAX: usize = 8 << 10;
/// How long a client may take over its question, and over taking the answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// What Prometheus asks for.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// What everybody else gets: the older format of Prometheus.
const PLAIN_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct LatencyLabels {
    device: String,
    kind: &'static str,
    /// `host` or `drive`.
    layer: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct KindLabels {
    device: String,
    kind: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct StallLabels {
    device: String,
    kind: &'static str,
    /// What held them up, each judged alone.
    cause: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct SourceLabels {
    device: String,
    source: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct CauseLabels {
    device: String,
    cause: &'static str,
    layer: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ForecastLabels {
    device: String,
    /// `write cliff`, `throttling`, `rated life`.
    event: &'static str,
    /// `low`, `median`, `high`: the ends and the middle of an 80 % interval.
    bound: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct DeviceLabels {
    device: String,
}

type RealGauge = Gauge<f64, AtomicU64>;

fn latencies() -> Histogram {
    // 16 us to 8 s, by two.
    Histogram::new(exponential_buckets(16e-6, 2.0, 20))
}

/// Metrics of one kind of request, found once: a look-up for each request would cost more than the
/// request's own figures.
struct KindMetrics {
    host: Histogram,
    drive: Histogram,
    requests: Counter,
    bytes: Counter,
    /// In the order of [`STALL_CAUSES`]; the last one is for stalls that nothing explains.
    stalls: [Counter; STALL_CAUSES.len() + 1],
}

/// The metrics of one watch.
pub struct WatchExporter {
    device: String,
    registry: Arc<Mutex<Registry>>,
    /// In the order of [`RequestKind::ALL`].
    kinds: [KindMetrics; RequestKind::ALL.len()],
    causes: Family<CauseLabels, RealGauge>,
    sources: Family<SourceLabels, Gauge>,
    busy: Family<DeviceLabels, RealGauge>,
    celsius: Family<DeviceLabels, RealGauge>,
    lost: Family<DeviceLabels, Counter>,
    forecast: Family<ForecastLabels, RealGauge>,
    used: Family<DeviceLabels, RealGauge>,
    spare: Family<DeviceLabels, RealGauge>,
    media_errors: Family<DeviceLabels, RealGauge>,
}

/// Families whose metrics are known by their kind.
struct KindFamilies {
    latency: Family<LatencyLabels, Histogram, fn() -> Histogram>,
    requests: Family<KindLabels, Counter>,
    bytes: Family<KindLabels, Counter>,
    stalls: Family<StallLabels, Counter>,
}

impl KindFamilies {
    fn of_kind(&self, device: &str, kind: RequestKind) -> KindMetrics {
        let latency = |layer| {
            let labels = LatencyLabels {
                device: device.to_owned(),
                kind: kind.one(),
                layer,
            };
            self.latency.get_or_create(&labels).clone()
        };
        let labels = KindLabels {
            device: device.to_owned(),
            kind: kind.one(),
        };
        let stalls = std::array::from_fn(|place| {
            let cause = STALL_CAUSES.get(place);
            let labels = StallLabels {
                device: device.to_owned(),
                kind: kind.one(),
                cause: cause.map_or(UNEXPLAINED, |cause| cause.name()),
            };
            self.stalls.get_or_create(&labels).clone()
        });
        KindMetrics {
            host: latency("host"),
            drive: latency("drive"),
            requests: self.requests.get_or_create(&labels).clone(),
            bytes: self.bytes.get_or_create(&labels).clone(),
            stalls,
        }
    }

    fn register(self, registry: &mut Registry) {
        registry.register_with_unit(
            "request",
            "Time of requests in the host's queue and in the drive; none where counters alone are \
             read",
            Unit::Seconds,
            self.latency,
        );
        registry.register("requests", "Requests that were done", self.requests);
        registry.register("moved_bytes", "Bytes of these", self.bytes);
        registry.register(
            "stalls",
            "Awaited requests that took 100 ms or more, by what held each up",
            self.stalls,
        );
    }
}

fn layer_name(layer: CauseLayer) -> &'static str {
    match layer {
        CauseLayer::Host => "host",
        CauseLayer::Link => "link",
        CauseLayer::Drive => "drive",
    }
}

/// What the drive counts of its life, read once a minute.
fn wear_families(registry: &mut Registry) -> [Family<DeviceLabels, RealGauge>; 3] {
    [
        (
            "rated_life_used_ratio",
            "Share of its rated life that the drive says is used",
        ),
        (
            "spare_ratio",
            "Share of its spare that the drive says is left",
        ),
        (
            "media_errors",
            "Errors of the media since the drive was made",
        ),
    ]
    .map(|(name, help)| {
        let family = Family::default();
        registry.register(name, help, Family::clone(&family));
        family
    })
}

impl WatchExporter {
    /// Metrics of the drive that the user named `device`.
    pub fn new(device: &str) -> WatchExporter {
        let mut registry = Registry::with_prefix("ssdlab_watch");
        let families = KindFamilies {
            latency: Family::new_with_constructor(latencies),
            requests: Family::default(),
            bytes: Family::default(),
            stalls: Family::default(),
        };
        let kinds = RequestKind::ALL.map(|kind| families.of_kind(device, kind));
        families.register(&mut registry);
        let (causes, sources) = (Family::default(), Family::default());
        registry.register(
            "cause",
            "Times as fast as awaited I/O would be without this cause; 0: not found; 1: found, and \
             its cost depends on the host",
            Family::clone(&causes),
        );
        registry.register(
            "source",
            "Where figures come from; 1: used, 0: not to be had",
            Family::clone(&sources),
        );
        let (busy, celsius, lost) = (Family::default(), Family::default(), Family::default());
        registry.register(
            "busy_ratio",
            "Share of time with a request in the drive",
            Family::clone(&busy),
        );
        registry.register(
            "temperature_celsius",
            "Temperature of the drive",
            Family::clone(&celsius),
        );
        registry.register(
            "lost_events",
            "Events that the kernel could not keep",
            Family::clone(&lost),
        );
        let forecast = Family::default();
        registry.register_with_unit(
            "forecast",
            "Time until this comes at the present load, by the model that --model names; infinite: \
             not expected; absent: not known",
            Unit::Seconds,
            Family::clone(&forecast),
        );
        let [used, spare, media_errors] = wear_families(&mut registry);
        WatchExporter {
            device: device.to_owned(),
            registry: Arc::new(Mutex::new(registry)),
            kinds,
            causes,
            sources,
            busy,
            celsius,
            lost,
            forecast,
            used,
            spare,
            media_errors,
        }
    }

    /// Serves the metrics at `address` in a thread of its own, until the program ends.
    ///
    /// # Errors
    /// When the address cannot be listened at.
    pub fn serve(&self, address: SocketAddr) -> Result<SocketAddr, LabError> {
        let refused = |error: std::io::Error| {
            LabError::refused(
                format!("cannot listen at {address}: {error}"),
                "name a free port: --exporter 127.0.0.1:9955",
            )
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        let bound = listener.local_addr().map_err(refused)?;
        let registry = Arc::clone(&self.registry);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // A client that hangs up early is its own matter.
                let _ = answer(&client, &registry);
            }
        });
        Ok(bound)
    }
}

/// OpenMetrics in the older format: there the description of a counter has the counter's whole
/// name, and units and the end are not marked.
fn as_plain_text(open: &str) -> String {
    let counters: BTreeSet<&str> = open
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"))
        .collect();
    let mut plain = String::with_capacity(open.len());
    for line in open.lines() {
        if line.starts_with("# UNIT ") || line == "# EOF" {
            continue;
        }
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some(about), Some(name), Some(text)) if counters.contains(name) => {
                plain += &format!("# {about} {name}_total {text}\n");
            }
            _ => {
                plain += line;
                plain.push('\n');
            }
        }
    }
    plain
}

/// Answers one question.
fn answer(client: &TcpStream, registry: &Mutex<Registry>) -> std::io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut question = Vec::new();
    let mut client = client;
    let deadline = Instant::now() + PATIENCE;
    let mut part = [0; 1024];
    while !question.ends_with(b"\r\n\r\n") {
        let length = client.read(&mut part)?;
        question.extend_from_slice(&part[..length]);
        if length == 0 || question.len() > REQUEST_BYTES_MAX || Instant::now() > deadline {
            break;
        }
    }
    let wants_open = String::from_utf8_lossy(&question)
        .to_ascii_lowercase()
        .contains("application/openmetrics-text");
    let mut content = PLAIN_TEXT;
    let (status, body) = if question.starts_with(b"GET /metrics ") {
        let mut body = String::new();
        let registry = registry.lock().unwrap_or_else(PoisonError::into_inner);
        encode(&mut body, &registry).map_err(std::io::Error::other)?;
        if wants_open {
            content = OPEN_METRICS;
        } else {
            body = as_plain_text(&body);
        }
        ("200 OK", body)
    } else {
        ("404 Not Found", "metrics are at /metrics\n".to_owned())
    };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: {content}\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
}

impl WatchExporter {
    fn device(&self) -> DeviceLabels {
        DeviceLabels {
            device: self.device.clone(),
        }
    }

    fn set_causes(&self, answer: &LiveAnswer) {
        let findings = match answer {
            LiveAnswer::Causes { findings } => findings.as_slice(),
            LiveAnswer::TooLittle { .. } | LiveAnswer::AsExpected { .. } => &[],
        };
        for cause in LiveCause::ALL {
            let finding = findings.iter().find(|finding| finding.cause == cause);
            let labels = CauseLabels {
                device: self.device.clone(),
                cause: cause.name(),
                layer: layer_name(cause.layer()),
            };
            let factor = finding.map_or(0.0, |finding| finding.factor.unwrap_or(1.0));
            self.causes.get_or_create(&labels).set(factor);
        }
    }

    fn set_forecast(&self, forecast: &WatchForecast) {
        for (event, outlook) in forecast.parts() {
            let [low, median, high] = match outlook {
                ForecastOutlook::Expected { event } => {
                    let seconds = &event.seconds;
                    let high = seconds.high.unwrap_or(f64::INFINITY);
                    [seconds.low, seconds.median, high]
                }
                ForecastOutlook::NotExpected { .. } => [f64::INFINITY; 3],
                ForecastOutlook::Unknown { .. } => continue,
            };
            for (bound, seconds) in [("low", low), ("median", median), ("high", high)] {
                let labels = ForecastLabels {
                    device: self.device.clone(),
                    event,
                    bound,
                };
                self.forecast.get_or_create(&labels).set(seconds);
            }
        }
    }

    fn set_wear(&self, drive: &DriveCounters) {
        let errors = drive.media_errors.map(|errors| errors as f64);
        let share = |percent: Option<f64>| percent.map(|percent| percent / 100.0);
        for (family, value) in [
            (&self.used, share(drive.used_percent)),
            (&self.spare, share(drive.spare_percent)),
            (&self.media_errors, errors),
        ] {
            if let Some(value) = value {
                family.get_or_create(&self.device()).set(value);
            }
        }
    }

    fn set_sources(&self, sources: &[SourceState]) {
        for source in sources {
            let labels = SourceLabels {
                device: self.device.clone(),
                source: source.name.clone(),
            };
            let is_used = i64::from(source.missing.is_none());
            self.sources.get_or_create(&labels).set(is_used);
        }
    }
}

impl WatchProgress for WatchExporter {
    fn request(&mut self, request: &BlockRequest) {
        let metrics = &self.kinds[request.kind as usize];
        metrics.host.observe(request.queue_ns() as f64 / 1e9);
        metrics.drive.observe(request.device_ns() as f64 / 1e9);
        metrics.requests.inc();
        metrics.bytes.inc_by(request.bytes);
        if is_stall(request) {
            let cause = stall_cause(request);
            let place = STALL_CAUSES.iter().position(|one| Some(*one) == cause);
            metrics.stalls[place.unwrap_or(STALL_CAUSES.len())].inc();
        }
    }

    fn second(&mut self, report: &WatchReport) {
        // Without events, requests are known by the second alone.
        if report.figures.only_means
            && let Some(second) = report.seconds.last()
        {
            let counted = [second.reads, second.writes, second.flushes, second.discards];
            for (metrics, counted) in self.kinds.iter().zip(counted) {
                metrics.requests.inc_by(counted.count);
                metrics.bytes.inc_by(counted.bytes);
            }
        }
        self.set_causes(&report.answer);
        self.set_sources(&report.sources);
        if let Some(forecast) = &report.forecast {
            self.set_forecast(forecast);
        }
        if let Some(drive) = &report.counters.drive {
            self.set_wear(drive);
        }
        let device = self.device();
        self.busy.get_or_create(&device).set(report.figures.busy);
        let lost = self.lost.get_or_create(&device);
        lost.inc_by(report.lost_events.saturating_sub(lost.get()));
        if let Some(celsius) = report.settings.temperature_c {
            self.celsius.get_or_create(&device).set(celsius);
        }
    }
}

#[cfg(test)]
mod tests;
