//! What to measure, where and how long.

use super::loads::RoleLoad;
use super::overwrite::CAPACITIES;
use super::plans::QualifyRegion;
use super::roles::Role;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_bench::device::{TargetFacts, TargetKind};

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QualifyProfile {
    /// About a minute. Too short for steady state or for ruling a write cliff out.
    Quick,
    /// About a quarter of an hour.
    Standard,
    /// Hours; adds SNIA preconditioning and up to 25 one-minute rounds.
    Full,
}

impl QualifyProfile {
    /// As on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            QualifyProfile::Quick => "quick",
            QualifyProfile::Standard => "standard",
            QualifyProfile::Full => "full",
        }
    }
}

/// What precedes the first measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// Write this number of bytes once, front to back, from the region's start; at least the region
    /// and at most the target.
    Fill(u64),
    /// Nothing: the caller did it; the text says what, for the report.
    Done(String),
}

/// What to measure, where and how long.
#[derive(Clone, Debug)]
pub struct QualifySettings {
    /// How long.
    pub profile: QualifyProfile,
    /// Seed of every random stream.
    pub seed: u64,
    /// First byte used, a multiple of 4096.
    pub offset: u64,
    /// Bytes used; `None`: all from `offset`. Cut to what the target has.
    pub region: Option<u64>,
    /// What precedes the first measurement.
    pub precondition: Precondition,
    /// Add the whole-drive step (standard and full only). It fills the target.
    pub whole_drive: bool,
    /// Overwrite a modelled drive made smaller to this number of bytes until nothing moves
    /// ([`super::overwrite`]).
    pub overwrite: Option<u64>,
    /// The role's loads, run on a real drive once the profile has overwritten it
    /// ([`super::states`]); none on a model, on which each role's load is run anyway.
    pub loads: Vec<&'static RoleLoad>,
    /// Overwrite a whole real drive at random until this number of bytes is written, whatever time
    /// that takes.
    pub until_overwritten: Option<u64>,
    /// Write at most this long, in seconds, to see whether its speed is an account, where reads and
    /// writes have the same rate ([`crate::account`]).
    pub account_s: Option<u64>,
}

/// Small enough for seconds, large enough that the superblocks of a striped drive keep some word
/// lines.
const OVERWRITE_BYTES: u64 = 2 << 30;

/// What a modelled drive is filled with before a region of it is measured: the load file of
/// article s2d. A new drive serves the first GiB from its fast cache, which a drive in use does
/// not have to itself; this much is beyond the cache of the catalogue's consumer drive.
const FILL_BYTES: u64 = 100 << 30;

impl QualifySettings {
    /// A profile's usual settings for a target of this kind: one GiB (quick), 8 GiB (standard) or
    /// 32 GiB (full). Modelled drives are filled first and measured whole as well; a file is taken
    /// to have just been written; a device is taken as it is.
    pub fn usual(profile: QualifyProfile, kind: TargetKind) -> QualifySettings {
        let modelled = matches!(kind, TargetKind::Modelled | TargetKind::Null);
        let precondition = match kind {
            TargetKind::Modelled | TargetKind::Null => Precondition::Fill(FILL_BYTES),
            TargetKind::File => {
                Precondition::Done("the file was written once, front to back, when made".into())
            }
            TargetKind::Volume => {
                Precondition::Done("none: a volume has no state but its credit".into())
            }
            TargetKind::BlockDevice => {
                Precondition::Done("none: the device was measured as it was found".into())
            }
        };
        QualifySettings {
            profile,
            seed: 1,
            offset: 0,
            region: Some(match profile {
                QualifyProfile::Quick => 1 << 30,
                QualifyProfile::Standard => 8 << 30,
                QualifyProfile::Full => 32 << 30,
            }),
            precondition,
            whole_drive: modelled,
            overwrite: modelled.then_some(OVERWRITE_BYTES),
            loads: Vec::new(),
            until_overwritten: None,
            account_s: match (profile, kind) {
                (QualifyProfile::Quick, _) | (_, TargetKind::Modelled | TargetKind::Null) => None,
                (QualifyProfile::Standard, _) => Some(600),
                (QualifyProfile::Full, _) => Some(3 * 3600),
            },
        }
    }

    /// The same for a role, with the loads that a real target of `capacity` bytes is put under. The
    /// full profile on the whole of a block device goes on until a sustained figure is reached.
    pub(super) fn for_role(mut self, role: &Role, facts: &TargetFacts) -> QualifySettings {
        let is_device = facts.kind == TargetKind::BlockDevice;
        if !is_device && !matches!(facts.kind, TargetKind::File | TargetKind::Volume) {
            return self;
        }
        self.loads = role.loads();
        let region = self.region.unwrap_or(facts.capacity);
        let is_whole = region as f64 >= 0.95 * facts.capacity as f64;
        let is_long = is_device && is_whole && self.profile == QualifyProfile::Full;
        self.until_overwritten = is_long.then(|| CAPACITIES * facts.capacity);
        self
    }
}

/// Regions are whole numbers of the largest block written.
const REGION_UNIT: u64 = 128 << 10;
const REGION_MIN: u64 = 1 << 20;

pub(super) fn region_of(
    settings: &QualifySettings,
    capacity: u64,
) -> Result<QualifyRegion, LabError> {
    let room = capacity.saturating_sub(settings.offset);
    let bytes = settings.region.unwrap_or(room).min(room) / (REGION_UNIT) * (REGION_UNIT);
    if bytes < REGION_MIN || !settings.offset.is_multiple_of(4096) {
        return Err(LabError::refused(
            format!(
                "a region of {bytes} bytes at {} of a target of {capacity} bytes is too small or \
                 not aligned to 4096",
                settings.offset
            ),
            "measure at least 1 MiB",
        ));
    }
    Ok(QualifyRegion {
        offset: settings.offset,
        bytes,
        seed: settings.seed,
    })
}

/// What [`Precondition::Fill`] writes.
pub(super) fn fill_of(
    settings: &QualifySettings,
    region: QualifyRegion,
    capacity: u64,
) -> QualifyRegion {
    let bytes = match settings.precondition {
        Precondition::Fill(bytes) => bytes.max(region.bytes),
        Precondition::Done(_) => region.bytes,
    };
    let room = capacity - region.offset;
    QualifyRegion {
        bytes: bytes.min(room) / REGION_UNIT * REGION_UNIT,
        ..region
    }
}
