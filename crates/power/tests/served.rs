//! Does a served drive keep the contract of durability, wherever power is cut?
//!
//! A witness writes sectors that carry the number of their write, and notes what was acknowledged
//! and what was promised. After every cut each sector must read as its promised value or as one
//! written since; a sector is never a mixture.

use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::sized;
use ssdlab_power::served::ServedDrive;
use ssdlab_serve::{
    CutMoment, FlushSide, PowerControl, SectorDurability, Store, StoreError, ZeroFlags,
};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::drive::power::{DataDrive, Fault, FaultKind, Power as Supply};
use ssdlab_ssd::rng::Rng;
use std::time::Duration;

const SECTOR: u64 = 512;

fn in_memory(config: &DriveConfig, faults: &[Fault]) -> ServedDrive {
    let supply = Supply::with_faults(faults.to_vec());
    ServedDrive::in_memory(DataDrive::new(config.clone(), supply).expect("valid"))
}

fn tiny(protected: bool) -> DriveConfig {
    let mut config = DriveConfig::tiny();
    config.buffer.protected = protected;
    config
}

/// What each sector may read as; the first value is promised.
struct Witness {
    sectors: Vec<Vec<u64>>,
    protected: bool,
    next: u64,
    rng: Rng,
    /// Mapping unit, in sectors.
    slot: u64,
}

impl Witness {
    fn new(config: &DriveConfig, seed: u64) -> Witness {
        Witness {
            sectors: vec![vec![0]; (config.user_bytes / SECTOR) as usize],
            protected: config.buffer.protected,
            next: 1,
            rng: Rng::named(seed, "witness"),
            slot: u64::from(config.shape.slot_bytes) / SECTOR,
        }
    }

    fn range(&mut self, unit: u64) -> (u64, u64) {
        let units = self.sectors.len() as u64 / unit;
        let count = 1 + self.rng.below(12.min(units));
        let first = self.rng.below(units - count + 1);
        (first * unit, count * unit)
    }

    /// The value `n` was given to sectors, durably if `promised`.
    fn note(&mut self, (first, count): (u64, u64), n: u64, promised: bool) {
        for values in &mut self.sectors[first as usize..(first + count) as usize] {
            if promised {
                values.clear();
            }
            values.push(n);
        }
    }

    fn write(&mut self, drive: &ServedDrive) -> Result<(), StoreError> {
        let at = self.range(1);
        let n = self.next;
        self.next += 1;
        let fua = self.rng.percent(10);
        let bytes = n.to_le_bytes().repeat((at.1 * SECTOR / 8) as usize);
        let done = drive.write(at.0 * SECTOR, &bytes, fua);
        self.note(at, n, done.is_ok() && (fua || self.protected));
        done
    }

    fn trim(&mut self, drive: &ServedDrive) -> Result<(), StoreError> {
        let at = self.range(self.slot);
        let done = drive.trim(at.0 * SECTOR, at.1 * SECTOR, false);
        self.note(at, 0, done.is_ok() && self.protected);
        done
    }

    fn zero(&mut self, drive: &ServedDrive) -> Result<(), StoreError> {
        let at = self.range(1);
        let flags = ZeroFlags {
            fua: self.rng.percent(20),
            no_hole: self.rng.percent(20),
            fast: false,
        };
        let done = drive.write_zeroes(at.0 * SECTOR, at.1 * SECTOR, flags);
        self.note(at, 0, done.is_ok() && (flags.fua || self.protected));
        done
    }

    fn flush(&mut self, drive: &ServedDrive) -> Result<(), StoreError> {
        drive.flush()?;
        for values in &mut self.sectors {
            values.drain(..values.len() - 1);
        }
        Ok(())
    }

    fn step(&mut self, drive: &ServedDrive) -> Result<(), StoreError> {
        match self.rng.below(20) {
            0..2 => self.flush(drive),
            2 => self.trim(drive),
            3 => self.zero(drive),
            _ => self.write(drive),
        }
    }

    /// Looks at everything; what is found is promised. Returns what broke the contract.
    fn look(&mut self, drive: &ServedDrive) -> Vec<String> {
        let mut bytes = vec![0; self.sectors.len() * SECTOR as usize];
        drive.read(0, &mut bytes).expect("readable");
        let mut broken = Vec::new();
        let parts = bytes.chunks_exact(SECTOR as usize);
        for ((sector, values), part) in (0..).zip(&mut self.sectors).zip(parts) {
            let words = part.chunks_exact(8).map(|word| {
                let word: [u8; 8] = word.try_into().expect("eight");
                u64::from_le_bytes(word)
            });
            let words: Vec<u64> = words.collect();
            let whole = words.iter().all(|word| *word == words[0]);
            if !whole || !values.contains(&words[0]) {
                broken.push(format!("sector {sector} is {}, of {values:?}", words[0]));
            }
            *values = vec![words[0]];
        }
        broken
    }

