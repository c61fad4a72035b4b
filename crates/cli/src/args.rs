//! What can be asked for on the command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Is this SSD a good cache or log device, and if it is slow, what gives?
#[derive(Parser, Debug)]
#[command(
    name = "ssdlab",
    version,
    max_term_width = 80,
    after_help = "\
Targets:
  drive:NAME   a modelled drive of the catalogue, in virtual time (drives list)
  drive:X.toml a modelled drive of your own
  null:SIZE    completes everything at once: measures ssdlab itself
  PATH         a file (created, or overwritten with --overwrite) or a block
               device (writes need its serial number: --serial)

Exit codes: 0 pass or done, 1 the drive fails the role, 2 an error or a failed
self-check, 3 the evidence does not tell."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Measure a target and say whether it is a good choice for a role.
    Qualify(Qualify),
    /// Run a fio job file, a DISKSPD command line, a profile or a trace on a target.
    Run(Box<Run>),
    /// The catalogue of modelled drives.
    Drives(Drives),
    /// Print a run directory's results again, and write its report.html anew.
    Report(Report),
    /// Put several runs side by side.
    Compare(Compare),
    /// The workloads that have a name, with their sources.
    Profiles {
        /// Print this one, a fio job file.
        name: Option<String>,
        /// As JSON.
        #[arg(long, conflicts_with = "name")]
        json: bool,
    },
    /// Look at a trace, or turn it into another format.
    Trace(crate::commands::trace::Trace),
    /// Load a target as the intent log of ZFS does, and show the access pattern.
    Zil(crate::commands::zil::Zil),
    /// The options of fio and DISKSPD that are understood.
    Options {
        /// Which language.
        #[arg(value_enum)]
        language: WorkloadLanguage,
    },
    /// Shell completions, on standard output.
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Man pages, into a directory.
    Man {
        /// Where to; created if needed.
        directory: PathBuf,
    },
}

/// `ssdlab options`.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum WorkloadLanguage {
    /// fio job files.
    Fio,
    /// DISKSPD command lines.
    Diskspd,
}

/// What both `qualify` and `run` say of their target.
#[derive(Args, Debug, Clone)]
pub struct TargetArgs {
    /// Size of the file to create, or bytes used of a drive (10GiB, 1TB).
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Allow writing over an existing file that is not empty.
    #[arg(long)]
    pub overwrite: bool,
    /// The serial number of the block device to be written over, typed by you.
    #[arg(long, value_name = "SERIAL")]
    pub serial: Option<String>,
    /// Where the file system refuses O_DIRECT, go through the page cache (and say so).
    #[arg(long)]
    pub buffered: bool,
    /// Leave the file that ssdlab created in place afterwards.
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

/// `ssdlab qualify`.
#[derive(Args, Debug)]
pub struct Qualify {
    /// What to measure; without it a file is created in the current directory, measured and
    /// removed.
    pub target: Option<String>,
    /// What the drive is to be used for.
    #[arg(
        long,
        short,
        value_name = "ROLE",
        default_value = "general",
        help = "What the drive is to be used for: slog, s2d-cache, ceph-wal, db-wal or general"
    )]
    pub role: String,
    /// How thoroughly: quick (a minute), standard (a quarter of an hour), full (hours).
    #[arg(long, short, value_enum, default_value = "quick")]
    pub profile: ProfileName,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Do not put modelled drives beside a real target.
    #[arg(long)]
    pub no_reference: bool,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `--profile`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileName {
    /// About a minute.
    Quick,
    /// About a quarter of an hour.
    Standard,
    /// Hours.
    Full,
}

/// `ssdlab run`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab run job.fio
  ssdlab run job.fio --target drive:consumer-sata-1tb
  ssdlab run --profile jesd219-enterprise --target drive:consumer-sata-1tb
  ssdlab run --trace log.csv.gz --speed max --target drive:consumer-sata-1tb
  ssdlab run --size 100GiB --fill 205 --idle 10m -- \\
      diskspd.exe -t8 -b4k -r4k -o1 -w30 -Su -D -L -d1800 -Rxml \\
      drive:consumer-sata-1tb")]
