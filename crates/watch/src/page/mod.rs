//! The page of a watch: the answer and what to do, then what shows it.

mod evidence;
mod heat;
mod host;
mod next;

use crate::cause::CauseLayer;
use crate::judge::{Certainty, LiveAnswer, LiveFinding};
use crate::preflight::{RoleCheck, RoleOutcome};
use crate::report::WatchReport;
use crate::source::event::RequestKind;
use maud::{Markup, html};
use ssdlab_view::chart::Charts;
use ssdlab_view::page::page;
use ssdlab_view::{parts, units};

/// What no watch can tell, and what can.
const NOT_TOLD: [&str; 4] = [
    "Write amplification, unless the drive counts it: ssdlab inspect.",
    "Whether the drive keeps what it acknowledged through a power cut: ssdlab pull, which \
     overwrites it.",
    "Which of media, map and controller is slow where reads alone are: ssdlab diagnose on a spare \
     drive of the kind, which overwrites it.",
    "What stands behind a virtual disk: it answers for all of it.",
];

/// The whole page.
pub fn watch_page(report: &WatchReport) -> String {
    let mut charts = Charts::default();
    let title = format!("{}: what makes it slow", report.drive.given);
    let body = html! {
        (answer(report))
        (role(report.role.as_ref()))
        (findings(&report.answer))
        (over_time(report, &mut charts))
        (evidence::figures(report))
        (evidence::stalls(&report.stalls))
        (evidence::layers(report))
        (evidence::model(report))
        (next::forecast(report))
        (next::wear(report))
        (host::settings(report))
        (sources(report))
        section { h2 { "What watching cannot tell" } (parts::list(&NOT_TOLD)) }
    };
    page(&title, body, &charts)
}

fn layer_words(layer: CauseLayer) -> &'static str {
    match layer {
        CauseLayer::Host => "The host",
        CauseLayer::Link => "The link",
        CauseLayer::Drive => "The drive",
    }
}

struct PageAnswer<'a> {
    class: &'static str,
    badge: String,
    heading: &'a str,
    sentence: String,
    advice: &'static str,
}

fn worded(answer: &LiveAnswer) -> PageAnswer<'_> {
    match answer {
        LiveAnswer::TooLittle { requests } => PageAnswer {
            class: "unknown",
            badge: "? UNKNOWN".into(),
            heading: "Too few requests to say.",
            sentence: format!(
                "{} in the last seconds.",
                units::plural(*requests, "request")
            ),
            advice: "Watch while it is slow.",
        },
        LiveAnswer::AsExpected { why } => PageAnswer {
            class: "pass",
            badge: "✓ NOT THE DRIVE".into(),
            heading: "It answers as a healthy drive does.",
            sentence: format!("{}.", capital(why)),
            advice: "Look at what waits for it: the program, the network, the processor.",
        },
        LiveAnswer::Causes { findings } => {
            let first = &findings[0];
            let speed = first.factor.map_or_else(String::new, |factor| {
                format!(
                    " Awaited I/O would be {} as fast without it.",
                    units::ratio(factor)
                )
            });
            PageAnswer {
                class: "fail",
                badge: format!("✗ {}: {}", layer_words(first.layer), first.cause.name()),
                heading: first.cause.sentence(),
                sentence: format!("{}.{speed} {}.", capital(&first.why), sure(first)),
                advice: first.cause.advice(),
            }
        }
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

fn answer(report: &WatchReport) -> Markup {
    let drive = &report.drive;
    let worded = worded(&report.answer);
    let class = worded.class;
    let size = drive.capacity.map_or_else(String::new, |bytes| {
        format!(", {}", units::decimal_bytes(bytes as f64))
    });
    html! {
        header .answer .(class) {
            p .kicker {
                b { (drive.given) } " on " (drive.device) " ("
                (drive.model.as_deref().unwrap_or("unknown model")) (size) "), watched for "
                (units::clock(report.watched_s))
                span .quiet { " - ssdlab watch" }
            }
            span .badge .(class) { (worded.badge) }
            h1 { (worded.heading) }
            p { (worded.sentence) }
            p { b { "What to do: " } (worded.advice) }
        }
    }
}

/// How sure a finding is, as a sentence without its full stop.
fn sure(finding: &LiveFinding) -> &'static str {
    match finding.certainty {
        Certainty::Shown => "Shown by like requests, a setting or a counter",
        Certainty::Likely => "Likely: other causes would look alike",
    }
}