    fn moment(&mut self) -> CutMoment {
        let nth = 1 + self.rng.below(4);
        let side = |inside| {
            if inside {
                FlushSide::Inside
            } else {
                FlushSide::Before
            }
        };
        match self.rng.below(6) {
            0..2 => CutMoment::Flush {
                nth,
                side: side(self.rng.percent(80)),
            },
            2..4 => CutMoment::NandOp {
                nth: 1 + self.rng.below(60),
            },
            4 => CutMoment::WriteTo {
                offset: self.rng.below(self.sectors.len() as u64) * SECTOR,
                length: 8192,
            },
            _ => CutMoment::AfterBytes {
                bytes: 1 + self.rng.below(200_000),
            },
        }
    }

    /// Cuts at a random moment and looks.
    fn round(&mut self, drive: &ServedDrive) -> Vec<String> {
        let at = self.moment();
        drive.cut_when(Some(at.clone())).expect("possible");
        let mut steps = 0;
        while drive.is_powered() && steps < 2000 {
            let _ = self.step(drive);
            steps += 1;
        }
        assert!(!drive.is_powered(), "{at:?} never came");
        assert_eq!(drive.status().armed, None);
        assert_eq!(drive.read(0, &mut [0; 512]), Err(StoreError::Off));
        drive.on().expect("comes back");
        if drive.is_powered() {
            drive
                .with_data(|data| data.drive().check())
                .expect("consistent");
        } else {
            drive.on().expect("cut during recovery, and on again");
        }
        self.look(drive)
    }
}

fn cuts(config: &DriveConfig, seed: u64, rounds: u64) {
    let drive = in_memory(config, &[]);
    let mut witness = Witness::new(config, seed);
    for round in 0..rounds {
        let broken = witness.round(&drive);
        let found = drive.status().found.expect("looked");
        assert!(
            broken.is_empty(),
            "{}, seed {seed}, cut {round}: {broken:?}",
            config.name
        );
        assert_eq!(
            (found.broken, found.torn, found.lost),
            (0, 0, 0),
            "{}",
            config.name
        );
    }
    assert_eq!(drive.status().cuts, rounds);
}

#[test]
fn an_honest_drive_keeps_its_promises_at_every_moment() {
    for seed in 0..4 {
        cuts(&tiny(false), seed, 60);
        cuts(&tiny(true), seed, 60);
    }
}

#[test]
fn so_do_drives_of_the_catalogue() {
    for name in [
        "consumer-sata-1tb",
        "intel-dc-s3700-100gb",
        "qlc-client-nvme-1tb",
    ] {
        let whole = catalogue::open(name).expect("known").config;
        let config = sized(&whole, 64 << 20).expect("possible").config;
        let drive = in_memory(&config, &[]);
        let mut witness = Witness::new(&config, 1);
        // The beginning of the drive, so that sectors are written again and again.
        witness.sectors.truncate(4096);
        for round in 0..6 {
            let broken = witness.round(&drive);
            assert!(broken.is_empty(), "{name}, cut {round}: {broken:?}");
        }
    }
}

#[test]
fn a_cut_inside_a_nand_operation_tears_it() {
    let drive = in_memory(&tiny(false), &[]);
    let mut witness = Witness::new(&tiny(false), 3);
    for round in 0..40 {
        drive
            .cut_when(Some(CutMoment::NandOp { nth: 1 + round }))
            .expect("armed");
        let before = drive.status().nand_ops.expect("counted");
        while witness.step(&drive).is_ok() && drive.is_powered() {}
        let status = drive.status();
        let cut = status.cut.expect("noted");
        assert!(cut.torn_programs + cut.torn_erases >= 1, "{cut:?}");
        assert!(status.nand_ops.expect("counted") > before + round);
        assert_eq!(status.last_cut.as_deref(), Some("inside a NAND operation"));
        drive.on().expect("comes back");
        assert_eq!(witness.look(&drive), Vec::<String>::new());
    }
}

#[test]
fn a_cut_inside_a_flush_finds_the_drive_at_work() {
    let drive = in_memory(&tiny(false), &[]);
    let mut torn = 0;
    for _ in 0..50 {
        drive.write(0, &[1; 8192], false).expect("written");
        let side = FlushSide::Inside;
        drive
            .cut_when(Some(CutMoment::Flush { nth: 1, side }))
            .expect("armed");
        assert_eq!(drive.flush(), Err(StoreError::Off));
        let cut = drive.status().cut.expect("noted");
        torn += cut.torn_programs;
        drive.on().expect("comes back");
    }
    assert!(torn > 5, "{torn} of 50 cuts tore a program");
}

