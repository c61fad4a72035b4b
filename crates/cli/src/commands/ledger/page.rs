//! `ssdlab ledger page`: the ledger as a static site.

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use clap::Args;
use ssdlab_predict::site;
use std::path::PathBuf;

/// `ssdlab ledger page`.
#[derive(Args, Debug)]
pub struct PageArgs {
    /// Folder for the pages.
    #[arg(long, value_name = "SITE")]
    out: PathBuf,
    /// Replace pages that are in it; other files stay.
    #[arg(long)]
    replace: bool,
}

/// Writes the site.
///
/// # Errors
/// When a page exists and may not be replaced, or cannot be written.
pub fn page(args: &PageArgs) -> Result<CommandExit, CliFailure> {
    let pages = site::pages()?;
    site::write(&args.out, &pages, args.replace)?;
    let index = args.out.join("index.html");
    print(&format!("{} pages: {}\n", pages.len(), index.display()))?;
    Ok(CommandExit::Good)
}
