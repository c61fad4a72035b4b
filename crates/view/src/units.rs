//! Numbers as people read them: three significant places, a unit, and a dash for what is unknown.

use ssdlab_ssd::{Bytes, Nanos};

/// Shown where a number was not measured or is not known.
pub const NOTHING: &str = "-";

/// `1 cut`, `2 cuts`: how many there are of what `singular` names.
pub fn plural(count: u64, singular: &str) -> String {
    format!("{count} {singular}{}", if count == 1 { "" } else { "s" })
}

/// A rate or a count without its unit: `0.8`, `220`, `12.3k`, `1.20M`.
///
/// Rounded to three significant places from 1,000 on; [`NOTHING`] when not finite.
pub fn rate(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let size = value.abs();
    if size < 0.05 {
        return "0".to_owned();
    }
    if size < 9.95 {
        return format!("{value:.1}");
    }
    for (unit, name) in [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G"), (1e12, "T")] {
        if size / unit < 999.5 {
            let places = if unit == 1.0 { 0 } else { places(size / unit) };
            return format!("{:.places$}{name}", value / unit);
        }
    }
    format!("{value:.2e}")
}

/// Decimal places that leave three significant ones.
fn places(size: f64) -> usize {
    match size {
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        _ => 2,
    }
}

/// A whole number, all its digits, in groups of three: `15,973,960`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A time in ns, as [`Nanos`] shows it: `15.2 ms`.
pub fn time(ns: u64) -> String {
    Nanos(ns).to_string()
}

/// A time in ns that may be a mean; [`NOTHING`] when negative or not finite.
pub fn time_mean(ns: f64) -> String {
    if ns.is_finite() && ns >= 0.0 {
        time(ns.round() as u64)
    } else {
        NOTHING.to_owned()
    }
}

/// A moment of a run, given in seconds: `45 s`, `2 min`, `2 min 5 s`.
pub fn clock(seconds: f64) -> String {
    if !seconds.is_finite() {
        return NOTHING.to_owned();
    }
    let whole = seconds.round();
    if whole.abs() < 90.0 {
        return format!("{whole:.0} s");
    }
    let (minutes, rest) = ((whole / 60.0).trunc(), whole % 60.0);
    if rest == 0.0 {
        format!("{minutes:.0} min")
    } else {
        format!("{minutes:.0} min {:.0} s", rest.abs())
    }
}

/// Throughput in decimal megabytes per second, the unit of data sheets: `0.90 MB/s`, `412 MB/s`.
pub fn throughput(bytes_per_second: f64) -> String {
    if !bytes_per_second.is_finite() {
        return NOTHING.to_owned();
    }
    let megabytes = bytes_per_second / 1e6;
    format!("{megabytes:.*} MB/s", places(megabytes.abs()))
}

/// A size in binary units: `4 KiB`.
pub fn bytes(count: u64) -> String {
    Bytes(count).to_string()
}

/// A size in the decimal units of data sheets: `185 TB`, `1.00 TB`.
pub fn decimal_bytes(count: f64) -> String {
    if !count.is_finite() {
        return NOTHING.to_owned();
    }
    let units = [(1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")];
    for (unit, name) in units {
        let value = count / unit;
        if value < 999.5 {
            return format!("{value:.*} {name}", places(value));
        }
    }
    format!("{:.*} PB", places(count / 1e15), count / 1e15)
}

/// A ratio: `1,570x`, `341x`, `2.4x`, `0.45x`, and below a tenth `1/260`.
pub fn ratio(value: f64) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    match value.abs() {
        v if v >= 999.5 => {
            let step = 10_f64.powf(v.log10().floor() - 2.0);
            let sign = if value < 0.0 { "-" } else { "" };
            format!(
                "{sign}{}x",
                count(((v / step).round() * step).round() as u64)
            )
        }
        v if v >= 9.95 => format!("{value:.0}x"),
        v if v >= 0.995 => format!("{value:.1}x"),
        v if v >= 0.095 => format!("{value:.2}x"),
        0.0 => "0x".to_owned(),
        _ => format!("1/{}", rate(1.0 / value)),
    }
}

/// A count to two places, as commands per durable write are given: `1.00`.
pub fn per_write(value: Option<f64>) -> String {
    match value {
        Some(v) if v.is_finite() => format!("{v:.2}"),
        _ => "unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_three_places_and_roll_over() {
        let shown: Vec<String> = [0.0, 0.84, 9.96, 66.2, 999.4, 999.6, 12_345.0, 99_999.0]
            .into_iter()
            .map(rate)
            .collect();
        assert_eq!(
            shown,
            ["0", "0.8", "10", "66", "999", "1.00k", "12.3k", "100k"]
        );
        assert_eq!(rate(1_204_000.0), "1.20M");
        assert_eq!(rate(f64::MAX), "1.80e308");
        assert_eq!(rate(f64::NAN), "-");
        assert_eq!([count(7), count(1_000)], ["7", "1,000"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
    }

    #[test]
    fn times_sizes_and_ratios_read_well() {
        assert_eq!(time(15_200_000), "15.2 ms");
        assert_eq!(time_mean(f64::NAN), "-");
        assert_eq!(clock(120.0), "2 min");
        assert_eq!(clock(125.4), "2 min 5 s");
        assert_eq!(clock(12.0), "12 s");
        assert_eq!(throughput(901_120.0), "0.90 MB/s");
        assert_eq!(throughput(412.4e6), "412 MB/s");
        assert_eq!(decimal_bytes(185e12), "185 TB");
        assert_eq!(decimal_bytes(101.4e9), "101 GB");
        assert_eq!(decimal_bytes(10.95e15), "10.9 PB");
        assert_eq!(ratio(341.2), "341x");
        assert_eq!([ratio(1574.0), ratio(999.6)], ["1,570x", "1,000x"]);
        assert_eq!(ratio(2.41), "2.4x");
        assert_eq!(ratio(0.00291), "1/344");
        assert_eq!((ratio(0.45).as_str(), ratio(0.0).as_str()), ("0.45x", "0x"));
        assert_eq!(per_write(None), "unknown");
    }
}