pub struct Run {
    /// A fio job file.
    #[arg(value_name = "JOB.fio")]
    pub job: Option<PathBuf>,
    /// A workload by name (see `ssdlab profiles`).
    #[arg(long, value_name = "NAME", conflicts_with = "job")]
    pub profile: Option<String>,
    /// Commands outstanding: of a profile's last phase, or of a trace (32 unless given).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub iodepth: Option<u32>,
    /// Length of a profile's last phase (60s).
    #[arg(long, value_name = "TIME", requires = "profile")]
    pub runtime: Option<String>,
    /// A DISKSPD command line, after `--`.
    #[arg(last = true, value_name = "diskspd ARGS")]
    pub diskspd: Vec<String>,
    /// Where to run it, instead of the target that the workload names.
    #[arg(long, short, value_name = "TARGET")]
    pub target: Option<String>,
    /// Before the run, write the target front to back so many per cent over (205: a little over
    /// twice).
    #[arg(long, value_name = "PERCENT")]
    pub fill: Option<u32>,
    /// After that, leave it idle for so long (10m).
    #[arg(long, value_name = "TIME")]
    pub idle: Option<String>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value = "table")]
    pub format: Format,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    #[command(flatten)]
    pub trace: ReplayArgs,
}

/// A trace as the workload of `ssdlab run`.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Replay of a trace")]
pub struct ReplayArgs {
    /// Replay a trace (see `ssdlab trace`); after a --profile's phases if there is one.
    #[arg(long, value_name = "FILE", conflicts_with = "job")]
    pub trace: Option<PathBuf>,
    /// `max`: as fast as possible; a number: recorded times, so many times as fast.
    #[arg(long, value_name = "max|X", default_value = "1.0", requires = "trace")]
    pub speed: String,
    /// Fold addresses beyond the target's end.
    #[arg(long, requires = "trace")]
    pub wrap: bool,
    /// Shrink all addresses so that the highest fits.
    #[arg(long, requires = "trace", conflicts_with = "wrap")]
    pub scale: bool,
    /// The trace's format, if not told from its content.
    #[arg(long, value_name = "FORMAT", requires = "trace")]
    pub trace_format: Option<String>,
    /// Share of lines that may be bad, in per cent.
    #[arg(long, value_name = "PERCENT", default_value = "1%", requires = "trace")]
    pub bad_share: String,
    /// Which device, where a trace holds several; `all` takes them as one.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub device: Option<String>,
}

/// `--format`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A table for people.
    Table,
    /// ssdlab's result.json.
    Json,
    /// fio's JSON.
    FioJson,
    /// DISKSPD's XML.
    DiskspdXml,
}

/// `ssdlab drives`.
#[derive(Args, Debug)]
pub struct Drives {
    /// What to do.
    #[command(subcommand)]
    pub action: DrivesAction,
}

/// `ssdlab drives ...`.
#[derive(Subcommand, Debug)]
pub enum DrivesAction {
    /// Every drive of the catalogue.
    List {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// One drive: every parameter with its kind and source.
    Show {
        /// Name, or a .toml file.
        name: String,
        /// As JSON.
        #[arg(long, conflicts_with = "toml")]
        json: bool,
        /// As a complete drive file, to start your own from.
        #[arg(long)]
        toml: bool,
    },
}

/// `ssdlab report`.
#[derive(Args, Debug)]
pub struct Report {
    /// A run directory.
    pub run_dir: PathBuf,
    /// Print the result as JSON instead.
    #[arg(long)]
    pub json: bool,
}

/// `ssdlab compare`.
#[derive(Args, Debug)]
pub struct Compare {
    /// Run directories, the first is what the others are compared with.
    #[arg(required = true, num_args = 2..)]
    pub run_dirs: Vec<PathBuf>,
    /// Write an HTML page with all runs in each chart.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print as JSON instead.
    #[arg(long)]
    pub json: bool,
}
