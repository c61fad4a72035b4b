//! SMART: what a drive says of its own health, byte for byte.
//!
//! [`SmartHealth`] holds the facts as firmware counts them. From it come the ATA SMART sectors for
//! three attribute sets ([`sets`]), the IDENTIFY DEVICE sector, the NVMe health page, and the same
//! in the JSON and text that `smartctl` 7.3 prints. [`replay`] writes the sectors in the form that
//! smartctl itself reads back (`smartctl -`), which is how the tests hold it against smartctl.
//!
//! Sources: ATA8-ACS / ACS-3 (SMART READ DATA, IDENTIFY DEVICE), NVM Express Base 1.4 (log page
//! 02h), Intel data sheets of the SSD 320, DC S3500 and S3610 for E1 to F3, smartmontools'
//! drivedb.h for names and raw formats.
//!
//! Left out: self-tests, error log entries, SCT, device statistics.

pub mod ata;
pub mod attribute;
mod format;
pub mod identify;
pub mod json;
pub mod nvme;
pub mod replay;
pub mod sets;
pub mod text;

pub use attribute::Attribute;
pub use sets::{AttributeSet, attributes};

use ssdlab_ssd::Drive;
use ssdlab_ssd::config::HeatConfig;
use ssdlab_ssd::drive::{HeatCounters, Throttle};

/// What a drive is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Model, at most 40 characters of ASCII.
    pub model: String,
    /// Serial number, at most 20.
    pub serial: String,
    /// Firmware revision, at most 8.
    pub firmware: String,
    /// World-wide name: 4 bits of format (5), 24 of the maker's number, 36 of the maker's own.
    pub wwn: u64,
    /// Bytes the host may address.
    pub user_bytes: u64,
    /// Bytes of a logical sector.
    pub logical_sector: u32,
    /// Bytes of a physical sector.
    pub physical_sector: u32,
    /// Whether the volatile write cache, which each of these drives has, is on.
    pub write_cache: bool,
    /// Whether it takes TRIM.
    pub trim: bool,
    /// See [`SmartHeat::limits_c`].
    pub limits_c: Option<(u16, u16)>,
    /// The family under which smartctl's drive database has this model; `None`: it has not.
    pub family: Option<String>,
}

/// Wear of the media.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SmartWear {
    /// Mean cycles of all blocks.
    pub cycles_average: f64,
    /// Cycles of the most worn block.
    pub cycles_max: u32,
    /// Cycles of the least worn block.
    pub cycles_min: u32,
    /// Cycles that the media is rated for.
    pub cycles_rated: u32,
}

impl SmartWear {
    /// Mean cycles over rated cycles; 0 when no rating is known.
    pub fn share(&self) -> f64 {
        if self.cycles_rated == 0 || !self.cycles_average.is_finite() {
            return 0.0;
        }
        (self.cycles_average / f64::from(self.cycles_rated)).max(0.0)
    }
}

/// The family of Intel's data-centre drives in smartctl's database.
pub const INTEL_DC: &str = "Intel 730 and DC S35x0/3610/3700 Series SSDs";
/// That of drives with SandForce's controllers.
pub const SANDFORCE: &str = "SandForce Driven SSDs";

/// The energy that saves a protected buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Capacitor {
    /// There is none.
    #[default]
    None,
    /// Its last self-test passed.
    Good {
        /// Hold-up time measured then, us.
        test_us: u16,
        /// Minutes since.
        since_minutes: u16,
        /// Tests in its life.
        tests: u16,
    },
    /// Its last self-test failed.
    Failed,
}

/// Counters when the workload timer was last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkloadTimerStart {
    /// Power-on minutes.
    pub minutes: u64,
    /// [`SmartWear::share`].
    pub wear_share: f64,
    /// Read commands of the host.
    pub read_commands: u64,
    /// Write commands of the host.
    pub write_commands: u64,
}

/// What NVMe counts of heat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmartHeat {
    /// Minutes at or above the warning temperature, below that of overheating.
    pub warning_minutes: u32,
    /// Minutes at or above the temperature of overheating.
    pub critical_minutes: u32,
    /// Times that light and heavy throttling began: thermal management temperatures 1 and 2.
    pub throttles: [u32; 2],
    /// Seconds in light and heavy throttling; the drive's own protection counts as heavy.
    pub throttled_seconds: [u32; 2],
    /// Temperatures of warning and overheating, Celsius; `None`: the usual ones.
    pub limits_c: Option<(u16, u16)>,
}

impl SmartHeat {
    /// What a drive whose temperature is modelled counts.
    pub fn of(config: &HeatConfig, counters: &HeatCounters) -> SmartHeat {
        const SECOND: u64 = 1_000_000_000;
        let whole = |ns: u64, unit: u64| u32::try_from(ns / unit).unwrap_or(u32::MAX);
        let times = |step: Throttle| counters.time_ns[step as usize];
        let heavy = times(Throttle::Heavy) + times(Throttle::Critical);
        let entered = |step: Throttle| {
            let count = counters.entered[step as usize];
            u32::try_from(count).unwrap_or(u32::MAX)
        };
        let celsius = |c: u32| u16::try_from(c).unwrap_or(u16::MAX);
        SmartHeat {
            warning_minutes: whole(counters.warning_ns, 60 * SECOND),
            critical_minutes: whole(counters.overheated_ns, 60 * SECOND),
            throttles: [entered(Throttle::Light), entered(Throttle::Heavy)],
            throttled_seconds: [whole(times(Throttle::Light), SECOND), whole(heavy, SECOND)],
            limits_c: Some((celsius(config.warning_c), celsius(config.overheated_c))),
        }
    }
}

