//! A host fitted to a trace of its log device.
//!
//! What the trace shows ([`structure`](super::structure)) decides which code of the log and the
//! allocator it was, how many logs there are, and how long a writer thinks. One number is fitted:
//! the share of the think time that varies, so that the logs take turns in the same disorder. The
//! share of random commands and the distances of seeks are not fitted; they are predicted.

use super::block_size::SizeRule;
use super::chain::LogBlockFormat;
use super::fixed::FixedTarget;
use super::host::LogHost;
use super::preset::ZfsPreset;
use super::published::total_variation;
use super::run::{LogDevicePattern, RunOptions, run};
use super::spec::HostSpec;
use super::structure::{LogStructure, structure, unmerged};
use ssdlab_base::LabError;
use ssdlab_load::trace::{IoPattern, PatternRow, ReadOptions, SeekSize, TraceEvent, TraceReader};
use ssdlab_ssd::Nanos;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Blocks of one simulation in the search for the varying share.
const BLOCKS: u64 = 20_000;
/// Halvings of the interval in which that share lies: 100 % / 2^7.
const HALVINGS: u32 = 7;
/// Largest log device that a trace is taken to come from when it does not say.
const LARGEST: u64 = 1 << 60;

/// A trace, and the host that is made from it.
#[derive(Clone, Debug)]
pub struct ZilTraceFit {
    /// What it shows.
    pub structure: LogStructure,
    /// All data commands of the trace.
    pub total: PatternRow,
    /// The same with neighbours that the device queue merged taken apart, as the model writes them.
    pub apart: PatternRow,
    /// Their seeks.
    pub seeks: Vec<(i64, u64)>,
    /// The age of the code.
    pub preset: ZfsPreset,
    /// Share of the think time that is drawn each time, %: fitted to the disorder.
    pub think_jitter_pct: u32,
    /// Disorder of the model with it.
    pub disorder: f64,
}

/// The trace beside a run of the fitted host.
#[derive(Clone, Copy, Debug)]
pub struct FitComparison {
    /// Random commands of the trace, %.
    pub random_trace: f64,
    /// Random commands of the trace with merged neighbours taken apart, %.
    pub random_apart: f64,
    /// Random commands of the model, %.
    pub random_model: f64,
    /// Total variation of the two histograms of seeks, 0 to 1.
    pub seeks: f64,
}

fn random_pct(row: &PatternRow) -> f64 {
    100.0 * row.random as f64 / row.count.max(1) as f64
}

fn pattern_of(events: impl Iterator<Item = TraceEvent>) -> PatternRow {
    let mut pattern = IoPattern::new(0, IoPattern::INTERVAL_NS);
    for event in events {
        pattern.completed(&event);
    }
    pattern.total()
}

impl ZilTraceFit {
    /// Fits a host to the trace at `path` of a log device of `capacity` bytes.
    ///
    /// # Errors
    /// When the trace cannot be read, or shows too few log blocks.
    pub fn of(path: &Path, capacity: u64, seed: u64) -> Result<ZilTraceFit, LabError> {
        let mut reader = TraceReader::open(path, &ReadOptions::default())?;
        let mut events = Vec::new();
        while let Some(event) = reader.next_event()? {
            events.push(event);
        }
        ZilTraceFit::of_events(events, capacity, seed)?.ok_or_else(|| {
            LabError::refused(
                format!(
                    "{} shows too few log blocks, or not in an order that logs of ZFS write",
                    path.display()
                ),
                "give a trace of a ZFS log device on its own, with 100 writes or more of 4 KiB or \
                 more",
            )
        })
    }

    fn of_events(
        mut events: Vec<TraceEvent>,
        capacity: u64,
        seed: u64,
    ) -> Result<Option<ZilTraceFit>, LabError> {
        let Some(found) = structure(&events, LARGEST) else {
            return Ok(None);
        };
        let mut seeks = SeekSize::new();
        events.iter().for_each(|event| seeks.started(event));
        events.sort_by_key(TraceEvent::done_or_issued_ns);
        let apart = events.iter().flat_map(|event| {
            let whole = !event.transfers();
            let parts = unmerged(event.issued_ns, event.offset, event.len);
            let parts = parts.into_iter().filter(move |_| !whole);
            parts.map(|(_, offset, len)| TraceEvent {
                offset,
                len,
                ..*event
            })
        });
        let mut fit = ZilTraceFit {
            preset: if found.buckets() {
                ZfsPreset::V2_1
            } else {
                ZfsPreset::V2010
            },
            think_jitter_pct: 100,
            disorder: 0.0,
            total: pattern_of(events.iter().copied()),
            apart: pattern_of(apart),
            seeks: seeks.buckets(),
            structure: found,
        };
        fit.search(capacity, seed)?;
        Ok(Some(fit))
    }

