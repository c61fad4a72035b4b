//! Many run directories on one page: a row a run, put in order by any figure.
//!
//! Runs and qualifications stand in one table. A directory that cannot be read has a row that says
//! why; it hides no other.

use crate::qualify::files;
use crate::qualify::{Qualification, QualifyOutcome, compare, names, role, terminal};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_bench::report::{OpTotals, RunReport};
use ssdlab_bench::run_dir::RunDir;
use ssdlab_ssd::Op;
use ssdlab_view::page::plain_page;
use ssdlab_view::text::{PLAIN, clean, finish, new_table};
use ssdlab_view::{parts, units};
use std::path::{Component, Path, PathBuf};

/// One run directory. A figure that it does not have is `None`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FleetRow {
    /// The directory.
    pub path: PathBuf,
    /// What it ran on; empty when it cannot be read.
    pub drive: String,
    /// What it was: a qualification for a role, or a run.
    pub what: String,
    /// The answer of a qualification.
    pub answer: Option<QualifyOutcome>,
    /// The *must* on which the answer rests; of a PASS, the one that is nearest to its limit.
    pub decided_by: Option<String>,
    /// Its value and limit.
    pub deciding: Option<String>,
    /// Durable 4 KiB writes a second of one writer, by the method of the role.
    pub durable: Option<f64>,
    /// Their 99th percentile, ns.
    pub durable_p99_ns: Option<u64>,
    /// Reads a second: 4 KiB, 32 outstanding, of a qualification; all of a run.
    pub reads: Option<f64>,
    /// Writes a second, likewise.
    pub writes: Option<f64>,
    /// 99th percentile of those writes, ns.
    pub write_p99_ns: Option<u64>,
    /// Median of a run's flushes, ns.
    pub flush_p50_ns: Option<u64>,
    /// Why it cannot be read, or what went wrong in it.
    pub trouble: Option<String>,
}

impl FleetRow {
    fn empty(path: &Path, what: &str) -> FleetRow {
        FleetRow {
            path: path.to_owned(),
            drive: String::new(),
            what: what.to_owned(),
            answer: None,
            decided_by: None,
            deciding: None,
            durable: None,
            durable_p99_ns: None,
            reads: None,
            writes: None,
            write_p99_ns: None,
            flush_p50_ns: None,
            trouble: None,
        }
    }

    /// Whether the directory could be read.
    pub fn is_readable(&self) -> bool {
        !self.drive.is_empty()
    }

    fn of_qualification(path: &Path, q: &Qualification) -> FleetRow {
        let e = &q.target.evidence;
        let verdict = &q.target.verdict;
        let deciding = terminal::deciding(verdict).or_else(|| terminal::least_room(verdict));
        let probe = role(&q.role).ok();
        let probe = probe.and_then(|role| compare::one_writer(e, role.durable_method.probe()));
        let end = |name: &str| e.run(name).map(|run| run.iops_end);
        let cut = q.incomplete.len();
        FleetRow {
            drive: e.facts.name.clone(),
            what: format!("{}, {}", q.role, q.profile),
            answer: Some(q.target.verdict.outcome),
            decided_by: deciding.map(|f| f.title.clone()),
            deciding: deciding.map(|f| format!("{} ({})", f.value, f.limit)),
            durable: probe.map(|p| p.per_second),
            durable_p99_ns: probe.map(|p| p.p99_ns),
            reads: end(names::READ_QD32),
            writes: end(names::RANDOM_WRITE),
            write_p99_ns: e.run(names::RANDOM_WRITE).map(|run| run.write_p99_ns),
            trouble: (cut > 0).then(|| format!("{cut} steps left out or cut short")),
            ..FleetRow::empty(path, "")
        }
    }

