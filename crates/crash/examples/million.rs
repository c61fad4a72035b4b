//! A million cuts of honest drives, none of which may be blamed.
//!
//! `cargo run --release -p ssdlab-crash --example million [CUTS] [SEEDS]`
//!
//! Each seed draws a drive, fills it with earlier data, and forks it for every cut: a few random
//! commands, a cut at a random event or instant, sometimes another inside the recovery, and a look
//! at every sector. Every 64th recovered drive also checks itself.

use ssdlab_crash::{Command, CrashDisk, CrashError, CutAt, Nanos, drawn_drive};
use ssdlab_ssd::Op;
use ssdlab_ssd::rng::Rng;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Bytes of a mapping unit.
const SLOT: u64 = 4096;
/// Cuts of one disk before the next fork.
const CUTS_OF_A_FORK: u64 = 4;

/// What one seed's drive went through.
#[derive(Default)]
struct Found {
    cuts: u64,
    nested: u64,
    commands: u64,
    lost: u64,
    sectors: u64,
    forks: u64,
    forking: Duration,
    blamed: Vec<String>,
}

impl Found {
    /// Adds the counts; whom to blame is the caller's.
    fn add(&mut self, other: &Found) {
        self.cuts += other.cuts;
        self.nested += other.nested;
        self.commands += other.commands;
        self.lost += other.lost;
        self.sectors += other.sectors;
        self.forks += other.forks;
        self.forking += other.forking;
    }
}

fn random_command(rng: &mut Rng, capacity: u64) -> Command {
    let slots = capacity / SLOT;
    let at = rng.below(slots);
    let count = 1 + rng.below(4.min(slots - at));
    let (offset, len) = (at * SLOT, (count * SLOT) as u32);
    match rng.below(16) {
        0 => Command::flush(),
        1 => Command::trim(offset, len),
        2 => Command {
            op: Op::WriteZeroes,
            ..Command::write(offset, len)
        },
        3 | 4 => Command::write_fua(offset, len),
        5..8 => Command::write(offset + 512 * rng.below(8), 512),
        _ => Command::write(offset, len),
    }
}

fn do_some(
    disk: &mut CrashDisk,
    rng: &mut Rng,
    bytes: &[u8],
    found: &mut Found,
) -> Result<(), CrashError> {
    for _ in 0..1 + rng.below(6) {
        let command = random_command(rng, disk.capacity());
        let len = if command.op == Op::Write {
            command.len
        } else {
            0
        };
        disk.submit(&command, &bytes[..len as usize])?;
        found.commands += 1;
        if rng.percent(60) {
            disk.complete()?;
        }
    }
    disk.rest(Nanos(rng.below(4_000_000)))
}

/// One cut, its recovery, and what was found.
fn one_cut(
    disk: &mut CrashDisk,
    rng: &mut Rng,
    bytes: &[u8],
    found: &mut Found,
) -> Result<(), CrashError> {
    disk.arm(match rng.below(3) {
        0 => CutAt::Event(rng.below(12)),
        1 => CutAt::After(Nanos(rng.below(6_000_000))),
        _ => CutAt::Program(1 + rng.below(4)),
    });
    match do_some(disk, rng, bytes, found) {
        Err(error) if !error.is_power() => return Err(error),
        Err(_) => {}
        Ok(()) => drop(disk.cut()?),
    }
    found.cuts += 1;
    if rng.percent(10) {
        disk.arm(CutAt::Recovery(rng.below(1000) as u16));
        if disk.power_on().is_err() {
            found.cuts += 1;
            found.nested += 1;
        }
    }
    if !disk.is_on() {
        let report = disk.power_on()?;
        found.lost += report.lost.len() as u64;
        found.sectors += report.sectors.len() as u64;
        if !report.is_kept() {
            found.blamed.push(report.to_string());
        }
    }
    if found.cuts.is_multiple_of(64) {
        found.blamed.extend(disk.drive().check().err());
    }
    Ok(())
}

fn campaign(seed: u64, cuts: u64) -> Result<Found, CrashError> {
    let mut prepared = CrashDisk::new(drawn_drive(seed), seed)?;
    let mut rng = Rng::named(seed, "million");
    let bytes = vec![seed as u8; 4 * SLOT as usize];
    for slot in 0..prepared.capacity() / SLOT {
        prepared.write(slot * SLOT, &bytes[..SLOT as usize])?;
    }
    for _ in 0..200 {
        let slot = rng.below(prepared.capacity() / SLOT);
        prepared.write(slot * SLOT, &bytes[..SLOT as usize])?;
    }
    prepared.flush()?;
    prepared.stop_history();
    let mut found = Found::default();
    while found.cuts < cuts && found.blamed.is_empty() {
        let begun = Instant::now();
        let mut disk = prepared.fork();
        found.forking += begun.elapsed();
        found.forks += 1;
        disk.reseed(rng.next_u64());
        let until = cuts.min(found.cuts + CUTS_OF_A_FORK);
        while found.cuts < until && found.blamed.is_empty() {
            one_cut(&mut disk, &mut rng, &bytes, &mut found)?;
        }
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| arguments.next().map_or(Ok(default), |text| text.parse());
    let (cuts, seeds) = (number(1_000_000)?, number(50)?);
    let begun = Instant::now();
    let next = AtomicU64::new(0);
    let all = Mutex::new((Found::default(), Vec::new()));
    let work = || {
        loop {
            let seed = next.fetch_add(1, Relaxed);
            if seed >= seeds {
                return;
            }
            let each = cuts / seeds + u64::from(seed < cuts % seeds);
            let found = campaign(seed, each);
            let Ok(mut all) = all.lock() else { return };
            match found {
                Err(error) => all.1.push(format!("seed {seed}: {error}")),
                Ok(found) => {
                    let blamed = found
                        .blamed
                        .iter()
                        .map(|text| format!("seed {seed}: {text}"));
                    all.1.extend(blamed);
                    all.0.add(&found);
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let (total, blamed) = all.into_inner()?;
    println!(
        "{} cuts ({} inside recoveries) on {seeds} drives: {:.1} s on {threads} threads",
        total.cuts,
        total.nested,
        begun.elapsed().as_secs_f64()
    );
    println!(
        "{} commands, {} parts of them lost, {} sectors looked at; a fork {:.1} us",
        total.commands,
        total.lost,
        total.sectors,
        total.forking.as_secs_f64() * 1e6 / total.forks.max(1) as f64
    );
    println!("drives blamed: {}", blamed.len());
    if blamed.is_empty() {
        Ok(())
    } else {
        Err(blamed.join("\n").into())
    }
}
