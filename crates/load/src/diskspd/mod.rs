//! DISKSPD command lines.
//!
//! Options come first, then targets, as in DISKSPD; each option is one word (`-b4K`, `/b4K`).
//! On systems where paths begin with a slash, a word such as `/dev/sda` that is not an option is a
//! target. What is not in [`supported_options`] is refused by name.
//!
//! * Sizes take K, M, G, T (powers of 1024) or `b` (blocks of `-b`).
//! * Without `-Su`, `-Sh` or `-S` the page cache is used, as in DISKSPD.
//! * Without `-Z` DISKSPD writes bytes 0, 1, ... 255 over and over: a drive or layer that
//!   compresses sees almost nothing. It is modelled as [`pattern_compress_pct`].
//! * `-si` makes the threads of a target share one sequential position. What a target sees of it
//!   is one stream with `-t` times `-o` commands outstanding, and so it is planned.
//! * `-g` limits the sum of a thread's reads and writes; here each has its share of the limit.
//! * Random addresses repeat freely; every run repeats for the same `-z`, and without a number too.
//! * With `-rs`, DISKSPD draws the kind of a mix once for each sequential run; here each command
//!   has its own, and follows the last of its kind.
//! * The commands of a thread of `-O` go to a target drawn evenly each time one has completed.
//! * A pause of `-j` begins when the burst has completed; in DISKSPD, when it was issued.
//! * `-X` reads an XML profile ([`xml`]); what its elements mean is what the options mean.
//!
//! Source: DISKSPD 2.x, CmdLineParser.cpp and IORequestGenerator.cpp (GetNextFileOffset).

mod draft;
mod switches;
mod tree;
mod words;
mod xml;

pub use draft::pattern_compress_pct;
pub use switches::{SwitchHelp, supported_options};

use crate::plan::{Language, PlanPhase, WorkloadPlan};
use crate::program::Program;
use draft::DiskspdDraft;
use ssdlab_base::LabError;
use words::CommandLineWord;

/// The plan of a command line; a leading `diskspd` is dropped.
///
/// # Errors
/// When an option or value is not supported, options contradict each other, or no target is
/// named. The place is the word's number in `args`.
pub fn parse(args: &[String]) -> Result<WorkloadPlan, LabError> {
    parse_for(args, TargetNames::Used)
}

/// Whether the targets that a line names are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetNames {
    /// They are paths of this machine.
    Used,
    /// Another target takes their place: any name will do, such as Windows' `#2` and `E:`.
    Replaced,
}

/// As [`parse`], for a run on the `targets` named or on another.
///
/// # Errors
/// As [`parse`].
pub fn parse_for(args: &[String], targets_named: TargetNames) -> Result<WorkloadPlan, LabError> {
    let skip = usize::from(args.first().is_some_and(|word| is_program(word)));
    let words = || {
        args.iter()
            .enumerate()
            .skip(skip)
            .map(|(at, text)| word(text, at + 1))
    };
    let mut draft = DiskspdDraft::default();
    // The block size first: other sizes may be counted in blocks.
    for word in words()
        .take_while(|w| option(w).is_some())
        .filter(|w| letter(w) == Some('b'))
    {
        switches::block(&mut draft, &word)?;
    }
    let mut options = Vec::new();
    let mut targets = Vec::new();
    for word in words() {
        let Some(option) = option(&word) else {
            targets.push(target(&word, targets_named)?);
            continue;
        };
        if !targets.is_empty() {
            return Err(word.bad("it stands after a target", "options come before targets"));
        }
        (option.set)(&mut draft, &word)?;
        options.push((format!("-{}", option.letter), word.rest.to_owned()));
    }
    draft.check()?;
    if let Some(path) = draft.profile.clone() {
        let phases = xml::read(&path, &draft, &targets, &mut options)?;
        return Ok(WorkloadPlan {
            language: Language::Diskspd {
                args: args[skip..].to_vec(),
                output: draft.output,
            },
            phases,
        });
    }
    if targets.is_empty() {
        return Err(LabError::refused(
            "DISKSPD command line: no target is named",
            "end the line with a file or a device such as /dev/nvme0n1",
        ));
    }
    draft.share_depth(targets.len());
    let job = |(index, target)| draft.job(target, index, &options);
    let jobs = targets.into_iter().enumerate().map(job).collect();
    Ok(WorkloadPlan {
        language: Language::Diskspd {
            args: args[skip..].to_vec(),
            output: draft.output,
        },
        phases: vec![PlanPhase { jobs }],
    })
}

fn is_program(word: &str) -> bool {
    Program::named(word) == Some(Program::Diskspd)
}

/// Whether a line may begin with this word when DISKSPD's name is left out.
pub(crate) fn is_option(text: &str) -> bool {
    option(&word(text, 1)).is_some()
}

fn word(text: &str, number: usize) -> CommandLineWord<'_> {
    let mut letters = text.chars();
    letters.next();
    letters.next();
    CommandLineWord {
        text,
        rest: letters.as_str(),
        number,
    }
}

fn letter(word: &CommandLineWord) -> Option<char> {
    word.text.chars().nth(1)
}

/// The option a word is, or `None` for a target. An unknown letter after a dash is an option,
/// one that refuses itself; after a slash a word is an option only if it is a correct one.
fn option(word: &CommandLineWord) -> Option<&'static SwitchHelp> {
    static UNKNOWN: SwitchHelp =
        switches::switch('?', "", "", "", |_, word| Err(word.unsupported()));
    let switch = supported_options()
        .iter()
        .find(|s| Some(s.letter) == letter(word));
    match word.text.chars().next() {
        // Help, on Windows.
        Some('/') if word.text == "/?" => Some(&UNKNOWN),
        Some('-') => Some(switch.unwrap_or(&UNKNOWN)),
        Some('/') => switch.filter(|s| (s.set)(&mut DiskspdDraft::default(), word).is_ok()),
        _ => None,
    }
}

fn target(word: &CommandLineWord, targets_named: TargetNames) -> Result<String, LabError> {
    let drive_letter = word.text.len() == 2 && word.text.ends_with(':');
    let of_windows = word.text.starts_with('#') || drive_letter;
    if word.text.is_empty() || (of_windows && targets_named == TargetNames::Used) {
        return Err(LabError::BadValue {
            option: "target".to_owned(),
            given: word.text.to_owned(),
            allowed: "a target is the path of a file or a block device".to_owned(),
            place: word.place(),
            hint:
                "drives have names such as /dev/nvme0n1 or /dev/sda here; --target puts another in \
                   its place"
                    .to_owned(),
        });
    }
    Ok(word.text.to_owned())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_lines;
