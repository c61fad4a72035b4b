//! Does a volume charge, merge and wait as its limits say?

use super::*;

const MIB: u64 = 1 << 20;

fn config(operations: AccountRates, bytes: AccountRates) -> VolumeConfig {
    VolumeConfig {
        name: "test".into(),
        title: "test".into(),
        bytes: 1 << 30,
        operation_bytes: 256 << 10,
        charges_whole: false,
        merge: MergeRule::Queued,
        volume: VolumeLimits { operations, bytes },
        instance: None,
        window: Nanos::ZERO,
        read: LatencyTail::constant(500_000),
        write: LatencyTail::constant(500_000),
        flush: LatencyTail::constant(40_000),
        transfer_kib: Nanos::ZERO,
        first_touch: None,
        credit_permille: 1000,
        seed: 1,
    }
}

/// Bytes a second and operations a second of commands of `len` bytes, for 20 s.
fn rates(config: VolumeConfig, len: u32, stride: u64) -> (u64, u64) {
    let mut volume = Volume::new(config);
    let (mut outstanding, mut count) = (std::collections::VecDeque::new(), 0_u64);
    let mut time = Nanos::ZERO;
    while time < Nanos::from_secs(20) {
        let command = Command::write(count * stride % (1 << 29), len);
        outstanding.push_back(volume.submit(time, &command).done);
        count += 1;
        if outstanding.len() == 32 {
            time = time.max(outstanding.pop_front().expect("32 are outstanding"));
        }
    }
    (count * u64::from(len) / 20, count / 20)
}

#[test]
fn large_commands_are_several_operations() {
    let config = config(AccountRates::constant(100), AccountRates::constant(1 << 40));
    let stride = 3 * MIB;
    let near = |got: u64, wanted: u64| got.abs_diff(wanted) * 50 <= wanted;
    assert!(near(rates(config.clone(), 4096, stride).1, 100));
    assert!(near(rates(config.clone(), 256 << 10, stride).1, 100));
    assert!(near(rates(config, 512 << 10, stride).1, 50));
}

#[test]
fn sequential_commands_merge_while_they_wait() {
    let config = config(AccountRates::constant(100), AccountRates::constant(1 << 40));
    let (_, apart) = rates(config.clone(), 16 << 10, MIB);
    let (_, merged) = rates(config.clone(), 16 << 10, 16 << 10);
    let never = VolumeConfig {
        merge: MergeRule::Never,
        ..config
    };
    let (_, never) = rates(never, 16 << 10, 16 << 10);
    assert!(apart.abs_diff(100) <= 2 && never.abs_diff(100) <= 2);
    assert!(merged > 1400, "{merged}");
}

#[test]
fn hard_disks_charge_whole_operations() {
    let mut config = config(
        AccountRates::constant(1 << 20),
        AccountRates::constant(40 * MIB),
    );
    config.operation_bytes = MIB;
    config.charges_whole = true;
    config.merge = MergeRule::Sequential;
    let (bytes, _) = rates(config.clone(), 1 << 20, 2 * MIB);
    assert!(bytes.abs_diff(40 * MIB) < MIB * 2);
    let (_, operations) = rates(config.clone(), 4096, 2 * MIB);
    assert!(operations.abs_diff(40) <= 2, "{operations}");
    let (bytes, _) = rates(config, 64 << 10, 64 << 10);
    assert!(bytes.abs_diff(40 * MIB) < MIB * 2, "{bytes}");
}

#[test]
fn the_tighter_of_volume_and_instance_binds() {
    let wide = AccountRates::constant(1 << 40);
    let mut config = config(AccountRates::constant(300), wide);
    config.instance = Some((
        "small".into(),
        VolumeLimits {
            operations: AccountRates::constant(200),
            bytes: wide,
        },
    ));
    let (_, operations) = rates(config.clone(), 4096, MIB);
    assert!(operations.abs_diff(200) <= 4, "{operations}");
    let mut volume = Volume::new(config);
    let bound = (0..3).map(|block| volume.submit(Nanos::ZERO, &Command::read(block * MIB, 4096)));
    let bound = bound.last().and_then(|service| service.bound);
    assert_eq!(bound.map(|limit| limit.owner), Some(AccountOwner::Instance));
    assert_eq!(bound.map(|limit| limit.part), Some(AccountPart::Ceiling));
}

#[test]
fn a_flush_waits_for_writes_and_nothing_else() {
    let wide = AccountRates::constant(1 << 40);
    let mut volume = Volume::new(config(wide, wide));
    assert_eq!(
        volume.submit(Nanos::ZERO, &Command::flush()).done,
        Nanos(40_000)
    );
    let write = volume.submit(Nanos(50_000), &Command::write(0, 4096)).done;
    let flush = volume.submit(Nanos(60_000), &Command::flush()).done;
    assert_eq!((write, flush), (Nanos(550_000), Nanos(590_000)));
    let idle = volume.submit(Nanos(900_000), &Command::flush()).done;
    assert_eq!(idle, Nanos(940_000));
}

#[test]
fn a_block_of_a_snapshot_is_slow_once() {
    let wide = AccountRates::constant(1 << 40);
    let mut config = config(wide, wide);
    config.first_touch = Some(FirstTouch {
        block: 512 << 10,
        extra: Nanos::from_millis(20),
    });
    let mut volume = Volume::new(config);
    let mut took = |command: &Command| volume.submit(Nanos::ZERO, command).done.0 / 10_000;
    assert_eq!(took(&Command::read(0, 4096)), 2_050);
    assert_eq!(took(&Command::read(8192, 4096)), 50);
    assert_eq!(
        took(&Command::write(512 << 10, 512 << 10)),
        50,
        "written whole"
    );
    assert_eq!(took(&Command::write(2 << 20, 4096)), 2_050);
    assert_eq!(volume.counters().first_touches, 2);
}
