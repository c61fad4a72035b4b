use super::planted::{FAULTS, healthy, planted};
use super::*;
use ssdlab_bench::engine::devices::new_drive;
use ssdlab_ssd::Nanos;

/// A controller that needs 100 us for each command gives 10,000 a second; reduced to 15 us, the
/// other 85 us go. Flash that answers at once leaves nothing else.
#[test]
fn time_that_is_known_is_found_to_the_nanosecond() {
    let mut config = healthy(1);
    config.host.full_duplex = false;
    config.host.command_overhead = Nanos::from_micros(100);
    config.host.link_bytes_per_second = 1_000_000_000_000;
    let drive = new_drive(&config).unwrap();
    let levels = Levels::healthy(&config);
    let found = decompose(&drive, Load::RandomRead, &levels, 1);
    assert!((found.ns - 100_000.0).abs() < 1.0, "{found:?}");
    assert_eq!(found.shares[0].causes, [Cause::Controller]);
    assert!((found.shares[0].ns - 85_000.0).abs() < 1.0, "{found:?}");
}

#[test]
fn shares_and_the_rest_add_up_to_the_time_of_a_command() {
    let drive = steady(&healthy(2), 2).unwrap();
    for load in Load::ALL {
        let found = decompose(&drive, load, &Levels::free(), 1);
        let sum: f64 = found.shares.iter().map(|share| share.ns).sum();
        assert!((sum + found.rest_ns - found.ns).abs() < 1e-3 * found.ns);
        assert!(found.rest_ns >= 0.0 && found.shares.iter().all(|share| share.ns > 0.0));
    }
}

/// Four faults of one seed; docs/methods.md has the table of all over many.
#[test]
fn a_planted_fault_is_named_first_and_a_healthy_drive_is_not_accused() {
    for index in [0, 4, 6, 12] {
        let (name, cause) = FAULTS[index];
        let drive = planted(7, &[index]).unwrap().expect(name);
        let found = diagnose_faults(&drive, &Load::ALL, 1).unwrap();
        assert_eq!(found[0].cause, cause, "{name}: {found:?}");
    }
    let sound = planted(7, &[]).unwrap().expect("a healthy drive");
    let found = diagnose_faults(&sound, &Load::ALL, 1).unwrap();
    assert!(found.is_empty(), "{found:?}");
}
