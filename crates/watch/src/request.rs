//! Requests put together from events: how long each waited in the host and in the device.

use crate::source::event::{BioOrigin, BlockEvent, BlockStep, RequestFlags, RequestKind};
use std::collections::{BTreeMap, VecDeque};

/// Requests that were in the device at a moment, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    counts: [u32; RequestKind::ALL.len()],
}

impl InFlight {
    /// By kind, in the order of [`RequestKind::ALL`].
    pub fn new(counts: [u32; RequestKind::ALL.len()]) -> InFlight {
        InFlight { counts }
    }

    /// Of one kind.
    pub fn count(&self, kind: RequestKind) -> u32 {
        self.counts[kind as usize]
    }

    /// Of all kinds.
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    fn add(&mut self, kind: RequestKind) {
        let count = &mut self.counts[kind as usize];
        *count = count.wrapping_add(1);
    }

    /// What was added since `earlier`.
    fn since(&self, earlier: &InFlight) -> InFlight {
        let mut counts = self.counts;
        for (count, before) in counts.iter_mut().zip(earlier.counts) {
            *count = count.wrapping_sub(before);
        }
        InFlight { counts }
    }

    fn remove(&mut self, kind: RequestKind) {
        let count = &mut self.counts[kind as usize];
        *count = count.saturating_sub(1);
    }
}

/// A request from its first bio to its end.
#[derive(Clone, Copy, Debug)]
pub struct BlockRequest {
    /// What it asks for.
    pub kind: RequestKind,
    /// Its letters.
    pub flags: RequestFlags,
    /// First sector of 512 bytes; 0 for a flush.
    pub sector: u64,
    /// Bytes; 0 for a flush.
    pub bytes: u64,
    /// When its first bio was handed over, ns; when it was issued, where that was not seen.
    pub queued_ns: u64,
    /// When the driver got it, ns.
    pub issued_ns: u64,
    /// When the driver reported it done, ns.
    pub done_ns: u64,
    /// Who handed its first bio over.
    pub origin: BioOrigin,
    /// What was in the device when it was issued, without itself.
    pub beside: InFlight,
    /// What was issued while it was in the device.
    pub joined: InFlight,
    /// Whether it failed.
    pub failed: bool,
}

impl BlockRequest {
    /// Time in the host's queue, ns.
    pub fn queue_ns(&self) -> u64 {
        self.issued_ns.saturating_sub(self.queued_ns)
    }

    /// Time in the device, ns.
    pub fn device_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.issued_ns)
    }

    /// Both, ns.
    pub fn total_ns(&self) -> u64 {
        self.done_ns.saturating_sub(self.queued_ns)
    }

    /// Whether somebody waits for it: a read that is no readahead, a write marked so, a flush.
    pub fn is_awaited(&self) -> bool {
        match self.kind {
            RequestKind::Read => !self.flags.ahead,
            RequestKind::Write => self.flags.sync,
            RequestKind::Flush => true,
            RequestKind::Discard => false,
        }
    }

    /// Whether a request of this kind was in the device with it at any time.
    pub fn was_beside(&self, kind: RequestKind) -> bool {
        self.beside.count(kind) > 0 || self.joined.count(kind) > 0
    }

    /// Whether it had the device to itself.
    pub fn was_alone(&self) -> bool {
        self.beside.total() + self.joined.total() == 0
    }
}

/// A bio that waits for its request to be issued.
#[derive(Clone, Copy, Debug)]
struct QueuedBio {
    time_ns: u64,
    bytes: u64,
    preflush: bool,
    origin: BioOrigin,
}

/// A request in the device.
#[derive(Clone, Copy, Debug)]
struct IssuedRequest {
    event: BlockEvent,
    queued_ns: u64,
    origin: BioOrigin,
    beside: InFlight,
    /// Requests issued until then, itself among them.
    issued_before: InFlight,
}

/// Bios and requests that are kept at most: what the kernel never reports done is dropped.
const WAITING_MAX: usize = 1 << 16;

/// The kernel's own count of requests in the device.
#[derive(Clone, Copy, Debug)]
struct InFlightMark {
    time_ns: u64,
    count: u64,
}

/// ns from which a request that the kernel does not count any more was missed at its end. Linux
/// 6.18 was seen to leave out one event in thousands, of softirqs beside a process of another
/// namespace.
const MISSED_AFTER_NS: u64 = 200_000_000;

