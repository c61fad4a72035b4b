//! Devices by name: from `drive:NAME`, `volume:TYPE,...`, `null:SIZE` or a path to an open device.

#[cfg(not(target_os = "linux"))]
use super::elsewhere::{FileTarget, NvmeTarget, open};
#[cfg(target_os = "linux")]
use super::files::FileTarget;
#[cfg(target_os = "linux")]
use super::generic::NvmeGenericDevice;
use super::null::NullTarget;
#[cfg(target_os = "linux")]
use super::nvme::NvmeTarget;
#[cfg(target_os = "linux")]
use super::open::open;
#[cfg(target_os = "linux")]
use super::system::SystemPaths;
use super::{ModelledTarget, Needs, OpenOptions, Target, TargetFacts, VolumeTarget};
use crate::engine;
use crate::engine::Observer;
use crate::record::RunRecord;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_drives::known::draft::{self, open_drive};
use ssdlab_drives::known::lookup::{Lookup, look_up};
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_load::plan::WorkloadPlan;
use ssdlab_ssd::{Drive, Nanos};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// The forms of a target's name, for hints.
pub const TARGET_HINT: &str = "a target is drive:NAME (see `ssdlab list drives`), drive:PATH \
     of a saved or aged drive, volume:TYPE (see `ssdlab volumes list`), null:SIZE, a file, a \
     block device or an NVMe generic device";

/// A target's name, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetName {
    /// `drive:NAME`, `drive:FILE.toml`, or `drive:PATH` of a kept drive.
    Drive(String),
    /// `volume:TYPE,size=GIB,...`, what follows the colon.
    Volume(String),
    /// `null:SIZE`.
    Null(u64),
    /// A file, a block device or an NVMe generic device.
    Path(PathBuf),
}

impl TargetName {
    /// Reads a target's name.
    ///
    /// # Errors
    /// When it is empty, when the size of a null target cannot be read, or when a drive of the
    /// catalogue is named without `drive:` and no file has that name.
    pub fn parse(text: &str) -> Result<TargetName, LabError> {
        if let Some(drive) = text.strip_prefix("drive:") {
            return Ok(TargetName::Drive(drive.to_owned()));
        }
        if let Some(volume) = text.strip_prefix("volume:") {
            ssdlab_volume::open(volume)?;
            return Ok(TargetName::Volume(volume.to_owned()));
        }
        if let Some(size) = text.strip_prefix("null:") {
            let bytes = parse_size(size)?;
            if bytes == 0 {
                return Err(LabError::refused(
                    "a null target of 0 bytes",
                    "try null:1GiB",
                ));
            }
            return Ok(TargetName::Null(bytes));
        }
        if text.is_empty() {
            return Err(LabError::refused("the target's name is empty", TARGET_HINT));
        }
        if let Some(drive) = similar_drive(text) {
            let problem = if drive == text {
                format!("`{text}` is a modelled drive, and no file has that name")
            } else {
                format!("no file is called `{text}`, and a modelled drive nearly is")
            };
            return Err(LabError::refused(
                problem,
                format!("did you mean drive:{drive}? To make a file, write ./{text}"),
            ));
        }
        if let Some(advice) = product_advice(text) {
            return Err(LabError::refused(
                format!("no file is called `{text}`, and a drive is"),
                format!("{advice}. To make a file, write ./{text}"),
            ));
        }
        Ok(TargetName::Path(PathBuf::from(
            text.strip_prefix("file:").unwrap_or(text),
        )))
    }
}

impl TargetName {
    /// Bytes of the largest command that it takes; `None`: larger ones are split, or there is no
    /// limit.
    pub fn len_max(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        if let TargetName::Path(path) = self {
            return super::nvme::len_max(path);
        }
        None
    }
}

/// The drive of the catalogue that a plain word without `drive:` names, or nearly does; `None` when
/// it is a path or a file of that name exists.
fn similar_drive(text: &str) -> Option<String> {
    if text.contains(['/', '.', ':']) || Path::new(text).exists() {
        return None;
    }
    catalogue::meant(text)
}

/// What to do about a plain text that is no path and no file, and names one product or several;
/// with a digit, as a maker alone may well be a folder.
fn product_advice(text: &str) -> Option<String> {
    let is_plain = !text.contains(['/', '.', ':']) && !Path::new(text).exists();
    let is_model = text.contains(|c: char| c.is_ascii_digit());
    if !(is_plain && is_model && matches!(look_up(text), Lookup::Matches(_))) {
        return None;
    }
    let several = || format!("`ssdlab drives known \"{text}\"` lists the drives that it may be");
    Some(draft::advice(text).unwrap_or_else(several))
}

/// Loads a saved drive, when the text after `drive:` is the path of one.
pub type KeptDriveLoader = fn(&str) -> Result<Option<(Drive, SavedDriveInfo)>, LabError>;

/// A [`KeptDriveLoader`] for callers without kept drives.
///
/// # Errors
/// Never.
pub fn none_kept(_name: &str) -> Result<Option<(Drive, SavedDriveInfo)>, LabError> {
    Ok(None)
}

/// An open device of any kind. [`with_target!`](crate::with_target) reaches the one inside.
pub enum OpenTarget {
    /// A modelled drive, and the calibrated and assumed values that its figures rest on.
    Modelled(Box<ModelledTarget>, Vec<RestsOn>),
    /// A volume of a cloud.
    Volume(Box<VolumeTarget>),
    /// Nothing.
    Null(Box<NullTarget>),
    /// A file or a block device.
    Real(Box<FileTarget>),
    /// An NVMe generic device.
    Nvme(Box<NvmeTarget>),
}