    fn of_run(path: &Path, dir: &RunDir) -> FleetRow {
        let run = RunReport::of_dir(dir, "");
        let last = run.totals.iter().map(|t| t.phase).max();
        let last_total = |op: Op| {
            let totals = run.totals.iter().filter(|t| Some(t.phase) == last);
            totals.filter(|t| t.count > 0).find(|t| t.op == op)
        };
        let failed: Vec<&str> = run
            .checks
            .iter()
            .filter(|check| check.failure.is_some())
            .map(|check| check.name.as_str())
            .collect();
        let trouble = match (&run.ending, failed.is_empty()) {
            (ssdlab_bench::record::RunEnding::Failed(why), _) => Some(why.clone()),
            (_, false) => Some(format!("self-checks failed: {}", failed.join(", "))),
            (ssdlab_bench::record::RunEnding::Interrupted, _) => Some("interrupted".to_owned()),
            _ => None,
        };
        let phases = run.phase_names.len();
        FleetRow {
            drive: run.facts.name.clone(),
            reads: last_total(Op::Read).map(OpTotals::iops),
            writes: last_total(Op::Write).map(OpTotals::iops),
            write_p99_ns: last_total(Op::Write).map(|t| t.p99_ns),
            flush_p50_ns: last_total(Op::Flush).map(|t| t.p50_ns),
            trouble,
            ..FleetRow::empty(
                path,
                &match phases {
                    0 => "run".to_owned(),
                    n => format!("run, last of {n} phases"),
                },
            )
        }
    }

    fn read(path: &Path) -> Result<FleetRow, LabError> {
        if let Some(q) = files::read(path)? {
            return Ok(FleetRow::of_qualification(path, &q));
        }
        Ok(FleetRow::of_run(path, &RunDir::open(path)?))
    }
}

/// A row for each run directory. One that holds no run itself stands for those in it, in order of
/// their names.
pub fn fleet(paths: &[PathBuf]) -> Vec<FleetRow> {
    let mut rows = Vec::new();
    for path in paths.iter().flat_map(|path| expanded(path)) {
        rows.push(FleetRow::read(&path).unwrap_or_else(|error| FleetRow {
            trouble: Some(error.to_string()),
            ..FleetRow::empty(&path, "cannot be read")
        }));
    }
    rows
}

fn is_run(path: &Path) -> bool {
    files::is_qualification(path) || path.join("run.json").exists()
}

fn expanded(path: &Path) -> Vec<PathBuf> {
    let inside = || {
        let entries = std::fs::read_dir(path).ok()?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| path.is_dir());
        paths.sort();
        paths.iter().any(|path| is_run(path)).then_some(paths)
    };
    if is_run(path) {
        vec![path.to_owned()]
    } else {
        inside().unwrap_or_else(|| vec![path.to_owned()])
    }
}

