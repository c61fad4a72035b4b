//! Where metrics of a watch are served.

use super::Watch;
use crate::output::say;
use ssdlab_base::LabError;
use ssdlab_watch::exporter::WatchExporter;
use std::net::SocketAddr;

/// Metrics at an address; `:9955` and `9955` are ports of the loopback interface.
///
/// # Errors
/// When it is not an address, or cannot be listened at.
pub fn serve_metrics(args: &Watch, address: &str) -> Result<WatchExporter, LabError> {
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
