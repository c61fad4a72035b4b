//! Do histograms that the kernel counts say what single events say? Both watch one load on a loop
//! device. Needs root, tracefs and loop devices; says so elsewhere.

#![cfg(target_os = "linux")]

use ssdlab_bench::device::system::SystemPaths;
use ssdlab_watch::request::RequestAssembler;
use ssdlab_watch::source::bpf::KernelHistograms;
use ssdlab_watch::source::histogram::{
    AWAITED_ROW, DISCARD_ROW, FLUSH_ROW, HistogramRow, LatencyHistograms, ROWS, SIZES, TimeCells,
    bucket,
};
use ssdlab_watch::source::tracepoints::BlockTracepoints;
use ssdlab_watch::subject::WatchSubject;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

struct LoopDevice {
    path: String,
}

impl LoopDevice {
    fn over(image: &Path) -> Option<LoopDevice> {
        let _ = Command::new("mount")
            .args(["-t", "tracefs", "tracefs", "/sys/kernel/tracing"])
            .stderr(Stdio::null())
            .status();
        let output = Command::new("losetup")
            .args(["--find", "--show", "--partscan"])
            .arg(image)
            .output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else {
            ssdlab_skips::skip("no loop device can be made (needs root)");
            return None;
        };
        let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Some(LoopDevice { path })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup")
            .args(["--detach", &self.path])
            .status();
    }
}

/// The next of a fixed sequence of numbers.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    *state >> 33
}

/// Writes of several sizes, each synced.
fn write_and_sync(path: &str, stop: &AtomicBool) {
    let file = OpenOptions::new().write(true).open(path).expect("opened");
    let block = vec![7; 128 << 10];
    let mut state = 1;
    while !stop.load(Ordering::Relaxed) {
        let bytes = 4096 << (next(&mut state) % 6);
        let place = next(&mut state) % 512 * 4096;
        file.write_all_at(&block[..bytes], place).expect("written");
        file.sync_data().expect("synced");
    }
}

/// Reads past the cache, of several sizes, up to more than one request takes.
/// Each reader has a part of its own: events know two requests for one place apart by nothing.
fn read_directly(path: &str, stop: &AtomicBool, part: u64) {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_DIRECT);
    let file = options.open(path).expect("opened");
    let mut memory = vec![0_u8; (2 << 20) + 4096];
    let skipped = memory.as_ptr().align_offset(4096);
    let mut state = part;
    while !stop.load(Ordering::Relaxed) {
        let bytes = 4096 << (next(&mut state) % 10);
        let place = part * (4 << 20) + next(&mut state) % 512 * 4096;
        let buffer = &mut memory[skipped..skipped + bytes];
        file.read_exact_at(buffer, place).expect("read");
    }
}

fn discard(path: &str, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let status = Command::new("blkdiscard")
            .args(["--offset", "12MiB", "--length", "1MiB", path])
            .status();
        assert!(status.is_ok_and(|status| status.success()), "blkdiscard");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn load(path: &str, duration: Duration) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| write_and_sync(path, &stop));
        scope.spawn(|| read_directly(path, &stop, 1));
        scope.spawn(|| read_directly(path, &stop, 2));
        scope.spawn(|| discard(path, &stop));
        std::thread::sleep(duration);
        stop.store(true, Ordering::Relaxed);
    });
}

/// Medians and tails lie in the same cell or beside it: the two take the time one after the other.
/// Where times come in two groups and the share falls between them, a few requests decide which
/// group it is read from; so it is looked for within two hundredths of the share.
fn assert_alike(row: usize, sort: &str, kernel: &TimeCells, events: &TimeCells) {
    for share in [0.5, 0.9, 0.99_f64] {
        let by_kernel = kernel.quantile(share);
        let [low, high] = [share - 0.02, (share + 0.02).min(1.0)].map(|at| events.quantile(at));
        let cells = bucket(low).saturating_sub(1)..=bucket(high) + 1;
        assert!(
            cells.contains(&bucket(by_kernel)),
            "row {row}, {sort}, {share}: {by_kernel} by the kernel, {low} to {high} by events"
        );
    }
}