/// A column: its head, and its cell of a row.
type FleetColumn = (&'static str, fn(&FleetRow) -> Option<String>);

const FIGURES: [FleetColumn; 6] = [
    ("Durable writes/s", |r| r.durable.map(units::rate)),
    ("Durable p99", |r| r.durable_p99_ns.map(units::time)),
    ("Reads/s", |r| r.reads.map(units::rate)),
    ("Writes/s", |r| r.writes.map(units::rate)),
    ("Write p99", |r| r.write_p99_ns.map(units::time)),
    ("Flush p50", |r| r.flush_p50_ns.map(units::time)),
];

/// The *must* on which the answer rests, with its value and limit.
fn deciding_cell(row: &FleetRow) -> Markup {
    match (&row.decided_by, &row.deciding) {
        (Some(title), Some(number)) => html! {
            span .deciding { b { (number) } " " (title) }
        },
        _ => parts::cell(None),
    }
}

/// The page of a fleet, to be written to `page`: links go from there.
pub fn fleet_page(rows: &[FleetRow], page: &Path) -> String {
    let is_troubled = rows.iter().any(|row| row.trouble.is_some());
    let is_qualified = rows.iter().any(|row| row.answer.is_some());
    // A column in which no run has a figure takes no room.
    let has_any = |(_, cell): &&FleetColumn| rows.iter().any(|row| cell(row).is_some());
    let figures: Vec<&FleetColumn> = FIGURES.iter().filter(has_any).collect();
    let mut head = parts::heads(&["Run", "Answer", "Drive", "What"]);
    head.extend(is_qualified.then(|| html! { "Decided by, or least room" }));
    head.extend(figures.iter().map(|(name, _)| html! { (name) }));
    head.extend(is_troubled.then(|| html! { "Trouble" }));
    let cells = |row: &FleetRow| {
        let answer = match row.answer {
            Some(outcome) => compare::badge(outcome),
            None => parts::cell(None),
        };
        let mut cells = vec![
            link(row, page),
            answer,
            html! { (row.drive) },
            html! { (row.what) },
        ];
        cells.extend(is_qualified.then(|| deciding_cell(row)));
        cells.extend(
            figures
                .iter()
                .map(|(_, cell)| parts::cell(cell(row).as_deref())),
        );
        let trouble = || html! { (row.trouble.as_deref().unwrap_or_default()) };
        cells.extend(is_troubled.then(trouble));
        cells
    };
    let table: Vec<Vec<Markup>> = rows.iter().map(cells).collect();
    plain_page(
        "Fleet",
        html! {
            header .answer { p .kicker .quiet { "ssdlab fleet" } h1 { (tally(rows)) } }
            section .fleet {
                p .quiet { "Click on the head of a column to put the rows in its order." }
                (parts::sortable(&head, &table))
            }
        },
    )
}

/// "12 runs: 3 PASS, 6 FAIL, 1 UNKNOWN, 1 without a verdict, 1 cannot be read"
fn tally(rows: &[FleetRow]) -> String {
    let count = |wanted: &dyn Fn(&FleetRow) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let answers = [
        QualifyOutcome::Pass,
        QualifyOutcome::Fail,
        QualifyOutcome::Unknown,
    ]
    .map(|outcome| {
        let run_count = count(&|row| row.answer == Some(outcome));
        (run_count, compare::outcome(outcome).1)
    });
    let unanswered = [
        (
            count(&|row| row.answer.is_none() && row.is_readable()),
            "without a verdict",
        ),
        (count(&|row| !row.is_readable()), "cannot be read"),
    ];
    let tallies = answers
        .iter()
        .chain(&unanswered)
        .filter(|(count, _)| *count > 0);
    let clauses: Vec<String> = tallies
        .map(|(count, label)| format!("{count} {label}"))
        .collect();
    let runs = units::plural(rows.len() as u64, "run");
    format!("{runs}: {}", clauses.join(", "))
}

fn name_of(row: &FleetRow) -> String {
    let name = row.path.file_name().unwrap_or(row.path.as_os_str());
    name.to_string_lossy().into_owned()
}

fn link(row: &FleetRow, page: &Path) -> Markup {
    let report = row.path.join("report.html");
    let target = if report.exists() { &report } else { &row.path };
    match relative(page, target) {
        Some(to) => html! { a href=(to) { (name_of(row)) } },
        None => html! { (name_of(row)) },
    }
}

/// The address of `target` as seen from the file `page`.
fn relative(page: &Path, target: &Path) -> Option<String> {
    let page = std::path::absolute(page).ok()?;
    let target = std::path::absolute(target).ok()?;
    let parts = |path: &Path| -> Vec<String> {
        let named = path
            .components()
            .filter(|part| matches!(part, Component::Normal(_)));
        named
            .map(|part| escaped(&part.as_os_str().to_string_lossy()))
            .collect()
    };
    let (from, to) = (parts(page.parent()?), parts(&target));
    let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    let parts: Vec<&str> = up.chain(to[shared..].iter().map(String::as_str)).collect();
    // A first part with a colon would be read as a scheme.
    Some(format!("./{}", parts.join("/")))
}

/// A part of an address: everything but letters, digits and a few marks by its bytes.
fn escaped(part: &str) -> String {
    part.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

/// The fleet for a terminal: the answers, then what is wrong.
pub fn fleet_text(rows: &[FleetRow]) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["Run", "Drive", "Answer", "Its number"]);
    for row in rows {
        let answer = match row.answer {
            Some(outcome) => compare::outcome(outcome).1,
            None => units::NOTHING,
        };
        let number = row.trouble.as_ref().filter(|_| !row.is_readable());
        let number = number.or(row.deciding.as_ref());
        let number = number.map_or(units::NOTHING, String::as_str);
        let cells = [
            clean(&name_of(row)),
            clean(&row.drive),
            answer.to_owned(),
            clean(number),
        ];
        table.add_row(cells);
    }
    format!("{}\n\n{}", tally(rows), finish(&table))
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
