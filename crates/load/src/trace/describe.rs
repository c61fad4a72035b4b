//! What a trace looks like: counts, sizes, times, pattern, footprint, reuse.
//!
//! Every count is exact and takes constant memory but for the blocks, which are sampled when
//! there are too many ([`super::blocks`]), and rows of the pattern beyond `rows_max`, which are
//! counted only.

use super::blocks::{Blocks, Reuse};
use super::order::CompletionOrder;
use super::{IoPattern, PatternRow, SeekSize, TraceEvent};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_ssd::Op;

/// A power of two and how often it came: `from..2 * from`; 0 is 0 alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Bucket {
    /// Lower end.
    pub from: u64,
    /// Occurrences.
    pub count: u64,
}

/// Histogram over powers of two.
#[derive(Clone, Debug)]
struct PowerOfTwoHistogram([u64; 65]);

impl PowerOfTwoHistogram {
    fn add(&mut self, value: u64) {
        self.0[value.checked_ilog2().map_or(0, |power| power as usize + 1)] += 1;
    }

    fn buckets(&self) -> Vec<Bucket> {
        let counts = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        counts
            .map(|(place, &count)| Bucket {
                from: if place == 0 { 0 } else { 1 << (place - 1) },
                count,
            })
            .collect()
    }
}

/// Commands of one kind.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct OpShare {
    /// `read`, `write`, ...
    pub op: &'static str,
    /// Commands.
    pub count: u64,
    /// Bytes addressed.
    pub bytes: u64,
    /// Smallest and largest, in bytes.
    pub min: u64,
    /// Largest, in bytes.
    pub max: u64,
    /// Commands by size in bytes.
    pub sizes: Vec<Bucket>,
}

/// Latencies of completed commands of one kind, in ns. Mean and largest are exact, the
/// percentiles to 1 %.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LatencyShare {
    /// `read`, `write`, ...
    pub op: &'static str,
    /// Commands whose completion is known.
    pub count: u64,
    /// Mean.
    pub mean_ns: f64,
    /// Median.
    pub p50_ns: u64,
    /// 99 of 100 are at most this.
    pub p99_ns: u64,
    /// Largest.
    pub max_ns: u64,
}

/// A row of the pattern as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PatternDisplayRow {
    /// Start of the interval in s after the first command, in ns.
    pub start_ns: u64,
    /// %RAN.
    pub random_pct: u64,
    /// %SEQ.
    pub sequential_pct: u64,
    /// COUNT.
    pub count: u64,
    /// MIN, bytes.
    pub min: u64,
    /// MAX, bytes.
    pub max: u64,
    /// AVG, bytes.
    pub mean: u64,
    /// KR, KiB.
    pub kib_read: u64,
    /// KW, KiB.
    pub kib_written: u64,
}

/// What a trace looks like.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Description {
    /// Commands.
    pub commands: u64,
    /// From the first issue to the last issue or completion, whichever is later, in ns. `None`
    /// when all commands have the same time: none was recorded.
    pub span_ns: Option<u64>,
    /// By kind, in the order of [`Op::ALL`]; kinds that do not occur are left out.
    pub ops: Vec<OpShare>,
    /// Writes with FUA.
    pub fua_writes: u64,
    /// Writes before which the cache is flushed.
    pub preflush_writes: u64,
    /// Latencies by kind, where the trace records them.
    pub latencies: Vec<LatencyShare>,
    /// Mean number of commands outstanding; `None` when completions are not known.
    pub mean_depth: Option<f64>,
    /// Most commands outstanding at once; `None` when completions are not known.
    pub max_depth: Option<u64>,
    /// Times between issues, in ns; `None` when no times are known.
    pub gaps_ns: Option<Vec<Bucket>>,
    /// Length of the pattern's intervals in ns.
    pub interval_ns: u64,
    /// The pattern by interval, as `iopattern` prints it; none when no times are known.
    pub rows: Vec<PatternDisplayRow>,
    /// Rows beyond those kept.
    pub rows_left_out: u64,
    /// Smallest, mean and largest %RAN of all rows.
    pub row_random_pct: Option<(u64, f64, u64)>,
    /// All of the trace as one row.
    pub whole: PatternDisplayRow,
    /// Commands that do not start where the one completed before ended.
    pub random: u64,
    /// Distances by bucket in sectors, as `seeksize` prints them.
    pub seeks: Vec<(i64, u64)>,
    /// Reads, then writes: how many start where the last of the same kind ended, in order of
    /// issue.
    pub follow_own_kind: [u64; 2],
    /// Lowest byte read or written, and the one after the highest.
    pub extent: Option<(u64, u64)>,
    /// Footprint and reuse in blocks of 4 KiB.
    pub reuse: Reuse,
}

