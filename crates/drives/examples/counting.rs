//! How many host writes a second the counting gear carries, beside the memory ceiling.
//!
//! `cargo run --release -p ssdlab-drives --example counting [SECTORS [WRITES]]`
//!
//! Uniform random 4 KiB overwrites in steady state, 28 % over-provisioning, greedy. The ceiling is
//! a loop that does only the touches of memory that cannot be avoided, for the same numbers of
//! host writes and relocations, with everything fetched early: for a host write, the map entry
//! (random, read and written), the old copy's valid bit and its superblock's count (random), the
//! new owner and valid bit (in order); for a relocation, the owner (in order, read), the map entry
//! (random, written), the new owner and valid bit (in order).
use ssdlab_ssd::caches::prefetch;
use ssdlab_ssd::config::FtlConfig;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, CountingDrive, DriveConfig};
use std::time::Instant;

/// As the program itself has it.
#[global_allocator]
static MEMORY: ssdlab_base::huge_pages::HugePages = ssdlab_base::huge_pages::HugePages;

fn config(sectors: u64) -> DriveConfig {
    let small = sectors < 1_000_000;
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = if small { 1 } else { 8 };
    c.shape.dies_per_channel = if small { 1 } else { 4 };
    c.shape.planes_per_die = if small { 1 } else { 4 };
    c.shape.page_bytes = if small { 64 << 10 } else { 16 << 10 };
    c.shape.pages_per_block = if small { 8 } else { 64 };
    c.shape.bits_per_cell = 1;
    c.nand.timing.read.truncate(1);
    c.nand.timing.program.truncate(1);
    let superblock = c.geometry().slots_per_superblock;
    c.shape.blocks_per_plane = (sectors * 128 / 100).div_ceil(superblock.into()) as u32;
    c.user_bytes = sectors * 4096;
    c.ftl = FtlConfig::default();
    c.buffer.bytes = Bytes::MIB;
    c
}

const BATCH: usize = 4096;

/// Uniform random writes, in batches; returns the time that the drive took.
fn write(drive: &mut CountingDrive, rng: &mut Rng, sectors: u64, count: u64) -> f64 {
    let mut time = 0.0;
    let mut batch = vec![Command::write(0, 4096); BATCH];
    for _ in 0..count.div_ceil(BATCH as u64) {
        for command in &mut batch {
            command.offset = rng.below(sectors) * 4096;
        }
        let start = Instant::now();
        drive.apply_all(&batch);
        time += start.elapsed().as_secs_f64();
    }
    time
}

/// The unavoidable touches; see the module's text. Returns the time and a sum of the values read.
fn ceiling(sectors: u64, writes: u64, relocations_per_write: f64, rng: &mut Rng) -> (f64, u64) {
    const AHEAD: usize = 24;
    let media = sectors as usize * 128 / 100;
    let shift = 15.min(media.ilog2() - 6);
    let mut map: Vec<u32> = (0..sectors as u32).collect();
    let mut owner: Vec<u32> = (0..media).map(|_| rng.below(sectors) as u32).collect();
    let mut valid = vec![u64::MAX; media / 64 + 1];
    let mut count = vec![0_u32; (media >> shift) + 1];
    let (mut head, mut tail, mut debt) = (0_usize, media / 2, 0.0);
    let mut sum = 0_u64;
    let mut batch = vec![0_u32; BATCH + 2 * AHEAD];
    let mut time = 0.0;
    for _ in 0..writes.div_ceil(BATCH as u64) {
        for lpn in &mut batch {
            *lpn = rng.below(sectors) as u32;
        }
        let start = Instant::now();
        for i in 0..BATCH {
            prefetch(&map, batch[i + 2 * AHEAD] as usize);
            prefetch(&valid, map[batch[i + AHEAD] as usize] as usize / 64);
            let lpn = batch[i] as usize;
            let old = map[lpn] as usize;
            valid[old / 64] &= !(1 << (old % 64));
            count[old >> shift] = count[old >> shift].wrapping_sub(1);
            map[lpn] = head as u32;
            owner[head] = lpn as u32;
            valid[head / 64] |= 1 << (head % 64);
            head = if head + 1 == media { 0 } else { head + 1 };
            debt += relocations_per_write;
            while debt >= 1.0 {
                debt -= 1.0;
                let ahead = (tail + 64) % media;
                prefetch(&map, owner[ahead] as usize);
                let lpn = owner[tail];
                sum += u64::from(lpn);
                map[lpn as usize] = head as u32;
                owner[head] = lpn;
                valid[head / 64] |= 1 << (head % 64);
                head = if head + 1 == media { 0 } else { head + 1 };
                tail = if tail + 1 == media { 0 } else { tail + 1 };
            }
        }
        time += start.elapsed().as_secs_f64();
    }
    (time, sum)
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|a| a.parse::<u64>());
    let sectors = numbers.next().map_or(75_000_000, |n| n.expect("sectors"));
    let writes = numbers.next().map_or(40_000_000, |n| n.expect("writes"));
    let config = config(sectors);
    let geometry = config.geometry();
    println!(
        "{sectors} sectors, {} superblocks of {} slots, units of {}, R = {}, effective OP {:.1} %",
        geometry.superblock_count,
        geometry.slots_per_superblock,
        geometry.slots_per_unit,
        config.ftl.reclaim.free_superblocks_low,
        config.effective_op() * 100.0,
    );
    let mut drive = CountingDrive::new(config).expect("valid");
    let mut rng = Rng::named(1, "counting");
    for first in (0..sectors).step_by(256) {
        let len = 4096 * 256.min(sectors - first);
        drive.apply(&Command::write(first * 4096, len as u32));
    }
    write(&mut drive, &mut rng, sectors, 3 * sectors);
    // Others on the machine use the memory, too: shares of a ceiling measured at the same time, and
    // the one in the middle.
    let mut shares = [0.0; 9];
    for share in &mut shares {
        let before = drive.counters().clone();
        let writes = writes / 4;
        let time = write(&mut drive, &mut rng, sectors, writes);
        let c = drive.counters();
        let host = (c.slots_host - before.slots_host) as f64;
        let relocated = (c.slots_relocated - before.slots_relocated) as f64 / host;
        let (least, _) = ceiling(sectors, writes, relocated, &mut rng);
        println!(
            "{:.1} M host writes/s, {:.0} ns each, WAF {:.3}; ceiling {:.1} M/s; {:.0} % of it",
            writes as f64 / time / 1e6,
            time / writes as f64 * 1e9,
            1.0 + relocated,
            writes as f64 / least / 1e6,
            100.0 * least / time,
        );
        *share = 100.0 * least / time;
    }
    shares.sort_by(f64::total_cmp);
    println!("median: {:.0} % of the ceiling", shares[shares.len() / 2]);
    drive.check().expect("consistent");
}