/// Evaluates an expression with the target inside an [`OpenTarget`], compiled for each kind, so
/// that commands need no dynamic dispatch.
#[macro_export]
macro_rules! with_target {
    ($opened:expr, $target:ident => $value:expr) => {
        match $opened {
            $crate::device::named::OpenTarget::Modelled($target, _) => $value,
            $crate::device::named::OpenTarget::Volume($target) => $value,
            $crate::device::named::OpenTarget::Null($target) => $value,
            $crate::device::named::OpenTarget::Real($target) => $value,
            $crate::device::named::OpenTarget::Nvme($target) => $value,
        }
    };
}

impl OpenTarget {
    /// Opens the device called `name`. A file that does not exist is created and filled;
    /// `progress` is given the bytes filled and their total, and `stop` ends the filling.
    ///
    /// # Errors
    /// When it does not exist, may not be written, or does not fit.
    pub fn open(
        name: &TargetName,
        needs: &Needs,
        options: &OpenOptions,
        load_kept: KeptDriveLoader,
        progress: &mut dyn FnMut(u64, u64),
        stop: &AtomicBool,
    ) -> Result<OpenTarget, LabError> {
        match name {
            TargetName::Drive(drive) => match load_kept(drive)? {
                Some((kept_drive, about)) => {
                    let target = ModelledTarget::kept(kept_drive, &about, options.size)?;
                    let target = target.named(format!("drive:{drive}"));
                    Ok(OpenTarget::Modelled(Box::new(target), about.rests_on))
                }
                None => {
                    let catalogue_drive = open_drive(drive)?;
                    let target = ModelledTarget::new(&catalogue_drive, options.size)?;
                    let target = if drive.ends_with(".toml") {
                        target.typed(format!("drive:{drive}"))
                    } else {
                        target
                    };
                    Ok(OpenTarget::Modelled(
                        Box::new(target),
                        catalogue_drive.rests_on(),
                    ))
                }
            },
            TargetName::Volume(volume) => {
                let target = VolumeTarget::new(ssdlab_volume::open(volume)?, options.size)?;
                Ok(OpenTarget::Volume(Box::new(target)))
            }
            TargetName::Null(bytes) => Ok(OpenTarget::Null(Box::new(NullTarget::new(
                *bytes,
                needs.depth,
            )))),
            #[cfg(target_os = "linux")]
            TargetName::Path(path)
                if NvmeGenericDevice::at(&SystemPaths::live(), path).is_some() =>
            {
                let target = super::nvme::open(path, needs, options)?;
                Ok(OpenTarget::Nvme(Box::new(target)))
            }
            TargetName::Path(path) => {
                let target = open(path, needs, options, progress, stop)?;
                Ok(OpenTarget::Real(Box::new(target)))
            }
        }
    }

    /// Its identity and properties.
    pub fn facts(&self) -> &TargetFacts {
        with_target!(self, target => target.facts())
    }

    /// Calibrated and assumed values that a modelled drive's figures rest on.
    pub fn rests_on(&self) -> &[RestsOn] {
        match self {
            OpenTarget::Modelled(_, rests_on) => rests_on,
            OpenTarget::Volume(_)
            | OpenTarget::Null(_)
            | OpenTarget::Real(_)
            | OpenTarget::Nvme(_) => &[],
        }
    }

    /// Whether `plan` fits it, before anything is written.
    ///
    /// # Errors
    /// Those of [`engine::check`].
    pub fn check(&self, plan: &WorkloadPlan) -> Result<(), LabError> {
        let depth_max = with_target!(self, target => target.depth_max());
        engine::check(plan, self.facts(), depth_max)
    }

    /// Runs `plan` on it; see [`engine::run`].
    ///
    /// # Errors
    /// When the plan does not fit.
    pub fn run(
        &mut self,
        plan: &WorkloadPlan,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<RunRecord, LabError> {
        with_target!(self, target => engine::run(plan, &mut **target, observer, stop))
    }

    /// Leaves it idle for `time`: a modelled drive works in the background, a real one is waited
    /// for.
    ///
    /// # Errors
    /// When the target fails.
    pub fn idle(&mut self, time: Nanos) -> Result<(), LabError> {
        with_target!(self, target => {
            let until = target.now() + time;
            target.reap(Some(until), &mut Vec::new())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `qualify consumer-sata-1tb` made a file of that name and measured the disk under it.
    #[test]
    fn a_drive_of_the_catalogue_needs_its_prefix() {
        let error = TargetName::parse("consumer-sata-1tb").expect_err("refused");
        assert!(error.hint().contains("drive:consumer-sata-1tb"), "{error}");
        // So did the name of a drive that only the table of known drives has.
        let known = TargetName::parse("Micron 5300").expect_err("refused");
        assert!(known.hint().contains("ssdlab drives known"), "{known}");
        assert!(known.hint().ends_with("write ./Micron 5300"), "{known}");
        assert!(TargetName::parse("./Micron 5300").is_ok());
        let one = TargetName::parse("Samsung PM893").expect_err("refused");
        assert!(one.hint().contains("ssdlab drives new"), "{one}");
        assert!(TargetName::parse("test-1").is_ok());
        let near = TargetName::parse("consumer-sata-1tb-pl").expect_err("refused");
        assert!(near.hint().contains("did you mean drive:"), "{near}");
        let file = TargetName::parse("./consumer-sata-1tb").expect("a path");
        assert_eq!(file, TargetName::Path("./consumer-sata-1tb".into()));
        let drive = TargetName::parse("drive:consumer-sata-1tb").expect("a drive");
        assert_eq!(drive, TargetName::Drive("consumer-sata-1tb".into()));
    }
}
