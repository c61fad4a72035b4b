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
//! * Zipf is exact rather than approximate.
//! * A run repeats whatever `randrepeat` says; change `randseed` for another.
//!
//! Source: fio HOWTO, parse.c, options.c.

mod draft;
mod ini;
mod options;
mod refusals;
mod units;

pub use options::{OptionHelp, supported_options};

use crate::plan::{Language, Phase, Plan};
use draft::Draft;
use ini::{Section, Setting};
use options::Effect;
use ssdlab_base::LabError;
use std::path::Path;

/// The plan in the job file at `path`.
///
/// # Errors
/// When the file cannot be read or is not a job file this program can carry out.
pub fn read(path: &Path) -> Result<Plan, LabError> {
    let text = std::fs::read_to_string(path).map_err(|e| LabError::file("reading", path, e))?;
    parse(&text, &path.display().to_string())
}

/// The plan in the job file `text`; `source` is its name in messages.
///
/// # Errors
/// When it is not a job file, or holds an option or a value that is not supported.
pub fn parse(text: &str, source: &str) -> Result<Plan, LabError> {
    let mut globals: Vec<Setting> = Vec::new();
    let mut phases: Vec<Phase> = Vec::new();
    let mut job_count = 0;
    for section in ini::sections(text, source)? {
        if section.name == "global" {
            globals.extend(section.settings);
            continue;
        }
        let draft = drafted(&globals, &section)?;
        let stonewall = draft.stonewall;
        let job = draft.finish(&section, job_count)?;
        job_count += 1;
        match phases.last_mut() {
            Some(phase) if !stonewall => phase.jobs.push(job),
            _ => phases.push(Phase { jobs: vec![job] }),
        }
    }
    if phases.is_empty() {
        // A later [global] without a job is still checked, so that its errors are not lost.
        drafted(&globals, &Section::nameless(source))?;
        return Err(LabError::refused(
            format!("{source}: no job in it"),
            "add a section such as [job1] below [global]",
        ));
    }
    Ok(Plan {
        language: Language::Fio {
            globals: globals.iter().map(Setting::as_written).collect(),
        },
        phases,
    })
}

/// Applies the settings of `[global]` and then those of the section, last word first heard:
/// of an option given twice, only the last stands.
fn drafted(globals: &[Setting], section: &Section) -> Result<Draft, LabError> {
    let all = || globals.iter().chain(&section.settings);
    let mut draft = Draft::default();
    // fio reads kb_base before the rest, wherever it stands.
    for pass in [true, false] {
        for setting in all().filter(|s| (s.name == "kb_base") == pass) {
            apply(&mut draft, setting)?;
        }
    }
    draft.written = all().map(Setting::as_written).collect();
    let mut seen = std::collections::BTreeSet::new();
    draft.written.reverse();
    draft
        .written
        .retain(|(name, _)| seen.insert(options::canonical(name)));
    draft.written.reverse();
    Ok(draft)
}

fn apply(draft: &mut Draft, setting: &Setting) -> Result<(), LabError> {
    let Some(option) = options::find(&setting.name) else {
        return Err(refusals::unknown(setting));
    };
    if setting.value.is_none() && !option.flag {
        return Err(setting.bad("it needs a value", format!("write {}=...", setting.name)));
    }
    match option.effect {
        Effect::Set(set) => set(draft, setting),
        Effect::OutputOnly => Ok(()),
        Effect::Only(values) if values.contains(&setting.text()) => Ok(()),
        Effect::Only(values) => Err(match refusals::advice(option.name) {
            Some(advice) => setting.unsupported(advice),
            None => setting.bad(
                &format!("only {} is supported", values.join(" or ")),
                format!("leave {} out", setting.name),
            ),
        }),
    }
}

/// What the reader of a result should know about how this plan was read: where fio would have
/// done something else with the same file.
pub fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = Vec::new();
    let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    for job in jobs.filter(|job| job.replay.is_none()) {
        let option = |wanted: &str| {
            let found = job
                .options
                .iter()
                .rfind(|(name, _)| options::canonical(name) == wanted);
            found.map(|(_, value)| value.as_str())
        };
        match option("ioengine") {
            Some("io_uring") => {}
            Some(engine) => notes.push(format!(
                "job `{}`: ioengine={engine} is carried out with io_uring at depth {}",
                job.name, job.depth
            )),
            None if job.depth > 1 => notes.push(format!(
                "job `{}`: without ioengine= fio would use psync at depth 1; this is io_uring at \
                 depth {}",
                job.name, job.depth
            )),
            None => {}
        }
        if option("randrepeat") == Some("0") {
            notes.push(format!(
                "job `{}`: randrepeat=0 still repeats; change randseed for another run",
                job.name
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_bad;
