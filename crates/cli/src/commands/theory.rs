//! `ssdlab theory`: write amplification held against closed forms and a reference.

use crate::args::OutputArgs;
use crate::failure::{CliFailure, CommandExit};
use crate::output::{ReservedDir, print, print_json, run_dir, say};
use crate::progress::stop_on_signal;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_base::clock::Utc;
use ssdlab_life::theory::report::{TheoryReportInfo, TheoryRow};
use ssdlab_life::theory::suite::TheoryCase;
use ssdlab_life::theory::{drawn, report, suite};
use std::sync::atomic::Ordering;

/// `ssdlab theory`.
#[derive(Args, Debug)]
pub struct Theory {
    /// The whole grid: minutes to an hour instead of a minute.
    #[arg(long)]
    pub full: bool,
    /// This number of settings drawn by --seed instead: any policy, load and shape, half of the
    /// loads by Zipf's law, two thirds by way of a write buffer that coalesces.
    #[arg(long, value_name = "COUNT", conflicts_with = "full")]
    pub drawn: Option<usize>,
    /// Seed of the settings that are drawn.
    #[arg(long, default_value_t = 1, requires = "drawn")]
    pub seed: u64,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the suite and writes its page and CSV.
///
/// # Errors
/// When the results cannot be written.
pub fn theory(args: &Theory) -> Result<CommandExit, CliFailure> {
    let (dir, existing) = run_dir(&args.output, "theory", Utc::now());
    let _reserved = ReservedDir::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let cases = match args.drawn {
        Some(count) => drawn::cases(args.seed, count),
        None => suite::cases(args.full),
    };
    for case in &cases {
        case.drive()?;
    }
    let bar = bar(cases.len(), args.output.quiet);
    let threads = ssdlab_base::parallel::cores();
    let rows = suite::run(&cases, threads, &stop, TheoryCase::measure_drive, |row| {
        bar.set_message(format!("{} {}", row.policy, row.load));
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    let page = report::write(&dir, &about(args), &rows)?;
    if args.output.json {
        print_json(&rows)?;
    } else {
        print(&report::summary(&rows))?;
        if args.drawn.is_some() {
            print(&format!("\n{}\n", drawn::table(&rows)))?;
        }
    }
    say(args.output.quiet, &format!("\npage: {}", page.display()));
    Ok(if stop.load(Ordering::Relaxed) {
        CommandExit::Unknown
    } else if rows.iter().all(TheoryRow::agrees) {
        CommandExit::Good
    } else {
        CommandExit::Error
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

fn about(args: &Theory) -> TheoryReportInfo {
    let choice = match (args.full, args.drawn) {
        (_, Some(count)) => format!(" --drawn {count} --seed {}", args.seed),
        (true, None) => " --full".to_owned(),
        (false, None) => String::new(),
    };
    TheoryReportInfo {
        subject: "The modelled drive (page-mapped, counting gear)".to_owned(),
        protocol: vec![
            "Each drive is filled in random order, written six times over (thirty under skew), \
             then measured in batches of half its logical capacity: ten, and more while the 95 % \
             confidence interval is wider than 0.15 % of the mean."
                .to_owned(),
        ],
        command: format!("ssdlab theory{choice}"),
    }
}
