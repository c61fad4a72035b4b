//! Arguments of `ssdlab crashtest`.

use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `ssdlab crashtest`.
#[derive(Args, Debug)]
#[command(after_help = "\
Both scripts run under `sh -c` with these in their environment:
  SSDLAB_NBD    URI of the drive on a unix socket  SSDLAB      this program
  SSDLAB_FILE   the drive as a file (FUSE)         SSDLAB_DIR  an empty folder
The workload may say what it takes for acknowledged: \"$SSDLAB\" mark TEXT. The
check finds the marks made before its cut, one a line, in the file SSDLAB_MARKS.

Examples:
  ssdlab crashtest --workload ./fill.sh --check ./verify.sh --cuts 500 --out t
  ssdlab crashtest --out t --resume
  ssdlab crashtest --out t --replay 28+844891-7d167c7f

Ctrl-C ends it, its scripts too, and keeps every verdict; --resume goes on.

Exit codes: 0 every cut passed, 1 some did not, 2 an error, or stopped.")]
pub struct Crashtest {
    /// Run once, on a device that records what it does.
    #[arg(
        long,
        value_name = "SCRIPT",
        required_unless_present_any = ["resume", "replay", "stream"]
    )]
    pub workload: Option<String>,
    /// In place of a workload: what the kernel's dm-log-writes or qemu's blklogwrites has logged.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["workload", "resume", "replay"])]
    pub stream: Option<PathBuf>,
    /// Run after each cut, on the drive as it recovered; exit code 0: nothing is missing.
    #[arg(long, value_name = "SCRIPT", required_unless_present_any = ["resume", "replay"])]
    pub check: Option<String>,
    /// Number of random instants.
    #[arg(long, value_name = "N", default_value = "100")]
    pub cuts: NonZeroUsize,
    /// Every command and every NAND operation: before, inside and after.
    #[arg(long, conflicts_with = "cuts")]
    pub exhaustive: bool,
    /// Cut only after the workload's mark of this text; what came before is preparation. With
    /// --resume: another mark of what was recorded, while there are no results.
    #[arg(long, value_name = "TEXT")]
    pub after_mark: Option<String>,
    /// What cuts are to strike: any, recovery (again inside it), after-recovery (again right after
    /// it), reclaim, map, check (again while the check runs) (repeatable; the first has a double
    /// share).
    /// [default: all]
    #[arg(long, value_name = "OCCASION", conflicts_with = "exhaustive")]
    pub on: Vec<String>,
    /// Which drive: a name of the catalogue, a TOML file, or a saved drive.
    #[arg(long, value_name = "NAME", default_value = "consumer-sata-1tb")]
    pub drive: String,
    /// Bytes that it offers: fewer or more blocks of the same drive; not of a saved drive.
    /// [default: 256MiB]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// The drive is new, or full of earlier data that it moves about; mixed: every fourth cut is on
    /// a full one. A saved drive is always full.
    #[arg(long, value_parser = ["new", "full", "mixed"], default_value = "mixed")]
    pub age: String,
    /// Fault of the drive, always or N times in a thousand: ignores-flush:300
    /// (repeatable).
    #[arg(long, value_name = "NAME[:PER_MILLE]")]
    pub fault: Vec<String>,
    /// Seed of cuts and faults.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Checks at once.
    /// [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Where everything is kept; must be new, empty, or of a workload that failed, unless resumed.
    #[arg(long, short, value_name = "DIR", default_value = "crashtest")]
    pub out: PathBuf,
    /// Go on with the campaign in --out where it was stopped.
    #[arg(long, conflicts_with_all = ["workload", "check", "replay", "stream", "cuts",
        "exhaustive", "on", "drive", "size", "age", "fault", "seed", "no_file", "timeout",
        "minimise"])]
    pub resume: bool,
    /// Run one cut of the campaign in --out again; --check may be another.
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["workload", "stream", "cuts",
        "exhaustive", "on", "after_mark", "drive", "size", "age", "fault", "seed", "no_file",
        "timeout", "minimise", "export_dm_log_writes"])]
    pub replay: Option<String>,
    /// Also write the recorded stream in the format of Linux' dm-log-writes.
    #[arg(long, value_name = "FILE")]
    pub export_dm_log_writes: Option<PathBuf>,
    /// Serve the NBD socket alone, without a file.
    #[arg(long)]
    pub no_file: bool,
    /// Longest time of a script, in seconds; a check that takes longer has failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Most checks to find the smallest set of lost writes; 0: do not look for it.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub minimise: usize,
    /// Print everything as JSON: counts, a verdict for each cut, the smallest set of lost writes.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}
