//! Article zil: how the intent log writes its device, by `iopattern` and `seeksize`.

use super::experiment::{Outcome, Setup, stopped};
use ssdlab_base::LabError;
use ssdlab_bench::analysis::stats;
use ssdlab_hosts::zil::published::{SEEKS_FIVE, SEEKS_ONE, total_variation};
use ssdlab_hosts::zil::{FixedTarget, LogHost, Preset, RunOptions};
use ssdlab_load::trace::PatternRow;
use ssdlab_ssd::Nanos;

/// The X1, the slides' log device, has 4 GB.
const DEVICE: u64 = 4 << 30;
/// What every command takes: the pattern does not hang on it.
const LATENCY: Nanos = Nanos::from_micros(50);

/// Runs as many writers as streams, each in a file system of its own. As long as it takes for about
/// as many commands as were published.
///
/// # Errors
/// When the host's parameters contradict themselves, or the run is stopped.
pub fn run(streams: usize, setup: &Setup<'_>) -> Result<Outcome, LabError> {
    let (seconds, published) = match streams {
        1 => (116, &SEEKS_ONE[..]),
        _ => (300, &SEEKS_FIVE[..]),
    };
    let mut host = LogHost::new(Preset::V2010.host(streams, streams, DEVICE, setup.seed)?);
    let mut device = FixedTarget::new(DEVICE, LATENCY, LATENCY);
    let options = RunOptions {
        duration: Nanos::from_secs(seconds),
        interval: Nanos::from_secs(1),
        stop: setup.stop,
    };
    let found = ssdlab_hosts::zil::run(&mut host, &mut device, &options, &mut |_| Ok(()))?;
    if found.interrupted {
        return Err(stopped());
    }
    let mut outcome = Outcome::default();
    let rows = &found.rows;
    let of = |get: &dyn Fn(&PatternRow) -> u64| -> Vec<f64> {
        rows.iter().map(|row| get(row) as f64).collect()
    };
    let random = of(&PatternRow::random_pct);
    let share = |keep: &dyn Fn(f64) -> bool| {
        random.iter().filter(|value| keep(**value)).count() as f64 / random.len() as f64
    };
    outcome.value("random_max", random.iter().copied().fold(0.0, f64::max));
    outcome.value("random_mean", stats::mean(&random));
    outcome.value("random_low_share", 100.0 * share(&|value| value <= 2.0));
    let inside = |value: f64| (21.0..=71.0).contains(&value);
    outcome.value("random_inside", 100.0 * share(&inside));
    outcome.value("avg", stats::mean(&of(&PatternRow::mean)));
    outcome.value("count", stats::mean(&of(&|row| row.count)));
    outcome.value("kw", stats::mean(&of(&PatternRow::kib_written)));
    outcome.value("min", found.total.min as f64);
    outcome.value("max", found.total.max as f64);
    outcome.seeks = found.seeks.buckets();
    outcome.value("seek_distance", total_variation(&outcome.seeks, published));
    let zero = outcome.seeks.iter().find(|(bucket, _)| *bucket == 0);
    let zero = zero.map_or(0, |(_, count)| *count) as f64;
    outcome.value("seek_zero", 100.0 * zero / found.seeks.count() as f64);
    outcome.random_pct = rows.iter().map(PatternRow::random_pct).collect();
    let seeks: u64 = outcome.seeks.iter().map(|(_, count)| count).sum();
    let whole = if seeks + 1 == found.total.count {
        Ok(())
    } else {
        Err(format!(
            "{seeks} seeks between {} commands",
            found.total.count
        ))
    };
    outcome.check("every command but the first is a seek", whole);
    Ok(outcome)
}
