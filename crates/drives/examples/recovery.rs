//! The time of recovery after a power cut, step by step: by a scan and by the journal.
//!
//! `cargo run --release -p ssdlab-drives --example recovery [USER_CAPACITY [DRIVE ...]]`
//!
//! Each drive of the catalogue is made with that capacity, filled front to back, and written at
//! random, 4 KiB at a time with a FLUSH after every 64 writes, for a quarter of its capacity; then
//! power is cut. `scan` and `journal` recover forks of the same drive. `scan of everything` is the
//! drive with a map that is never on media, and no FLUSH. The table of `docs/power-cuts.md` is this
//! program's output for 16 GiB.

use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::sized;
use ssdlab_ssd::config::{JournalConfig, MappingConfig, RecoverBy};
use ssdlab_ssd::drive::power::{Power, PowerDrive, Recovery};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, DriveConfig, Nanos};

const DRIVES: [&str; 3] = [
    "consumer-sata-1tb",
    "tlc-enterprise-nvme-1920gb",
    "qlc-client-nvme-1tb",
];
const STEP: u64 = 128 * 1024;

fn done(drive: &mut PowerDrive, command: &Command) {
    drive.submit(0, command, None, drive.now());
    drive.pop_completion(Nanos::MAX).expect("a completion");
}

/// A drive cut in the middle of its work, with or without FLUSH.
fn cut(config: DriveConfig, flushes: bool) -> PowerDrive {
    let user = config.user_bytes;
    let mut drive = PowerDrive::new(config, Power::default()).expect("possible");
    for offset in (0..user).step_by(STEP as usize) {
        let len = STEP.min(user - offset) as u32;
        done(&mut drive, &Command::write(offset, len));
    }
    let mut rng = Rng::new(1);
    for n in 0..user / 4096 / 4 {
        done(
            &mut drive,
            &Command::write(rng.below(user / 4096) * 4096, 4096),
        );
        if flushes && n % 64 == 63 {
            done(&mut drive, &Command::flush());
        }
    }
    drive.cut(drive.now());
    drive
}

fn millis(from: Nanos, to: u64) -> f64 {
    (to - from.0) as f64 / 1e6
}

fn rows(what: &str, recovery: &Recovery) {
    let mut last = recovery.at;
    for step in &recovery.steps {
        let took = millis(last, step.end);
        println!(
            "| {what} | {} | {} | {took:.2} |",
            step.name, step.operations
        );
        last = Nanos(step.end);
    }
    let all = millis(recovery.at, last.0);
    println!("| {what} | **all** | | **{all:.2}** |");
}

fn show(name: &str, user: u64) {
    let entry = catalogue::drive(name).expect("in the catalogue");
    let config = sized(&entry.config, user).expect("possible").config;
    println!("\n{name}, {} for the host:\n", Bytes(user));
    println!("| recovery | step | reads | ms |\n|---|---|---:|---:|");
    let mut no_map = config.clone();
    no_map.ftl.mapping = MappingConfig::default();
    no_map.ftl.journal = JournalConfig::default();
    no_map.buffer.protected = false;
    let mut journal = config;
    journal.ftl.recovery = RecoverBy::Journal;
    for (config, runs) in [
        (no_map, &[("scan of everything", RecoverBy::Scan)][..]),
        (
            journal,
            &[("scan", RecoverBy::Scan), ("journal", RecoverBy::Journal)],
        ),
    ] {
        let flushes = config.recovers_by_journal();
        let drive = cut(config, flushes);
        let at = drive.now().saturating_add(Nanos::from_secs(1));
        for &(what, by) in runs {
            rows(what, &drive.recovered_by(by, at).1);
        }
    }
}

fn main() {
    let mut args = std::env::args().skip(1);
    let size = args.next().unwrap_or_else(|| "4GiB".into());
    let user = parse_size(&size).expect("a size");
    let names: Vec<String> = args.collect();
    if names.is_empty() {
        DRIVES.iter().for_each(|name| show(name, user));
    } else {
        names.iter().for_each(|name| show(name, user));
    }
}
