//! A modelled drive's counters as its SMART shows them.

use super::cycles::Cycles;
use crate::LabError;
use crate::catalogue;
use crate::saved::About;
use crate::smart::{AttributeSet, Health, Identity, Wear};
use ssdlab_ssd::{Drive, DriveConfig};

/// How a drive serves SMART.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// ATA, with a vendor's attributes.
    Ata(AttributeSet),
    /// The NVMe health page.
    Nvme,
}

/// What a saved drive serves: by its interface, and by the maker that its name begins with. Where
/// it does not say its interface, its file in the catalogue does; without either it is ATA.
pub fn page(about: &About) -> Page {
    let of_catalogue = || Some(catalogue::drive(&about.name).ok()?.file.interface);
    let interface = about.interface.clone().or_else(of_catalogue);
    match interface.as_deref() {
        Some("nvme") => Page::Nvme,
        _ if about.name.starts_with("intel-") => Page::Ata(AttributeSet::Intel),
        _ if about.name.starts_with("sandforce-") || about.name.starts_with("patriot-") => {
            Page::Ata(AttributeSet::SandForce)
        }
        _ => Page::Ata(AttributeSet::Generic),
    }
}

/// The family in smartctl's database whose names for the attributes are those that we serve.
const INTEL_DC: &str = "Intel 730 and DC S35x0/3610/3700 Series SSDs";

/// The model number of a drive of the catalogue, where smartctl then knows its attributes.
fn model_number(name: &str) -> Option<String> {
    let numbers = [
        ("intel-dc-s3500-", "INTEL SSDSC2BB", "G4"),
        ("intel-dc-s3700-", "INTEL SSDSC2BA", "G3"),
    ];
    catalogue::drive(name).ok()?;
    numbers.iter().find_map(|(series, begin, end)| {
        let gb: u32 = name
            .strip_prefix(series)?
            .strip_suffix("gb")?
            .parse()
            .ok()?;
        Some(format!("{begin}{gb:03}{end}"))
    })
}

/// Who it says it is: the drive's model number where smartctl knows it by that, else the
/// catalogue's title; and a serial number that says it is a model.
pub fn identity(about: &About, config: &DriveConfig) -> Identity {
    let number = model_number(&about.name);
    let ascii = |text: &str, most: usize| -> String {
        let printable = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ');
        printable.take(most).collect()
    };
    Identity {
        family: number.is_some().then(|| INTEL_DC.to_owned()),
        model: number.unwrap_or_else(|| ascii(&about.title, 40)),
        serial: "SSDLAB-MODEL".into(),
        firmware: "MODEL".into(),
        wwn: 0x5000_0000_0000_0000,
        user_bytes: config.user_bytes,
        logical_sector: 512,
        physical_sector: config.shape.slot_bytes.min(4096),
        write_cache: true,
        trim: true,
    }
}

/// What its counters come to. Temperature is the one it was aged at, or 40 C; the drive was powered
/// `about.powered_minutes` before, and as long as its own clock says since.
pub fn health(drive: &Drive, about: &About) -> Health {
    let (c, config) = (drive.counters(), drive.config());
    let slot = u64::from(config.geometry().slot_bytes);
    let celsius = about.celsius.unwrap_or(40);
    let mut health = Health {
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
        ..Health::default()
    };
    let Some(wear) = drive.reliability() else {
        return health;
    };
    let small = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
    let cycles = Cycles::of(wear);
    health.wear = Wear {
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
pub fn time_from(now: &mut Health, then: &Health) -> Result<(), LabError> {
    let counted = |h: &Health| [h.host_bytes_written, h.power_on_minutes, h.write_commands];
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
