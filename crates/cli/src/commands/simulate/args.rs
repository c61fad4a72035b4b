//! Arguments of `ssdlab simulate`.

use crate::args::OutputArgs;
use clap::Args;
use std::path::PathBuf;

/// `ssdlab simulate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Gears: counting knows no time and is the fastest way to WAF and wear; timed
gives IOPS, latency and where the NAND time goes. It is chosen by --until TIME,
--save and --from, or by --gear.

Examples:
  ssdlab simulate consumer-sata-1tb --until 2x
  ssdlab simulate --drive examples/drives/ssd-300gb.toml --load hotcold:80/20 \\
      --set ftl.victim=d-choices:10 --set op=28%
  ssdlab simulate --drive examples/drives/small.toml --until 30s --save aged.ssd
  ssdlab simulate --from aged.ssd --until 10s --read-pct 70
  ssdlab simulate --drive examples/drives/small.toml \\
      --sweep ftl.victim=greedy,fifo,d-choices:4 --sweep op=7%,12%,28%

`ssdlab list policies` lists what ftl.victim and ftl.separation can be.")]
pub struct Simulate {
    /// A drive of the catalogue, or a .toml file of your own.
    #[arg(
        long,
        short,
        value_name = "NAME|FILE.toml",
        conflicts_with = "drive_first"
    )]
    pub drive: Option<String>,
    /// The same as --drive.
    #[arg(value_name = "DRIVE")]
    pub drive_first: Option<String>,
    /// Change a parameter of the drive: op=28%, ftl.victim=d-choices:10 (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// List every KEY that --set knows, with an example, and end.
    #[arg(long)]
    pub list_settings: bool,
    /// counting or timed.
    #[arg(long, value_name = "GEAR")]
    pub gear: Option<String>,
    /// uniform, sequential, hotcold:80/20 (per cent of commands / of blocks, the first ones),
    /// hotcold:100/40:scattered (60 % of the blocks, anywhere, are read-only), zipf:0.99,
    /// cache:70/4 (70 % at random to 4 % of the blocks, the others a log round the rest).
    #[arg(long, value_name = "LOAD", default_value = "uniform")]
    pub load: String,
    /// Percentage of commands that are reads.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    pub read_pct: u32,
    /// Percentage of commands that are trims.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    pub trim_pct: u32,
    /// Bytes of each command.
    #[arg(long, value_name = "SIZE", default_value = "4k")]
    pub block: String,
    /// Commands outstanding, in the timed gear.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub iodepth: u32,
    /// Every write of the load is durable when it completes (FUA), and none coalesces with a later
    /// one in a volatile buffer.
    #[arg(long)]
    pub write_through: bool,
    /// Before the load: none, sequential or random.
    /// [default: sequential; none with --from]
    #[arg(long, value_name = "HOW")]
    pub fill: Option<String>,
    /// Percentage of the capacity that fill and load use, from its beginning.
    #[arg(long, value_name = "PERCENT", default_value_t = 100)]
    pub used_pct: u32,
    /// How long: user capacities written (10x), bytes written (100GB), virtual time (30m).
    #[arg(long, value_name = "END", default_value = "4x")]
    pub until: String,
    /// Seed of the load.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Save the drive afterwards, in the timed gear.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Begin with a saved drive.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Simulate every combination of values (repeatable); also load, block, iodepth, read_pct,
    /// trim_pct, fill, used_pct, until, seed.
    #[arg(long, value_name = "KEY=V,V,...")]
    pub sweep: Vec<String>,
    /// Maximum number of drives simulated at once.
    /// [default: all cores]
    #[arg(long, value_name = "N", requires = "sweep")]
    pub jobs: Option<usize>,
    /// Directory for the results; must be new or empty.
    /// [default: ssdlab-runs/DATE-NAME]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write over the results of an earlier run in --out, and over the file of --save.
    #[arg(long)]
    pub replace: bool,
    /// Print the result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Simulate {
    /// Where results go, as other subcommands have it.
    pub fn output(&self) -> OutputArgs {
        OutputArgs {
            out: self.out.clone(),
            replace: self.replace,
            json: self.json,
            quiet: self.quiet,
        }
    }
}
