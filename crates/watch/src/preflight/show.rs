//! A role's limits as text.

use super::{LimitState, RoleCheck, RoleOutcome, SEEN, WatchedLimit};
use ssdlab_view::text;

fn value(value: f64, unit: &str) -> String {
    let places = match value {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        _ => 2,
    };
    format!("{value:.places$} {unit}")
}

fn limit(limit: &WatchedLimit) -> String {
    let bound = match (limit.at_least, limit.at_most) {
        (Some(least), _) => format!("at least {least} {}", limit.unit),
        (None, Some(most)) => format!("at most {most} {}", limit.unit),
        (None, None) => String::new(),
    };
    let seen = limit
        .value
        .map_or_else(|| "none seen".to_owned(), |seen| value(seen, &limit.unit));
    let must = if limit.must { "" } else { "; should" };
    let harm = if limit.state == LimitState::Missed {
        format!(". {}", limit.harm)
    } else {
        String::new()
    };
    format!(
        "{}: {seen} ({bound}; {} seen{must}){harm}",
        limit.title, limit.samples
    )
}

/// The verdict last, below what it rests on.
pub fn text(check: &RoleCheck) -> String {
    let of_state = |state| {
        let limits = check.limits.iter().filter(|limit| limit.state == state);
        limits.map(limit).collect::<Vec<_>>()
    };
    let mut out = text::paragraph("", SEEN);
    out += &text::list("Met", &of_state(LimitState::Met));
    out += &text::list("Too few to say", &of_state(LimitState::TooFew));
    out += &text::list("Not met", &of_state(LimitState::Missed));
    let not_seen: Vec<String> = check
        .not_seen
        .iter()
        .map(|limit| format!("{}: {}", limit.title, limit.settled_by))
        .collect();
    out += &text::list("Not seen by watching; settled by", &not_seen);
    if let Some(ceph) = &check.ceph {
        out += &text::paragraph("Ceph", &format!("{}: {}", ceph.option, ceph.sentence));
        out += &format!("     {}\n", ceph.command);
    }
    out += &text::paragraph("", &verdict(check));
    out
}

fn verdict(check: &RoleCheck) -> String {
    let as_a = &check.as_a;
    match check.outcome {
        RoleOutcome::Pass => {
            format!("✓ PASS: as {as_a}, by what this system did: each limit that is seen is kept.")
        }
        RoleOutcome::Fail => {
            format!("✗ FAIL: as {as_a}, by what this system did: see what is not met.")
        }
        RoleOutcome::Unknown => format!(
            "? UNKNOWN: as {as_a}: too few durable writes were seen. Watch longer, or while it is \
             in use; by counters alone nothing of it is seen."
        ),
    }
}
