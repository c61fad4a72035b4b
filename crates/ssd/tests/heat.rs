//! Heat: does the temperature follow the closed form of the lumped model, is energy conserved, do
//! throttling and power states cost what they say, and does it matter who looks when?

mod kinds;

use kinds::{SLOT, bare, hot};
use ssdlab_ssd::drive::{Relief, Throttle};
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Completion, Drive, DriveConfig, Nanos};

/// R = 12 K/W, C = 9 J/K, air at 30 C: 3 W end at 66 C, with a time constant of 108 s.
const AIR: f64 = 30.0;
const RISE: f64 = 36.0;
const CONSTANT: f64 = 108.0;

/// A drive that draws 3 W, whatever it does, and does not throttle.
fn radiator() -> DriveConfig {
    let mut c = bare();
    hot(&mut c);
    c.energy = Default::default();
    c.energy.idle_mw = 3_000;
    let heat = c.heat.as_mut().expect("hot");
    (heat.capacity_mj_per_k, heat.resistance_mk_per_w) = (9_000, 12_000);
    heat.ambient_c = 30;
    (heat.light.at_c, heat.heavy.at_c, heat.critical.at_c) = (100, 110, 120);
    (heat.warning_c, heat.overheated_c) = (50, 60);
    c
}

fn new(config: &DriveConfig) -> Drive {
    Drive::new(config.clone()).expect("possible")
}

/// Temperature of a [`radiator`], by the heat that it stores.
fn celsius(drive: &Drive) -> f64 {
    let heat = drive.heat().expect("modelled");
    let celsius = AIR + heat.stored_nj as f64 / 9e9;
    assert_eq!(heat.millicelsius, (celsius * 1000.0) as u64);
    celsius
}

/// Lets the drive alone until `seconds`.
fn wait(drive: &mut Drive, seconds: f64) {
    assert!(
        drive
            .pop_completion(Nanos((seconds * 1e9) as u64))
            .is_none()
    );
}

#[track_caller]
fn about(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 0.001, "{found} for {wanted}");
}

#[test]
fn a_constant_power_warms_the_drive_by_the_closed_form() {
    let mut drive = new(&radiator());
    for seconds in [1.0, 10.0, 54.0, 108.0, 216.0, 540.0, 5_000.0] {
        wait(&mut drive, seconds);
        let rise = RISE * (1.0 - (-seconds / CONSTANT).exp());
        about(celsius(&drive) - AIR, rise);
    }
    let settled = drive.equilibrium_millicelsius(3_000);
    assert_eq!(settled, Some(66_000));
    about(celsius(&drive), 66.0);
}

#[test]
fn without_power_it_cools_down_by_the_closed_form() {
    let mut config = radiator();
    config.energy.idle_mw = 0;
    config.energy.program_nj = [1; 8];
    let mut drive = new(&config);
    drive.warm_to(90_000);
    for seconds in [1.0, 10.0, 108.0, 324.0] {
        wait(&mut drive, seconds);
        about(celsius(&drive) - AIR, 60.0 * (-seconds / CONSTANT).exp());
    }
}

/// 50 C are reached after ln(36 / 16) time constants, 60 C after ln(36 / 6) of them.
#[test]
fn the_times_above_the_thresholds_are_those_of_the_closed_form() {
    let mut drive = new(&radiator());
    wait(&mut drive, 1_000.0);
    let counters = drive.heat().expect("modelled").counters;
    let after = |ratio: f64| CONSTANT * ratio.ln();
    let warm = after(6.0) - after(36.0 / 16.0);
    about(counters.warning_ns as f64 / 1e9, warm);
    about(counters.overheated_ns as f64 / 1e9, 1_000.0 - after(6.0));
}

