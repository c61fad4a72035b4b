//! Self-checks: every run says what it checked of itself and what was wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A self-check of a run and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct SelfCheck {
    /// Name of the rule that was checked.
    pub name: String,
    /// Description of the violation; `None` when the rule holds.
    pub failure: Option<String>,
}

impl SelfCheck {
    /// The outcome of checking the rule `name`.
    pub fn new(name: impl Into<String>, outcome: Result<(), String>) -> SelfCheck {
        SelfCheck {
            name: name.into(),
            failure: outcome.err(),
        }
    }
}

/// The failed checks, each as `name: failure`.
pub fn failures(checks: &[SelfCheck]) -> Vec<String> {
    let failed = |check: &SelfCheck| {
        let failure = check.failure.as_ref()?;
        Some(format!("{}: {failure}", check.name))
    };
    checks.iter().filter_map(failed).collect()
}

/// What the self-checks say, in lines for the terminal.
pub fn lines(checks: &[SelfCheck]) -> Vec<String> {
    let failed = failures(checks);
    if !failed.is_empty() {
        let line = |failure: &String| format!("self-check FAILED: {failure}");
        return failed.iter().map(line).collect();
    }
    let mut names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    names.dedup();
    vec![format!("self-checks passed: {}", names.len())]
}
