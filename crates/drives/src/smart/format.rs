//! Numbers the way smartctl writes them.

/// `200,049,647,616`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `200 GB`, `1.92 TB`: three digits, rounded down.
pub fn capacity(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KB", "MB", "GB", "TB", "PB", "EB"];
    let (mut power, mut whole, mut below) = (0, bytes, 0);
    while whole >= 1000 {
        below = whole % 1000;
        whole /= 1000;
        power += 1;
    }
    let unit = UNITS[power];
    match whole {
        _ if power == 0 => format!("{whole} {unit}"),
        100.. => format!("{whole} {unit}"),
        10.. => format!("{whole}.{} {unit}", below / 100),
        _ => format!("{whole}.{:02} {unit}", below / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of public smartctl outputs.
    #[test]
    fn as_smartctl_prints_them() {
        assert_eq!(thousands(240_057_409_536), "240,057,409,536");
        assert_eq!(capacity(240_057_409_536), "240 GB");
        assert_eq!(capacity(1_920_383_410_176), "1.92 TB");
        assert_eq!(capacity(33_588_177_920_000), "33.5 TB");
        assert_eq!(capacity(512), "512 B");
        assert_eq!(thousands(999), "999");
    }
}
