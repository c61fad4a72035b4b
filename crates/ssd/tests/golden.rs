//! Reports change only on purpose, and a forked drive continues like the original.
//!
//! A fixed workload on a few small drives, reported as text and compared byte for byte with
//! `tests/golden/*.txt`. `UPDATE_GOLDEN=1` rewrites those; the difference belongs in the review.

use ssdlab_ssd::config::{MappingKind, Pace, SlcFull};
use ssdlab_ssd::ftl::policies::Separation;
use ssdlab_ssd::nand::{Purpose, Suspend};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Completion, Drive, DriveConfig, Nanos};
use std::fmt::Write as _;
use std::path::Path;

/// A running workload: a queue of four, with occasional pauses.
#[derive(Clone)]
struct Workload {
    rng: Rng,
    sectors: u64,
    free: Vec<u32>,
}

impl Workload {
    fn new(config: &DriveConfig) -> Workload {
        Workload {
            rng: Rng::named(1, "golden"),
            sectors: config.user_bytes / 512,
            free: (0..4).collect(),
        }
    }

    fn command(&mut self) -> Command {
        let offset = self.rng.below(self.sectors);
        let len = (1 + self.rng.below(32)).min(self.sectors - offset);
        // Mostly whole slots.
        let mask = if self.rng.percent(80) { !7 } else { !0 };
        let len = (len & mask).max(8.min(self.sectors - (offset & mask)));
        let (offset, len) = ((offset & mask) * 512, (len * 512) as u32);
        match self.rng.below(100) {
            0..25 => Command::read(offset, len),
            25..32 => Command::write_fua(offset, len),
            32..35 => Command::flush(),
            35..40 => Command::trim(offset, len),
            kind => Command {
                compress_pct: kind as u8,
                ..Command::write(offset, len)
            },
        }
    }

    /// Runs `count` commands to their end.
    fn run(&mut self, drive: &mut Drive, count: u32) -> Vec<Completion> {
        let mut taken = Vec::new();
        let mut take = |free: &mut Vec<u32>, done: Completion| {
            free.push(done.tag);
            taken.push(done);
        };
        for _ in 0..count {
            let pause = self.rng.below(1_000);
            let at = Nanos(drive.now().0 + if pause == 0 { 300_000_000 } else { pause });
            while let Some(done) = drive.pop_completion(at) {
                take(&mut self.free, done);
            }
            if self.free.is_empty() {
                let done = drive.pop_completion(Nanos::MAX).expect("four under way");
                take(&mut self.free, done);
            }
            let tag = self.free.pop().expect("a free tag");
            let command = self.command();
            drive.submit(tag, &command, at.max(drive.now()));
        }
        while drive.outstanding() > 0 {
            let done = drive.pop_completion(Nanos::MAX).expect("under way");
            take(&mut self.free, done);
        }
        taken
    }
}

fn drives() -> [DriveConfig; 6] {
    let tiny = DriveConfig::tiny();
    let mut protected = tiny.clone();
    protected.name = "tiny-protected".into();
    protected.buffer.protected = true;
    protected.host.full_duplex = true;
    let mut bare = tiny.clone();
    bare.name = "tiny-bare".into();
    bare.user_bytes = 700 * 4096;
    bare.ftl.slc.superblocks = 0;
    bare.ftl.journal.entry_bytes = 0;
    bare.ftl.journal.commit_map_programs = 0;
    bare.ftl.journal.commit_closes_word_lines = false;
    let mut packed = bare.clone();
    packed.name = "tiny-cached-compressed".into();
    packed.user_bytes = 448 * 4096;
    packed.buffer.bytes = 32 * 4096;
    packed.ftl.mapping.kind = MappingKind::Cached;
    packed.ftl.mapping.entry_bytes = 64;
    packed.ftl.mapping.dram_bytes = 3 * 4096;
    packed.ftl.compression_pack = 4;
    packed.ftl.journal.entry_bytes = 8;
    packed.ftl.journal.checkpoint_pages = 64;
    let mut streams = bare.clone();
    streams.name = "tiny-streams-suspend".into();
    streams.user_bytes = 500 * 4096;
    streams.ftl.reclaim.streams = 2;
    streams.ftl.reclaim.free_superblocks_low = 5;
    streams.ftl.reclaim.separation = Separation::Lifespan;
    streams.ftl.reclaim.idle_free_superblocks = 6;
    let (suspend, resume) = (Nanos::from_micros(20), Nanos::from_micros(30));
    streams.nand.suspend = Some(Suspend::new(suspend, resume, 4));
    streams.nand.cache_read = true;
    streams.nand.cache_program = true;
    let mut parity = tiny.clone();
    parity.name = "tiny-parity-tree-fold".into();
    parity.user_bytes = 200 * 4096;
    parity.nand.read_first = false;
    parity.ftl.parity = true;
    parity.ftl.mapping.kind = MappingKind::Tree;
    parity.ftl.mapping.entry_bytes = 64;
    parity.ftl.mapping.dram_bytes = 2048;
    parity.ftl.slc.full = SlcFull::Fold;
    parity.ftl.reclaim.pace = Pace::Whole;
    parity.ftl.refresh_reads = 4;
    parity.ftl.trim_queued = false;
    parity.ftl.trim_time = Nanos::from_micros(50);
    [tiny, protected, bare, packed, streams, parity]
}

