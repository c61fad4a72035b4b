//! `ssdlab compare`: several runs beside each other, or a row each.

use super::report::label;
use crate::documents::ComparedRun;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, print_result, say, write_file};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_bench::report::{RunReport, terminal};
use ssdlab_judge::page;
use ssdlab_judge::qualify::files;
use std::path::PathBuf;

/// `ssdlab compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab compare volatile protected --html compare.html
  ssdlab compare --fleet ssdlab-runs --html fleet.html")]
pub struct Compare {
    /// Run directories, the first is what the others are compared with.
    #[arg(required = true, num_args = 1..)]
    pub run_dirs: Vec<PathBuf>,
    /// A row for each directory, qualifications too, with the answer and the number that decided;
    /// a directory of run directories stands for all of them. One that cannot be read is named.
    #[arg(long)]
    pub fleet: bool,
    /// Write an HTML page: all runs in each chart, or with --fleet a table to put in order.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print as JSON instead.
    #[arg(long)]
    pub json: bool,
}

/// Puts runs side by side.
///
/// # Errors
/// When one of them is not a run directory.
pub fn compare(args: &Compare) -> Result<CommandExit, CliFailure> {
    if args.fleet {
        return fleet(args);
    }
    if args.run_dirs.len() < 2 {
        return Err(LabError::refused(
            "one run directory has nothing to be compared with",
            "name at least two, or use `ssdlab report`",
        )
        .into());
    }
    let mut runs = Vec::new();
    let mut results = Vec::new();
    for path in &args.run_dirs {
        if files::is_qualification(path) {
            return Err(LabError::refused(
                format!("{} is a qualification", path.display()),
                "`compare` takes directories of `ssdlab run`; `compare --fleet` takes both, and a \
                 qualification's report compares already",
            )
            .into());
        }
        let (run, result) = RunReport::open(path, &label(path))?;
        runs.push(run);
        let run_dir = path.clone();
        results.push(ComparedRun { run_dir, result });
    }
    if args.json {
        print_json(&results)?;
    } else {
        print(&terminal::run_comparison(&runs))?;
    }
    if let Some(page) = &args.html {
        write_file(page, &ssdlab_bench::report::run_page(&runs))?;
        say(false, &format!("\npage: {}", page.display()));
    }
    Ok(CommandExit::Good)
}

fn fleet(args: &Compare) -> Result<CommandExit, CliFailure> {
    let rows = page::fleet::fleet(&args.run_dirs);
    print_result(args.json, &rows, || page::fleet::fleet_text(&rows))?;
    if let Some(file) = &args.html {
        write_file(file, &page::fleet::fleet_page(&rows, file))?;
        say(false, &format!("\npage: {}", file.display()));
    }
    // A fleet without a readable run is an error; its rows say why.
    Ok(CommandExit::good_if(
        rows.iter().any(page::fleet::FleetRow::is_readable),
        CommandExit::Error,
    ))
}
