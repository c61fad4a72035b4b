//! A window: transactions, group commit and page cleaner as a state machine.

use super::layout::{OltpLayout, OtherFiles};
use super::result::OltpSecond;
use super::spec::OltpSpec;
use crate::probe::quantile;
use ssdlab_base::check::SelfCheck;
use ssdlab_base::latencies::{Latencies, latencies};
use ssdlab_bench::engine::devices::{DeviceCompletion, Devices};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Nanos, Op};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

const SECOND: Nanos = Nanos::from_secs(1);
const LOG_BLOCK: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TransactionEvent {
    /// A transaction is offered.
    Arrive,
    /// A connection's CPU work is over.
    Worked(u32),
}

/// Purposes of commands; a token is purpose << 32 | number.
const READ: u64 = 0;
const LOG: u64 = 1;
const LOG_FLUSH: u64 = 2;
const CLEAN: u64 = 3;
const OTHER: u64 = 4;

/// Step of the page cleaner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageCleanerStep {
    Idle,
    Doublewrite,
    DoublewriteFlush,
    InPlace,
    InPlaceFlush,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    arrived: Nanos,
    reads_left: u32,
}

/// What transactions and reads waited for.
#[derive(Clone, Debug)]
pub(super) struct OltpWindowStats {
    pub transactions: Latencies,
    pub reads: Latencies,
    pub read_bytes: u64,
    pub write_bytes: u64,
    pub groups: u64,
    pub refused: u64,
}

pub(super) struct OltpServer<'a> {
    spec: &'a OltpSpec,
    layout: OltpLayout,
    other: OtherFiles,
    rng: Rng,
    month: u32,
    began: Nanos,
    stop: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, TransactionEvent)>>,
    sequence: u64,
    /// Offered, waiting for a connection.
    queue: VecDeque<Nanos>,
    connections: Vec<Connection>,
    idle: Vec<u32>,
    /// Wait for dirty pages to be written.
    throttled: VecDeque<u32>,
    /// Oldest first; the set has the same pages.
    dirty: VecDeque<u32>,
    is_dirty: BTreeSet<u32>,
    cleaner: PageCleanerStep,
    cleaning: Vec<u32>,
    clean_left: u32,
    log_at: u64,
    log_waiting: Vec<u32>,
    /// In the group that is being committed.
    log_group: Vec<u32>,
    other_bytes: u64,
    waited: OltpWindowStats,
    second: (Latencies, u64, u64),
    seconds: Vec<OltpSecond>,
    boundary: Nanos,
    tally: TransactionTally,
}

/// For the self-checks.
#[derive(Clone, Copy, Debug, Default)]
struct TransactionTally {
    begun: u64,
    committed: u64,
    dirtied: u64,
    cleaned: u64,
    /// Integral of the transactions in the system over time, and sum of their latencies.
    area: u128,
    latency_sum: u128,
    last: Nanos,
    /// Committed although no flush began after their log write had completed.
    early: u64,
    log_written: u64,
    log_flushed: u64,
    flush_covers: u64,
}

