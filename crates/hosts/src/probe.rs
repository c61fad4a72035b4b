//! Speed of a drive in its present state: a short measurement on a fork of it.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::engine::devices::Devices;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos, Op};

/// How to measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbeSpec {
    /// Bytes of each command.
    pub block: u32,
    /// Commands outstanding.
    pub depth: u32,
    /// Percentage of commands that are reads; the rest are writes.
    pub read_pct: u32,
    /// Commands that count. Before them come enough to fill the write buffer one and a half times.
    pub commands: u64,
}

impl Default for ProbeSpec {
    /// 4 KiB, QD32, 70 % reads: the mix of article s2d, at the depth of SATA's queue.
    fn default() -> ProbeSpec {
        ProbeSpec {
            block: 4096,
            depth: 32,
            read_pct: 70,
            commands: 20_000,
        }
    }
}

/// Result of a probe.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProbeResult {
    /// Commands per second.
    pub iops: f64,
    /// Bytes read per second.
    pub read_bytes_s: f64,
    /// Bytes written per second.
    pub write_bytes_s: f64,
    /// Median latency of reads, ns.
    pub read_p50_ns: u64,
    /// 99th percentile, ns.
    pub read_p99_ns: u64,
    /// Median latency of writes, ns.
    pub write_p50_ns: u64,
    /// 99th percentile, ns.
    pub write_p99_ns: u64,
}

/// The latency that `quantile` of the commands do not exceed, ns; 0 when there are none.
pub(crate) fn quantile(latencies: &Latencies, quantile: f64) -> u64 {
    if latencies.is_empty() {
        return 0;
    }
    latencies.value_at_quantile(quantile).min(latencies.max())
}

/// Measures a fork of `drive`, which itself stays as it is. `place` draws the byte offset of each
/// command.
///
/// # Errors
/// When the fork fails one of its self-checks: the figures must not be believed.
pub fn probe(
    drive: &Drive,
    spec: &ProbeSpec,
    rng: &mut Rng,
    place: &mut dyn FnMut(&mut Rng) -> u64,
) -> Result<ProbeResult, LabError> {
    let buffer = drive.config().buffer.bytes;
    let writes = 100 - spec.read_pct.min(100);
    let warm = match writes {
        0 => u64::from(spec.depth),
        share => buffer * 3 / 2 / u64::from(spec.block) * 100 / u64::from(share),
    };
    let mut devices = Devices::new(vec![drive.clone()]);
    let mut histograms = [latencies(), latencies()];
    let mut began = devices.now();
    let (mut submitted, mut completed) = (0, 0);
    let end = warm + spec.commands;
    while completed < end {
        while submitted < end && submitted - completed < u64::from(spec.depth) {
            let offset = place(rng);
            let command = if rng.percent(spec.read_pct) {
                Command::read(offset, spec.block)
            } else {
                Command::write(offset, spec.block)
            };
            devices.submit(0, &command, submitted);
            submitted += 1;
        }
        let Some(finished) = devices.next(Nanos::MAX) else {
            break;
        };
        completed += 1;
        if completed == warm {
            began = finished.done;
        } else if completed > warm {
            let latency = finished.done.0 - finished.submitted.0;
            histograms[usize::from(finished.op == Op::Write)].saturating_record(latency);
        }
    }
    let seconds = devices.now().saturating_sub(began).as_secs_f64().max(1e-9);
    let failed = ssdlab_base::check::failures(&devices.checks());
    if let Some(failure) = failed.first() {
        return Err(LabError::SelfCheck(format!("probe: {failure}")));
    }
    let rate = |count: u64| count as f64 / seconds;
    let [reads, writes] = &histograms;
    Ok(ProbeResult {
        iops: rate(reads.len() + writes.len()),
        read_bytes_s: rate(reads.len() * u64::from(spec.block)),
        write_bytes_s: rate(writes.len() * u64::from(spec.block)),
        read_p50_ns: quantile(reads, 0.5),
        read_p99_ns: quantile(reads, 0.99),
        write_p50_ns: quantile(writes, 0.5),
        write_p99_ns: quantile(writes, 0.99),
    })
}