    /// Writers, each with a dataset of its own.
    pub fn writers(&self) -> usize {
        self.structure.logs.iter().sum()
    }

    /// About how long the writers take for as many log blocks.
    pub fn duration(&self, blocks: u64) -> Nanos {
        // The mean size of a block, in KiB, of writers as those of the presets.
        const KIB: u64 = 20;
        let structure = &self.structure;
        let cycle = structure.cycle.0 + KIB * structure.cycle_per_kib.0;
        Nanos(cycle.max(1_000) * blocks.div_ceil(self.writers() as u64))
    }

    /// The host.
    ///
    /// # Errors
    /// When the device is too small for a log.
    pub fn host(&self, capacity: u64, seed: u64) -> Result<HostSpec, LabError> {
        let writers = self.writers();
        let mut spec = self.preset.host(writers, writers, capacity, seed)?;
        spec.commit.format = if self.structure.whole() {
            LogBlockFormat::Whole
        } else {
            LogBlockFormat::Slim
        };
        debug_assert!(self.preset != ZfsPreset::V2_1 || spec.commit.size_rule == SizeRule::Buckets);
        let shares = self.structure.logs.iter().enumerate();
        spec.allocator_of = shares.flat_map(|(to, logs)| vec![to; *logs]).collect();
        spec.space.allocators = spec.space.allocators.max(self.structure.logs.len());
        spec.writer.think = self.structure.cycle;
        spec.writer.think_per_kib = self.structure.cycle_per_kib;
        spec.writer.think_jitter_pct = self.think_jitter_pct;
        spec.writer.between_files = Nanos::ZERO;
        Ok(spec)
    }

    /// The trace beside a run.
    pub fn beside(&self, run: &LogDevicePattern) -> FitComparison {
        FitComparison {
            random_trace: random_pct(&self.total),
            random_apart: random_pct(&self.apart),
            random_model: random_pct(&run.total),
            seeks: total_variation(&run.seeks.buckets(), &self.seeks),
        }
    }

    /// Halves the interval of the varying share. Logs that do not share an allocator have none.
    fn search(&mut self, capacity: u64, seed: u64) -> Result<(), LabError> {
        if self.structure.logs.first() == Some(&1) {
            return Ok(());
        }
        let aim = self.structure.disorder;
        let (mut low, mut high) = (0, 100);
        let mut best = (f64::INFINITY, 100, 0.0);
        for _ in 0..HALVINGS {
            self.think_jitter_pct = u32::midpoint(low, high);
            self.disorder = self.simulated(capacity, seed)?;
            if self.disorder < aim {
                low = self.think_jitter_pct
            } else {
                high = self.think_jitter_pct
            }
            let off = (self.disorder - aim).abs();
            if off < best.0 {
                best = (off, self.think_jitter_pct, self.disorder);
            }
        }
        (_, self.think_jitter_pct, self.disorder) = best;
        Ok(())
    }

    /// The disorder of the model as it is.
    fn simulated(&self, capacity: u64, seed: u64) -> Result<f64, LabError> {
        let latency = Nanos::from_micros(50);
        let mut target = FixedTarget::new(capacity, latency, latency);
        let mut host = LogHost::new(self.host(capacity, seed)?);
        let mut events = Vec::new();
        let options = RunOptions {
            duration: self.duration(BLOCKS),
            interval: Nanos::from_secs(1),
            stop: &AtomicBool::new(false),
        };
        run(&mut host, &mut target, &options, &mut |event| {
            events.push(*event);
            Ok(())
        })?;
        events.sort_by_key(|event| event.issued_ns);
        Ok(structure(&events, LARGEST).map_or(0.0, |structure| structure.disorder))
    }
}
