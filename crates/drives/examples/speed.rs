//! How many simulated commands a second of wall time carries: the model alone, no lab.
//!
//! `cargo run --release -p ssdlab-drives --example speed [USER_CAPACITY]`, such as `64GiB` or
//! `300GB`.
use ssdlab_base::quantity::parse_size;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, Drive, DriveConfig, Nanos};
use std::time::Instant;

/// As the program itself has it.
#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

/// A 64-die TLC drive of `user_bytes`, with 28 % over-provisioning.
fn config(user_bytes: u64) -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 8;
    c.shape.dies_per_channel = 8;
    c.shape.page_bytes = 16384;
    c.shape.pages_per_block = 96;
    c.user_bytes = user_bytes / 4096 * 4096;
    let superblock = 64 * 2 * u64::from(c.shape.pages_per_block) * 16384;
    c.shape.blocks_per_plane = (c.user_bytes / 100 * 128).div_ceil(superblock) as u32;
    c.ftl.slc.superblocks = 0;
    c.buffer.bytes = 16 * Bytes::MIB;
    c
}

fn fill(drive: &mut Drive) {
    let user = drive.config().user_bytes;
    let step = 128 * 1024;
    let start = Instant::now();
    for offset in (0..user / step).map(|n| n * step) {
        drive.submit(0, &Command::write(offset, step as u32), drive.now());
        drive.pop_completion(Nanos::MAX);
    }
    println!(
        "fill: {:.2} s, {:.0} virtual s",
        start.elapsed().as_secs_f64(),
        drive.now().as_secs_f64()
    );
}

fn main() {
    let given = std::env::args().nth(1).unwrap_or("64GiB".into());
    let config = config(parse_size(&given).expect("a size such as 64GiB"));
    println!(
        "{given}, {} of tables; OP nominal {:.1} %, effective {:.1} %",
        Bytes(config.memory_bytes()),
        config.nominal_op() * 100.0,
        config.effective_op() * 100.0
    );
    let user = config.user_bytes;
    let mut drive = Drive::new(config).expect("valid");
    fill(&mut drive);
    let mut rng = Rng::new(1);
    let slots = user / 4096;
    let mut load = |drive: &mut Drive, name: &str, depth: u32, read_pct: u32, count: u64| {
        let start = Instant::now();
        let virtual_start = drive.now();
        let before = drive.counters().clone();
        let mut next = |drive: &Drive| {
            let offset = rng.below(slots) * 4096;
            let read = rng.percent(read_pct);
            let c = if read {
                Command::read(offset, 4096)
            } else {
                Command::write(offset, 4096)
            };
            drive.prefetch(&c);
            c
        };
        let mut ahead: Vec<Command> = (0..depth).map(|_| next(drive)).collect();
        for tag in 0..depth {
            let command = std::mem::replace(&mut ahead[tag as usize], next(drive));
            drive.submit(tag, &command, drive.now());
        }
        for n in 0..count {
            let done = drive.pop_completion(Nanos::MAX).expect("a completion");
            if n + u64::from(depth) < count {
                let command = std::mem::replace(&mut ahead[done.tag as usize], next(drive));
                drive.submit(done.tag, &command, done.done);
            }
        }
        let wall = start.elapsed().as_secs_f64();
        let time = (drive.now() - virtual_start).as_secs_f64();
        println!(
            "{name}: {:.2} M commands/s, {:.0} ns each; {:.0} IOPS, WAF {:?}",
            count as f64 / wall / 1e6,
            wall / count as f64 * 1e9,
            count as f64 / time,
            drive.counters().waf_since(&before, 4096),
        );
    };
    load(&mut drive, "warm-up", 32, 0, 2 * slots);
    load(&mut drive, "random write QD32", 32, 0, 8_000_000);
    load(&mut drive, "random read QD32", 32, 100, 8_000_000);
    load(&mut drive, "70/30 QD8", 8, 70, 8_000_000);
    drive.check().expect("consistent");
    if let Some(resident) = resident_bytes() {
        println!(
            "memory: {:.1} bytes per mapped sector",
            resident as f64 / slots as f64
        );
    }
}

/// Most memory that this process has had, from Linux's account of it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kib| kib * 1024)
}
