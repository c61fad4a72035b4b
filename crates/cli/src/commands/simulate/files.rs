//! Files of a life.

use super::args::Simulate;
use crate::failure::Failure;
use crate::output::{say, write_file, write_json};
use ssdlab_drives::keep::saved;
use ssdlab_drives::keep::saved::{About, Over};
use ssdlab_life::simulate::life::Lived;
use ssdlab_life::simulate::page::simulation_page;
use ssdlab_life::simulate::{Plan, sample};
use ssdlab_ssd::Drive;
use ssdlab_view::units;
use std::path::Path;
use std::time::Instant;

pub fn over(args: &Simulate) -> Over {
    if args.replace {
        Over::Replace
    } else {
        Over::Refuse
    }
}

pub fn write(dir: &Path, lived: &Lived) -> Result<(), Failure> {
    write_json(&dir.join("result.json"), &lived.simulation)?;
    write_file(&dir.join("series.csv"), &sample::csv(&lived.samples))?;
    let page = simulation_page(&lived.simulation, &lived.samples);
    write_file(&dir.join("report.html"), &page)
}

/// Saves the drive with its history.
pub fn keep(
    place: saved::Place,
    drive: &Drive,
    plan: &Plan,
    lived: &Lived,
    args: &Simulate,
    before: Option<About>,
) -> Result<(), Failure> {
    if lived.simulation.stopped || !lived.simulation.failures().is_empty() {
        say(args.quiet, "the drive was not saved");
        return Ok(());
    }
    let about = lived.about(plan, before);
    let began = Instant::now();
    let bytes = place.save(drive, &about)?;
    say(args.quiet, &timing("saved", bytes, began));
    Ok(())
}

/// `saved 712 MB in 0.9 s, 790 MB/s`.
pub fn timing(what: &str, bytes: u64, began: Instant) -> String {
    let seconds = began.elapsed().as_secs_f64().max(1e-9);
    format!(
        "{what} {} in {seconds:.2} s, {}",
        units::decimal_bytes(bytes as f64),
        units::throughput(bytes as f64 / seconds)
    )
}
