//! Where things lie on the drive, and the months between the windows.

use super::engine::{OltpServer, OltpWindowStats};
use super::layout::{OltpLayout, OtherFiles, PIECE};
use super::result::{Oltp, OltpWindow};
use super::spec::OltpSpec;
use crate::probe::{probe, quantile};
use ssdlab_base::LabError;
use ssdlab_base::check::{SelfCheck, failures};
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_ssd::ftl::SlotPlace;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos};
use std::sync::atomic::{AtomicBool, Ordering};

/// Commands outstanding while a month is made up for.
const DEPTH: u64 = 32;
/// Rest before a window, for the drive's idle work.
const REST: Nanos = Nanos::from_secs(60);

struct OltpRunner<'a> {
    spec: &'a OltpSpec,
    devices: Devices,
    layout: OltpLayout,
    other: OtherFiles,
    rng: Rng,
    probes: Rng,
    done: Oltp,
}

impl<'a> OltpRunner<'a> {
    pub fn new(spec: &'a OltpSpec, config: &DriveConfig) -> Result<OltpRunner<'a>, LabError> {
        let drive = new_drive(config)?;
        let layout = OltpLayout::new(spec, config.user_bytes);
        Ok(OltpRunner {
            spec,
            devices: Devices::new(vec![drive]),
            layout,
            other: OtherFiles {
                layout: layout.other,
                written: 0,
                trim: spec.trim,
            },
            rng: Rng::named(spec.seed, "oltp: months"),
            probes: Rng::named(spec.seed, "oltp: probes"),
            done: Oltp {
                spec: spec.clone(),
                windows: Vec::new(),
                seconds: Vec::new(),
                host_bytes: 0,
                stopped: false,
                checks: Vec::new(),
            },
        })
    }

    pub fn run(mut self, stop: &AtomicBool) -> Result<Oltp, LabError> {
        self.install();
        let mut waf_month = None;
        for month in 0..=self.spec.months {
            if month > 0 {
                waf_month = self.month(month, stop);
                self.done.stopped = stop.load(Ordering::Relaxed);
            }
            if self.done.stopped {
                break;
            }
            self.window(month, waf_month)?;
        }
        let drive = self.devices.drive(0);
        self.done.host_bytes = drive.counters().host_bytes_written;
        self.done.checks.extend(self.devices.checks());
        Ok(self.done)
    }

    /// The tables are loaded in order, and there are the first other files.
    fn install(&mut self) {
        let tables = (
            self.layout.tables,
            self.layout.pages * u64::from(self.spec.page),
        );
        for (first, len) in [self.layout.log, self.layout.doublewrite, tables] {
            for offset in (first..first + len).step_by(PIECE as usize) {
                let size = PIECE.min(first + len - offset);
                self.submit(&Command::write(offset, size as u32));
            }
        }
        for _ in 0..self.layout.other.2 {
            for command in self.other.next_piece() {
                self.submit(&command);
            }
        }
        self.rest();
    }

    fn submit(&mut self, command: &Command) {
        self.devices.submit(0, command, 0);
        while self.devices.outstanding(0) >= DEPTH {
            if self.devices.next(Nanos::MAX).is_none() {
                return;
            }
        }
    }

    fn rest(&mut self) {
        self.devices.submit(0, &Command::flush(), 0);
        self.devices.settle();
        let until = self.devices.now() + REST;
        self.devices.next(until);
    }

    /// A month's writing, at full speed, as far as it gets before `stop` is set; its WAF.
    fn month(&mut self, month: u32, stop: &AtomicBool) -> Option<f64> {
        let before = self.devices.drive(0).counters().clone();
        let bytes = self.devices.drive(0).config().user_bytes / 100;
        let bytes = bytes * u64::from(self.spec.monthly_pct);
        let page = u64::from(self.spec.page);
        let (mut all, mut other) = (0, 0);
        while all < bytes && !stop.load(Ordering::Relaxed) {
            if other * 100 < all * u64::from(self.spec.other_pct) {
                for command in self.other.next_piece() {
                    self.submit(&command);
                }
                (all, other) = (all + PIECE, other + PIECE);
                continue;
            }
            for _ in 0..self.spec.batch {
                let offset = self.layout.tables + self.rng.below(self.layout.pages) * page;
                self.submit(&Command::write(offset, self.spec.page));
            }
            all += u64::from(self.spec.batch) * page;
            if self.spec.doublewrite {
                let (first, len) = self.layout.doublewrite;
                self.submit(&Command::write(first, (len / 2) as u32));
                all += len / 2;
            }
        }
        for command in self.other.batch(month) {
            self.submit(&command);
        }
        self.rest();
        let drive = self.devices.drive(0);
        let slot = drive.config().geometry().slot_bytes;
        drive.counters().waf_since(&before, slot)
    }

    fn window(&mut self, month: u32, waf_month: Option<f64>) -> Result<(), LabError> {
        let (layout, page) = (self.layout, u64::from(self.spec.page));
        let mut place = |rng: &mut Rng| layout.tables + rng.below(layout.pages) * page;
        let drive = self.devices.drive(0);
        let probe = probe(drive, &self.spec.probe, &mut self.probes, &mut place)?;
        let mapped_share = mapped_share(drive);
        let before = drive.counters().clone();
        let mut server = OltpServer::new(self.spec, self.layout, self.other, month);
        server.run(&mut self.devices);
        self.other = server.other();
        let drive = self.devices.drive(0);
        let slot = drive.config().geometry().slot_bytes;
        let waf = drive.counters().waf_since(&before, slot);
        let OltpWindowStats {
            transactions,
            reads,
            read_bytes,
            write_bytes,
            groups,
            refused,
        } = server.waited();
        let rate = |count: u64| count as f64 / self.spec.window.as_secs_f64();
        self.done.windows.push(OltpWindow {
            month,
            tps: rate(transactions.len()),
            p50_ns: quantile(transactions, 0.5),
            p99_ns: quantile(transactions, 0.99),
            p999_ns: quantile(transactions, 0.999),
            max_ns: quantile(transactions, 1.0),
            refused: *refused,
            read_bytes_s: rate(*read_bytes),
            read_p99_ns: quantile(reads, 0.99),
            write_bytes_s: rate(*write_bytes),
            groups_s: rate(*groups),
            waf,
            waf_month,
            mapped_share,
            probe,
        });
        let checks = server.checks();
        if month == 0 || !failures(&checks).is_empty() {
            let named = checks.into_iter().map(|c| {
                let name = format!("window of month {month}: {}", c.name);
                SelfCheck::new(name, c.failure.map_or(Ok(()), Err))
            });
            self.done.checks.extend(named);
        }
        self.done.seconds.extend(server.into_seconds());
        Ok(())
    }
}

/// Share of the drive that it takes for valid data.
fn mapped_share(drive: &Drive) -> f64 {
    let slots = drive.config().user_slots();
    let mapped = (0..slots).filter(|&lpn| drive.find(lpn as u32) != SlotPlace::Unmapped);
    mapped.count() as f64 / slots as f64
}

/// Lives the months on a new drive until its end or until `stop` is set: the windows of whole
/// months are the result.
///
/// # Errors
/// When spec or drive is impossible, or a probe fails its self-check.
pub fn run_until(
    spec: &OltpSpec,
    drive: &DriveConfig,
    stop: &AtomicBool,
) -> Result<Oltp, LabError> {
    spec.validate(drive.user_bytes)?;
    OltpRunner::new(spec, drive)?.run(stop)
}
