//! DISKSPD's XML results, as version 2.2 prints them with `-Rxml`.
//!
//! The elements, their order and their number formats are DISKSPD's, so that PowerShell and
//! VMFleet scripts can read them. What differs is this:
//!
//! - `<Thread>` stands for a job with all its threads together; `<ThreadCount>` has their number.
//! - `<Latency>` and `<Iops>` are always there, as with `-L -D`.
//! - `<Bucket>` of `<Iops>` has no minimum and no standard deviation of latency, which seconds do
//!   not record; those of a target have the counts only.
//! - `<CpuUtilization>` has the average alone, of this process over the whole run.
//! - `<ProcessorTopology>` and `<PowerScheme>` are left out.
//! - Trims and flushes, which DISKSPD does not have, are not shown.
//!
//! Source: DISKSPD 2.2, the output of its XML result parser as its unit tests record it.

use super::diskspd_spans::{Cpu, DiskspdMachine, DiskspdSpan, SpanJob, spans};
use crate::analysis::latency::{percentile_ns, shortest_ns, standard_deviation_ns};
use crate::analysis::stats::population_deviation;
use crate::record::{OpStats, RunRecord};
use quick_xml::Writer;
use quick_xml::events::{BytesEnd, BytesStart, BytesText, Event};
use ssdlab_load::plan::{JobSpec, Mix, Order, PlanPhase, WorkloadPlan};
use ssdlab_ssd::{Nanos, Op};
use std::fmt::Display;

/// Suffixes of `ReadMilliseconds` and its like, in the order of [`DiskspdSpan::totals`].
const KINDS: [&str; 3] = ["Read", "Write", "Total"];

/// The record as DISKSPD would have printed it, ending in a line feed.
pub fn diskspd_xml(plan: &WorkloadPlan, record: &RunRecord, machine: &DiskspdMachine) -> String {
    let mut xml = Xml::new();
    xml.inside("Results", |xml| {
        system(xml, machine);
        profile(xml, plan);
        for span in spans(plan, record) {
            xml.inside("TimeSpan", |xml| time_span(xml, &span, record, machine));
        }
    });
    xml.finish()
}

fn system(xml: &mut Xml, machine: &DiskspdMachine) {
    xml.inside("System", |xml| {
        xml.text("ComputerName", &machine.name);
        xml.inside("Tool", |xml| {
            xml.text("Version", concat!("ssdlab ", env!("CARGO_PKG_VERSION")));
            xml.text("VersionDate", "");
        });
        xml.text("RunTime", &machine.run_time);
    });
}

fn profile(xml: &mut Xml, plan: &WorkloadPlan) {
    xml.inside("Profile", |xml| {
        xml.text("Progress", 0);
        xml.text("ResultFormat", "xml");
        xml.text("Verbose", false);
        xml.inside("TimeSpans", |xml| {
            for phase in &plan.phases {
                xml.inside("TimeSpan", |xml| profile_span(xml, phase));
            }
        });
    });
}

fn profile_span(xml: &mut Xml, phase: &PlanPhase) {
    let seconds = |time: Nanos| time.0.div_ceil(1_000_000_000);
    let longest =
        |field: fn(&JobSpec) -> Nanos| phase.jobs.iter().map(field).max().map_or(0, seconds);
    xml.text("CompletionRoutines", false);
    xml.text("MeasureLatency", true);
    xml.text("CalculateIopsStdDev", true);
    xml.text("DisableAffinity", true);
    xml.text("Duration", longest(|job| job.time.run.unwrap_or_default()));
    xml.text("Warmup", longest(|job| job.time.ramp));
    xml.text("Cooldown", longest(|job| job.time.cool_down));
    let shared = phase.jobs.iter().find(|job| job.ties.shares_depth);
    xml.text("ThreadCount", shared.map_or(0, |job| job.copies));
    xml.text("RequestCount", shared.map_or(0, |job| job.depth));
    xml.text("IoBucketDuration", 1000);
    xml.text("RandSeed", phase.jobs.first().map_or(0, |job| job.seed));
    xml.inside("Targets", |xml| {
        for job in &phase.jobs {
            xml.inside("Target", |xml| profile_target(xml, job));
        }
    });
}

