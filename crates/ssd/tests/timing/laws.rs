//! Laws of long runs, on every kind of drive: what is outstanding, integrated over time, is the sum
//! of all latencies (Little); no resource is busy for longer than the run; the work done takes its
//! time on the dies, and transfers take exactly theirs on the channels.

use super::*;
use kinds::commands::Mix;

/// A host that keeps account of outstanding commands.
struct Account {
    drive: Drive,
    seen: u64,
    /// Commands outstanding, integrated over time.
    area: u128,
    latency: u128,
    free: Vec<u32>,
}

impl Account {
    fn new(config: DriveConfig) -> Account {
        Account {
            drive: new(config),
            seen: 0,
            area: 0,
            latency: 0,
            free: (0..64).collect(),
        }
    }

    fn pass(&mut self, until: u64, outstanding: usize) {
        assert!(until >= self.seen, "time went backwards");
        self.area += u128::from(until - self.seen) * outstanding as u128;
        self.seen = until;
    }

    /// Takes the next completion up to `until`.
    fn take(&mut self, until: Nanos) -> bool {
        let outstanding = self.drive.outstanding();
        let Some(done) = self.drive.pop_completion(until) else {
            return false;
        };
        self.pass(done.done.0, outstanding);
        self.latency += u128::from(done.done.0 - done.submitted.0);
        self.free.push(done.tag);
        true
    }

    fn run(&mut self, commands: impl Iterator<Item = Command>, seed: u64) {
        let mut rng = Rng::named(seed, "long run");
        for command in commands {
            let at = Nanos(self.seen + rng.below(200_000));
            while self.take(at) {}
            if self.free.is_empty() {
                assert!(self.take(Nanos::MAX), "under way");
            }
            let at = at.0.max(self.seen);
            self.pass(at, self.drive.outstanding());
            let tag = self.free.pop().expect("a free tag");
            self.drive.submit(tag, &command, Nanos(at));
        }
        while self.drive.outstanding() > 0 {
            assert!(self.take(Nanos::MAX), "under way");
        }
    }
}

/// Dies are busy at least for the work done, and never twice at once; channels exactly for the data
/// moved. `config` is the assumed configuration of the drive.
#[track_caller]
fn work_is_conserved(drive: &Drive, config: &DriveConfig) {
    let (name, geometry) = (&config.name, config.geometry());
    let (timing, work) = (&config.nand.timing, drive.nand_work());
    let (dies, channels) = drive.busy_ns();
    for (die, &busy) in (0..).zip(&dies) {
        let end = drive.now().0.max(drive.die_free_at(die).0);
        assert!(busy <= end, "{name}: die {die}: {busy} ns of {end} ns");
    }
    let mut needed = work.erases * timing.erase.0;
    for kind in 0..timing.read.len() {
        needed += work.reads[kind] * timing.read[kind].0;
        needed += work.programs[kind] * timing.program[kind].0;
    }
    needed += work.reads[7] * timing.slc_read.0 + work.programs[7] * timing.slc_program.0;
    let moved = u128::from(work.slots_moved * u64::from(geometry.slot_bytes)) * 1_000_000_000;
    let moved = (moved / u128::from(timing.channel_bytes_per_second)) as u64;
    assert_eq!(channels.iter().sum::<u64>(), moved, "{name}: channels");
    let both = if config.nand.cache_read || config.nand.cache_program {
        needed
    } else {
        needed + moved
    };
    let busy: u64 = dies.iter().sum();
    // Worn blocks program faster than new ones.
    assert!(
        busy >= both || config.wear.is_some(),
        "{name}: {busy} ns for {both} ns of work"
    );
    assert_eq!(busy, drive.busy_by_purpose().iter().sum(), "{name}");
    let c = drive.counters();
    assert_eq!(work.programs.iter().sum::<u64>(), c.nand_programs, "{name}");
    assert_eq!(work.erases, c.nand_erases, "{name}");
    let reads = c.nand_reads_host + c.nand_reads_internal;
    assert_eq!(work.reads.iter().sum::<u64>(), reads, "{name}");
}

#[test]
fn little_and_conservation_hold_on_every_kind_of_drive() {
    for config in kinds::all() {
        for seed in 0..3 {
            let mut account = Account::new(config.clone());
            let commands = Mix::new(&config, seed).take(3_000);
            account.run(commands, seed);
            assert_eq!(account.area, account.latency, "{}", config.name);
            work_is_conserved(&account.drive, &config);
        }
    }
}

/// Larger: four dies, two channels, sixteen commands at once, reclaim all the time.
#[test]
fn little_and_conservation_hold_in_a_long_run() {
    for seed in 0..3 {
        let mut config = wide(16);
        config.shape.channel_count = 2;
        config.shape.dies_per_channel = 2;
        config.user_bytes = 84_000 * SLOT;
        config.host.queue_depth = 16;
        config.ftl.journal.commit_map_programs = 1;
        let mut rng = Rng::named(seed, "long commands");
        let commands = std::iter::repeat_with(|| {
            let (slot, count) = (rng.below(83_990), 1 + rng.below(8));
            match rng.below(20) {
                0..8 => read(slot, count),
                8 => write_fua(slot, count),
                9 if rng.percent(20) => Command::flush(),
                10 => Command::trim(slot * SLOT, (count * SLOT) as u32),
                _ => write(slot, count),
            }
        });
        let mut account = Account::new(config.clone());
        account.run(commands.take(60_000), seed);
        assert_eq!(
            account.area, account.latency,
            "outstanding, integrated over time"
        );
        let mut drive = account.drive;
        assert!(drive.counters().slots_relocated > 10_000);
        work_is_conserved(&drive, &config);
        let end = drive.now().0;
        assert_eq!(drive.pop_completion(Nanos(end + LATER)), None);
        work_is_conserved(&drive, &config);
        drive.check().expect("consistent");
    }
}

/// Canary: programs that take a nanosecond less than they should are noticed.
#[test]
#[should_panic(expected = "ns of work")]
fn work_done_too_fast_is_noticed() {
    let drive = written(bench(), 100);
    let mut believed = bench();
    believed.nand.timing.program[0].0 += 1;
    work_is_conserved(&drive, &bench());
    work_is_conserved(&drive, &believed);
}
