//! What a finding means, in words.

use super::detect::{AccountEstimate, AccountFinding, SpeedKind};
use ssdlab_view::text::{PLAIN, finish, new_table, paragraph};
use ssdlab_view::units;
use ssdlab_volume::AccountUnit;

/// A rate in its unit: `3,000 a second`, `125 MB a second`.
fn rate(finding: &AccountFinding, value: f64) -> String {
    match finding.unit {
        Some(AccountUnit::Bytes) => format!("{} a second", units::decimal_bytes(value)),
        _ => format!("{} a second", units::rate(value)),
    }
}

/// A time as people say it.
pub fn time(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 2.0 * 3600.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

fn value(estimate: Option<AccountEstimate>) -> Option<f64> {
    estimate.map(|estimate| estimate.value)
}

/// The kind in a few words.
pub fn kind(kind: SpeedKind) -> &'static str {
    match kind {
        SpeedKind::Account => "an account: a burst out of a credit, then a base",
        SpeedKind::Limit => "a limit that lasts, whatever the load",
        SpeedKind::DriveFall => "a drive's own fall, no account",
        SpeedKind::Unsteady => "no constant rate: a neighbour, heat or a busy host",
        SpeedKind::NoLimit => "not held back by an account or a limit within reach",
        SpeedKind::Unknown => "not known",
    }
}

/// "You measured the burst: 3,000 a second for 33 min, then 300 a second."
pub fn burst(finding: &AccountFinding) -> Option<String> {
    let (base, burst) = (value(finding.base)?, value(finding.burst)?);
    let lasted = finding.lasts_s(burst)?;
    Some(format!(
        "You measured the burst: {} for {}, then {}.",
        rate(finding, burst),
        time(lasted),
        rate(finding, base)
    ))
}

/// What lasts: "300 a second".
pub fn base(finding: &AccountFinding) -> Option<String> {
    Some(rate(finding, value(finding.base)?))
}

/// The same of a credit on which other loads had drawn before.
pub fn burst_in_loads(finding: &AccountFinding) -> Option<String> {
    let (base, burst) = (base(finding)?, value(finding.burst)?);
    let burst_rate = rate(finding, burst);
    Some(match finding.lasts_s(burst) {
        Some(lasted_s) => format!(
            "You measured the burst: {burst_rate} for another {} after the loads before, then \
             {base}.",
            time(lasted_s)
        ),
        None => format!(
            "You measured the burst: {burst_rate}, and {base} once the credit was spent. How long \
             the burst takes from a full credit was not seen."
        ),
    })
}

/// How long the credit lasts at a rate of use, a sentence.
pub fn forecast(finding: &AccountFinding, used: f64) -> Option<String> {
    let (base, burst) = (value(finding.base)?, value(finding.burst)?);
    Some(match finding.lasts_s(used) {
        None => format!("At {} it never runs out.", rate(finding, used)),
        Some(lasts_s) if used > burst => format!(
            "{} is more than it ever gives; at its burst it lasts {}.",
            rate(finding, used),
            time(lasts_s)
        ),
        Some(lasts_s) => format!(
            "At {} it lasts {}, then it is {}.",
            rate(finding, used),
            time(lasts_s),
            rate(finding, base)
        ),
    })
}

/// What a limit is, a sentence.
pub fn limit(finding: &AccountFinding) -> Option<String> {
    let base = value(finding.base)?;
    Some(format!(
        "Reads and writes alike are held at {}, whatever the queue: the limit of the volume or of \
         the instance. It did not change while it was measured.",
        rate(finding, base)
    ))
}

/// The same sentence after a colon.
pub fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_lowercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// How it fills again, a sentence.
pub fn refill(finding: &AccountFinding) -> Option<String> {
    let refill = value(finding.refill).filter(|refill| *refill > 0.0)?;
    let earned = rate(finding, refill).replace(" a second", "");
    Some(match value(finding.credit) {
        Some(credit) => format!(
            "An idle second earns {earned} back; what was spent takes {} of idling.",
            time(credit / refill)
        ),
        None => format!("An idle second earns {earned} back."),
    })
}

fn bare(finding: &AccountFinding, value: f64) -> String {
    rate(finding, value).replace(" a second", "")
}

/// What to do about a target that showed no account, a sentence.
fn advice(kind: SpeedKind) -> Option<&'static str> {
    match kind {
        SpeedKind::Account => None,
        SpeedKind::Limit => Some(
            "A burst longer than this was written for looks the same: `--longest 2h` covers those \
             that providers document.",
        ),
        SpeedKind::DriveFall => Some(
            "A drive does this by itself: `ssdlab qualify` and `ssdlab fingerprint` say why and \
             for how long.",
        ),
        SpeedKind::Unsteady => Some(
            "The rate wavers, so that nothing follows from it. Try again while the host and \
             the volume are idle, without `--brief`.",
        ),
        SpeedKind::NoLimit => Some(
            "Reads and writes have different rates: nothing counts them alike. A burst longer \
             than this was written for would not show: `--longest 2h`.",
        ),
        SpeedKind::Unknown => Some(
            "What was seen contradicts itself. A longer look may tell: without `--brief`, with \
             `--longest 2h`.",
        ),
    }
}

/// The answer, what follows from it, the figures, and what speaks for it; `used` are rates of use
/// in the account's unit.
pub fn screen(finding: &AccountFinding, used: &[f64]) -> String {
    let symbol = match finding.kind {
        SpeedKind::Account | SpeedKind::Limit => "✓",
        SpeedKind::DriveFall | SpeedKind::NoLimit => "✗",
        SpeedKind::Unsteady | SpeedKind::Unknown => "?",
    };
    let mut text = paragraph(symbol, &format!("It is {}.", kind(finding.kind)));
    let limit = (finding.kind == SpeedKind::Limit).then(|| limit(finding));
    let sentences = [burst(finding), refill(finding), limit.flatten()];
    let forecasts = used.iter().map(|used| forecast(finding, *used));
    for line in sentences.into_iter().chain(forecasts).flatten() {
        text += &paragraph(" ", &line);
    }
    text.extend(advice(finding.kind).map(|advice| paragraph(" ", advice)));
    let figures = [
        ("base, a second", finding.base),
        ("burst, a second", finding.burst),
        ("credit at the beginning", finding.credit),
        ("earned by an idle second", finding.refill),
    ];
    let mut table = new_table(PLAIN);
    let unit = match finding.unit {
        Some(AccountUnit::Bytes) => "Bytes",
        _ => "Operations",
    };
    table.set_header([unit, "", "at least", "at most"]);
    let known = figures
        .into_iter()
        .filter_map(|(name, figure)| Some((name, figure?)));
    for (name, figure) in known {
        let [value, low, high] =
            [figure.value, figure.low, figure.high].map(|value| bare(finding, value));
        table.add_row([name, &value, &low, &high]);
    }
    if table.row_count() > 0 {
        text += &format!("\n{}\n", finish(&table));
    } else {
        text.push('\n');
    }
    for why in &finding.why {
        text += &paragraph("-", why);
    }
    text
}
