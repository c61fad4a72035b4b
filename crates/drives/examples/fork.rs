//! How long a preconditioned drive takes to fork, save and load.
//!
//! `cargo run --release -p ssdlab-drives --example fork [USER_CAPACITY [DIRECTORY]]`
//!
//! Forks are medians, the first one apart: it takes fresh memory from the system. Save ends with
//! the file on disk (fsync); load reads what is in the page cache. DIRECTORY (default: the
//! system's for temporary files) says where the file goes; on a tmpfs no disk takes part.
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::saved;
use ssdlab_drives::keep::saved::{OverwritePolicy, SavedDriveInfo};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, Drive, DriveConfig, Nanos};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// As the program itself has it.
#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

fn large(user_bytes: u64) -> DriveConfig {
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

/// The crash-test drive: 64 MiB for the host, everything else as on [`DriveConfig::tiny`].
fn small() -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.shape.pages_per_block = 48;
    c.shape.blocks_per_plane = 64;
    c.user_bytes = 64 * Bytes::MIB;
    c
}

/// Written front to back, then a tenth of it at random.
fn preconditioned(config: DriveConfig) -> Drive {
    let mut drive = Drive::new(config).expect("valid");
    let user = drive.config().user_bytes;
    let write = |drive: &mut Drive, offset: u64, len: u64| {
        drive.submit(0, &Command::write(offset, len as u32), drive.now());
        drive.pop_completion(Nanos::MAX).expect("a completion");
    };
    let step = 128 * 1024;
    for offset in (0..user).step_by(step) {
        let len = (step as u64).min(user - offset);
        write(&mut drive, offset, len);
    }
    let mut rng = Rng::new(1);
    for _ in 0..user / 4096 / 10 {
        let offset = rng.below(user / 4096) * 4096;
        write(&mut drive, offset, 4096);
    }
    drive
}

fn forks(name: &str, drive: &Drive, count: usize) {
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let start = Instant::now();
            let fork = std::hint::black_box(drive.clone());
            let time = start.elapsed().as_secs_f64();
            drop(fork);
            time
        })
        .collect();
    let first = times.remove(0);
    times.sort_by(f64::total_cmp);
    let scale = |seconds: f64| Nanos((seconds * 1e9) as u64);
    println!(
        "fork of {name}: median {} of {}, worst {}, first {}",
        scale(times[times.len() / 2]),
        times.len(),
        scale(times[times.len() - 1]),
        scale(first)
    );
}

fn rates(drive: &Drive, directory: &Path) {
    let path = directory.join(format!("ssdlab-fork-{}.drive", std::process::id()));
    for _ in 0..3 {
        let start = Instant::now();
        let bytes = saved::save(
            &path,
            OverwritePolicy::Replace,
            drive,
            &SavedDriveInfo::default(),
        )
        .expect("saved");
        let save = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let (loaded, _) = saved::load(&path).expect("loaded");
        let load = start.elapsed().as_secs_f64();
        assert_eq!(loaded.counters(), drive.counters());
        println!(
            "{} saved at {:.0} MB/s (fsync included), loaded at {:.0} MB/s",
            Bytes(bytes),
            bytes as f64 / save / 1e6,
            bytes as f64 / load / 1e6
        );
    }
    std::fs::remove_file(&path).expect("removed");
}

fn main() {
    let mut args = std::env::args().skip(1);
    let given = args.next().unwrap_or("300GB".into());
    let directory = args.next().map_or(std::env::temp_dir(), PathBuf::from);
    forks("a 64 MiB drive", &preconditioned(small()), 1001);
    let drive = preconditioned(large(parse_size(&given).expect("a size such as 300GB")));
    forks(&format!("a {given} drive"), &drive, 9);
    rates(&drive, &directory);
}
