//! `ssdlab list`: what the program knows by name. A table is one variant of [`ListTable`], one
//! module, and one arm of [`list`].

mod options;
pub mod policies;
mod profiles;
mod schemas;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{print, print_json};
use clap::{Args, Subcommand};
use ssdlab_drives::catalogue::show;

/// `ssdlab list`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab list drives
  ssdlab list profiles jesd219-enterprise
  ssdlab list policies --json
  ssdlab list options fio
  ssdlab list schemas result")]
pub struct List {
    /// Which table.
    #[command(subcommand)]
    pub table: ListTable,
}

/// `ssdlab list ...`.
#[derive(Subcommand, Debug)]
pub enum ListTable {
    /// Every drive of the catalogue.
    Drives {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// The workloads that have a name, with their sources.
    Profiles {
        /// Print this one, a fio job file.
        name: Option<String>,
        /// As JSON.
        #[arg(long, conflicts_with = "name")]
        json: bool,
    },
    /// Every policy of reclaim and placement, with its parameter and its paper.
    Policies {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// The options of fio or DISKSPD that are understood.
    Options {
        /// Which language.
        #[arg(value_enum)]
        language: options::WorkloadLanguage,
    },
    /// The JSON Schemas of outputs of commands and of files in run directories.
    Schemas {
        /// Print this one.
        name: Option<String>,
    },
}

/// Prints a table.
///
/// # Errors
/// When it has no entry of the given name, or standard output cannot be written.
pub fn list(args: &List) -> Result<CommandExit, CliFailure> {
    match &args.table {
        ListTable::Drives { json } => drives(*json)?,
        ListTable::Profiles { name, json } => profiles::profiles(name.as_deref(), *json)?,
        ListTable::Policies { json } => policies::policies(*json)?,
        ListTable::Options { language } => options::options(*language)?,
        ListTable::Schemas { name } => schemas::schemas(name.as_deref())?,
    }
    Ok(CommandExit::Good)
}

fn drives(json: bool) -> Result<(), CliFailure> {
    if json {
        return print_json(&show::list_json()?);
    }
    print(&show::list()?)
}
