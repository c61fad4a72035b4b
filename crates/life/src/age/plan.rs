//! Plan of a drive's whole life: manner of writing, media and end.

use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_base::memory::refuse_if_too_big;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::media::{Media, law, retention};
use ssdlab_drives::smart::AttributeSet;
use ssdlab_load::synthetic::{SyntheticCommands, SyntheticLoad, SyntheticPattern};
use ssdlab_ssd::DriveConfig;

/// When a life ends, if the drive does not end first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LifeEnd {
    /// Bytes written by the host in this life.
    Bytes(u64),
    /// Percentage of the rated cycles left on average.
    LifeLeft(u32),
    /// The drive is at its end.
    Dead,
}

impl LifeEnd {
    /// Reads `270TB`, `10%` or `dead`.
    ///
    /// # Errors
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<LifeEnd, LabError> {
        let percent = text.strip_suffix('%').map(|n| n.trim().parse::<u32>());
        let end = match percent {
            Some(Ok(percent_left)) if percent_left < 100 => Some(LifeEnd::LifeLeft(percent_left)),
            Some(_) => None,
            None if text == "dead" => Some(LifeEnd::Dead),
            None if text.trim().ends_with('B') => {
                let bytes = parse_size(text).ok().filter(|bytes| *bytes > 0);
                bytes.map(LifeEnd::Bytes)
            }
            None => None,
        };
        end.ok_or_else(|| {
            LabError::bad_option(
                "--until",
                text,
                "bytes written by the host (270TB), life left (10%) or dead is allowed",
                "sizes end in B and are above zero; per cent are 0 to 99",
            )
        })
    }
}

impl std::fmt::Display for LifeEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LifeEnd::Bytes(bytes) => f.write_str(&ssdlab_view::units::decimal_bytes(*bytes as f64)),
            LifeEnd::LifeLeft(percent) => write!(f, "{percent} % of rated cycles left"),
            LifeEnd::Dead => f.write_str("dead"),
        }
    }
}

/// The load of a life in this manner.
///
/// # Errors
/// When the pattern is unknown.
pub fn load_of(manner: &LifeConditions) -> Result<SyntheticLoad, LabError> {
    Ok(SyntheticLoad {
        pattern: SyntheticPattern::parse(&manner.pattern)?,
        block: manner.block,
        read_pct: manner.read_pct,
        trim_pct: manner.trim_pct,
        seed: manner.seed,
    })
}

/// Everything that determines a life.
#[derive(Clone, Debug)]
pub struct AgeingPlan {
    /// How it lives.
    pub manner: LifeConditions,
    /// The drive, with wear.
    pub config: DriveConfig,
    /// Model of its media.
    pub media: Media,
    /// When it ends.
    pub until: LifeEnd,
    /// `sata`, `nvme`, `pcie`: how the drive serves its SMART.
    pub interface: String,
    /// The attributes that its SMART has.
    pub attributes: Option<AttributeSet>,
}

/// Bytes that may be written a day: more than any link carries is no rate.
const PER_DAY: std::ops::RangeInclusive<u64> = 1_000_000..=10_000_000_000_000_000;

impl AgeingPlan {
    /// The life of `drive` in a manner whose `name`, `title` and `rests_on` are filled in here.
    ///
    /// # Errors
    /// When the life is impossible: a load that never writes, a temperature no drive has, a drive
    /// that cannot wear.
    pub fn new(
        drive: &CatalogueDrive,
        manner: LifeConditions,
        until: LifeEnd,
    ) -> Result<AgeingPlan, LabError> {
        let media = drive.media()?;
        let mut config = drive.config.clone();
        let mut manner = LifeConditions {
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
        let least = config.free_superblocks_min(true);
        let low = &mut config.ftl.reclaim.free_superblocks_low;
        if *low < least {
            manner.settings.push(format!(
                "ftl.free_superblocks_low={least} (raised from {low}: superblocks are given \
                 up)"
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
        let plan = AgeingPlan {
            manner,
            config,
            media,
            until,
            interface: drive.file.interface.clone(),
            attributes: Some(drive.attribute_set()),
        };
        plan.validate()?;
        Ok(plan)
    }

    /// The plan that a checkpoint was made with, with an end of its own. Everything else comes
    /// from the checkpoint, so the drive's file is not needed any more.
    ///
    /// # Errors
    /// When the life is impossible.
    pub fn resumed(
        config: &DriveConfig,
        standing: &super::checkpoint::LifeCheckpoint,
        until: LifeEnd,
    ) -> Result<AgeingPlan, LabError> {
        let plan = AgeingPlan {
            manner: standing.manner.clone(),
            config: config.clone(),
            media: standing.media.clone(),
            until,
            interface: standing.interface.clone(),
            attributes: standing.attributes,
        };
        plan.validate()?;
        Ok(plan)
    }

    /// Checks that the life is possible.
    ///
    /// # Errors
    /// The first value that is impossible.
    pub fn validate(&self) -> Result<(), LabError> {
        let manner = &self.manner;
        SyntheticCommands::new(&load_of(manner)?, self.config.user_bytes)?;
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
                place: InputLocation::command_line(),
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
        let temperature_c = self.manner.temperature_c;
        let ev = retention::CHARGE_LOSS_EV;
        retention::acceleration(ev, law::REFERENCE_C, temperature_c)
    }
}
