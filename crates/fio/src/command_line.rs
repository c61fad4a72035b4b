//! fio's command line: the same options as in a job file, with dashes before them, and those of the
//! program itself.
//!
//! As in fio, `--name` begins a job, options before the first are for all jobs, and a word without
//! dashes is a job file. The options for all jobs are also for those of the first job file.

use crate::error::{Error, JobFileLocation};
use crate::lines::{JobFileParser, JobFileSection, JobOption};
use crate::surroundings::Surroundings;
use crate::{JobFile, names};

/// A command line as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Its jobs, and those of the job files it names.
    pub file: JobFile,
    /// `--readonly`, with its place: no job may write.
    pub read_only: Option<JobFileLocation>,
    /// Options of fio's program, in order, each with what becomes of it.
    pub notes: Vec<String>,
}

/// Whether an option of fio's program has a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramValue {
    Never,
    AfterEquals,
    Always,
}

/// What becomes of an option of fio's program.
#[derive(Clone, Copy)]
enum ProgramEffect {
    /// It changes nothing of the jobs: why.
    Harmless(&'static str),
    /// It asks for something else than a run: what to do instead.
    Refused(&'static str),
    /// `--section`.
    Section,
    /// `--readonly`.
    ReadOnly,
}

use ProgramEffect::{Harmless, Refused};
use ProgramValue::{AfterEquals, Always, Never};

const OUTPUT: &str = "the run directory has fio.json; --format fio-json before the -- prints it";
const SCREEN: &str = "progress is shown in any case; --quiet before the -- leaves it out";
const HOST: &str = "it is about fio's own process";
const SERVER: &str = "fio's server and clients do not exist here: leave it out";
const TRIGGER: &str = "no programs are run: leave it out; `ssdlab crashtest` cuts the power";
const ITSELF: &str = "it tests or describes fio itself: call fio for it";

/// fio's l_opts.
static PROGRAM: &[(&str, ProgramValue, ProgramEffect)] = &[
    ("output", Always, Harmless(OUTPUT)),
    ("output-format", Always, Harmless(OUTPUT)),
    ("append-terse", AfterEquals, Harmless(OUTPUT)),
    ("terse-version", Always, Harmless(OUTPUT)),
    ("minimal", Never, Harmless(OUTPUT)),
    (
        "latency-log",
        Always,
        Harmless("every run records its latencies"),
    ),
    (
        "bandwidth-log",
        AfterEquals,
        Harmless("every run records a line a second"),
    ),
    ("eta", Always, Harmless(SCREEN)),
    ("eta-interval", Always, Harmless(SCREEN)),
    ("eta-newline", Always, Harmless(SCREEN)),
    ("status-interval", Always, Harmless(SCREEN)),
    ("debug", Always, Harmless(HOST)),
    ("alloc-size", Always, Harmless(HOST)),
    ("max-jobs", Always, Harmless(HOST)),
    ("idle-prof", Always, Harmless(HOST)),
    ("aux-path", Always, Harmless(HOST)),
    (
        "warnings-fatal",
        Never,
        Harmless("what is not understood is an error in any case"),
    ),
    ("readonly", Never, ProgramEffect::ReadOnly),
    ("section", Always, ProgramEffect::Section),
    (
        "help",
        Never,
        Refused("`ssdlab list options fio` lists the supported options"),
    ),
    (
        "h",
        Never,
        Refused("`ssdlab list options fio` lists the supported options"),
    ),
    (
        "cmdhelp",
        AfterEquals,
        Refused("`ssdlab list options fio` lists the supported options"),
    ),
    (
        "enghelp",
        AfterEquals,
        Refused("`ssdlab list options fio` lists the supported options"),
    ),
    (
        "version",
        Never,
        Refused("`ssdlab --version` prints this program's version"),
    ),
    (
        "v",
        Never,
        Refused("`ssdlab --version` prints this program's version"),
    ),
    ("showcmd", Never, Refused("it runs nothing: leave it out")),
    (
        "parse-only",
        Never,
        Refused("it runs nothing: leave it out"),
    ),
    (
        "merge-blktrace-only",
        Never,
        Refused("it runs nothing: see `ssdlab trace convert`"),
    ),
    (
        "inflate-log",
        Always,
        Refused("it runs nothing: logs are not compressed here"),
    ),
    (
        "profile",
        Always,
        Refused("ssdlab has its own: ssdlab run --profile NAME"),
    ),
    ("server", AfterEquals, Refused(SERVER)),
    ("server-internal", Always, Refused(SERVER)),
    ("daemonize", Always, Refused(SERVER)),
    ("client", Always, Refused(SERVER)),
    ("remote-config", Always, Refused(SERVER)),
    ("trigger-file", Always, Refused(TRIGGER)),
    ("trigger-timeout", Always, Refused(TRIGGER)),
    ("trigger", Always, Refused(TRIGGER)),
    ("trigger-remote", Always, Refused(TRIGGER)),
    ("cpuclock-test", Never, Refused(ITSELF)),
    ("crctest", AfterEquals, Refused(ITSELF)),
    ("memcpytest", AfterEquals, Refused(ITSELF)),
];

impl CommandLine {
    /// Reads `words`, the first of which is the program's name, as far as they can be read. The
    /// places of errors are the words' numbers.
    pub fn parse(words: &[String], surroundings: &Surroundings) -> (CommandLine, Vec<Error>) {
        let mut reader = CommandLineParser {
            words,
            next: 1,
            sections: Vec::new(),
            job_files: Vec::new(),
            chosen: Vec::new(),
            line: CommandLine::default(),
            errors: Vec::new(),
        };
        while reader.next < words.len() {
            reader.word();
        }
        let CommandLineParser {
            sections,
            job_files,
            chosen,
            mut line,
            errors,
            ..
        } = reader;
        let mut files = JobFileParser {
            surroundings,
            sections,
            errors,
        };
        for (index, (name, place)) in job_files.iter().enumerate() {
            if index > 0 {
                line.file.new_files.push(files.sections.len());
            }
            match (surroundings.file)(name, "") {
                Ok((source, text)) => files.lines(&text, &source, 0),
                Err(why) => files.errors.push(Error::BadValue {
                    option: "job file".to_owned(),
                    given: name.clone(),
                    allowed: why,
                    place: place.clone(),
                    hint: "a word without dashes is a job file; write options as --name=value"
                        .to_owned(),
                }),
            }
        }
        if job_files.is_empty() {
            let unbounded = without_size_or_file(&files.sections);
            files.errors.extend(unbounded);
        }
        line.file.sections = files.sections;
        line.file.keep_jobs(&chosen);
        (line, files.errors)
    }
}

/// Options that say what a job is about, or how long it lasts.
const BOUNDS: [&str; 11] = [
    "filename",
    "filename_format",
    "directory",
    "size",
    "io_size",
    "filesize",
    "fill_device",
    "runtime",
    "timeout",
    "read_iolog",
    "include",
];

/// A job without file and size, where another names a file: fio refuses it. `fio --showcmd` makes
/// one of a `name` in a global section, as each `--name` begins a job.
fn without_size_or_file(sections: &[JobFileSection]) -> Option<Error> {
    let has = |section: &JobFileSection, options: &[&str]| {
        let names = section.settings.iter();
        names
            .filter_map(|setting| names::canonical(&setting.name))
            .any(|name| options.contains(&name))
    };
    let mut globals = sections.iter().filter(|section| section.is_global());
    if globals.any(|global| has(global, &BOUNDS)) {
        return None;
    }
    let jobs = || sections.iter().filter(|section| !section.is_global());
    let unbounded = jobs().find(|job| !has(job, &BOUNDS))?;
    jobs().find(|job| has(job, &["filename"]))?;
    Some(Error::refused(
        format!(
            "job `{}` ({}) has neither a file nor a size, and another job names a file: fio \
             refuses it",
            unbounded.name, unbounded.place
        ),
        "each --name begins a job: leave out one that `fio --showcmd` has made of a name in a \
         global section, or give the job its --filename or --size",
    ))
}

struct CommandLineParser<'a> {
    words: &'a [String],
    /// Index of the next word.
    next: usize,
    sections: Vec<JobFileSection>,
    job_files: Vec<(String, JobFileLocation)>,
    /// Of `--section`.
    chosen: Vec<String>,
    line: CommandLine,
    errors: Vec<Error>,
}

impl CommandLineParser<'_> {
    fn word(&mut self) {
        let word = &self.words[self.next];
        let place = JobFileLocation {
            source: format!("fio command line, word {}", self.next + 1),
            line: None,
        };
        self.next += 1;
        let option = word.strip_prefix("--").or_else(|| word.strip_prefix('-'));
        let Some(option) = option.filter(|option| !option.is_empty()) else {
            if word != "--" {
                self.job_files.push((word.clone(), place));
            }
            return;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (option, None),
        };
        let mut setting = JobOption {
            name: name.to_owned(),
            value,
            place,
        };
        match PROGRAM.iter().find(|(known, ..)| *known == name) {
            Some((_, takes, effect)) => {
                if *takes == Always {
                    self.take_value(&mut setting);
                }
                self.program_option(&setting, *takes, *effect);
            }
            None => {
                if !names::is_flag(name) {
                    self.take_value(&mut setting);
                }
                self.job_option(setting);
            }
        }
    }

