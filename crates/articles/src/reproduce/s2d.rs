//! Article s2d: a consumer drive as a cache device, buffered and written through.
//!
//! The drive is prepared once (a 100 GiB file written a little over twice, ten idle minutes) and
//! forked; both commands begin on the same state.

use super::experiment::{Outcome, Series, Setup, stopped};
use ssdlab_base::LabError;
use ssdlab_base::check::Check;
use ssdlab_bench::analysis::{series, stats, write_cliff};
use ssdlab_bench::device::{ModelledTarget, Target};
use ssdlab_bench::engine;
use ssdlab_bench::engine::Unobserved;
use ssdlab_bench::record::{Ending, RunRecord, Second};
use ssdlab_drives::catalogue;
use ssdlab_load::diskspd;
use ssdlab_load::plan::Plan;
use ssdlab_ssd::{Nanos, Op};

const FILE: u64 = 100 << 30;
/// A little over twice, in per cent of the file.
const FILL_PCT: u64 = 205;
const IDLE: Nanos = Nanos::from_secs(600);
/// Seconds that count as before and as after the cliff: well clear of it, and of both ends.
const BEFORE: std::ops::Range<usize> = 5..100;
const AFTER: std::ops::Range<usize> = 600..1795;

/// Runs both commands on the named drive.
///
/// # Errors
/// When the drive is not in the catalogue or does not fit in memory, or the run is stopped.
pub fn run(drive: &str, setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let entry = catalogue::drive(drive)?;
    let mut outcome = Outcome {
        rests_on: entry.rests_on(),
        ..Outcome::default()
    };
    let mut fresh = ModelledTarget::new(&entry, Some(FILE))?;
    let fill = Plan::fill(FILE * FILL_PCT / 100);
    let record = engine::run(&fill, &mut fresh, &mut Unobserved, setup.stop)?;
    keep_checks(&mut outcome, "fill", &record)?;
    let ready = fresh.now() + IDLE;
    fresh.reap(Some(ready), &mut Vec::new())?;
    let again = fresh.clone();
    for (name, cache, mut target) in [("buffered", "-Su", again), ("through", "-Suw", fresh)] {
        let plan = plan(cache, setup.seed)?;
        let record = engine::run(&plan, &mut target, &mut Unobserved, setup.stop)?;
        keep_checks(&mut outcome, name, &record)?;
        measure(&mut outcome, name, &record.seconds);
    }
    compare(&mut outcome, &entry);
    Ok(outcome)
}

/// The article's command line.
fn plan(cache: &str, seed: u64) -> Result<Plan, LabError> {
    let line = format!("diskspd.exe -t8 -b4k -r4k -o1 -w30 {cache} -D -L -d1800 FILE");
    let words: Vec<String> = line.split(' ').map(String::from).collect();
    let mut plan = diskspd::parse(&words)?;
    for job in plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs) {
        job.seed = seed;
    }
    Ok(plan)
}

fn keep_checks(outcome: &mut Outcome, name: &str, record: &RunRecord) -> Result<(), LabError> {
    match &record.ending {
        Ending::Complete => {}
        Ending::Interrupted => return Err(stopped()),
        Ending::Failed(why) => return Err(LabError::refused(why.clone(), "")),
    }
    let named = |check: &Check| (format!("{name}: {}", check.name), check.failure.clone());
    outcome.checks.extend(record.checks.iter().map(named));
    Ok(())
}

/// The part of `values` that `range` names, as far as there is one.
fn part(values: &[f64], range: std::ops::Range<usize>) -> &[f64] {
    let end = range.end.min(values.len());
    &values[range.start.min(end)..end]
}

/// Standard deviation over the mean.
fn unevenness(values: &[f64]) -> f64 {
    stats::population_deviation(values) / stats::mean(values)
}

fn measure(outcome: &mut Outcome, name: &str, seconds: &[Second]) {
    let all = series::iops(seconds, 0, &Op::ALL);
    let writes = series::iops(seconds, 0, &[Op::Write]);
    let (before, after) = (part(&all, BEFORE), part(&all, AFTER));
    let mut keep = |what: &str, value: f64| outcome.value(format!("{name}_{what}"), value);
    if let Some(cliff) = write_cliff(seconds, 0) {
        keep("cliff_s", cliff.at_s);
        keep("drop_share", 1.0 - cliff.after / cliff.before);
    }
    keep("before", stats::mean(before));
    keep("after", stats::mean(after));
    keep("drop", stats::mean(before) - stats::mean(after));
    keep("writes_after", stats::mean(part(&writes, AFTER)));
    keep("unevenness_before", unevenness(before));
    keep("unevenness_after", unevenness(after));
    keep("mean", stats::mean(&all));
    keep("waf_after", waf(seconds));
    outcome.series.push(Series {
        name: name.to_owned(),
        step_s: 1.0,
        y: all,
    });
}

/// NAND bytes programmed / bytes written by the host, over [`AFTER`].
fn waf(seconds: &[Second]) -> f64 {
    let inside = |s: &&Second| usize::try_from(s.t_s).is_ok_and(|t| AFTER.contains(&t));
    let (mut nand, mut host) = (0, 0);
    for second in seconds.iter().filter(inside) {
        nand += second.nand_bytes_written.unwrap_or(0);
        host += second.ops[Op::Write as usize].bytes;
    }
    nand as f64 / host as f64
}

/// What follows from both runs together.
fn compare(outcome: &mut Outcome, entry: &catalogue::CatalogueDrive) {
    let of = |name: &str| outcome.values.get(name).copied().unwrap_or(f64::NAN);
    let ratio = of("through_mean") / of("buffered_mean");
    let lost = of("through_waf_after") / of("buffered_waf_after");
    outcome.value("through_over_buffered", ratio);
    outcome.value("through_waf_over_buffered", lost);
    if let Some(rated) = super::facts::rated_per_day(entry) {
        outcome.value("through_gb_day", rated / lost / 1e9);
    }
}
