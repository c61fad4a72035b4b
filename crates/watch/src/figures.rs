//! Figures of a window of requests: rates, times in host and device, and what was beside what.

use crate::locality::ReadLocality;
use crate::request::BlockRequest;
use crate::source::event::{BioOrigin, RequestKind};
use crate::spread::{BesideSpread, TimeSpread};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a block that a healthy drive maps.
const BLOCK: u64 = 4096;

/// Figures of one kind of request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct KindFigures {
    /// Bytes of all.
    pub bytes: u64,
    /// Time in the host's queue.
    pub queue: TimeSpread,
    /// Time in the device.
    pub device: TimeSpread,
}

impl KindFigures {
    fn new<'a>(requests: impl Iterator<Item = &'a BlockRequest> + Clone) -> KindFigures {
        KindFigures {
            bytes: requests.clone().map(|request| request.bytes).sum(),
            queue: TimeSpread::new(requests.clone().map(BlockRequest::queue_ns)),
            device: TimeSpread::new(requests.map(BlockRequest::device_ns)),
        }
    }

    /// Requests.
    pub fn count(&self) -> u64 {
        self.device.count
    }

    /// Mean bytes of a request.
    pub fn mean_bytes(&self) -> f64 {
        self.bytes as f64 / self.count().max(1) as f64
    }
}

/// Where writes go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WritePattern {
    /// Share that begins where one of the last writes ended.
    pub sequential: f64,
    /// Bytes of the MiB that were written to at least once.
    pub span_bytes: u64,
    /// Share that does not begin and end at multiples of 4 KiB.
    pub unaligned: f64,
    /// Bytes between two flushes, mean.
    pub bytes_per_flush: Option<f64>,
}

/// What one process asked for.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProcessFigures {
    /// Its name.
    pub name: String,
    /// Its number.
    pub pid: u32,
    /// Its requests.
    pub requests: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their time in the device, ns.
    pub device_ns: u64,
    /// Total time of those that were waited for, ns.
    pub awaited_ns: u64,
}

/// Requests of other processes beside those of the heaviest one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeighbourFigures {
    /// Its name.
    pub name: String,
    /// Its share of the time in the device.
    pub share: f64,
    /// Requests of others that are waited for, with requests of it beside them and without.
    pub others: BesideSpread,
}

/// Figures of a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct WatchFigures {
    /// Its length, s.
    pub seconds: f64,
    /// Whether counters alone gave it: then medians and longest times are means, and nothing is
    /// known of what was beside what.
    pub only_means: bool,
    /// Reads.
    pub reads: KindFigures,
    /// Writes.
    pub writes: KindFigures,
    /// Flushes.
    pub flushes: KindFigures,
    /// Discards.
    pub discards: KindFigures,
    /// Requests that failed.
    pub failed: u64,
    /// Share of the window with a request in the device.
    pub busy: f64,
    /// Requests in the device when another came, mean.
    pub depth: f64,
    /// Those with time in the host's queue: requests in the device when they came, mean.
    pub depth_of_queued: f64,
    /// Total times of the requests that are waited for.
    pub awaited: TimeSpread,
    /// Of these, time in the host's queue, ns.
    pub awaited_queue_ns: u64,
    /// Times of flushes with no write since the flush before.
    pub empty_flushes: TimeSpread,
    /// Reads, with writes or flushes beside them and without.
    pub reads_beside_writes: BesideSpread,
    /// Reads and writes, with discards beside them and without.
    pub beside_discards: BesideSpread,
    /// Reads alone, near one of the last reads and far from all of them.
    pub locality: ReadLocality,
    /// What the process with most time in the device does to the others.
    pub neighbour: Option<NeighbourFigures>,
    /// Where writes go.
    pub pattern: WritePattern,
    /// Processes, by time in the device.
    pub processes: Vec<ProcessFigures>,
}