    /// The word after an option that needs a value, unless it has one or none follows.
    fn take_value(&mut self, setting: &mut JobOption) {
        let following = self.words.get(self.next);
        let Some(following) = following.filter(|word| !word.starts_with("--")) else {
            return;
        };
        if setting.value.is_none() {
            setting.value = Some(following.clone());
            self.next += 1;
        }
    }

    fn program_option(&mut self, s: &JobOption, takes: ProgramValue, effect: ProgramEffect) {
        if takes == Always && s.value.is_none() {
            let hint = format!("write --{}=...", s.name);
            self.errors.push(s.bad("it needs a value", hint));
            return;
        }
        let written = match &s.value {
            Some(value) => format!("--{}={value}", s.name),
            None => format!("--{}", s.name),
        };
        match effect {
            Harmless(why) => self
                .line
                .notes
                .push(format!("{written} has no effect: {why}")),
            Refused(hint) => self.errors.push(s.unsupported(hint)),
            ProgramEffect::Section => self.chosen.push(s.text().to_owned()),
            ProgramEffect::ReadOnly => self.line.read_only = Some(s.place.clone()),
        }
    }

    fn job_option(&mut self, setting: JobOption) {
        let begins = setting.name == "name";
        if begins && setting.value.as_deref().is_none_or(str::is_empty) {
            let hint = "write --name=JOB: it begins a job";
            self.errors.push(setting.bad("it needs a value", hint));
            return;
        }
        if begins || self.sections.is_empty() {
            let name = if begins { setting.text() } else { "global" };
            self.sections.push(JobFileSection {
                name: name.to_owned(),
                place: setting.place.clone(),
                settings: Vec::new(),
            });
        }
        // fio's `--name=global` begins options for the jobs that follow.
        let global = begins && setting.text() == "global";
        if let Some(section) = self.sections.last_mut().filter(|_| !global) {
            section.settings.push(setting);
        }
    }
}
