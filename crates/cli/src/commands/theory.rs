//! `ssdlab theory`: write amplification held against closed forms and a reference.

use crate::args::OutputArgs;
use crate::clock::Utc;
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, print, print_json, run_dir, say};
use crate::progress::stop_on_signal;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_life::theory::report::{About, Row};
use ssdlab_life::theory::suite::Case;
use ssdlab_life::theory::{report, suite};
use std::sync::atomic::Ordering;

/// `ssdlab theory`.
#[derive(Args, Debug)]
pub struct Theory {
    /// The whole grid: minutes to an hour instead of a minute.
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the suite and writes its page and CSV.
///
/// # Errors
/// When the results cannot be written.
pub fn theory(args: &Theory) -> Result<Exit, Failure> {
    let (dir, existing) = run_dir(&args.output, "theory", Utc::now());
    let _reserved = Reserved::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let cases = suite::cases(args.full);
    for case in &cases {
        case.drive()?;
    }
    let bar = bar(cases.len(), args.output.quiet);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = suite::run(&cases, threads, &stop, Case::measure_drive, |row| {
        bar.set_message(format!("{} {}", row.policy, row.load));
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let page = report::write(&dir, &about(args), &rows)?;
    if args.output.json {
        print_json(&rows)?;
    } else {
        print(&summary(&rows))?;
    }
    say(args.output.quiet, &format!("\npage: {}", page.display()));
    Ok(if stop.load(Ordering::Relaxed) {
        Exit::Unknown
    } else if rows.iter().all(Row::agrees) {
        Exit::Good
    } else {
        Exit::Error
    })
}

fn bar(cases: usize, quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(Some(cases as u64), target);
    let template = "{pos:>4} of {len} {bar:20} {msg:30!} {eta:>4} left";
    bar.set_style(
        ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("=> "),
    );
    bar
}

/// A line per group and policy, then the misses.
fn summary(rows: &[Row]) -> String {
    let mut lines = vec![format!(
        "{:<12} {:<20} {:>6} {:>7} {:>10}",
        "group", "policy", "values", "misses", "worst"
    )];
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let key = (row.group.as_str(), row.policy.as_str());
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let same = |r: &&Row| (r.group.as_str(), r.policy.as_str()) == key;
        let of_key: Vec<&Row> = rows.iter().filter(same).collect();
        let worst = of_key.iter().map(|r| r.error().abs()).fold(0.0, f64::max);
        lines.push(format!(
            "{:<12} {:<20} {:>6} {:>7} {:>8.2} %",
            key.0,
            key.1,
            of_key.len(),
            of_key.iter().filter(|r| !r.agrees()).count(),
            100.0 * worst
        ));
    }
    for row in rows.iter().filter(|row| !row.agrees()) {
        lines.push(format!(
            "miss: {} {} {}, OP {} %, Np {}: expected {:.4}, measured {:.4}, {:+.2} %",
            row.policy,
            row.load,
            row.frontiers.title(),
            row.op,
            row.np,
            row.expected,
            row.measured,
            100.0 * row.error()
        ));
    }
    lines.join("\n")
}

fn about(args: &Theory) -> About {
    let full = if args.full { " --full" } else { "" };
    About {
        subject: "The modelled drive (page-mapped, counting gear)".to_owned(),
        protocol: vec![
            "Each drive is filled in random order, written six times over (thirty under skew), \
             then measured in batches of half its logical capacity: ten, and more while the 95 % \
             confidence interval is wider than 0.15 % of the mean."
                .to_owned(),
        ],
        command: format!("ssdlab theory{full}"),
    }
}
