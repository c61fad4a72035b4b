//! The probes: what each does to the target, and the readings that it yields.

use super::burst::{Bursts, bursts, median};
use super::host::{DEPTH_MAX, LARGE, ProbedTarget, SMALL};
use super::series::AckSeries;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_bench::device::Target;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos};

/// Single commands of one kind.
const SINGLES: u64 = 60;
/// Pause after a single write, to let the buffer drain.
const PAUSE: Nanos = Nanos::from_millis(3);
/// Commands outstanding while the drive is filled and rewritten.
const DEPTH: u32 = 32;
/// Commands of a step of a sweep for each one outstanding, and their longest time.
const PER_DEPTH: u64 = 40;
const STEP: Nanos = Nanos::from_secs(2);
/// Rest of an emptied or filled drive.
const REST: Nanos = Nanos::from_secs(30);
/// Depths of the read sweep.
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Where short writes go: the beginning of the first half, which is rewritten first, so that what
/// they leave behind is stale before spare area is looked for.
const NEAR: u64 = 1 << 20;
/// The part of the capacity that is written at random once half of it is trimmed.
const AT_RANDOM: f64 = 0.4;

/// A probe, in the order in which they are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// Emptied by TRIM, then filled: two interleaved halves.
    Fill,
    /// Single writes: plain, durable, and with a flush.
    Flush,
    /// Random reads at growing depth; large reads.
    Reads,
    /// Random reads within growing spans.
    Spans,
    /// Bursts of writes after rests.
    Buffer,
    /// The first half rewritten in order, twice.
    Rewrite,
    /// The second half trimmed, and writes at random in the first.
    Trimmed,
}

impl Probe {
    /// Every probe.
    pub const ALL: [Probe; 7] = [
        Probe::Fill,
        Probe::Flush,
        Probe::Reads,
        Probe::Spans,
        Probe::Buffer,
        Probe::Rewrite,
        Probe::Trimmed,
    ];

    /// What it does.
    pub fn name(self) -> &'static str {
        match self {
            Probe::Fill => "empty it by TRIM, fill it",
            Probe::Flush => "single writes, plain, FUA and with FLUSH",
            Probe::Reads => "random reads by queue depth, large reads",
            Probe::Spans => "random reads by span",
            Probe::Buffer => "bursts of writes after rests",
            Probe::Rewrite => "rewrite one half in order, twice",
            Probe::Trimmed => "TRIM the other half, write at random",
        }
    }

    /// What it is for.
    pub fn purpose(self) -> &'static str {
        match self {
            Probe::Fill => "pSLC cache, superblock, drain rate",
            Probe::Flush => "Latency, cost of FUA and FLUSH",
            Probe::Reads => "Read time, parallelism, link",
            Probe::Spans => "Locality of the map",
            Probe::Buffer => "Write buffer, drain rate",
            Probe::Rewrite => "Spare area, frontiers, static part of pSLC",
            Probe::Trimmed => "What trimmed space is worth",
        }
    }

    /// It needs an emptied drive, of its own.
    pub fn needs_drive(self) -> bool {
        matches!(self, Probe::Fill | Probe::Rewrite | Probe::Trimmed)
    }

    /// Most bytes that it writes to a target of `bytes`.
    pub fn writes(self, bytes: u64) -> u64 {
        match self {
            Probe::Fill | Probe::Rewrite => bytes,
            Probe::Flush => 3 * SINGLES * u64::from(SMALL),
            Probe::Reads | Probe::Spans => 0,
            Probe::Buffer => (bytes / 2).min(4 << 30),
            Probe::Trimmed => (bytes as f64 * AT_RANDOM) as u64,
        }
    }

    /// Most seconds, while the target writes `rate` B/s in order.
    pub fn seconds(self, bytes: u64, rate: f64) -> f64 {
        let writing = self.writes(bytes) as f64 / rate;
        match self {
            Probe::Fill => writing + 3.0 * REST.as_secs_f64(),
            Probe::Flush => 5.0,
            Probe::Reads => 2.0 * (DEPTHS.len() + 4) as f64,
            Probe::Spans => 20.0,
            Probe::Buffer => writing + 45.0,
            // Reclaim takes part of the drive's rate.
            Probe::Rewrite | Probe::Trimmed => 3.0 * writing + REST.as_secs_f64(),
        }
    }
}

