//! `ssdlab snia`: the SNIA Performance Test Specification on a modelled drive.

mod args;

pub use args::Snia;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{
    ReservedDir, arguments, print, print_json, run_dir, say, self_checked, write_file, write_json,
};
use crate::progress::{RunBars, stop_on_signal};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_judge::snia;
use ssdlab_judge::snia::{SniaTest, Suite};
use std::path::Path;

fn request(args: &Snia, started: Utc) -> Result<snia::SniaRequest, LabError> {
    let drive = args.target.strip_prefix("drive:").ok_or_else(|| {
        LabError::refused(
            format!("`{}` is not a modelled drive", args.target),
            "name one as drive:NAME (see `ssdlab list drives`); for a real drive, `ssdlab run \
             --profile pts-iops` and its like run one round of each test",
        )
    })?;
    let named: Result<Vec<SniaTest>, LabError> =
        args.test.iter().map(|t| SniaTest::named(t)).collect();
    let named = named?;
    Ok(snia::SniaRequest {
        drive: drive.to_owned(),
        class: args.class.into(),
        tests: if named.is_empty() {
            SniaTest::ALL.to_vec()
        } else {
            named
        },
        to: args.to.as_deref().map(parse_size).transpose()?,
        seed: args.seed,
        started_at: started.rfc3339(),
        arguments: arguments(),
    })
}

/// Runs the tests; each leaves its page when it ends.
///
/// # Errors
/// When the drive or a test is not known, or results cannot be written.
pub fn snia(args: &Snia) -> Result<CommandExit, CliFailure> {
    let started = Utc::now();
    let request = request(args, started)?;
    let (directory, existing) = run_dir(&args.output, "snia", started);
    let stop = stop_on_signal()?;
    let _reserved = ReservedDir::new(&directory, existing)?;
    let mut watch = RunBars::new(args.output.quiet);
    let mut failed = None;
    let mut keep = |suite: &Suite| match write(&directory, suite) {
        Ok(()) => Ok(()),
        Err(failure) => {
            let text = failure.to_string();
            failed = Some(failure);
            Err(LabError::refused(text, ""))
        }
    };
    let outcome = snia::suite(&request, &mut watch, &stop, &mut keep);
    drop(watch);
    if let Some(failure) = failed {
        return Err(failure);
    }
    let suite = outcome?;
    if args.output.json {
        print_json(&suite)?;
    } else {
        print(&snia::text(&suite))?;
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
fn write(directory: &Path, suite: &Suite) -> Result<(), CliFailure> {
    write_file(&directory.join("rounds.csv"), &snia::csv(&suite.tests))?;
    write_json(&directory.join("snia.json"), suite)?;
    if let Some(last) = suite.tests.last() {
        let page = directory.join(format!("{}.html", last.test.name()));
        write_file(&page, &snia::page(suite, last))?;
    }
    Ok(())
}
