//! `ssdlab drives new`: a drive file from the facts of a data sheet.

mod form;
mod given;

use crate::failure::{CliFailure, CommandExit};
use crate::output::print;
use clap::Args;
use given::GivenFacts;
use ssdlab_base::LabError;
use ssdlab_life::draft::recognised::complete;
use ssdlab_life::draft::{self, DraftQuestion, QUESTIONS};
use ssdlab_predict::rates;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// `ssdlab drives new`.
#[derive(Args, Debug)]
#[command(after_help = "\
Facts, each `KEY=VALUE`; those with * are needed. At a terminal, without any,
they are asked for, and an empty answer leaves a fact out. A fact from elsewhere
says so: slc=15GB[measured: PC World, February 2020]; or teardown, assumed.
  name*                  lower-case letters, digits, hyphens
  title                  maker, model and capacity
  source*                where the facts are from
  capacity*              960GB
  interface*             sata, sas, pcie3, pcie4 or pcie5
  protected*             yes: acknowledged writes survive a power cut; no
                         (a drive of `ssdlab drives known`, named by title or
                         name, needs neither this nor cells, rated-writes; of
                         one that others measured, `ledger:NAME` before the
                         facts takes all that the ledger has)
  class                  client or enterprise; else by `protected`
  cells                  slc, mlc, tlc (else) or qlc
  map                    dram (else), or host: no DRAM
  raw, dram              flash and DRAM on the board: 1024GiB
  random-read            4 KiB a second: 540000 or 540k
  random-write, mixed    the same; mixed: 70 % reads
  depth, span            of the random rates; else 32, the whole drive
  sequential-read        3000MB/s
  sequential-write       the same; into the pSLC cache, if there is one
  read-latency           4 KiB in order, one at a time: 15us
  write-latency, random-read-latency
  rated-writes           600TB
  dwpd, years
  slc, slc-empty         pSLC cache: always there, and of an empty drive
  direct-write           writes in order past the cache

Examples:
  ssdlab drives new name=my-drive source='its data sheet' capacity=960GB \\
      interface=pcie3 protected=yes random-read=400k random-write=40k
  ssdlab drives new ledger:crucial-mx500
  ssdlab drives new                     # asks

Rules: docs/catalogue.md, \"A file from a data sheet\".")]
pub struct NewDriveArgs {
    /// Facts: KEY=VALUE; before them, `ledger:NAME`.
    facts: Vec<String>,
    /// The file to write; without it, NAME.toml. `-` is standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Writes the file; one that exists is never replaced.
///
/// # Errors
/// When a fact is missing or wrong, facts contradict each other, or the file exists.
pub fn new(args: &NewDriveArgs) -> Result<CommandExit, CliFailure> {
    let GivenFacts {
        mut facts,
        mut keys,
        of_family,
    } = GivenFacts::read(&args.facts)?;
    let mut recognised = String::new();
    if keys.is_empty() && std::io::stdin().is_terminal() {
        form::ask(&mut facts)?;
    } else {
        recognised = complete(&mut facts, &mut keys)?;
        let missing = QUESTIONS
            .iter()
            .find(|q| q.needed && !keys.iter().any(|given| given == q.key));
        if let Some(DraftQuestion { key, text, .. }) = missing {
            return Err(LabError::refused(format!("the fact `{key}` is missing"), *text).into());
        }
    }
    let text = draft::draft(&facts)?;
    let out = args.out.clone();
    let out = out.unwrap_or_else(|| PathBuf::from(format!("{}.toml", facts.name)));
    if out.as_os_str() == "-" {
        print(&text)?;
        return Ok(CommandExit::Good);
    }
    write_new(&out, &text).map_err(|error| LabError::file("writing", &out, error))?;
    let rates = rates::text(&rates::main_rates(&facts)?);
    let warranty = match (facts.years, facts.rated_years()) {
        (None, Some(years)) => format!("Assumed: a warranty of {years} years (years=...).\n\n"),
        _ => String::new(),
    };
    print(&format!(
        "{file}\n\n{of_family}{recognised}{rates}\n{warranty}\
         Serve it as drive:{file}, hold it against its sheet with\n\
         `ssdlab drives validate {file}`, fit from it with\n`ssdlab twin fit --from {file}`.\n",
        file = out.display()
    ))?;
    Ok(CommandExit::Good)
}

fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(text.as_bytes())
}
