//! Samples on the way: what `series.csv` and the plots are made of.

use super::SimulationPlan;
use super::machine::{LifeDrive, OpLatencies};
use serde::Serialize;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_ssd::{DriveCounters, Nanos, Op};

/// Where a phase ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum PhaseEnd {
    /// Bytes written by the host in the phase.
    Bytes(u64),
    /// Virtual time in the phase.
    Time(Nanos),
}

/// Part of a life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifePhase {
    /// Everything is written once.
    Fill,
    /// The load.
    Load,
}

impl LifePhase {
    /// Name for people and files.
    pub fn name(self) -> &'static str {
        match self {
            LifePhase::Fill => "fill",
            LifePhase::Load => "load",
        }
    }
}

/// What happened from the sample before to this one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LifeSample {
    /// `fill` or `load`.
    pub phase: &'static str,
    /// Bytes written by the host since the life began.
    pub host_bytes: u64,
    /// Virtual seconds since the life began; 0 in the counting gear.
    pub t_s: f64,
    /// NAND bytes programmed / host bytes written, in this sample.
    pub waf: Option<f64>,
    /// Commands completed per virtual second.
    pub iops: Option<f64>,
    /// Percentiles of read latency, ns: 50, 99, 99.9.
    pub read_ns: Option<[u64; 3]>,
    /// The same of writes.
    pub write_ns: Option<[u64; 3]>,
    /// Superblocks free for data, at the end of the sample.
    pub free_superblocks: usize,
    /// Power, where the drive has figures.
    pub watts: Option<f64>,
}

