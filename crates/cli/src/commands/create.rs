//! `ssdlab create`: a drive directory, for a drive that holds data.

use crate::failure::{CliFailure, CommandExit};
use crate::output::say;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::directory::DriveDir;
use ssdlab_drives::known::draft::open_drive;
use ssdlab_drives::scaling;
use ssdlab_life::age::left;
use ssdlab_ssd::Bytes;
use std::path::{Path, PathBuf};

/// `ssdlab create`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab create my-drive --drive intel-dc-s3700-100gb --size 1GiB
  ssdlab create old-drive --from old     as worn as `age --out old` left it
  ssdlab serve my-drive --nbd unix:nbd.sock")]
pub struct Create {
    /// The directory; must be new or empty.
    #[arg(value_name = "DRIVE_DIR")]
    pub directory: PathBuf,
    /// Which drive: a name of the catalogue (`ssdlab list drives`) or a TOML file.
    #[arg(long, value_name = "NAME")]
    pub drive: Option<String>,
    /// An aged drive instead: a saved one, the results of `ssdlab age`, or a checkpoint. It is as
    /// worn as it was left, and empty: a saved drive keeps no bytes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["drive", "size"])]
    pub from: Option<PathBuf>,
    /// Bytes that it offers: fewer or more blocks of the same drive (1GiB).
    /// [default: as the drive]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
}

/// Makes a drive directory.
///
/// # Errors
/// When the drive or the size is impossible, or the directory cannot be made.
pub fn create(args: &Create) -> Result<CommandExit, CliFailure> {
    let (title, user_bytes) = match (&args.from, &args.drive) {
        (Some(file), _) => used(&args.directory, file)?,
        (None, Some(name)) => fresh(&args.directory, name, args.size.as_deref())?,
        (None, None) => {
            return Err(LabError::refused(
                "no drive is named",
                "--drive NAME makes a new one, --from FILE takes one that `ssdlab age` has left",
            )
            .into());
        }
    };
    say(
        false,
        &format!(
            "{}: {}, {}",
            args.directory.display(),
            title,
            Bytes(user_bytes)
        ),
    );
    Ok(CommandExit::Good)
}

/// Returns the drive's title, and the bytes that it offers.
fn fresh(directory: &Path, name: &str, size: Option<&str>) -> Result<(String, u64), LabError> {
    let drive = open_drive(name)?;
    let size = size.map(parse_size).transpose()?;
    let config = match size {
        Some(bytes) => scaling::sized(&drive.config, bytes)?.config,
        None => drive.config.clone(),
    };
    DriveDir::create(directory, &config, &drive.file.title)?;
    Ok((drive.file.title, config.user_bytes))
}

fn used(directory: &Path, file: &Path) -> Result<(String, u64), LabError> {
    let (drive, _) = left::open(file)?;
    let title = format!("{}, as {} left it", drive.config().name, file.display());
    DriveDir::create_used(directory, &drive, &title)?;
    Ok((title, drive.config().user_bytes))
}
