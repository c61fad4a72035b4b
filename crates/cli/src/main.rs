//! The `ssdlab` command: arguments to a lab plan to an exit code.

#[macro_use]
mod tell;

mod args;
mod cli;
mod commands;
mod documents;
mod failure;
mod groups;
mod output;
mod progress;
mod renamed;
mod schemas;
mod target;

use clap::{CommandFactory, FromArgMatches};
use cli::Cli;
use failure::CliFailure;
use std::ffi::OsString;
use std::process::ExitCode;

#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    commands::conform::guest_if_called();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Err(refusal) = renamed::refuse_former_names(&arguments) {
        tell!("{}", CliFailure::Lab(refusal));
        return ExitCode::from(2);
    }
    let matches = groups::grouped(Cli::command()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match cli.command.run() {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(CliFailure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            tell!("{failure}");
            ExitCode::from(2)
        }
    }
}
