//! Sizes and times as people write them on our own command line.
//!
//! Sizes: `KiB MiB GiB TiB PiB` are powers of 1024, `kB MB GB TB PB` powers of 1000, and a bare
//! `k m g t p` is a power of 1024 as in fio. Times need their unit. Fractions are allowed where
//! the result is whole (`1.6TB`); arithmetic is exact. fio's own spellings, which differ
//! (fio reads `KiB` as 1000), are in [`ssdlab_load::fio`].

use crate::LabError;
use crate::error::InputLocation;
use ssdlab_ssd::Nanos;

const SIZE_ALLOWED: &str = "give a number and a unit such as 4KiB, 512MiB, 100GiB, 1.6TB or 4k";
const TIME_ALLOWED: &str = "give a number and a unit: ns, us, ms, s, m, h or d, as in 30m";

/// A size in bytes.
///
/// # Errors
/// When `text` is not a number with a known unit, is no whole number of bytes, or exceeds
/// 16 EiB.
pub fn parse_size(text: &str) -> Result<u64, LabError> {
    let bad = |hint: &str| bad_value("size", text, SIZE_ALLOWED, hint);
    let (digits, unit) = split(text);
    let scale = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "ki" | "kib" => 1 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        "t" | "ti" | "tib" => 1 << 40,
        "p" | "pi" | "pib" => 1 << 50,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "pb" => 1_000_000_000_000_000,
        _ => return Err(bad("")),
    };
    match scaled(digits, scale) {
        ScaledQuantity::Whole(bytes) => Ok(bytes),
        ScaledQuantity::Fraction => Err(bad("that is not a whole number of bytes")),
        ScaledQuantity::Overflow => Err(bad("that is more than 16 EiB")),
        ScaledQuantity::Nonsense => Err(bad("")),
    }
}

/// A length of time.
///
/// # Errors
/// When `text` is not a number with a unit, or exceeds 584 years.
pub fn parse_duration(text: &str) -> Result<Nanos, LabError> {
    let bad = |hint: &str| bad_value("time", text, TIME_ALLOWED, hint);
    let (digits, unit) = split(text);
    let scale = match unit.to_ascii_lowercase().as_str() {
        "ns" => 1,
        "us" | "µs" => 1_000,
        "ms" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        "" if !digits.is_empty() => return Err(bad(&format!("for seconds write {digits}s"))),
        _ => return Err(bad("")),
    };
    match scaled(digits, scale) {
        ScaledQuantity::Whole(nanos) => Ok(Nanos(nanos)),
        ScaledQuantity::Fraction => Err(bad("that is finer than a nanosecond")),
        ScaledQuantity::Overflow => Err(bad("that is more than 584 years")),
        ScaledQuantity::Nonsense => Err(bad("")),
    }
}

fn bad_value(option: &str, value: &str, allowed: &str, hint: &str) -> LabError {
    LabError::BadValue {
        option: option.to_owned(),
        given: value.to_owned(),
        allowed: allowed.to_owned(),
        place: InputLocation {
            source: "command line".to_owned(),
            line: None,
        },
        hint: hint.to_owned(),
    }
}

/// Number and unit, each without the blanks around it.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    (digits, unit.trim_start())
}

enum ScaledQuantity {
    Whole(u64),
    Fraction,
    Overflow,
    Nonsense,
}

/// `digits`, with at most one point, times `scale`.
fn scaled(digits: &str, scale: u64) -> ScaledQuantity {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    if whole.is_empty() || fraction.contains('.') || digits.ends_with('.') {
        return ScaledQuantity::Nonsense;
    }
    if fraction.len() > 18 {
        return ScaledQuantity::Fraction;
    }
    let Ok(number) = format!("{whole}{fraction}").parse::<u128>() else {
        return ScaledQuantity::Overflow;
    };
    let divisor = 10u128.pow(fraction.len() as u32);
    let Some(product) = number.checked_mul(u128::from(scale)) else {
        return ScaledQuantity::Overflow;
    };
    if product % divisor != 0 {
        return ScaledQuantity::Fraction;
    }
    u64::try_from(product / divisor).map_or(ScaledQuantity::Overflow, ScaledQuantity::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4 KiB", 4096),
            ("4kB", 4000),
            ("1.5k", 1536),
            ("1m", 1 << 20),
            ("100GiB", 100 << 30),
            ("1.6TB", 1_600_000_000_000),
            ("960GB", 960_000_000_000),
            ("2t", 2 << 40),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(parse_size(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn times() {
        for (text, nanos) in [
            ("10s", 10_000_000_000),
            ("30m", 1_800_000_000_000),
            ("500ms", 500_000_000),
            ("1.5h", 5_400_000_000_000),
            ("7 us", 7_000),
            ("3ns", 3),
            ("1d", 86_400_000_000_000),
        ] {
            assert_eq!(parse_duration(text).unwrap(), Nanos(nanos), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        let error = parse_size("4KX").unwrap_err();
        assert_eq!(
            error.to_string(),
            "command line: `size` cannot be `4KX`: give a number and a unit such as 4KiB, \
             512MiB, 100GiB, 1.6TB or 4k"
        );
        for text in ["", "k", "-4k", "1..5k", "1.k", ".5k", "0x10", "4 k k"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
        assert_eq!(
            parse_size("0.3k").unwrap_err().hint(),
            "that is not a whole number of bytes"
        );
        assert_eq!(
            parse_size("16777216t").unwrap_err().hint(),
            "that is more than 16 EiB"
        );
        assert_eq!(
            parse_duration("60").unwrap_err().hint(),
            "for seconds write 60s"
        );
        assert_eq!(
            parse_duration("1.5ns").unwrap_err().hint(),
            "that is finer than a nanosecond"
        );
        assert!(parse_duration("").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }

        #[test]
        fn digits_and_points_do_not_panic(text in "[0-9.]{0,60}[kKmMgGtTiIbBsuh%]{0,3}") {
            let _ = parse_size(&text);
            let _ = parse_duration(&text);
        }
    }
}
