//! Which attributes a vendor's drive has, with their units, normalization and thresholds.
//!
//! Values that data sheets do not give (the flags of some counters) are those seen in public
//! smartctl outputs of such drives.

use super::attribute::{Attribute, RawFormat, flag};
use super::{Capacitor, SmartHealth};
use serde::{Deserialize, Serialize};

/// A vendor's attributes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeSet {
    /// Intel SSD 320, 710, DC S3500 to S3710.
    Intel,
    /// SandForce SF-1200 to SF-2281.
    SandForce,
    /// Attributes whose meaning smartctl takes for granted in any SSD.
    #[default]
    Generic,
}

/// Intel counts host writes, reads and NAND writes in these.
pub const INTEL_UNIT: u64 = 32 << 20;
const GIB: u64 = 1 << 30;
const SECTOR: u64 = 512;

impl AttributeSet {
    /// Revision of the attribute structure in its first two bytes.
    pub const fn revision(self) -> u16 {
        match self {
            AttributeSet::Intel | AttributeSet::Generic => 1,
            AttributeSet::SandForce => 10,
        }
    }
}

/// The attributes of `set` in order of their numbers.
pub fn attributes(set: AttributeSet, health: &SmartHealth) -> Vec<Attribute> {
    match set {
        AttributeSet::Intel => intel(health),
        AttributeSet::SandForce => sandforce(health),
        AttributeSet::Generic => generic(health),
    }
}

/// Whether the drive's own judgement (SMART RETURN STATUS) is that it is failing: a critical
/// attribute at its threshold, or no more writes.
pub fn is_failing(set: AttributeSet, health: &SmartHealth) -> bool {
    let critical = |a: &Attribute| a.flags & flag::PREFAILURE != 0 && a.has_failed();
    health.read_only || attributes(set, health).iter().any(critical)
}

fn temperature(id: u8, name: &'static str, h: &SmartHealth) -> Attribute {
    let c = u64::from;
    let raw = c(h.temperature_c) | c(h.temperature_min_c) << 16 | c(h.temperature_max_c) << 32;
    Attribute {
        value: 100 - h.temperature_c.min(99),
        worst: 100 - h.temperature_max_c.min(99),
        ..Attribute::counter(id, name, raw)
            .flags(flag::READING, 0)
            .format(RawFormat::Temperature)
    }
}

/// The per cent of a kind of failure that is still allowed: of as many as there are spare blocks.
fn allowance(failures: u32, h: &SmartHealth) -> u8 {
    let used = (100 * u64::from(failures)).checked_div(h.reserve_total.into());
    100 - used.unwrap_or(0).min(99) as u8
}

fn power_on_hours(id: u8, h: &SmartHealth) -> Attribute {
    Attribute::counter(id, "Power_On_Hours", h.power_on_minutes / 60).format(RawFormat::Hours)
}

/// AFh: microseconds of hold-up, minutes since the test, tests so far. Value 1 after a failure, so
/// that the threshold of 10 trips (SSD DC S3700 data sheet; write cache is then off).
fn capacitor_test(h: &SmartHealth) -> Option<Attribute> {
    let c = u64::from;
    let (raw, value) = match h.capacitor {
        Capacitor::None => return None,
        Capacitor::Good {
            test_us,
            since_minutes,
            tests,
        } => (c(test_us) | c(since_minutes) << 16 | c(tests) << 32, 100),
        Capacitor::Failed => (0, 1),
    };
    let row = Attribute::counter(175, "Power_Loss_Cap_Test", raw);
    Some(
        row.value(value)
            .flags(flag::CRITICAL, 10)
            .format(RawFormat::Words),
    )
}

