//! A qualification as metrics, for alerts and dashboards.

use super::{Qualification, QualifyOutcome};
use ssdlab_bench::export::openmetrics::Metrics;
use ssdlab_bench::run_dir::RunHeader;

/// Outcome, findings and probes of the measured target; `run` is the run's name.
pub fn metrics(run: &str, header: &RunHeader, qualification: &Qualification) -> Metrics {
    let mut metrics = Metrics::default();
    metrics.about(run, header);
    let (evidence, verdict) = (
        &qualification.target.evidence,
        &qualification.target.verdict,
    );
    let target = evidence.facts.name.as_str();
    let common = [
        ("run", run),
        ("target", target),
        ("role", verdict.role.as_str()),
    ];
    for outcome in [
        QualifyOutcome::Pass,
        QualifyOutcome::Fail,
        QualifyOutcome::Unknown,
    ] {
        let labels = [&common[..], &[("outcome", word(outcome))]].concat();
        let is = f64::from(u8::from(verdict.outcome == outcome));
        let help = "1 for the outcome of the qualification, 0 for the others.";
        metrics.gauge("ssdlab_qualification_outcome", help, &labels, is);
    }
    for finding in &verdict.findings {
        let kind = if finding.hard { "must" } else { "should" };
        let finding_labels = [
            ("requirement", finding.id.as_str()),
            ("kind", kind),
            ("outcome", word(finding.outcome)),
        ];
        let labels = [&common[..], &finding_labels[..]].concat();
        let help = "A requirement of the role and its outcome; 1.";
        metrics.gauge("ssdlab_qualification_finding", help, &labels, 1.0);
    }
    for probe in &evidence.probes {
        let writers = probe.writers.to_string();
        let probe_labels = [
            ("method", probe.method.as_str()),
            ("writers", writers.as_str()),
        ];
        let labels = [&common[..2], &probe_labels[..]].concat();
        let help = "Writes per second of a probe, all writers together.";
        let name = "ssdlab_qualification_writes_per_second";
        metrics.gauge(name, help, &labels, probe.per_second);
        let help = "99th percentile of the time of a probe's write.";
        let name = "ssdlab_qualification_write_p99_seconds";
        metrics.gauge(name, help, &labels, probe.p99_ns as f64 / 1e9);
    }
    metrics
}

fn word(outcome: QualifyOutcome) -> &'static str {
    match outcome {
        QualifyOutcome::Pass => "PASS",
        QualifyOutcome::Fail => "FAIL",
        QualifyOutcome::Unknown => "UNKNOWN",
    }
}