fn profile_target(xml: &mut Xml, job: &JobSpec) {
    let (write_pct, kind) = match job.mix {
        Mix::Read => (0, Op::Read),
        Mix::ReadWrite { read_pct } => (100 - read_pct.min(100), Op::Read),
        Mix::Write | Mix::Trim => (100, Op::Write),
    };
    let block = job.block_sizes[kind as usize]
        .first()
        .map_or(0, |size| u64::from(size.bytes));
    xml.text("Path", job.target.as_deref().unwrap_or(&job.name));
    xml.text("BlockSize", block);
    xml.text("BaseFileOffset", job.offset);
    xml.text("SequentialScan", false);
    xml.text("RandomAccess", false);
    xml.text("TemporaryFile", false);
    xml.text("UseLargePages", false);
    if job.direct {
        xml.text("DisableOSCache", true);
    }
    if job.durability.fua {
        xml.text("WriteThrough", true);
    }
    xml.inside("WriteBufferContent", |xml| xml.text("Pattern", "random"));
    xml.text("ParallelAsyncIO", false);
    match &job.order {
        Order::Random { align, .. } => xml.text("Random", align),
        Order::Sequential {
            stride, start_step, ..
        } => {
            xml.text("StrideSize", stride.unwrap_or(block));
            xml.text("InterlockedSequential", false);
            xml.text("ThreadStride", start_step);
        }
    }
    xml.text(
        "MaxFileSize",
        job.region
            .map_or(0, |region| job.offset.saturating_add(region)),
    );
    // What threads share is said of the whole time span; a target has DISKSPD's defaults then.
    let (depth, threads) = if job.ties.shares_depth {
        (2, 1)
    } else {
        (job.depth, job.copies)
    };
    xml.text("RequestCount", depth);
    xml.text("WriteRatio", write_pct);
    xml.text("ThreadsPerFile", threads);
    xml.text("IOPriority", 3);
    xml.text("Weight", 1);
}

fn time_span(xml: &mut Xml, span: &DiskspdSpan<'_>, record: &RunRecord, machine: &DiskspdMachine) {
    if span.time_s <= 0.0 {
        let nothing = "The test was interrupted before the measurements began. \
             No results are displayed.";
        return xml.text("Error", nothing);
    }
    xml.text("TestTimeSeconds", format_args!("{:.2}", span.time_s));
    xml.text("ThreadCount", span.threads);
    xml.text("RequestCount", 0);
    xml.text("ProcCount", machine.processors);
    let cpu = Cpu::of(record, machine);
    xml.inside("CpuUtilization", |xml| {
        xml.inside("Average", |xml| {
            xml.text("UsagePercent", format_args!("{:.2}", cpu.usage()));
            xml.text("UserPercent", format_args!("{:.2}", cpu.user));
            xml.text("KernelPercent", format_args!("{:.2}", cpu.kernel));
            xml.text("IdlePercent", format_args!("{:.2}", cpu.idle()));
        });
    });
    latencies(xml, &span.totals());
    iops(xml, &span.iops(), |index| {
        span.seconds.get(index).map(|second| second.ops)
    });
    for (id, job) in span.jobs.iter().enumerate() {
        xml.inside("Thread", |xml| {
            xml.text("Id", id);
            xml.inside("Target", |xml| target(xml, job, record));
        });
    }
}

fn latencies(xml: &mut Xml, totals: &[OpStats; 3]) {
    let buckets = |stats: &OpStats| stats.latencies.iter_recorded().count().to_string();
    let names = KINDS.map(|kind| format!("{kind}HistoBuckets"));
    let values = totals.each_ref().map(buckets);
    let attributes: Vec<(&str, &str)> = names
        .iter()
        .map(String::as_str)
        .zip(values.iter().map(String::as_str))
        .collect();
    xml.inside_with("Latency", &attributes, |xml| {
        let deviations = ["ReadLatencyStdev", "WriteLatencyStdev", "LatencyStdev"];
        for ((kind, stats), deviation) in KINDS.iter().zip(totals).zip(deviations) {
            if stats.count > 0 {
                xml.text(&format!("Average{kind}Milliseconds"), ms(stats.mean_ns()));
                xml.text(deviation, ms(standard_deviation_ns(stats)));
            }
        }
        let mut bucket = |percentile: &str, value: &dyn Fn(&OpStats) -> u64| {
            xml.inside("Bucket", |xml| {
                xml.text("Percentile", percentile);
                for (kind, stats) in KINDS.iter().zip(totals) {
                    if stats.count > 0 {
                        xml.text(&format!("{kind}Milliseconds"), ms(value(stats) as f64));
                    }
                }
            });
        };
        bucket("0", &shortest_ns);
        for percent in 1..=99 {
            bucket(&percent.to_string(), &|stats| {
                percentile_ns(stats, f64::from(percent))
            });
        }
        for nines in 1..=7 {
            let percentile = format!("99.{}", "9".repeat(nines));
            let percent = 100.0 - 0.1_f64.powi(nines as i32);
            bucket(&percentile, &|stats| percentile_ns(stats, percent));
        }
        bucket("100", &|stats| stats.latency_ns_max);
    });
}

