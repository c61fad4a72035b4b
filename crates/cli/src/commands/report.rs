//! `ssdlab report`: results already measured, shown again.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say, write_file};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_bench::report::RunReport;
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

/// Prints a run directory's results and rewrites its page.
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
        let (run, result) = RunReport::open(&args.run_dir, &label(&args.run_dir))?;
        if args.json {
            match &result {
                Some(result) => print_json(result)?,
                None => return Err(cut_off(&args.run_dir).into()),
            }
            return Ok(Exit::Good);
        }
        print(&terminal::run_summary(&run))?;
        write_file(&page, &ssdlab_bench::report::run_page(&[run]))?;
    }
    say(false, &format!("\npage: {}", page.display()));
    Ok(Exit::Good)
}

/// A run directory's name, as runs are called beside each other.
pub fn label(path: &Path) -> String {
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
