//! One measurement after another on one drive, kept by name.

use crate::experiments::host::{DriveSelfChecks, ExperimentHost, IntervalStats};
use crate::keys::keys;
use crate::outcome::CurvePoints;
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos, Op};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

keys! {
    /// The two kinds of data: compressible as far as can be, and not at all.
    pub(crate) enum DataCompressibility {
        Repeating = "repeating",
        Random = "random",
    }
}

keys! {
    /// Numbers measured with each kind of data.
    pub(crate) enum IometerMetric {
        SequentialReadMbS = "sequential_read_mb_s",
        SequentialReadW = "sequential_read_w",
        Random2mReadMbS = "random_2m_read_mb_s",
        SequentialWriteMbS = "sequential_write_mb_s",
        SequentialWriteW = "sequential_write_w",
        Random2mWriteMbS = "random_2m_write_mb_s",
        LatencyMeanMs = "latency_mean_ms",
        LatencyMaxMs = "latency_max_ms",
        Qd1WriteIops = "qd1_write_iops",
        Read4kW = "4k_read_w",
        Read4kPeakIops = "4k_read_peak_iops",
        Write4kW = "4k_write_w",
        Write4kPeakIops = "4k_write_peak_iops",
        IdleW = "idle_w",
    }

    /// CrystalDiskMark's numbers.
    pub(crate) enum CrystalDiskMarkMetric {
        SequentialWrite = "sequential_write_mb_s",
        Write512k = "512k_write_mb_s",
    }

    pub(crate) enum ClientTraceName {
        Htpc = "htpc",
        Productivity = "productivity",
        Gaming = "gaming",
    }

    pub(crate) enum TracePlaybackMetric {
        Ms = "ms",
        MbS = "mb_s",
    }

    /// Every number of the benchmark: MB/s, IOPS, ms, W, as the end of the name says.
    pub(crate) enum BenchmarkMetric {
        ;
        Iometer((DataCompressibility, IometerMetric)) = "{}",
        Cdm(CrystalDiskMarkMetric) = "cdm_{}",
        Trace((ClientTraceName, TracePlaybackMetric)) = "trace_{}",
    }

    /// Lines over queue depth, IOPS.
    pub(crate) enum DepthSweep {
        Read4k = "4k_read",
        Write4k = "4k_write",
        Database = "database",
        FileServer = "file_server",
        WebServer = "web_server",
        Workstation = "workstation",
    }
}

impl DataCompressibility {
    /// Percentage that a compressor takes off.
    pub fn compress_pct(self) -> u8 {
        match self {
            DataCompressibility::Repeating => 100,
            DataCompressibility::Random => 0,
        }
    }
}

/// Numbers of a drive, and its lines over queue depth.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BenchmarkResults {
    pub values: BTreeMap<BenchmarkMetric, f64>,
    pub curves: BTreeMap<(DataCompressibility, DepthSweep), CurvePoints>,
}

/// Rest of the drive between two measurements.
const PAUSE: Nanos = Nanos::from_secs(10);

/// A drive that is measured.
pub(super) struct BenchmarkRig<'a> {
    host: ExperimentHost<'static>,
    results: &'a mut BenchmarkResults,
    /// Name of the data, or of the benchmark, in results.
    data: String,
    /// Percentage that a compressor takes off the data written.
    pub compress_pct: u8,
    seed: u64,
    /// Measurements at random so far: each has addresses of its own.
    drawn: u32,
    stop: &'a AtomicBool,
}

impl<'a> BenchmarkRig<'a> {
    pub fn new(
        drive: Drive,
        data: impl Into<String>,
        compress_pct: u8,
        results: &'a mut BenchmarkResults,
        seed: u64,
        stop: &'a AtomicBool,
    ) -> BenchmarkRig<'a> {
        BenchmarkRig {
            host: ExperimentHost::around(drive),
            results,
            data: data.into(),
            compress_pct,
            seed,
            drawn: 0,
            stop,
        }
    }

    pub fn rng(&self, name: &str) -> Rng {
        Rng::named(self.seed, &format!("article worn: {name}"))
    }

    pub fn user_bytes(&self) -> u64 {
        self.host.config().user_bytes
    }

    pub fn keep(&mut self, number: BenchmarkMetric, value: f64) {
        self.results.values.insert(number, value);
    }

    pub fn point(&mut self, line: (DataCompressibility, DepthSweep), x: f64, y: f64) {
        self.results.curves.entry(line).or_default().push((x, y));
    }

    /// Gives `commands`, always `depth` outstanding, and waits for all, after a pause. Also
    /// returns the mean power, W.
    ///
    /// # Errors
    /// When `stop` is set.
    pub fn run(
        &mut self,
        depth: u32,
        commands: impl IntoIterator<Item = Command>,
    ) -> Result<(IntervalStats, f64), LabError> {
        go_on(self.stop)?;
        self.host.rest(PAUSE);
        let before = self.host.energy_nj();
        let span = self.host.run(depth, commands);
        let used = (self.host.energy_nj() - before) as f64;
        let power_w = used / span.time.0.max(1) as f64;
        Ok((span, power_w))
    }

    /// Mean power of a drive left alone, W.
    pub fn idle_power(&mut self) -> f64 {
        self.host.rest(PAUSE);
        let before = self.host.energy_nj();
        self.host.rest(PAUSE);
        (self.host.energy_nj() - before) as f64 / PAUSE.0 as f64
    }

    /// In order, block after block, from `from` on.
    pub fn in_order(&self, op: Op, from: u64, block: u32, count: u64) -> Vec<Command> {
        let command = |n: u64| self.command(op, from + n * u64::from(block), block);
        (0..count).map(command).collect()
    }

    /// At random blocks of the `bytes` from `from` on; not those of a measurement before, whose
    /// data the drive may still hold in its buffers and which it has just written again.
    pub fn at_random(&mut self, op: Op, span: Range<u64>, block: u32, count: u64) -> Vec<Command> {
        self.drawn += 1;
        let mut rng = self.rng(&format!("{} of {block}, number {}", op.name(), self.drawn));
        let blocks = ((span.end - span.start) / u64::from(block)).max(1);
        let mut offset = || span.start + rng.below(blocks) * u64::from(block);
        (0..count)
            .map(|_| self.command(op, offset(), block))
            .collect()
    }

    fn command(&self, op: Op, offset: u64, len: u32) -> Command {
        let write = op == Op::Write;
        Command {
            compress_pct: if write { self.compress_pct } else { 0 },
            op,
            ..Command::read(offset, len)
        }
    }

    pub fn finish(self, name: &str, health: &mut DriveSelfChecks) {
        health.add(&format!("{name}, {}", self.data), &self.host);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_ssd::DriveConfig;

    #[test]
    fn two_measurements_at_random_have_addresses_of_their_own() {
        let drive = || Drive::new(DriveConfig::tiny()).unwrap();
        let stop = AtomicBool::new(false);
        let mut found = BenchmarkResults::default();
        let addresses = |bench: &mut BenchmarkRig<'_>| -> Vec<u64> {
            let commands = bench.at_random(Op::Read, 0..1 << 20, 4096, 100);
            commands.iter().map(|command| command.offset).collect()
        };
        let mut bench = BenchmarkRig::new(drive(), "random", 0, &mut found, 1, &stop);
        let first = [addresses(&mut bench), addresses(&mut bench)];
        assert_ne!(first[0], first[1]);
        let mut bench = BenchmarkRig::new(drive(), "random", 0, &mut found, 1, &stop);
        let again = [addresses(&mut bench), addresses(&mut bench)];
        assert_eq!(first, again, "new and worn are given the same");
    }
}
