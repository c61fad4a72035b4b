//! How often an investigation through the block interface names a planted fault first.
//!
//!     cargo run --release -p ssdlab-judge --example black_box -- FIRST_SEED COUNT
//!
//! The drives are those of the example `planted`; their counters and their configuration are
//! hidden, the interface is known. Healthy drives too.

use ssdlab_base::{LabError, parallel};
use ssdlab_bench::device::{ModelledTarget, TargetFacts, TargetKind};
use ssdlab_judge::ablate::Cause;
use ssdlab_judge::ablate::planted::{FAULTS, planted};
use ssdlab_judge::experiment::{
    ExperimentBench, Investigation, InvestigationAnswer, SmartSnapshot, investigate,
};
use std::sync::atomic::AtomicBool;

fn look(seed: u64, faults: &[usize]) -> Result<Option<Investigation>, LabError> {
    let Some(drive) = planted(seed, faults)? else {
        return Ok(None);
    };
    let pcie = drive.config().host.full_duplex;
    let bytes = drive.config().user_bytes;
    let facts = TargetFacts {
        capacity: bytes,
        interface: Some(if pcie { "nvme" } else { "sata" }.into()),
        ..TargetFacts::unknown("hidden".into(), TargetKind::BlockDevice)
    };
    let stop = AtomicBool::new(false);
    let mut bench = ExperimentBench {
        target: &mut ModelledTarget::around(drive, facts),
        bytes,
        seed: 1,
        stop: &stop,
        busy: true,
    };
    investigate(&mut bench, u64::MAX, &mut |_, _| {}, &mut |_| {
        SmartSnapshot::default()
    })
    .map(Some)
}

/// Named first, named as one of several, named wrongly, nothing shown.
#[derive(Default)]
struct Row {
    counts: [u64; 4],
    said: Vec<String>,
}

fn row(title: &str, seeds: &[u64], fault: Option<usize>) -> Result<[u64; 4], LabError> {
    let list: Vec<usize> = fault.into_iter().collect();
    let found = parallel::all(seeds, parallel::cores(), |seed| {
        Ok((*seed, look(*seed, &list)?))
    })?;
    let mut row = Row::default();
    for (seed, found) in found {
        let Some(found) = found else { continue };
        let right = |cause| fault.is_some_and(|fault| FAULTS[fault].1 == cause);
        let kind = match &found.answer {
            InvestigationAnswer::Cause { cause, .. } if right(*cause) => 0,
            InvestigationAnswer::OneOf(causes) if causes.iter().any(|cause| right(*cause)) => 1,
            InvestigationAnswer::NothingShown => 3,
            _ => 2,
        };
        row.counts[kind] += 1;
        if kind > 0 && (fault.is_some() || kind != 3) {
            row.said.push(format!("{seed}: {:?}", found.answer));
        }
    }
    let [first, several, wrong, nothing] = row.counts;
    println!(
        "{title:30} first {first:3}, one of two {several:3}, wrong {wrong:3}, nothing {nothing:3}  \
         {}",
        row.said.join("; ")
    );
    Ok(row.counts)
}

fn main() -> Result<(), LabError> {
    let mut args = std::env::args().skip(1);
    let mut number = |default: u64| args.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count) = (number(1), number(10));
    let seeds: Vec<u64> = (first..first + count).collect();
    let mut sum = [0; 4];
    // No experiment of minutes shows heat.
    let shown = |(_, (_, cause)): &(usize, &(&str, Cause))| *cause != Cause::Throttling;
    for (index, (name, _)) in FAULTS.iter().enumerate().filter(shown) {
        let counts = row(name, &seeds, Some(index))?;
        (0..4).for_each(|kind| sum[kind] += counts[kind]);
    }
    println!("of all: first, one of two, wrong, nothing: {sum:?}");
    let healthy: Vec<u64> = (first..first + 6 * count).collect();
    row("healthy", &healthy, None).map(|_| ())
}
