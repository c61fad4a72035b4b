//! DISKSPD's text results, as version 2 prints them with `-Rtext -L -D`.
//!
//! The result tables only (`Total IO`, `Read IO`, `Write IO`, percentiles); the echo of the
//! parameters is replaced by the command line. A line is a job with all its threads together.
//! CPU figures are those of this process over the whole run.
//!
//! Source: the columns and formats of DISKSPD 2.

use super::diskspd_spans::{Cpu, DiskspdMachine, DiskspdSpan, spans};
use crate::analysis::latency::{merged, percentile_ns, shortest_ns, standard_deviation_ns};
use crate::analysis::stats::population_deviation;
use crate::record::{OpStats, RunRecord};
use ssdlab_load::plan::{Language, WorkloadPlan};
use std::fmt::{Arguments, Write};

const RULER: &str = "-------------------------------------------";

/// The record as DISKSPD's text.
pub fn diskspd_text(plan: &WorkloadPlan, record: &RunRecord, machine: &DiskspdMachine) -> String {
    let mut text = Text::default();
    if let Language::Diskspd { args, .. } = &plan.language {
        text.line(format_args!("\nCommand Line: {}", args.join(" ")));
    }
    for (number, span) in spans(plan, record).iter().enumerate() {
        text.line(format_args!("\n\nResults for timespan {}:", number + 1));
        text.line(format_args!("{}\n", "*".repeat(79)));
        if span.time_s <= 0.0 {
            text.line(format_args!(
                "The test was interrupted before the measurements began. \
                 No results are displayed."
            ));
            continue;
        }
        text.line(format_args!("actual test time:\t{:.2}s", span.time_s));
        text.line(format_args!("thread count:\t\t{}", span.threads));
        text.line(format_args!("proc count:\t\t{}", machine.processors));
        cpu(&mut text, Cpu::of(record, machine));
        for (kind, title) in [(2, "Total IO"), (0, "Read IO"), (1, "Write IO")] {
            text.line(format_args!("\n{title}"));
            section(&mut text, span, kind, record.facts.capacity);
        }
        percentiles(&mut text, &span.totals());
    }
    text.0
}

/// A growing text; writing to it cannot fail.
#[derive(Default)]
struct Text(String);

impl Text {
    fn line(&mut self, line: Arguments<'_>) {
        let _ = writeln!(self.0, "{line}");
    }
}

fn cpu(text: &mut Text, cpu: Cpu) {
    text.line(format_args!(
        "\nCPU |  Usage |  User  |  Kernel |  Idle\n{RULER}"
    ));
    text.line(format_args!(
        "avg.| {:>6.2}%| {:>6.2}%|  {:>6.2}%| {:>6.2}%",
        cpu.usage(),
        cpu.user,
        cpu.kernel,
        cpu.idle(),
    ));
}

/// One table; `kind` is 0 for reads, 1 for writes, 2 for both.
fn section(text: &mut Text, span: &DiskspdSpan<'_>, kind: usize, capacity: u64) {
    let ruler = "-".repeat(114);
    text.line(format_args!(
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  \
         | IopsStdDev | LatStdDev |  file\n{ruler}"
    ));
    for (id, job) in span.jobs.iter().enumerate() {
        let stats = match kind {
            0 => merged([job.reads()]),
            1 => merged([job.writes()]),
            _ => merged([job.reads(), job.writes()]),
        };
        let figures = figures(&stats, span.time_s, &job.iops()[kind]);
        let size = short_size(capacity);
        text.line(format_args!(
            "{id:>6} | {figures} | {} ({size})",
            job.path()
        ));
    }
    text.line(format_args!("{ruler}"));
    let total = figures(&span.totals()[kind], span.time_s, &span.iops()[kind]);
    text.line(format_args!("total:   {total}"));
}

