//! The command line: every subcommand, and what runs it.

use crate::commands::{
    age, check, compare, conform, crashtest, create, diagnose, drives, endurance, fingerprint,
    generate, host, inspect, ledger, list, mark, power, pull, qualify, report, reproduce, run,
    serve, simulate, snia, theory, trace, twin, volumes, watch,
};
use crate::failure::{CliFailure, CommandExit};
use clap::{CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// Is this SSD a good cache or log device, and if it is slow, what gives?
#[derive(Parser, Debug)]
#[command(
    name = "ssdlab",
    version,
    max_term_width = 80,
    after_long_help = "\
Targets: drive:NAME of the catalogue (`ssdlab list drives`) or drive:FILE.toml,
drive:PATH that `age` or `simulate --save` left, volume:TYPE of a cloud (`ssdlab
volumes list`), null:SIZE (measures ssdlab itself), a file (--overwrite), or a
block device (writes need --serial).

Exit codes: 0 pass or done, 1 the drive fails the role or `check` found damage,
2 an error or a failed self-check, 3 the evidence does not decide or the run was
stopped (Ctrl-C keeps what was measured), 130 a second Ctrl-C quit at once."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: CliCommand,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum CliCommand {
    /// Measure a target and say whether it is a good choice for a role.
    Qualify(qualify::Qualify),
    /// Watch a drive in use, and say what makes it slow; nothing is written.
    Watch(watch::Watch),
    /// It is slow: what gives? Say what you noticed; get the cause, what is normal, what to do.
    Diagnose(Box<diagnose::Diagnose>),
    /// Run a fio job file, a DISKSPD command line, a profile or a trace on a target.
    Run(Box<crate::args::run::RunArgs>),
    /// Make a directory with a modelled drive that holds data.
    Create(create::Create),
    /// Serve a drive directory to other programs: over NBD, or as a file for losetup.
    Serve(serve::Serve),
    /// Look for damage in a drive directory or a saved drive, and recover what is readable.
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
    #[command(hide = true)]
    Mark(mark::MarkArgs),
    /// The catalogue of modelled drives: show one, check, make or add your own.
    Drives(drives::Drives),
    /// Figures of real drives as others measured them: check them, add yours.
    Ledger(ledger::LedgerArgs),
    /// What has a name: drives, profiles, policies, options of fio and DISKSPD.
    List(list::List),
    /// Read the health that a drive reports, real or modelled, and forecast when it is worn out.
    Inspect(inspect::Inspect),
    /// Print a run directory's results again, and rewrite its report.html.
    Report(report::ReportArgs),
    /// Put several runs side by side.
    Compare(compare::Compare),
    /// Run the SNIA Performance Test Specification on a modelled drive.
    Snia(snia::Snia),
    /// Look at a trace, or turn it into another format.
    Trace(crate::args::trace::TraceArgs),
    /// Run a modelled drive under a load: WAF, wear, IOPS and latency.
    Simulate(Box<simulate::Simulate>),
    /// Fit models to what was measured of a drive, and predict other loads with intervals.
    Twin(twin::TwinArgs),
    /// Probe a drive's buffer, caches, spare area and superblocks; write them as a drive file.
    Fingerprint(fingerprint::FingerprintArgs),
    /// Age a modelled drive over its whole life: wear, failures, and the worn drive to keep.
    Age(Box<age::AgeArgs>),
    /// Endurance of drives under JESD219's enterprise stream, against their ratings.
    Endurance(endurance::EnduranceArgs),
    /// Compare write amplification with closed forms and a reference simulator.
    #[command(hide = true)]
    Theory(theory::Theory),
    /// Run the experiments of five articles and put every published figure beside ours.
    Reproduce(reproduce::Reproduce),
    /// Volumes of a cloud, whose speed is an account: was it a burst, and what to buy?
    Volumes(Box<volumes::VolumesArgs>),
    /// Hosts as loads: ZFS's intent log, a cache tier, a file system, a database.
    Host(host::Host),
    /// Shell completions, on standard output.
    #[command(hide = true)]
    Completions {
        /// Which shell.
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Man pages, into a directory.
    #[command(hide = true)]
    Man {
        /// Where to; created if needed.
        directory: PathBuf,
    },
}

impl CliCommand {
    /// Carries it out.
    ///
    /// # Errors
    /// What its function in [`crate::commands`] says.
    pub fn run(self) -> Result<CommandExit, CliFailure> {
        match self {
            CliCommand::Qualify(args) => qualify::qualify(&args),
            CliCommand::Watch(args) => watch::watch(&args),
            CliCommand::Diagnose(args) => diagnose::diagnose(&args),
            CliCommand::Run(args) => run::run(&args),
            CliCommand::Create(args) => create::create(&args),
            CliCommand::Serve(args) => serve::serve(&args),
            CliCommand::Check(args) => check::check(&args),
            CliCommand::Power(args) => power::power(&args),
            CliCommand::Pull(args) => pull::pull(&args),
            CliCommand::Crashtest(args) => crashtest::crashtest(&args),
            CliCommand::Conform(args) => conform::run(&args),
            CliCommand::Mark(args) => mark::make_mark(&args),
            CliCommand::Drives(args) => drives::drives(&args.action),
            CliCommand::Ledger(args) => ledger::ledger(&args),
            CliCommand::List(args) => list::list(&args),
            CliCommand::Inspect(args) => inspect::inspect(&args),
            CliCommand::Report(args) => report::report(&args),
            CliCommand::Compare(args) => compare::compare(&args),
            CliCommand::Snia(args) => snia::snia(&args),
            CliCommand::Trace(args) => trace::trace(&args.action),
            CliCommand::Simulate(args) => simulate::simulate(&args),
            CliCommand::Twin(args) => twin::twin(&args),
            CliCommand::Fingerprint(args) => fingerprint::fingerprint(&args),
            CliCommand::Age(args) => age::age(&args),
            CliCommand::Endurance(args) => endurance::endurance(&args),
            CliCommand::Theory(args) => theory::theory(&args),
            CliCommand::Reproduce(args) => reproduce::reproduce(&args),
            CliCommand::Volumes(args) => volumes::volumes(&args),
            CliCommand::Host(args) => host::host(&args),
            CliCommand::Completions { shell } => generate::completions(shell, &mut Cli::command()),
            CliCommand::Man { directory } => generate::man(&directory, Cli::command()),
        }
    }
}

#[cfg(test)]
mod tests;
