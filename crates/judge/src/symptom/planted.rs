//! Symptoms of drives with a planted fault, judged beside the same drive without it.
//!
//! Which symptoms a fault causes is measured, and not taken from the diagnosis. A load of the
//! symptom takes twice as long as on the sound drive, and the faulty drive has the symptom. Where
//! the symptom is not held against the drive's own past or sheet, the load also takes 1.5 times as
//! long as on the slowest of some sound drives of the same interface and cells: a drive that is as
//! fast as its kind is not slow.

use super::{SheetFigures, Symptom, SymptomAnswer, fresh, of_investigation, of_model, rested};
use crate::ablate::planted::{FAULTS, healthy, planted};
use crate::ablate::{AblationLoad, FAULT, measure, steady};
use crate::cause::Cause;
use crate::experiment::{ExperimentBench, Investigation, SmartSnapshot, investigate};
use ssdlab_base::LabError;
use ssdlab_bench::device::{ModelledTarget, TargetFacts, TargetKind};
use ssdlab_ssd::{Drive, DriveConfig};
use std::sync::atomic::AtomicBool;

/// Times as long that a load of a symptom takes with a fault that causes it.
const SLOWED: f64 = 2.0;
/// Times as long as the mean that a slow command takes.
const STANDS_OUT: f64 = 3.0;

/// Sound drives of the same kind.
const PEERS: usize = 4;
/// Peers are drawn from this far beyond the seed of the drive.
const PEERS_FROM: u64 = 1_000_000;

/// A drive with a fault beside the same one without.
pub struct PlantedDrive {
    sound: Drive,
    sound_new: Drive,
    faulty: Drive,
    faulty_new: Drive,
    peers: Vec<Drive>,
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

/// A faulty drive of which only its times are known.
pub struct HiddenDrive {
    facts: TargetFacts,
    investigation: Investigation,
    cause: Cause,
}

impl HiddenDrive {
    /// Asks about a symptom.
    pub fn ask(&self, symptom: Symptom) -> PlantedSymptom {
        let answer = of_investigation(&self.facts, &self.investigation, symptom);
        let first = answer.causes.first().map(|cause| cause.cause);
        PlantedSymptom {
            symptom,
            right: first == Some(self.cause),
            answer,
        }
    }
}

impl PlantedDrive {
    /// The drive of a seed with a fault of [`FAULTS`]; `None` where it does not show.
    ///
    /// # Errors
    /// When the drive drawn is impossible.
    pub fn draw(seed: u64, fault: usize) -> Result<Option<PlantedDrive>, LabError> {
        let Some(faulty) = planted(seed, &[fault])? else {
            return Ok(None);
        };
        let mut config = healthy(seed);
        if FAULTS[fault].1 == Cause::WriteCacheOff {
            // The fault is the setting: a protected buffer would be another drive.
            config = faulty.config().clone();
            config.buffer.write_cache = true;
        }
        let sound = steady(&config, seed)?;
        let is_peer = |peer: &DriveConfig| {
            peer.host.full_duplex == config.host.full_duplex
                && peer.shape.bits_per_cell == config.shape.bits_per_cell
        };
        let peers = (seed + PEERS_FROM..).map(healthy).filter(is_peer);
        let peers = peers.take(PEERS).map(|mut peer| {
            peer.buffer.protected = config.buffer.protected;
            steady(&peer, seed)
        });
        Ok(Some(PlantedDrive {
            peers: peers.collect::<Result<_, _>>()?,
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

    /// Whether a load is slow for the drive's kind.
    fn is_slow_for_its_kind(&self, load: AblationLoad, now: f64) -> bool {
        let slower = |peer: &Drive| now >= FAULT * self.ns(peer, load);
        self.peers.iter().all(slower)
    }

    /// Whether the fault causes a symptom.
    pub fn causes(&self, symptom: Symptom) -> bool {
        if symptom.is_at_rest() {
            return self.at_rest().slows_loads_of(symptom);
        }
        self.slows_loads_of(symptom)
    }

    /// The same drives after a rest.
    fn at_rest(&self) -> PlantedDrive {
        PlantedDrive {
            sound: rested(self.sound.clone()),
            sound_new: self.sound_new.clone(),
            faulty: rested(self.faulty.clone()),
            faulty_new: self.faulty_new.clone(),
            peers: self.peers.iter().cloned().map(rested).collect(),
            ..*self
        }
    }

    fn slows_loads_of(&self, symptom: Symptom) -> bool {
        let slows = |load: &AblationLoad| {
            let now = self.ns(&self.faulty, *load);
            if now < SLOWED * self.ns(&self.sound, *load) {
                return false;
            }
            let has_own_reference = matches!(
                symptom,
                Symptom::SlowerThanSheet | Symptom::SlowerThanBefore
            );
            if !has_own_reference && !self.is_slow_for_its_kind(*load, now) {
                return false;
            }
            match symptom {
                // More than the sound drive slows down.
                Symptom::SlowsDown => {
                    let slowed = now / self.ns(&self.faulty_new, *load);
                    let sound = self.ns(&self.sound, *load) / self.ns(&self.sound_new, *load);
                    slowed >= FAULT * sound.max(1.0)
                }
                Symptom::Spikes => load.typical().is_none_or(|typical| {
                    let mean = self.ns(&self.faulty, typical) * f64::from(typical.depth());
                    now >= STANDS_OUT * mean
                }),
                // A new drive of the same make, without the fault, is what it was.
                Symptom::SlowerThanBefore => {
                    let new_ns = self.ns(&self.sound_new, *load);
                    self.cause().can_develop() && now >= FAULT * new_ns
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

    /// Investigates the faulty drive through its interface alone, as a real one.
    ///
    /// # Errors
    /// When an experiment fails.
    pub fn investigated(&self) -> Result<HiddenDrive, LabError> {
        let config = self.faulty.config();
        let bytes = config.user_bytes;
        let interface = if config.host.full_duplex {
            "nvme"
        } else {
            "sata"
        };
        let facts = TargetFacts {
            capacity: bytes,
            interface: Some(interface.into()),
            ..TargetFacts::unknown("hidden".into(), TargetKind::BlockDevice)
        };
        let stop = AtomicBool::new(false);
        let mut bench = ExperimentBench {
            target: &mut ModelledTarget::around(self.faulty.clone(), facts.clone()),
            bytes,
            seed: 1,
            stop: &stop,
            busy: true,
        };
        let investigation = investigate(&mut bench, u64::MAX, &mut |_, _| {}, &mut |_| {
            SmartSnapshot::default()
        })?;
        Ok(HiddenDrive {
            facts,
            investigation,
            cause: self.cause(),
        })
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
