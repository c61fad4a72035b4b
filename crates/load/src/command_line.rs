//! Command lines of other programs: the first word says whose it is.
//!
//! * `fio`, or a path that ends in it: fio's.
//! * `diskspd`, `diskspd.exe`, or a path that ends in one of them: DISKSPD's. So is a line without
//!   a program's name that begins with an option of DISKSPD's.
//! * Anything else is refused: it would be taken for the names of targets, and measured.
//!
//! Web pages and word processors turn hyphens into dashes. A word that begins with one is named;
//! it is read as if it began with a hyphen if the whole line can be read so.

use crate::diskspd::{self, TargetNames};
use crate::fio::{self, Surroundings};
use crate::plan::WorkloadPlan;
use crate::program::Program;
use ssdlab_base::LabError;

/// The program of a line.
fn program_of(words: &[String]) -> Result<Program, LabError> {
    let first = words.first().map_or("", String::as_str);
    if let Some(program) = Program::named(first) {
        return Ok(program);
    }
    if first.starts_with("--") {
        return Err(LabError::refused(
            format!("command line: `{first}` is not an option of DISKSPD"),
            "for fio's command line, begin it with its name: ssdlab run -- fio ...",
        ));
    }
    if diskspd::is_option(first) {
        return Ok(Program::Diskspd);
    }
    let problem = format!(
        "command line: `{first}` is not understood: a line begins with fio or diskspd, and \
         goes on as their users write it"
    );
    Err(LabError::refused(problem, hint(words)))
}

/// What to do instead of a line that begins with something else.
fn hint(words: &[String]) -> String {
    let first = words.first().map_or("", String::as_str);
    let is_job_file = [".fio", ".job", ".ini"]
        .iter()
        .any(|end| first.ends_with(end));
    let later = words
        .iter()
        .skip(1)
        .position(|word| Program::named(word).is_some());
    match later {
        _ if is_job_file => format!("give the job file as `ssdlab run {first}`"),
        Some(before) => format!(
            "leave out what stands before it: ssdlab run -- {} ...",
            words[before + 1]
        ),
        None => "write the load as a fio job file: ssdlab run JOB.fio; \
                 `ssdlab list profiles` has ready ones"
            .to_owned(),
    }
}

/// A command line that was read.
#[derive(Clone, Debug)]
pub struct ForeignCommandLine {
    /// Whose it is.
    pub program: Program,
    /// What it asks for.
    pub plan: WorkloadPlan,
    /// What the user should know of how it was read.
    pub notes: Vec<String>,
}

/// Reads `words`; `targets` says whether the targets that it names are used.
///
/// # Errors
/// When it is of another program, or holds what is not supported.
pub fn read(
    words: &[String],
    targets: TargetNames,
    surroundings: &Surroundings,
) -> Result<ForeignCommandLine, LabError> {
    let dashes: Vec<LeadingDash> = words
        .iter()
        .enumerate()
        .filter_map(|(index, word)| LeadingDash::of(index, word))
        .collect();
    if dashes.is_empty() {
        return read_hyphened(words, targets, surroundings);
    }
    let mut hyphened = words.to_vec();
    for dash in &dashes {
        hyphened[dash.index].clone_from(&dash.hyphened);
    }
    let named: Vec<String> = dashes.iter().map(LeadingDash::to_string).collect();
    let named = named.join(", ");
    match read_hyphened(&hyphened, targets, surroundings) {
        Ok(mut line) => {
            line.notes.insert(0, format!("read as hyphens: {named}"));
            Ok(line)
        }
        Err(error) => Err(LabError::refused(
            format!(
                "command line: {named}: not hyphens, and the line cannot be read with hyphens \
                 in their place either: {error}"
            ),
            match error.hint() {
                "" => "type the dashes as hyphens (-)".to_owned(),
                hint => format!("type the dashes as hyphens (-); {hint}"),
            },
        )),
    }
}

fn read_hyphened(
    words: &[String],
    targets: TargetNames,
    surroundings: &Surroundings,
) -> Result<ForeignCommandLine, LabError> {
    let program = program_of(words)?;
    let (plan, notes) = match program {
        Program::Fio => fio::parse_command_line(words, surroundings)?,
        Program::Diskspd => (diskspd::parse_for(words, targets)?, Vec::new()),
    };
    Ok(ForeignCommandLine {
        program,
        plan,
        notes,
    })
}

/// A word that begins with a dash that is not a hyphen.
struct LeadingDash<'a> {
    /// Index of the word.
    index: usize,
    word: &'a str,
    dash: char,
    /// The word with hyphens.
    hyphened: String,
}

impl<'a> LeadingDash<'a> {
    fn of(index: usize, word: &'a str) -> Option<LeadingDash<'a>> {
        let head = word
            .chars()
            .take_while(|c| *c == '-' || name_of_dash(*c).is_some());
        let dash = head.clone().find(|c| *c != '-')?;
        let (count, bytes) = (head.clone().count(), head.map(char::len_utf8).sum());
        Some(LeadingDash {
            index,
            word,
            dash,
            hyphened: "-".repeat(count) + &word[bytes..],
        })
    }
}

impl std::fmt::Display for LeadingDash<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = name_of_dash(self.dash).unwrap_or_default();
        let (number, code) = (self.index + 1, u32::from(self.dash));
        write!(
            f,
            "word {number} `{}` begins with {name} (U+{code:04X})",
            self.word
        )
    }
}

/// Unicode's name of a dash that is not the hyphen of the keyboard.
fn name_of_dash(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{2010}' => "a hyphen of typesetting",
        '\u{2011}' => "a non-breaking hyphen",
        '\u{2012}' => "a figure dash",
        '\u{2013}' => "an en dash",
        '\u{2014}' => "an em dash",
        '\u{2015}' => "a horizontal bar",
        '\u{2212}' => "a minus sign",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
