//! How far a drive file drafted from a data sheet is off on a figure that was withheld from it:
//! `cargo run --release -p ssdlab-life --example withheld -- [DRIVE...]`.
//!
//! For every figure that a drive of the catalogue documents, a file is drafted from the sheet's
//! other figures, and the model is measured at the one that was withheld, as `ssdlab drives
//! validate` measures it.

use ssdlab_base::{LabError, parallel};
use ssdlab_drives::catalogue::{self, CatalogueDrive};
use ssdlab_life::draft::{DatasheetFacts, draft};
use ssdlab_life::validate::{DatasheetFigure, ValidationRow, validate};
use std::sync::atomic::AtomicBool;

/// Size of the model that is measured.
const CAPACITY: u64 = 1 << 30;
/// Figures, with the fact that each one is.
const FIGURES: [(DatasheetFigure, &str); 7] = [
    (DatasheetFigure::RandomRead, "random-read"),
    (DatasheetFigure::RandomWrite, "random-write"),
    (DatasheetFigure::Mixed, "mixed"),
    (DatasheetFigure::SequentialRead, "sequential-read"),
    (DatasheetFigure::SequentialWrite, "sequential-write"),
    (DatasheetFigure::ReadLatency, "read-latency"),
    (DatasheetFigure::WriteLatency, "write-latency"),
];

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let names = if given.is_empty() {
        catalogue::names().expect("the catalogue can be read")
    } else {
        given
    };
    let mut tasks = Vec::new();
    for name in &names {
        let drive = catalogue::drive(name).expect("a drive of the catalogue");
        for (figure, fact) in FIGURES {
            if sheet(&drive).iter().any(|(key, _)| *key == fact) {
                tasks.push((drive.clone(), figure, fact));
            }
        }
    }
    let stop = AtomicBool::new(false);
    let rows = parallel::all(&tasks, parallel::cores(), |(drive, figure, fact)| {
        Ok(withheld(drive, *figure, fact, &stop).map_err(|error| error.to_string()))
    });
    let rows: Vec<Result<ValidationRow, String>> = rows.expect("no task fails as a whole");
    for (figure, _) in FIGURES {
        let mut logs = Vec::new();
        for ((drive, of, _), row) in tasks
            .iter()
            .zip(&rows)
            .filter(|((_, f, _), _)| *f == figure)
        {
            let name = &drive.file.name;
            match row {
                Ok(row) => {
                    let ratio = row.ours / row.documented.value;
                    println!(
                        "{name},{},{:.0},{:.0},{ratio:.2}",
                        of.key(),
                        row.documented.value,
                        row.ours
                    );
                    logs.push(ratio.ln().abs());
                }
                Err(why) => println!("{name},{},no draft: {why}", of.key()),
            }
        }
        if logs.is_empty() {
            continue;
        }
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        let near = logs.iter().filter(|log| **log <= 1.5_f64.ln()).count();
        let count = logs.len();
        println!(
            "# {}: {count} drives, error {mean:.2}, within 1.5 times {near}",
            figure.name()
        );
    }
}

/// The model of the sheet without one of its figures, at that figure.
fn withheld(
    drive: &CatalogueDrive,
    figure: DatasheetFigure,
    fact: &str,
    stop: &AtomicBool,
) -> Result<ValidationRow, LabError> {
    let mut facts = DatasheetFacts::default();
    for (key, value) in sheet(drive) {
        if key != fact {
            facts.set(key, &value)?;
        }
    }
    let mut drafted = catalogue::parse(&draft(&facts)?, "drafted.toml")?;
    // Nothing but what was withheld is measured, under the sheet's conditions.
    let mut asked = drive.file.documented.clone();
    let keep = figure.key();
    macro_rules! only {
        ($($key:ident),*) => { $(if keep != stringify!($key) { asked.$key = None; })* };
    }
    only!(
        random_read_iops,
        random_write_iops,
        mixed_iops,
        sequential_read,
        sequential_write,
        sequential_read_latency,
        sequential_write_latency
    );
    (asked.random_read_999, asked.random_write_999) = (None, None);
    drafted.file.documented = asked;
    let found = validate(&drafted, CAPACITY, 1, stop)?;
    found
        .rows
        .into_iter()
        .next()
        .ok_or_else(|| LabError::refused("nothing was measured", ""))
}

/// The facts that a drive's file documents, as `ssdlab drives new` takes them.
fn sheet(drive: &CatalogueDrive) -> Vec<(&'static str, String)> {
    let d = &drive.file.documented;
    let cells = match drive.file.nand.bits_per_cell.value {
        0..=2 => "mlc",
        3 => "tlc",
        _ => "qlc",
    };
    let interface = match drive.file.interface.as_str() {
        "sata" => "sata",
        _ if drive.config.host.link_bytes_per_second > 3_600_000_000 => "pcie4",
        _ => "pcie3",
    };
    let gb = drive.config.user_bytes / 1_000_000_000;
    let protected = if drive.config.buffer.protected {
        "yes"
    } else {
        "no"
    };
    let mut facts = vec![
        ("name", "drafted".to_owned()),
        ("source", "its sheet".to_owned()),
        ("capacity", format!("{gb}GB")),
        ("interface", interface.to_owned()),
        ("protected", protected.to_owned()),
        ("cells", cells.to_owned()),
    ];
    let slc = &drive.config.ftl.slc;
    if slc.superblocks > 0 || slc.dynamic_above_free > 0 {
        facts.push(("slc", "8GB".to_owned()));
    }
    let text =
        |value: &Option<catalogue::SourcedValue<String>>| value.as_ref().map(|v| v.value.clone());
    let number =
        |value: &Option<catalogue::SourcedValue<u32>>| value.as_ref().map(|v| v.value.to_string());
    for (key, value) in [
        ("raw", text(&d.raw)),
        ("random-read", number(&d.random_read_iops)),
        ("random-write", number(&d.random_write_iops)),
        ("mixed", number(&d.mixed_iops)),
        ("depth", number(&d.random_depth)),
        ("span", text(&d.random_span)),
        ("sequential-read", text(&d.sequential_read)),
        ("sequential-write", text(&d.sequential_write)),
        ("read-latency", text(&d.sequential_read_latency)),
        ("write-latency", text(&d.sequential_write_latency)),
    ] {
        facts.extend(value.map(|value| (key, value)));
    }
    facts
}
