//! `ssdlab report` and `ssdlab compare`: results already measured, shown again.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say, write_file};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_bench::report::RunReport;
use ssdlab_bench::run_dir::RunDir;
use ssdlab_judge::qualify;
use ssdlab_judge::qualify::files;

use ssdlab_bench::report::terminal;
use std::path::{Path, PathBuf};

/// `ssdlab report`.
#[derive(Args, Debug)]
pub struct Report {
    /// A run directory.
    pub run_dir: PathBuf,
    /// Print the result as JSON instead.
    #[arg(long)]
    pub json: bool,
}

/// `ssdlab compare`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab compare volatile protected --html compare.html")]
pub struct Compare {
    /// Run directories, the first is what the others are compared with.
    #[arg(required = true, num_args = 2..)]
    pub run_dirs: Vec<PathBuf>,
    /// Write an HTML page with all runs in each chart.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print as JSON instead.
    #[arg(long)]
    pub json: bool,
}

/// Prints a run directory's results and writes its page anew.
///
/// # Errors
/// When it is not a run directory.
pub fn report(args: &Report) -> Result<Exit, Failure> {
    let page = args.run_dir.join("report.html");
    if let Some(qualification) = files::read(&args.run_dir)? {
        if args.json {
            print_json(&qualification)?;
            return Ok(Exit::Good);
        }
        print(&qualify::terminal::text(&qualification))?;
        files::write_page(&args.run_dir, &qualification)?;
    } else {
        let dir = RunDir::open(&args.run_dir)?;
        if args.json {
            match &dir.result {
                Some(result) => print_json(result)?,
                None => return Err(cut_off(&args.run_dir).into()),
            }
            return Ok(Exit::Good);
        }
        let run = RunReport::of_dir(&dir, &label(&args.run_dir));
        print(&terminal::run_summary(&run))?;
        write_file(&page, &ssdlab_bench::report::run_page(&[run]))?;
    }
    say(false, &format!("\npage: {}", page.display()));
    Ok(Exit::Good)
}

/// Puts runs side by side.
///
/// # Errors
/// When one of them is not a run directory.
pub fn compare(args: &Compare) -> Result<Exit, Failure> {
    let mut runs = Vec::new();
    let mut results = Vec::new();
    for path in &args.run_dirs {
        if files::is_qualification(path) {
            return Err(LabError::refused(
                format!("{} is a qualification", path.display()),
                "`compare` takes directories of `ssdlab run`; a qualification's report compares \
                 already",
            )
            .into());
        }
        let dir = RunDir::open(path)?;
        runs.push(RunReport::of_dir(&dir, &label(path)));
        results.push(serde_json::json!({ "run_dir": path, "result": dir.result }));
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
    Ok(Exit::Good)
}

fn label(path: &Path) -> String {
    path.file_name().map_or_else(
        || path.display().to_string(),
        |n| n.to_string_lossy().into(),
    )
}

fn cut_off(path: &Path) -> LabError {
    LabError::refused(
        format!("{} has no result.json: the run was cut off", path.display()),
        "series.csv and histograms.csv hold every second up to then",
    )
}
