//! Arguments of `ssdlab crashtest`.

use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `ssdlab crashtest`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "\
Both scripts run under `sh -c` with these in their environment:
  SSDLAB_NBD    URI of the drive on a unix socket  SSDLAB      this program
  SSDLAB_FILE   the drive as a file (FUSE)         SSDLAB_DIR  an empty folder
The workload may say what it takes for acknowledged: \"$SSDLAB\" mark TEXT. The
check finds the marks made before its cut, one a line, in the file SSDLAB_MARKS.
Before any cut the check must pass on the uncut run with every mark, and fail on
the drive without the workload's writes: otherwise it tests nothing (exit 2).

Examples:
  ssdlab crashtest run --found ./found.sh -- ./my-app --log log
  ssdlab crashtest --workload ./fill.sh --check ./verify.sh --cuts 500 --out t
  ssdlab crashtest --out t --resume
  ssdlab crashtest --out t --replay 28+844891-7d167c7f

Ctrl-C ends it, its scripts too, and keeps every verdict; --resume goes on.

Exit codes: 0 every cut passed, 1 some did not, 2 an error, or stopped.")]
pub struct Crashtest {
    #[command(subcommand)]
    pub command: Option<CrashtestCommand>,
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
    /// Run after each cut, on the drive as it recovered; exit code 0: nothing is missing. With
    /// --resume: another check of what was recorded, while there are no results.
    #[arg(long, value_name = "SCRIPT", required_unless_present_any = ["resume", "replay"])]
    pub check: Option<String>,
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Cut only after the workload's mark of this text; what came before is preparation. With
    /// --resume: another mark of what was recorded, while there are no results.
    #[arg(long, value_name = "TEXT")]
    pub after_mark: Option<String>,
    /// Where everything is kept; must be new, empty, or of a workload that failed, unless resumed.
    #[arg(long, short, value_name = "DIR", default_value = "crashtest")]
    pub out: PathBuf,
    /// Go on with the campaign in --out where it was stopped.
    #[arg(long, conflicts_with_all = ["workload", "replay", "stream", "cuts",
        "exhaustive", "on", "drive", "size", "age", "fault", "seed", "no_file", "timeout",
        "minimise"])]
    pub resume: bool,
    /// Run one cut of the campaign in --out again; --check may be another.
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["workload", "stream", "cuts",
        "exhaustive", "on", "after_mark", "drive", "size", "age", "fault", "seed", "no_file",
        "timeout", "minimise", "consistency_only", "export_dm_log_writes"])]
    pub replay: Option<String>,
    /// Also write the recorded stream in the format of Linux' dm-log-writes.
    #[arg(long, value_name = "FILE")]
    pub export_dm_log_writes: Option<PathBuf>,
    /// Serve the NBD socket alone, without a file.
    #[arg(long)]
    pub no_file: bool,
}

