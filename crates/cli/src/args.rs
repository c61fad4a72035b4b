//! Arguments that several subcommands or files share.

pub mod crashtest;
pub mod run;
pub mod trace;

use clap::Args;
use std::path::PathBuf;

/// What both `qualify` and `run` say of their target.
#[derive(Args, Debug, Clone)]
pub struct TargetArgs {
    /// Size of the file to create, or bytes used of a drive (10GiB, 1TB).
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub size: Option<String>,
    /// Allow writing over an existing file that is not empty.
    #[arg(long)]
    pub overwrite: bool,
    /// The serial number of the block device or NVMe drive, to confirm that it may be overwritten.
    #[arg(long, value_name = "SERIAL")]
    pub serial: Option<String>,
    /// To destroy what a block device without a serial number holds: a UUID on it, its backing
    /// file, its name in the device mapper, or its exact size.
    #[arg(long, value_name = "WORD")]
    pub destroy: Option<String>,
    /// Where the file system refuses O_DIRECT, go through the page cache (the report says so).
    #[arg(long)]
    pub buffered: bool,
    /// Keep the file that ssdlab created.
    #[arg(long)]
    pub keep: bool,
}

/// Where results go.
#[derive(Args, Debug, Clone)]
pub struct OutputArgs {
    /// Directory for the results; must be new or empty.
    /// [default: ssdlab-runs/DATE-NAME]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write over the results of an earlier run in --out.
    #[arg(long, requires = "out")]
    pub replace: bool,
    /// Print the result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}
