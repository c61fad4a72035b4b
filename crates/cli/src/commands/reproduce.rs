//! `ssdlab reproduce`: every published figure beside ours.

use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, print, print_json, run_dir, say, write_file};
use crate::progress::{experiments_bar, stop_on_signal};
use clap::Args;
use ssdlab_articles::run::{Reproduction, ReproductionSettings};
use ssdlab_articles::{ExperimentInfo, figures, page, run, table};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use std::path::PathBuf;

/// `ssdlab reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab reproduce                         everything
  ssdlab reproduce s2d zil.seek            an article, and figures of another
  ssdlab reproduce zil.rw80.x1 --out x1
  ssdlab reproduce worn                    with a life of 270 TB: minutes

A figure that is missed is a row like any other. Exit code 2: a self-check
failed, and the numbers must not be believed.")]
pub struct Reproduce {
    /// Ids of figures, beginnings of ids (zil.rw80), or articles (s2d, zil, spare, myth, worn).
    #[arg(value_name = "ID|ARTICLE")]
    pub ids: Vec<String>,
    /// List the figures and what was published, and run nothing.
    #[arg(long)]
    pub list: bool,
    /// Also what takes minutes when no figure is named: the life of article worn.
    #[arg(long, visible_alias = "long")]
    pub full: bool,
    /// A drive saved by `ssdlab age`, in the place of the life of article worn.
    #[arg(long, value_name = "FILE")]
    pub aged: Option<PathBuf>,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Experiments at once.
    /// [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the experiments of the chosen figures and writes table and pages.
///
/// # Errors
/// When there is no such figure, an experiment cannot be run, or results cannot be written.
pub fn reproduce(args: &Reproduce) -> Result<CommandExit, CliFailure> {
    let chosen = figures::select(&args.ids)?;
    if args.list {
        return list(&chosen, args.output.json);
    }
    let (dir, existing) = run_dir(&args.output, "reproduce", Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let cores = ssdlab_base::parallel::cores();
    let threads = args.jobs.map_or(cores, |jobs| jobs as usize);
    let settings = ReproductionSettings {
        seed: args.seed,
        full: args.full || !args.ids.is_empty(),
        aged: args.aged.as_deref(),
    };
    let bar = experiments_bar(settings.experiments(&chosen), args.output.quiet);
    let progress = |experiment: &ExperimentInfo| {
        bar.set_message(experiment.name);
        bar.inc(1);
    };
    let outcome = run::reproduce(&chosen, &settings, threads, &stop, progress);
    bar.finish_and_clear();
    let reproduction = outcome?;
    let json = serde_json::to_string_pretty(&reproduction)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    write_file(&dir.join("result.json"), &json)?;
    write_file(&dir.join("table.csv"), &table::csv(&reproduction))?;
    for (file, text) in page::reproduction_pages(&reproduction) {
        write_file(&dir.join(file), &text)?;
    }
    if args.output.json {
        print_json(&reproduction.rows)?;
    } else {
        print(&table::text(&reproduction))?;
    }
    say(
        args.output.quiet,
        &format!("\npage: {}/index.html", dir.display()),
    );
    Ok(exit(&reproduction))
}

fn exit(reproduction: &Reproduction) -> CommandExit {
    let failures = reproduction.failures();
    for failure in &failures {
        tell!("error: self-check failed: {failure}");
    }
    if !failures.is_empty() {
        CommandExit::Error
    } else if reproduction.stopped {
        CommandExit::Unknown
    } else {
        CommandExit::Good
    }
}

fn list(chosen: &[&figures::PublishedFigure], json: bool) -> Result<CommandExit, CliFailure> {
    if json {
        print_json(&chosen)?;
        return Ok(CommandExit::Good);
    }
    for figure in chosen {
        print(&table::listed(figure))?;
    }
    Ok(CommandExit::Good)
}