fn figures(stats: &OpStats, time_s: f64, iops: &[f64]) -> String {
    let deviation = if stats.count == 0 {
        "      N/A".to_string()
    } else {
        format!(" {:>8.3}", standard_deviation_ns(stats) / 1e6)
    };
    format!(
        "{:>15} | {:>12} | {:>10.2} | {:>10.2} | {:>8.3} | {:>10.2} | {deviation}",
        stats.bytes,
        stats.count,
        stats.bytes as f64 / 1_048_576.0 / time_s,
        stats.count as f64 / time_s,
        stats.mean_ns() / 1e6,
        population_deviation(iops),
    )
}

fn percentiles(text: &mut Text, totals: &[OpStats; 3]) {
    text.line(format_args!(
        "\n\n\ntotal:\n  %-ile |  Read (ms) | Write (ms) | Total (ms)"
    ));
    text.line(format_args!(
        "----------------------------------------------"
    ));
    let mut row = |name: &str, value: &dyn Fn(&OpStats) -> u64| {
        let cell = |stats: &OpStats| match stats.count {
            0 => "N/A".to_string(),
            _ => format!("{:.3}", value(stats) as f64 / 1e6),
        };
        let [reads, writes, combined] = totals.each_ref().map(cell);
        text.line(format_args!(
            "{name:>7} | {reads:>10} | {writes:>10} | {combined:>10}"
        ));
    };
    row("min", &shortest_ns);
    for percent in [25, 50, 75, 90, 95, 99] {
        row(&format!("{percent}th"), &|stats| {
            percentile_ns(stats, f64::from(percent))
        });
    }
    for nines in 3..=9 {
        let percent = 100.0 - 0.1_f64.powi(nines - 2);
        row(&format!("{nines}-nines"), &|stats| {
            percentile_ns(stats, percent)
        });
    }
    row("max", &|stats| stats.latency_ns_max);
}

/// DISKSPD's way to show a file size: a unit once it exceeds ten of them.
fn short_size(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        if bytes > 10 << shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    format!("{bytes}B")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::testing;
    use ssdlab_load::plan::{DiskspdOutput, Mix};

    #[test]
    fn tables_add_up() {
        let args = ["-b4K", "-w30", "x.dat"].map(str::to_string).to_vec();
        let jobs = vec![testing::job("a", Mix::ReadWrite { read_pct: 70 })];
        let plan = testing::plan(
            Language::Diskspd {
                args,
                output: DiskspdOutput::default(),
            },
            jobs,
        );
        let record = testing::record(&plan, 4, 5);
        let machine = DiskspdMachine {
            name: String::new(),
            run_time: String::new(),
            processors: 2,
        };
        let text = diskspd_text(&plan, &record, &machine);
        assert!(
            text.starts_with("\nCommand Line: -b4K -w30 x.dat\n"),
            "{text}"
        );
        let totals: Vec<u64> = text
            .lines()
            .filter_map(|line| line.strip_prefix("total:   "))
            .map(|line| line.split('|').nth(1).unwrap().trim().parse().unwrap())
            .collect();
        let count = |op: usize| record.jobs[0].ops[op].count;
        assert_eq!(totals, [count(0) + count(1), count(0), count(1)]);
        assert!(text.contains("\n9-nines | "));
        assert!(text.contains("/dev/made-up (1024MiB)"), "{text}");
        assert!(
            text.contains("avg.|  25.00%|  20.00%|    5.00%|  75.00%"),
            "{text}"
        );
    }

    #[test]
    fn reads_alone_have_no_write_figures() {
        let plan = testing::plan(Language::Ssdlab, vec![testing::job("a", Mix::Read)]);
        let record = testing::record(&plan, 2, 5);
        let machine = DiskspdMachine {
            name: String::new(),
            run_time: String::new(),
            processors: 0,
        };
        let text = diskspd_text(&plan, &record, &machine);
        assert!(text.contains("|        N/A |"), "{text}");
        assert!(!text.contains("NaN"), "{text}");
    }
}