/// What both sources count of a load on `path`, which is on the disk of `device`.
fn counted_by_both(device: &str, path: &str) -> Option<[LatencyHistograms; 2]> {
    let subject = WatchSubject::find(&SystemPaths::live(), device).expect("a disk");
    let (mut kernel, mut events) = match (
        KernelHistograms::open(subject.disk.id, &subject.disk.disk),
        BlockTracepoints::open(&subject.disk),
    ) {
        (Ok(kernel), Ok(events)) => (kernel, events),
        (kernel, events) => {
            let reasons = [kernel.err(), events.err()].into_iter().flatten();
            ssdlab_skips::skip(reasons.collect::<Vec<_>>().join("; "));
            return None;
        }
    };
    let mut assembler = RequestAssembler::default();
    let mut by_events = LatencyHistograms::default();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            load(path, Duration::from_secs(2));
            std::thread::sleep(Duration::from_millis(300));
            done.store(true, Ordering::Relaxed);
        });
        let mut is_last = false;
        while !is_last {
            is_last = done.load(Ordering::Relaxed);
            for event in events.drain().expect("events") {
                if let Some(request) = assembler.take(&event) {
                    by_events.add(&request);
                }
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    assert_eq!(events.lost(), 0);
    assert_eq!(assembler.unmatched().completions, 0);
    let misses = kernel.misses();
    assert_eq!(misses.uncounted(), 0, "{misses:?}");
    assert!(misses.without_bio * 100 <= by_events.count(), "{misses:?}");
    Some([kernel.read(), by_events])
}

fn counts(histograms: &LatencyHistograms) -> Vec<(u64, u64, u64)> {
    let row = |row: &HistogramRow| (row.count, row.bytes, row.failed);
    histograms.rows.iter().map(row).collect()
}

fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory")
}

#[test]
fn the_kernel_counts_what_events_show() {
    let folder = scratch();
    let image = folder.path().join("image");
    fs::write(&image, vec![1; 16 << 20]).expect("written");
    let Some(device) = LoopDevice::over(&image) else {
        return;
    };
    std::thread::sleep(Duration::from_millis(500));
    let Some([kernel, events]) = counted_by_both(&device.path, &device.path) else {
        return;
    };
    assert_eq!(counts(&kernel), counts(&events));
    for row in [0, SIZES - 2, SIZES, FLUSH_ROW, DISCARD_ROW, AWAITED_ROW] {
        assert!(kernel.rows[row].count > 0, "row {row} was not tried");
    }
    for row in (0..ROWS).filter(|&row| kernel.rows[row].count >= 300) {
        let (by_kernel, by_events) = (&kernel.rows[row], &events.rows[row]);
        assert_alike(row, "device", &by_kernel.device, &by_events.device);
        for share in [0.5, 0.9] {
            let [low, high] = [share - 0.02, share + 0.02].map(|at| by_events.queue.quantile(at));
            let time_ns = by_kernel.queue.quantile(share);
            let apart_ns = low
                .saturating_sub(time_ns)
                .max(time_ns.saturating_sub(high));
            assert!(
                apart_ns < 2000 + high / 20,
                "row {row}, queue, {share}: {time_ns} by the kernel, {low} to {high} by events"
            );
        }
    }
}

/// I/O by way of a partition is that of the disk, and its bios are found.
#[test]
fn a_partition_is_part_of_its_disk() {
    let folder = scratch();
    let image = folder.path().join("image");
    fs::write(&image, vec![0; 18 << 20]).expect("written");
    let Some(device) = LoopDevice::over(&image) else {
        return;
    };
    std::thread::sleep(Duration::from_millis(500));
    let added = Command::new("addpart")
        .args([&device.path, "1", "2048", "34816"])
        .status();
    assert!(added.is_ok_and(|status| status.success()), "addpart");
    let partition = format!("{}p1", device.path);
    std::thread::sleep(Duration::from_millis(300));
    let Some([kernel, events]) = counted_by_both(&device.path, &partition) else {
        return;
    };
    assert_eq!(counts(&kernel), counts(&events));
    for (name, histograms) in [("kernel", &kernel), ("events", &events)] {
        let flushes = &histograms.rows[FLUSH_ROW];
        assert!(flushes.count > 0 && flushes.queue.sum_ns > 0, "{name}");
        let reads = &histograms.rows[0];
        assert!(
            reads.queue.sum_ns > 0,
            "{name}: bios of a partition were not seen"
        );
    }
}
