//! Figures of a window whose requests were counted by the kernel and seen singly in part.
//!
//! At high rates single requests are looked at for a part of each second. What the kernel counted
//! (how many, bytes, times) is of all of them; what needs single requests (who asked, what was
//! beside what) is of those that were seen, scaled to all.

use crate::figures::{KindFigures, WatchFigures};
use crate::source::bpf::KernelHistograms;
use crate::source::counters::DiskStat;
use crate::source::event::RequestKind;
use crate::source::histogram::{AWAITED_ROW, HistogramRow, LatencyHistograms, TimeCells};
use crate::spread::{BesideSpread, ENOUGH, TimeSpread};
use crate::steps::{KindSecond, WatchedSecond};
use ssdlab_bench::device::system::SysfsDevice;
use std::collections::VecDeque;

/// What had been counted at a time.
#[derive(Clone, Debug)]
struct CountedMark {
    time_ns: u64,
    counted: LatencyHistograms,
    stat: DiskStat,
}

/// Counts of the kernel, and what they were at the ends of the last seconds.
pub struct KernelWindow {
    source: KernelHistograms,
    marks: VecDeque<CountedMark>,
    window_s: u64,
}

fn kind_second(row: &HistogramRow) -> KindSecond {
    KindSecond {
        count: row.count,
        bytes: row.bytes,
        device_ns: row.device.sum_ns,
        max_ns: row.queue.max_ns.max(row.device.max_ns),
    }
}

fn spread(count: u64, times: &TimeCells) -> TimeSpread {
    TimeSpread {
        count,
        sum_ns: times.sum_ns,
        median_ns: times.quantile(0.5),
        p99_ns: times.quantile(0.99),
        max_ns: times.max_ns,
    }
}

fn kind_figures(row: &HistogramRow) -> KindFigures {
    KindFigures {
        bytes: row.bytes,
        queue: spread(row.count, &row.queue),
        device: spread(row.count, &row.device),
    }
}

fn scaled(value: u64, scale: f64) -> u64 {
    (value as f64 * scale).round() as u64
}

fn scale_spread(spread: &mut TimeSpread, scale: f64) {
    spread.count = scaled(spread.count, scale);
    spread.sum_ns = scaled(spread.sum_ns, scale);
}

/// What too few requests show is not made to look like more.
fn scale_beside(beside: &mut BesideSpread, scale: f64) {
    for part in [&mut beside.beside, &mut beside.apart] {
        if part.count < ENOUGH {
            *part = TimeSpread::default();
        }
        scale_spread(part, scale);
    }
}

impl KernelWindow {
    /// Lets the kernel count for this disk; windows are of `window_s` seconds.
    ///
    /// # Errors
    /// Why it is not to be had.
    pub fn open(
        disk: &SysfsDevice,
        window_s: u64,
        now_ns: u64,
        stat: DiskStat,
    ) -> Result<KernelWindow, String> {
        let first = CountedMark {
            time_ns: now_ns,
            counted: LatencyHistograms::default(),
            stat,
        };
        Ok(KernelWindow {
            source: KernelHistograms::open(disk.id, &disk.disk)?,
            marks: VecDeque::from([first]),
            window_s,
        })
    }

    /// The kernel's side of it.
    pub fn source(&mut self) -> &mut KernelHistograms {
        &mut self.source
    }

    /// Ends a second: what was done in it.
    pub fn end_second(&mut self, now_ns: u64, stat: DiskStat) -> WatchedSecond {
        let counted = self.source.read();
        let second = self
            .marks
            .back()
            .map_or_else(LatencyHistograms::default, |last| {
                counted.since(&last.counted)
            });
        self.marks.push_back(CountedMark {
            time_ns: now_ns,
            counted,
            stat,
        });
        while self.marks.len() as u64 > self.window_s + 1 {
            self.marks.pop_front();
        }
        let kind = |kind| kind_second(&second.kind(kind));
        WatchedSecond {
            reads: kind(RequestKind::Read),
            writes: kind(RequestKind::Write),
            flushes: kind(RequestKind::Flush),
            discards: kind(RequestKind::Discard),
        }
    }

    /// What was counted since the programs were attached, at the last second's end.
    pub fn total(&self) -> LatencyHistograms {
        let last = self.marks.back();
        last.map_or_else(LatencyHistograms::default, |last| last.counted.clone())
    }

    /// Puts what the kernel counted in the last seconds into figures of single requests; the share
    /// of requests that were seen singly.
    pub fn complete(&self, figures: &mut WatchFigures) -> f64 {
        let (Some(first), Some(last)) = (self.marks.front(), self.marks.back()) else {
            return 1.0;
        };
        let window = last.counted.since(&first.counted);
        let (seen, counted) = (figures.count(), window.count());
        let seconds = last.time_ns.saturating_sub(first.time_ns) as f64 / 1e9;
        figures.seconds = seconds;
        figures.busy = last.stat.since(&first.stat).figures(seconds).busy;
        let kind = |kind| kind_figures(&window.kind(kind));
        figures.reads = kind(RequestKind::Read);
        figures.writes = kind(RequestKind::Write);
        figures.flushes = kind(RequestKind::Flush);
        figures.discards = kind(RequestKind::Discard);
        figures.failed = window.rows[..AWAITED_ROW]
            .iter()
            .map(|row| row.failed)
            .sum();
        let awaited = &window.rows[AWAITED_ROW];
        figures.awaited = spread(awaited.count, &awaited.device);
        figures.awaited_queue_ns = awaited.queue.sum_ns;
        if seen == 0 || counted == 0 {
            return if counted == 0 { 1.0 } else { 0.0 };
        }
        scale_details(figures, counted as f64 / seen as f64);
        (seen as f64 / counted as f64).min(1.0)
    }
}

/// Figures that single requests alone give.
fn scale_details(figures: &mut WatchFigures, scale: f64) {
    scale_spread(&mut figures.empty_flushes, scale);
    for beside in [
        &mut figures.reads_beside_writes,
        &mut figures.beside_discards,
        &mut figures.locality.near,
    ] {
        scale_beside(beside, scale);
    }
    if let Some(neighbour) = &mut figures.neighbour {
        scale_beside(&mut neighbour.others, scale);
    }
    for process in &mut figures.processes {
        process.requests = scaled(process.requests, scale);
        process.bytes = scaled(process.bytes, scale);
        process.device_ns = scaled(process.device_ns, scale);
        process.awaited_ns = scaled(process.awaited_ns, scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;

    #[test]
    fn what_few_requests_show_is_not_scaled_up() {
        let requests: Vec<_> = (0..100)
            .map(|i| request("R", 8 * i, 4096, 1000 * i, 0, 500))
            .collect();
        let mut figures = WatchFigures::new(&requests, 1.0);
        figures.locality.near.beside.count = ENOUGH - 1;
        let apart = figures.reads_beside_writes.apart;
        scale_details(&mut figures, 50.0);
        assert_eq!(figures.locality.near.beside.count, 0);
        let after = figures.reads_beside_writes.apart;
        assert_eq!(after.count, 50 * apart.count);
        assert_eq!(after.median_ns, apart.median_ns, "times are not scaled");
        assert_eq!(figures.processes[0].bytes, 50 * 100 * 4096);
    }
}
