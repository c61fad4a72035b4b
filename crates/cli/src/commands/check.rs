//! `ssdlab check`: what is in a drive directory or a saved drive, and what of it is readable.

use crate::documents::SavedDriveReport;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_drives::keep::directory::{self, RepairReport};
use ssdlab_life::age::left;
use ssdlab_ssd::Bytes;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// `ssdlab check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab check my-drive
  ssdlab check my-drive --repair what-was-left
  ssdlab check aged.ssd              a drive saved by `age` or `simulate --save`

Exit codes: 0 whole, 1 damaged (repaired or not), 2 it cannot be read, or
nothing can be recovered.")]
pub struct Check {
    /// A drive directory, a saved drive, or the results of `ssdlab age`.
    #[arg(value_name = "DRIVE_DIR|FILE")]
    pub path: PathBuf,
    /// Write what is readable of a damaged drive directory to this new directory. The damaged
    /// one is not changed.
    #[arg(long, value_name = "NEW_DIR")]
    pub repair: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

/// Looks at a drive and changes nothing.
///
/// # Errors
/// When it cannot be read, is not a drive, or cannot be recovered.
pub fn check(args: &Check) -> Result<CommandExit, CliFailure> {
    if let Some(file) = left::saved_file(&args.path) {
        return check_saved(args, &file);
    }
    let (checked, repaired) = match &args.repair {
        None => (directory::check(&args.path)?, None),
        Some(to) => {
            let repaired = directory::repair(&args.path, to)?;
            (repaired.checked, Some((to, repaired.wrong)))
        }
    };
    let repaired = repaired.as_ref();
    if args.json {
        let mut result = directory::json(&checked);
        result.repaired = repaired.map(|(to, wrong)| RepairReport {
            directory: to.to_path_buf(),
            wrong: wrong.clone(),
        });
        print_json(&result)?;
    } else {
        let mut text = directory::text(&args.path, &checked);
        if let Some((to, wrong)) = repaired {
            let _ = match wrong {
                None => writeln!(text, "{}: whole, and its drive starts", to.display()),
                Some(why) => writeln!(text, "{}: {why}", to.display()),
            };
        } else if !checked.damages.is_empty() && checked.config.is_some() {
            let dir = args.path.display();
            let _ = writeln!(text, "hint: ssdlab check {dir} --repair NEW_DIR");
        }
        print(&text)?;
    }
    let wrong = repaired.is_some_and(|(_, wrong)| wrong.is_some());
    Ok(CommandExit::good_if(
        checked.damages.is_empty() && !wrong,
        CommandExit::Fails,
    ))
}

fn check_saved(args: &Check, file: &Path) -> Result<CommandExit, CliFailure> {
    if args.repair.is_some() {
        return Err(LabError::refused(
            format!(
                "--repair: {} is a saved drive, one piece with one sum",
                file.display()
            ),
            "save the drive again; `--repair` is for drive directories",
        )
        .into());
    }
    let bytes = left::verify(file);
    if let Err(LabError::File { .. }) = bytes {
        bytes?;
        return Ok(CommandExit::Error);
    }
    let (what, exit) = match &bytes {
        Ok(bytes) => (format!("whole, {}", Bytes(*bytes)), CommandExit::Good),
        Err(error) => (error.to_string(), CommandExit::Fails),
    };
    if args.json {
        let damages: Vec<String> = bytes.err().iter().map(ToString::to_string).collect();
        let file = file.to_path_buf();
        print_json(&SavedDriveReport { file, damages })?;
    } else {
        print(&format!("{}: {what}\n", file.display()))?;
    }
    Ok(exit)
}