impl WatchFigures {
    /// Of requests in the order in which they were done.
    pub fn new(requests: &[BlockRequest], seconds: f64) -> WatchFigures {
        let kind =
            |kind| KindFigures::new(requests.iter().filter(move |request| request.kind == kind));
        let data = || {
            let is_data = |kind| matches!(kind, RequestKind::Read | RequestKind::Write);
            requests.iter().filter(move |request| is_data(request.kind))
        };
        let reads = data().filter(|request| request.kind == RequestKind::Read);
        let queued = requests
            .iter()
            .filter(|request| request.queue_ns() > QUEUED_NS);
        let awaited = requests.iter().filter(|request| request.is_awaited());
        WatchFigures {
            seconds,
            only_means: false,
            reads: kind(RequestKind::Read),
            writes: kind(RequestKind::Write),
            flushes: kind(RequestKind::Flush),
            discards: kind(RequestKind::Discard),
            failed: requests.iter().filter(|request| request.failed).count() as u64,
            busy: busy_ns(requests) as f64 / (seconds * 1e9).max(1.0),
            depth: mean(
                requests
                    .iter()
                    .map(|request| f64::from(request.beside.total())),
            ),
            depth_of_queued: mean(queued.map(|request| f64::from(request.beside.total()))),
            awaited_queue_ns: awaited.clone().map(BlockRequest::queue_ns).sum(),
            awaited: TimeSpread::new(awaited.map(BlockRequest::total_ns)),
            empty_flushes: empty_flushes(requests),
            reads_beside_writes: BesideSpread::new(reads, |request| {
                request.was_beside(RequestKind::Write) || request.was_beside(RequestKind::Flush)
            }),
            beside_discards: BesideSpread::new(data(), |request| {
                request.was_beside(RequestKind::Discard)
            }),
            locality: ReadLocality::new(requests),
            neighbour: neighbour(requests),
            pattern: pattern(requests),
            processes: processes(requests),
        }
    }

    /// Requests in the device while it has any, mean (Little's law); 1 at least.
    pub fn under_way(&self) -> f64 {
        let kinds = RequestKind::ALL.into_iter();
        let sum: f64 = kinds.map(|kind| self.kind(kind).device.sum_ns as f64).sum();
        (sum / (self.busy * self.seconds * 1e9).max(1.0)).max(1.0)
    }

    /// What stands where a median would: counters give means alone.
    pub fn middle(&self) -> &'static str {
        if self.only_means { "mean" } else { "median" }
    }

    /// The figures of a kind.
    pub fn kind(&self, kind: RequestKind) -> &KindFigures {
        match kind {
            RequestKind::Read => &self.reads,
            RequestKind::Write => &self.writes,
            RequestKind::Flush => &self.flushes,
            RequestKind::Discard => &self.discards,
        }
    }

    /// Requests of all kinds.
    pub fn count(&self) -> u64 {
        RequestKind::ALL
            .into_iter()
            .map(|kind| self.kind(kind).count())
            .sum()
    }
}

/// Shorter times in the host's queue are those of handing over.
const QUEUED_NS: u64 = 20_000;

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u64), |(sum, count), value| (sum + value, count + 1));
    sum / count.max(1) as f64
}

/// Time with at least one request in the device.
fn busy_ns(requests: &[BlockRequest]) -> u64 {
    let mut spans: Vec<_> = requests
        .iter()
        .map(|request| (request.issued_ns, request.done_ns))
        .collect();
    spans.sort_unstable();
    let mut busy = 0;
    let mut covered_until = 0;
    for (begin, end) in spans {
        busy += end.saturating_sub(begin.max(covered_until));
        covered_until = covered_until.max(end);
    }
    busy
}

fn empty_flushes(requests: &[BlockRequest]) -> TimeSpread {
    let mut order: Vec<&BlockRequest> = requests.iter().collect();
    order.sort_by_key(|request| request.issued_ns);
    let mut written = true;
    let mut empty = Vec::new();
    for request in order {
        match request.kind {
            RequestKind::Write => written = true,
            RequestKind::Flush => {
                if !written {
                    empty.push(request.total_ns());
                }
                written = false;
            }
            RequestKind::Read | RequestKind::Discard => {}
        }
    }
    TimeSpread::new(empty.into_iter())
}

/// Ends of writes at which the next one may begin: streams that are followed at a time.
const STREAMS: usize = 16;

fn pattern(requests: &[BlockRequest]) -> WritePattern {
    let mut writes: Vec<_> = requests
        .iter()
        .filter(|request| request.kind == RequestKind::Write && request.bytes > 0)
        .collect();
    writes.sort_by_key(|request| request.issued_ns);
    let mut ends: Vec<u64> = Vec::new();
    let mut regions = BTreeSet::new();
    let (mut sequential, mut unaligned, mut bytes) = (0_u64, 0_u64, 0_u64);
    for write in &writes {
        let end = write.sector + write.bytes / 512;
        if let Some(place) = ends.iter().position(|&stream| stream == write.sector) {
            sequential += 1;
            ends.remove(place);
        }
        ends.push(end);
        if ends.len() > STREAMS {
            ends.remove(0);
        }
        regions.extend((write.sector >> 11)..=((end - 1) >> 11));
        unaligned += u64::from(
            !(write.sector * 512).is_multiple_of(BLOCK) || !write.bytes.is_multiple_of(BLOCK),
        );
        bytes += write.bytes;
    }
    let flushes = requests
        .iter()
        .filter(|request| request.kind == RequestKind::Flush)
        .count();
    let share = |count: u64| count as f64 / writes.len().max(1) as f64;
    WritePattern {
        sequential: share(sequential),
        span_bytes: (regions.len() as u64) << 20,
        unaligned: share(unaligned),
        bytes_per_flush: (flushes > 0).then(|| bytes as f64 / flushes as f64),
    }
}

