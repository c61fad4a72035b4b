//! Numbers of a line, with the reason when one cannot be read.

/// Bytes in a sector, the unit of most formats.
pub(in crate::trace) const SECTOR: u64 = 512;
/// Why a line cannot be understood.
pub(in crate::trace) type TraceLineError = String;

/// Sectors to bytes.
pub(super) fn bytes_of(sectors: u64) -> Result<u64, TraceLineError> {
    sectors
        .checked_mul(SECTOR)
        .ok_or_else(|| format!("sector {sectors} lies beyond 8 EiB, where no drive reaches"))
}

/// A number that must be there and whole.
pub(super) fn whole(text: Option<&str>, field_name: &str) -> Result<u64, TraceLineError> {
    let text = text.ok_or_else(|| format!("no {field_name}"))?.trim();
    text.parse()
        .map_err(|_| format!("`{}` is no {field_name}", excerpt(text)))
}

/// A decimal number of `unit` ns, rounded to whole ns.
pub(super) fn time(text: Option<&str>, unit: u64, field_name: &str) -> Result<u64, TraceLineError> {
    let text = text.ok_or_else(|| format!("no {field_name}"))?.trim();
    decimal(text, unit).ok_or_else(|| format!("`{}` is no {field_name}", excerpt(text)))
}

/// `text` x `unit`, exact but for the last rounding; `None` when it is not a number or too large.
pub(super) fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let fraction = &fraction[..fraction.len().min(18)];
    if fraction.is_empty() {
        return Some(whole);
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let part = fraction.parse::<u128>().ok()? * u128::from(unit);
    whole.checked_add(((part + scale / 2) / scale) as u64)
}

/// The start of a field or a line, for messages.
pub(in crate::trace) fn excerpt(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
