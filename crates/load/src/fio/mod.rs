//! fio job files.
//!
//! What a file says is carried out as fio would, or refused by name: an option that is ignored
//! makes a result that means something else. [`supported_options`] is the one table from which
//! the parser, the help and the reference are made.
//!
//! Spelling follows fio 3.33, checked against the program: sizes (`k` = 1024 and `KiB` = 1000
//! unless `kb_base=1000`), times (plain numbers are seconds, or microseconds for `thinktime`),
//! comma forms for read, write and trim, percentages. Where fio reads nonsense as something
//! (`4.0k` is 4 to it), this is an error. Kinder than fio: blanks around `=`, and quotes.
//!
//! Differences in meaning, each also in the option's own help:
//!
//! * The engine is io_uring whatever `ioengine` says; `psync` and `sync` mean a depth of 1.
//!   fio without `ioengine` would use psync and ignore `iodepth`; here `iodepth` holds.
//! * With several block sizes and the random map, fio cuts commands short where they meet a
//!   visited block; here they keep their length.
//!   Each kind is aligned to its own smallest block and has a pass of its own.
//! * `loops` takes another random order for each pass.
//! * Several files lie one after another on one target ([`files`]).
//! * Zipf is exact rather than approximate.
//! * `verify` reads back what fio would ([`crate::follow`]), by stamps of ssdlab's own.
//! * `flow`, `exitall`, `steadystate` and `latency_target` are the engine's.
//! * A run repeats whatever `randrepeat` says; change `randseed` for another.
//!
//! # For other programs
//!
//! This module stands alone: it turns a text into a [`WorkloadPlan`] and knows no device, no clock
//! and no engine. A plan's job becomes commands with [`crate::follow::FollowUpStream`]:
//!
//! ```
//! use ssdlab_load::{fio, follow::FollowUpStream};
//!
//! let text = "[global]\nbs=4k\nsize=64k\n[a]\nrw=write:4k\nverify=crc32c\n";
//! let plan = fio::parse(text, "a.fio").expect("a job file");
//! let job = &plan.phases[0].jobs[0];
//! let mut commands = FollowUpStream::new(job, 0, 1 << 30).expect("it fits 1 GiB");
//! let first = commands.next_command().expect("a command");
//! assert_eq!((first.offset, first.len), (0, 4096));
//! assert_eq!(commands.next_command().map(|c| c.offset), Some(8192));
//!
//! // All errors of a file at once, each with its line and what to do.
//! let error = fio::parse("[a]\niodeph=4\nrw=rad\n", "a.fio").unwrap_err();
//! assert!(error.to_string().contains("a.fio:2: fio option `iodeph` is not supported"));
//! assert!(error.to_string().contains("a.fio:3: `rw` cannot be `rad`"));
//! ```
//!
//! Source: fio HOWTO, parse.c, options.c.

mod addresses;
mod bindings;
mod command_line;
mod contradictions;
mod dedupe;
mod draft;
mod engines;
mod files;
mod notes;
mod options;
mod pattern;
mod refusals;
mod region;
mod replayed;
mod setters;
mod zbd;

pub use command_line::parse_command_line;
pub use notes::notes;
pub use options::{OptionHelp, supported_options};
pub use ssdlab_fio::Surroundings;

use crate::plan::{JobSpec, Language, PlanPhase, WorkloadPlan};
use draft::FioJobDraft;
use files::{FileAssignment, FilenameOptions};
use options::OptionEffect;
use ssdlab_base::LabError;
use ssdlab_fio::{Error, JobFile, JobFileSection, JobOption};
use std::path::Path;

/// The plan in the job file at `path`, in the surroundings of this process.
///
/// # Errors
/// When the file cannot be read or is not a job file this program can carry out.
pub fn read(path: &Path) -> Result<WorkloadPlan, LabError> {
    let text = std::fs::read_to_string(path).map_err(|e| LabError::file("reading", path, e))?;
    parse_in(&text, &path.display().to_string(), &Surroundings::here())
}

/// The plan in the job file `text`; `source` is its name in messages. It has no surroundings.
///
/// # Errors
/// When it is not a job file, or holds an option or a value that is not supported.
pub fn parse(text: &str, source: &str) -> Result<WorkloadPlan, LabError> {
    parse_in(text, source, &Surroundings::none())
}

