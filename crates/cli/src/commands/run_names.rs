//! What a run is called: its label and its title.

use crate::args::run::RunArgs;
use ssdlab_load::program::Program;
use std::path::Path;

/// The run's name in legends and in the name of its directory.
pub fn label(args: &RunArgs) -> String {
    let stem = |path: &Path, otherwise: &str| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy());
        stem.map_or(otherwise.to_owned(), std::borrow::Cow::into_owned)
    };
    match (&args.job, &args.profile, &args.trace.trace) {
        (Some(job), ..) => stem(job, "fio"),
        (_, Some(profile), _) => profile.clone(),
        (_, _, Some(trace)) => stem(trace, "trace"),
        _ => match command_program(args) {
            Some(Program::Fio) => "fio".into(),
            Some(Program::Diskspd) | None => "diskspd".into(),
        },
    }
}

/// The title of the report.
pub fn title(args: &RunArgs) -> String {
    let trace = args.trace.trace.as_ref();
    let trace = trace.map(|trace| format!("trace {}", trace.display()));
    match (&args.job, &args.profile) {
        (Some(job), _) => format!("fio job {}", job.display()),
        (_, Some(profile)) => match trace {
            Some(trace) => format!("profile {profile}, then {trace}"),
            None => format!("profile {profile}"),
        },
        _ => trace.unwrap_or_else(|| {
            let line = args.command_line.join(" ");
            match command_program(args) {
                Some(Program::Fio) => line,
                Some(Program::Diskspd) | None => format!("DISKSPD {line}"),
            }
        }),
    }
}

/// The program that the command line names.
fn command_program(args: &RunArgs) -> Option<Program> {
    let first = args.command_line.first()?;
    Program::named(first)
}