/// The samples as CSV: a header, then one line each; what was not measured is empty.
pub fn csv(samples: &[LifeSample]) -> String {
    let mut text = String::from(
        "phase,host_bytes,t_s,waf,iops,read_p50_ns,read_p99_ns,read_p999_ns,write_p50_ns,\
         write_p99_ns,write_p999_ns,free_superblocks,watts\n",
    );
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let three = |value: Option<[u64; 3]>| match value {
        Some([a, b, c]) => format!("{a},{b},{c}"),
        None => ",,".into(),
    };
    for s in samples {
        let cells = [
            s.phase.to_owned(),
            s.host_bytes.to_string(),
            s.t_s.to_string(),
            number(s.waf),
            number(s.iops),
            three(s.read_ns),
            three(s.write_ns),
            s.free_superblocks.to_string(),
            number(s.watts),
        ];
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

/// Percentiles 50, 99 and 99.9; `None` when nothing was recorded.
pub(super) fn three(histogram: &Latencies) -> Option<[u64; 3]> {
    let percentile = |quantile| histogram.value_at_quantile(quantile).min(histogram.max());
    (!histogram.is_empty()).then(|| [percentile(0.5), percentile(0.99), percentile(0.999)])
}

/// How a drive stood.
struct CounterSnapshot {
    counters: DriveCounters,
    now: u64,
    energy_nj: Option<u128>,
}

impl CounterSnapshot {
    fn of<M: LifeDrive>(machine: &M) -> CounterSnapshot {
        CounterSnapshot {
            counters: machine.counters().clone(),
            now: machine.now().0,
            energy_nj: machine.energy_nj(),
        }
    }
}

/// Takes samples.
pub(super) struct Sampler {
    pub samples: Vec<LifeSample>,
    /// Latencies since the last sample.
    pub latencies: OpLatencies,
    /// Latencies of the load.
    pub load_latencies: OpLatencies,
    slot_bytes: u32,
    block: u32,
    began: CounterSnapshot,
    last: CounterSnapshot,
    phase_began: DriveCounters,
    by_time: bool,
    /// Between samples: bytes or ns.
    step: u64,
    /// From here on (bytes written, or ns) the last sample is left to the phase's end, so that
    /// none is much shorter than the others.
    last_from: u64,
    commands: usize,
    commands_before: usize,
}

impl Sampler {
    pub fn new<M: LifeDrive>(plan: &SimulationPlan, machine: &M) -> Sampler {
        Sampler {
            samples: Vec::new(),
            latencies: std::array::from_fn(|_| latencies()),
            load_latencies: std::array::from_fn(|_| latencies()),
            slot_bytes: plan.config.geometry().slot_bytes,
            block: 1,
            began: CounterSnapshot::of(machine),
            last: CounterSnapshot::of(machine),
            phase_began: machine.counters().clone(),
            by_time: false,
            step: u64::MAX,
            last_from: 0,
            commands: 0,
            commands_before: 0,
        }
    }

    /// Begins a phase of commands of `block` bytes, of which about `count` samples are taken.
    pub fn begin<M: LifeDrive>(&mut self, machine: &M, end: PhaseEnd, block: u32, count: u64) {
        self.block = block;
        self.phase_began = machine.counters().clone();
        let length = match end {
            PhaseEnd::Bytes(bytes) => bytes,
            PhaseEnd::Time(time) => time.0,
        };
        self.by_time = matches!(end, PhaseEnd::Time(_));
        self.step = (length / count).max(1);
        self.last = CounterSnapshot::of(machine);
        self.last_from = (self.position(machine) + length).saturating_sub(self.step / 2);
        self.commands_before = 0;
    }

    /// Where the drive is on the axis of the phase.
    fn position<M: LifeDrive>(&self, machine: &M) -> u64 {
        if self.by_time {
            machine.now().0
        } else {
            machine.counters().host_bytes_written
        }
    }

    pub fn phase_began(&self) -> &DriveCounters {
        &self.phase_began
    }

    /// How many commands may be given before the next look.
    pub fn batch(&self, most: usize) -> usize {
        let per_sample = if self.by_time {
            self.commands_before as u64 / 16 + 1
        } else {
            self.step / u64::from(self.block)
        };
        (per_sample as usize).clamp(1, most)
    }

    /// Takes a sample when it is time for one; `commands` were given since the last look.
    pub fn look<M: LifeDrive>(&mut self, phase: LifePhase, machine: &M, commands: usize) {
        self.commands += commands;
        let last = if self.by_time {
            self.last.now
        } else {
            self.last.counters.host_bytes_written
        };
        let position = self.position(machine);
        if position - last >= self.step && position < self.last_from {
            self.take(phase, machine);
        }
    }

    /// Takes the rest as a sample.
    pub fn flush<M: LifeDrive>(&mut self, phase: LifePhase, machine: &M) {
        if self.commands > 0 || self.latencies.iter().any(|histogram| !histogram.is_empty()) {
            self.take(phase, machine);
        }
    }

    fn take<M: LifeDrive>(&mut self, phase: LifePhase, machine: &M) {
        let snapshot = CounterSnapshot::of(machine);
        let completed_count = |op: Op| self.latencies[op as usize].len();
        let completed: u64 = Op::ALL.into_iter().map(completed_count).sum();
        let seconds = (snapshot.now - self.last.now) as f64 / 1e9;
        let energy = snapshot.energy_nj.zip(self.last.energy_nj);
        self.samples.push(LifeSample {
            phase: phase.name(),
            host_bytes: snapshot.counters.host_bytes_written
                - self.began.counters.host_bytes_written,
            t_s: (snapshot.now - self.began.now) as f64 / 1e9,
            waf: snapshot
                .counters
                .waf_since(&self.last.counters, self.slot_bytes),
            iops: (seconds > 0.0).then(|| completed as f64 / seconds),
            read_ns: three(&self.latencies[Op::Read as usize]),
            write_ns: three(&self.latencies[Op::Write as usize]),
            free_superblocks: machine.free_superblocks(),
            watts: energy
                .filter(|_| seconds > 0.0)
                .map(|(now, before)| (now - before) as f64 / 1e9 / seconds),
        });
        for (all, part) in self.load_latencies.iter_mut().zip(&mut self.latencies) {
            if phase == LifePhase::Load {
                // Same bounds, so that nothing can be out of range.
                let _ = all.add(&*part);
            }
            part.reset();
        }
        self.last = snapshot;
        self.commands_before = std::mem::take(&mut self.commands);
    }
}
