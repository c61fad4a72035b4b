//! Files of a life.

use super::args::Simulate;
use crate::failure::CliFailure;
use crate::output::{say, write_file, write_json};
use ssdlab_drives::keep::saved;
use ssdlab_drives::keep::saved::{OverwritePolicy, SavedDriveInfo};
use ssdlab_life::simulate::life::SimulatedLife;
use ssdlab_life::simulate::page::simulation_page;
use ssdlab_life::simulate::{SimulationPlan, sample};
use ssdlab_ssd::Drive;
use ssdlab_view::units;
use std::path::Path;
use std::time::Instant;

pub fn over(args: &Simulate) -> OverwritePolicy {
    if args.replace {
        OverwritePolicy::Replace
    } else {
        OverwritePolicy::Refuse
    }
}

pub fn write(dir: &Path, lived: &SimulatedLife) -> Result<(), CliFailure> {
    write_json(&dir.join("result.json"), &lived.simulation)?;
    write_file(&dir.join("series.csv"), &sample::csv(&lived.samples))?;
    let page = simulation_page(&lived.simulation, &lived.samples);
    write_file(&dir.join("report.html"), &page)
}

/// Saves the drive with its history.
pub fn keep(
    place: saved::SaveTarget,
    drive: &Drive,
    plan: &SimulationPlan,
    lived: &SimulatedLife,
    args: &Simulate,
    before: Option<SavedDriveInfo>,
) -> Result<(), CliFailure> {
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