fn intel(h: &SmartHealth) -> Vec<Attribute> {
    let count = Attribute::counter;
    let reserve = |id| {
        count(id, "Available_Reservd_Space", h.reserve_left.into())
            .value(h.reserve_percent().max(1))
            .flags(flag::CRITICAL, 10)
    };
    let crc = flag::COUNTER | flag::ERROR_RATE | flag::PERFORMANCE;
    let wearout = count(233, "Media_Wearout_Indicator", 0).value(h.media_wearout());
    let mut rows = vec![
        count(5, "Reallocated_Sector_Ct", h.blocks_retired.into()).format(RawFormat::Words),
        power_on_hours(9, h),
        count(12, "Power_Cycle_Count", h.power_cycles),
        // Per cent of the reserve that is left; E8 counts blocks.
        Attribute {
            raw: 0,
            ..reserve(170)
        },
        count(171, "Program_Fail_Count", h.program_failures.into())
            .value(allowance(h.program_failures, h)),
        count(172, "Erase_Fail_Count", h.erase_failures.into())
            .value(allowance(h.erase_failures, h)),
        count(174, "Unsafe_Shutdown_Count", h.unsafe_shutdowns),
    ];
    rows.extend(capacitor_test(h));
    rows.extend([
        count(183, "SATA_Downshift_Count", 0),
        count(184, "End-to-End_Error", h.end_to_end_errors.into())
            .value(100 - h.end_to_end_errors.min(99) as u8)
            .flags(flag::CRITICAL, 90),
        count(187, "Reported_Uncorrect", h.uncorrectable_errors),
        temperature(190, "Temperature_Case", h),
        count(192, "Unsafe_Shutdown_Count", h.unsafe_shutdowns),
        temperature(194, "Temperature_Internal", h),
        count(197, "Current_Pending_Sector", 0).flags(flag::ONLINE | flag::EVENT_COUNT, 0),
        count(199, "CRC_Error_Count", h.crc_errors.into()).flags(crc, 0),
        count(225, "Host_Writes_32MiB", h.host_bytes_written / INTEL_UNIT),
        count(226, "Workld_Media_Wear_Indic", h.timed_media_wear()),
        count(227, "Workld_Host_Reads_Perc", h.timed_reads_percent()),
        count(228, "Workload_Minutes", h.timed_minutes() & 0xffff_ffff),
        reserve(232),
        wearout,
        count(234, "Thermal_Throttle", u64::from(h.thermal_throttles) << 8)
            .format(RawFormat::Slash),
        count(241, "Host_Writes_32MiB", h.host_bytes_written / INTEL_UNIT),
        count(242, "Host_Reads_32MiB", h.host_bytes_read / INTEL_UNIT),
        count(243, "NAND_Writes_32MiB", h.nand_bytes_written / INTEL_UNIT),
    ]);
    rows
}

fn sandforce(h: &SmartHealth) -> Vec<Attribute> {
    let count = Attribute::counter;
    let milliseconds = h.power_on_minutes % 60 * 60_000;
    let hours = (h.power_on_minutes / 60) | (milliseconds << 32);
    let spread = u64::from(h.wear.cycles_max.saturating_sub(h.wear.cycles_min));
    let delta = (100 * spread).checked_div(h.wear.cycles_max.into());
    let life_left = 100 - h.percentage_used().min(100);
    let gib = |bytes: u64| bytes / GIB;
    vec![
        count(5, "Retired_Block_Count", h.blocks_retired.into())
            .value(h.reserve_percent().max(1))
            .flags(flag::CRITICAL, 3),
        count(9, "Power_On_Hours_and_Msec", hours).format(RawFormat::HoursAndMilliseconds),
        count(12, "Power_Cycle_Count", h.power_cycles),
        count(171, "Program_Fail_Count", h.program_failures.into()),
        count(172, "Erase_Fail_Count", h.erase_failures.into()),
        count(174, "Unexpect_Power_Loss_Ct", h.unsafe_shutdowns),
        count(177, "Wear_Range_Delta", delta.unwrap_or(0)),
        count(181, "Program_Fail_Count", h.program_failures.into()),
        count(182, "Erase_Fail_Count", h.erase_failures.into()),
        count(187, "Reported_Uncorrect", h.uncorrectable_errors),
        temperature(194, "Temperature_Celsius", h),
        count(231, "SSD_Life_Left", 0)
            .value(life_left.max(1))
            .flags(flag::CRITICAL & !flag::AUTO_KEEP, 10),
        count(233, "SandForce_Internal", gib(h.nand_bytes_written)),
        count(241, "Lifetime_Writes_GiB", gib(h.host_bytes_written)),
        count(242, "Lifetime_Reads_GiB", gib(h.host_bytes_read)),
    ]
}

