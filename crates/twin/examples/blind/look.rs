//! The fingerprint of a hidden drive beside the truth.

use super::drives::{Hidden, Truth, drawn};
use ssdlab_base::LabError;
use ssdlab_twin::fingerprint::host::ProbedTarget;
use ssdlab_twin::fingerprint::probes::{Probe, ProbeReadings, carry_out};
use ssdlab_twin::fingerprint::values::{FingerprintValue, values};
use std::sync::atomic::AtomicBool;

/// A drive and what was found of it.
pub struct Outcome {
    /// The truth.
    pub truth: Truth,
    /// The values.
    pub values: Vec<FingerprintValue>,
    /// Drive writes.
    pub cost: f64,
    /// Time of the drive, seconds.
    pub seconds: f64,
}

/// Takes the fingerprint of the drive of a seed.
///
/// # Errors
/// When the drive is impossible or fails.
pub fn look(seed: u64) -> Result<Outcome, LabError> {
    let truth = drawn(seed);
    let stop = AtomicBool::new(false);
    let mut target = Hidden::used(&truth)?;
    let mut host = ProbedTarget::new(&mut target, truth.config.user_bytes, &stop);
    let mut readings = ProbeReadings::default();
    for probe in Probe::ALL {
        carry_out(probe, &mut host, 1, &mut readings)?;
    }
    Ok(Outcome {
        values: values(&readings),
        cost: host.written as f64 / truth.config.user_bytes as f64,
        seconds: host.elapsed().as_secs_f64(),
        truth,
    })
}

/// The true value behind a key.
pub fn truth(of: &Truth, key: &str) -> Option<f64> {
    let flag = |yes| f64::from(u8::from(yes));
    let host = &of.config.host;
    Some(match key {
        "buffer.size" => of.buffer,
        "buffer.protected" => flag(of.protected),
        "host.latency" => host.latency.0 as f64,
        "host.link_rate" => host.link_bytes_per_second as f64,
        "host.write_overhead" => host.write_overhead.0 as f64,
        "pSLC" => of.slc,
        "static pSLC" => of.slc_full,
        "spare" => of.spare,
        "superblock" => of.superblock,
        "ftl.shared_frontier" => flag(of.shared),
        "span of the map" => of.map_span.unwrap_or(of.config.user_bytes as f64),
        _ => return None,
    })
}

/// Within 10 %, or the same answer.
pub fn is_right(value: &FingerprintValue, found: f64, truth: f64, of: &Truth) -> bool {
    match value.unit {
        _ if value.key == "buffer.size" => [truth, truth - of.held]
            .into_iter()
            .any(|truth| (found / truth).ln().abs() <= 0.1),
        "yes" => found == truth,
        _ if truth == 0.0 => found == 0.0,
        _ => (found / truth).ln().abs() <= 0.1,
    }
}
