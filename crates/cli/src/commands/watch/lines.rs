//! What `ssdlab watch` says while it watches: lines, and metrics.

use super::Watch;
use crate::output::say;
use ssdlab_base::LabError;
use ssdlab_view::units;
use ssdlab_watch::exporter::WatchExporter;
use ssdlab_watch::judge::LiveAnswer;
use ssdlab_watch::live::WatchProgress;
use ssdlab_watch::report::WatchReport;
use ssdlab_watch::request::BlockRequest;
use std::net::SocketAddr;

/// A line on standard error for each second, and metrics for whoever scrapes them.
pub struct WatchLines {
    /// No lines.
    pub quiet: bool,
    /// The metrics, if they were asked for.
    pub exporter: Option<WatchExporter>,
}

impl WatchProgress for WatchLines {
    fn request(&mut self, request: &BlockRequest) {
        if let Some(exporter) = &mut self.exporter {
            exporter.request(request);
        }
    }

    fn second(&mut self, report: &WatchReport) {
        if let Some(exporter) = &mut self.exporter {
            exporter.second(report);
        }
        let Some(second) = report.seconds.last() else {
            return;
        };
        let count = second.reads.count + second.writes.count + second.flushes.count;
        let line = format!(
            "{:>4.0} s  {} requests  {}",
            report.watched_s,
            units::count(count),
            short_answer(&report.answer)
        );
        say(self.quiet, &line);
    }
}

fn short_answer(answer: &LiveAnswer) -> String {
    match answer {
        LiveAnswer::TooLittle { .. } => "too few to say".to_owned(),
        LiveAnswer::AsExpected { .. } => "as on a healthy drive".to_owned(),
        LiveAnswer::Causes { findings } => {
            let names: Vec<_> = findings
                .iter()
                .map(|finding| finding.cause.name())
                .collect();
            names.join(", ")
        }
    }
}

/// Metrics at an address; `:9955` and `9955` are ports of the loopback interface.
///
/// # Errors
/// When it is not an address, or cannot be listened at.
pub fn exporter(args: &Watch, address: &str) -> Result<WatchExporter, LabError> {
    let port = address.trim_start_matches(':').parse::<u16>();
    let parsed = match port {
        Ok(port) => Ok(SocketAddr::from(([127, 0, 0, 1], port))),
        Err(_) => address.parse(),
    };
    let parsed = parsed.map_err(|_| {
        LabError::bad_option(
            "--exporter",
            address,
            "a port, or an address with a port",
            "--exporter :9955 listens on the loopback interface",
        )
    })?;
    let exporter = WatchExporter::new(&args.target);
    let bound = exporter.serve(parsed)?;
    say(args.quiet, &format!("metrics at http://{bound}/metrics"));
    Ok(exporter)
}
