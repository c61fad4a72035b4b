//! Results as metrics: text that OpenMetrics parsers and node_exporter's textfile collector read.
//!
//! The collector parses the older Prometheus text format, which knows neither `info` nor the rule
//! that a counter's samples end in `_total`. So only gauges and summaries are written, which are
//! the same in both; `# EOF` is a comment in the older one.
//!
//! Source: OpenMetrics 1.0, "Text format"; Prometheus, "Exposition formats", version 0.0.4.

use crate::device::TargetFacts;
use crate::record::RunEnding;
use crate::run_dir::{OpResult, PhaseResult, RunDir, RunHeader, RunResult};
use std::fmt::Write;

/// Labels of a sample: names and values.
pub type Labels<'a> = [(&'a str, &'a str)];

/// Metric families, in the order in which they were first given.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    families: Vec<MetricFamily>,
}

#[derive(Clone, Debug)]
struct MetricFamily {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    samples: String,
}

impl Metrics {
    /// Adds a sample of the gauge `name`; one that is not finite is left out.
    pub fn gauge(&mut self, name: &'static str, help: &'static str, labels: &Labels, value: f64) {
        if value.is_finite() {
            let samples = self.family(name, "gauge", help);
            sample(samples, name, "", labels, value);
        }
    }

    /// Adds the summary of a kind of command's latencies, in seconds.
    fn latency(&mut self, labels: &Labels, op: &OpResult) {
        let name = "ssdlab_run_latency_seconds";
        let help = "Latency of commands from submission to completion.";
        let samples = self.family(name, "summary", help);
        for percentile in &op.latency.percentiles {
            let quantile = (percentile.percent / 100.0 * 1e6).round() / 1e6;
            let quantile = quantile.to_string();
            let labels = [labels, &[("quantile", quantile.as_str())]].concat();
            sample(samples, name, "", &labels, percentile.ns as f64 / 1e9);
        }
        let sum = op.latency.mean_ns / 1e9 * op.count as f64;
        sample(samples, name, "_sum", labels, sum);
        sample(samples, name, "_count", labels, op.count as f64);
    }

    fn family(
        &mut self,
        name: &'static str,
        kind: &'static str,
        help: &'static str,
    ) -> &mut String {
        let known = self.families.iter().position(|family| family.name == name);
        let index = known.unwrap_or_else(|| {
            self.families.push(MetricFamily {
                name,
                kind,
                help,
                samples: String::new(),
            });
            self.families.len() - 1
        });
        &mut self.families[index].samples
    }

    /// The text, with its end marked.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for family in &self.families {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "# TYPE {} {}", family.name, family.kind);
            let _ = writeln!(text, "# HELP {} {}", family.name, family.help);
            text.push_str(&family.samples);
        }
        text.push_str("# EOF\n");
        text
    }

    /// What was run, where and when; 1.
    pub fn about(&mut self, run: &str, header: &RunHeader) {
        let TargetFacts { name, .. } = &header.target;
        let labels = [
            ("run", run),
            ("target", name.as_str()),
            ("started_at", header.started_at.as_str()),
            ("version", header.ssdlab.as_str()),
        ];
        let help = "A run of ssdlab: its target, start and version.";
        self.gauge("ssdlab_run_info", help, &labels, 1.0);
    }
}

fn sample(text: &mut String, name: &str, suffix: &str, labels: &Labels, value: f64) {
    let labels = labels.iter().map(|(name, value)| {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    });
    let labels = labels.collect::<Vec<_>>().join(",");
    let _ = writeln!(text, "{name}{suffix}{{{labels}}} {value:?}");
}

/// The metrics of a finished run; `run` is its name.
pub fn of_run(run: &str, dir: &RunDir, result: &RunResult) -> Metrics {
    let mut metrics = Metrics::default();
    metrics.about(run, &dir.header);
    let target = dir.header.target.name.as_str();
    let of_run = [("run", run), ("target", target)];
    let complete = f64::from(u8::from(result.ending == RunEnding::Complete));
    let help = "1 when the run came to its planned end.";
    metrics.gauge("ssdlab_run_complete", help, &of_run, complete);
    for check in &result.checks {
        let labels = [&of_run[..], &[("check", check.name.as_str())]].concat();
        let passed = f64::from(u8::from(check.passed));
        let help = "1 when a self-check of the run holds.";
        metrics.gauge("ssdlab_run_check_passed", help, &labels, passed);
    }
    for job in &result.jobs {
        let phase = job.phase.to_string();
        let of_job = [("phase", phase.as_str()), ("job", job.name.as_str())];
        for op in &job.ops {
            let labels = [&of_run[..], &of_job[..], &[("op", op.op.as_str())]].concat();
            of_op(&mut metrics, &labels, op);
        }
    }
    for phase in &result.phases {
        let number = phase.phase.to_string();
        let labels = [&of_run[..], &[("phase", number.as_str())]].concat();
        of_phase(&mut metrics, &labels, phase);
    }
    metrics
}

fn of_op(metrics: &mut Metrics, labels: &Labels, op: &OpResult) {
    let help = "Commands completed per second over the counted part.";
    metrics.gauge("ssdlab_run_iops", help, labels, op.iops);
    let help = "Bytes completed per second over the counted part.";
    let rate = op.bytes_per_second;
    metrics.gauge("ssdlab_run_bytes_per_second", help, labels, rate);
    let help = "Commands that failed.";
    metrics.gauge("ssdlab_run_errors", help, labels, op.errors as f64);
    metrics.latency(labels, op);
    let help = "The longest latency.";
    let longest = op.latency.max_ns as f64 / 1e9;
    metrics.gauge("ssdlab_run_latency_max_seconds", help, labels, longest);
}

fn of_phase(metrics: &mut Metrics, labels: &Labels, phase: &PhaseResult) {
    if let Some(steady) = &phase.steady_state {
        let attained = f64::from(u8::from(steady.attained));
        let help = "1 when five rounds meet SNIA's criteria of steady state.";
        metrics.gauge("ssdlab_run_steady_state", help, labels, attained);
        let help = "Mean of the five rounds, in commands per second.";
        metrics.gauge("ssdlab_run_steady_iops", help, labels, steady.average);
    }
    if let Some(cliff) = &phase.write_cliff {
        let help = "When the write cliff came, since counting began.";
        metrics.gauge("ssdlab_run_write_cliff_seconds", help, labels, cliff.at_s);
    }
    let written = phase.counters.as_ref().and_then(|counters| {
        let nand = counters.after.nand_bytes_written? - counters.before.nand_bytes_written?;
        let host = counters.after.host_bytes_written? - counters.before.host_bytes_written?;
        (host > 0).then_some(nand as f64 / host as f64)
    });
    if let Some(waf) = written {
        let help = "NAND bytes programmed per byte that the host wrote.";
        metrics.gauge("ssdlab_run_write_amplification", help, labels, waf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_contiguous_and_values_escaped() {
        let mut metrics = Metrics::default();
        metrics.gauge("a", "First.", &[("x", "a \"b\"\\\n")], 1.0);
        metrics.gauge("b", "Second.", &[], f64::NAN);
        metrics.gauge("c", "Third.", &[("x", "1")], 0.25);
        metrics.gauge("a", "First.", &[("x", "2")], 3.0);
        let wanted = "# TYPE a gauge\n# HELP a First.\na{x=\"a \\\"b\\\"\\\\\\n\"} 1.0\n\
                      a{x=\"2\"} 3.0\n# TYPE c gauge\n# HELP c Third.\nc{x=\"1\"} 0.25\n# EOF\n";
        assert_eq!(metrics.text(), wanted);
    }
}
