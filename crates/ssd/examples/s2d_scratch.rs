use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::*;
use std::time::Instant;
fn main() {
    let a: Vec<u64> = std::env::args()
        .skip(1)
        .map(|x| x.parse().unwrap())
        .collect();
    let (tprog, slc, cmds, lat, over, tslc) = (a[0], a[1], a[2], a[3], a[4], a[5]);
    let mut c = DriveConfig::tiny();
    c.shape.channel_count = 8;
    c.shape.dies_per_channel = 8;
    c.shape.page_bytes = 16384;
    c.shape.pages_per_block = 384;
    c.shape.blocks_per_plane = 1365;
    c.user_bytes = 1000204886016;
    c.ftl.slc_superblocks = slc as u32;
    c.ftl.commit_map_programs = cmds as u32;
    c.ftl.idle_after = Nanos::from_millis(500);
    c.buffer.bytes = 32 * Bytes::MIB;
    c.timing.program = [tprog; 3].map(Nanos::from_micros).to_vec();
    c.timing.read = [57, 78, 106].map(Nanos::from_micros).to_vec();
    c.timing.slc_program = Nanos::from_micros(tslc);
    c.timing.slc_read = Nanos::from_micros(40);
    c.host.latency = Nanos::from_micros(lat);
    c.host.command_overhead = Nanos(over);
    let mut drive = Drive::new(c).unwrap();
    let start = Instant::now();
    let size = 100 * Bytes::GIB;
    let mut off = 0;
    let t0 = drive.now();
    for _ in 0..(size * 205 / 100 >> 20) {
        drive.submit(0, &Command::write(off, 1 << 20), drive.now());
        drive.pop_completion(Nanos::MAX);
        off = (off + (1 << 20)) % size;
    }
    println!(
        "prep {:.2} s wall, {:.1} virtual",
        start.elapsed().as_secs_f64(),
        (drive.now() - t0).as_secs_f64()
    );
    let idle = drive.now() + Nanos::from_secs(600);
    drive.pop_completion(idle);
    println!(
        "after idle: slc free {}",
        drive.ftl().free_slc_superblocks()
    );
    for fua in [false, true] {
        let mut d = drive.clone();
        let start = Instant::now();
        let mut rng = Rng::new(1);
        let mut next = |d: &Drive| {
            let offset = rng.below(size / 4096) * 4096;
            let read = rng.percent(70);
            let c = if read {
                Command::read(offset, 4096)
            } else {
                Command {
                    fua,
                    ..Command::write(offset, 4096)
                }
            };
            d.prefetch(&c);
            c
        };
        let mut ahead: Vec<Command> = (0..8).map(|_| next(&d)).collect();
        let t0 = d.now();
        for tag in 0..8 {
            let c = std::mem::replace(&mut ahead[tag as usize], next(&d));
            d.submit(tag, &c, t0);
        }
        let mut counts = vec![0u64; 1801];
        let mut n = 0u64;
        let mut rl = 0u64;
        let mut rn = 0u64;
        loop {
            let done = d.pop_completion(Nanos::MAX).unwrap();
            let s = ((done.done - t0).0 / 1_000_000_000) as usize;
            if s >= 1800 {
                break;
            }
            counts[s] += 1;
            n += 1;
            let c = std::mem::replace(&mut ahead[done.tag as usize], next(&d));
            d.submit(done.tag, &c, done.done);
            if c.op == Op::Read {
                rn += 1;
            }
            let _ = &mut rl;
        }
        let w = start.elapsed().as_secs_f64();
        println!(
            "fua {fua}: {n} cmds, {w:.2} s wall, {:.0} ns each; WAF {:?}",
            w / n as f64 * 1e9,
            d.counters().waf_since(drive.counters(), 4096)
        );
        for s in [
            0, 5, 30, 60, 90, 100, 110, 115, 120, 125, 130, 150, 200, 300, 400, 600, 900, 1200,
            1500, 1799,
        ] {
            print!("{s}:{} ", counts[s]);
        }
        println!();
    }
}
