//! Has anything changed that nobody meant to change, and does a forked drive live on as the
//! original does?
//!
//! A fixed workload on three small drives, reported as text and compared byte for byte with
//! `tests/golden/*.txt`. `UPDATE_GOLDEN=1` rewrites those; the difference belongs in the review.

use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Completion, Drive, DriveConfig, Nanos};
use std::fmt::Write as _;
use std::path::Path;

/// A workload under way: a queue of four, now and then a pause.
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
            _ => Command::write(offset, len),
        }
    }

    /// Runs so many commands to their end.
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

fn drives() -> [DriveConfig; 3] {
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
    [tiny, protected, bare]
}

/// FNV-1a over all completions: one number that moves when any of them does.
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
fn a_fork_lives_on_as_the_original_does() {
    for config in drives() {
        let mut workload = Workload::new(&config);
        let mut drive = Drive::new(config).expect("valid");
        workload.run(&mut drive, 1_000);
        // Forked with everything under way: writes waiting, a commit begun, dies busy.
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
