//! A watch as a line of JSON for each thing that happens.

use crate::judge::LiveAnswer;
use crate::report::{SourceState, WatchProgress, WatchReport, WatchedDrive};
use crate::request::BlockRequest;
use crate::stall::Stall;
use crate::steps::WatchedSecond;
use schemars::JsonSchema;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something that happened. `begun` comes first, `report` last.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// The first second has passed.
    Begun {
        /// Version of these documents.
        version: u32,
        /// What is watched.
        drive: WatchedDrive,
        /// Where figures come from.
        sources: Vec<SourceState>,
    },
    /// A source was lost, or came back: the device was removed.
    Sources {
        /// When, s from the beginning.
        at_s: f64,
        /// All of them.
        sources: Vec<SourceState>,
    },
    /// A second has ended.
    Second {
        /// When, s from the beginning.
        at_s: f64,
        /// What was done in it.
        second: WatchedSecond,
        /// Events that the kernel could not keep, so far.
        lost_events: u64,
    },
    /// A request that somebody waited for took 100 ms or more.
    Stall {
        /// The request, and what held it up.
        stall: Stall,
    },
    /// The answer is another one than before: other causes, or none.
    Answer {
        /// When, s from the beginning.
        at_s: f64,
        /// It.
        answer: LiveAnswer,
    },
    /// The watch has ended.
    Report {
        /// What `--json` prints.
        report: Box<WatchReport>,
    },
}

/// What two answers are compared by: their numbers change each second, their causes seldom.
fn outline(answer: &LiveAnswer) -> Vec<&'static str> {
    match answer {
        LiveAnswer::TooLittle { .. } => vec!["too little"],
        LiveAnswer::AsExpected { .. } => Vec::new(),
        LiveAnswer::Causes { findings } => findings
            .iter()
            .map(|finding| finding.cause.name())
            .collect(),
    }
}

/// Writes events as they happen. When nobody reads them any more, it sets `stop`.
pub struct EventWriter<W> {
    out: W,
    stop: Arc<AtomicBool>,
    begun_ns: u64,
    stalls: Vec<Stall>,
    sources: Option<Vec<SourceState>>,
    outline: Option<Vec<&'static str>>,
}

impl<W: Write> EventWriter<W> {
    /// Writes to `out`.
    pub fn new(out: W, stop: Arc<AtomicBool>) -> EventWriter<W> {
        EventWriter {
            out,
            stop,
            begun_ns: 0,
            stalls: Vec::new(),
            sources: None,
            outline: None,
        }
    }

    fn event(&mut self, event: &WatchEvent) {
        let line = serde_json::to_string(event).unwrap_or_default();
        if writeln!(self.out, "{line}").is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn sources(&mut self, report: &WatchReport) {
        let sources = report.sources.clone();
        let event = match &self.sources {
            None => WatchEvent::Begun {
                version: 1,
                drive: report.drive.clone(),
                sources: sources.clone(),
            },
            Some(before) if *before != sources => WatchEvent::Sources {
                at_s: report.watched_s,
                sources: sources.clone(),
            },
            Some(_) => return,
        };
        self.event(&event);
        self.sources = Some(sources);
    }

    fn news(&mut self, report: &WatchReport) {
        self.sources(report);
        for stall in std::mem::take(&mut self.stalls) {
            self.event(&WatchEvent::Stall { stall });
        }
        let outline = outline(&report.answer);
        if self.outline.as_ref() != Some(&outline) {
            self.event(&WatchEvent::Answer {
                at_s: report.watched_s,
                answer: report.answer.clone(),
            });
            self.outline = Some(outline);
        }
    }

    /// Writes the last event.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self, report: &WatchReport) -> std::io::Result<()> {
        self.news(report);
        self.event(&WatchEvent::Report {
            report: Box::new(report.clone()),
        });
        self.out.flush()
    }
}

impl<W: Write> WatchProgress for EventWriter<W> {
    fn begins(&mut self, begun_ns: u64) {
        self.begun_ns = begun_ns;
    }

    fn request(&mut self, request: &BlockRequest) {
        self.stalls.extend(Stall::of(request, self.begun_ns));
    }

    fn second(&mut self, report: &WatchReport) {
        self.news(report);
        self.event(&WatchEvent::Second {
            at_s: report.watched_s,
            second: report.seconds.last().copied().unwrap_or_default(),
            lost_events: report.lost_events,
        });
        if self.out.flush().is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;
    use crate::report::{WatchHistory, WatchSurroundings};
    use serde_json::Value;

    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn watch<W: Write>(writer: &mut EventWriter<W>) -> WatchReport {
        let mut history = WatchHistory::new(7);
        let mut surroundings = WatchSurroundings::default();
        surroundings.sources.push(SourceState {
            name: "/sys/block counters".into(),
            missing: None,
        });
        writer.begins(7);
        for second in 0..4_u64 {
            for i in 0..20 {
                let begin = 7 + second * 1_000_000_000 + i * 45_000_000;
                let device_ns = if (second, i) == (2, 5) {
                    300_000_000
                } else {
                    12_000_000
                };
                let flush = request("FF", 0, 0, begin, 0, device_ns);
                writer.request(&flush);
                history.add(flush);
            }
            history.advance(7 + (second + 1) * 1_000_000_000);
            if second == 3 {
                surroundings.sources[0].missing = Some("the device is gone".into());
            }
            let figures = history.figures();
            writer.second(&WatchReport::new(&history, figures, &surroundings));
        }
        let figures = history.figures();
        WatchReport::new(&history, figures, &surroundings)
    }

    #[test]
    fn each_thing_is_a_line_in_the_order_in_which_it_happened() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut text = Vec::new();
        let mut writer = EventWriter::new(&mut text, Arc::clone(&stop));
        let report = watch(&mut writer);
        writer.finish(&report).expect("written");
        let text = String::from_utf8(text).expect("UTF-8");
        let events: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let kinds: Vec<&str> = events
            .iter()
            .filter_map(|event| event["event"].as_str())
            .collect();
        let others: Vec<&str> = kinds.iter().copied().filter(|k| *k != "answer").collect();
        assert_eq!(
            others,
            [
                "begun", "second", "second", "stall", "second", "sources", "second", "report"
            ]
        );
        // Twenty requests say too little, forty say more.
        assert_eq!(kinds[1..4], ["answer", "second", "answer"]);
        let of_kind = |kind| {
            let mut events = events.iter().rev();
            events
                .find(|event| event["event"] == kind)
                .expect("an event")
        };
        let stall = &of_kind("stall")["stall"];
        assert_eq!(stall["cause"], "volatile_buffer");
        assert_eq!(stall["at_s"], 2.225);
        let report = &of_kind("report")["report"];
        assert_eq!(
            report["answer"]["kind"],
            of_kind("answer")["answer"]["kind"]
        );
        assert!(!stop.load(Ordering::Relaxed));
    }

    #[test]
    fn a_reader_that_went_away_ends_the_watch() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut writer = EventWriter::new(Closed, Arc::clone(&stop));
        watch(&mut writer);
        assert!(stop.load(Ordering::Relaxed));
    }
}
