//! Numbers as tools print them in the languages of their users.

/// Marks between groups of digits. A byte of a Windows code page that is not UTF-8 arrives as the
/// replacement character.
const GROUP_MARKS: [char; 9] = [
    ',', '.', '\'', '\u{2019}', '\u{a0}', '\u{202f}', '\u{2009}', '\u{fffd}', ' ',
];

/// The whole number at the beginning of a text: `1,000,204 [1 TB]`, `12 345`, `100%`, `0x04`,
/// `12,34,567` (India).
pub(super) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    if let Some(hex) = text.strip_prefix("0x") {
        let digits: String = hex.chars().take_while(char::is_ascii_hexdigit).collect();
        return u64::from_str_radix(&digits, 16).ok();
    }
    let chars: Vec<char> = text.chars().collect();
    let digits_at = |at: usize| {
        chars[at..]
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count()
    };
    let mut place = digits_at(0);
    let mut digits: String = chars[..place].iter().collect();
    while let Some(mark) = chars.get(place).filter(|c| GROUP_MARKS.contains(c)) {
        let group = digits_at(place + 1);
        // In India only the last group has three digits.
        let is_pair = group == 2 && *mark == ',' && chars.get(place + 3) == Some(&',');
        let is_group = group == 3 || is_pair;
        if digits.is_empty() || !is_group {
            break;
        }
        digits.extend(&chars[place + 1..place + 1 + group]);
        place += 1 + group;
    }
    digits.parse().ok()
}

/// A number with three decimals, of any language, as Rust writes it: `190345,210`,
/// `190.345,210`.
pub(super) fn decimal(text: &str) -> String {
    let Some(point) = text.rfind([',', '.']).filter(|at| text.len() - at == 4) else {
        return text.to_owned();
    };
    let digits = |part: &str| {
        part.chars()
            .filter(char::is_ascii_digit)
            .collect::<String>()
    };
    format!("{}.{}", digits(&text[..point]), digits(&text[point..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_digits_of_many_languages() {
        for (text, number) in [
            ("1,000,204,886,016 bytes [1.00 TB]", 1_000_204_886_016),
            ("1.000.204.886.016 bytes [1,00 TB]", 1_000_204_886_016),
            ("1 234 567 [632 GB]", 1_234_567),
            ("1\u{2019}234\u{2019}567", 1_234_567),
            ("1\u{fffd}234\u{fffd}567 [632 GB]", 1_234_567),
            ("12,34,567", 1_234_567),
            ("12,345", 12_345),
            ("8.000", 8000),
            ("39.85 C", 39),
            ("39,85 C", 39),
            ("38 C", 38),
            ("51 \u{b0}C (324 K)", 51),
            ("100%", 100),
            ("0x04", 4),
            ("0", 0),
        ] {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        assert_eq!((whole("-"), whole("")), (None, None));
    }

    #[test]
    fn three_decimals_in_any_language() {
        for text in ["190345.210", "190345,210", "190.345,210", "190,345.210"] {
            assert_eq!(decimal(text), "190345.210");
        }
        assert_eq!(decimal("12"), "12");
    }
}
