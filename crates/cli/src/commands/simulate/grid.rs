//! Many lives: `--sweep`.

use super::args::Simulate;
use super::bars::sweep_bar;
use super::plan::{bare, drive_name};
use crate::failure::{CliFailure, CommandExit};
use crate::output::{
    ReservedDir, print, print_json, run_dir, say, self_checked, write_file, write_json,
};
use crate::progress::stop_on_signal;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::simulate::sweep;
use ssdlab_life::simulate::sweep::{Dimension, LifeGrid};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Many lives.
pub fn grid(args: &Simulate, settings: &[DriveSetting]) -> Result<CommandExit, CliFailure> {
    if args.from.is_some() || args.save.is_some() {
        return Err(LabError::refused(
            "a sweep makes its own drives: neither --from nor --save goes with --sweep",
            "",
        )
        .into());
    }
    let dimensions = args.sweep.iter().map(|text| Dimension::parse(text));
    let dimensions = dimensions.collect::<Result<Vec<_>, _>>()?;
    let drive = open_drive(drive_name(args)?)?;
    // The drive as it stands may be impossible without what the sweep sets.
    let sweep = LifeGrid::new(&drive, settings, &bare(args, &drive)?, &dimensions)?;
    let (dir, existing) = run_dir(&args.output(), "sweep", Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let cores = ssdlab_base::parallel::cores();
    let bar = sweep_bar(sweep.points.len(), args.quiet);
    let began = Instant::now();
    let rows = sweep.run(args.jobs.unwrap_or(cores), &stop, |row| {
        bar.set_message(row.values.join(" "));
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    write_file(&dir.join("sweep.csv"), &sweep::csv(&sweep.keys, &rows))?;
    write_json(&dir.join("result.json"), &rows)?;
    if args.json {
        print_json(&rows)?;
    } else {
        print(&sweep::table(&sweep.keys, &rows))?;
    }
    let finished = rows.iter().filter(|row| row.simulation.is_some()).count();
    let wall = began.elapsed().as_secs_f64();
    say(
        args.quiet,
        &format!(
            "\n{finished} of {} drives in {wall:.2} s; results: {}/",
            rows.len(),
            dir.display()
        ),
    );
    let simulations = rows.iter().filter_map(|row| row.simulation.as_ref());
    let failures: Vec<String> = simulations.flat_map(|s| s.failures()).collect();
    Ok(if stop.load(Ordering::Relaxed) && failures.is_empty() {
        CommandExit::Unknown
    } else {
        self_checked(&failures)
    })
}
