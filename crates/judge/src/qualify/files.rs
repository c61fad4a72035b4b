//! The run directory of a qualification: written while it goes on, read again by `report`.

use super::evidence::Qualification;
use super::plan::QualifyPlan;
use super::procedures::{QualifyProgress, QualifyStep};
use crate::page::qualification_page;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::latencies::Latencies;
use ssdlab_bench::device::TargetFacts;
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::Second;
use ssdlab_bench::run_dir::{
    Existing, FORMAT_VERSION, RunHeader, RunWriter, write_columns, write_json, write_text,
};
use std::path::{Path, PathBuf};

/// The result within the run directory.
const RESULT_FILE: &str = "qualification.json";
/// The page within the run directory.
const PAGE_FILE: &str = "report.html";

/// Writes the run directory of a qualification as it goes, and passes progress on. The phase of a
/// second in `series.csv` is the number of its step; seconds of references are not written.
pub struct QualifyRecorder<'a> {
    path: PathBuf,
    existing: Existing,
    header: RunHeader,
    shown: &'a mut dyn QualifyProgress,
    writer: Option<RunWriter>,
}

impl<'a> QualifyRecorder<'a> {
    /// A recorder of `plan` into the directory `path`. `started_at` is RFC 3339 text and
    /// `arguments` the command line, for `run.json`.
    pub fn new(
        plan: &QualifyPlan,
        path: PathBuf,
        existing: Existing,
        started_at: &str,
        arguments: &[String],
        shown: &'a mut dyn QualifyProgress,
    ) -> QualifyRecorder<'a> {
        let unknown = TargetFacts::unknown(String::new(), ssdlab_bench::device::TargetKind::Null);
        let header = RunHeader {
            version: FORMAT_VERSION,
            ssdlab: env!("CARGO_PKG_VERSION").into(),
            started_at: started_at.to_owned(),
            arguments: arguments.to_vec(),
            seed: plan.seed,
            target: unknown,
            plan: serde_json::json!({
                "qualify": { "role": plan.role.name, "profile": plan.profile.name() }
            }),
        };
        QualifyRecorder {
            path,
            existing,
            header,
            shown,
            writer: None,
        }
    }

    /// Writes the finished qualification and its page.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn finish(self, qualification: &Qualification) -> Result<(), LabError> {
        write_json(&self.path.join(RESULT_FILE), qualification)?;
        write_columns(&self.path)?;
        write_page(&self.path, qualification)
    }
}

impl QualifyProgress for QualifyRecorder<'_> {
    fn step(&mut self, step: &QualifyStep) {
        self.shown.step(step);
    }

    fn second(
        &mut self,
        step: &QualifyStep,
        second: &Second,
        latencies: &[Latencies],
    ) -> Result<(), LabError> {
        self.shown.second(step, second, latencies)?;
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let numbered = Second {
            phase: step.number,
            ..second.clone()
        };
        writer.second(&numbered, latencies)
    }

    fn filling(&mut self, file: &Path, done: u64, total: u64) {
        self.shown.filling(file, done, total);
    }

    fn opened(&mut self, facts: &TargetFacts) -> Result<(), LabError> {
        self.header.target = facts.clone();
        self.writer = Some(RunWriter::create(&self.path, &self.header, self.existing)?);
        self.shown.opened(facts)
    }

    /// The target's result survives whatever happens to the references.
    fn judged(&mut self, so_far: &Qualification) -> Result<(), LabError> {
        self.writer = None;
        write_json(&self.path.join(RESULT_FILE), so_far)?;
        self.shown.judged(so_far)
    }

    fn overwriting(&mut self, done: u64, needed: u64) {
        self.shown.overwriting(done, needed);
    }

    fn references(&mut self, measured: usize, count: usize) {
        self.shown.references(measured, count);
    }
}

/// Writes the page of a qualification into its run directory.
///
/// # Errors
/// When it cannot be written.
pub fn write_page(directory: &Path, qualification: &Qualification) -> Result<(), LabError> {
    write_text(
        &directory.join(PAGE_FILE),
        &qualification_page(qualification),
    )
}

/// Whether a run directory holds a qualification.
pub fn is_qualification(directory: &Path) -> bool {
    directory.join(RESULT_FILE).exists()
}

/// The qualification in a run directory, if it holds one.
///
/// # Errors
/// When it cannot be read or is not a qualification of this version.
pub fn read(directory: &Path) -> Result<Option<Qualification>, LabError> {
    let file = directory.join(RESULT_FILE);
    let text = match std::fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(_) if !directory.is_dir() => return Ok(None),
        Err(error) => return Err(LabError::file("reading", file, error)),
    };
    serde_json::from_str(&text)
        .map(Some)
        .map_err(|error| LabError::BadValue {
            option: RESULT_FILE.into(),
            given: "read".into(),
            allowed: error.to_string(),
            place: InputLocation {
                source: file.display().to_string(),
                line: Some(error.line()),
            },
            hint: "it was written by another version, or changed".into(),
        })
}
