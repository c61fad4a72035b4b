//! A modelled drive's counters as its SMART shows them.

use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::cycles::Cycles;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::smart::{
    AttributeSet, Capacitor, INTEL_DC, Identity, SANDFORCE, SmartHealth, SmartWear,
};
use ssdlab_ssd::{Drive, DriveConfig};

/// How a drive serves SMART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmartInterface {
    /// ATA, with a vendor's attributes.
    Ata(AttributeSet),
    /// The NVMe health page.
    Nvme,
}

/// Health page of a saved drive: by its interface, and by the attributes that its file gives
/// it. A saved drive that does not say has those of the catalogue's drive of its name; without
/// either it is ATA with the generic attributes.
pub fn page(about: &SavedDriveInfo) -> SmartInterface {
    let listed = catalogue::drive(&about.name).ok();
    let of_catalogue = || Some(listed.as_ref()?.file.interface.clone());
    let interface = about.interface.clone().or_else(of_catalogue);
    if interface.as_deref() == Some("nvme") {
        return SmartInterface::Nvme;
    }
    let of_catalogue = || Some(listed.as_ref()?.attribute_set());
    SmartInterface::Ata(about.attributes.or_else(of_catalogue).unwrap_or_default())
}

/// A series of the catalogue whose model numbers smartctl's drive database has: the number without
/// the capacity, and the family there.
struct DriveSeries {
    name: &'static str,
    number: (&'static str, &'static str),
    family: &'static str,
    /// smartctl warns of old firmware of this series: the last one then (remembered).
    firmware: Option<&'static str>,
    /// The test of the capacitor is shown (AFh).
    tests_capacitor: bool,
}

const fn series(
    name: &'static str,
    number: (&'static str, &'static str),
    family: &'static str,
) -> DriveSeries {
    DriveSeries {
        name,
        number,
        family,
        firmware: None,
        tests_capacitor: false,
    }
}

const SERIES: [DriveSeries; 7] = [
    DriveSeries {
        tests_capacitor: true,
        ..series("intel-dc-s3500-", ("INTEL SSDSC2BB", "G4"), INTEL_DC)
    },
    DriveSeries {
        tests_capacitor: true,
        ..series("intel-dc-s3700-", ("INTEL SSDSC2BA", "G3"), INTEL_DC)
    },
    series(
        "intel-320-",
        ("INTEL SSDSA2CW", "G3"),
        "Intel 320 Series SSDs",
    ),
    series(
        "intel-710-",
        ("INTEL SSDSA2BZ", "G3"),
        "Intel 710 Series SSDs",
    ),
    DriveSeries {
        firmware: Some("2CV102M3"),
        ..series(
            "intel-x25m-g2-",
            ("INTEL SSDSA2M", "G2GC"),
            "Intel X18-M/X25-M/X25-V G2 SSDs",
        )
    },
    series(
        "intel-x25e-",
        ("SSDSA2SH", "G1GC INTEL"),
        "Intel X25-E SSDs",
    ),
    // Sold as, among others, OCZ's Vertex 2, whose number has no capacity.
    series("sandforce-sf1200-", ("OCZ-VERTEX2", ""), SANDFORCE),
];

/// The series of a drive of the catalogue, and its model number.
fn numbered(name: &str) -> Option<(&'static DriveSeries, String)> {
    catalogue::drive(name).ok()?;
    SERIES.iter().find_map(|series| {
        let gb = name.strip_prefix(series.name)?.strip_suffix("gb")?;
        let gb: u32 = gb.parse().ok()?;
        let number = match series.number {
            (whole, "") => whole.to_owned(),
            // The smallest 320 has its own letters.
            ("INTEL SSDSA2CW", end) if gb == 40 => format!("INTEL SSDSA2CT{gb:03}{end}"),
            (begin, end) => format!("{begin}{gb:03}{end}"),
        };
        Some((series, number))
    })
}

/// Result of the test of the capacitor, as SMART outputs of real drives of the kind read: an S3610
/// of 20,720 hours shows 650 us and 213 tests, one in 97 hours. The period is taken from that, and
/// the time is that drive's; the model has no hold-up time of its own.
fn capacitor(about: &SavedDriveInfo, minutes: u64) -> Capacitor {
    const BETWEEN_MINUTES: u64 = 97 * 60;
    let tests = numbered(&about.name).is_some_and(|(series, _)| series.tests_capacitor);
    if !tests {
        return Capacitor::None;
    }
    let small = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
    Capacitor::Good {
        test_us: 650,
        since_minutes: small(minutes % BETWEEN_MINUTES),
        tests: small(1 + minutes / BETWEEN_MINUTES),
    }
}

/// Who it says it is: the drive's model number where smartctl knows it by that, else the
/// catalogue's title; and a serial number that says it is a model.
pub fn identity(about: &SavedDriveInfo, config: &DriveConfig) -> Identity {
    let known = numbered(&about.name);
    let ascii = |text: &str, most: usize| -> String {
        let printable = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
        printable.take(most).collect()
    };
    Identity {
        family: known.as_ref().map(|(series, _)| series.family.to_owned()),
        firmware: known
            .as_ref()
            .and_then(|(series, _)| series.firmware)
            .unwrap_or("MODEL")
            .into(),
        model: known.map_or_else(|| ascii(&about.title, 40), |(_, number)| number),
        serial: "SSDLAB-MODEL".into(),
        wwn: 0x5000_0000_0000_0000,
        user_bytes: config.user_bytes,
        logical_sector: 512,
        physical_sector: config.shape.slot_bytes.min(4096),
        write_cache: config.buffer.write_cache,
        trim: true,
        limits_c: config
            .heat
            .as_ref()
            .map(|heat| (heat.warning_c as u16, heat.overheated_c as u16)),
    }
}