/// What was seen and could not be put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnmatchedEvents {
    /// Completions of requests that were issued before the first event.
    pub completions: u64,
    /// Requests and bios that were dropped because their end never came.
    pub dropped: u64,
}

/// Puts events together.
#[derive(Debug, Default)]
pub struct RequestAssembler {
    /// By first sector.
    queued: BTreeMap<u64, QueuedBio>,
    issued: BTreeMap<u64, IssuedRequest>,
    flushes: VecDeque<IssuedRequest>,
    /// Since when somebody waits for the flush that comes next.
    flush_asked_ns: Option<u64>,
    /// Who asked last for something durable: the kernel's workers flush on their behalf.
    durable_origin: Option<BioOrigin>,
    /// When the last flush was done.
    flushed_ns: u64,
    in_flight: InFlight,
    /// Requests issued so far, modulo 2^32.
    issued_count: InFlight,
    unmatched: UnmatchedEvents,
    /// By time; those that events have not come to yet.
    marks: VecDeque<InFlightMark>,
}

impl RequestAssembler {
    /// What could not be put together so far.
    pub fn unmatched(&self) -> UnmatchedEvents {
        self.unmatched
    }

    /// Requests in the device.
    pub fn in_flight(&self) -> InFlight {
        self.in_flight
    }

    /// When the oldest request in the device was issued, ns.
    pub fn oldest_issued_ns(&self) -> Option<u64> {
        let requests = self.issued.values().chain(&self.flushes);
        requests.map(|request| request.event.time_ns).min()
    }

    /// Events were lost: what is in the device is no longer known.
    pub fn forget_all(&mut self) {
        let known = self.issued.len() + self.flushes.len() + self.queued.len();
        self.unmatched.dropped += known as u64;
        self.issued.clear();
        self.flushes.clear();
        self.queued.clear();
        self.in_flight = InFlight::default();
    }

    /// The kernel had `count` requests in the device at a time.
    pub fn expect(&mut self, time_ns: u64, count: u64) {
        self.marks.push_back(InFlightMark { time_ns, count });
    }

    /// Drops the oldest of the requests that are more than the kernel has: their ends were missed.
    fn reconcile(&mut self, mark: InFlightMark) {
        let excess = (self.issued.len() as u64).saturating_sub(mark.count);
        let mut old: Vec<(u64, u64)> = self
            .issued
            .iter()
            .map(|(sector, request)| (request.event.time_ns, *sector))
            .filter(|(time_ns, _)| time_ns + MISSED_AFTER_NS < mark.time_ns)
            .collect();
        old.sort_unstable();
        for (_, sector) in old.into_iter().take(excess as usize) {
            if let Some(lost) = self.issued.remove(&sector) {
                self.forget(&lost);
            }
        }
    }

    /// Takes the next event by time; a completion gives a request.
    pub fn take(&mut self, event: &BlockEvent) -> Option<BlockRequest> {
        let is_past = |mark: &InFlightMark| mark.time_ns <= event.time_ns;
        while self.marks.front().is_some_and(is_past) {
            if let Some(mark) = self.marks.pop_front() {
                self.reconcile(mark);
            }
        }
        match event.step {
            BlockStep::Queued => self.queue(event),
            BlockStep::Issued => self.issue(event),
            BlockStep::Requeued => self.requeue(event),
            BlockStep::Completed { failed } => return self.complete(event, failed),
        }
        None
    }

    fn queue(&mut self, event: &BlockEvent) {
        if event.flags.preflush {
            self.flush_asked_ns.get_or_insert(event.time_ns);
        }
        if event.flags.preflush || event.flags.fua {
            self.durable_origin = Some(event.origin);
        }
        if self.queued.len() >= WAITING_MAX {
            self.queued.pop_first();
            self.unmatched.dropped += 1;
        }
        let bio = QueuedBio {
            time_ns: event.time_ns,
            bytes: event.bytes,
            preflush: event.flags.preflush,
            origin: event.origin,
        };
        self.queued.entry(event.sector).or_insert(bio);
    }

    /// The first of the bios that lie in the request; all of them leave the queue, but for what
    /// of the last one is behind the request's end: the kernel has split it.
    fn first_bio(&mut self, event: &BlockEvent) -> Option<QueuedBio> {
        let end = event.sector + (event.bytes / 512).max(1);
        let inside = self.queued.range(event.sector..end);
        let inside: Vec<u64> = inside.map(|(sector, _)| *sector).collect();
        let mut first: Option<QueuedBio> = None;
        for sector in inside {
            let Some(bio) = self.queued.remove(&sector) else {
                continue;
            };
            let rest = (sector + bio.bytes / 512).saturating_sub(end);
            if rest > 0 {
                let rest = QueuedBio {
                    bytes: rest * 512,
                    ..bio
                };
                self.queued.insert(end, rest);
            }
            if first.is_none_or(|earlier| bio.time_ns < earlier.time_ns) {
                first = Some(bio);
            }
        }
        first
    }

