//! How well cliffs and throttling are foretold, on modelled drives in use drawn by seed:
//!
//!     cargo run --release -p ssdlab-watch --example forecast -- FIRST_SEED COUNT
//!
//! `-- FIRST_SEED COUNT known`: what a kernel and SMART can say of the beginning is said of every
//! drive, and without error.
//!
//! `-- real`: real drives whose cliff others have measured.
//!
//! Each drive is one of the catalogue with parameters of its own, a history and a load. It runs in
//! virtual time until writes become slow, it throttles, or nothing has come. The forecaster has the
//! catalogue's entry and what a stranger's kernel shows. Beside it, two null models.

mod real;
mod run;
mod score;
mod truth;

use score::{ForecastScore, score};
use ssdlab_base::parallel;
use std::time::Instant;
use truth::DrawnDrive;

fn main() {
    if std::env::args().nth(1).is_some_and(|word| word == "real") {
        return real::print();
    }
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let is_known = words.pop_if(|word| word == "known").is_some();
    let numbers: Vec<u64> = words
        .iter()
        .map(|word| word.parse().expect("FIRST_SEED COUNT [known]"))
        .collect();
    let [first, count] = numbers[..] else {
        panic!("FIRST_SEED COUNT [known]");
    };
    let seeds: Vec<u64> = (first..first + count).collect();
    let mut total = ForecastScore::default();
    parallel::each(
        &seeds,
        2,
        |&seed| {
            let begun = Instant::now();
            let mut drawn = DrawnDrive::new(seed).expect("a drive");
            if is_known {
                drawn.evidence = drawn.beginning.clone();
            }
            let run = run::run(&drawn);
            let ran = begun.elapsed();
            let scored = score(&drawn, &run);
            (scored, ran.as_secs_f64(), begun.elapsed().as_secs_f64())
        },
        |index, (scored, ran, all)| {
            println!(
                "seed {} {} [{ran:.1} s, {all:.1} s]",
                seeds[index], scored.line
            );
            total.add(&scored);
        },
    );
    println!("{}", total.text());
}