/// Makes a [`Description`] of events given in order of issue.
pub struct Describer {
    order: CompletionOrder,
    pattern: IoPattern,
    interval_ns: u64,
    rows: PatternDisplayRows,
    seeks: SeekSize,
    blocks: Blocks,
    ops: [OpShare; Op::COUNT],
    sizes: Vec<PowerOfTwoHistogram>,
    latencies: Vec<Latencies>,
    latency_sums: [u128; Op::COUNT],
    latency_max: [u64; Op::COUNT],
    gaps: PowerOfTwoHistogram,
    last_issue: Option<u64>,
    end_ns: u64,
    ends: [Option<u64>; 2],
    description: Description,
}

struct PatternDisplayRows {
    rows: Vec<PatternDisplayRow>,
    kept_max: usize,
    seen: u64,
    random_pct_sum: u64,
    random_pct: (u64, u64),
}

impl PatternDisplayRows {
    fn new(kept_max: usize) -> PatternDisplayRows {
        PatternDisplayRows {
            rows: Vec::new(),
            kept_max,
            seen: 0,
            random_pct_sum: 0,
            random_pct: (u64::MAX, 0),
        }
    }

    fn add(&mut self, row: &PatternRow, interval_ns: u64) {
        let percent = row.random_pct();
        self.seen += 1;
        self.random_pct_sum += percent;
        self.random_pct = (
            self.random_pct.0.min(percent),
            self.random_pct.1.max(percent),
        );
        if self.rows.len() < self.kept_max {
            self.rows.push(shown(row, interval_ns));
        }
    }
}

fn shown(row: &PatternRow, interval_ns: u64) -> PatternDisplayRow {
    PatternDisplayRow {
        start_ns: row.interval.saturating_mul(interval_ns),
        random_pct: row.random_pct(),
        sequential_pct: row.sequential_pct(),
        count: row.count,
        min: row.min,
        max: row.max,
        mean: row.mean(),
        kib_read: row.kib_read(),
        kib_written: row.kib_written(),
    }
}

impl Describer {
    /// For events whose times count from the first; at most `rows_max` rows of the pattern are
    /// kept.
    pub fn new(interval_ns: u64, rows_max: usize) -> Describer {
        Describer {
            order: CompletionOrder::default(),
            pattern: IoPattern::new(0, interval_ns),
            interval_ns,
            rows: PatternDisplayRows::new(rows_max),
            seeks: SeekSize::new(),
            blocks: Blocks::default(),
            ops: Op::ALL.map(|op| OpShare {
                op: op.name(),
                min: u64::MAX,
                ..OpShare::default()
            }),
            sizes: vec![PowerOfTwoHistogram([0; 65]); Op::COUNT],
            latencies: (0..Op::COUNT).map(|_| latencies()).collect(),
            latency_sums: [0; Op::COUNT],
            latency_max: [0; Op::COUNT],
            gaps: PowerOfTwoHistogram([0; 65]),
            last_issue: None,
            end_ns: 0,
            ends: [None; 2],
            description: Description {
                commands: 0,
                span_ns: None,
                ops: Vec::new(),
                fua_writes: 0,
                preflush_writes: 0,
                latencies: Vec::new(),
                mean_depth: None,
                max_depth: None,
                gaps_ns: None,
                interval_ns,
                rows: Vec::new(),
                rows_left_out: 0,
                row_random_pct: None,
                whole: shown(&PatternRow::default(), 0),
                random: 0,
                seeks: Vec::new(),
                follow_own_kind: [0; 2],
                extent: None,
                reuse: Reuse::default(),
            },
        }
    }

