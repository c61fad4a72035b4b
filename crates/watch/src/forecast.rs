//! What comes next: the time and the bytes until writes become slow, until the drive throttles, and
//! until its rated life is used up, each with an interval.
//!
//! An ensemble of models runs forward with the present load: drives of the kind that is named, with
//! parameters drawn within what is known of them, and with every state that the drive may have had
//! when the watch began. Members that would have become slow before now are out. Without a model
//! there is no forecast, only the fact that would give one (decision 071).

pub mod draw;
pub mod ensemble;
pub mod fill;
mod lines;
pub mod load;
#[cfg(test)]
mod tests;
pub mod warmth;

pub use lines::lines;

use crate::report::WatchReport;
use crate::source::settings::HostSettings;
use crate::steps::WatchedSecond;
use draw::{WeightedValue, quantile};
use ensemble::{FillMember, fill_members};
use fill::{FillEvent, FillLaw, FillOutcome, WritePressure};
use load::{LoadSpan, WatchedLoad};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_drives::catalogue::{CatalogueDrive, Provenance};
use ssdlab_ssd::DriveConfig;
use warmth::{PowerLaw, TemperatureReading, warm_members};

/// Shares of the ensemble at the ends of an interval, and at its middle.
const INTERVAL: [f64; 3] = [0.1, 0.5, 0.9];
/// Share of the ensemble from which something is said to come.
pub const SAID_FROM: f64 = 0.5;
/// Members of the ensemble that heat is drawn for.
const WARM_MEMBERS: usize = 1000;
/// A forecast of heat looks no further ahead: the room's temperature changes.
const WARM_HORIZON_S: f64 = 4.0 * 3600.0;
/// Bytes that are written before anything is said: less is not a load.
const WRITTEN_MIN: f64 = 1e6;

/// Bytes between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ByteRange {
    /// At least.
    pub low: f64,
    /// At most.
    pub high: f64,
}

/// What the kernel says when a watch begins, and temperatures since.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForecastBeginning {
    /// Bytes written since the machine started.
    pub written_since_boot: Option<u64>,
    /// Temperatures that the drive has said.
    pub temperatures: Vec<TemperatureReading>,
}

/// Temperatures that are kept: two hours, one every 5 s.
const TEMPERATURES_MAX: usize = 1440;

impl ForecastBeginning {
    /// With the counters since the machine started, and the settings.
    pub fn new(since_boot: &WatchedSecond, settings: &HostSettings) -> ForecastBeginning {
        let mut beginning = ForecastBeginning {
            written_since_boot: Some(since_boot.writes.bytes),
            ..ForecastBeginning::default()
        };
        beginning.warmed(0.0, settings.temperature_c);
        beginning
    }

    /// Adds a temperature, if the drive has said one.
    pub fn warmed(&mut self, at_s: f64, celsius: Option<f64>) {
        let reading = celsius.map(|celsius| TemperatureReading { at_s, celsius });
        self.temperatures.extend(reading);
        let more = self.temperatures.len().saturating_sub(TEMPERATURES_MAX);
        self.temperatures.drain(..more);
    }
}

/// What is known of a drive in use without asking more of it.
#[derive(Clone, Debug, Default)]
pub struct ForecastEvidence {
    /// What was done since the beginning of the watch, in slices of equal length.
    pub slices: Vec<WatchedSecond>,
    /// Length of a slice, s.
    pub slice_s: f64,
    /// Temperatures that the drive has said.
    pub temperatures: Vec<TemperatureReading>,
    /// Share of the drive that holds data, if a file system says so.
    pub used: Option<f64>,
    /// Bytes written since the machine started, up to the beginning of the watch.
    pub written_since_boot: Option<u64>,
    /// Bytes written without a long pause right before the watch.
    pub run_up: Option<ByteRange>,
    /// Bytes that the host has written in the drive's life, up to the beginning of the watch.
    pub written_in_life: Option<u64>,
    /// Where writes go.
    pub pressure: Option<WritePressure>,
}

