//! How often the diagnosis names a planted fault first, over seeds: the table of docs/methods.md.
//! Healthy drives and pairs of faults too; of a pair, both must be among the first three.
//!
//!     cargo run --release -p ssdlab-judge --example planted -- FIRST_SEED COUNT

use ssdlab_base::{LabError, parallel};
use ssdlab_judge::ablate::planted::{FAULTS, planted};
use ssdlab_judge::ablate::{Load, diagnose_faults};
use ssdlab_ssd::rng::Rng;

/// What was named where another answer was right.
type Wrong = String;

/// `None` where the faults do not show; otherwise what was named wrongly, if so.
fn judged(seed: u64, faults: &[usize]) -> Result<Option<Option<Wrong>>, LabError> {
    let Some(drive) = planted(seed, faults)? else {
        return Ok(None);
    };
    let found = diagnose_faults(&drive, &Load::ALL, 1)?;
    let named: Vec<_> = found.iter().map(|fault| fault.cause).collect();
    let first = |count: usize| &named[..named.len().min(count)];
    let right = match faults {
        [] => named.is_empty(),
        [one] => named.first() == Some(&FAULTS[*one].1),
        more => more
            .iter()
            .all(|fault| first(3).contains(&FAULTS[*fault].1)),
    };
    let names: Vec<_> = named.iter().map(|cause| cause.name()).collect();
    Ok(Some(
        (!right).then(|| format!("{seed}: {}", names.join(" > "))),
    ))
}

fn row(title: &str, jobs: &[(u64, Vec<usize>)]) -> Result<(), LabError> {
    let one = |(seed, faults): &(u64, Vec<usize>)| judged(*seed, faults);
    let found = parallel::all(jobs, parallel::cores(), one)?;
    let shown: Vec<_> = found.into_iter().flatten().collect();
    let wrong: Vec<_> = shown.iter().flatten().cloned().collect();
    let right = shown.len() - wrong.len();
    println!(
        "{title:30} {right:3} of {:3}  {}",
        shown.len(),
        wrong.join("; ")
    );
    Ok(())
}

fn main() -> Result<(), LabError> {
    let mut args = std::env::args().skip(1);
    let mut number = |default: u64| args.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count) = (number(1), number(10));
    let seeds = first..first + count;
    for (index, (name, _)) in FAULTS.iter().enumerate() {
        let jobs: Vec<_> = seeds.clone().map(|seed| (seed, vec![index])).collect();
        row(name, &jobs)?;
    }
    let healthy = first..first + count * 6;
    row(
        "healthy",
        &healthy.map(|seed| (seed, Vec::new())).collect::<Vec<_>>(),
    )?;
    let pairs = (first..first + count * 3).filter_map(|seed| {
        let rng = &mut Rng::named(seed, "pair");
        let mut one = || rng.below(FAULTS.len() as u64) as usize;
        let (a, b) = (one(), one());
        (FAULTS[a].1 != FAULTS[b].1).then(|| (seed, vec![a, b]))
    });
    row("two at once", &pairs.collect::<Vec<_>>())
}