/// Health by its counters. Temperature is the modelled one, else the one it was aged at, or 40 C;
/// the drive was powered
/// `about.powered_minutes` before, and as long as its own clock says since.
pub fn health(drive: &Drive, about: &SavedDriveInfo) -> SmartHealth {
    let (c, config) = (drive.counters(), drive.config());
    let slot = u64::from(config.geometry().slot_bytes);
    let celsius = about.celsius.unwrap_or(40);
    let mut health = SmartHealth {
        host_bytes_written: c.host_bytes_written,
        host_bytes_read: c.host_bytes_read,
        write_commands: c.host_writes,
        read_commands: c.host_reads,
        nand_bytes_written: c.slots_programmed() * slot,
        power_on_minutes: about.powered_minutes + drive.now().0 / 60_000_000_000,
        power_cycles: 1,
        temperature_c: celsius,
        temperature_min_c: celsius,
        temperature_max_c: celsius,
        ..SmartHealth::default()
    };
    health.enter_heat(drive);
    health.capacitor = capacitor(about, health.power_on_minutes);
    let Some(wear) = drive.reliability() else {
        return health;
    };
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let cycles = Cycles::of(wear);
    health.wear = SmartWear {
        cycles_average: cycles.average,
        cycles_max: cycles.max,
        cycles_min: cycles.min,
        cycles_rated: wear.config().cycles_rated,
    };
    let counters = wear.counters();
    let dies = config.geometry().die_count;
    health.blocks_retired = small(counters.blocks_retired);
    health.reserve_left = wear.reserve_left();
    health.reserve_total = wear.config().reserve_blocks * dies;
    health.program_failures = small(counters.program_failures);
    health.erase_failures = small(counters.erase_failures);
    health.uncorrectable_errors = counters.reads_uncorrectable;
    health.read_only = drive.ended() == Some(ssdlab_ssd::nand::EndOfLife::ReadOnly);
    health
}

/// Lets the timed workload (E2 to E4) of `now` count from when the drive was as `then`: as if the
/// host had reset it at that moment.
///
/// # Errors
/// When `then` is not an earlier state: its counters are beyond those of `now`.
pub fn time_from(now: &mut SmartHealth, then: &SmartHealth) -> Result<(), LabError> {
    let counted = |h: &SmartHealth| [h.host_bytes_written, h.power_on_minutes, h.write_commands];
    if counted(then).iter().zip(counted(now)).any(|(a, b)| *a > b) {
        return Err(LabError::refused(
            "the timed workload cannot begin later than the drive is old",
            "--timed-since takes an earlier state of the same drive, such as a checkpoint",
        ));
    }
    let mut earlier = then.clone();
    earlier.reset_timed_workload();
    now.timed = earlier.timed;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_drives::keep::saved::SavedDriveInfo;

    /// AFh is served by the drives whose data sheets have it, and counts a test each 97 hours.
    #[test]
    fn the_capacitors_test_is_shown_where_data_sheets_have_it() {
        let about = |name: &str| SavedDriveInfo {
            name: name.into(),
            ..SavedDriveInfo::default()
        };
        let good = |since_minutes, tests| Capacitor::Good {
            test_us: 650,
            since_minutes,
            tests,
        };
        let s3700 = about("intel-dc-s3700-200gb");
        assert_eq!(capacitor(&s3700, 0), good(0, 1));
        assert_eq!(capacitor(&s3700, 97 * 60 - 1), good(97 * 60 - 1, 1));
        assert_eq!(capacitor(&s3700, 97 * 60), good(0, 2));
        for name in [
            "intel-x25e-64gb",
            "intel-320-160gb",
            "patriot-wildfire-120gb",
        ] {
            assert_eq!(capacitor(&about(name), 600), Capacitor::None, "{name}");
        }
    }

    #[test]
    fn model_numbers_are_those_of_the_drives() {
        let number = |name| numbered(name).map(|(_, number)| number);
        for (name, expected) in [
            ("intel-dc-s3700-200gb", "INTEL SSDSC2BA200G3"),
            ("intel-320-40gb", "INTEL SSDSA2CT040G3"),
            ("intel-320-160gb", "INTEL SSDSA2CW160G3"),
            ("intel-710-100gb", "INTEL SSDSA2BZ100G3"),
            ("intel-x25m-g2-80gb", "INTEL SSDSA2M080G2GC"),
            ("intel-x25e-64gb", "SSDSA2SH064G1GC INTEL"),
            ("sandforce-sf1200-120gb", "OCZ-VERTEX2"),
        ] {
            assert_eq!(number(name).as_deref(), Some(expected));
        }
        assert_eq!(number("patriot-wildfire-120gb"), None);
        assert_eq!(number("intel-320-161gb"), None, "not in the catalogue");
    }
}
