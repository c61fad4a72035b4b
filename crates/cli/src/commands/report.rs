//! `ssdlab report`: results already measured, shown again, and exported for other tools.

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json, say, write_file};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_bench::export::{logs_of_seconds, openmetrics};
use ssdlab_bench::report::RunReport;
use ssdlab_bench::run_dir::{RunDir, write_columns};
use ssdlab_judge::qualify;
use ssdlab_judge::qualify::files;

use ssdlab_bench::report::terminal;
use std::path::{Path, PathBuf};

/// `ssdlab report`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab report RUN
  ssdlab report RUN --openmetrics textfile/ssd.prom
  ssdlab report RUN --fio-logs logs/randwrite-iodepth-32-numjobs-1")]
pub struct ReportArgs {
    /// A run directory.
    pub run_dir: PathBuf,
    /// Print the result as JSON instead.
    #[arg(long)]
    pub json: bool,
    /// Also write the results as metrics, for node_exporter's textfile collector.
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
    /// Also write the seconds as fio's logs: PREFIX_bw.1.log, PREFIX_iops.1.log and so on.
    #[arg(long, value_name = "PREFIX")]
    pub fio_logs: Option<String>,
}

/// Prints a run directory's results and rewrites its page and its series.parquet.
///
/// # Errors
/// When it is not a run directory.
pub fn report(args: &ReportArgs) -> Result<CommandExit, CliFailure> {
    let page = args.run_dir.join("report.html");
    export(args)?;
    if let Some(qualification) = files::read(&args.run_dir)? {
        if args.json {
            print_json(&qualification)?;
            return Ok(CommandExit::Good);
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
            return Ok(CommandExit::Good);
        }
        print(&terminal::run_summary(&run))?;
        write_file(&page, &ssdlab_bench::report::run_page(&[run]))?;
    }
    // A qualification can be without the seconds that it rests on.
    if args.run_dir.join("series.csv").exists() {
        write_columns(&args.run_dir)?;
    }
    say(false, &format!("\npage: {}", page.display()));
    Ok(CommandExit::Good)
}

/// Writes the requested files in formats of other tools.
fn export(args: &ReportArgs) -> Result<(), CliFailure> {
    if let Some(file) = &args.openmetrics {
        write_file(file, &metrics(&args.run_dir)?)?;
    }
    if let Some(prefix) = &args.fio_logs {
        let dir = RunDir::open(&args.run_dir)?;
        for log in logs_of_seconds(prefix, &dir.seconds) {
            let path = PathBuf::from(&log.name);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)
                    .map_err(|error| LabError::file("creating", parent, error))?;
            }
            write_file(&path, &log.text)?;
        }
    }
    Ok(())
}

/// The results as text that OpenMetrics parsers read.
fn metrics(path: &Path) -> Result<String, LabError> {
    let dir = RunDir::open(path)?;
    let name = label(path);
    if let Some(qualification) = files::read(path)? {
        return Ok(qualify::metrics::metrics(&name, &dir.header, &qualification).text());
    }
    let result = dir.result.as_ref().ok_or_else(|| cut_off(path))?;
    Ok(openmetrics::of_run(&name, &dir, result).text())
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
        "series.csv and histograms/latency.csv hold every second up to then",
    )
}
