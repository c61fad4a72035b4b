//! Values of a drive file, read from their text.

use super::sourced::SourcedValue;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_ssd::Nanos;

/// Reads values with their units; errors name key and file.
pub(super) struct QuantityReader<'a> {
    pub(super) source: &'a str,
}

impl QuantityReader<'_> {
    /// The error of a value that is not one of those allowed.
    pub(super) fn bad(&self, key: &str, value: &str, allowed: String) -> LabError {
        let hint = match key {
            "ftl.victim" | "ftl.separation" => "`ssdlab list policies` describes each",
            _ => "docs/catalogue.md describes each key of a drive file",
        };
        self.bad_value(key, value, allowed, hint)
    }

    /// The error of a text that is not a size, time or rate.
    fn bad_quantity(&self, key: &str, value: &str, allowed: &str) -> LabError {
        let hint = "sizes: 16 KiB, 185 TB; times: 75 us, 3 ms; rates: 400 MB/s";
        self.bad_value(key, value, allowed.into(), hint)
    }

    fn bad_value(&self, key: &str, value: &str, allowed: String, hint: &str) -> LabError {
        LabError::BadValue {
            option: key.into(),
            given: value.into(),
            allowed,
            place: InputLocation {
                source: self.source.into(),
                line: None,
            },
            hint: hint.into(),
        }
    }

    pub(super) fn size(&self, key: &str, value: &SourcedValue<String>) -> Result<u64, LabError> {
        let allowed = "a number and a unit, such as 16 KiB or 185 TB, is allowed";
        parse_size(&value.value).map_err(|_| self.bad_quantity(key, &value.value, allowed))
    }

    pub(super) fn size_u32(
        &self,
        key: &str,
        value: &SourcedValue<String>,
    ) -> Result<u32, LabError> {
        let bytes = self.size(key, value)?;
        u32::try_from(bytes)
            .map_err(|_| self.bad_quantity(key, &value.value, "less than 4 GiB is allowed"))
    }

    pub(super) fn time(&self, key: &str, text: &str) -> Result<Nanos, LabError> {
        let fraction = decimal_microseconds(text);
        match fraction {
            Some(time) => Ok(time),
            None => parse_duration(text).map_err(|_| {
                let allowed = "a number and a unit, such as 75 us or 3 ms, is allowed";
                self.bad_quantity(key, text, allowed)
            }),
        }
    }

    pub(super) fn times(
        &self,
        key: &str,
        value: &SourcedValue<Vec<String>>,
    ) -> Result<Vec<Nanos>, LabError> {
        value
            .value
            .iter()
            .map(|text| self.time(key, text))
            .collect()
    }

    pub(super) fn rate(&self, key: &str, value: &SourcedValue<String>) -> Result<u64, LabError> {
        let allowed = "a size per second, such as 400 MB/s, is allowed";
        let size = value.value.strip_suffix("/s");
        let size = size.ok_or_else(|| self.bad_quantity(key, &value.value, allowed))?;
        parse_size(size.trim()).map_err(|_| self.bad_quantity(key, &value.value, allowed))
    }
}

/// `56.5 us` and the like, exactly: data sheets give tenths of microseconds.
fn decimal_microseconds(text: &str) -> Option<Nanos> {
    let number = text.strip_suffix("us")?.trim();
    let (whole, fraction) = number.split_once('.')?;
    let digits = format!("{fraction:0<3}");
    if digits.len() != 3
        || !whole
            .chars()
            .chain(digits.chars())
            .all(|c| c.is_ascii_digit())
    {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = digits.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(fraction).map(Nanos)
}