/// As [`parse`], with variables, keywords and included files.
///
/// # Errors
/// As [`parse`]: all errors of the file at once.
pub fn parse_in(
    text: &str,
    source: &str,
    surroundings: &Surroundings,
) -> Result<WorkloadPlan, LabError> {
    parse_lines(text, source, surroundings)
        .map_err(|error| error.unless_recognised(source, text, "a fio job file"))
}

fn parse_lines(
    text: &str,
    source: &str,
    surroundings: &Surroundings,
) -> Result<WorkloadPlan, LabError> {
    let (file, errors) = JobFile::parse(text, source, surroundings);
    let none = Error::refused(
        format!("{source}: no job in it"),
        "add a section such as [job1] below [global]",
    );
    plan(&file, errors, none, surroundings)
}

/// The plan of `file`, unless there are `errors` in it or in its text; `none` is the error that it
/// has no job.
fn plan(
    file: &JobFile,
    mut errors: Vec<Error>,
    none: Error,
    surroundings: &Surroundings,
) -> Result<WorkloadPlan, LabError> {
    let mut jobs: Vec<ParsedJob> = Vec::new();
    let mut all_straight = true;
    let mut group = 0;
    for ssdlab_fio::ResolvedJob { section, settings } in file.jobs() {
        let draft = drafted(&settings, &mut errors);
        group += u32::from((draft.stonewall || draft.new_group) && !jobs.is_empty());
        let (stonewall, wait_for) = (draft.stonewall, draft.wait_for.clone());
        let (asked, index) = (draft.files.clone(), jobs.len() as u32);
        let (crooked, replayed) = (draft.crooked, draft.replayed.clone());
        let mut contradictions = Vec::new();
        let mut job = draft.finish(section, index, &mut contradictions);
        job.ties.group = group;
        if !crooked && contradictions.is_empty() {
            job =
                replayed::replayed(job, &replayed, surroundings).unwrap_or_else(|(job, error)| {
                    contradictions.push(error);
                    *job
                });
        }
        // Of values that are wrong in themselves, no combination can be judged.
        if !crooked {
            errors.append(&mut contradictions);
        }
        all_straight &= !crooked;
        jobs.push(ParsedJob {
            job,
            filenames: asked,
            section,
            stonewall,
            wait_for,
        });
    }
    if jobs.is_empty() {
        // A later [global] without a job is still checked, so that its errors are not lost.
        drafted(&file.globals().collect::<Vec<_>>(), &mut errors);
        if errors.is_empty() {
            errors.push(none);
        }
    }
    if all_straight {
        place(&mut jobs, &mut errors);
    }
    let phases = phases(jobs, &mut errors);
    match LabError::all(errors.into_iter().map(of_lab).collect()) {
        Some(error) => Err(error),
        None => Ok(WorkloadPlan {
            language: Language::Fio {
                globals: file.globals().map(JobOption::as_written).collect(),
            },
            phases,
        }),
    }
}

/// The parser's error as one of this program.
fn of_lab(error: Error) -> LabError {
    let placed = |place: ssdlab_fio::JobFileLocation| ssdlab_base::error::InputLocation {
        source: place.source,
        line: place.line,
    };
    match error {
        Error::UnknownOption {
            option,
            place,
            hint,
        } => LabError::UnknownOption {
            language: "fio",
            option,
            place: placed(place),
            hint,
        },
        Error::BadValue {
            option,
            given,
            allowed,
            place,
            hint,
        } => LabError::BadValue {
            option,
            given,
            allowed,
            place: placed(place),
            hint,
        },
        Error::Refused { what, hint } => LabError::Refused { what, hint },
    }
}

/// A job with what places it in space and time.
struct ParsedJob<'a> {
    job: JobSpec,
    filenames: FilenameOptions,
    section: &'a JobFileSection,
    stonewall: bool,
    wait_for: Option<JobOption>,
}

/// What a log's addresses are of.
const ONE_FILE: &str = "a log is replayed on all of one target: give the jobs the same filename=";

