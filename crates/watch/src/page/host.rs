//! What the host has set, on the page.

use crate::report::WatchReport;
use maud::{Markup, html};
use ssdlab_view::units;

fn facts(report: &WatchReport) -> Vec<(&'static str, String)> {
    let settings = &report.settings;
    let mut facts = vec![("Interface", settings.interface.clone())];
    let mut add = |name, value: Option<String>| facts.extend(value.map(|value| (name, value)));
    add("Scheduler", settings.scheduler.clone());
    add(
        "Requests in the queue",
        settings
            .requests_max
            .map(|count| format!("at most {count}")),
    );
    add("Write cache", settings.write_cache.clone());
    add("Backed by", settings.backing_file.clone());
    add(
        "Link",
        settings.link.as_ref().map(|link| {
            format!(
                "{} x{} of {} x{}",
                link.speed, link.width, link.speed_max, link.width_max
            )
        }),
    );
    add(
        "Temperature",
        settings
            .temperature_c
            .map(|celsius| format!("{celsius:.0} C")),
    );
    for mounted in &settings.file_systems {
        let used = mounted.used.map_or_else(String::new, |share| {
            format!(", {:.0} % in use", 100.0 * share)
        });
        let options = mounted.options.join(",");
        let text = format!("{} on {} ({options}){used}", mounted.kind, mounted.point);
        add("File system", Some(text));
    }
    for layer in &settings.stack {
        add("Above it", Some(format!("{} ({})", layer.name, layer.kind)));
    }
    for limit in &settings.limits {
        let text = format!("{}: {}", limit.group, limit.rate.sentence(limit.limit));
        add("Limit", Some(text));
    }
    add(
        "Discards",
        settings.discard_max_bytes.map(|bytes| {
            if bytes == 0 {
                "not taken".to_owned()
            } else {
                format!("up to {}", units::bytes(bytes))
            }
        }),
    );
    facts
}

/// The host's settings.
pub(super) fn settings(report: &WatchReport) -> Markup {
    html! {
        section {
            h2 { "Settings of the host" }
            dl .facts {
                @for (name, value) in facts(report) { dt { (name) } dd { (value) } }
            }
        }
    }
}