fn generic(h: &SmartHealth) -> Vec<Attribute> {
    let count = Attribute::counter;
    let retired = u64::from(h.reserve_total.saturating_sub(h.reserve_left));
    let reserve = |id, name, raw: u64| {
        count(id, name, raw)
            .value(h.reserve_percent().max(1))
            .flags(flag::CRITICAL, 10)
    };
    vec![
        count(5, "Reallocated_Sector_Ct", h.blocks_retired.into()).format(RawFormat::Words),
        power_on_hours(9, h),
        count(12, "Power_Cycle_Count", h.power_cycles),
        count(177, "Wear_Leveling_Count", h.wear.cycles_average as u64).value(h.media_wearout()),
        reserve(179, "Used_Rsvd_Blk_Cnt_Tot", retired),
        reserve(180, "Unused_Rsvd_Blk_Cnt_Tot", h.reserve_left.into()),
        count(181, "Program_Fail_Cnt_Total", h.program_failures.into()),
        count(182, "Erase_Fail_Count_Total", h.erase_failures.into()),
        count(184, "End-to-End_Error", h.end_to_end_errors.into()),
        count(187, "Reported_Uncorrect", h.uncorrectable_errors),
        count(192, "Power-Off_Retract_Count", h.unsafe_shutdowns),
        temperature(194, "Temperature_Celsius", h),
        count(199, "UDMA_CRC_Error_Count", h.crc_errors.into()),
        count(233, "Media_Wearout_Indicator", 0).value(h.media_wearout()),
        count(241, "Total_LBAs_Written", h.host_bytes_written / SECTOR),
        count(242, "Total_LBAs_Read", h.host_bytes_read / SECTOR),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn row(set: AttributeSet, id: u8, health: &SmartHealth) -> Attribute {
        let rows = attributes(set, health);
        rows.into_iter().find(|row| row.id == id).unwrap()
    }

    /// zil.mwi: 100 when new, 1 when the rated cycles are used, and it stays there.
    #[test]
    fn e9_falls_from_100_to_1_with_rated_cycles() {
        let mut health = sample::health();
        let mut last = 101;
        for cycles in 0..=6000 {
            health.wear.cycles_average = f64::from(cycles);
            let value = row(AttributeSet::Intel, 0xe9, &health).value;
            assert!(value <= last && value >= 1);
            match cycles {
                0 => assert_eq!(value, 100),
                2999 => assert_eq!(value, 2),
                3000.. => assert_eq!(value, 1),
                _ => {}
            }
            last = value;
        }
    }

    /// worn.life: 79 % of the rated cycles used are shown as 21 % life left, if that is linear.
    #[test]
    fn sandforce_shows_what_is_left_of_the_rated_cycles() {
        let mut health = sample::health();
        health.wear.cycles_rated = 5000;
        for (cycles, left) in [(0.0, 100), (3950.0, 21), (4500.0, 10), (9000.0, 1)] {
            health.wear.cycles_average = cycles;
            let row = row(AttributeSet::SandForce, 231, &health);
            assert_eq!((row.value, row.has_failed()), (left, left <= 10));
        }
    }

    /// Intel data sheets: E2 is per cent of rated cycles times 1,024; E2 and E3 read FFFFh until an
    /// hour has passed; E4 counts minutes and is reset with them.
    #[test]
    fn the_timed_workload_counts_as_documented() {
        let mut health = sample::health();
        health.reset_timed_workload();
        let raw = |id, health: &SmartHealth| row(AttributeSet::Intel, id, health).raw;
        let three = |health: &SmartHealth| [0xe2, 0xe3, 0xe4].map(|id| raw(id, health));
        assert_eq!(three(&health), [0xffff, 0xffff, 0]);
        health.power_on_minutes += 59;
        assert_eq!(three(&health), [0xffff, 0xffff, 59]);
        health.power_on_minutes += 1;
        health.read_commands += 300;
        health.write_commands += 100;
        // 0.016 % of 3,000 cycles: the data sheet's example, a raw value of 16, is 0.016 %.
        health.wear.cycles_average += 0.00015625 * 3000.0 + 1e-6;
        assert_eq!(three(&health), [16, 75, 60]);
    }

    #[test]
    fn host_writes_count_whole_units() {
        let mut health = sample::health();
        health.host_bytes_written = 5 * INTEL_UNIT - 1;
        for id in [0xe1, 0xf1] {
            assert_eq!(row(AttributeSet::Intel, id, &health).raw, 4);
        }
        health.host_bytes_written = 3 * GIB;
        assert_eq!(row(AttributeSet::SandForce, 241, &health).raw, 3);
        assert_eq!(row(AttributeSet::Generic, 241, &health).raw, 3 * GIB / 512);
    }

    #[test]
    fn the_drive_says_that_it_fails_when_the_reserve_or_the_capacitor_does() {
        let healthy = sample::health();
        assert!(!is_failing(AttributeSet::Intel, &healthy));
        let reserve = SmartHealth {
            reserve_left: 40,
            ..healthy.clone()
        };
        assert_eq!(reserve.reserve_percent(), 10);
        assert!(is_failing(AttributeSet::Intel, &reserve));
        let capacitor = SmartHealth {
            capacitor: Capacitor::Failed,
            ..healthy.clone()
        };
        assert!(is_failing(AttributeSet::Intel, &capacitor));
        assert!(
            !is_failing(AttributeSet::SandForce, &capacitor),
            "it has none"
        );
        let worn_out = SmartHealth {
            wear: super::super::SmartWear {
                cycles_average: 9e9,
                ..healthy.wear
            },
            ..healthy
        };
        assert!(
            !is_failing(AttributeSet::Intel, &worn_out),
            "E9 has no threshold"
        );
        assert!(is_failing(AttributeSet::SandForce, &worn_out), "E7 has");
        assert_eq!(worn_out.percentage_used(), 255);
    }

    #[test]
    fn a_set_fits_its_sector_in_order_without_doubles() {
        for set in [
            AttributeSet::Intel,
            AttributeSet::SandForce,
            AttributeSet::Generic,
        ] {
            let ids: Vec<u8> = attributes(set, &sample::health())
                .iter()
                .map(|row| row.id)
                .collect();
            assert!(ids.len() <= super::super::ata::ROWS);
            assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        }
    }
}