    /// Since when a request waits: a bio that had to be flushed for waits from the flush's end on.
    fn waits_since(&self, bio: Option<&QueuedBio>, event: &BlockEvent) -> u64 {
        match bio {
            Some(bio) if bio.preflush => bio.time_ns.max(self.flushed_ns).min(event.time_ns),
            Some(bio) => bio.time_ns,
            None => event.time_ns,
        }
    }

    fn issue(&mut self, event: &BlockEvent) {
        let Some(kind) = event.flags.kind else { return };
        let beside = self.in_flight;
        self.in_flight.add(kind);
        self.issued_count.add(kind);
        let issued_before = self.issued_count;
        if kind == RequestKind::Flush {
            let queued_ns = self.flush_asked_ns.take().unwrap_or(event.time_ns);
            let origin = self.durable_origin.unwrap_or(event.origin);
            self.flushes.push_back(IssuedRequest {
                event: *event,
                queued_ns,
                origin,
                beside,
                issued_before,
            });
            return;
        }
        let bio = self.first_bio(event);
        let request = IssuedRequest {
            event: *event,
            queued_ns: self.waits_since(bio.as_ref(), event),
            origin: bio.map_or(event.origin, |bio| bio.origin),
            beside,
            issued_before,
        };
        if self.issued.len() >= WAITING_MAX
            && let Some((_, lost)) = self.issued.pop_first()
        {
            self.forget(&lost);
        }
        if let Some(lost) = self.issued.insert(event.sector, request) {
            self.forget(&lost);
        }
    }

    fn forget(&mut self, lost: &IssuedRequest) {
        self.unmatched.dropped += 1;
        if let Some(kind) = lost.event.flags.kind {
            self.in_flight.remove(kind);
        }
    }

    fn requeue(&mut self, event: &BlockEvent) {
        let request = match event.flags.kind {
            Some(RequestKind::Flush) => self.flushes.pop_back(),
            _ => self.issued.remove(&event.sector),
        };
        let Some(request) = request else { return };
        if let Some(kind) = request.event.flags.kind {
            self.in_flight.remove(kind);
        }
        let bio = QueuedBio {
            time_ns: request.queued_ns,
            bytes: request.event.bytes,
            preflush: false,
            origin: request.origin,
        };
        self.queued.insert(event.sector, bio);
    }

