use super::*;

#[test]
fn the_tiny_drive_is_possible() {
    DriveConfig::tiny().validate().unwrap();
}

/// A drive made by constructors and defaults alone, with every optional part.
#[test]
fn the_defaults_are_a_possible_drive() {
    let times = [50, 80].map(Nanos::from_micros).to_vec();
    let timing = NandTiming::new(times.clone(), times, Nanos::from_millis(3), 400_000_000);
    let mut nand = NandConfig::new(timing);
    nand.suspend = Some(Suspend::new(Nanos(20), Nanos(30), 4));
    let shape = Shape {
        bits_per_cell: 2,
        ..Shape::default()
    };
    let mut config = DriveConfig::new("defaults", shape, nand, 10 << 30);
    config.ftl.reclaim.free_superblocks_low = 4;
    config.wear = Some(WearConfig::default());
    config.energy.idle_mw = 1;
    config.energy.states = vec![PowerState::new(Nanos::from_millis(5), 0)];
    let steps = [70, 80, 90].map(|at_c| ThrottleStep::new(at_c, 1));
    config.heat = Some(HeatConfig::new(9_000, 8_000, steps));
    config.validate().unwrap();
}

#[test]
fn a_drive_with_more_user_than_raw_bytes_is_refused_with_the_arithmetic() {
    let mut config = DriveConfig::tiny();
    config.user_bytes = 1 << 30;
    let error = config.validate().unwrap_err().to_string();
    assert!(error.contains("`user capacity` cannot be 1 GiB"), "{error}");
    assert!(error.contains("raw capacity is 4.5 MiB"), "{error}");
}

#[test]
fn every_zero_is_refused() {
    let zero: [fn(&mut DriveConfig); 7] = [
        |c| c.shape.channel_count = 0,
        |c| c.shape.pages_per_block = 0,
        |c| c.shape.bits_per_cell = 0,
        |c| c.user_bytes = 0,
        |c| c.buffer.bytes = 0,
        |c| c.host.queue_depth = 0,
        |c| c.nand.timing.channel_bytes_per_second = 0,
    ];
    for set in zero {
        let mut config = DriveConfig::tiny();
        set(&mut config);
        config.validate().unwrap_err();
    }
}

fn saved(part: &impl Image) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut out = crate::image::Writer::new(&mut bytes);
    part.save(&mut out).unwrap();
    out.flush().unwrap();
    bytes
}

fn loaded<T: Image>(bytes: &[u8]) -> T {
    let mut input = bytes;
    let mut reader = crate::image::Reader::new(&mut input, bytes.len() as u64);
    T::load(&mut reader).unwrap()
}

/// Directories of drives made before commits had superblocks, and the dynamic cache a most, are
/// read as they are, and the text of a configuration, by whose hash references are found, has not
/// changed either.
#[test]
fn superblocks_of_commits_leave_older_drives_as_they_are() {
    let mut slc = SlcConfig {
        superblocks: 31,
        commit_superblocks: 0,
        dynamic_above_free: 50,
        dynamic_superblocks: 0,
        full: SlcFull::Fold,
    };
    assert_eq!(saved(&slc), [31, 0, 0, 0, 50, 0, 0, 0, 1]);
    let text = "SlcConfig { superblocks: 31, dynamic_above_free: 50, full: Fold }";
    assert_eq!(format!("{slc:?}"), text);
    slc.commit_superblocks = 64;
    slc.dynamic_superblocks = 315;
    let bytes = saved(&slc);
    assert_eq!(loaded::<SlcConfig>(&bytes), slc);
    assert!(format!("{slc:?}").contains("commit_superblocks: 64"));
}

/// Likewise of drives made before the firmware could limit writes or answer them late.
#[test]
fn a_limit_and_a_latency_of_writes_leave_older_drives_as_they_are() {
    let mut host = HostConfig::default();
    let older = saved(&host);
    assert_eq!(older.len(), 4 + 8 + 1 + 4 * 8 + 4);
    let text = format!("{host:?}");
    assert!(!text.contains("write_bytes_per_second") && !text.contains("write_latency"));
    host.full_duplex = true;
    host.write_bytes_per_second = 1_484_800_000;
    let bytes = saved(&host);
    assert_eq!(bytes.len(), older.len() + 8);
    assert_eq!(loaded::<HostConfig>(&bytes), host);
    host.write_latency = Nanos(34_500);
    let bytes = saved(&host);
    assert_eq!(bytes.len(), older.len() + 16);
    assert_eq!(loaded::<HostConfig>(&bytes), host);
    host.write_bytes_per_second = 0;
    assert_eq!(loaded::<HostConfig>(&saved(&host)), host);
}