/// FNV-1a over all completions: one number that changes when any of them does.
fn fingerprint(completions: &[Completion]) -> u64 {
    let fields = completions
        .iter()
        .flat_map(|c| [u64::from(c.tag), c.submitted.0, c.done.0]);
    fields
        .flat_map(u64::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}

fn report(drive: &Drive, completions: &[Completion]) -> String {
    let slot = u64::from(drive.config().shape.slot_bytes);
    let counters = drive.counters();
    let latency: u64 = completions.iter().map(|c| c.done.0 - c.submitted.0).sum();
    let latency_max = completions.iter().map(|c| c.done.0 - c.submitted.0).max();
    let (dies, channels) = drive.busy_ns();
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        writeln!(text, "{name:24}{value}").expect("writing to a string");
    };
    line("drive", drive.config().name.clone());
    line("commands", completions.len().to_string());
    line("virtual_time_ns", drive.now().0.to_string());
    line("latency_ns_sum", latency.to_string());
    line("latency_ns_max", latency_max.unwrap_or(0).to_string());
    line(
        "completions_fnv1a",
        format!("{:016x}", fingerprint(completions)),
    );
    let nand = counters.slots_programmed() * slot;
    let host = counters.host_bytes_written;
    line("write_amplification", format!("{nand}/{host}"));
    line("die_busy_ns", format!("{dies:?}"));
    for (name, busy) in Purpose::NAMES.iter().zip(drive.busy_by_purpose()) {
        line(&format!("busy_ns {name}"), busy.to_string());
    }
    line("channel_busy_ns", format!("{channels:?}"));
    let erases: Vec<u32> = drive.superblocks().iter().map(|s| s.erases).collect();
    line("erase_count", format!("{erases:?}"));
    line("free_superblocks", drive.free_superblocks().to_string());
    let free_slc = drive.free_slc_superblocks();
    line("free_slc_superblocks", free_slc.to_string());
    for (name, value) in counters.named() {
        line(name, value.to_string());
    }
    text
}

#[test]
fn reports_are_what_they_were() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for config in drives() {
        let path = folder.join(format!("{}.txt", config.name));
        let mut workload = Workload::new(&config);
        let mut drive = Drive::new(config).expect("valid");
        let completions = workload.run(&mut drive, 5_000);
        drive.check().expect("consistent");
        let text = report(&drive, &completions);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, &text).expect("can write");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            text == golden,
            "{} differs (UPDATE_GOLDEN=1 accepts):\n--- is\n{text}--- was\n{golden}",
            path.display()
        );
    }
}

#[test]
fn a_fork_continues_like_the_original() {
    for config in drives() {
        let mut workload = Workload::new(&config);
        let mut drive = Drive::new(config).expect("valid");
        workload.run(&mut drive, 1_000);
        // Forked in full operation: writes waiting, a commit begun, dies busy.
        for tag in 0..4 {
            let command = Command::write_fua(u64::from(tag) * 4096, 4096 * (1 + tag));
            drive.submit(tag, &command, drive.now());
        }
        drive.pop_completion(Nanos::MAX).expect("under way");
        let before = format!("{drive:?}");
        let mut fork = drive.clone();
        let mut fork_workload = workload.clone();
        let finish = |drive: &mut Drive, workload: &mut Workload| {
            let under_way = (0..3).map(|_| drive.pop_completion(Nanos::MAX));
            let mut all: Vec<_> = under_way.map(|done| done.expect("under way")).collect();
            all.extend(workload.run(drive, 2_000));
            all
        };
        let forked = finish(&mut fork, &mut fork_workload);
        assert_eq!(format!("{drive:?}"), before, "the fork shares nothing");
        assert_eq!(finish(&mut drive, &mut workload), forked);
        assert_eq!(format!("{drive:?}"), format!("{fork:?}"));
    }
}
