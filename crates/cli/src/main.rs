//! The `ssdlab` command: arguments to a lab plan to an exit code.

/// Writes a line to standard error. Where nobody reads it any more (`2>&1 | head`), the work and
/// its exit code stand all the same; `eprintln!` would end the program as if it were broken.
macro_rules! tell {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod args;
mod clock;
mod commands;
mod failure;
mod output;
mod progress;
mod target;

use args::{Cli, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

/// Outcome of a command that ran to its end, as an exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or the drive passes.
    Good = 0,
    /// The drive fails the role.
    Fails = 1,
    /// A self-check failed or the target broke; results were kept.
    Error = 2,
    /// The evidence does not tell.
    Unknown = 3,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome = match cli.command {
        Command::Qualify(args) => commands::qualify::qualify(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Create(args) => commands::create::create(&args),
        Command::Serve(args) => commands::serve::serve(&args),
        Command::Power(args) => commands::power::power(&args),
        Command::Crashtest(args) => commands::crashtest::crashtest(&args),
        Command::Mark(args) => commands::crashtest::make_mark(&args),
        Command::Drives(args) => commands::drives::drives(&args.action),
        Command::Inspect(args) => commands::inspect::inspect(&args),
        Command::Report(args) => commands::report::report(&args),
        Command::Compare(args) => commands::report::compare(&args),
        Command::Profiles { name, json } => commands::profiles::profiles(name.as_deref(), json),
        Command::Trace(args) => commands::trace::trace(&args.action),
        Command::Simulate(args) => commands::simulate::simulate(&args),
        Command::Age(args) => commands::age::age(&args),
        Command::Endurance(args) => commands::endurance::endurance(&args),
        Command::Mirror(args) => commands::mirror::mirror(&args),
        Command::Smart(args) => commands::smart::smart(&args),
        Command::Policies { json } => commands::policies::policies(json),
        Command::Theory(args) => commands::theory::theory(&args),
        Command::Reproduce(args) => commands::reproduce::reproduce(&args),
        Command::Zil(args) => commands::zil::zil(&args),
        Command::Months(args) => commands::months::months(&args),
        Command::Tier(args) => commands::tier::tier(&args),
        Command::Oltp(args) => commands::oltp::oltp(&args),
        Command::Options { language } => commands::generate::options(language),
        Command::Completions { shell } => commands::generate::completions(shell),
        Command::Man { directory } => commands::generate::man(&directory),
    };
    match outcome {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(Failure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            tell!("{failure}");
            ExitCode::from(2)
        }
    }
}
