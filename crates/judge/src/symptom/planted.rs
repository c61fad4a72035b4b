//! Symptoms of drives with a planted fault, judged beside the same drive without it.
//!
//! Which symptoms a fault causes is measured, and not taken from the diagnosis: a load of the
//! symptom takes twice as long as on the sound drive, and the faulty drive has the symptom.

use super::{SheetFigures, Symptom, SymptomAnswer, fresh, of_model};
use crate::ablate::planted::{FAULTS, planted};
use crate::ablate::{AblationLoad, FAULT, measure};
use crate::cause::Cause;
use ssdlab_base::LabError;
use ssdlab_ssd::Drive;

/// Times as long that a load of a symptom takes with a fault that causes it.
const SLOWED: f64 = 2.0;
/// Times as long as the mean that a slow command takes.
const STANDS_OUT: f64 = 3.0;

/// A drive with a fault beside the same one without.
pub struct PlantedDrive {
    sound: Drive,
    sound_new: Drive,
    faulty: Drive,
    faulty_new: Drive,
    fault: usize,
    seed: u64,
}

/// What the diagnosis said of a symptom.
pub struct PlantedSymptom {
    /// The symptom.
    pub symptom: Symptom,
    /// What was answered.
    pub answer: SymptomAnswer,
    /// Whether the planted cause was named first.
    pub right: bool,
}

impl PlantedDrive {
    /// The drive of a seed with a fault of [`FAULTS`]; `None` where it does not show.
    ///
    /// # Errors
    /// When the drive drawn is impossible.
    pub fn draw(seed: u64, fault: usize) -> Result<Option<PlantedDrive>, LabError> {
        let (Some(sound), Some(faulty)) = (planted(seed, &[])?, planted(seed, &[fault])?) else {
            return Ok(None);
        };
        Ok(Some(PlantedDrive {
            sound_new: fresh(sound.config())?,
            faulty_new: fresh(faulty.config())?,
            sound,
            faulty,
            fault,
            seed,
        }))
    }

    /// The cause that was planted.
    pub fn cause(&self) -> Cause {
        FAULTS[self.fault].1
    }

    fn ns(&self, drive: &Drive, load: AblationLoad) -> f64 {
        measure(drive, load, &[], self.seed).ns
    }

    /// Whether the fault causes a symptom.
    pub fn causes(&self, symptom: Symptom) -> bool {
        let slows = |load: &AblationLoad| {
            let now = self.ns(&self.faulty, *load);
            if now < SLOWED * self.ns(&self.sound, *load) {
                return false;
            }
            match symptom {
                Symptom::SlowsDown => now >= FAULT * self.ns(&self.faulty_new, *load),
                Symptom::Spikes => load.typical().is_none_or(|typical| {
                    let mean = self.ns(&self.faulty, typical) * f64::from(typical.depth());
                    now >= STANDS_OUT * mean
                }),
                // A new drive of the same make, without the fault, is what it was.
                Symptom::SlowerThanBefore => {
                    self.cause().can_develop() && now >= FAULT * self.ns(&self.sound_new, *load)
                }
                _ => true,
            }
        };
        symptom.loads().iter().any(slows)
    }

    /// The sheet: the rates of the sound drive.
    fn sheet(&self) -> SheetFigures {
        let loads = Symptom::SlowerThanSheet.loads().iter();
        SheetFigures {
            loads: loads
                .map(|load| (*load, self.ns(&self.sound, *load)))
                .collect(),
            condition: "the rates of the drive without the fault".into(),
        }
    }

    /// Asks about a symptom.
    ///
    /// # Errors
    /// As [`of_model`].
    pub fn ask(&self, symptom: Symptom) -> Result<PlantedSymptom, LabError> {
        let sheet = if symptom == Symptom::SlowerThanSheet {
            self.sheet()
        } else {
            SheetFigures::default()
        };
        let answer = of_model(&self.faulty, &sheet, symptom, 1)?;
        let first = answer.causes.first().map(|cause| cause.cause);
        Ok(PlantedSymptom {
            symptom,
            right: first == Some(self.cause()),
            answer,
        })
    }
}
