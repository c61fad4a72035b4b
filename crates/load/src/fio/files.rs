//! Files: which ones a job names, and where they lie on the one target of a run.
//!
//! One file or device stands for the target itself. Several are laid out one after another, in
//! the order in which the job file names them, as on a drive that holds them all; the same name
//! is the same place. Their sizes must be given for that.

use crate::plan::JobSpec;
use ssdlab_fio::Error;
use ssdlab_fio::JobFileSection;
use std::collections::BTreeMap;

/// What a job says of its files.
#[derive(Clone, Debug)]
pub(super) struct FilenameOptions {
    /// `filename`, one or several.
    pub names: Vec<String>,
    pub directory: Option<String>,
    /// `filename_format`.
    pub format: Option<String>,
    /// `nrfiles`.
    pub count: u32,
}

impl Default for FilenameOptions {
    fn default() -> FilenameOptions {
        FilenameOptions {
            names: Vec::new(),
            directory: None,
            format: None,
            count: 1,
        }
    }
}

/// fio's name of a file when the job gives none.
const FORMAT: &str = "$jobname.$jobnum.$filenum";

impl FilenameOptions {
    /// Whether the job names files at all, rather than using the target of the command line.
    fn any(&self) -> bool {
        !self.names.is_empty()
            || self.directory.is_some()
            || self.format.is_some()
            || self.count > 1
    }

    /// Files that each copy serves in turn.
    pub fn in_turn(&self) -> u32 {
        match self.names.len() {
            0 => self.count,
            names => names as u32,
        }
    }

    /// Whether fio makes the files: it reads a device as it is.
    pub fn are_created(&self) -> bool {
        let of_system = |name: &String| {
            let device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/");
            device || name.starts_with(r"\\.\") || name.starts_with("drive:")
        };
        self.directory.is_some() || !self.names.iter().any(of_system)
    }

    /// The name of file `number` of copy `copy` of the job called `job`.
    fn name(&self, job: &str, copy: u32, number: u32) -> String {
        let name = match self.names.get(number as usize) {
            Some(name) => name.clone(),
            None => {
                let format = self.format.as_deref().unwrap_or(FORMAT);
                let format = format.replace("$jobname", job);
                let format = format.replace("$jobnum", &copy.to_string());
                format.replace("$filenum", &number.to_string())
            }
        };
        match &self.directory {
            // fio joins an absolute name to the directory, too.
            Some(directory) => format!("{directory}/{name}"),
            None => name,
        }
    }
}

/// A job with the files that it asks for.
pub(super) struct FileAssignment<'a> {
    pub job: &'a mut JobSpec,
    pub asked: &'a FilenameOptions,
    pub section: &'a JobFileSection,
}

impl FileAssignment<'_> {
    fn name(&self, copy: u32, number: u32) -> String {
        self.asked.name(&self.job.name, copy, number)
    }

    /// Names of all files of all copies, in order.
    fn names(&self) -> impl Iterator<Item = String> {
        let (copies, files) = (self.job.copies, self.asked.in_turn());
        (0..copies).flat_map(move |copy| (0..files).map(move |n| self.name(copy, n)))
    }

    /// Bytes of each file, from its start to the end of the job's region.
    fn length(&self) -> Option<u64> {
        let sized = self.job.shares.region.is_none() && self.job.shares.offset.is_none();
        let region = self.job.region.filter(|_| sized)?;
        let further = self
            .job
            .steps
            .copy
            .saturating_mul(u64::from(self.job.copies - 1));
        let file = region / u64::from(self.asked.in_turn());
        Some(self.job.offset.saturating_add(further).saturating_add(file))
    }

    fn refuse(&self, problem: &str, hint: &str) -> Error {
        let section = self.section;
        Error::refused(
            format!("{}: job `{}`: {problem}", section.place, section.name),
            hint,
        )
    }
}

/// Gives every job its target and its place on it.
pub(super) fn place(jobs: &mut [FileAssignment], errors: &mut Vec<Error>) {
    let mut lengths: BTreeMap<String, Option<u64>> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    for placed in jobs.iter_mut().filter(|placed| placed.asked.any()) {
        let length = placed.length();
        for name in placed.names() {
            let known = lengths.entry(name.clone()).or_insert_with(|| {
                order.push(name);
                Some(0)
            });
            *known = known.zip(length).map(|(a, b)| a.max(b));
        }
        placed.job.target = Some(placed.name(0, 0));
        placed.job.steps.files = match placed.asked.in_turn() {
            1 => 0,
            files => files,
        };
    }
    let single_file = order.len() == 1;
    let mut starts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut end = 0u64;
    let unsized_files = order.iter().any(|name| lengths[name].is_none());
    for name in &order {
        starts.insert(name, end);
        end = end.saturating_add(lengths[name].unwrap_or(0).next_multiple_of(4096));
    }
    for placed in jobs
        .iter_mut()
        .filter(|placed| placed.asked.any() && !single_file)
    {
        let several = placed
            .names()
            .nth(1)
            .is_some_and(|second| second != placed.name(0, 0));
        placed.job.steps.several_files = several || placed.names().last() != placed.names().next();
        // Whole devices, or files of unknown size: each of them is the whole target, unless a
        // job uses several.
        if unsized_files && !placed.job.steps.several_files {
            continue;
        }
        let outcome = if unsized_files {
            Err(placed.refuse(
                "several files whose sizes are not known",
                "give size= or filesize= in bytes to every job, or one filename=",
            ))
        } else {
            lay(placed, &starts)
        };
        errors.extend(outcome.err());
    }
}

/// Moves a job to its files.
fn lay(placed: &mut FileAssignment, starts: &BTreeMap<&str, u64>) -> Result<(), Error> {
    let start_of = |copy, number| starts[placed.name(copy, number).as_str()];
    let (copies, files) = (placed.job.copies, placed.asked.in_turn());
    let first = start_of(0, 0);
    let step = if copies > 1 {
        start_of(1, 0).wrapping_sub(first)
    } else {
        0
    };
    let length = placed.length().unwrap_or(0);
    let regular = (0..copies).all(|copy| {
        (0..files).all(|n| {
            let expected = first
                .wrapping_add(step.wrapping_mul(copy.into()))
                .wrapping_add(length.wrapping_mul(n.into()));
            start_of(copy, n) == expected
        })
    });
    if !regular || step > i64::MAX as u64 {
        return Err(placed.refuse(
            "its files cannot be laid out at equal distances, because other jobs share some of \
             them or they are no multiple of 4096 bytes",
            "give the job files of its own, of such a size",
        ));
    }
    if files > 1 && (placed.job.offset > 0 || placed.job.steps.copy > 0) {
        return Err(placed.refuse("an offset in each of several files", "leave offset= out"));
    }
    placed.job.offset = placed.job.offset.saturating_add(first);
    placed.job.steps.copy = placed.job.steps.copy.saturating_add(step);
    Ok(())
}