#[test]
fn a_magic_write_is_not_done() {
    let drive = in_memory(&tiny(false), &[]);
    drive.write(0, &[1; 512], true).expect("written");
    let text = "CUT HERE".to_string();
    drive
        .cut_when(Some(CutMoment::Magic { text }))
        .expect("armed");
    let mut sector = [0; 512];
    sector[..8].copy_from_slice(b"CUT HERE");
    assert_eq!(drive.write(0, &sector, true), Err(StoreError::Off));
    assert!(drive.wait_for_cut(0, Duration::ZERO));
    drive.on().expect("comes back");
    drive.read(0, &mut sector).expect("read");
    assert_eq!(sector, [1; 512]);
}

/// Runs of durability, in sectors.
fn states(drive: &ServedDrive, sectors: u64) -> Vec<(u64, SectorDurability)> {
    let mut runs: Vec<(u64, SectorDurability)> = Vec::new();
    for extent in drive.extents(0, sectors * SECTOR, 1000).expect("on") {
        let count = extent.length / SECTOR;
        match runs.last_mut() {
            Some(last) if last.1 == extent.durability => last.0 += count,
            _ => runs.push((count, extent.durability)),
        }
    }
    runs
}

#[test]
fn extents_say_what_a_cut_would_take_and_what_it_took() {
    use SectorDurability::{Cached, Durable, NeverWritten, Older};
    let drive = in_memory(&tiny(false), &[]);
    drive.write(0, &[1; 2048], false).expect("written");
    assert_eq!(states(&drive, 16), [(4, Cached), (12, NeverWritten)]);
    drive.flush().expect("flushed");
    drive.write(512, &[2; 512], false).expect("written");
    drive.write(1024, &[2; 512], true).expect("written");
    let want = [(1, Durable), (1, Cached), (2, Durable), (12, NeverWritten)];
    assert_eq!(states(&drive, 16), want);
    drive.off().expect("off");
    assert_eq!(drive.extents(0, 512, 1), Err(StoreError::Off));
    drive.on().expect("on");
    // A program of the FUA write may have taken the other sector with it.
    let found = drive.status().found.expect("looked");
    let back = found.older == 1;
    let second = if back { Older } else { Durable };
    let after = states(&drive, 2);
    assert_eq!(after.last().map(|run| run.1), Some(second));
    drive.write(512, &[3; 512], true).expect("written");
    assert_eq!(states(&drive, 4), [(4, Durable)]);
    assert_eq!(drive.extents(0, 1 << 20, 1).expect("on").len(), 1);
}

#[test]
fn a_lying_drive_is_told_from_an_honest_one() {
    let fault = |per_mille| Fault {
        kind: FaultKind::IgnoresFlush,
        per_mille,
        seed: 1,
    };
    for (per_mille, expected) in [(0, false), (1000, true)] {
        let drive = in_memory(&tiny(false), &[fault(per_mille)]);
        let mut witness = Witness::new(&tiny(false), 5);
        let (mut broken, mut seen) = (false, false);
        for _ in 0..20 {
            broken |= !witness.round(&drive).is_empty();
            seen |= drive.status().found.expect("looked").broken > 0;
        }
        assert_eq!(
            (broken, seen),
            (expected, expected),
            "{per_mille} per mille"
        );
    }
}

#[test]
fn a_fork_goes_its_own_way() {
    let drive = in_memory(&tiny(false), &[]);
    drive.write(0, &[1; 512], true).expect("written");
    let mut fork = drive.fork();
    drive.write(0, &[2; 512], true).expect("written");
    let mut sector = [0; 512];
    fork.read(0, &mut sector).expect("read");
    assert_eq!(sector, [1; 512]);
    drive.into_data().read(0, &mut sector).expect("read");
    assert_eq!(sector, [2; 512]);
}

/// Zeroes without a hole were written under the lock: 4 GiB of them held up every client.
#[test]
fn commands_of_others_are_done_while_zeroes_are_written() {
    let whole = catalogue::open("consumer-sata-1tb").expect("known").config;
    let config = sized(&whole, 64 << 20).expect("possible").config;
    let drive = in_memory(&config, &[]);
    let last = (64 << 20) - SECTOR;
    let flags = ZeroFlags {
        no_hole: true,
        ..ZeroFlags::default()
    };
    let half_done = || {
        for at in [0, last] {
            drive
                .write(at, &[1; SECTOR as usize], false)
                .expect("written");
        }
        std::thread::scope(|scope| {
            scope.spawn(|| drive.write_zeroes(0, 64 << 20, flags).expect("written"));
            let (mut first, mut end) = ([1; SECTOR as usize], [0; SECTOR as usize]);
            while first[0] == 1 {
                drive.read(0, &mut first).expect("read");
            }
            drive.read(last, &mut end).expect("read");
            end[0] == 1
        })
    };
    // A busy machine may let this thread sleep through all of it.
    assert!((0..50).any(|_| half_done()));
    let mut end = [1; SECTOR as usize];
    drive.read(last, &mut end).expect("read");
    assert_eq!(end, [0; SECTOR as usize]);
}
