//! A finished run: its report, its page, and the formats of the user's own tools.

use crate::device::TargetKind;
use crate::export::{DiskspdMachine, asked_logs, diskspd_text, diskspd_xml, fio_json};
use crate::layout::FileLayout;
use crate::record::{PhaseCounters, RunRecord};
use crate::report::{RunReport, phase_names, run_page, terminal};
use crate::request::{RunRequest, jobs};
use crate::run_dir::{RunResult, write_text};
use ssdlab_base::LabError;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_load::fio;
use ssdlab_load::plan::{Language, WorkloadPlan};
use std::path::Path;

/// A finished run, ready to be shown.
pub struct FinishedRun {
    /// The measurements.
    pub record: RunRecord,
    /// The content of `result.json`.
    pub result: RunResult,
    plan: WorkloadPlan,
    report: RunReport,
    /// The report with every value that the figures rest on.
    page: RunReport,
    ended_ms: u64,
    machine: DiskspdMachine,
}

impl FinishedRun {
    /// What is shown of `record`.
    pub(crate) fn new(
        request: &RunRequest,
        layout: &FileLayout,
        record: RunRecord,
        result: RunResult,
        rests_on: &[RestsOn],
    ) -> FinishedRun {
        let mut report = report(request, &record, &result);
        if !layout.is_empty() {
            report.premises.push(layout.note());
        }
        let mut page = report.clone();
        page.notes.extend(rests_on.iter().map(RestsOn::to_string));
        report.notes.extend(calibration_note(rests_on));
        FinishedRun {
            plan: request.plan.clone(),
            report,
            page,
            ended_ms: unix_ms(),
            machine: machine(&request.started_at),
            record,
            result,
        }
    }

    /// The report for a terminal.
    pub fn text(&self) -> String {
        terminal::run_summary(&self.report)
    }

    /// fio's JSON.
    pub fn fio_json(&self) -> serde_json::Value {
        fio_json(&self.plan, &self.record, self.ended_ms)
    }

    /// DISKSPD's XML.
    pub fn diskspd_xml(&self) -> String {
        diskspd_xml(&self.plan, &self.record, &self.machine)
    }

    /// Writes the page, and the result in the format of the workload's own tool.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        match &self.plan.language {
            Language::Fio { .. } => {
                write_text(
                    &directory.join("fio.json"),
                    &format!("{:#}", self.fio_json()),
                )?;
                for log in asked_logs(&self.plan, &self.record) {
                    write_text(&directory.join(&log.name), &log.text)?;
                }
            }
            Language::Diskspd { .. } => {
                let text = diskspd_text(&self.plan, &self.record, &self.machine);
                write_text(&directory.join("diskspd.xml"), &self.diskspd_xml())?;
                write_text(&directory.join("diskspd.txt"), &text)?;
            }
            Language::Ssdlab => {}
        }
        let page = run_page(std::slice::from_ref(&self.page));
        write_text(&directory.join("report.html"), &page)
    }
}

fn report(request: &RunRequest, record: &RunRecord, result: &RunResult) -> RunReport {
    let label = format!("{} on {}", request.label, record.facts.name);
    let command = request.arguments.join(" ");
    let mut report = RunReport::new(record, &label, &request.title, &command);
    report.phase_names = phase_names(&result.jobs);
    let unwritten = read_before_written(record.facts.kind, &record.counters);
    report.premises.extend(unwritten);
    if let Some(phase) = result.last_phase() {
        report.analysed_phase = phase.phase;
        report.steady.clone_from(&phase.steady_state);
        report.steady_round_s = phase.round_s as f64;
        report.cliff.clone_from(&phase.write_cliff);
    }
    if matches!(request.plan.language, Language::Fio { .. }) {
        report.notes.extend(fio::notes(&request.plan));
    }
    let replays = jobs(&request.plan).filter_map(|job| job.replay.as_ref());
    let notes = replays.flat_map(|replay| replay.notes());
    report.notes.extend(notes);
    report.notes.extend(record.notes.iter().cloned());
    report
}

/// Most fresh drives need not look at their flash for addresses that were never written.
fn read_before_written(kind: TargetKind, counters: &[PhaseCounters]) -> Option<String> {
    let fresh = |phase: &PhaseCounters| {
        phase.before.host_bytes_written == Some(0) && phase.after.reads > phase.before.reads
    };
    (kind == TargetKind::Modelled && counters.iter().any(fresh)).then(|| {
        "Reads began on a fresh drive: most answer for addresses never written without their \
         flash. --fill 100 writes the drive first."
            .to_owned()
    })
}

/// In a terminal: the calibrated values by name, the assumed ones by number.
fn calibration_note(rests_on: &[RestsOn]) -> Option<String> {
    let calibrated: Vec<&str> = rests_on
        .iter()
        .filter(|value| value.is_calibrated())
        .map(RestsOn::as_ref)
        .collect();
    let assumed = rests_on.len() - calibrated.len();
    let named = match (calibrated.is_empty(), assumed) {
        (_, 0) => calibrated.join("; "),
        (true, 1) => "one of its values is assumed".to_owned(),
        (true, _) => format!("{assumed} of its values are assumed"),
        (false, 1) => format!("{}; one further value is assumed", calibrated.join("; ")),
        (false, _) => format!(
            "{}; {assumed} further values are assumed",
            calibrated.join("; ")
        ),
    };
    (!rests_on.is_empty()).then(|| {
        format!("a modelled drive: {named}. `ssdlab drives show` gives every one with its source.")
    })
}

fn machine(run_time: &str) -> DiskspdMachine {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    DiskspdMachine {
        name: name.trim().to_owned(),
        run_time: run_time.to_owned(),
        processors: u32::try_from(processors).unwrap_or(u32::MAX),
    }
}

fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Counters;

    /// A fresh drive's reads looked like those of a drive with data.
    #[test]
    fn reads_of_a_fresh_drive_are_noted() {
        let phase = |written, reads: [u64; 2]| {
            let [before, after] = reads.map(|reads| Counters {
                reads: Some(reads),
                host_bytes_written: Some(written),
                ..Counters::default()
            });
            PhaseCounters { before, after }
        };
        let noted = |kind, phases: &[_]| read_before_written(kind, phases).is_some();
        let written_first = [phase(0, [0, 0]), phase(4096, [0, 5])];
        let fresh = [phase(0, [0, 5]), phase(4096, [5, 5])];
        assert!(noted(TargetKind::Modelled, &fresh));
        assert!(!noted(TargetKind::Modelled, &written_first));
        assert!(!noted(TargetKind::File, &fresh));
    }

    /// A drive without calibrated values was said to rest on "; 21 further values".
    #[test]
    fn the_note_names_what_there_is() {
        let note = |values: &[&str]| {
            let values = values.iter().map(|text| RestsOn::from((*text).to_owned()));
            let values: Vec<RestsOn> = values.collect();
            calibration_note(&values).map(|note| note.replace(" `ssdlab drives show` gives", ""))
        };
        let says = |what: &str| {
            Some(format!(
                "a modelled drive: {what}. every one with its source."
            ))
        };
        let (fitted, assumed) = ("a: calibrated to x", "b: assumed");
        assert_eq!(note(&[]), None);
        assert_eq!(note(&[fitted]), says("a: calibrated to x"));
        assert_eq!(
            note(&[assumed, assumed]),
            says("2 of its values are assumed")
        );
        assert_eq!(
            note(&[fitted, assumed]),
            says("a: calibrated to x; one further value is assumed")
        );
    }
}
