#![doc = include_str!("../README.md")]
// Errors are made once per file: their size costs nothing.
#![allow(clippy::result_large_err)]

mod command_line;
mod error;
mod lines;
pub mod names;
mod surroundings;
mod units;

pub use command_line::CommandLine;
pub use error::{Error, JobFileLocation};
pub use lines::{JobFileSection, JobOption};
pub use surroundings::Surroundings;
pub use units::{BlockSizeShare, SizeOrPercent, TimeUnit, nearest_blocks, number};

use lines::JobFileParser;

/// A job file as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobFile {
    /// Its sections in order, those called `global` among them.
    pub sections: Vec<JobFileSection>,
    /// Sections, by index, before which another file of the same command line begins: what was
    /// global above is not for the jobs below.
    pub new_files: Vec<usize>,
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
            new_files: Vec::new(),
        };
        (file, reader.errors)
    }

    /// The jobs in order.
    pub fn jobs(&self) -> Vec<ResolvedJob<'_>> {
        let mut globals: Vec<&JobOption> = Vec::new();
        let mut jobs = Vec::new();
        for (index, section) in self.sections.iter().enumerate() {
            if self.new_files.contains(&index) {
                globals.clear();
            }
            if section.is_global() {
                globals.extend(&section.settings);
            } else {
                let settings = globals.iter().copied().chain(&section.settings).collect();
                jobs.push(ResolvedJob { section, settings });
            }
        }
        jobs
    }

    /// Leaves out the jobs that are not called one of `names`, unless that is empty.
    fn keep_jobs(&mut self, names: &[String]) {
        let keeps = |section: &JobFileSection| {
            names.is_empty() || section.is_global() || names.contains(&section.name)
        };
        for start in &mut self.new_files {
            let before = self.sections.iter().take(*start);
            *start = before.filter(|section| keeps(section)).count();
        }
        self.sections.retain(keeps);
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
