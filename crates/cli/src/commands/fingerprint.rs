//! `ssdlab fingerprint`: a drive's values, probed through the block interface.

mod args;

pub use args::FingerprintArgs;

use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, print_result, run_dir, say, write_file, write_json};
use crate::progress::{RateBar, stop_on_signal};
use crate::target::kept;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::named::TargetName;
use ssdlab_twin::fingerprint::course::ProbeCost;
use ssdlab_twin::fingerprint::probes::Probe;
use ssdlab_twin::fingerprint::{FingerprintProgress, FingerprintRequest, file, page, show, take};

/// Announces the plan, then a line for each probe.
struct FingerprintLines {
    quiet: bool,
    bar: Option<RateBar>,
}

impl FingerprintProgress for FingerprintLines {
    fn filling(&mut self, done: u64, total: u64) {
        let bar = self
            .bar
            .get_or_insert_with(|| RateBar::new("filling a new file", 0.0, self.quiet));
        bar.bytes(done, total);
    }

    fn announced(&mut self, plan: &[(Probe, ProbeCost)], left_out: &[(Probe, String)]) {
        self.bar = None;
        say(self.quiet, &show::plan(plan, left_out));
    }

    fn begins(&mut self, probe: Probe) {
        say(self.quiet, probe.name());
    }
}

/// Takes the fingerprint of a target.
///
/// # Errors
/// When the target cannot be used or may not be written, or results cannot be written.
pub fn fingerprint(args: &FingerprintArgs) -> Result<CommandExit, CliFailure> {
    let request = FingerprintRequest {
        target: TargetName::parse(&args.target)?,
        open: args.on.options()?,
        kept,
        capacity: args.capacity,
        budget: args.budget()?,
        seed: args.seed,
    };
    let (dir, existing) = run_dir(&args.output, "fingerprint", Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let quiet = args.output.quiet;
    let stop = stop_on_signal()?;
    let fingerprint = take(&request, &mut FingerprintLines { quiet, bar: None }, &stop)?;
    write_json(&dir.join("fingerprint.json"), &fingerprint)?;
    write_file(
        &dir.join("report.html"),
        &page::fingerprint_page(&fingerprint),
    )?;
    write_file(&dir.join(file::FILE), &file::drive_file(&fingerprint)?)?;
    print_result(args.output.json, &fingerprint, || show::text(&fingerprint))?;
    let place = dir.display();
    say(
        quiet,
        &format!("drive: {place}/{}  page: {place}/report.html", file::FILE),
    );
    Ok(CommandExit::good_if(
        fingerprint.values.iter().any(|value| value.value.is_some()),
        CommandExit::Unknown,
    ))
}
