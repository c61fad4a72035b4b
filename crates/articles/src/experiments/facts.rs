//! Figures that follow from published numbers, or that the catalogue carries. Nothing is run.

use crate::keys::keys;
use crate::outcome::{Experiment, ExperimentInfo, ExperimentOutcome};
use crate::plot;
use crate::story::ArticleSection;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::known::known;

keys! {
    pub(crate) enum Fact {
        S2dGbDay = "s2d_gb_day",
        S2dDwpd = "s2d_dwpd",
        Endurance320GbDay = "endurance_320_gb_day",
        Endurance710Over320 = "endurance_710_over_320",
        Cycles320 = "cycles_320",
        PagesPerBlock320 = "pages_per_block_320",
        X1BackupYears = "x1_backup_years",
        WornGbDay = "worn_gb_day",
        SlcProgramUs = "slc_program_us",
        SlcEraseMs = "slc_erase_ms",
        PagesPerBlockSlc = "pages_per_block_slc",
        WearRated = "wear_rated_over_consumer",
        Hk4e = "hk4e",
        LifeLeft3000 = "life_left_3000_pct",
        PlpNo = "plp_no",
        PlpYes = "plp_yes",
    }
}

pub(crate) static FACTS: Experiment<Fact> = Experiment {
    about: ExperimentInfo {
        name: "facts",
        what: "arithmetic on published numbers and on the catalogue's; nothing is run",
        weight: 0,
    },
    run: |_| facts(),
};

pub(crate) static PROMISE: ArticleSection = ArticleSection {
    anchor: "plp",
    title: "Flash, and the promise of a log device",
    text: &["What the slides say of cells, and which families survive a power cut."],
    ids: &["zil.physics", "zil.plp", "zil.contract", "zil.nocacheflush"],
    plots: plot::none,
};

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
/// A model number of the family that article s2d names.
const HK4E: &str = "TOSHIBA THNSN81Q60CSE";
/// The same of those that it calls protected; the X1 is in the catalogue.
const PROTECTED: [&str; 2] = ["INTEL SSDSA2CW300G3", "INTEL SSDSA2BZ200G3"];

/// Rated writes per day of the warranty, in bytes.
pub(crate) fn rated_per_day(drive: &CatalogueDrive) -> Option<f64> {
    let years = f64::from(drive.file.documented.warranty_years.as_ref()?.value);
    let rated = drive.rated_bytes_written()? as f64;
    (years > 0.0).then(|| rated / (years * DAYS_OF_A_YEAR))
}

fn rated(drive: &CatalogueDrive) -> f64 {
    drive
        .rated_bytes_written()
        .map_or(f64::NAN, |bytes| bytes as f64)
}

fn facts() -> Result<ExperimentOutcome<Fact>, LabError> {
    let mut outcome = ExperimentOutcome::new();
    let consumer = catalogue::drive("consumer-sata-1tb")?;
    let per_day = rated_per_day(&consumer);
    outcome.value(Fact::S2dGbDay, per_day.map(|bytes| bytes / 1e9));
    outcome.value(Fact::S2dDwpd, consumer.dwpd());

    let [old, new] = ["intel-320-300gb", "intel-710-300gb"].map(catalogue::drive);
    let (old, new) = (old?, new?);
    // The 320's rating is for five years, whatever the warranty.
    let old_day = rated(&old) / (5.0 * DAYS_OF_A_YEAR);
    outcome.value(Fact::Endurance320GbDay, old_day / 1e9);
    outcome.value(Fact::Endurance710Over320, rated(&new) / rated(&old));
    let cycles = &old.file.documented.program_erase_cycles;
    outcome.value(
        Fact::Cycles320,
        cycles.as_ref().map(|cycles| f64::from(cycles.value)),
    );
    let pages = old.config.shape.pages_per_block;
    outcome.value(Fact::PagesPerBlock320, f64::from(pages));

    outcome.value(Fact::X1BackupYears, 100_000.0 / DAYS_OF_A_YEAR);
    outcome.value(Fact::WornGbDay, 270e3 / (5.0 * DAYS_OF_A_YEAR));

    let slc = catalogue::drive("intel-x25e-32gb")?;
    let timing = &slc.config.nand.timing;
    outcome.value(Fact::SlcProgramUs, timing.program[0].0 as f64 / 1e3);
    outcome.value(Fact::SlcEraseMs, timing.erase.0 as f64 / 1e6);
    let pages = slc.config.shape.pages_per_block;
    outcome.value(Fact::PagesPerBlockSlc, f64::from(pages));

    // Drive writes per day: an enterprise drive's rating over the consumer drive's.
    let enterprise = catalogue::drive("intel-dc-s3700-200gb")?;
    let over = enterprise.dwpd().zip(consumer.dwpd());
    outcome.value(Fact::WearRated, over.map(|(one, other)| one / other));
    let hk4e = known(HK4E, None).and_then(|known| known.plp) == Some(true);
    outcome.value(Fact::Hk4e, f64::from(u8::from(hk4e)));
    // The cycles that were used up, on flash that is rated for fewer.
    outcome.value(Fact::LifeLeft3000, 100.0 - 79.0 * 5_000.0 / 3_000.0);

    let count = |models: &[&str], holds: bool| {
        let says = |model: &&&str| known(model, None).and_then(|known| known.plp) == Some(holds);
        models.iter().filter(says).count() as f64
    };
    let x1 = catalogue::drive("ddrdrive-x1")?;
    let x1_holds = f64::from(u8::from(x1.file.documented.power_loss_protection.value));
    outcome.value(Fact::PlpNo, count(&UNPROTECTED, false));
    outcome.value(Fact::PlpYes, count(&PROTECTED, true) + x1_holds);
    Ok(outcome)
}
