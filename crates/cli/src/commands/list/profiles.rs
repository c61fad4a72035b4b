//! `ssdlab list profiles`: the workloads that have a name.

use crate::failure::CliFailure;
use crate::output::{print, print_json};
use ssdlab_base::LabError;
use ssdlab_load::profiles::{PROFILES, ProfileSummary, WorkloadProfile};
use std::fmt::Write as _;

/// Lists the profiles, or prints the one called `name`.
///
/// # Errors
/// When there is no such profile, or standard output cannot be written.
pub fn profiles(name: Option<&str>, json: bool) -> Result<(), CliFailure> {
    if let Some(name) = name {
        return print(WorkloadProfile::named(name)?.text);
    }
    let summaries = PROFILES.iter().map(WorkloadProfile::summary);
    let summaries = summaries.collect::<Result<Vec<ProfileSummary>, LabError>>()?;
    if json {
        return print_json(&summaries);
    }
    let mut out = String::new();
    for profile in &summaries {
        let _ = writeln!(out, "{}{}", profile.name, length(profile));
        wrapped(&mut out, &profile.what);
        wrapped(&mut out, &format!("[{}]", profile.source));
        for note in &profile.notes {
            wrapped(&mut out, &format!("- {note}"));
        }
    }
    out += "\nRun one: ssdlab run --profile NAME --target TARGET\n\
            Read one, a fio job file: ssdlab list profiles NAME\n";
    print(&out)
}

/// Jobs and time, where they say something.
fn length(profile: &ProfileSummary) -> String {
    let minutes = profile.timed_s / 60.0;
    let time = match minutes {
        0.0 => return String::new(),
        m if m < 2.0 => format!("{:.0} s", profile.timed_s),
        m if m < 120.0 => format!("{m:.0} min"),
        m => format!("{:.1} h", m / 60.0),
    };
    match profile.jobs {
        1 => format!(" ({time})"),
        jobs => format!(" ({jobs} jobs, {time} where time bounds them)"),
    }
}

/// Words in lines of at most 80 columns, indented.
fn wrapped(out: &mut String, text: &str) {
    let mut line = String::from("   ");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 80 {
            let _ = writeln!(out, "{line}");
            line = String::from("     ");
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}
