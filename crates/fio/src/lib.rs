//! fio job files as they are written, without a meaning: which jobs a file has, which options each
//! gets, and where each of them stands.
//!
//! * Sections, comments, quotes, included files, `${VARIABLES}`, `$ncpus` and its like
//!   ([`Surroundings`]: nothing is read or asked unless the caller allows it).
//! * What jobs inherit: the options of every `[global]` above them ([`JobFile::jobs`]).
//! * Values in fio's spelling: sizes (`k` = 1024 and `KiB` = 1000 unless `kb_base=1000`), times,
//!   per cent, comma forms for read, write and trim, `bssplit` ([`JobOption`]).
//! * Option names with their other names, and the nearest to one that is wrong ([`names`]).
//! * All errors of a file at once, each with file, line, option and a hint ([`Error`]).
//!
//! What an option *does* is left to the program; `ssdlab-load` turns a file into commands. Spelling
//! follows fio 3.33, checked against the program. Where fio reads nonsense as something (`4.0k` is
//! 4 to it), this is an error. Kinder than fio: blanks around `=`, and quotes. Standard library
//! only.
//!
//! ```
//! use ssdlab_fio::{JobFile, Surroundings, names};
//!
//! let text = "[global]\nblocksize=4k\nruntime=1m\n[reader]\nrw=randread\nbs=64k\n";
//! let (file, errors) = JobFile::parse(text, "a.fio", &Surroundings::none());
//! assert!(errors.is_empty());
//! let job = &file.jobs()[0];
//! assert_eq!(job.section.name, "reader");
//!
//! // The last word on an option stands, whatever it was called.
//! let bs = job.last(|name| names::canonical(name) == Some("bs")).expect("a block size");
//! assert_eq!(bs.size(1024), Ok(65536));
//! assert_eq!(bs.place.to_string(), "a.fio:6");
//!
//! // Errors come together, and a file is read as far as it goes.
//! let wrong = "[a]\n[\nrw=${NAME}\nbs=4q\n";
//! let (file, errors) = JobFile::parse(wrong, "a.fio", &Surroundings::none());
//! assert_eq!(errors.len(), 2);
//! assert_eq!(
//!     errors[1].to_string(),
//!     "a.fio:3: `rw` cannot be `${NAME}`: the environment variable NAME is not set"
//! );
//! let bs = &file.jobs()[0].settings[0];
//! assert_eq!(bs.size(1024).unwrap_err().to_string().split(':').next(), Some("a.fio"));
//! assert_eq!(names::nearest("iodeph", names::NAMES.iter().map(|n| n.0)), Some("iodepth"));
//! ```
//!
//! Source: fio HOWTO, parse.c, options.c, and the program's own answers.

// Errors are made once per file: their size costs nothing.
#![allow(clippy::result_large_err)]

mod error;
mod lines;
pub mod names;
mod surroundings;
mod units;

pub use error::{Error, JobFileLocation};
pub use lines::{JobFileSection, JobOption};
pub use surroundings::Surroundings;
pub use units::{BlockSizeShare, SizeOrPercent, TimeUnit, number};

use lines::JobFileParser;

/// A job file as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFile {
    /// Its sections in order, those called `global` among them.
    pub sections: Vec<JobFileSection>,
}

/// A job with what it inherits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedJob<'a> {
    /// Its own section.
    pub section: &'a JobFileSection,
    /// The options of the `[global]` sections above it, and then its own: of an option given
    /// twice, the last stands.
    pub settings: Vec<&'a JobOption>,
}

impl JobFile {
    /// Reads `text` as far as it can be read; `source` is its name in places.
    pub fn parse(text: &str, source: &str, surroundings: &Surroundings) -> (JobFile, Vec<Error>) {
        let mut reader = JobFileParser {
            surroundings,
            sections: Vec::new(),
            errors: Vec::new(),
        };
        reader.lines(text, source, 0);
        let file = JobFile {
            sections: reader.sections,
        };
        (file, reader.errors)
    }

    /// The jobs in order.
    pub fn jobs(&self) -> Vec<ResolvedJob<'_>> {
        let mut globals: Vec<&JobOption> = Vec::new();
        let mut jobs = Vec::new();
        for section in &self.sections {
            if section.is_global() {
                globals.extend(&section.settings);
            } else {
                let settings = globals.iter().copied().chain(&section.settings).collect();
                jobs.push(ResolvedJob { section, settings });
            }
        }
        jobs
    }

    /// The options of every `[global]`, in order.
    pub fn globals(&self) -> impl Iterator<Item = &JobOption> {
        let globals = self.sections.iter().filter(|section| section.is_global());
        globals.flat_map(|section| &section.settings)
    }
}

impl ResolvedJob<'_> {
    /// The setting that stands: the last whose name `is_wanted`.
    pub fn last(&self, is_wanted: impl Fn(&str) -> bool) -> Option<&JobOption> {
        let settings = self.settings.iter().rev();
        settings.copied().find(|setting| is_wanted(&setting.name))
    }
}