impl<'a> OltpServer<'a> {
    pub fn new(
        spec: &'a OltpSpec,
        layout: OltpLayout,
        other: OtherFiles,
        month: u32,
    ) -> OltpServer<'a> {
        let idle_connection = Connection {
            arrived: Nanos::ZERO,
            reads_left: 0,
        };
        OltpServer {
            spec,
            layout,
            other,
            rng: Rng::named(spec.seed, &format!("oltp: window {month}")),
            month,
            began: Nanos::ZERO,
            stop: Nanos::ZERO,
            events: BinaryHeap::new(),
            sequence: 0,
            queue: VecDeque::new(),
            connections: vec![idle_connection; spec.connections as usize],
            idle: (0..spec.connections).rev().collect(),
            throttled: VecDeque::new(),
            dirty: VecDeque::new(),
            is_dirty: BTreeSet::new(),
            cleaner: PageCleanerStep::Idle,
            cleaning: Vec::new(),
            clean_left: 0,
            log_at: 0,
            log_waiting: Vec::new(),
            log_group: Vec::new(),
            other_bytes: 0,
            waited: OltpWindowStats {
                transactions: latencies(),
                reads: latencies(),
                read_bytes: 0,
                write_bytes: 0,
                groups: 0,
                refused: 0,
            },
            second: (latencies(), 0, 0),
            seconds: Vec::new(),
            boundary: Nanos::MAX,
            tally: TransactionTally::default(),
        }
    }

    pub fn other(&self) -> OtherFiles {
        self.other
    }

    pub fn waited(&self) -> &OltpWindowStats {
        &self.waited
    }

    pub fn into_seconds(self) -> Vec<OltpSecond> {
        self.seconds
    }

    /// Runs the window, and then until everything that was begun is done.
    pub fn run(&mut self, devices: &mut Devices) {
        self.began = devices.now();
        self.stop = self.began + self.spec.window;
        self.boundary = (self.began + SECOND).min(self.stop);
        self.tally.last = self.began;
        self.schedule(self.began, TransactionEvent::Arrive);
        loop {
            let due = self
                .events
                .peek()
                .map_or(Nanos::MAX, |Reverse(event)| event.0);
            let until = due.min(self.boundary);
            if until == Nanos::MAX && devices.outstanding(0) == 0 {
                return;
            }
            if let Some(done) = devices.next(until) {
                self.completed(devices, &done);
            } else if due == until {
                self.event(devices);
            } else {
                self.take_second();
            }
        }
    }

    fn schedule(&mut self, time: Nanos, event: TransactionEvent) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, event)));
    }

    fn event(&mut self, devices: &mut Devices) {
        match self.events.pop() {
            Some(Reverse((now, _, TransactionEvent::Arrive))) => self.arrive(devices, now),
            Some(Reverse((_, _, TransactionEvent::Worked(connection)))) => {
                self.worked(devices, connection)
            }
            None => {}
        }
    }

    fn arrive(&mut self, devices: &mut Devices, now: Nanos) {
        if now >= self.stop {
            return;
        }
        // Evenly between none and twice the mean.
        let mean = 1_000_000_000 / u64::from(self.spec.offered_s);
        let next = now + Nanos(self.rng.below(2 * mean + 1));
        self.schedule(next, TransactionEvent::Arrive);
        if self.queue.len() >= self.spec.offered_s as usize {
            self.waited.refused += 1;
            return;
        }
        self.advance(now);
        self.tally.begun += 1;
        self.queue.push_back(now);
        self.begin(devices);
    }

    /// Whole number for one transaction, drawn so that 100 transactions have `per_100` on average.
    fn some(&mut self, per_100: u32) -> u32 {
        per_100 / 100 + u32::from(self.rng.percent(per_100 % 100))
    }

    fn begin(&mut self, devices: &mut Devices) {
        while let Some(connection) = self.idle.pop() {
            let Some(arrived) = self.queue.pop_front() else {
                self.idle.push(connection);
                return;
            };
            let reads_left = self.some(self.spec.reads_per_100);
            self.connections[connection as usize] = Connection {
                arrived,
                reads_left,
            };
            self.proceed(devices, connection);
        }
    }

    /// The next read, or else the CPU's work.
    fn proceed(&mut self, devices: &mut Devices, connection: u32) {
        let state = &mut self.connections[connection as usize];
        if state.reads_left == 0 {
            self.schedule(
                devices.now() + self.spec.cpu,
                TransactionEvent::Worked(connection),
            );
            return;
        }
        state.reads_left -= 1;
        let page = self.rng.below(self.layout.pages);
        let offset = self.page_offset(page as u32);
        self.submit(
            devices,
            &Command::read(offset, self.spec.page),
            READ,
            connection,
        );
    }

    fn page_offset(&self, page: u32) -> u64 {
        self.layout.tables + u64::from(page) * u64::from(self.spec.page)
    }

    fn submit(&mut self, devices: &mut Devices, command: &Command, kind: u64, number: u32) {
        if devices.now() <= self.stop {
            let bytes = u64::from(command.len);
            match command.op {
                Op::Read => {
                    self.waited.read_bytes += bytes;
                    self.second.1 += bytes;
                }
                Op::Write => {
                    self.waited.write_bytes += bytes;
                    self.second.2 += bytes;
                }
                _ => {}
            }
        }
        devices.submit(0, command, kind << 32 | u64::from(number));
    }

    /// Pages are made dirty, unless too many are; then the commit.
    fn worked(&mut self, devices: &mut Devices, connection: u32) {
        if self.dirty.len() as u32 >= self.spec.dirty_pages.1 {
            self.throttled.push_back(connection);
            return;
        }
        for _ in 0..self.some(self.spec.dirtied_per_100) {
            let page = self.rng.below(self.layout.pages) as u32;
            if self.is_dirty.insert(page) {
                self.dirty.push_back(page);
                self.tally.dirtied += 1;
            }
        }
        self.log_waiting.push(connection);
        self.commit(devices);
        self.clean(devices);
        self.write_other(devices);
    }

    /// Binary log: as many bytes as the log has, in pieces.
    fn write_other(&mut self, devices: &mut Devices) {
        self.other_bytes += u64::from(self.spec.log_bytes);
        if self.other_bytes < 1 << 20 {
            return;
        }
        self.other_bytes = 0;
        for command in self.other.next_piece() {
            self.submit(devices, &command, OTHER, 0);
        }
    }

    /// One group at a time: all that wait are written at once.
    fn commit(&mut self, devices: &mut Devices) {
        if !self.log_group.is_empty() || self.log_waiting.is_empty() {
            return;
        }
        std::mem::swap(&mut self.log_group, &mut self.log_waiting);
        let (first, len) = self.layout.log;
        let bytes = self.log_group.len() as u64 * u64::from(self.spec.log_bytes);
        // The block that is partly full is written again.
        let from = self.log_at / LOG_BLOCK * LOG_BLOCK;
        let mut size = (self.log_at + bytes).next_multiple_of(LOG_BLOCK) - from;
        let mut start = from;
        if start + size > len {
            (start, self.log_at) = (0, 0);
            size = bytes.next_multiple_of(LOG_BLOCK);
        }
        self.log_at += bytes;
        self.waited.groups += u64::from(devices.now() <= self.stop);
        self.submit(devices, &Command::write(first + start, size as u32), LOG, 0);
    }

    fn completed(&mut self, devices: &mut Devices, completion: &DeviceCompletion) {
        let number = completion.token as u32;
        match completion.token >> 32 {
            READ => {
                if completion.done <= self.stop {
                    let latency = completion.done - completion.submitted;
                    self.waited.reads.saturating_record(latency.0);
                }
                self.proceed(devices, number);
            }
            LOG => {
                self.tally.log_written += 1;
                if self.spec.flushes {
                    self.tally.flush_covers = self.tally.log_written;
                    self.submit(devices, &Command::flush(), LOG_FLUSH, 0);
                } else {
                    self.committed(devices);
                }
            }
            LOG_FLUSH => {
                self.tally.log_flushed = self.tally.flush_covers;
                self.committed(devices);
            }
            CLEAN => self.cleaned(devices),
            _ => {}
        }
    }

    fn committed(&mut self, devices: &mut Devices) {
        let instant = devices.now();
        self.advance(instant);
        for connection in std::mem::take(&mut self.log_group) {
            let latency = (instant - self.connections[connection as usize].arrived).0;
            self.tally.committed += 1;
            self.tally.latency_sum += u128::from(latency);
            let durable = self.tally.log_flushed == self.tally.log_written;
            self.tally.early += u64::from(self.spec.flushes && !durable);
            if instant <= self.stop {
                self.waited.transactions.saturating_record(latency);
                self.second.0.saturating_record(latency);
            }
            self.idle.push(connection);
        }
        self.begin(devices);
        self.commit(devices);
    }

    /// Begins a batch of the page cleaner, if there is enough to do.
    fn clean(&mut self, devices: &mut Devices) {
        let enough = self.dirty.len() as u32 >= self.spec.dirty_pages.0;
        if self.cleaner != PageCleanerStep::Idle || !enough {
            return;
        }
        let count = (self.spec.batch as usize).min(self.dirty.len());
        self.cleaning = self.dirty.drain(..count).collect();
        for page in &self.cleaning {
            self.is_dirty.remove(page);
        }
        if !self.spec.doublewrite {
            self.write_pages(devices);
            return;
        }
        self.cleaner = PageCleanerStep::Doublewrite;
        self.clean_left = 1;
        let (first, _) = self.layout.doublewrite;
        let len = self.cleaning.len() as u32 * self.spec.page;
        self.submit(devices, &Command::write(first, len), CLEAN, 0);
    }

    fn write_pages(&mut self, devices: &mut Devices) {
        self.cleaner = PageCleanerStep::InPlace;
        self.clean_left = self.cleaning.len() as u32;
        for index in 0..self.cleaning.len() {
            let offset = self.page_offset(self.cleaning[index]);
            self.submit(devices, &Command::write(offset, self.spec.page), CLEAN, 0);
        }
    }

    fn cleaned(&mut self, devices: &mut Devices) {
        self.clean_left -= 1;
        if self.clean_left > 0 {
            return;
        }
        self.clean_left = 1;
        match self.cleaner {
            PageCleanerStep::Doublewrite if self.spec.flushes => {
                self.cleaner = PageCleanerStep::DoublewriteFlush;
                self.submit(devices, &Command::flush(), CLEAN, 0);
            }
            PageCleanerStep::Doublewrite | PageCleanerStep::DoublewriteFlush => {
                self.write_pages(devices)
            }
            PageCleanerStep::InPlace if self.spec.flushes => {
                self.cleaner = PageCleanerStep::InPlaceFlush;
                self.submit(devices, &Command::flush(), CLEAN, 0);
            }
            PageCleanerStep::InPlace | PageCleanerStep::InPlaceFlush | PageCleanerStep::Idle => {
                self.cleaner = PageCleanerStep::Idle;
                self.tally.cleaned += self.cleaning.len() as u64;
                self.cleaning.clear();
                for connection in std::mem::take(&mut self.throttled) {
                    self.worked(devices, connection);
                }
                self.clean(devices);
            }
        }
    }

    /// Transactions in the system, integrated over time.
    fn advance(&mut self, now: Nanos) {
        let inside = u128::from(self.tally.begun - self.tally.committed);
        self.tally.area += inside * u128::from(now.saturating_sub(self.tally.last).0);
        self.tally.last = now;
    }

    fn take_second(&mut self) {
        let (all, read_bytes, write_bytes) = &mut self.second;
        self.seconds.push(OltpSecond {
            month: self.month,
            t_s: (self.boundary - self.began).as_secs_f64(),
            transactions: all.len(),
            p50_ns: quantile(all, 0.5),
            p99_ns: quantile(all, 0.99),
            read_bytes: std::mem::take(read_bytes),
            write_bytes: std::mem::take(write_bytes),
        });
        all.reset();
        self.boundary = if self.boundary >= self.stop {
            Nanos::MAX
        } else {
            (self.boundary + SECOND).min(self.stop)
        };
    }

    pub fn checks(&self) -> Vec<SelfCheck> {
        let t = &self.tally;
        let hold = |ok: bool, what: String| if ok { Ok(()) } else { Err(what) };
        let dirty_pages = self.dirty.len() as u64 + self.cleaning.len() as u64;
        vec![
            SelfCheck::new(
                "every transaction committed once",
                hold(
                    t.begun == t.committed,
                    format!("{} begun, {} committed", t.begun, t.committed),
                ),
            ),
            SelfCheck::new(
                "Little's law of transactions",
                hold(
                    t.area == t.latency_sum,
                    format!("area {} ns, latencies {} ns", t.area, t.latency_sum),
                ),
            ),
            SelfCheck::new(
                "no commit before its log is durable",
                hold(t.early == 0, format!("{} too early", t.early)),
            ),
            SelfCheck::new(
                "every dirty page is written or still dirty",
                hold(
                    t.dirtied == t.cleaned + dirty_pages,
                    format!(
                        "{} dirtied, {} written, {dirty_pages} left",
                        t.dirtied, t.cleaned
                    ),
                ),
            ),
        ]
    }
}