/// What else makes it slow.
fn findings(answer: &LiveAnswer) -> Markup {
    let LiveAnswer::Causes { findings } = answer else {
        return html! {};
    };
    html! {
        @if findings.len() > 1 {
            section {
                h2 { "What else gives?" }
                @for finding in &findings[1..] {
                    div .mechanism {
                        h3 { (layer_words(finding.layer)) ": " (finding.cause.name()) }
                        p { (capital(&finding.why)) "." }
                        p .quiet {
                            @if let Some(factor) = finding.factor {
                                (units::ratio(factor)) " as fast without it. "
                            }
                            (sure(finding)) ". " (finding.cause.advice())
                        }
                    }
                }
            }
        }
    }
}

fn over_time(report: &WatchReport, charts: &mut Charts) -> Markup {
    let kinds = RequestKind::ALL
        .into_iter()
        .filter(|kind| report.figures.kind(*kind).count() > 0);
    html! {
        section {
            h2 { "Second by second" }
            (heat::map(&report.heat, None, &report.stalls))
            @for kind in kinds {
                (parts::folded(
                    &format!("The {} alone", kind.name()),
                    heat::map(&report.heat, Some(kind), &report.stalls),
                ))
            }
            (evidence::time_line(report, charts))
            @if let Some(step) = &report.step { p { (capital(&step.sentence())) "." } }
            @if !charts.is_empty() { (parts::about_charts()) }
        }
    }
}

fn role(check: Option<&RoleCheck>) -> Markup {
    let Some(check) = check else {
        return html! {};
    };
    let (class, word) = match check.outcome {
        RoleOutcome::Pass => ("pass", "✓ PASS"),
        RoleOutcome::Fail => ("fail", "✗ FAIL"),
        RoleOutcome::Unknown => ("unknown", "? UNKNOWN"),
    };
    html! {
        section {
            h2 { "As " (check.as_a) " " span .badge .(class) { (word) } }
            (evidence::limits(check))
        }
    }
}

fn sources(report: &WatchReport) -> Markup {
    let lines: Vec<String> = report
        .sources
        .iter()
        .map(|source| match &source.missing {
            None => format!("{}: used", source.name),
            Some(why) => format!("{}: not to be had: {why}", source.name),
        })
        .collect();
    html! {
        section {
            h2 { "Sources" }
            (parts::list(&lines))
            p .quiet {
                @if report.lost_events > 0 {
                    (units::plural(report.lost_events, "event")) " did not fit into the rings: \
                     figures are those of the others. "
                }
                @if report.seen_in_part > 0 {
                    (units::plural(report.seen_in_part, "request")) " seen in part. "
                }
                "Nothing was written to the drive."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::read_recording;
    use std::path::Path;

    #[test]
    fn the_page_has_the_answer_first_and_every_number_of_the_text() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = top.join("examples/traces/watch-volatile-buffer.gz");
        let mut report = read_recording(&path).expect("a recording").report;
        let page = watch_page(&report);
        let place = |words: &str| {
            page.find(words)
                .unwrap_or_else(|| panic!("{words} is not on the page"))
        };
        let places = [
            "The drive: volatile buffer",
            "What to do",
            "Second by second",
            "Heat map of all requests",
            "Rates and times",
            "Sources",
            "What watching cannot tell",
        ]
        .map(place);
        assert!(places.is_sorted(), "{places:?}");
        for number in ["2.20 ms", "38.4 ms", "7.0x", "2.66 MB/s"] {
            place(number);
        }
        report.drive.given = "<script>alert(1)</script>".into();
        assert!(!watch_page(&report).contains("<script>alert"));
        report.answer = LiveAnswer::TooLittle { requests: 1 };
        report.heat = crate::heat::WatchHeat::default();
        assert!(watch_page(&report).contains("1 request in the last"));
    }
}
