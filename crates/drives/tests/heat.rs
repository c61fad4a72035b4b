//! The two archetypes on an M.2 module: does the one in still air throttle under sustained writes
//! and say so in SMART, and the one with airflow not?

use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_drives::smart::{SmartHealth, nvme, sample, text};
use ssdlab_ssd::drive::Throttle;
use ssdlab_ssd::{Command, Drive, Nanos};

const IN_ORDER: u64 = 128 << 10;

/// Writes in order for some seconds, 32 outstanding, as fast as the drive can; MB/s of the last
/// ten.
fn sustained(name: &str, seconds: u64) -> (Drive, f64) {
    let whole = catalogue::drive(name).unwrap().config;
    let mut config = scaled(&whole, 1 << 30).unwrap().config;
    // As fast as the cache, which a drive of 1 GiB that is written over and over does not use: the
    // whole drive heats up while it fills its cache.
    for program in &mut config.nand.timing.program {
        *program = Nanos::from_micros(233);
    }
    let blocks = config.user_bytes / IN_ORDER;
    let mut drive = Drive::new(config).unwrap();
    let mut next = 0;
    let mut command = || {
        next += 1;
        Command::write(next % blocks * IN_ORDER, IN_ORDER as u32)
    };
    for tag in 0..32 {
        drive.submit(tag, &command(), Nanos::ZERO);
    }
    let (last, mut before) = (Nanos::from_secs(seconds - 10), None);
    while let Some(done) = drive.pop_completion(Nanos::from_secs(seconds)) {
        if done.done >= last {
            before.get_or_insert(drive.counters().host_bytes_written);
        }
        drive.submit(done.tag, &command(), done.done);
    }
    let bytes = drive.counters().host_bytes_written - before.unwrap();
    (drive, bytes as f64 / 10e6)
}

fn health(drive: &Drive) -> SmartHealth {
    let mut health = sample::health();
    health.enter_heat(drive);
    health
}

fn field(page: &nvme::HealthPage, at: usize) -> u32 {
    u32::from_le_bytes(page[at..at + 4].try_into().unwrap())
}

#[test]
fn without_airflow_it_throttles_and_smart_says_so() {
    let (drive, rate) = sustained("tlc-client-nvme-1tb-no-fan", 150);
    assert!(rate < 2_000.0, "{rate} MB/s");
    let heat = drive.heat().unwrap();
    assert_eq!(heat.throttle, Throttle::Heavy);
    let health = health(&drive);
    let page = nvme::health_page(&health);
    let kelvin = u16::from_le_bytes([page[1], page[2]]);
    assert_eq!(u64::from(kelvin) - 273, heat.millicelsius / 1000);
    let seconds = |step: Throttle| (heat.counters.time_ns[step as usize] / 1_000_000_000) as u32;
    assert!(seconds(Throttle::Light) > 1 && seconds(Throttle::Heavy) > 10);
    for (at, value) in [
        (192, 0),
        (196, 0),
        (216, 1),
        (220, 1),
        (224, seconds(Throttle::Light)),
        (228, seconds(Throttle::Heavy)),
    ] {
        assert_eq!(field(&page, at), value, "byte {at}");
    }
    let shown = text::nvme_text(&health);
    assert!(
        shown.contains("Thermal Temp. 1 Transition Count:   1"),
        "{shown}"
    );
    assert_eq!(health.thermal_throttles, 1);
}

#[test]
fn with_airflow_the_same_writes_do_not_throttle_it() {
    let (drive, rate) = sustained("tlc-client-nvme-1tb-fan", 150);
    assert!(rate > 3_000.0, "{rate} MB/s");
    let heat = drive.heat().unwrap();
    assert_eq!(heat.throttle, Throttle::None);
    assert_eq!(heat.counters.entered, [0; 4]);
    // As warm as it gets: 150 s are nearly four of its time constants.
    let watts = drive.energy().total_nj() as f64 / drive.now().0 as f64;
    let settled = drive
        .equilibrium_millicelsius((watts * 1e3) as u64)
        .unwrap();
    assert!(
        heat.millicelsius.abs_diff(settled) < 1_500,
        "{heat:?} {settled}"
    );
    assert!(!text::nvme_text(&health(&drive)).contains("Thermal Temp."));
}