/// Reads at a depth.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DepthReading {
    /// Commands outstanding.
    pub depth: u32,
    /// Commands a second.
    pub iops: f64,
    /// Median latency, ns.
    pub latency: f64,
}

/// Everything measured.
#[derive(Clone, Debug, Default)]
pub struct ProbeReadings {
    /// Bytes of the target.
    pub bytes: u64,
    /// Latencies of single writes, ns: plain, FUA, and of a plain one with its flush.
    pub singles: Option<[Vec<f64>; 3]>,
    /// Random reads of 4 KiB by depth.
    pub reads: Vec<DepthReading>,
    /// Large reads at depth, and a burst of large writes that the buffer takes, B/s.
    pub link: Option<(f64, f64)>,
    /// Rate of a burst of small writes that the buffer takes, 1/s.
    pub small_burst: Option<f64>,
    /// Median latencies of single reads by span, ns.
    pub spans: Vec<(u64, f64)>,
    /// Bursts.
    pub bursts: Option<Bursts>,
    /// Filling the emptied drive.
    pub fill: Option<AckSeries>,
    /// Rewriting one half, twice.
    pub rewrite: Option<AckSeries>,
    /// Writes at random with the other half trimmed.
    pub trimmed: Option<AckSeries>,
}

/// Bytes of a command of the long series: small drives need finer ones.
fn block(bytes: u64) -> u32 {
    ((bytes >> 14).next_power_of_two() as u32).clamp(8 * SMALL, LARGE)
}

/// Bytes of one half: whole commands.
pub fn half(bytes: u64) -> u64 {
    bytes / 2 / u64::from(LARGE) * u64::from(LARGE)
}

fn series<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    count: u64,
    mut place: impl FnMut(u64) -> u64,
) -> Result<AckSeries, LabError> {
    let len = block(host.bytes);
    let mut acks = AckSeries::new(u64::from(len), host.now());
    let mut issued = 0;
    let next = |_| {
        issued += 1;
        (issued <= count).then(|| Command::write(place(issued - 1), len))
    };
    host.keep(DEPTH, next, |acked| acks.acked(acked.bytes, acked.at))?;
    Ok(acks)
}

/// Carries out a probe and records its readings.
///
/// # Errors
/// When the target fails or the run is stopped.
pub fn carry_out<T: Target>(
    probe: Probe,
    host: &mut ProbedTarget<'_, T>,
    seed: u64,
    readings: &mut ProbeReadings,
) -> Result<(), LabError> {
    let rng = &mut Rng::named(seed, probe.name());
    let (bytes, len) = (host.bytes, u64::from(block(host.bytes)));
    let half = half(bytes);
    readings.bytes = bytes;
    match probe {
        Probe::Fill => {
            // What a cache holds is moved out before it is trimmed: then the cache is free.
            host.rest(REST)?;
            host.trim(0, bytes)?;
            host.rest(REST)?;
            // The halves take turns every LARGE bytes: each superblock holds as much of both.
            let blocks_per_turn = u64::from(LARGE) / len;
            let place = |n: u64| {
                let (turn, within) = (n / blocks_per_turn, n % blocks_per_turn * len);
                turn / 2 * u64::from(LARGE) + turn % 2 * half + within
            };
            readings.fill = Some(series(host, 2 * half / len, place)?);
            host.rest(REST)?;
        }
        Probe::Flush => readings.singles = Some(singles(host, rng)?),
        Probe::Reads => reads(host, rng, readings)?,
        Probe::Spans => readings.spans = spans(host, rng)?,
        Probe::Buffer => {
            let span = (bytes / 64).clamp(1 << 20, 1 << 30) / u64::from(LARGE) * u64::from(LARGE);
            let most = probe.writes(bytes);
            readings.bursts = Some(bursts(host, span, most)?);
        }
        Probe::Rewrite => {
            host.rest(REST)?;
            readings.rewrite = Some(series(host, 2 * half / len, |n| n * len % half)?);
        }
        Probe::Trimmed => {
            host.trim(half, bytes - half)?;
            let count = (bytes as f64 * AT_RANDOM) as u64 / len;
            readings.trimmed = Some(series(host, count, |_| rng.below(half / len) * len)?);
        }
    }
    Ok(())
}

