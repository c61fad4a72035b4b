//! Numbers as people read them.

use ssdlab_ssd::Nanos;

/// A time given in ns: `15.2 ms`.
pub fn time(ns: u64) -> String {
    Nanos(ns).to_string()
}

/// A number per second without its unit: `0.8`, `66`, `25,394`.
pub fn rate(per_second: f64) -> String {
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

/// A value with its unit, as [`super::Measure::unit`] names it.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "ms" => time((value * 1e6).round() as u64),
        "/s" => format!("{} /s", rate(value)),
        "x" => format!("{}x", plain(value)),
        "%" => format!("{value:.0} %"),
        _ => format!("{value:.2} {unit}"),
    }
}

/// A limit with its unit: whole numbers without places.
pub fn limit(value: f64, unit: &str) -> String {
    let number = if value.fract() == 0.0 {
        rate_whole(value)
    } else {
        format!("{value}")
    };
    match unit {
        "x" => format!("{number}x"),
        _ => format!("{number} {unit}"),
    }
}

fn rate_whole(value: f64) -> String {
    if value < 10.0 {
        format!("{value:.0}")
    } else {
        rate(value)
    }
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
        assert_eq!(with_unit(15.2, "ms"), "15.2 ms");
        assert_eq!(with_unit(0.021, "ms"), "21.0 us");
        assert_eq!(with_unit(0.1014, "DWPD"), "0.10 DWPD");
        assert_eq!(limit(0.5, "ms"), "0.5 ms");
        assert_eq!(limit(1.5, "x"), "1.5x");
        assert_eq!(limit(3.0, "DWPD"), "3 DWPD");
        assert_eq!(limit(2200.0, "/s"), "2,200 /s");
    }
}