impl ForecastEvidence {
    /// Of what a watch has seen.
    pub fn new(report: &WatchReport) -> ForecastEvidence {
        let capacity = report.drive.capacity.map(|bytes| bytes as f64);
        let used = report
            .settings
            .file_systems
            .iter()
            .filter_map(|file_system| file_system.used)
            .reduce(f64::max);
        let pattern = &report.figures.pattern;
        let knows_places = !report.figures.only_means && report.figures.writes.count() > 0;
        // Seconds are kept for two hours: readings before the first of them are no use.
        let skipped_s = (report.watched_s - report.seconds.len() as f64).max(0.0);
        let readings = report
            .beginning
            .temperatures
            .iter()
            .map(|reading| TemperatureReading {
                at_s: (reading.at_s - skipped_s).max(0.0),
                ..*reading
            });
        ForecastEvidence {
            slices: report.seconds.clone(),
            slice_s: 1.0,
            temperatures: readings.collect(),
            written_since_boot: report.beginning.written_since_boot,
            used: used.filter(|_| capacity.is_some()),
            pressure: knows_places.then_some(WritePressure {
                random: 1.0 - pattern.sequential,
                span_bytes: None,
            }),
            ..ForecastEvidence::default()
        }
    }
}

/// The drive that forecasts are made with.
#[derive(Clone, Debug)]
pub struct ForecastModel {
    /// Its configuration.
    pub config: DriveConfig,
    /// Bytes that its maker warrants.
    pub rated_bytes: Option<u64>,
    /// Deviation of the size of its pSLC cache, as a share.
    pub cache_sigma: f64,
}

/// Deviation of a parameter that is known in this way, as a share.
fn sigma_of(kind: Provenance) -> f64 {
    match kind {
        Provenance::Datasheet | Provenance::Teardown => 0.06,
        Provenance::Measured | Provenance::Calibrated => 0.08,
        Provenance::Derived => 0.10,
        Provenance::Assumed => 0.25,
    }
}

impl ForecastModel {
    /// Of a drive of the catalogue or of a file.
    pub fn new(drive: &CatalogueDrive) -> ForecastModel {
        let parameters = drive.parameters();
        let sizes = ["ftl.slc_dynamic_above_free", "ftl.slc_superblocks"];
        // The larger part of the cache decides: a dynamic one, where there is one.
        let kind = sizes.iter().find_map(|key| {
            let size = parameters.iter().find(|parameter| parameter.key == *key)?;
            (size.value != "0").then_some(size.kind)
        });
        ForecastModel {
            config: drive.config.clone(),
            rated_bytes: drive.rated_bytes_written(),
            cache_sigma: sigma_of(kind.unwrap_or(Provenance::Assumed)),
        }
    }
}

/// What comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForecastCause {
    /// The pSLC cache is full.
    CacheFull,
    /// No free space is left, and reclaim works for each write.
    SpareExhausted,
    /// The drive is too warm.
    Throttling,
    /// What its maker warrants has been written.
    RatedLife,
}

/// An 80 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ForecastInterval {
    /// In 10 % of the cases it is less.
    pub low: f64,
    /// In half of the cases.
    pub median: f64,
    /// In 10 % of the cases it is more; `None`: it may not come at all.
    pub high: Option<f64>,
}

impl ForecastInterval {
    /// Of drawn values; `None` when more than half of them are infinite.
    fn new(values: &mut [WeightedValue]) -> Option<ForecastInterval> {
        let [low, median, high] = INTERVAL.map(|share| quantile(values, share));
        Some(ForecastInterval {
            low: low?,
            median: median.filter(|value| value.is_finite())?,
            high: high.filter(|value| value.is_finite()),
        })
    }

    /// How many times as long the upper end is as the lower; infinite where there is none.
    pub fn width(&self) -> f64 {
        self.high
            .map_or(f64::INFINITY, |high| high / self.low.max(1e-9))
    }