fn singles<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    rng: &mut Rng,
) -> Result<[Vec<f64>; 3], LabError> {
    let places = NEAR / u64::from(SMALL);
    let mut samples: [Vec<f64>; 3] = Default::default();
    host.rest(Nanos(50 * PAUSE.0))?;
    for _ in 0..SINGLES {
        for (kind, times) in samples.iter_mut().enumerate() {
            let offset = rng.below(places) * u64::from(SMALL);
            let write = match kind {
                1 => Command::write_fua(offset, SMALL),
                _ => Command::write(offset, SMALL),
            };
            let mut time = host.singles(1, || write)?;
            if kind == 2 {
                time.extend(host.singles(1, Command::flush)?);
            }
            times.push(time.iter().sum());
            host.rest(PAUSE)?;
        }
    }
    Ok(samples)
}

/// `count` commands, `depth` at a time, no longer than a step of a sweep: commands a second and
/// the median latency.
fn sweep<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    depth: u32,
    count: u64,
    mut command: impl FnMut() -> Command,
) -> Result<DepthReading, LabError> {
    let began = host.now();
    let mut remaining = count;
    let mut latencies = Vec::new();
    let (mut first, mut last) = (None, began);
    let next = |instant: Nanos| {
        remaining = remaining.checked_sub(1)?;
        (instant.saturating_sub(began) < STEP).then(&mut command)
    };
    host.keep(depth, next, |acked| {
        latencies.push(acked.latency.0 as f64);
        first.get_or_insert(acked.at);
        last = acked.at;
    })?;
    // From the first completion on: its latency is not a part of the rate.
    let time = last.saturating_sub(first.unwrap_or(began)).as_secs_f64();
    Ok(DepthReading {
        depth,
        iops: (latencies.len().max(1) - 1) as f64 / time.max(1e-9),
        latency: median(&latencies),
    })
}

fn reads<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    rng: &mut Rng,
    readings: &mut ProbeReadings,
) -> Result<(), LabError> {
    let (bytes, small) = (host.bytes, u64::from(SMALL));
    host.rest(Nanos(50 * PAUSE.0))?;
    for depth in DEPTHS {
        let count = PER_DEPTH * u64::from(depth.max(8));
        let place = || Command::read(rng.below(bytes / small) * small, SMALL);
        readings.reads.push(sweep(host, depth, count, place)?);
    }
    let large = u64::from(LARGE);
    let place = || Command::read(rng.below(bytes / large) * large, LARGE);
    let read = sweep(host, DEPTH, 1_500, place)?.iops * large as f64;
    // Few enough for any buffer.
    let mut large_rates = Vec::new();
    let mut small_rates = Vec::new();
    for _ in 0..9 {
        host.rest(Nanos(20 * PAUSE.0))?;
        let write = sweep(host, 4, 5, || {
            Command::write(rng.below(8) * large, LARGE / 2)
        })?;
        large_rates.push(write.iops * (large / 2) as f64);
        host.rest(Nanos(20 * PAUSE.0))?;
        let write = sweep(host, DEPTH, 96, || {
            Command::write(rng.below(256) * small, SMALL)
        })?;
        small_rates.push(write.iops);
    }
    readings.link = Some((read, median(&large_rates)));
    // Work in the background makes some slower.
    small_rates.sort_by(f64::total_cmp);
    readings.small_burst = small_rates.get(7).copied();
    Ok(())
}

fn spans<T: Target>(
    host: &mut ProbedTarget<'_, T>,
    rng: &mut Rng,
) -> Result<Vec<(u64, f64)>, LabError> {
    let small = u64::from(SMALL);
    let mut latencies = Vec::new();
    let mut span = 1 << 20;
    loop {
        let at_most = span.min(host.bytes);
        let from = (host.bytes - at_most) / 2 / small * small;
        let mut place = || Command::read(from + rng.below(at_most / small) * small, SMALL);
        // Once to bring the map of the span into its cache.
        let warm = (at_most / (4 << 20)).clamp(200, 4_000);
        sweep(host, DEPTH, warm, &mut place)?;
        let times = host.singles(4 * SINGLES, &mut place)?;
        let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
        latencies.push((at_most, mean));
        if span >= host.bytes || host.is_stopped() {
            return Ok(latencies);
        }
        span *= 2;
    }
}

/// Commands that the probes keep outstanding at most.
pub const DEPTH_NEEDED: u32 = DEPTH_MAX;
