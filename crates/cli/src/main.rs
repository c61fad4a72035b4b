//! The `ssdlab` command: arguments to a lab plan to an exit code.

#[macro_use]
mod terminal;

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
    let matches = groups::grouped(Cli::command())
        .try_get_matches()
        .unwrap_or_else(|error| end_with(&error));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| end_with(&error));
    match cli.command.run() {
        Ok(exit) => ExitCode::from(exit as u8),
        Err(CliFailure::BrokenPipe) => ExitCode::SUCCESS,
        Err(failure) => {
            tell!("{failure}");
            ExitCode::from(2)
        }
    }
}

/// Prints clap's help or error. An error that quotes what would drive the terminal has no colours.
fn end_with(error: &clap::Error) -> ! {
    let text = error.render().to_string();
    if error.use_stderr() && ssdlab_view::text::escape_controls(&text) != text {
        tell!("{}", text.trim_end());
        std::process::exit(error.exit_code());
    }
    error.exit()
}
