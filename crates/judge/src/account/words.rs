//! What a finding means, in words.

use super::detect::{AccountEstimate, AccountFinding, SpeedKind};
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
        SpeedKind::NoLimit => "no limit within reach",
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
    let (credit, refill) = (value(finding.credit)?, value(finding.refill)?);
    (refill > 0.0).then(|| {
        format!(
            "An idle second earns {} back; what was spent takes {} of idling.",
            rate(finding, refill).replace(" a second", ""),
            time(credit / refill)
        )
    })
}

fn interval(finding: &AccountFinding, name: &str, estimate: AccountEstimate, tail: &str) -> String {
    let shown = |value: f64| rate(finding, value).replace(" a second", "");
    format!(
        "{name:<8}{:>12}{tail}  ({} to {})\n",
        shown(estimate.value),
        shown(estimate.low),
        shown(estimate.high)
    )
}

/// Everything on one screen; `used` is a rate of use in the account's unit.
pub fn screen(finding: &AccountFinding, used: &[f64]) -> String {
    let mut text = format!("It is    {}\n", kind(finding.kind));
    let lines = [burst(finding), refill(finding)];
    let forecasts = used.iter().map(|used| forecast(finding, *used));
    for line in lines.into_iter().chain(forecasts).flatten() {
        text += &format!("         {line}\n");
    }
    let figures = [
        ("base", finding.base, "/s"),
        ("burst", finding.burst, "/s"),
        ("credit", finding.credit, "  "),
        ("refill", finding.refill, "/s"),
    ];
    for (name, estimate, tail) in figures {
        if let Some(estimate) = estimate {
            text += &interval(finding, name, estimate, tail);
        }
    }
    for why in &finding.why {
        text += &format!("-        {why}\n");
    }
    text
}