/// Random writes, reads and pauses, eight at once; with `polls`, somebody looks all the time.
fn live(drive: &mut Drive, count: u64, polls: bool) -> Vec<Completion> {
    let mut rng = Rng::named(3, "heat");
    let (mut free, mut done): (Vec<u32>, Vec<Completion>) = ((0..8).collect(), Vec::new());
    let take = |drive: &mut Drive, until: Nanos, free: &mut Vec<u32>, done: &mut Vec<_>| {
        while let Some(one) = drive.pop_completion(until) {
            free.push(one.tag);
            done.push(one);
        }
    };
    for n in 0..count {
        if n % 500 == 499 {
            let end = drive.now().0 + rng.below(300_000_000);
            for at in (drive.now().0..end).step_by(700_001).filter(|_| polls) {
                take(drive, Nanos(at), &mut free, &mut done);
                drive.heat().expect("modelled");
            }
            take(drive, Nanos(end), &mut free, &mut done);
        }
        let tag = free.pop().unwrap_or_else(|| {
            let one = drive.pop_completion(Nanos::MAX).expect("under way");
            done.push(one);
            one.tag
        });
        let at = rng.below(300) * SLOT;
        let command = match rng.percent(70) {
            true => Command::write(at, 4096),
            false => Command::read(at, 4096),
        };
        drive.submit(tag, &command, drive.now());
    }
    take(drive, Nanos::MAX, &mut free, &mut done);
    done
}

fn furnace() -> DriveConfig {
    let mut config = bare();
    config.shape.dies_per_channel = 4;
    config.user_bytes = 1_200 * SLOT;
    hot(&mut config);
    config
}

#[test]
fn it_does_not_matter_who_looks_when() {
    let (mut left_alone, mut watched) = (new(&furnace()), new(&furnace()));
    let done = live(&mut left_alone, 5_000, false);
    assert_eq!(done, live(&mut watched, 5_000, true));
    assert_eq!(left_alone.heat(), watched.heat());
    assert_eq!(left_alone.sleep(), watched.sleep());
    let heat = watched.heat().expect("modelled");
    assert!(
        heat.counters.entered[1..].iter().all(|n| *n > 0),
        "{heat:?}"
    );
    assert!(watched.sleep().wakes > 0);
}

#[test]
fn the_energy_used_is_stored_or_gone_to_the_air() {
    let mut drive = new(&furnace());
    live(&mut drive, 5_000, false);
    let end = Nanos(drive.now().0.next_multiple_of(10_000_000));
    assert!(drive.pop_completion(end).is_none());
    drive.check().expect("energy is conserved");
    let (heat, used) = (drive.heat().expect("modelled"), drive.energy().total_nj());
    about(heat.energy_nj as f64, used as f64);
    about((heat.stored_nj + heat.dissipated_nj) as f64, used as f64);
    let rise = (heat.millicelsius - heat.ambient_millicelsius) as f64;
    about(heat.stored_nj as f64 / 1e6, rise);
}

#[test]
fn a_step_is_entered_at_its_temperature_and_left_below_its_hysteresis() {
    let mut config = radiator();
    config.energy.idle_mw = 0;
    config.energy.program_nj = [1; 8];
    let heat = config.heat.as_mut().expect("hot");
    (heat.light.at_c, heat.heavy.at_c, heat.hysteresis_k) = (70, 80, 5);
    let mut drive = new(&config);
    let throttle = |drive: &mut Drive, millicelsius| {
        drive.warm_to(millicelsius);
        drive.heat().expect("modelled").throttle
    };
    for (millicelsius, step) in [
        (69_999, Throttle::None),
        (70_000, Throttle::Light),
        (79_999, Throttle::Light),
        (80_000, Throttle::Heavy),
        (75_000, Throttle::Heavy),
        (74_999, Throttle::Light),
        (65_000, Throttle::Light),
        (64_999, Throttle::None),
        (120_000, Throttle::Critical),
    ] {
        assert_eq!(
            throttle(&mut drive, millicelsius),
            step,
            "{millicelsius} mC"
        );
    }
    let counters = drive.heat().expect("modelled").counters;
    assert_eq!(counters.entered, [0, 2, 2, 1]);
}

