//! Arguments of `ssdlab age`, and the life that they ask for.

use crate::args::OutputArgs;
use clap::Args;
use std::path::PathBuf;

/// `ssdlab age`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab age examples/drives/small.toml --out old
  ssdlab age patriot-wildfire-120gb --until 270TB --per-day 10TB --fast
  ssdlab age consumer-sata-1tb --workload zipf:0.99 --block 4k --until 50%
  ssdlab inspect old                  its health afterwards
  ssdlab create DRIVE_DIR --from old  the same drive, empty, to serve")]
pub struct AgeArgs {
    /// A drive of the catalogue, or a drive file ending in .toml.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    pub drive: Option<String>,
    /// uniform, sequential, hotcold:80/20 or zipf:0.99.
    #[arg(long, default_value = "sequential", value_name = "PATTERN")]
    pub workload: String,
    /// Bytes of each command.
    #[arg(long, default_value = "1MiB", value_name = "SIZE")]
    pub block: String,
    /// Percentage of commands that are reads.
    #[arg(long = "read", default_value_t = 0, value_name = "PERCENT")]
    pub read_pct: u32,
    /// Percentage of commands that are trims.
    #[arg(long = "trim", default_value_t = 0, value_name = "PERCENT")]
    pub trim_pct: u32,
    /// Bytes written by the host (270TB), life left (10%), or dead.
    #[arg(long, default_value = "dead")]
    pub until: String,
    /// Bytes written by the host per day. [default: the drive's capacity]
    #[arg(long, value_name = "SIZE")]
    pub per_day: Option<String>,
    /// Celsius, in use and at rest.
    #[arg(long, default_value_t = 40.0, allow_negative_numbers = true)]
    pub temperature: f64,
    /// Extrapolate between exactly played spans; the error is stated.
    #[arg(long)]
    pub fast: bool,
    /// Seed of the load and of the differences between blocks.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Change a parameter of the drive: ftl.victim=d-choices:10, op=28%.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Leave checkpoints here, to go on from with --resume.
    /// [default: life.ckpt in the results, when stopped]
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// Host bytes between two checkpoints.
    /// [default: 10TB with --checkpoint or --resume; without them only when stopped]
    #[arg(long, value_name = "SIZE")]
    pub every: Option<String>,
    /// Go on from a checkpoint: everything but --until is as it was.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "workload", "block", "read_pct", "trim_pct", "per_day", "temperature", "fast", "seed",
        "set",
    ])]
    pub resume: Option<PathBuf>,
    /// Save the drive it leaves behind here: `simulate --from` and `smart` read it.
    /// [default: drive.ssd in the results]
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub output: OutputArgs,
}
