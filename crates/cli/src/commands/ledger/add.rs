//! `ssdlab ledger add`: results as rows for a pull request.

use super::new_file::{created, discard};
use super::state::StateOption;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, say};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_judge::contribution::{ContributionSettings, contribution};
use ssdlab_ledger::row::LedgerRow;
use ssdlab_ledger::{Ledger, check, write};
use std::io::Write as _;
use std::path::PathBuf;

/// `ssdlab ledger add`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab ledger add RUN_DIR
  ssdlab ledger add fio.json --drive \"Samsung SSD 990 PRO 2TB\" --state used
  ssdlab ledger add smart.json fsync.txt --out ledger/samsung-990-pro.add.csv

Nothing personal leaves a source: no serial number, host, path, user or comment.
A model that no table knows is refused unless --drive names it.")]
pub struct AddArgs {
    /// Run directories of `run` and `qualify`, ledgers of `pull`, fio JSON, the text of
    /// `pg_test_fsync` or `diskinfo -wS`, reports of smartctl or nvme-cli.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The drive: maker, model, capacity. [default: as the source names it]
    #[arg(long, value_name = "NAME")]
    drive: Option<String>,
    /// What the drive held. [default: unknown; in service for a drive's own counters]
    #[arg(long, value_enum, default_value = "unknown", hide_default_value = true)]
    state: StateOption,
    /// Id of the source in ledger/sources.toml.
    #[arg(long, value_name = "ID", default_value = "contribution")]
    source: String,
    /// Write a file for a pull request; one that exists is not replaced.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// No notes on standard error.
    #[arg(long, short)]
    quiet: bool,
}

/// Reads the sources, shows their rows, and writes them.
///
/// # Errors
/// When a source cannot be read or does not name its drive, or the file exists.
pub fn add(args: &AddArgs) -> Result<CommandExit, CliFailure> {
    let file = args.out.as_deref().map(created).transpose()?;
    let rows = rows(args).inspect_err(|_| discard(args.out.as_deref()))?;
    let text = write::text(&rows);
    let report = check::files(Ledger::open(), &[("rows".to_owned(), text.clone())]);
    print(text.trim_end())?;
    if !report.breaches.is_empty() {
        discard(args.out.as_deref());
        say(false, report.text().trim_end());
        return Ok(CommandExit::Error);
    }
    if let (Some(mut file), Some(path)) = (file, args.out.as_deref()) {
        file.write_all(text.as_bytes())
            .map_err(|error| LabError::file("writing", path, error))?;
        let families: Vec<&str> = rows.iter().map(|row| row.drive.family.as_str()).collect();
        let family = families.first().copied().unwrap_or_default();
        let note = format!(
            "{} rows in {}: look at them, then append them to ledger/{family}.csv, or rename the \
             file to it if there is none; `ssdlab ledger check FILE` checks it",
            rows.len(),
            path.display()
        );
        say(args.quiet, &note);
    }
    Ok(CommandExit::Good)
}

fn rows(args: &AddArgs) -> Result<Vec<LedgerRow>, LabError> {
    let settings = ContributionSettings {
        drive: args.drive.clone(),
        state: args.state.state(),
        source: args.source.clone(),
    };
    let mut rows = Vec::new();
    for source in &args.sources {
        let mut contribution = contribution(source, &settings)?;
        for reason in &contribution.left_out {
            say(args.quiet, &format!("left out: {reason}"));
        }
        rows.append(&mut contribution.rows);
    }
    Ok(rows)
}
