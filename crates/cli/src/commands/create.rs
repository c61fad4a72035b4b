//! `ssdlab create`: a drive directory, for a drive that holds data.

use crate::Exit;
use crate::failure::Failure;
use crate::output::say;
use clap::Args;
use ssdlab_lab::drive_dir::{DriveDir, sized};
use ssdlab_lab::workload::quantity::parse_size;
use ssdlab_lab::{Bytes, catalogue};
use std::path::PathBuf;

/// `ssdlab create`.
#[derive(Args, Debug)]
pub struct Create {
    /// The directory; must be new or empty.
    #[arg(value_name = "DRIVE_DIR")]
    pub directory: PathBuf,
    /// Which drive: a name of the catalogue (`ssdlab drives list`) or a TOML file.
    #[arg(long, value_name = "NAME")]
    pub drive: String,
    /// Bytes that it offers: fewer blocks of the same drive (1GiB).
    /// [default: as the drive]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
}

/// Makes a drive directory.
///
/// # Errors
/// When the drive or the size is impossible, or the directory cannot be made.
pub fn create(args: &Create) -> Result<Exit, Failure> {
    let found = catalogue::open(&args.drive)?;
    let size = args.size.as_deref().map(parse_size).transpose()?;
    let config = match size {
        Some(bytes) => sized(&found.config, bytes)?,
        None => found.config.clone(),
    };
    DriveDir::create(&args.directory, &config, &found.file.title)?;
    say(
        false,
        &format!(
            "{}: {}, {}",
            args.directory.display(),
            found.file.title,
            Bytes(config.user_bytes)
        ),
    );
    Ok(Exit::Good)
}