#[test]
fn they_differ_in_thermal_resistance_alone() {
    let mut still = catalogue::drive("tlc-client-nvme-1tb-no-fan")
        .unwrap()
        .config;
    let mut airy = catalogue::drive("tlc-client-nvme-1tb-fan").unwrap().config;
    let plain = catalogue::drive("tlc-client-nvme-1tb").unwrap().config;
    airy.name.clone_from(&still.name);
    let heat = airy.heat.as_mut().unwrap();
    heat.resistance_mk_per_w = still.heat.as_ref().unwrap().resistance_mk_per_w;
    assert_eq!(still, airy);
    (still.name, still.heat, still.energy) = (plain.name.clone(), None, Default::default());
    assert_eq!(still, plain, "but for heat and energy it is the archetype");
}

/// Each impossible value is refused with its key and what is allowed.
#[test]
fn impossible_heat_is_refused() {
    assert_refused(&[
        (
            "\"14 K/W\"",
            "\"0 K/W\"",
            "heat.resistance",
            "0.001 to 1000",
        ),
        (
            "\"14 K/W\"",
            "\"14 W/K\"",
            "heat.resistance",
            "K/W is allowed",
        ),
        ("\"8 J/K\"", "\"0.01 J/K\"", "heat.capacity", "at least 1 s"),
        ("\"35 C\"", "\"78 C\"", "heat.light_at", "more than 81 C"),
        ("\"35 C\"", "\"35\"", "heat.ambient", "such as 70 C"),
        ("\"83 C\"", "\"79 C\"", "heat.heavy_at", "more than 80 C"),
        (
            "value = 12,",
            "value = 3,",
            "heat.heavy_programs",
            "no more than",
        ),
        (
            "value = 1,",
            "value = 0,",
            "heat.critical_programs",
            "at least one",
        ),
        ("\"3 K\"", "\"60 K\"", "heat.light_at", "more than 95 C"),
        (
            "\"100 us\"",
            "\"2 s\"",
            "heat.critical_pause",
            "at most 1 s",
        ),
        ("\"71 ms\"", "\"600 ms\"", "energy.state_after", "later"),
        ("\"8 ms\"", "\"8 s\"", "energy.state_exit", "at most 1 s"),
        (
            "\"70 mW\"",
            "\"2 W\"",
            "energy.state_power",
            "at most the draw",
        ),
        (
            "[\"70 mW\", \"10 mW\"]",
            "[\"70 mW\"]",
            "energy.state_after",
            "as many",
        ),
    ]);
}

/// The key is not that of a neighbouring limit.
#[test]
fn impossible_limits_are_refused_by_their_own_key() {
    assert_refused(&[
        ("\"2 ms\"", "\"2 s\"", "energy.state_entry", "at most 1 s"),
        (
            "overheated = { value = \"85 C\"",
            "overheated = { value = \"160 C\"",
            "heat.overheated",
            "at most 150 C",
        ),
        (
            "warning = { value = \"85 C\"",
            "warning = { value = \"90 C\"",
            "heat.warning",
            "at most 85 C",
        ),
    ]);
}

/// Each replacement, (from, to, key, reason), makes the drive without a fan impossible.
fn assert_refused(replacements: &[(&str, &str, &str, &str)]) {
    let (_, text) = catalogue::files()
        .iter()
        .find(|(file, _)| *file == "tlc-client-nvme-1tb-no-fan.toml")
        .unwrap();
    for &(from, to, key, why) in replacements {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        let error = catalogue::parse(&changed, "x.toml").unwrap_err();
        let said = error.to_string();
        assert!(said.contains(key) && said.contains(why), "{from}: {said}");
        assert!(!error.advice().is_empty(), "{said}");
    }
}