    /// Takes the next event in order of issue.
    pub fn event(&mut self, event: &TraceEvent) {
        let description = &mut self.description;
        description.commands += 1;
        let kind = event.op as usize;
        let share = &mut self.ops[kind];
        share.count += 1;
        share.bytes = share.bytes.saturating_add(event.len);
        share.min = share.min.min(event.len);
        share.max = share.max.max(event.len);
        self.sizes[kind].add(event.len);
        description.fua_writes += u64::from(event.fua);
        description.preflush_writes += u64::from(event.preflush);
        if let Some(last) = self.last_issue.replace(event.issued_ns) {
            self.gaps.add(event.issued_ns.saturating_sub(last));
        }
        self.end_ns = self.end_ns.max(event.done_or_issued_ns());
        if let Some(done_ns) = event.done_ns {
            let latency = done_ns.saturating_sub(event.issued_ns);
            self.latency_sums[kind] += u128::from(latency);
            self.latency_max[kind] = self.latency_max[kind].max(latency);
            self.latencies[kind].saturating_record(latency);
        }
        self.seeks.started(event);
        if event.transfers() {
            self.transfer(event);
        }
        let (pattern, rows, interval) = (&mut self.pattern, &mut self.rows, self.interval_ns);
        self.order.issued(event, |completed| {
            if let Some(row) = pattern.completed(completed) {
                rows.add(&row, interval);
            }
        });
    }

    fn transfer(&mut self, event: &TraceEvent) {
        let description = &mut self.description;
        let kind = usize::from(event.op == Op::Write);
        let follows = self.ends[kind].replace(event.end()) == Some(event.offset);
        description.follow_own_kind[kind] += u64::from(follows);
        let (low, high) = description.extent.unwrap_or((u64::MAX, 0));
        description.extent = Some((low.min(event.offset), high.max(event.end())));
        match event.op {
            Op::Read => self.blocks.read(event.offset, event.len),
            _ => self.blocks.write(event.offset, event.len),
        }
    }

    /// What the trace looks like.
    pub fn finish(mut self) -> Description {
        let (pattern, rows, interval) = (&mut self.pattern, &mut self.rows, self.interval_ns);
        self.order.finish(|completed| {
            if let Some(row) = pattern.completed(completed) {
                rows.add(&row, interval);
            }
        });
        if let Some(row) = pattern.finish() {
            rows.add(&row, interval);
        }
        let whole = self.pattern.total();
        let known = self.latencies.iter().any(|l| !l.is_empty());
        let latency_sum = self.latency_sums.iter().sum();
        let span = (self.end_ns > 0).then_some(self.end_ns);
        if span.is_none() {
            self.rows = PatternDisplayRows::new(0);
        }
        let depth = |sum: u128| span.map(|span| sum as f64 / span as f64);
        let seen = self.rows.seen;
        let latencies = latency_shares(&self.latencies, &self.latency_sums, &self.latency_max);
        let ops = self.ops.into_iter().zip(&self.sizes);
        Description {
            span_ns: span,
            ops: ops
                .filter(|(share, _)| share.count > 0)
                .map(|(share, sizes)| OpShare {
                    sizes: sizes.buckets(),
                    ..share
                })
                .collect(),
            latencies,
            mean_depth: known.then(|| depth(latency_sum)).flatten(),
            max_depth: known.then_some(self.order.most() as u64),
            gaps_ns: span.map(|_| self.gaps.buckets()),
            rows_left_out: seen - self.rows.rows.len() as u64,
            row_random_pct: (seen > 0).then(|| {
                let (low, high) = self.rows.random_pct;
                (low, self.rows.random_pct_sum as f64 / seen as f64, high)
            }),
            rows: self.rows.rows,
            whole: shown(&whole, 0),
            random: whole.random,
            seeks: self.seeks.buckets(),
            reuse: self.blocks.reuse(),
            ..self.description
        }
    }
}

fn latency_shares(
    latencies: &[Latencies],
    sums: &[u128; Op::COUNT],
    max: &[u64; Op::COUNT],
) -> Vec<LatencyShare> {
    let by_op = Op::ALL.into_iter().zip(latencies);
    by_op
        .filter(|(_, latencies)| !latencies.is_empty())
        .map(|(op, latencies)| LatencyShare {
            op: op.name(),
            count: latencies.len(),
            mean_ns: sums[op as usize] as f64 / latencies.len() as f64,
            // The end of a bucket may lie above the largest.
            p50_ns: latencies.value_at_quantile(0.5).min(max[op as usize]),
            p99_ns: latencies.value_at_quantile(0.99).min(max[op as usize]),
            max_ns: max[op as usize],
        })
        .collect()
}