    /// Whether a value lies in it.
    pub fn covers(&self, value: f64) -> bool {
        self.low <= value && self.high.is_none_or(|high| value <= high)
    }
}

/// Something that will happen at the present load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ExpectedEvent {
    /// What.
    pub cause: ForecastCause,
    /// Share of the ensemble in which it comes.
    pub likelihood: f64,
    /// In how many seconds.
    pub seconds: ForecastInterval,
    /// After how many written bytes.
    pub bytes: ForecastInterval,
    /// Bytes written a second from then on, where the model says so.
    pub rate_after: Option<f64>,
}

/// What is to be expected.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "outlook")]
pub enum ForecastOutlook {
    /// It comes.
    Expected(ExpectedEvent),
    /// It does not come at the present load.
    NotExpected {
        /// Why not.
        why: String,
        /// Share of the ensemble in which it comes nevertheless.
        likelihood: f64,
    },
    /// It cannot be told.
    Unknown {
        /// Why not.
        why: String,
        /// The fact that would settle it.
        settled_by: String,
    },
}

impl ForecastOutlook {
    fn unknown(why: &str, settled_by: &str) -> ForecastOutlook {
        ForecastOutlook::Unknown {
            why: why.to_owned(),
            settled_by: settled_by.to_owned(),
        }
    }

    /// The event, if one is expected.
    pub fn expected(&self) -> Option<&ExpectedEvent> {
        match self {
            ForecastOutlook::Expected(event) => Some(event),
            ForecastOutlook::NotExpected { .. } | ForecastOutlook::Unknown { .. } => None,
        }
    }
}

/// What comes next at the present load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WatchForecast {
    /// The modelled drive, if one was named.
    pub drive: Option<String>,
    /// Bytes written a second at present, pauses included.
    pub write_rate: f64,
    /// When writes become slow.
    pub cliff: ForecastOutlook,
    /// When the drive slows down because of heat.
    pub throttling: ForecastOutlook,
    /// When the rated life is used up.
    pub life: ForecastOutlook,
}

const NAME_A_MODEL: &str = "the drive's kind: `--model drive:NAME` (`ssdlab list drives`), or a \
                            file drafted from its data sheet (`ssdlab drives new`)";

impl WatchForecast {
    /// With a model of the drive, or without.
    pub fn new(model: Option<&ForecastModel>, evidence: &ForecastEvidence) -> WatchForecast {
        let load = WatchedLoad::new(&evidence.slices, evidence.slice_s);
        let mean = load.mean();
        let Some(model) = model else {
            let unknown = |why: &str| ForecastOutlook::unknown(why, NAME_A_MODEL);
            return WatchForecast {
                drive: None,
                write_rate: mean.write_rate(),
                cliff: unknown("its pSLC cache and spare area are not known"),
                throttling: unknown("the temperature at which it throttles is not known"),
                life: unknown("its rated writes are not known"),
            };
        };
        WatchForecast {
            drive: Some(model.config.name.clone()),
            write_rate: mean.write_rate(),
            cliff: cliff(model, evidence, &load),
            throttling: throttling(model, evidence, &load),
            life: life(model, evidence, &load),
        }
    }
}

fn cliff(
    model: &ForecastModel,
    evidence: &ForecastEvidence,
    load: &WatchedLoad,
) -> ForecastOutlook {
    let cycle = load.cycle();
    if load.written() < WRITTEN_MIN {
        return ForecastOutlook::NotExpected {
            why: "the host writes next to nothing".to_owned(),
            likelihood: 0.0,
        };
    }
    if model.config.ftl.mapping.kind.is_block_mapped() {
        return ForecastOutlook::unknown(
            "the fill of a block-mapped drive is not modelled",
            "a run on the model: `ssdlab run`",
        );
    }
    let pressure = evidence.pressure.unwrap_or(WritePressure {
        random: 0.5,
        span_bytes: None,
    });
    let members = fill_members(model, evidence, load, &pressure);
    let weight: f64 = members.iter().map(|member| member.weight).sum();
    if weight <= 0.0 {
        return ForecastOutlook::unknown(
            "every drive of this kind would be slow by now: it is another kind, or in a state \
             that the model does not have",
            "another model, or a twin (`ssdlab twin fit`)",
        );
    }
    let outcomes: Vec<(f64, Option<FillOutcome>)> = members
        .iter()
        .map(|member: &FillMember| {
            let outcome = member.law.foretell(member.state, &cycle, &pressure);
            (member.weight / weight, outcome)
        })
        .collect();
    fill_outlook(&outcomes, &FillLaw::new(&model.config))
}

