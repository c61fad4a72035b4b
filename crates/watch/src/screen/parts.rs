//! Lines of the screen: the answer, rates, sources, stalls.

use super::look::ScreenLook;
use crate::cause::{CauseLayer, LiveCause};
use crate::figures::WatchFigures;
use crate::forecast::next_sentence;
use crate::judge::{Certainty, LiveAnswer};
use crate::report::WatchReport;
use crate::source::event::RequestKind;
use crate::stall::Stall;
use ratatui::style::{Color, Style};
use ssdlab_view::text::wrap;
use ssdlab_view::units;

/// A line with its style.
pub(super) struct ScreenLine {
    pub(super) text: String,
    pub(super) style: Style,
}

impl ScreenLine {
    pub(super) fn plain(text: impl Into<String>) -> ScreenLine {
        ScreenLine {
            text: text.into(),
            style: Style::new(),
        }
    }
}

/// The first line of the answer, and what stands below it.
pub(super) struct ScreenAnswer {
    pub(super) title: ScreenLine,
    /// How many times as fast awaited I/O would be without the cause.
    pub(super) number: Option<String>,
    /// Sentences, each with the word before it, the most wanted first.
    pub(super) sentences: Vec<(&'static str, String)>,
}

fn layer_words(layer: CauseLayer) -> &'static str {
    match layer {
        CauseLayer::Host => "THE HOST",
        CauseLayer::Link => "THE LINK",
        CauseLayer::Drive => "THE DRIVE",
    }
}

/// What the answer says on the screen.
pub(super) fn answer(report: Option<&WatchReport>, look: ScreenLook) -> ScreenAnswer {
    let titled = |text: String, colour| ScreenLine {
        text,
        style: look.colour(colour).bold(),
    };
    let Some(report) = report else {
        return ScreenAnswer {
            title: titled("watching: the first second".to_owned(), Color::Yellow),
            number: None,
            sentences: Vec::new(),
        };
    };
    let mut shown = judged(&report.answer, look);
    let foretold = report.forecast.as_ref().and_then(next_sentence);
    shown
        .sentences
        .extend(foretold.map(|sentence| ("next", sentence)));
    shown
}

fn judged(answer: &LiveAnswer, look: ScreenLook) -> ScreenAnswer {
    let titled = |text: String, colour| ScreenLine {
        text,
        style: look.colour(colour).bold(),
    };
    match answer {
        LiveAnswer::TooLittle { requests } => ScreenAnswer {
            title: titled(
                format!(
                    "UNKNOWN: {} in the last seconds say too little",
                    units::plural(*requests, "request")
                ),
                Color::Yellow,
            ),
            number: None,
            sentences: vec![("do", "Watch while it is slow.".to_owned())],
        },
        LiveAnswer::AsExpected { why } => ScreenAnswer {
            title: titled(
                "IT IS NOT THE DRIVE: it answers as a healthy one does".to_owned(),
                Color::Green,
            ),
            number: None,
            sentences: vec![("because", why.clone())],
        },
        LiveAnswer::Causes { findings } => {
            let Some((first, others)) = findings.split_first() else {
                return self::answer(None, look);
            };
            let sure = match first.certainty {
                Certainty::Shown => "",
                Certainty::Likely => " (likely)",
            };
            let mut sentences = vec![
                ("do", first.cause.advice().to_owned()),
                ("because", first.why.clone()),
            ];
            if !others.is_empty() {
                let names: Vec<&str> = others.iter().map(|other| other.cause.name()).collect();
                sentences.push(("also", names.join(", ")));
            }
            ScreenAnswer {
                title: titled(
                    format!("{}: {}{sure}", layer_words(first.layer), first.cause.name()),
                    Color::Red,
                ),
                number: first.factor.map(units::ratio),
                sentences,
            }
        }
    }
}

