//! One drive's health, with every counter different, for tests of what is made from it.

use super::{Capacitor, Identity, SmartHealth, SmartHeat, SmartWear, WorkloadTimerStart};

/// An identity under a model name.
pub fn identity(model: &str, family: Option<&str>) -> Identity {
    Identity {
        model: model.into(),
        serial: "SSDLAB0000000001".into(),
        firmware: "0.1".into(),
        wwn: 0x5001_0203_0405_0607,
        user_bytes: 200_049_647_616,
        logical_sector: 512,
        physical_sector: 4096,
        write_cache: true,
        trim: true,
        limits_c: None,
        family: family.map(str::to_owned),
    }
}

/// A drive some years old.
pub fn health() -> SmartHealth {
    SmartHealth {
        host_bytes_written: 270_000_000_000_000,
        host_bytes_read: 123_456_789_000_000,
        write_commands: 9_876_543_210,
        read_commands: 4_567_890_123,
        nand_bytes_written: 513_000_000_000_000,
        busy_minutes: 76_543,
        power_on_minutes: 60 * 21_213 + 17,
        power_cycles: 186,
        unsafe_shutdowns: 67,
        temperature_c: 34,
        temperature_min_c: 20,
        temperature_max_c: 54,
        wear: SmartWear {
            cycles_average: 1_185.5,
            cycles_max: 1_240,
            cycles_min: 1_100,
            cycles_rated: 3_000,
        },
        blocks_retired: 12,
        reserve_left: 388,
        reserve_total: 400,
        program_failures: 9,
        erase_failures: 3,
        uncorrectable_errors: 2,
        end_to_end_errors: 0,
        crc_errors: 5,
        thermal_throttles: 1,
        heat: SmartHeat::default(),
        capacitor: Capacitor::Good {
            test_us: 18_900,
            since_minutes: 1_222,
            tests: 310,
        },
        read_only: false,
        timed: WorkloadTimerStart {
            minutes: 60 * 21_000,
            wear_share: 0.39,
            read_commands: 4_500_000_000,
            write_commands: 9_800_000_000,
        },
    }
}