fn fill_outlook(outcomes: &[(f64, Option<FillOutcome>)], law: &FillLaw) -> ForecastOutlook {
    let share = |event: FillEvent| {
        let same = outcomes
            .iter()
            .filter(|(_, outcome)| outcome.is_some_and(|outcome| outcome.event == event));
        same.map(|(weight, _)| weight).sum::<f64>()
    };
    let [full, exhausted] = [FillEvent::CacheFull, FillEvent::SpareExhausted].map(share);
    let values = |value: fn(&FillOutcome) -> f64| {
        let weighted = outcomes.iter().map(|(weight, outcome)| WeightedValue {
            value: outcome.as_ref().map_or(f64::INFINITY, value),
            weight: *weight,
        });
        ForecastInterval::new(&mut weighted.collect::<Vec<_>>())
    };
    let likelihood = full + exhausted;
    let (Some(seconds), Some(bytes)) = (
        values(|outcome| outcome.seconds),
        values(|outcome| outcome.bytes),
    ) else {
        let why = if law.has_cache() {
            "the cells take the present load without the pSLC cache, its pauses empty the cache, \
             or the cache has no room already"
        } else {
            "the present load leaves free space, writes in order, or reclaim already works for it"
        };
        return ForecastOutlook::NotExpected {
            why: why.to_owned(),
            likelihood,
        };
    };
    let mut rates: Vec<WeightedValue> = outcomes
        .iter()
        .filter_map(|(weight, outcome)| {
            Some(WeightedValue {
                value: outcome.as_ref()?.rate_after,
                weight: *weight,
            })
        })
        .collect();
    ForecastOutlook::Expected(ExpectedEvent {
        cause: if full >= exhausted {
            ForecastCause::CacheFull
        } else {
            ForecastCause::SpareExhausted
        },
        likelihood,
        seconds,
        bytes,
        rate_after: quantile(&mut rates, 0.5),
    })
}

fn throttling(
    model: &ForecastModel,
    evidence: &ForecastEvidence,
    load: &WatchedLoad,
) -> ForecastOutlook {
    let Some(heat) = &model.config.heat else {
        return ForecastOutlook::unknown(
            "the model has no temperature",
            "a model with [heat], or the temperatures of the drive (`nvme id-ctrl`: wctemp, mntmt)",
        );
    };
    let cycle = load.cycle();
    let mean = load.mean();
    let pressure = evidence.pressure.unwrap_or_default();
    let law = FillLaw::new(&model.config);
    let cost = law.programmed(&mean, &pressure) / mean.written.max(1.0);
    let in_slc = law.has_cache() && mean.write_rate() > law.native_rate;
    let power = PowerLaw::new(&model.config, cost, in_slc);
    let Some(watts) = power.mean_watts(&cycle) else {
        return ForecastOutlook::NotExpected {
            why: "the host asks for nothing".to_owned(),
            likelihood: 0.0,
        };
    };
    let members = warm_members(
        heat,
        &load.spans,
        &power,
        &evidence.temperatures,
        WARM_MEMBERS,
    );
    if members.len() < WARM_MEMBERS / 20 {
        return ForecastOutlook::unknown(
            "it is as warm already as the model that throttles",
            "another model, or the drive's own limits (`nvme id-ctrl`: wctemp, mntmt)",
        );
    }
    let mut values: Vec<WeightedValue> = members
        .iter()
        .map(|member| member.seconds_until(watts))
        .map(|seconds| WeightedValue {
            value: if seconds > WARM_HORIZON_S {
                f64::INFINITY
            } else {
                seconds
            },
            weight: 1.0 / members.len() as f64,
        })
        .collect();
    let likelihood = values
        .iter()
        .filter(|value| value.value.is_finite())
        .map(|value| value.weight)
        .sum();
    let Some(seconds) = ForecastInterval::new(&mut values) else {
        return ForecastOutlook::NotExpected {
            why: format!(
                "at {watts:.1} W, by the model, it settles below the temperature at which it \
                 throttles"
            ),
            likelihood,
        };
    };
    ForecastOutlook::Expected(ExpectedEvent {
        cause: ForecastCause::Throttling,
        likelihood,
        seconds,
        bytes: times(&seconds, mean.write_rate()),
        rate_after: None,
    })
}