/// Whether the kernel asks on behalf of whoever wrote or synced: its name is not a neighbour's.
pub fn is_kernel_thread(name: &str) -> bool {
    [
        "kworker/", "jbd2/", "xfsaild/", "txg_sync", "z_wr_", "btrfs-",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}

fn neighbour(requests: &[BlockRequest]) -> Option<NeighbourFigures> {
    let mut by_name: BTreeMap<_, u64> = BTreeMap::new();
    for request in requests {
        *by_name.entry(request.origin.name).or_default() += request.device_ns();
    }
    let all: u64 = by_name.values().sum();
    let (&name, &device_ns) = by_name.iter().max_by_key(|(_, device_ns)| **device_ns)?;
    let mut spans: Vec<_> = requests
        .iter()
        .filter(|request| request.origin.name == name)
        .map(|request| (request.issued_ns, request.done_ns))
        .collect();
    spans.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (begin, end) in spans {
        match merged.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((begin, end)),
        }
    }
    let is_beside = |request: &BlockRequest| {
        let next = merged.partition_point(|span| span.1 < request.issued_ns);
        merged
            .get(next)
            .is_some_and(|span| span.0 <= request.done_ns)
    };
    // The kernel's threads work for whoever wrote: also for the heaviest process.
    let others = requests.iter().filter(|request| {
        let other = request.origin.name;
        other != name && !is_kernel_thread(&other.to_string()) && request.is_awaited()
    });
    Some(NeighbourFigures {
        name: name.to_string(),
        share: device_ns as f64 / all.max(1) as f64,
        others: BesideSpread::new(others, is_beside),
    })
}

fn processes(requests: &[BlockRequest]) -> Vec<ProcessFigures> {
    let mut by_origin: BTreeMap<BioOrigin, ProcessFigures> = BTreeMap::new();
    for request in requests {
        let origin = request.origin;
        let entry = by_origin.entry(origin).or_insert_with(|| ProcessFigures {
            name: origin.name.to_string(),
            pid: origin.pid,
            requests: 0,
            bytes: 0,
            device_ns: 0,
            awaited_ns: 0,
        });
        entry.requests += 1;
        entry.bytes += request.bytes;
        entry.device_ns += request.device_ns();
        if request.is_awaited() {
            entry.awaited_ns += request.total_ns();
        }
    }
    let mut processes: Vec<_> = by_origin.into_values().collect();
    processes.sort_by_key(|process| std::cmp::Reverse(process.device_ns));
    processes
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::request::InFlight;
    use crate::source::event::RequestFlags;

    /// A request that waited `queue` and took `device` ns.
    pub(crate) fn request(
        rwbs: &str,
        sector: u64,
        bytes: u64,
        begin: u64,
        queue: u64,
        device: u64,
    ) -> BlockRequest {
        let flags = RequestFlags::parse(rwbs.as_bytes());
        BlockRequest {
            kind: flags.kind.expect("a kind"),
            flags,
            sector,
            bytes,
            queued_ns: begin,
            issued_ns: begin + queue,
            done_ns: begin + queue + device,
            origin: BioOrigin::default(),
            beside: InFlight::default(),
            joined: InFlight::default(),
            failed: false,
        }
    }

    #[test]
    fn a_flush_after_a_flush_is_empty() {
        let requests = [
            request("WS", 0, 4096, 0, 0, 10),
            request("FF", 0, 0, 20, 0, 100),
            request("FF", 0, 0, 200, 0, 50),
        ];
        let figures = WatchFigures::new(&requests, 1e-6);
        assert_eq!(figures.empty_flushes.count, 1);
        assert_eq!(figures.empty_flushes.sum_ns, 50);
        assert_eq!(figures.flushes.count(), 2);
        assert!((figures.busy - 0.16).abs() < 1e-9, "{}", figures.busy);
    }

    #[test]
    fn streams_that_alternate_are_each_in_order() {
        let mut requests = Vec::new();
        for i in 0..10 {
            requests.push(request("W", 8 * i, 4096, 100 * i, 0, 10));
            requests.push(request("W", 80_000 + 8 * i, 4096, 100 * i + 50, 0, 10));
        }
        let pattern = WatchFigures::new(&requests, 1e-6).pattern;
        assert!((pattern.sequential - 0.9).abs() < 1e-9);
        assert_eq!(pattern.span_bytes, 2 << 20);
        assert!(pattern.unaligned < 1e-9 && pattern.bytes_per_flush.is_none());
    }
}
