//! Results of a campaign of scripts.

use crate::crashtest::{Minimal, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One cut, as a line of `results.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// How to run it again.
    pub token: String,
    /// Where it was, in words.
    pub place: String,
    /// `passed`, `application` or `drive`.
    pub verdict: String,
    /// Why it did not pass.
    pub why: String,
    /// Marks made before it.
    pub marks: usize,
    /// Pieces of commands that it lost.
    pub lost: usize,
}

fn minimal_json(minimal: &Minimal) -> Value {
    let lost = minimal.lost.iter().map(|lost| {
        json!({
            "command": lost.command,
            "offset": lost.offset,
            "bytes": lost.len,
            "after_flush": lost.after_flush,
            "before_flush": lost.before_flush,
        })
    });
    json!({
        "token": minimal.token.to_string(),
        "message": minimal.message,
        "checks": minimal.checks,
        "is_smallest": minimal.is_smallest,
        "lost": lost.collect::<Vec<_>>(),
    })
}

/// All of a campaign.
#[derive(Clone, Debug)]
pub struct ScriptReport {
    /// In order of time.
    pub lines: Vec<Line>,
    /// How many cuts there are to be.
    pub chosen: usize,
    /// It was stopped before all of them had a verdict, or the failures were looked into.
    pub stopped: bool,
    /// Of the first cut at which the application failed.
    pub minimal: Option<Minimal>,
    /// What was recorded.
    pub stream: String,
}

impl ScriptReport {
    /// How many cuts have a verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        let lines = self.lines.iter();
        lines.filter(|line| line.verdict == verdict.name()).count()
    }

    /// Whether every cut passed.
    pub fn has_passed(&self) -> bool {
        self.count(Verdict::Passed) == self.chosen
    }

    /// All of it for other programs.
    pub fn to_json(&self) -> Value {
        json!({
            "stream": self.stream,
            "cuts_chosen": self.chosen,
            "cuts": self.lines.len(),
            "stopped": self.stopped,
            "passed": self.count(Verdict::Passed),
            "application": self.count(Verdict::Application),
            "drive": self.count(Verdict::Drive),
            "results": self.lines,
            "minimal": self.minimal.as_ref().map(minimal_json),
        })
    }

    /// The table, the first failures and the smallest set of lost writes.
    pub fn render(&self) -> String {
        let mut text = format!("{}\n\n", self.stream);
        let rows = [
            ("passed", Verdict::Passed),
            (
                "the application failed, the drive kept its word",
                Verdict::Application,
            ),
            ("the drive broke its word", Verdict::Drive),
        ];
        for (name, verdict) in rows {
            text.push_str(&format!("{:>8}  {name}\n", self.count(verdict)));
        }
        text.push_str(&format!("{:>8}  cuts\n", self.lines.len()));
        if self.lines.len() < self.chosen {
            let left = self.chosen - self.lines.len();
            text.push_str(&format!("{left:>8}  left: stopped\n"));
        }
        let failed = self.lines.iter().filter(|line| line.verdict != "passed");
        for line in failed.take(5) {
            let place = &line.place;
            text.push_str(&format!(
                "\n{place} ({}, {} marks)\n",
                line.verdict, line.marks
            ));
            text.push_str(&format!("  {}\n  replay: {}\n", line.why, line.token));
        }
        if let Some(minimal) = &self.minimal {
            let (head, _) = minimal.token.to_string().split_once('~').map_or_else(
                || (minimal.token.to_string(), String::new()),
                |(head, rest)| (head.to_string(), rest.to_string()),
            );
            text.push_str(&format!("\nof the cut {head}:\n{minimal}"));
        }
        text
    }
}
