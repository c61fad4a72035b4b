//! `ssdlab run`: a fio job file or a DISKSPD command line on a target.

use crate::clock::Utc;
use crate::commands::run_plan::{Format, Run, expected_s, label, plan_jobs, read_plan, title};
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, print, print_json, run_dir, say, write_file};
use crate::progress::{Bar, Watch, stop_on_signal};
use crate::target::{Name, Open, TARGET_HINT};
use ssdlab_base::LabError;
use ssdlab_bench::export::{Machine, diskspd_text, diskspd_xml, fio_json};
use ssdlab_bench::record::{PhaseCounters, RunRecord};
use ssdlab_bench::report::RunReport;
use ssdlab_bench::run_dir::{RunHeader, RunResult, RunWriter};

use ssdlab_base::quantity::parse_duration;
use ssdlab_bench::device::TargetKind;
use ssdlab_bench::device::open::Needs;
use ssdlab_bench::report::{phase_names, terminal};
use ssdlab_load::fio;
use ssdlab_load::plan::{Language, Plan};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Length of a round of the steady-state test: SNIA PTS says one minute.
const ROUND_S: usize = 60;

/// Runs a workload.
///
/// # Errors
/// When the workload or the target cannot be used, or results cannot be written.
pub fn run(args: &Run) -> Result<Exit, Failure> {
    let plan = read_plan(args)?;
    let name = target_name(args, &plan)?;
    let now = Utc::now();
    let stop = stop_on_signal()?;
    let quiet = args.output.quiet;
    let needs = Needs {
        changes: args.fill.is_some() || Needs::of(&plan)?.changes,
        ..Needs::of(&plan)?
    };
    let (path, existing) = run_dir(&args.output, &label(args), now);
    let words: Vec<String> = std::env::args().skip(1).collect();
    let _reserved = Reserved::new(&path, existing)?;
    let mut target = Open::named(&name, &args.on, &needs, quiet, &stop)?;
    target.check(&plan)?;
    let seed = plan_jobs(&plan).next().map_or(0, |job| job.seed);
    let header = RunHeader::new(&plan, target.facts(), seed, &now.rfc3339(), &words)?;
    let mut writer = RunWriter::create(&path, &header, existing)?;
    prepare(args, &mut target, &stop)?;
    let bar = Bar::new(&label(args), expected_s(&plan), quiet);
    let mut watch = Watch {
        bar,
        writer: Some(&mut writer),
    };
    let record = target.run(&plan, &mut watch, &stop)?;
    watch.bar.finish();
    let result = RunResult::new(&plan, &record, ROUND_S);
    writer.finish(&result)?;
    let mut report = report(args, &words, &record, &result);
    if matches!(plan.language, Language::Fio { .. }) {
        report.notes.extend(fio::notes(&plan));
    }
    let replays = plan_jobs(&plan).filter_map(|job| job.replay.as_ref());
    report
        .notes
        .extend(replays.flat_map(|replay| replay.notes()));
    report.notes.extend(record.notes.iter().cloned());
    let mut page = report.clone();
    page.notes.extend(target.rests_on());
    report.notes.extend(calibration_note(&target.rests_on()));
    let ended_ms = unix_ms();
    write_exports(&path, &plan, &record, ended_ms, &machine(now))?;
    write_file(
        &path.join("report.html"),
        &ssdlab_bench::report::run_page(&[page]),
    )?;
    match format(args) {
        Format::Table => print(&terminal::run_summary(&report))?,
        Format::Json => print_json(&result)?,
        Format::FioJson => print_json(&fio_json(&plan, &record, ended_ms))?,
        Format::DiskspdXml => print(&diskspd_xml(&plan, &record, &machine(now)))?,
    }
    say(
        quiet,
        &format!("\nresults: {0}/  page: {0}/report.html", path.display()),
    );
    Ok(exit(&record))
}

fn exit(record: &RunRecord) -> Exit {
    for failed in record.failed_checks() {
        tell!("error: self-check failed: {failed}");
    }
    if let ssdlab_bench::record::Ending::Failed(why) = &record.ending {
        tell!("error: {why}\nhint: what was measured until then was kept");
        return Exit::Error;
    }
    if record.failed_checks().is_empty() {
        Exit::Good
    } else {
        Exit::Error
    }
}

fn format(args: &Run) -> Format {
    if args.output.json {
        Format::Json
    } else {
        args.format
    }
}

fn target_name(args: &Run, plan: &Plan) -> Result<Name, LabError> {
    if let Some(target) = &args.target {
        return Name::parse(target);
    }
    let mut names: Vec<&str> = plan_jobs(plan)
        .filter_map(|job| job.target.as_deref())
        .collect();
    names.sort_unstable();
    names.dedup();
    match names[..] {
        [one] => Name::parse(one),
        [] => Err(LabError::refused(
            "the workload names no target",
            format!("add filename= to the job file, or --target; {TARGET_HINT}"),
        )),
        _ => Err(LabError::refused(
            format!("the workload names several targets: {}", names.join(", ")),
            "one run has one target here; choose it with --target",
        )),
    }
}

