//! Settings drawn by a seed, which nobody chose: any policy under any load, of any shape, written
//! through or by way of a buffer that coalesces.

use super::load::PagePattern;
use super::protocol::{Protocol, SKEWED, UNIFORM};
use super::reference::{ReferencePolicy, ReferenceSetup};
use super::report::{FrontierSplit, TheoryRow};
use super::suite::{DRAWN, TheoryCase};
use ssdlab_ssd::rng::Rng;

/// Most pages of a drive, so that hundreds of settings take minutes.
const PAGES_MAX: usize = 64_000;
/// Batches at most: random victims need the most.
const BATCHES_MAX: usize = 400;

/// `count` settings, the same for a seed on every machine.
pub fn cases(seed: u64, count: usize) -> Vec<TheoryCase> {
    let mut rng = Rng::named(seed, "theory settings");
    (0..count).map(|_| case(&mut rng)).collect()
}

fn between(rng: &mut Rng, least: u64, most: u64) -> u64 {
    least + rng.below(most - least + 1)
}

fn policy(rng: &mut Rng) -> ReferencePolicy {
    match rng.below(6) {
        0 => ReferencePolicy::Greedy,
        1 => ReferencePolicy::Fifo,
        2 => ReferencePolicy::Random,
        3 => ReferencePolicy::DChoices(between(rng, 2, 12) as u32),
        4 => ReferencePolicy::CostBenefit,
        _ => ReferencePolicy::Windowed(between(rng, 10, 100) as u32),
    }
}

/// Half of the loads follow Zipf's law, from 0.5 to 1.3.
fn pattern(rng: &mut Rng) -> PagePattern {
    match rng.below(4) {
        0 => PagePattern::Uniform,
        1 => PagePattern::HotCold(between(rng, 60, 95) as u32, between(rng, 5, 40) as u32),
        _ => PagePattern::Zipf(between(rng, 50, 130) as f64 / 100.0),
    }
}

fn case(rng: &mut Rng) -> TheoryCase {
    let policy = policy(rng);
    let kind = pattern(rng);
    let frontiers = match (rng.below(3), kind) {
        (0, _) => FrontierSplit::Shared,
        (1, PagePattern::HotCold(..)) => FrontierSplit::HotCold,
        _ => FrontierSplit::Separate,
    };
    let np = [16, 24, 32, 48, 64, 96, 128][rng.below(7) as usize];
    let blocks = between(rng, 500, 1500).min((PAGES_MAX / np) as u64) as usize;
    let op_percent = between(rng, 7, 40) as u32;
    let streams = if frontiers == FrontierSplit::HotCold {
        2
    } else {
        1
    };
    let reserve = between(rng, 3, 6) as usize + 2 * (streams - 1);
    // A third is written through; the others have 16 to 511 pages of buffer.
    let buffer = match rng.below(3) {
        0 => 0,
        _ => {
            let doubled = 16 << rng.below(5);
            between(rng, doubled, 2 * doubled - 1) as usize
        }
    };
    let trims = match (kind, buffer, rng.below(3)) {
        (PagePattern::Uniform, 0, 0) => between(rng, 5, 30) as u32,
        _ => 0,
    };
    let usual = match kind {
        PagePattern::Uniform => UNIFORM,
        _ => SKEWED,
    };
    TheoryCase {
        group: DRAWN,
        setup: ReferenceSetup {
            blocks,
            np,
            logical_pages: blocks * np * 100 / (100 + op_percent as usize),
            reserve,
            open: 1,
            streams,
            separate: frontiers != FrontierSplit::Shared,
            policy,
            seed: rng.next_u64(),
        },
        op_percent,
        kind,
        buffer,
        protocol: Protocol {
            trims,
            seed: rng.next_u64(),
            batches_max: BATCHES_MAX,
            ..usual
        },
    }
}

/// How far rows are off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TheoryErrors {
    /// Rows.
    pub count: usize,
    /// Root of the mean square of the relative errors.
    pub rms: f64,
    /// Largest.
    pub worst: f64,
}

impl TheoryErrors {
    /// Of the rows for which `is_wanted` holds.
    pub fn of(rows: &[TheoryRow], is_wanted: impl Fn(&TheoryRow) -> bool) -> TheoryErrors {
        let errors = rows.iter().filter(|row| is_wanted(row));
        let errors: Vec<f64> = errors.map(|row| row.error().abs()).collect();
        let squares: f64 = errors.iter().map(|error| error * error).sum();
        TheoryErrors {
            count: errors.len(),
            rms: (squares / errors.len().max(1) as f64).sqrt(),
            worst: errors.iter().copied().fold(0.0, f64::max),
        }
    }
}

/// Rows by policy and by load, as a table in Markdown.
pub fn table(rows: &[TheoryRow]) -> String {
    let is_of = |text: &'static str| move |row: &TheoryRow| row.policy.starts_with(text);
    let is_under = |text: &'static str| move |row: &TheoryRow| row.load.starts_with(text);
    let is_buffered = |row: &TheoryRow| row.load.contains("buffer");
    let exponent = |row: &TheoryRow| {
        let words = row.load.trim_start_matches("Zipf ");
        words
            .split(',')
            .next()
            .and_then(|text| text.parse::<f64>().ok())
    };
    let is_steep = |row: &TheoryRow| exponent(row).is_some_and(|theta| theta > 0.95);
    let mut lines = vec![
        "| settings | number | rms | worst |".to_owned(),
        "|---|---:|---:|---:|".to_owned(),
    ];
    let mut add = |name: &str, errors: TheoryErrors| {
        let TheoryErrors { count, rms, worst } = errors;
        let (rms, worst) = (100.0 * rms, 100.0 * worst);
        lines.push(format!("| {name} | {count} | {rms:.2} % | {worst:.2} % |"));
    };
    add("all", TheoryErrors::of(rows, |_| true));
    for policy in [
        "greedy",
        "FIFO",
        "random",
        "d-choices",
        "cost-benefit",
        "windowed",
    ] {
        add(policy, TheoryErrors::of(rows, is_of(policy)));
    }
    add("uniform", TheoryErrors::of(rows, is_under("uniform")));
    add(
        "with trims",
        TheoryErrors::of(rows, |row| row.load.contains("trims")),
    );
    let is_hot_cold = |row: &TheoryRow| row.load.contains('/');
    add("hot and cold pages", TheoryErrors::of(rows, is_hot_cold));
    add(
        "Zipf to 0.95",
        TheoryErrors::of(rows, |row| exponent(row).is_some() && !is_steep(row)),
    );
    add("Zipf above 0.95", TheoryErrors::of(rows, is_steep));
    add(
        "of these by way of a buffer",
        TheoryErrors::of(rows, |row| is_steep(row) && is_buffered(row)),
    );
    add("by way of a buffer", TheoryErrors::of(rows, is_buffered));
    let is_law = |row: &TheoryRow| row.source == super::report::ExpectationSource::ClosedForm;
    add("against a closed form", TheoryErrors::of(rows, is_law));
    add(
        "against the reference",
        TheoryErrors::of(rows, |row| !is_law(row)),
    );
    lines.join("\n")
}
