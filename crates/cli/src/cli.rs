//! The command line: every subcommand, and what runs it.

use crate::commands::{
    age, check, compare, conform, crashtest, create, diagnose, drives, endurance, fingerprint,
    generate, inspect, mark, mirror, months, oltp, policies, power, profiles, pull, qualify,
    report, reproduce, run, serve, simulate, smart, snia, theory, tier, trace, twin, zil,
};
use crate::failure::{Exit, Failure};
use clap::{CommandFactory, Parser, Subcommand};
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

Exit codes: 0 pass or done, 1 the drive fails the role or `check` found damage,
2 an error or a failed self-check, 3 the evidence does not decide, 130 stopped
by a second Ctrl-C (the first one ends the run and keeps what was measured)."
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
    Qualify(qualify::Qualify),
    /// Take a modelled drive apart, one cost at a time, and say what makes it slow.
    Diagnose(diagnose::Diagnose),
    /// Run a fio job file, a DISKSPD command line, a profile or a trace on a target.
    Run(Box<crate::args::run::Run>),
    /// Make a directory with a modelled drive that holds data.
    Create(create::Create),
    /// Serve a drive directory to other programs: over NBD, or as a file for losetup.
    Serve(serve::Serve),
    /// Look for damage in a drive directory or a saved drive, and have back what can be had.
    Check(check::Check),
    /// The power switch of a served drive: off, on, or off at a chosen moment.
    Power(power::PowerArgs),
    /// Cut the power of a real drive many times, and prove whether it keeps what it promised.
    Pull(pull::PullArgs),
    /// Cut the power of a drive under your program at many instants, and ask who lost what.
    Crashtest(Box<crashtest::Crashtest>),
    /// Boot guests, and hold what their hypervisor promised against what reached the drive.
    Conform(conform::Conform),
    /// In a workload of crashtest: report the writes acknowledged so far.
    Mark(mark::MarkArgs),
    /// The catalogue of modelled drives.
    Drives(drives::Drives),
    /// Read the health that a real drive reports, and forecast when it will be worn out.
    Inspect(inspect::Inspect),
    /// Print a run directory's results again, and rewrite its report.html.
    Report(report::Report),
    /// Put several runs side by side.
    Compare(compare::Compare),
    /// The workloads that have a name, with their sources.
    Profiles {
        /// Print this one, a fio job file.
        name: Option<String>,
        /// As JSON.
        #[arg(long, conflicts_with = "name")]
        json: bool,
    },
    /// Run the SNIA Performance Test Specification on a modelled drive.
    Snia(snia::Snia),
    /// Look at a trace, or turn it into another format.
    Trace(crate::args::trace::Trace),
    /// Run a modelled drive under a load: WAF, wear, IOPS and latency.
    Simulate(Box<simulate::Simulate>),
    /// Fit models to what was measured of a drive, and predict other loads with intervals.
    Twin(twin::TwinArgs),
    /// Probe a drive's buffer, caches, spare area and superblocks; write them as a drive file.
    Fingerprint(fingerprint::Fingerprint),
    /// Age a modelled drive over its whole life: wear, failures, and the worn drive to keep.
    Age(Box<age::Age>),
    /// Endurance of drives under JESD219's enterprise stream, against their ratings.
    Endurance(endurance::Endurance),
    /// Do two mirrored drives wear out together? The gap between their deaths, over seeds.
    Mirror(mirror::MirrorArgs),
    /// The health that a saved modelled drive reports by SMART.
    Smart(smart::Smart),
    /// Every policy of reclaim and placement, with its parameter and its paper.
    Policies {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Compare write amplification with closed forms and a reference simulator.
    Theory(theory::Theory),
    /// Run the experiments of five articles and put every published figure beside ours.
    Reproduce(reproduce::Reproduce),
    /// Load a target as the intent log of ZFS does, and show the access pattern.
    Zil(zil::Zil),
    /// Age a drive under a file system with TRIM at once, in batches, or never.
    Months(Box<months::MonthsArgs>),
    /// A write-back cache tier of drives in front of slow disks, as in Storage Spaces Direct.
    Tier(Box<tier::TierArgs>),
    /// Transactions of a database, month after month, as a drive ages under it.
    Oltp(Box<oltp::OltpArgs>),
    /// The options of fio and DISKSPD that are understood.
    Options {
        /// Which language.
        #[arg(value_enum)]
        language: generate::WorkloadLanguage,
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

impl Command {
    /// Carries it out.
    ///
    /// # Errors
    /// What its function in [`crate::commands`] says.
    pub fn run(self) -> Result<Exit, Failure> {
        match self {
            Command::Qualify(args) => qualify::qualify(&args),
            Command::Diagnose(args) => diagnose::diagnose(&args),
            Command::Run(args) => run::run(&args),
            Command::Create(args) => create::create(&args),
            Command::Serve(args) => serve::serve(&args),
            Command::Check(args) => check::check(&args),
            Command::Power(args) => power::power(&args),
            Command::Pull(args) => pull::pull(&args),
            Command::Crashtest(args) => crashtest::crashtest(&args),
            Command::Conform(args) => conform::run(&args),
            Command::Mark(args) => mark::make_mark(&args),
            Command::Drives(args) => drives::drives(&args.action),
            Command::Inspect(args) => inspect::inspect(&args),
            Command::Report(args) => report::report(&args),
            Command::Compare(args) => compare::compare(&args),
            Command::Profiles { name, json } => profiles::profiles(name.as_deref(), json),
            Command::Snia(args) => snia::snia(&args),
            Command::Trace(args) => trace::trace(&args.action),
            Command::Simulate(args) => simulate::simulate(&args),
            Command::Twin(args) => twin::twin(&args),
            Command::Fingerprint(args) => fingerprint::fingerprint(&args),
            Command::Age(args) => age::age(&args),
            Command::Endurance(args) => endurance::endurance(&args),
            Command::Mirror(args) => mirror::mirror(&args),
            Command::Smart(args) => smart::smart(&args),
            Command::Policies { json } => policies::policies(json),
            Command::Theory(args) => theory::theory(&args),
            Command::Reproduce(args) => reproduce::reproduce(&args),
            Command::Zil(args) => zil::zil(&args),
            Command::Months(args) => months::months(&args),
            Command::Tier(args) => tier::tier(&args),
            Command::Oltp(args) => oltp::oltp(&args),
            Command::Options { language } => generate::options(language),
            Command::Completions { shell } => generate::completions(shell, &mut Cli::command()),
            Command::Man { directory } => generate::man(&directory, Cli::command()),
        }
    }
}

#[cfg(test)]
mod tests;