/// `--fill` and `--idle`.
fn prepare(args: &Run, target: &mut Open, stop: &AtomicBool) -> Result<(), Failure> {
    if let Some(percent) = args.fill {
        let capacity = target.facts().capacity;
        let bytes = u128::from(capacity) * u128::from(percent) / 100;
        let plan = Plan::fill(u64::try_from(bytes).unwrap_or(u64::MAX));
        target.check(&plan)?;
        let bar = Bar::new(
            &format!("writing front to back, {percent} %"),
            0.0,
            args.output.quiet,
        );
        let mut watch = Watch { bar, writer: None };
        let record = target.run(&plan, &mut watch, stop)?;
        if let ssdlab_bench::record::Ending::Failed(why) = record.ending {
            return Err(LabError::refused(format!("while filling the target: {why}"), "").into());
        }
    }
    if let Some(idle) = &args.idle {
        let time = parse_duration(idle)?;
        if !stop.load(Ordering::Relaxed) {
            target.idle(time)?;
        }
    }
    Ok(())
}

fn report(args: &Run, words: &[String], record: &RunRecord, result: &RunResult) -> RunReport {
    let label = format!("{} on {}", label(args), record.facts.name);
    let mut report = RunReport::new(record, &label, &title(args), &words.join(" "));
    report.phase_names = phase_names(&result.jobs);
    report
        .notes
        .extend(read_before_written(record.facts.kind, &record.counters));
    if let Some(phase) = result.last_phase() {
        report.analysed_phase = phase.phase;
        report.steady.clone_from(&phase.steady_state);
        report.steady_round_s = phase.round_s as f64;
        report.cliff.clone_from(&phase.write_cliff);
    }
    report
}

/// The user's own tools' format, beside ours.
fn write_exports(
    dir: &Path,
    plan: &Plan,
    record: &RunRecord,
    ended_ms: u64,
    machine: &Machine,
) -> Result<(), Failure> {
    match &plan.language {
        Language::Fio { .. } => {
            let json = serde_json::to_string_pretty(&fio_json(plan, record, ended_ms))
                .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
            write_file(&dir.join("fio.json"), &json)
        }
        Language::Diskspd { .. } => {
            write_file(
                &dir.join("diskspd.xml"),
                &diskspd_xml(plan, record, machine),
            )?;
            write_file(
                &dir.join("diskspd.txt"),
                &diskspd_text(plan, record, machine),
            )
        }
        Language::Ssdlab => Ok(()),
    }
}

/// Most fresh drives need not look at their flash for addresses that were never written.
fn read_before_written(kind: TargetKind, counters: &[PhaseCounters]) -> Option<String> {
    let fresh = |phase: &PhaseCounters| {
        phase.before.host_bytes_written == Some(0) && phase.after.reads > phase.before.reads
    };
    (kind == TargetKind::Modelled && counters.iter().any(fresh)).then(|| {
        "reads began on a fresh drive: most answer for addresses never written without their \
         flash. --fill 100 writes the drive first."
            .to_owned()
    })
}

/// In a terminal: the calibrated values by name, the assumed ones by number.
fn calibration_note(rests_on: &[String]) -> Option<String> {
    let calibrated: Vec<&str> = rests_on
        .iter()
        .filter(|value| value.contains(": calibrated"))
        .map(String::as_str)
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

fn machine(now: Utc) -> Machine {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    Machine {
        name: name.trim().to_owned(),
        run_time: now.rfc3339(),
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
    use ssdlab_bench::device::Counters;

    /// A fresh drive's reads looked like those of a drive with data.
    #[test]
    fn reads_of_a_fresh_drive_are_told() {
        let phase = |written, reads: [u64; 2]| {
            let [before, after] = reads.map(|reads| Counters {
                reads: Some(reads),
                host_bytes_written: Some(written),
                ..Counters::default()
            });
            PhaseCounters { before, after }
        };
        let told = |kind, phases: &[_]| read_before_written(kind, phases).is_some();
        let written_first = [phase(0, [0, 0]), phase(4096, [0, 5])];
        let fresh = [phase(0, [0, 5]), phase(4096, [5, 5])];
        assert!(told(TargetKind::Modelled, &fresh));
        assert!(!told(TargetKind::Modelled, &written_first));
        assert!(!told(TargetKind::File, &fresh));
    }

    /// A drive without calibrated values was said to rest on "; 21 further values".
    #[test]
    fn the_note_names_what_there_is() {
        let note = |values: &[&str]| {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
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