fn times(interval: &ForecastInterval, factor: f64) -> ForecastInterval {
    ForecastInterval {
        low: interval.low * factor,
        median: interval.median * factor,
        high: interval.high.map(|high| high * factor),
    }
}

/// Parts of a watch whose rates show how much the load varies.
const RATE_PARTS: usize = 10;

/// Mean rate of writes and the deviation of that mean, by parts of the watch.
fn mean_rate(spans: &[LoadSpan], evidence: &ForecastEvidence) -> (f64, f64) {
    let seconds: f64 = spans.iter().map(|span| span.seconds).sum();
    let mean = spans.iter().map(|span| span.written).sum::<f64>() / seconds.max(1e-9);
    let size = evidence.slices.len().div_ceil(RATE_PARTS).max(1);
    let rates: Vec<f64> = evidence
        .slices
        .chunks_exact(size)
        .map(|part| {
            let bytes: u64 = part.iter().map(|slice| slice.writes.bytes).sum();
            bytes as f64 / (size as f64 * evidence.slice_s)
        })
        .collect();
    let count = rates.len() as f64;
    if count < 2.0 {
        return (mean, mean);
    }
    let centre = rates.iter().sum::<f64>() / count;
    let square: f64 = rates.iter().map(|rate| (rate - centre).powi(2)).sum();
    (mean, (square / (count - 1.0) / count).sqrt())
}

/// Deviations from the mean at the ends of an 80 % interval.
const NORMAL_80: f64 = 1.2816;

fn life(model: &ForecastModel, evidence: &ForecastEvidence, load: &WatchedLoad) -> ForecastOutlook {
    let Some(rated) = model.rated_bytes else {
        return ForecastOutlook::unknown(
            "the model's file does not say what its maker warrants",
            "`rated_writes` under [documented]",
        );
    };
    let (rate, deviation) = mean_rate(&load.spans, evidence);
    if load.written() < WRITTEN_MIN || rate <= 0.0 {
        return ForecastOutlook::NotExpected {
            why: "the host writes next to nothing".to_owned(),
            likelihood: 0.0,
        };
    }
    let rated = rated as f64;
    let written = load.written();
    // What was written before is known, or anything from nothing to all of it.
    let before = match evidence.written_in_life {
        Some(bytes) => [bytes as f64; 3],
        None => [0.9, 0.5, 0.1].map(|share| share * rated),
    };
    let bytes = before.map(|before| (rated - before - written).max(0.0));
    let fast = rate + NORMAL_80 * deviation;
    let slow = rate - NORMAL_80 * deviation;
    ForecastOutlook::Expected(ExpectedEvent {
        cause: ForecastCause::RatedLife,
        likelihood: 1.0,
        seconds: ForecastInterval {
            low: bytes[0] / fast,
            median: bytes[1] / rate,
            high: (slow > 0.0).then(|| bytes[2] / slow),
        },
        bytes: ForecastInterval {
            low: bytes[0],
            median: bytes[1],
            high: Some(bytes[2]),
        },
        rate_after: None,
    })
}
