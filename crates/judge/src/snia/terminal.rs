//! The suite on a terminal: steady state of each tracked variable.

use super::result::{SniaTestResult, Suite, TrackingVariable};
use ssdlab_view::units::plural;
use std::fmt::Write;

/// Commands in a point below which its rate and its steadiness say little.
const COMMANDS_MIN: u64 = 100;

/// What the tests gave, for a terminal.
pub fn text(suite: &Suite) -> String {
    let mut text = format!(
        "SNIA PTS 2.0.2, {} class, on {}\n",
        suite.class.name(),
        suite.facts.name
    );
    for tested in &suite.tests {
        test(tested, &mut text);
    }
    if let Some(reduced) = &suite.reduced {
        let _ = writeln!(text, "\n{reduced}");
    }
    text
}

fn test(tested: &SniaTestResult, text: &mut String) {
    let rounds = tested.rows.len();
    let _ = writeln!(text, "\n{}: {rounds} points", tested.test.title());
    for variable in &tested.tracked {
        let state = match &variable.steady {
            None => "fewer than five rounds".to_owned(),
            Some(steady) => format!(
                "{} in rounds {} to {}: range {:.1} %, excursion {:.1} %",
                if steady.attained {
                    "steady"
                } else {
                    "not steady"
                },
                steady.window_start + 1,
                steady.window_start + steady.window.len(),
                steady.range_share * 100.0,
                steady.excursion_share * 100.0
            ),
        };
        let _ = writeln!(text, "  {}: {state}", variable.name);
    }
    let fewest = tested
        .tracked
        .iter()
        .filter_map(|variable| fewest_commands(tested, variable));
    if let Some(commands) = fewest.min().filter(|&commands| commands < COMMANDS_MIN) {
        let commands = plural(commands, "command");
        let _ = writeln!(
            text,
            "  a point of these has only {commands}, too few for a statement: give a larger --to"
        );
    }
}

/// The fewest commands in a point of the rounds that decide whether `variable` is steady.
fn fewest_commands(tested: &SniaTestResult, variable: &TrackingVariable) -> Option<u64> {
    let steady = variable.steady.as_ref()?;
    let rounds = steady.window_start + 1..=steady.window_start + steady.window.len();
    let points = tested.rows.iter().filter(|row| {
        row.part == variable.part
            && row.read_pct == variable.read_pct
            && row.block_bytes == variable.block_bytes
            && row.threads * row.depth == variable.outstanding
            && rounds.contains(&row.round)
    });
    points.map(|row| row.read_count + row.write_count).min()
}
