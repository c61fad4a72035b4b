//! `ssdlab check`: what is in a drive directory or a saved drive, and what can be had back.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json};
use clap::Args;
use serde_json::json;
use ssdlab_base::LabError;
use ssdlab_drives::keep::directory::{self, Checked};
use ssdlab_life::age::left;
use ssdlab_ssd::Bytes;
use ssdlab_view::units::count;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// `ssdlab check`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab check my-drive
  ssdlab check my-drive --repair what-was-left
  ssdlab check aged.ssd              a drive saved by `age` or `simulate --save`

Exit codes: 0 whole, 1 damaged (repaired or not), 2 it cannot be read, or nothing
can be had back.")]
pub struct Check {
    /// A drive directory, a saved drive, or the results of `ssdlab age`.
    #[arg(value_name = "DRIVE_DIR|FILE")]
    pub path: PathBuf,
    /// Write what can be had back of a damaged drive directory to this new directory. The damaged
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
/// When it cannot be read, is none, or nothing of it can be had back.
pub fn check(args: &Check) -> Result<Exit, Failure> {
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
        print_json(&as_json(
            &checked,
            repaired.map(|(to, wrong)| (*to, wrong.as_deref())),
        ))?;
    } else {
        let mut text = describe(&args.path, &checked);
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
    Ok(match checked.damages.is_empty() && !wrong {
        true => Exit::Good,
        false => Exit::Fails,
    })
}

fn check_saved(args: &Check, file: &Path) -> Result<Exit, Failure> {
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
        return Ok(Exit::Error);
    }
    let (what, exit) = match &bytes {
        Ok(bytes) => (format!("whole, {}", Bytes(*bytes)), Exit::Good),
        Err(error) => (error.to_string(), Exit::Fails),
    };
    if args.json {
        let damages: Vec<String> = bytes.err().iter().map(ToString::to_string).collect();
        print_json(&json!({"file": file, "damages": damages}))?;
    } else {
        print(&format!("{}: {what}\n", file.display()))?;
    }
    Ok(exit)
}

fn describe(path: &Path, checked: &Checked) -> String {
    let mut text = format!("{}: ", path.display());
    let _ = match (&checked.config, &checked.format, &checked.title) {
        (Some(config), Some(format), Some(title)) => writeln!(
            text,
            "drive directory, format {format}: {}, {title}, {}; {}",
            config.name,
            Bytes(config.user_bytes),
            if checked.closed {
                "shut down in order"
            } else {
                "not shut down"
            }
        ),
        _ => writeln!(text, "drive directory without a whole checkpoint"),
    };
    for file in &checked.files {
        let name = file.file.file_name().unwrap_or_default().to_string_lossy();
        let (frames, bytes) = (count(file.frames), Bytes(file.bytes));
        let _ = write!(text, "  {name:24} {frames:>9} frames {bytes:>12}");
        let _ = match file.behind {
            0 => writeln!(text),
            behind => writeln!(text, ", then {} that are not", Bytes(behind)),
        };
    }
    for note in &checked.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for damage in &checked.damages {
        let _ = writeln!(text, "damage: {damage}");
    }
    if checked.lost.bytes > 0 {
        let (frames, bytes) = (count(checked.lost.frames), Bytes(checked.lost.bytes));
        let _ = writeln!(text, "lost: {frames} frames behind the damage, {bytes}");
    }
    if checked.damages.is_empty() {
        let _ = writeln!(text, "whole");
    }
    text
}

fn as_json(checked: &Checked, repaired: Option<(&PathBuf, Option<&str>)>) -> serde_json::Value {
    let files = checked.files.iter().map(|file| {
        json!({
            "file": file.file,
            "frames": file.frames,
            "bytes": file.bytes,
            "bytes_behind": file.behind,
        })
    });
    let damages = checked
        .damages
        .iter()
        .map(|damage| json!({"file": damage.file, "byte": damage.at, "what": damage.what}));
    json!({
        "format": checked.format,
        "drive": checked.config.as_ref().map(|config| &config.name),
        "title": checked.title,
        "user_bytes": checked.config.as_ref().map(|config| config.user_bytes),
        "closed": checked.closed,
        "files": files.collect::<Vec<_>>(),
        "notes": checked.notes,
        "damages": damages.collect::<Vec<_>>(),
        "lost_frames": checked.lost.frames,
        "lost_bytes": checked.lost.bytes,
        "repaired": repaired.map(|(to, wrong)| json!({"directory": to, "wrong": wrong})),
    })
}