fn place(jobs: &mut [ParsedJob], errors: &mut Vec<Error>) {
    let placed = jobs.iter_mut().map(|parsed| FileAssignment {
        job: &mut parsed.job,
        asked: &parsed.filenames,
        section: parsed.section,
    });
    let mut placed: Vec<FileAssignment> = placed.collect();
    files::place(&mut placed, errors);
    errors.extend(jobs.iter().filter_map(|parsed| {
        let moved = parsed.job.offset > 0 || parsed.job.steps.several_files;
        (parsed.job.replay.is_some() && moved).then(|| {
            contradictions::refuse(parsed.section, "read_iolog beside other files", ONE_FILE)
        })
    }));
}

/// Jobs that run at the same time, by `stonewall` and `wait_for`.
fn phases(jobs: Vec<ParsedJob>, errors: &mut Vec<Error>) -> Vec<PlanPhase> {
    let mut phases: Vec<PlanPhase> = Vec::new();
    for parsed in jobs {
        let waits = match (&parsed.wait_for, phases.last()) {
            (Some(setting), Some(last)) if !parsed.stonewall => {
                let named = |job: &JobSpec| job.name == setting.text();
                let among = last.jobs.iter().any(named);
                if among && last.jobs.len() > 1 {
                    errors.push(setting.bad(
                        "other jobs run beside that one, and a phase ends when all have",
                        "use stonewall to wait for all jobs above",
                    ));
                }
                among
            }
            _ => false,
        };
        let earlier = |name: &str| phases.iter().flat_map(|p| &p.jobs).any(|j| j.name == name);
        if let Some(setting) = parsed.wait_for.as_ref().filter(|s| !earlier(s.text())) {
            errors.push(setting.bad("no job above has this name", ""));
        }
        match phases.last_mut() {
            Some(phase) if !parsed.stonewall && !waits => phase.jobs.push(parsed.job),
            _ => phases.push(PlanPhase {
                jobs: vec![parsed.job],
            }),
        }
    }
    phases
}

/// Applies settings in order: of an option given twice, only the last stands.
fn drafted(settings: &[&JobOption], errors: &mut Vec<Error>) -> FioJobDraft {
    let in_order = || settings.iter().copied();
    let mut draft = FioJobDraft::default();
    let mut option_errors: Vec<(bool, Error)> = Vec::new();
    // fio reads kb_base before the rest, wherever it stands.
    for pass in [true, false] {
        for setting in in_order().filter(|s| (s.name == "kb_base") == pass) {
            let effect = options::find(&setting.name).map(|option| option.effect);
            if let Err(error) = apply(&mut draft, setting) {
                draft.crooked |= matches!(effect, Some(OptionEffect::Set(_)));
                option_errors.push((effect.is_none(), error));
            }
        }
    }
    // An engine that is refused has options of its own, which say nothing more.
    let telling = option_errors
        .into_iter()
        .filter(|(unknown, _)| !(*unknown && draft.engine_refused));
    errors.extend(telling.map(|(_, error)| error));
    draft.written = in_order().map(JobOption::as_written).collect();
    let mut seen = std::collections::BTreeSet::new();
    draft.written.reverse();
    draft
        .written
        .retain(|(name, _)| seen.insert(options::canonical(name)));
    draft.written.reverse();
    draft
}

fn apply(draft: &mut FioJobDraft, setting: &JobOption) -> Result<(), Error> {
    let Some(option) = options::find(&setting.name) else {
        return Err(refusals::unknown(setting));
    };
    if setting.value.is_none() && !option.flag {
        return Err(setting.bad("it needs a value", format!("write {}=...", setting.name)));
    }
    match option.effect {
        OptionEffect::Set(set) => set(draft, setting),
        OptionEffect::OutputOnly | OptionEffect::NoDifference => Ok(()),
        OptionEffect::Only(values) if values.contains(&setting.text()) => Ok(()),
        OptionEffect::Only(values) => Err(match refusals::advice(option.name) {
            Some(advice) => setting.unsupported(advice),
            None => setting.bad(
                &format!("only {} is supported", values.join(" or ")),
                format!("leave {} out", setting.name),
            ),
        }),
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_addresses;
#[cfg(test)]
mod tests_bad;
#[cfg(test)]
mod tests_command_line;
#[cfg(test)]
mod tests_logs;
#[cfg(test)]
mod tests_wide;
