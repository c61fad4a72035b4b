//! The suite on a terminal: steady state of each tracked variable.

use super::result::{SniaTestResult, Suite};
use std::fmt::Write;

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
}
