//! What a watch prints as it goes on: lines for people, events for programs.

use crate::output::say;
use crate::terminal::write_output;
use ssdlab_view::units;
use ssdlab_watch::judge::LiveAnswer;
use ssdlab_watch::report::WatchReport;
use std::io::{self, Write};

/// Standard output, whole texts at a time, without what would drive a terminal.
#[derive(Default)]
pub struct EventOutput {
    text: Vec<u8>,
}

impl Write for EventOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let text = std::mem::take(&mut self.text);
        write_output(&String::from_utf8_lossy(&text))
    }
}

/// A line on standard error for a second.
pub fn second_line(quiet: bool, report: &WatchReport) {
    let Some(second) = report.seconds.last() else {
        return;
    };
    let count = second.reads.count + second.writes.count + second.flushes.count;
    let line = format!(
        "{:>4.0} s  {} requests  {}",
        report.watched_s,
        units::count(count),
        short_answer(&report.answer)
    );
    say(quiet, &line);
}

fn short_answer(answer: &LiveAnswer) -> String {
    match answer {
        LiveAnswer::TooLittle { .. } => "too few to say".to_owned(),
        LiveAnswer::AsExpected { .. } => "as on a healthy drive".to_owned(),
        LiveAnswer::Causes { findings } => {
            let names: Vec<_> = findings
                .iter()
                .map(|finding| finding.cause.name())
                .collect();
            names.join(", ")
        }
    }
}
