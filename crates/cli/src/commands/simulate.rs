//! `ssdlab simulate`: a modelled drive's life under a load, or a grid of them.

mod args;
mod bars;
mod files;
mod grid;
mod plan;

pub use args::Simulate;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, print, print_json, run_dir, say, self_checked};
use crate::progress::stop_on_signal;
use bars::LifeBar;
use files::{keep, over, write};
use grid::grid;
use plan::{counting_is_not_saved, plan};
use ssdlab_base::clock::Utc;
use ssdlab_drives::keep::saved;
use ssdlab_drives::settings;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::simulate::life::live;
use ssdlab_life::simulate::summary;
use ssdlab_view::units;
use std::time::Instant;

/// Lives a drive's life, or lists what can be set.
///
/// # Errors
/// When the life is impossible, or results cannot be written.
pub fn simulate(args: &Simulate) -> Result<CommandExit, CliFailure> {
    if args.list_settings {
        print(&settings::help())?;
        return Ok(CommandExit::Good);
    }
    let settings = args.set.iter().map(|text| DriveSetting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    if !args.sweep.is_empty() {
        return grid(args, &settings);
    }
    let (plan, from) = plan(args, &settings)?;
    let (from, before) = from.unzip();
    counting_is_not_saved(args, &plan)?;
    plan.validate()?;
    let place = match &args.save {
        Some(path) => Some(saved::SaveTarget::reserve(path, over(args))?),
        None => None,
    };
    let (dir, existing) = run_dir(&args.output(), &plan.name, Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let began = Instant::now();
    let mut bar = LifeBar::new(&plan.name, args.quiet);
    let lifetime = live(&plan, from, &mut bar, &stop)?;
    let commands = bar.commands;
    bar.bar.finish_and_clear();
    let wall = began.elapsed().as_secs_f64();
    write(&dir, &lifetime)?;
    if args.json {
        print_json(&lifetime.simulation)?;
    } else {
        print(&summary::summary(&lifetime.simulation))?;
    }
    let quiet = args.quiet;
    say(
        quiet,
        &format!(
            "\n{} commands in {wall:.1} s of wall time, {} a second",
            units::count(commands),
            units::rate(commands as f64 / wall.max(1e-9))
        ),
    );
    if let (Some(place), Some(drive)) = (place, &lifetime.drive) {
        keep(place, drive, &plan, &lifetime, args, before)?;
    }
    say(
        quiet,
        &format!("results: {0}/  page: {0}/report.html", dir.display()),
    );
    Ok(self_checked(&lifetime.simulation.failures()))
}