/// Arguments of every campaign.
#[derive(Args, Debug)]
pub struct CampaignArgs {
    /// Number of random instants.
    #[arg(long, value_name = "N", default_value = "100")]
    pub cuts: NonZeroUsize,
    /// Every command and every NAND operation: before, inside and after.
    #[arg(long, conflicts_with = "cuts")]
    pub exhaustive: bool,
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
    /// Longest time of a script, in seconds; a check that takes longer has failed.
    #[arg(long, value_name = "SECONDS", default_value_t = 120,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Most checks to find the smallest set of lost writes; 0: do not look for it.
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub minimise: usize,
    /// The check asks only whether what is there is whole: no mark is needed, and it may pass on a
    /// drive without the workload's writes.
    #[arg(long)]
    pub consistency_only: bool,
    /// Print everything as JSON: counts, a verdict for each cut, the smallest set of lost writes.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

/// What needs no scripts.
#[derive(Subcommand, Debug)]
pub enum CrashtestCommand {
    /// Your program in a file system on the drive, cut by cut, by one command.
    Run(Box<CrashtestRunArgs>),
    /// A fio job with verify=, cut by cut: what fio's verification finds, and what the contract
    /// does, side by side.
    Fio(Box<CrashtestFioArgs>),
    /// The databases that `run --preset` knows, and what their authors promise.
    Presets {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// What the scripts of `run` do.
    #[command(hide = true)]
    Inside(InsideArgs),
}

/// `ssdlab crashtest run`.
#[derive(Args, Debug)]
#[command(after_help = "\
The program runs once, in a new file system on a drive that records, with that
folder as its working directory and as $SSDLAB_DATA ({} in its arguments). Each
line that it prints is what it takes for acknowledged. After each cut, the check
runs in the folder as the drive and the file system recovered it; it finds the
lines printed before the cut in the file $SSDLAB_MARKS. An argument that begins
with ./ or ../ and exists where you are is taken from there, as is $SSDLAB_CWD.
A check that fails without a cut, passes on an empty drive or cannot run tests
nothing: exit 2, before any cut.

Examples:
  ssdlab crashtest run --found ./found.sh -- ./my-app --log log
  ssdlab crashtest run --mount xfs --check ./verify.sh -- ./my-app --data {}
  ssdlab crashtest run --preset sqlite --cuts 500
  ssdlab crashtest run --preset sqlite:journal_mode=WAL,synchronous=NORMAL

`ssdlab crashtest --out DIR --resume` and `--replay TOKEN` go on with it.

Exit codes: 0 every cut passed, 1 some did not, 2 an error, or stopped.")]
pub struct CrashtestRunArgs {
    /// The program, and its arguments.
    #[arg(
        value_name = "PROGRAM",
        last = true,
        required_unless_present = "preset"
    )]
    pub program: Vec<String>,
    /// The file system; none: the program gets the drive itself as the file $SSDLAB_DATA; btrfs:
    /// only its rules, by --way preload.
    #[arg(long, value_parser = ["ext4", "xfs", "btrfs", "none"], default_value = "ext4")]
    pub mount: String,
    /// kernel: the kernel's file system on the drive (root, FUSE, loop devices). preload: a library
    /// sees the program's calls, which are replayed on a crash disk by the rules of --mount or
    /// --rules posix: no rights, and a cut takes milliseconds.
    #[arg(long, value_parser = ["kernel", "preload"], default_value = "kernel")]
    pub way: String,
    /// Run after each cut, by the shell; exit code 0: nothing is missing.
    #[arg(long, value_name = "COMMAND",
        required_unless_present_any = ["found", "preset"], conflicts_with = "found")]
    pub check: Option<String>,
    /// In place of a check: prints what is there after a cut. Each line that the program printed
    /// before it must be among its lines.
    #[arg(long, value_name = "COMMAND")]
    pub found: Option<String>,
    /// What a name needs to be durable: what the mounted file system does of itself, or an fsync of
    /// its directory, as POSIX says. Names without one are then gone after cuts. Needs strace.
    #[arg(long, value_parser = ["file-system", "posix"], default_value = "file-system")]
    pub rules: String,
    /// How the program says what it has acknowledged: each line on standard output, or only by
    /// `"$SSDLAB" mark TEXT`.
    #[arg(long, value_parser = ["stdout", "mark"], default_value = "stdout")]
    pub marks: String,
    /// A database in place of a program: NAME or NAME:SETTING of `ssdlab crashtest presets`.
    #[arg(long, value_name = "NAME[:SETTING]", conflicts_with_all = ["program", "check", "found",
        "marks", "after_mark"])]
    pub preset: Option<String>,
    /// Cut only after the program's line of this text, such as the end of its preparation.
    #[arg(long, value_name = "TEXT")]
    pub after_mark: Option<String>,
    #[command(flatten)]
    pub campaign: CampaignArgs,
    /// Where everything is kept; must be new, empty, or of a program that failed.
    #[arg(long, short, value_name = "DIR", default_value = "crashtest")]
    pub out: PathBuf,
}

/// `ssdlab crashtest fio`.
#[derive(Args, Debug)]
#[command(after_help = "\
The job is one that writes and verifies, such as

  [j]
  rw=randwrite
  bs=4k
  size=1m
  fsync=8
  verify=crc32c

Its writes go to a modelled drive one at a time, with fio's own headers. After
each cut, three rules are asked: fio's default wants every write that completed,
fio's verify_policy=fsynced what an fsync covers; the contract wants each sector
as durable as was promised. With --out, disks and fio's state files are kept:

  ssdlab crashtest fio j.fio --fault ignores-flush --cuts 50 --keep 3 --out t
  cd t/cut-0001-fsynced && fio verify.fio

Exit codes: 0 every cut keeps the contract, 1 some do not, 2 an error.")]
pub struct CrashtestFioArgs {
    /// The job file.
    #[arg(value_name = "JOB.fio")]
    pub job: PathBuf,
    /// Whose headers and states: 3.33 (Debian 12), or current (fio's source of 2026).
    #[arg(long, value_name = "FORMAT", value_parser = ["3.33", "current"], default_value = "3.33")]
    pub fio: String,
    /// Keep the disks of this number of cuts of each age of the drive in --out, with states and a
    /// job by which fio verifies them.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "out")]
    pub keep: usize,
    /// Where; new or empty.
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub campaign: CampaignArgs,
}

/// `ssdlab crashtest inside`.
#[derive(Args, Debug)]
pub struct InsideArgs {
    /// The file system.
    pub mount: String,
    /// What to do.
    #[arg(value_parser = ["work", "work-quiet", "check", "found", "fill", "verify"])]
    pub task: String,
    /// The program, the command line, or the preset and its setting.
    #[arg(last = true)]
    pub words: Vec<String>,
}
