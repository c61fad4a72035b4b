//! `ssdlab age`: a modelled drive's whole life.

mod args;
mod plan;

pub use args::AgeArgs;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{
    ReservedDir, print, print_json, run_dir, say, self_checked, write_file, write_json,
};
use crate::progress::stop_on_signal;
use plan::{fresh, keep};
use ssdlab_base::LabError;
use ssdlab_base::check::failures;
use ssdlab_base::clock::Utc;
use ssdlab_drives::keep::saved::{OverwritePolicy, SaveTarget};
use ssdlab_life::age::live::Ageing;
use ssdlab_life::age::result::summary;
use ssdlab_life::age::row::{AgeingSample, AgeingSeriesFile, csv};
use ssdlab_life::age::{AgeingPlan, LifeEnd, checkpoint, left};
use ssdlab_view::units;
use std::path::Path;
use std::time::{Duration, Instant};

/// Lives a drive's life.
///
/// # Errors
/// When the life is impossible, or results cannot be written.
pub fn age(args: &AgeArgs) -> Result<CommandExit, CliFailure> {
    let until = LifeEnd::parse(&args.until)?;
    let (plan, begun) = match &args.resume {
        None => (fresh(args, until)?, None),
        Some(path) => {
            let (drive, standing) = checkpoint::load(path)?;
            let plan = AgeingPlan::resumed(drive.config(), &standing, until)?;
            (plan, Some((drive, standing)))
        }
    };
    let (dir, existing) = run_dir(&args.output, &plan.manner.name, Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let keep = keep(args, &dir)?;
    let place = place(args, &dir)?;
    let stop = stop_on_signal()?;
    let start = Instant::now();
    let ageing = match begun {
        None => Ageing::begin(&plan)?,
        Some((drive, standing)) => Ageing::resume(&plan, drive, standing)?,
    };
    let mut last_said = Instant::now();
    let quiet = args.output.quiet;
    let mut series = AgeingSeriesFile::begin(&dir.join("series.csv"), ageing.rows())?;
    let mut watch = |row: &AgeingSample| {
        series.push(row);
        if last_said.elapsed() > Duration::from_secs(5) {
            last_said = Instant::now();
            say(quiet, &row.to_string());
        }
    };
    let lifetime = ageing.live(Some(&keep), &mut watch, &stop)?;
    let wall = start.elapsed().as_secs_f64();
    write_file(&dir.join("series.csv"), &csv(&lifetime.rows))?;
    write_json(&dir.join("result.json"), &lifetime.life)?;
    if args.output.json {
        print_json(&lifetime.life)?;
    } else {
        print(&summary(&lifetime.life))?;
    }
    let programs = units::count(lifetime.drive.counters().nand_programs);
    let results = dir.display();
    let cost =
        format!("\n{programs} unit programs in {wall:.1} s of wall time; results: {results}/");
    say(quiet, &cost);
    if lifetime.life.stopped {
        let path = keep.path.display();
        say(
            quiet,
            &format!("stopped; go on with `ssdlab age --resume {path} --until ...`"),
        );
    }
    if self_checked(&failures(&lifetime.life.checks)) == CommandExit::Error {
        return Ok(CommandExit::Error);
    }
    let stopped = lifetime.life.stopped;
    let bytes = lifetime.save(place, &plan)?;
    say(
        quiet,
        &format!("saved the drive: {}", units::decimal_bytes(bytes as f64)),
    );
    if let Some(path) = &args.save {
        left::note_place(&dir, path)?;
    }
    Ok(if stopped {
        CommandExit::Unknown
    } else {
        CommandExit::Good
    })
}

/// Where the drive goes that the life leaves behind.
fn place(args: &AgeArgs, dir: &Path) -> Result<SaveTarget, LabError> {
    let over = if args.output.replace {
        OverwritePolicy::Replace
    } else {
        OverwritePolicy::Refuse
    };
    let usual = dir.join(left::DRIVE_FILE);
    SaveTarget::reserve(args.save.as_ref().unwrap_or(&usual), over)
}
