//! One hot path by name, for `benches/instructions.sh`, which counts the instructions inside
//! [`measured`].
use ssdlab_ssd::config::FtlConfig;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, CountingDrive, Drive, DriveConfig, Nanos};

/// The memory that the program itself uses.
#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

/// The region whose instructions are counted: everything outside prepares it.
#[inline(never)]
fn measured(work: &mut dyn FnMut()) {
    work();
}

/// A full drive in counting gear, overwritten at random: map, buffer, reclaim.
fn counting() {
    const SECTORS: u64 = 16_384;
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 1;
    c.shape.dies_per_channel = 1;
    c.shape.planes_per_die = 1;
    c.shape.page_bytes = 64 << 10;
    c.shape.pages_per_block = 8;
    c.shape.bits_per_cell = 1;
    c.nand.timing.read.truncate(1);
    c.nand.timing.program.truncate(1);
    c.shape.blocks_per_plane = (SECTORS * 128 / 100).div_ceil(128) as u32;
    c.user_bytes = SECTORS * 4096;
    c.ftl = FtlConfig::default();
    c.buffer.bytes = Bytes::MIB;
    let mut drive = CountingDrive::new(c).expect("valid");
    for first in (0..SECTORS).step_by(256) {
        drive.apply(&Command::write(first * 4096, 256 * 4096));
    }
    let mut rng = Rng::named(1, "counting");
    let mut batch: Vec<Command> = vec![Command::write(0, 4096); 4096];
    let mut overwrite = |count: u32| {
        for _ in 0..count {
            for command in &mut batch {
                command.offset = rng.below(SECTORS) * 4096;
            }
            drive.apply_all(&batch);
        }
    };
    overwrite(8);
    measured(&mut || overwrite(40));
    drive.check().expect("consistent");
}

/// A full drive in timed gear at queue depth 8, 70 % reads.
fn timed() {
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 4;
    c.shape.dies_per_channel = 2;
    c.shape.page_bytes = 16384;
    c.shape.pages_per_block = 24;
    c.user_bytes = 256 * Bytes::MIB;
    let superblock = 8 * 2 * 24 * 16384;
    c.shape.blocks_per_plane = (c.user_bytes / 100 * 128).div_ceil(superblock) as u32;
    c.ftl.slc.superblocks = 0;
    c.buffer.bytes = 2 * Bytes::MIB;
    let slots = c.user_bytes / 4096;
    let mut drive = Drive::new(c).expect("valid");
    for offset in (0..slots / 32).map(|n| n * 32 * 4096) {
        drive.submit(0, &Command::write(offset, 32 * 4096), drive.now());
        drive.pop_completion(Nanos::MAX);
    }
    let mut rng = Rng::new(1);
    let mut load = |read_pct: u32, count: u64| {
        let mut next = |drive: &Drive| {
            let offset = rng.below(slots) * 4096;
            let c = match rng.percent(read_pct) {
                true => Command::read(offset, 4096),
                false => Command::write(offset, 4096),
            };
            drive.prefetch(&c);
            c
        };
        for tag in 0..8 {
            let command = next(&drive);
            drive.submit(tag, &command, drive.now());
        }
        for n in 0..count {
            let done = drive.pop_completion(Nanos::MAX).expect("a completion");
            if n + 8 < count {
                let command = next(&drive);
                drive.submit(done.tag, &command, done.done);
            }
        }
    };
    load(0, slots);
    measured(&mut || load(70, 100_000));
    drive.check().expect("consistent");
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "counting" => counting(),
        "timed" => timed(),
        _ => panic!("unknown path: {name:?}"),
    }
}