/// Mean time of a unit's program with all buffers full, ns.
fn unit_ns(drive: &mut Drive) -> f64 {
    let unit = drive.config().geometry().unit_bytes();
    let (mut next, mut ends) = (0, Vec::new());
    let mut command = || {
        next += 1;
        Command::write(next * unit, unit as u32)
    };
    for tag in 0..16 {
        drive.submit(tag, &command(), drive.now());
    }
    while let Some(done) = drive.pop_completion(Nanos::MAX) {
        ends.push(done.done.0);
        if ends.len() < 300 {
            drive.submit(done.tag, &command(), done.done);
        }
    }
    (ends[299] - ends[99]) as f64 / 200.0
}

/// Eight dies that need 1 ms for a unit: a limit of two makes one each half millisecond.
#[test]
fn throttling_limits_the_programs_at_once_and_can_be_taken_away() {
    let mut config = furnace();
    config.shape.bits_per_cell = 1;
    config.nand.timing.read.truncate(1);
    config.nand.timing.program = vec![Nanos::from_millis(1)];
    config.nand.timing.channel_bytes_per_second = 1_000_000_000_000;
    config.nand.cache_program = true;
    config.buffer.bytes = 64 * SLOT;
    config.energy.states.clear();
    config.energy.program_nj = [1; 8];
    let heat = config.heat.as_mut().expect("hot");
    (heat.capacity_mj_per_k, heat.heavy.pause) = (1_000_000, Nanos(3_000_000));
    let at = |millicelsius: u64, reliefs: &[Relief]| {
        let mut drive = new(&config);
        drive.warm_to(millicelsius);
        reliefs.iter().for_each(|relief| drive.relieve(*relief));
        unit_ns(&mut drive)
    };
    about(at(24_000, &[]), 125_000.0);
    about(at(25_500, &[]), 500_000.0);
    // The controller takes one command each 3 ms, and its overhead.
    about(
        at(27_500, &[]),
        3_000_000.0 + config.host.write_overhead.0 as f64,
    );
    about(at(27_500, &[Relief::Heat]), 125_000.0);
}

/// Time of a read after an idle time, ns.
fn read_after(idle: u64) -> u64 {
    let mut config = furnace();
    config.heat = None;
    let mut drive = new(&config);
    drive.submit(0, &Command::read(0, 4096), Nanos::ZERO);
    let first = drive.pop_completion(Nanos::MAX).expect("one").done;
    drive.submit(0, &Command::read(0, 4096), Nanos(first.0 + idle));
    let second = drive.pop_completion(Nanos::MAX).expect("one");
    (second.done - second.submitted).0
}

/// The first state is entered after 5 ms of idle time, in 0.2 ms; it takes 1.2 ms to leave it.
#[test]
fn a_read_after_an_idle_time_pays_for_waking_the_drive() {
    let awake = read_after(1_000_000);
    assert_eq!(read_after(4_999_999), awake);
    assert_eq!(read_after(5_000_000), awake + 200_000 + 1_200_000);
    assert_eq!(read_after(5_200_000), awake + 1_200_000);
    assert_eq!(read_after(1_000_000_000), awake + 1_200_000);
}

#[test]
fn a_drive_without_the_tables_is_the_same_drive() {
    let mut plain = bare();
    plain.shape.dies_per_channel = 4;
    plain.user_bytes = 1_200 * SLOT;
    let mut cold = furnace();
    cold.energy.states.clear();
    let heat = cold.heat.as_mut().expect("hot");
    (heat.light.at_c, heat.heavy.at_c, heat.critical.at_c) = (148, 149, 150);
    let (mut with, mut without) = (new(&cold), new(&plain));
    assert_eq!(
        live(&mut with, 5_000, false),
        live(&mut without, 5_000, false)
    );
    assert!(without.heat().is_none());
    without.warm_to(90_000);
    assert_eq!(without.sleep(), Default::default());
}