/// `<Iops>` from rates per second of reads, writes and both; `latencies` gives a second's
/// figures where they are known.
fn iops(
    xml: &mut Xml,
    rates: &[Vec<f64>; 3],
    latencies: impl Fn(usize) -> Option<[crate::record::OpSecond; Op::COUNT]>,
) {
    xml.inside("Iops", |xml| {
        for (name, rates) in ["ReadIopsStdDev", "WriteIopsStdDev", "IopsStdDev"]
            .iter()
            .zip(rates)
        {
            if !rates.is_empty() {
                xml.text(name, format_args!("{:.3}", population_deviation(rates)));
            }
        }
        for index in 0..rates[2].len() {
            let rate = |kind: usize| rates[kind].get(index).copied().unwrap_or(0.0);
            let end_ms = 1000 * (index + 1);
            let mut attributes = vec![("SampleMillisecond".to_string(), end_ms.to_string())];
            for (kind, name) in KINDS.iter().enumerate() {
                attributes.push((name.to_string(), format!("{:.0}", rate(kind))));
            }
            if let Some(ops) = latencies(index) {
                for (kind, op) in KINDS.iter().zip([Op::Read, Op::Write]) {
                    let second = &ops[op as usize];
                    attributes.push((
                        format!("{kind}MaxLatencyMilliseconds"),
                        ms(second.max_ns as f64),
                    ));
                    attributes.push((format!("{kind}AvgLatencyMilliseconds"), ms(second.mean_ns)));
                }
            }
            xml.empty("Bucket", &attributes);
        }
    });
}

fn target(xml: &mut Xml, job: &SpanJob<'_>, record: &RunRecord) {
    let (reads, writes) = (job.reads(), job.writes());
    let combined = crate::analysis::latency::merged([reads, writes]);
    xml.text("Path", job.path());
    xml.text("BytesCount", combined.bytes);
    xml.text("FileSize", record.facts.capacity);
    xml.text("IOCount", combined.count);
    xml.text("ReadBytes", reads.bytes);
    xml.text("ReadCount", reads.count);
    xml.text("WriteBytes", writes.bytes);
    xml.text("WriteCount", writes.count);
    for (kind, stats) in [("Read", reads), ("Write", writes), ("", &combined)] {
        if stats.count > 0 {
            xml.text(
                &format!("Average{kind}LatencyMilliseconds"),
                ms(stats.mean_ns()),
            );
            xml.text(
                &format!("{kind}LatencyStdev"),
                ms(standard_deviation_ns(stats)),
            );
        }
    }
    iops(xml, &job.iops(), |_| None);
}

/// Nanoseconds as DISKSPD's milliseconds.
fn ms(ns: f64) -> String {
    format!("{:.3}", ns / 1e6)
}

/// An XML writer into memory, where writing cannot fail.
struct Xml {
    writer: Writer<Vec<u8>>,
}

impl Xml {
    fn new() -> Xml {
        Xml {
            writer: Writer::new_with_indent(Vec::new(), b' ', 2),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        let _ = self.writer.write_event(event);
    }

    fn inside(&mut self, name: &str, content: impl FnOnce(&mut Xml)) {
        self.inside_with(name, &[], content);
    }

    fn inside_with(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        content: impl FnOnce(&mut Xml),
    ) {
        let start = BytesStart::new(name).with_attributes(attributes.iter().copied());
        self.event(Event::Start(start));
        content(self);
        self.event(Event::End(BytesEnd::new(name)));
    }

    fn text(&mut self, name: &str, value: impl Display) {
        // Control characters have no place in XML 1.0, escaped or not.
        let allowed = |c: char| {
            let forbidden = c.is_control() && !matches!(c, '\t' | '\n' | '\r');
            if forbidden || matches!(c, '\u{fffe}' | '\u{ffff}') {
                '\u{fffd}'
            } else {
                c
            }
        };
        let value: String = value.to_string().chars().map(allowed).collect();
        self.event(Event::Start(BytesStart::new(name)));
        self.event(Event::Text(BytesText::new(&value)));
        self.event(Event::End(BytesEnd::new(name)));
    }

    fn empty(&mut self, name: &str, attributes: &[(String, String)]) {
        let pairs = attributes
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        self.event(Event::Empty(BytesStart::new(name).with_attributes(pairs)));
    }

    fn finish(self) -> String {
        let mut text = String::from_utf8_lossy(&self.writer.into_inner()).into_owned();
        text.push('\n');
        text
    }
}

#[cfg(test)]
#[path = "diskspd_xml_tests.rs"]
mod tests;
