//! A value of the drive: with an interval, or UNKNOWN with the reason.

use super::burst::median;
use super::probes::Probe;
use schemars::JsonSchema;
use serde::Serialize;

/// A value is stated when its interval is within this part of it.
pub(super) const STATED: f64 = 0.1;

/// A value of the drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FingerprintValue {
    /// Key of the drive file that it decides, or a name of our own.
    pub key: &'static str,
    /// For a person.
    pub title: &'static str,
    /// Unit: `B`, `B/s`, `ns`, `1/s`, `share`, `yes`, `count`.
    pub unit: &'static str,
    /// The probe behind it.
    pub probe: Probe,
    /// The value; `None`: UNKNOWN.
    pub value: Option<f64>,
    /// Low and high, where anything was seen. An end that is open is written as null.
    #[schemars(with = "Option<[Option<f64>; 2]>")]
    pub interval: Option<[f64; 2]>,
    /// How it was seen, or why it is unknown.
    pub why: String,
}

/// A value that is looked for.
#[derive(Clone, Copy)]
pub(super) struct ValueDescriptor {
    pub key: &'static str,
    pub title: &'static str,
    pub unit: &'static str,
    pub probe: Probe,
}

impl FingerprintValue {
    pub(super) fn unknown(sought: ValueDescriptor, why: impl Into<String>) -> FingerprintValue {
        FingerprintValue {
            key: sought.key,
            title: sought.title,
            unit: sought.unit,
            probe: sought.probe,
            value: None,
            interval: None,
            why: why.into(),
        }
    }

    /// Stated where the interval is narrow enough.
    pub(super) fn between(
        sought: ValueDescriptor,
        value: f64,
        interval: [f64; 2],
        why: impl Into<String>,
    ) -> FingerprintValue {
        let wide = (interval[1] - interval[0]) / 2.0 > STATED * value.abs();
        let known = !wide && value.is_finite();
        let mut why = why.into();
        if wide {
            why = format!("the interval is too wide: {why}");
        }
        FingerprintValue {
            value: known.then_some(value),
            interval: interval[0].is_finite().then_some(interval),
            ..FingerprintValue::unknown(sought, why)
        }
    }

    pub(super) fn yes(
        sought: ValueDescriptor,
        yes: bool,
        why: impl Into<String>,
    ) -> FingerprintValue {
        FingerprintValue {
            value: Some(f64::from(u8::from(yes))),
            ..FingerprintValue::unknown(sought, why)
        }
    }
}

pub(super) const NOT_DONE: &str = "its probe was not carried out";

/// Median, with the interval of the values, which is at least `least` of the median wide each way.
pub(super) fn spread(values: &[f64], least: f64) -> (f64, [f64; 2]) {
    let mid = median(values);
    let low = values.iter().copied().fold(mid * (1.0 - least), f64::min);
    let high = values.iter().copied().fold(mid * (1.0 + least), f64::max);
    (mid, [low, high])
}
