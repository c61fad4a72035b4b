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
  drive:PATH   one that `age` or `simulate --save` left, or a checkpoint
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
    /// Make a directory with a modelled drive that holds data.
    Create(crate::commands::create::Create),
    /// Serve a drive directory to other programs: over NBD, or as a file for losetup.
    Serve(crate::commands::serve::Serve),
    /// The power switch of a drive that is served: off, on, or at a moment to come.
    Power(crate::commands::power::PowerArgs),
    /// Cut the power of a drive under your program at many instants, and ask who lost what.
    Crashtest(Box<crate::commands::crashtest::Crashtest>),
    /// In a workload of crashtest: say what is acknowledged by now.
    Mark(crate::commands::crashtest::MarkArgs),
    /// The catalogue of modelled drives.
    Drives(Drives),
    /// Read what a real drive tells of its health, and when it will be worn out.
    Inspect(Inspect),
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
    /// Live a modelled drive's life under a load: WAF, wear, IOPS and latency.
    Simulate(Box<Simulate>),
    /// Live a modelled drive's whole life: wear, failures, and the drive it leaves behind.
    Age(Box<crate::commands::age::Age>),
    /// What drives last for under JESD219's enterprise stream, against their ratings.
    Endurance(crate::commands::endurance::Endurance),
    /// Do two mirrored drives wear out together? The gap between their deaths, over seeds.
    Mirror(crate::commands::mirror::MirrorArgs),
    /// What a saved modelled drive tells of its health by SMART.
    Smart(crate::commands::smart::Smart),
    /// Every policy of reclaim and placement, with its parameter and its paper.
    Policies {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Hold write amplification against closed forms and a reference simulator.
    Theory(Theory),
    /// Run the experiments of five articles and put every published figure beside ours.
    Reproduce(Reproduce),
    /// Load a target as the intent log of ZFS does, and show the access pattern.
    Zil(crate::commands::zil::Zil),
    /// Age a drive under a file system with TRIM at once, in batches, or never.
    Months(Box<crate::commands::months::MonthsArgs>),
    /// A write-back cache tier of drives in front of slow disks, as in Storage Spaces Direct.
    Tier(Box<crate::commands::tier::TierArgs>),
    /// Transactions of a database, month after month, as a drive ages under it.
    Oltp(Box<crate::commands::oltp::OltpArgs>),
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
#[command(after_help = "\
Examples:
  ssdlab qualify --role slog                     the drive under this directory
  ssdlab qualify drive:consumer-sata-1tb --role slog --out slog
  ssdlab qualify --role db-wal --profile standard --size 10GiB
  ssdlab qualify /dev/nvme0n1 --role s2d-cache --serial S4NENX0T123456

Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, 2 an error or a failed self-check.")]
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
#[command(after_help = "\
Examples:
  ssdlab drives list
  ssdlab drives show intel-dc-s3700-200gb
  ssdlab drives check my-drive.toml")]
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
    /// Check drive files: units, arithmetic, sources, the rules of families.
    ///
    /// Raw capacity must follow from the array's shape, drive writes per day from rated writes and
    /// warranty; every value must have a source; a family has at most three calibrated constants,
    /// and its members differ only in what its base names.
    Check {
        /// Drive files; without any, the whole catalogue.
        files: Vec<String>,
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

/// `ssdlab inspect`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab inspect /dev/nvme0
  ssdlab inspect saved.json                what `smartctl --json=c -x` printed
  ssdlab inspect january.json june.json    one drive twice: when is it worn out?
  ssdlab inspect --watch 1h --out d.jsonl /dev/sda; ssdlab inspect d.jsonl

Nothing is written to the drive. Exit code 1: the drive fails by its own
judgement.")]
pub struct Inspect {
    /// Devices, or files with what smartctl printed as JSON.
    #[arg(required = true, value_name = "DEVICE|FILE")]
    pub what: Vec<PathBuf>,
    /// smartctl's -d, for drives behind a controller (megaraid,0).
    #[arg(long, short, value_name = "TYPE")]
    pub device_type: Option<String>,
    /// Ask the device again and again, this far apart (10m, 1h), and record it in --out.
    #[arg(long, value_name = "INTERVAL", requires = "out")]
    pub watch: Option<String>,
    /// The file to record in, one line of JSON each time; added to when it exists.
    #[arg(long, short, value_name = "FILE", requires = "watch")]
    pub out: Option<PathBuf>,
    /// Stop after so many records.
    #[arg(long, value_name = "N", requires = "watch")]
    pub count: Option<u64>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// Say nothing on standard error while watching.
    #[arg(long, short)]
    pub quiet: bool,
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
#[command(after_help = "\
Examples:
  ssdlab compare volatile protected --html compare.html")]
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

/// `ssdlab theory`.
#[derive(Args, Debug)]
pub struct Theory {
    /// The whole grid: minutes to an hour instead of a minute.
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ssdlab reproduce`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab reproduce                         everything
  ssdlab reproduce s2d zil.seek            an article, and figures of another
  ssdlab reproduce zil.rw80.x1 --out x1
  ssdlab reproduce worn                    with a life of 270 TB: minutes

A figure that is missed is a row like any other. Exit code 2: a self-check
failed, and the numbers must not be believed.")]
pub struct Reproduce {
    /// Ids of figures, beginnings of ids (zil.rw80), or articles (s2d, zil, spare, myth, worn).
    #[arg(value_name = "ID|ARTICLE")]
    pub ids: Vec<String>,
    /// List the figures and what was published, and run nothing.
    #[arg(long)]
    pub list: bool,
    /// Also what takes minutes when no figure is named: the life of article worn.
    #[arg(long)]
    pub full: bool,
    /// A drive saved by `ssdlab age`, in the place of the life of article worn.
    #[arg(long, value_name = "FILE")]
    pub aged: Option<PathBuf>,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Experiments at once.
    /// [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `ssdlab simulate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Gears: counting knows no time and is the fastest way to WAF and wear; timed
gives IOPS, latency and where the NAND time goes. It is chosen by --until TIME,
--save and --from, or by --gear.

Examples:
  ssdlab simulate --drive consumer-sata-1tb --until 2x
  ssdlab simulate --drive examples/drives/ssd-300gb.toml --load hotcold:80/20 \\
      --set ftl.victim=d-choices:10 --set op=28%
  ssdlab simulate --drive examples/drives/small.toml --until 30s --save aged.ssd
  ssdlab simulate --from aged.ssd --until 10s --read-pct 70
  ssdlab simulate --drive examples/drives/small.toml \\
      --sweep ftl.victim=greedy,fifo,d-choices:4 --sweep op=7%,12%,28%

`ssdlab policies` lists what ftl.victim and ftl.separation can be.")]
pub struct Simulate {
    /// A drive of the catalogue, or a .toml file of your own.
    #[arg(long, short, value_name = "NAME|FILE.toml")]
    pub drive: Option<String>,
    /// Change a parameter of the drive: op=28%, ftl.victim=d-choices:10 (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// List every KEY that --set knows, with an example, and end.
    #[arg(long)]
    pub list_settings: bool,
    /// counting or timed.
    #[arg(long, value_name = "GEAR")]
    pub gear: Option<String>,
    /// uniform, sequential, hotcold:80/20 (per cent of commands / of blocks), zipf:0.99.
    #[arg(long, value_name = "LOAD", default_value = "uniform")]
    pub load: String,
    /// Of 100 commands, so many are reads.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    pub read_pct: u32,
    /// Of 100 commands, so many are trims.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    pub trim_pct: u32,
    /// Bytes of each command.
    #[arg(long, value_name = "SIZE", default_value = "4k")]
    pub block: String,
    /// Commands outstanding, in the timed gear.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub iodepth: u32,
    /// Before the load: none, sequential or random.
    /// [default: sequential; none with --from]
    #[arg(long, value_name = "HOW")]
    pub fill: Option<String>,
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
    /// Live every combination of values (repeatable); also load, block, iodepth, read_pct,
    /// trim_pct, fill, until, seed.
    #[arg(long, value_name = "KEY=V,V,...")]
    pub sweep: Vec<String>,
    /// Lives of a sweep at once.
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

#[cfg(test)]
mod tests;
