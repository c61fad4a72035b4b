//! A drive's whole life: `ssdlab age`.
//!
//! ```text
//! fill once -> [ load for a week of virtual time -> lie that week, look for faded data -> idle ]
//!           -> ... until so much is written, so much life is left, or the drive is at its end
//! ```
//! Plays every page write on the counting gear. The week's writes come at the daily rate given;
//! hours count at the temperature given (Arrhenius). With `fast`, once two spans of a drive write
//! each agree in WAF, the cycles and counts of many more are added without playing them; every
//! leap is followed by another exact span, and how far that differs is the error that is stated.

pub mod checkpoint;
pub mod cycles;
pub mod endurance;
pub mod health;
pub mod left;
pub mod live;
pub mod result;
#[cfg(test)]
mod tests;

use crate::LabError;
use crate::catalogue::CatalogueDrive;
use crate::endurance::{Media, media, retention};
use crate::error::Place;
use crate::memory::refuse_if_too_big;
use crate::simulate::load::{Commands, Load, Pattern};
use crate::workload::quantity::parse_size;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::DriveConfig;

/// When a life ends, if the drive does not end first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Until {
    /// The host has written so many bytes in this life.
    Bytes(u64),
    /// So many per cent of the rated cycles are left on average.
    LifeLeft(u32),
    /// The drive is at its end.
    Dead,
}

impl Until {
    /// Reads `270TB`, `10%` or `dead`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Until, LabError> {
        let percent = text.strip_suffix('%').map(|n| n.trim().parse::<u32>());
        let found = match percent {
            Some(Ok(left)) if left < 100 => Some(Until::LifeLeft(left)),
            Some(_) => None,
            None if text == "dead" => Some(Until::Dead),
            None if text.trim().ends_with('B') => {
                let bytes = parse_size(text).ok().filter(|bytes| *bytes > 0);
                bytes.map(Until::Bytes)
            }
            None => None,
        };
        found.ok_or_else(|| LabError::BadValue {
            option: "--until".into(),
            given: text.into(),
            allowed: "bytes written by the host (270TB), life left (10%) or dead is allowed".into(),
            place: command_line(),
            hint: "sizes end in B and are above zero; per cent are 0 to 99".into(),
        })
    }
}

impl std::fmt::Display for Until {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Until::Bytes(bytes) => f.write_str(&crate::report::units::decimal_bytes(*bytes as f64)),
            Until::LifeLeft(percent) => write!(f, "{percent} % of rated cycles left"),
            Until::Dead => f.write_str("dead"),
        }
    }
}

pub(crate) fn command_line() -> Place {
    Place {
        source: "command line".into(),
        line: None,
    }
}

/// What a life's plan says of itself in files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manner {
    /// Name of the drive.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Parameters changed from the drive's file.
    pub settings: Vec<String>,
    /// Calibrated and assumed values.
    pub rests_on: Vec<String>,
    /// The load's pattern, as on the command line.
    pub pattern: String,
    /// Bytes of each command.
    pub block: u32,
    /// Of 100 commands, so many are reads.
    pub read_pct: u32,
    /// Of 100 commands, so many are trims.
    pub trim_pct: u32,
    /// Of the load's random numbers, and of how blocks differ.
    pub seed: u64,
    /// Bytes that the host writes a day.
    pub per_day: u64,
    /// Celsius.
    pub temperature_c: f64,
    /// Extrapolates between exact spans.
    pub fast: bool,
}

impl Manner {
    /// The load.
    ///
    /// # Errors
    /// When the pattern is unknown.
    pub fn load(&self) -> Result<Load, LabError> {
        Ok(Load {
            pattern: Pattern::parse(&self.pattern)?,
            block: self.block,
            read_pct: self.read_pct,
            trim_pct: self.trim_pct,
            seed: self.seed,
        })
    }
}

/// Everything that determines a life.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How it lives.
    pub manner: Manner,
    /// The drive, with wear.
    pub config: DriveConfig,
    /// What its media is taken to be.
    pub media: Media,
    /// When it ends.
    pub until: Until,
    /// `sata`, `nvme`, `pcie`: how the drive serves its SMART.
    pub interface: String,
}

