//! Runs one hot path by name: `benches/instructions.sh` counts the instructions inside
//! [`measured`].
//!
//! Every path does the same work each time: fixed seeds, no data that depends on a clock.

use ssdlab_bench::device::{ModelledTarget, NullTarget, Target};
use ssdlab_bench::engine::{self, Unobserved};
use ssdlab_bench::record::RunEnding;
use ssdlab_drives::catalogue;
use ssdlab_load::fio;
use ssdlab_load::trace::read::{ReadOptions, TraceReader};
use ssdlab_serve::nbd::wire::{CMD_READ, CMD_WRITE, ExtendedRequest, NbdRequest, REQUEST_BYTES};
use ssdlab_serve::nbd::{Executor, NbdSession};
use ssdlab_serve::{Coverage, SessionNotes};
use ssdlab_serve::{MemoryStore, SharedDrive};
use ssdlab_ssd::config::FtlConfig;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, CountingDrive, Drive, DriveConfig, Nanos};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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

/// A full drive in counting gear, overwritten in order: rows placed whole.
fn rows() {
    let mut c = DriveConfig::tiny();
    c.shape.page_bytes = 16384;
    c.shape.pages_per_block = 24;
    c.shape.blocks_per_plane = 120;
    c.user_bytes = 128 * Bytes::MIB;
    c.ftl.slc.superblocks = 0;
    c.ftl.journal.entry_bytes = 0;
    c.ftl.journal.commit_map_programs = 0;
    c.ftl.journal.commit_closes_word_lines = false;
    let bytes = c.user_bytes;
    let mut drive = CountingDrive::new(c).expect("valid");
    let mut overwrite = |times: u32| {
        for _ in 0..times {
            drive.write_run(0, bytes, 128 << 10);
        }
    };
    overwrite(2);
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

/// A job of `bytes` in all on `target`: the workload generator, the engine and its ledger.
fn job<T: Target>(bytes: &str, mut target: T) {
    let text = format!(
        "[mix]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=8\nsize=64m\nio_size={bytes}\n\
         norandommap=1\nrandseed=7\nioengine=io_uring\ndirect=1\n"
    );
    let plan = fio::parse(&text, "hot").expect("a valid job");
    let stop = AtomicBool::new(false);
    let mut ending = None;
    measured(&mut || {
        let record = engine::run(&plan, &mut target, &mut Unobserved, &stop).expect("fits");
        ending = Some(record.ending);
    });
    assert_eq!(ending, Some(RunEnding::Complete));
}

/// The generator on a target that completes everything at once.
fn generator() {
    job("1g", NullTarget::new(64 << 20, 8));
}

/// The generator on a modelled drive, as `ssdlab run ... drive:NAME` does.
fn run() {
    let drive = catalogue::drive("consumer-sata-1tb").expect("in the catalogue");
    job(
        "256m",
        ModelledTarget::new(&drive, Some(64 << 20)).expect("fits in memory"),
    );
}

/// Reading a trace of 30,000 commands as CSV.
fn trace() {
    const EVENTS: u64 = 30_000;
    let mut rng = Rng::named(1, "trace");
    let mut text = String::from("t_us,op,offset,length,done_us\n");
    for n in 0..EVENTS {
        let op = if rng.percent(70) { "read" } else { "write" };
        let (at, offset) = (n * 50, rng.below(1 << 20) * 4096);
        writeln!(text, "{at},{op},{offset},4096,{}", at + 20 + rng.below(100)).expect("memory");
    }
    let path = std::env::temp_dir().join(format!("ssdlab-hot-{}.csv", std::process::id()));
    std::fs::write(&path, text).expect("a file for the trace");
    let mut count = 0;
    measured(&mut || {
        let mut reader = TraceReader::open(&path, &ReadOptions::default()).expect("a trace");
        while reader.next_event().expect("a command").is_some() {
            count += 1;
        }
    });
    std::fs::remove_file(&path).expect("removed");
    assert_eq!(count, EVENTS);
}

/// NBD requests from their bytes to the bytes of their replies, on a store in memory.
fn nbd() {
    const COUNT: u64 = 20_000;
    let drive = SharedDrive::new(Arc::new(MemoryStore::new(64 << 20, 4096)));
    let coverage = Coverage::default();
    let mut executor = Executor {
        drive: &drive,
        session: NbdSession {
            structured: true,
            extended: false,
            contexts: [false; 2],
        },
        notes: SessionNotes::new(String::from("hot"), true),
        coverage: &coverage,
    };
    let mut rng = Rng::named(1, "nbd");
    let requests: Vec<[u8; REQUEST_BYTES]> = (0..COUNT)
        .map(|cookie| {
            let command = if rng.percent(70) { CMD_READ } else { CMD_WRITE };
            let request = NbdRequest {
                flags: 0,
                command,
                cookie,
                offset: rng.below(64 << 8) * 4096,
                length: 4096,
            };
            request.encode()
        })
        .collect();
    let payload = [7; 4096];
    let mut out = Vec::new();
    measured(&mut || {
        for bytes in &requests {
            let request = ExtendedRequest::from(NbdRequest::parse(bytes).expect("a request"));
            let data = &payload[..request.payload() as usize];
            out.clear();
            executor.run(&request, data, &mut out);
        }
    });
    assert_eq!(executor.notes.errors, 0);
}

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "counting" => counting(),
        "rows" => rows(),
        "timed" => timed(),
        "generator" => generator(),
        "run" => run(),
        "trace" => trace(),
        "nbd" => nbd(),
        _ => panic!("{name:?} is none of counting, rows, timed, generator, run, trace, nbd"),
    }
}
