//! Numbers as pages and tables show them.

/// A number with as many digits as matter, thousands apart by commas.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "not finite".into();
    }
    let size = value.abs();
    let places = match size {
        0.0 => 0,
        s if s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.0995 => 2,
        s if s >= 0.00995 => 3,
        _ => 4,
    };
    let text = format!("{value:.places$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{grouped}{point}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (1661.4, "1,661"),
            (131_072.0, "131,072"),
            (2.4, "2.4"),
            (38.94, "38.9"),
            (0.1014, "0.1"),
            (0.0312, "0.031"),
            (-0.5, "-0.5"),
            (0.0, "0"),
            (1_234_567.0, "1,234,567"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
