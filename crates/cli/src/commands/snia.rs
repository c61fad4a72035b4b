//! `ssdlab snia`: the SNIA Performance Test Specification on a modelled drive.

use crate::args::OutputArgs;
use crate::failure::{Exit, Failure};
use crate::output::{
    Reserved, arguments, print, print_json, run_dir, say, self_checked, write_file, write_json,
};
use crate::progress::{Watch, stop_on_signal};
use clap::{Args, ValueEnum};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_judge::snia;
use ssdlab_judge::snia::{Class, Suite, Test, Tested};
use std::fmt::Write;
use std::path::Path;

/// `ssdlab snia`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab snia drive:intel-dc-s3700-400gb --to 2GiB
  ssdlab snia drive:consumer-sata-1tb --class client --test iops --to 4GiB
On a real drive the tests take days: `ssdlab profiles` has a round of each.")]
pub struct Snia {
    /// A modelled drive: drive:NAME or drive:FILE.toml.
    #[arg(value_name = "TARGET")]
    pub target: String,
    /// Only this test, of iops, throughput, latency, write-saturation, host-idle-recovery,
    /// cross-stimulus-recovery, composite, demand-intensity; may be given several times.
    #[arg(long, value_name = "TEST")]
    pub test: Vec<String>,
    /// Client or enterprise: write cache, range and demand.
    #[arg(long, value_enum, default_value = "enterprise")]
    pub class: ClassName,
    /// Scale the drive down to about this size, and all times with it; the report says so.
    #[arg(long, value_name = "SIZE")]
    pub to: Option<String>,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `--class`.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub enum ClassName {
    /// Write cache disabled, all of the drive.
    Enterprise,
    /// Write cache enabled, 75 % of the drive.
    Client,
}

fn request(args: &Snia, now: Utc) -> Result<snia::Request, LabError> {
    let drive = args.target.strip_prefix("drive:").ok_or_else(|| {
        LabError::refused(
            format!("`{}` is no modelled drive", args.target),
            "name one as drive:NAME (see `ssdlab drives list`); for a real drive, `ssdlab run \
             --profile pts-iops` and its like run one round of each test",
        )
    })?;
    let named: Result<Vec<Test>, LabError> = args.test.iter().map(|t| Test::named(t)).collect();
    let named = named?;
    Ok(snia::Request {
        drive: drive.to_owned(),
        class: match args.class {
            ClassName::Enterprise => Class::Enterprise,
            ClassName::Client => Class::Client,
        },
        tests: match named.is_empty() {
            true => Test::ALL.to_vec(),
            false => named,
        },
        to: args.to.as_deref().map(parse_size).transpose()?,
        seed: args.seed,
        started_at: now.rfc3339(),
        arguments: arguments(),
    })
}

/// Runs the tests; each leaves its page when it ends.
///
/// # Errors
/// When the drive or a test is not known, or results cannot be written.
pub fn snia(args: &Snia) -> Result<Exit, Failure> {
    let now = Utc::now();
    let request = request(args, now)?;
    let (directory, existing) = run_dir(&args.output, "snia", now);
    let stop = stop_on_signal()?;
    let _reserved = Reserved::new(&directory, existing)?;
    let mut watch = Watch::new(args.output.quiet);
    let mut failed = None;
    let mut keep = |suite: &Suite| match write(&directory, suite) {
        Ok(()) => Ok(()),
        Err(failure) => {
            let text = failure.to_string();
            failed = Some(failure);
            Err(LabError::refused(text, ""))
        }
    };
    let found = snia::suite(&request, &mut watch, &stop, &mut keep);
    drop(watch);
    if let Some(failure) = failed {
        return Err(failure);
    }
    let suite = found?;
    if args.output.json {
        print_json(&suite)?;
    } else {
        print(&text(&suite))?;
    }
    say(
        args.output.quiet,
        &format!(
            "\nresults: {0}/  a page per test: {0}/TEST.html",
            directory.display()
        ),
    );
    let failures: Vec<String> = suite
        .tests
        .iter()
        .flat_map(|t| t.failures.clone())
        .collect();
    Ok(self_checked(&failures))
}

/// What there is so far: the rows, the result, and the page of the last test.
fn write(directory: &Path, suite: &Suite) -> Result<(), Failure> {
    write_file(&directory.join("rounds.csv"), &snia::csv(&suite.tests))?;
    write_json(&directory.join("snia.json"), suite)?;
    if let Some(last) = suite.tests.last() {
        let page = directory.join(format!("{}.html", last.test.name()));
        write_file(&page, &snia::page(suite, last))?;
    }
    Ok(())
}

fn text(suite: &Suite) -> String {
    let mut text = format!(
        "SNIA PTS 2.0.2, {} class, on {}\n",
        suite.class.name(),
        suite.facts.name
    );
    for tested in &suite.tests {
        test(tested, &mut text);
    }
    if let Some(reduced) = &suite.reduced {
        let _ = writeln!(text, "\n{reduced}");
    }
    text
}

fn test(tested: &Tested, text: &mut String) {
    let rounds = tested.rows.len();
    let _ = writeln!(text, "\n{}: {rounds} points", tested.test.title());
    for one in &tested.tracked {
        let said = match &one.steady {
            None => "fewer than five rounds".to_owned(),
            Some(steady) => format!(
                "{} in rounds {} to {}: range {:.1} %, excursion {:.1} %",
                if steady.attained {
                    "steady"
                } else {
                    "not steady"
                },
                steady.window_start + 1,
                steady.window_start + steady.window.len(),
                steady.range_share * 100.0,
                steady.excursion_share * 100.0
            ),
        };
        let _ = writeln!(text, "  {}: {said}", one.name);
    }
}
