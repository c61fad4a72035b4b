//! What comes next: the time and the bytes until writes become slow, until the drive throttles, and
//! until its rated life is used up, each with an interval.
//!
//! An ensemble of models runs forward with the present load: drives of the kind that is named, with
//! parameters drawn within what is known of them, and with every state that the drive may have had
//! when the watch began. Members that would have become slow before now are out. Without a model
//! there is no forecast, only the fact that would give one (decision 071).

pub mod draw;
pub mod ensemble;
pub mod evidence;
pub mod fill;
mod lines;
pub mod load;
pub mod outlook;
#[cfg(test)]
mod tests;
pub mod warmth;

pub use evidence::{ByteRange, ForecastBeginning, ForecastEvidence, ForecastModel};
pub use lines::{lines, next_sentence, sentence};
pub use outlook::{ExpectedEvent, ForecastCause, ForecastInterval, ForecastOutlook, WatchForecast};

use draw::{WeightedValue, quantile};
use ensemble::{FillMember, fill_members};
use fill::{FillEvent, FillLaw, FillOutcome, WritePressure};
use load::{LoadSpan, WatchedLoad};
use warmth::{PowerLaw, warm_members};

/// Share of the ensemble from which something is said to come.
pub const SAID_FROM: f64 = 0.5;
/// Members of the ensemble that heat is drawn for.
const WARM_MEMBERS: usize = 1000;
/// A forecast of heat looks no further ahead: the room's temperature changes.
const WARM_HORIZON_S: f64 = 4.0 * 3600.0;
/// Bytes that are written before anything is said: less is not a load.
const WRITTEN_MIN: f64 = 1e6;

const NAME_A_MODEL: &str = "the drive's kind: `--model drive:NAME` (`ssdlab list drives`), or a \
                            file drafted from its data sheet (`ssdlab drives new`)";

impl WatchForecast {
    /// What is foretold, by name.
    pub fn parts(&self) -> [(&'static str, &ForecastOutlook); 3] {
        [
            ("write cliff", &self.cliff),
            ("throttling", &self.throttling),
            ("rated life", &self.life),
        ]
    }

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
        return ForecastOutlook::none("the host writes next to nothing", 0.0);
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
    ForecastOutlook::Expected {
        event: ExpectedEvent {
            cause: if full >= exhausted {
                ForecastCause::CacheFull
            } else {
                ForecastCause::SpareExhausted
            },
            likelihood,
            seconds,
            bytes,
            rate_after: quantile(&mut rates, 0.5),
        },
    }
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
        return ForecastOutlook::none("the host asks for nothing", 0.0);
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
    ForecastOutlook::Expected {
        event: ExpectedEvent {
            cause: ForecastCause::Throttling,
            likelihood,
            seconds,
            bytes: times(&seconds, mean.write_rate()),
            rate_after: None,
        },
    }
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
        return ForecastOutlook::none("the host writes next to nothing", 0.0);
    }
    let rated = rated as f64;
    let written = load.written();
    // The bytes written before are known, or anything from nothing to all of it.
    let before = match evidence.written_in_life {
        Some(bytes) => [bytes as f64; 3],
        None => [0.9, 0.5, 0.1].map(|share| share * rated),
    };
    let bytes = before.map(|before| (rated - before - written).max(0.0));
    let fast = rate + NORMAL_80 * deviation;
    let slow = rate - NORMAL_80 * deviation;
    ForecastOutlook::Expected {
        event: ExpectedEvent {
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
        },
    }
}
