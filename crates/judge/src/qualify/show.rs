//! Numbers as people read them.

use super::roles::MeasureUnit;
use ssdlab_ssd::Nanos;
use ssdlab_view::units;

/// A time given in ns: `15.2 ms`.
pub fn time(ns: u64) -> String {
    Nanos(ns).to_string()
}

/// A number per second without its unit: `0.8`, `66`, `25,394`.
pub fn rate(per_second: f64) -> String {
    if !per_second.is_finite() {
        return units::NOTHING.into();
    }
    if per_second < 10.0 {
        return format!("{per_second:.1}");
    }
    let digits = format!("{per_second:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `2.4`, `38`, `620`: two significant places or all before the point.
pub fn plain(value: f64) -> String {
    if value.abs() < 10.0 {
        format!("{value:.1}")
    } else {
        rate(value)
    }
}

/// A long time: `37 s`, `40 min`, `9.3 h`, `4.1 days`.
pub fn hours(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", (s / 60.0).ceil()),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

/// A value with its unit.
pub fn with_unit(value: f64, unit: MeasureUnit) -> String {
    match unit {
        MeasureUnit::Milliseconds => time((value * 1e6).round() as u64),
        MeasureUnit::PerSecond => format!("{} /s", rate(value)),
        MeasureUnit::Ratio => format!("{}x", plain(value)),
        MeasureUnit::Percent => format!("{value:.0} %"),
        _ => format!("{value:.2} {}", unit.symbol()),
    }
}

/// A value with its unit and, where it misses `limit` by less than that shows, more places.
pub fn beside_limit(value: f64, limit: Option<f64>, unit: MeasureUnit) -> String {
    let text = with_unit(value, unit);
    let Some(limit) = limit.filter(|limit| *limit != value) else {
        return text;
    };
    if text != with_unit(limit, unit) {
        return text;
    }
    let digits = (1..12).map(|places| format!("{value:.places$}"));
    let mut telling = digits.filter(|digits| digits.parse() != Ok(limit));
    telling.next().map_or(text, |digits| match unit {
        MeasureUnit::Ratio => format!("{digits}x"),
        _ => format!("{digits} {}", unit.symbol()),
    })
}

/// A limit with its unit: whole numbers without places.
pub fn limit(value: f64, unit: MeasureUnit) -> String {
    let number = if value.fract() == 0.0 {
        rate_whole(value)
    } else {
        format!("{value}")
    };
    match unit {
        MeasureUnit::Ratio => format!("{number}x"),
        _ => format!("{number} {}", unit.symbol()),
    }
}

fn rate_whole(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.0}")
    } else {
        rate(value)
    }
}

/// With a capital letter in front.
pub fn sentence_case(text: &str) -> String {
    if text.starts_with("pSLC") {
        return text.to_owned();
    }
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_like_numbers() {
        assert_eq!(rate(25_394.4), "25,394");
        assert_eq!(rate(66.2), "66");
        assert_eq!(rate(0.84), "0.8");
        assert_eq!(rate(1_234_567.0), "1,234,567");
        assert_eq!(with_unit(15.2, MeasureUnit::Milliseconds), "15.2 ms");
        assert_eq!(with_unit(0.021, MeasureUnit::Milliseconds), "21.0 us");
        assert_eq!(
            with_unit(0.1014, MeasureUnit::DriveWritesPerDay),
            "0.10 DWPD"
        );
        assert_eq!(limit(0.5, MeasureUnit::Milliseconds), "0.5 ms");
        assert_eq!(limit(1.5, MeasureUnit::Ratio), "1.5x");
        assert_eq!(limit(3.0, MeasureUnit::DriveWritesPerDay), "3 DWPD");
        assert_eq!(limit(2200.0, MeasureUnit::PerSecond), "2,200 /s");
        let beside = |value, limit, unit| beside_limit(value, Some(limit), unit);
        assert_eq!(beside(699.9, 700.0, MeasureUnit::PerSecond), "699.9 /s");
        assert_eq!(beside(700.0, 700.0, MeasureUnit::PerSecond), "700 /s");
        assert_eq!(beside(640.2, 700.0, MeasureUnit::PerSecond), "640 /s");
        let dwpd = MeasureUnit::DriveWritesPerDay;
        assert_eq!(beside(2.9994, 3.0, dwpd), "2.999 DWPD");
        assert_eq!(beside(10.004, 10.0, MeasureUnit::Milliseconds), "10.004 ms");
    }
}