/// Bytes that may be written a day: more than any link carries is no rate.
const PER_DAY: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000_000_000;

impl Plan {
    /// The life of `drive` in a manner whose `name`, `title` and `rests_on` are filled in here.
    ///
    /// # Errors
    /// When it cannot be lived: a load that never writes, a temperature no drive has, a drive that
    /// cannot wear.
    pub fn new(drive: &CatalogueDrive, manner: Manner, until: Until) -> Result<Plan, LabError> {
        let media = Media::of(drive)?;
        let mut config = drive.config.clone();
        let mut manner = Manner {
            name: drive.file.name.clone(),
            title: drive.file.title.clone(),
            rests_on: drive.rests_on(),
            ..manner
        };
        if config.ftl.mapping.kind.is_block_mapped() {
            return Err(LabError::refused(
                format!("{} is block-mapped: it has no wear model", manner.name),
                "choose a page-mapped drive, or --set ftl.mapping=flat",
            ));
        }
        config.wear = Some(media.tables(config.shape.blocks_per_plane, manner.seed)?);
        let low = &mut config.ftl.reclaim.free_superblocks_low;
        let least = 2 * config.ftl.reclaim.streams + 2;
        if *low < least {
            manner.settings.push(format!(
                "ftl.free_superblocks_low={least} (raised from {low}: superblocks that are given \
                 up need R >= 2 K + 2)"
            ));
            *low = least;
        }
        if config.pack() > 1 {
            // Incompressible data fills whole units: the same placement, eight times as fast.
            config.ftl.compression_pack = 1;
            manner
                .settings
                .push("ftl.compression_pack=1 (the load does not compress)".into());
        }
        manner.rests_on.extend(media.rests_on.iter().cloned());
        let plan = Plan {
            manner,
            config,
            media,
            until,
            interface: drive.file.interface.clone(),
        };
        plan.validate()?;
        Ok(plan)
    }

    /// The plan that a checkpoint was made with, with an end of its own. Everything else comes
    /// from the checkpoint, so the drive's file is not needed any more.
    ///
    /// # Errors
    /// When it cannot be lived.
    pub fn resumed(
        config: &DriveConfig,
        standing: &checkpoint::Standing,
        until: Until,
    ) -> Result<Plan, LabError> {
        let plan = Plan {
            manner: standing.manner.clone(),
            config: config.clone(),
            media: standing.media.clone(),
            until,
            interface: standing.interface.clone(),
        };
        plan.validate()?;
        Ok(plan)
    }

    /// Whether it can be lived.
    ///
    /// # Errors
    /// What is impossible.
    pub fn validate(&self) -> Result<(), LabError> {
        let manner = &self.manner;
        Commands::new(&manner.load()?, self.config.user_bytes)?;
        if manner.read_pct + manner.trim_pct >= 100 {
            return Err(LabError::refused(
                "a load that never writes never ages a drive",
                "leave some of 100 commands for writes: lower --read or --trim",
            ));
        }
        if !PER_DAY.contains(&manner.per_day) {
            return Err(LabError::BadValue {
                option: "--per-day".into(),
                given: ssdlab_ssd::Bytes(manner.per_day).to_string(),
                allowed: "1 MB to 10 PB a day is allowed".into(),
                place: command_line(),
                hint: "what the host writes a day, such as 150GB".into(),
            });
        }
        self.hours_factor()?;
        self.config
            .validate()
            .map_err(|error| LabError::refused(error.to_string(), "see `ssdlab drives show`"))?;
        refuse_if_too_big(&manner.name, self.config.memory_bytes(), 1)
    }

    /// Hours at the tables' reference temperature for one at the drive's.
    pub(crate) fn hours_factor(&self) -> Result<f64, LabError> {
        let here = self.manner.temperature_c;
        let ev = retention::CHARGE_LOSS_EV;
        retention::acceleration(ev, media::REFERENCE_C, here)
    }
}
