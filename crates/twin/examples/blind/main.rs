//! How well a fingerprint finds the values of drives that are hidden behind the block interface.
//!
//!     cargo run --release -p ssdlab-twin --example blind -- FIRST_SEED COUNT
//!
//! Drives, counters and configurations are hidden; times have 2 % noise, of each command and of the
//! clock.

mod drives;
mod look;

use look::{is_right, look, truth};
use ssdlab_base::{LabError, parallel};

fn main() -> Result<(), LabError> {
    let mut args = std::env::args().skip(1);
    let mut number = |default: u64| args.next().and_then(|a| a.parse().ok()).unwrap_or(default);
    let (first, count) = (number(1), number(20));
    let seeds: Vec<u64> = (first..first + count).collect();
    let all = parallel::all(&seeds, parallel::cores(), |seed| look(*seed))?;
    let Some(one) = all.first() else {
        return Ok(());
    };
    let (mut given, mut wrong) = (0, 0);
    for at in 0..one.values.len() {
        let key = one.values[at].key;
        let (mut stated, mut right, mut off) = (0, 0, Vec::new());
        for outcome in &all {
            let value = &outcome.values[at];
            let (Some(found), Some(truth)) = (value.value, truth(&outcome.truth, key)) else {
                continue;
            };
            stated += 1;
            if is_right(value, found, truth, &outcome.truth) {
                right += 1
            } else {
                off.push(format!(
                    "{}: {found:.4e} for {truth:.4e}",
                    outcome.truth.seed
                ))
            }
        }
        if truth(&one.truth, key).is_some() {
            println!(
                "{key:22} stated {stated:3}, right {right:3}  {}",
                off.join("; ")
            );
            given += stated;
            wrong += stated - right;
        }
    }
    let mut costs: Vec<f64> = all.iter().map(|one| one.cost).collect();
    costs.sort_by(f64::total_cmp);
    let mut times: Vec<f64> = all.iter().map(|one| one.seconds).collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{} drives, {given} values, {wrong} wrong ({:.1} %); median cost {:.2} drive writes, \
         {:.0} s",
        all.len(),
        100.0 * f64::from(wrong) / f64::from(given.max(1)),
        costs[costs.len() / 2],
        times[times.len() / 2]
    );
    Ok(())
}