impl SmartHealth {
    /// Enters temperature and throttling of a drive whose temperature is modelled; of others
    /// nothing changes.
    pub fn enter_heat(&mut self, drive: &Drive) {
        let (Some(config), Some(heat)) = (&drive.config().heat, drive.heat()) else {
            return;
        };
        let celsius = |millicelsius: u64| u8::try_from(millicelsius / 1000).unwrap_or(u8::MAX);
        self.temperature_c = celsius(heat.millicelsius);
        self.temperature_min_c = celsius(heat.ambient_millicelsius);
        self.temperature_max_c = celsius(heat.millicelsius_max);
        self.heat = SmartHeat::of(config, &heat.counters);
        self.thermal_throttles = self.heat.throttles[0];
    }
}

/// A drive's health as its firmware counts it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SmartHealth {
    /// Bytes the host wrote.
    pub host_bytes_written: u64,
    /// Bytes the host read.
    pub host_bytes_read: u64,
    /// Write commands of the host.
    pub write_commands: u64,
    /// Read commands of the host.
    pub read_commands: u64,
    /// Bytes programmed into NAND, whatever for.
    pub nand_bytes_written: u64,
    /// Minutes with commands outstanding.
    pub busy_minutes: u64,
    /// Minutes powered.
    pub power_on_minutes: u64,
    /// Times it was powered up.
    pub power_cycles: u64,
    /// Of these, after power was lost without notice.
    pub unsafe_shutdowns: u64,
    /// Celsius now.
    pub temperature_c: u8,
    /// Lowest so far.
    pub temperature_min_c: u8,
    /// Highest so far.
    pub temperature_max_c: u8,
    /// Wear of the media.
    pub wear: SmartWear,
    /// Blocks retired since it left the factory.
    pub blocks_retired: u32,
    /// Reserve blocks left.
    pub reserve_left: u32,
    /// Reserve blocks it left the factory with.
    pub reserve_total: u32,
    /// Programs that failed.
    pub program_failures: u32,
    /// Erases that failed.
    pub erase_failures: u32,
    /// Reads that error correction could not save.
    pub uncorrectable_errors: u64,
    /// Errors of the path between host and media.
    pub end_to_end_errors: u32,
    /// Errors of the link.
    pub crc_errors: u32,
    /// Times it slowed down because of heat.
    pub thermal_throttles: u32,
    /// What NVMe counts of heat.
    pub heat: SmartHeat,
    /// What saves the buffer.
    pub capacitor: Capacitor,
    /// It takes no writes any more.
    pub read_only: bool,
    /// Since when the timed workload counts.
    pub timed: WorkloadTimerStart,
}

/// Minutes that a timed workload must run before its percentages are shown.
pub const TIMED_MINUTES_MIN: u64 = 60;
/// What E2 and E3 show before that.
pub const TIMED_PENDING: u64 = 0xffff;

impl SmartHealth {
    /// Resets the workload timer (SMART EXECUTE OFFLINE IMMEDIATE, D4h, subcommand 40h).
    pub fn reset_timed_workload(&mut self) {
        self.timed = WorkloadTimerStart {
            minutes: self.power_on_minutes,
            wear_share: self.wear.share(),
            read_commands: self.read_commands,
            write_commands: self.write_commands,
        };
    }

    /// E4: minutes since the reset.
    pub fn timed_minutes(&self) -> u64 {
        self.power_on_minutes.saturating_sub(self.timed.minutes)
    }

    /// E2: per cent of rated cycles used since the reset, times 1,024; FFFFh in the first hour.
    pub fn timed_media_wear(&self) -> u64 {
        if self.timed_minutes() < TIMED_MINUTES_MIN {
            return TIMED_PENDING;
        }
        let share = (self.wear.share() - self.timed.wear_share).max(0.0);
        (share * 100.0 * 1024.0) as u64
    }

    /// E3: per cent of the commands since the reset that read; FFFFh in the first hour.
    pub fn timed_reads_percent(&self) -> u64 {
        let reads = self.read_commands.saturating_sub(self.timed.read_commands);
        let writes = self
            .write_commands
            .saturating_sub(self.timed.write_commands);
        let commands = reads + writes;
        if self.timed_minutes() < TIMED_MINUTES_MIN {
            return TIMED_PENDING;
        }
        (100 * reads).checked_div(commands).unwrap_or(0)
    }

    /// Per cent of the reserve blocks left, rounded down; 100 when there never were any.
    pub fn reserve_percent(&self) -> u8 {
        let share = (100 * u64::from(self.reserve_left)).checked_div(self.reserve_total.into());
        share.map_or(100, |percent| percent.min(100) as u8)
    }

    /// Intel's E9: 100 when new, 1 when the rated cycles are used, and 1 from there on.
    pub fn media_wearout(&self) -> u8 {
        let fall = (99.0 * self.wear.share()).floor().min(99.0);
        100 - fall as u8
    }

    /// Per cent of the rated life used, as NVMe has it: may pass 100, stays at 255.
    pub fn percentage_used(&self) -> u8 {
        (100.0 * self.wear.share()).floor().min(255.0) as u8
    }
}

/// A drive to show: an Intel 320-like history, for tests and examples.
#[doc(hidden)]
pub mod sample;
