//! Modelled drives with known spare area, fitted as if they had been measured:
//! `cargo run --release -p ssdlab-twin --example self_test -- DRIVES`
//!
//! Each drive has a layout, spare area, costs and loads of its own, drawn from a seed; its rates
//! have 2 % noise. It is fitted from uniform and one skewed load; then from these with counted
//! WAF. How many spare areas are stated, and how many of these are wrong by more than 10 %? Last, a
//! drive whose scattered writes cost more than usual, without and with the rate before its cliff.

#[path = "../tests/drawn/mod.rs"]
mod drawn;

use drawn::{DEAR, Drawn, dear_scatter, fitted};
use ssdlab_base::{LabError, parallel};

fn main() -> Result<(), LabError> {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok());
    let seeds: Vec<u64> = (0..count.unwrap_or(60)).collect();
    for counted in [false, true] {
        let work = |seed: &u64| fitted(&Drawn::new(*seed), counted);
        let all = parallel::all(&seeds, parallel::cores(), work)?;
        let stated = all.iter().filter(|found| found.value.is_some()).count();
        let right = all.iter().filter(|found| found.is_right()).count();
        let inside = all.iter().filter(|found| found.is_inside()).count();
        println!(
            "counted WAF {counted}: {} drives, {stated} stated, {right} of them within 10 %, {} \
             wrong with confidence; {inside} within the 90 % interval; median width {:.2}",
            all.len(),
            stated - right,
            drawn::median_width(&all)
        );
    }
    for before in [false, true] {
        let (ratio, [low, high]) = dear_scatter(before)?;
        println!(
            "rate before the cliff {before}: another load predicted {:+.1} % off; clean random \
             rate {low:.3} to {high:.3} of the sequential one, true {:.3}",
            100.0 * (ratio - 1.0),
            1.0 / (1.0 + DEAR)
        );
    }
    Ok(())
}