/// Sentences wrapped into at most `lines` lines: each gets its first line before any gets a second.
pub(super) fn wrapped(
    sentences: &[(&'static str, String)],
    width: usize,
    lines: usize,
    look: ScreenLook,
) -> Vec<String> {
    const HEAD: usize = 8;
    let blocks: Vec<Vec<String>> = sentences
        .iter()
        .map(|(_, text)| wrap(&look.text(text), width.saturating_sub(HEAD).max(8)))
        .collect();
    let mut room = vec![0_usize; blocks.len()];
    for _ in 0..lines {
        let open = |i: &usize| room[*i] < blocks[*i].len();
        let shortest = (0..blocks.len()).filter(open).min_by_key(|i| room[*i]);
        match shortest {
            Some(i) => room[i] += 1,
            None => break,
        }
    }
    let mut text = Vec::new();
    for (i, block) in blocks.iter().enumerate() {
        for (number, line) in block.iter().take(room[i]).enumerate() {
            let head = if number == 0 { sentences[i].0 } else { "" };
            let is_cut = number + 1 == room[i] && block.len() > room[i];
            let line = if is_cut {
                look.cut(&format!("{line} …    "), width.saturating_sub(HEAD))
                    .trim_end()
                    .to_owned()
            } else {
                line.clone()
            };
            text.push(format!("{head:HEAD$}{line}"));
        }
    }
    text
}

/// Rates and times by kind, of the kinds that were there; its head first.
pub(super) fn rates(figures: &WatchFigures, width: usize) -> Vec<String> {
    let is_wide = width >= 72;
    let middle = figures.middle();
    let row = |name: &str, cells: [&str; 6]| {
        let [rate, bytes, queue, median, late, longest] = cells;
        match (is_wide, figures.only_means) {
            (true, false) => format!(
                "{name:9}{rate:>9}{bytes:>12}{queue:>10}{median:>10}{late:>10}{longest:>10}"
            ),
            (true, true) => format!("{name:9}{rate:>9}{bytes:>12}{median:>10}"),
            (false, false) => format!("{name:9}{rate:>9}{median:>10}{longest:>10}"),
            (false, true) => format!("{name:9}{rate:>9}{median:>10}"),
        }
    };
    let head = ["a second", "", "in host", middle, "99 %", "longest"];
    let mut lines = vec![row("", head)];
    let seconds = figures.seconds.max(1e-3);
    for kind in RequestKind::ALL {
        let of_kind = figures.kind(kind);
        if of_kind.count() == 0 {
            continue;
        }
        let bytes = if kind == RequestKind::Flush {
            String::new()
        } else {
            units::throughput(of_kind.bytes as f64 / seconds)
        };
        let cells = [
            units::rate(of_kind.count() as f64 / seconds),
            bytes,
            units::time(of_kind.queue.median_ns),
            units::time(of_kind.device.median_ns),
            units::time(of_kind.device.p99_ns),
            units::time(of_kind.device.max_ns),
        ];
        lines.push(row(kind.name(), cells.each_ref().map(String::as_str)));
    }
    if lines.len() == 1 {
        lines = vec!["no request so far".to_owned()];
    }
    lines
}

/// Where the figures come from, and what was not to be had.
pub(super) fn sources(report: &WatchReport) -> String {
    let used: Vec<&str> = report
        .sources
        .iter()
        .filter(|source| source.missing.is_none())
        .map(|source| source.name.as_str())
        .collect();
    let mut text = String::new();
    if report.lost_events > 0 {
        text += &format!("{} events lost; ", units::count(report.lost_events));
    }
    text += &format!("by {}", used.join(", "));
    for source in &report.sources {
        if let Some(why) = &source.missing {
            text += &format!("; without {}: {why}", source.name);
        }
    }
    text
}

/// A letter for what held a request up.
pub(super) fn stall_letter(cause: Option<LiveCause>) -> char {
    match cause {
        Some(LiveCause::HostQueue) => 'H',
        Some(LiveCause::Discards) => 'D',
        Some(LiveCause::VolatileBuffer) => 'F',
        Some(LiveCause::ReadsBehindWrites) => 'R',
        Some(LiveCause::SlowMedia) => 'M',
        _ => '?',
    }
}

/// A stall in a line.
pub(super) fn stall(stall: &Stall) -> String {
    format!(
        "{} {:.1} s: {} of {} by {}, {}, beside {}",
        stall_letter(stall.cause),
        stall.at_s,
        stall.kind,
        units::time(stall.total_ns()),
        stall.process,
        stall.cause_name(),
        stall.beside
    )
}