    fn complete(&mut self, event: &BlockEvent, failed: bool) -> Option<BlockRequest> {
        let kind = event.flags.kind?;
        let request = match kind {
            RequestKind::Flush => self.flushes.pop_front(),
            // The end of a write whose flush came after it: its data had been done before.
            RequestKind::Write if event.bytes == 0 => {
                self.queued.remove(&event.sector);
                return None;
            }
            _ => self.issued.remove(&event.sector),
        };
        let Some(request) = request else {
            self.unmatched.completions += 1;
            return None;
        };
        self.in_flight.remove(kind);
        let is_flush = kind == RequestKind::Flush;
        if is_flush {
            self.flushed_ns = event.time_ns;
        }
        Some(BlockRequest {
            kind,
            flags: request.event.flags,
            sector: if is_flush { 0 } else { event.sector },
            bytes: if is_flush { 0 } else { request.event.bytes },
            queued_ns: request.queued_ns.min(request.event.time_ns),
            issued_ns: request.event.time_ns,
            done_ns: event.time_ns,
            origin: request.origin,
            beside: request.beside,
            joined: self.issued_count.since(&request.issued_before),
            failed,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::source::event::ProcessName;

    /// An event as the tracepoints give it.
    pub(crate) fn event(
        time_ns: u64,
        step: BlockStep,
        rwbs: &str,
        sector: u64,
        sectors: u64,
    ) -> BlockEvent {
        BlockEvent {
            time_ns,
            step,
            sector,
            bytes: sectors * 512,
            flags: RequestFlags::parse(rwbs.as_bytes()),
            origin: BioOrigin {
                pid: 7,
                name: ProcessName::new(b"app"),
            },
        }
    }

    const DONE: BlockStep = BlockStep::Completed { failed: false };

    fn assemble(events: &[BlockEvent]) -> Vec<BlockRequest> {
        let mut assembler = RequestAssembler::default();
        events
            .iter()
            .filter_map(|event| assembler.take(event))
            .collect()
    }

    /// A read whose end was missed is no neighbour of those that come later; one that the kernel
    /// still has is, however long it takes.
    #[test]
    fn what_the_kernel_has_no_more_is_dropped() {
        let beside = |in_kernel: u64| {
            let mut assembler = RequestAssembler::default();
            let s = MISSED_AFTER_NS;
            assembler.take(&event(100, BlockStep::Issued, "R", 0, 8));
            assembler.expect(2 * s, in_kernel);
            assembler.take(&event(3 * s, BlockStep::Issued, "R", 64, 8));
            let read = assembler.take(&event(3 * s + 9, DONE, "R", 64, 8));
            (
                read.expect("a request").beside.total(),
                assembler.unmatched().dropped,
            )
        };
        assert_eq!(beside(0), (0, 1));
        assert_eq!(beside(1), (1, 0));
    }

    /// A commit of ext4's journal on a loop device, as Linux 6.18 reports it.
    #[test]
    fn a_commit_is_a_flush_a_write_and_a_flush() {
        let requests = assemble(&[
            event(100, BlockStep::Queued, "FWFSM", 1000, 8),
            event(110, BlockStep::Issued, "FF", 0, 0),
            event(2110, DONE, "FF", u64::MAX, 0),
            event(2120, BlockStep::Issued, "WSM", 1000, 8),
            event(2170, DONE, "WSM", 1000, 8),
            event(2180, BlockStep::Issued, "FF", 0, 0),
            event(4180, DONE, "FF", u64::MAX, 0),
            event(4181, DONE, "WSM", 1000, 0),
        ]);
        let kinds: Vec<_> = requests.iter().map(|request| request.kind).collect();
        assert_eq!(
            kinds,
            [RequestKind::Flush, RequestKind::Write, RequestKind::Flush]
        );
        assert_eq!(requests[0].device_ns(), 2000);
        assert_eq!(requests[0].queue_ns(), 10);
        assert_eq!(requests[0].origin.name.to_string(), "app");
        assert_eq!((requests[1].queue_ns(), requests[1].device_ns()), (10, 50));
        assert!(requests.iter().all(|request| request.is_awaited()));
    }

    #[test]
    fn merged_bios_wait_from_the_first_on() {
        let requests = assemble(&[
            event(10, BlockStep::Queued, "W", 8, 8),
            event(5, BlockStep::Queued, "W", 16, 8),
            event(50, BlockStep::Issued, "W", 8, 16),
            event(90, DONE, "W", 8, 16),
        ]);
        assert_eq!(requests[0].queue_ns(), 45);
        assert_eq!(requests[0].bytes, 16 * 512);
        assert!(!requests[0].is_awaited(), "written back");
    }

    #[test]
    fn a_split_bio_gives_each_part_its_time() {
        let requests = assemble(&[
            event(10, BlockStep::Queued, "R", 0, 16),
            event(20, BlockStep::Issued, "R", 0, 8),
            event(30, BlockStep::Issued, "R", 8, 8),
            event(40, DONE, "R", 0, 8),
            event(50, DONE, "R", 8, 8),
        ]);
        assert_eq!(requests[0].queue_ns(), 10);
        assert_eq!(requests[1].beside.count(RequestKind::Read), 1);
        assert_eq!((requests[1].queue_ns(), requests[1].device_ns()), (20, 20));
    }

    #[test]
    fn a_request_that_the_driver_hands_back_waits_in_the_host() {
        let requests = assemble(&[
            event(10, BlockStep::Queued, "R", 0, 8),
            event(20, BlockStep::Issued, "R", 0, 8),
            event(30, BlockStep::Requeued, "R", 0, 8),
            event(70, BlockStep::Issued, "R", 0, 8),
            event(80, DONE, "R", 0, 8),
        ]);
        assert_eq!((requests[0].queue_ns(), requests[0].device_ns()), (60, 10));
        assert_eq!(requests[0].beside.total(), 0);
    }

    #[test]
    fn ends_without_beginning_are_counted() {
        let mut assembler = RequestAssembler::default();
        assert!(assembler.take(&event(5, DONE, "R", 0, 8)).is_none());
        assert_eq!(assembler.unmatched().completions, 1);
        assert_eq!(assembler.in_flight(), InFlight::default());
    }
}
