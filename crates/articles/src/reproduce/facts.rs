//! Figures that follow from published numbers, or that the catalogue carries. Nothing is run.

use super::experiment::Outcome;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_judge::inspect::models::known;

const DAYS_OF_A_YEAR: f64 = 365.0;

/// A model's name of each family that article zil calls unprotected, with a capacity in bytes.
const UNPROTECTED: [&str; 7] = [
    "INTEL SSDSA2VP020G2",
    "INTEL SSDSC2MH250A2",
    "INTEL SSDSC2CW120A3",
    "INTEL SSDMAEMC040G2",
    "INTEL SSDSA2SH032G1GN",
    "INTEL SSDSA2M160G2GC",
    "INTEL SSDSA2M040G2GC",
];
/// The same of those that it calls protected; the X1 is in the catalogue.
const PROTECTED: [&str; 2] = ["INTEL SSDSA2CW300G3", "INTEL SSDSA2BZ200G3"];

/// Rated writes per day of the warranty, in bytes.
pub fn rated_per_day(drive: &CatalogueDrive) -> Option<f64> {
    let years = f64::from(drive.file.documented.warranty_years.as_ref()?.value);
    let rated = drive.rated_bytes_written()? as f64;
    (years > 0.0).then(|| rated / (years * DAYS_OF_A_YEAR))
}

fn rated(drive: &CatalogueDrive) -> f64 {
    drive
        .rated_bytes_written()
        .map_or(f64::NAN, |bytes| bytes as f64)
}

/// All facts.
///
/// # Errors
/// When a drive is not in the catalogue.
pub fn facts() -> Result<Outcome, LabError> {
    let mut outcome = Outcome::default();
    let consumer = catalogue::drive("consumer-sata-1tb")?;
    let per_day = rated_per_day(&consumer).unwrap_or(f64::NAN);
    outcome.value("s2d_gb_day", per_day / 1e9);
    outcome.value("s2d_dwpd", consumer.dwpd().unwrap_or(f64::NAN));

    let [old, new] = ["intel-320-300gb", "intel-710-300gb"].map(catalogue::drive);
    let (old, new) = (old?, new?);
    // The 320's rating is for five years, whatever the warranty.
    let old_day = rated(&old) / (5.0 * DAYS_OF_A_YEAR);
    outcome.value("endurance_320_gb_day", old_day / 1e9);
    outcome.value("endurance_710_over_320", rated(&new) / rated(&old));
    let cycles = &old.file.documented.program_erase_cycles;
    outcome.value(
        "cycles_320",
        cycles.as_ref().map_or(f64::NAN, |c| f64::from(c.value)),
    );
    let pages = old.config.shape.pages_per_block;
    outcome.value("pages_per_block_320", f64::from(pages));

    outcome.value("x1_backup_years", 100_000.0 / DAYS_OF_A_YEAR);
    outcome.value("worn_gb_day", 270e3 / (5.0 * DAYS_OF_A_YEAR));

    let slc = catalogue::drive("intel-x25e-32gb")?;
    let timing = &slc.config.nand.timing;
    outcome.value("slc_program_us", timing.program[0].0 as f64 / 1e3);
    outcome.value("slc_erase_ms", timing.erase.0 as f64 / 1e6);
    let pages = slc.config.shape.pages_per_block;
    outcome.value("pages_per_block_slc", f64::from(pages));

    let count = |models: &[&str], holds: bool| {
        let says = |model: &&&str| known(model, None).and_then(|known| known.plp) == Some(holds);
        models.iter().filter(says).count() as f64
    };
    let x1 = catalogue::drive("ddrdrive-x1")?;
    let x1_holds = f64::from(u8::from(x1.file.documented.power_loss_protection.value));
    outcome.value("plp_no", count(&UNPROTECTED, false));
    outcome.value("plp_yes", count(&PROTECTED, true) + x1_holds);
    Ok(outcome)
}
