//! From a target's name on the command line to an open target.

use crate::args::TargetArgs;
use crate::progress::Bar;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::null::NullTarget;
use ssdlab_bench::device::open::{Needs, OpenOptions};
use ssdlab_bench::device::safety::WriteOptions;
use ssdlab_bench::device::uring::UringTarget;
use ssdlab_bench::device::{ModelledTarget, Target, TargetFacts};
use ssdlab_bench::engine::Observer;
use ssdlab_bench::record::RunRecord;
use ssdlab_bench::{device, engine};
use ssdlab_drives::catalogue;
use ssdlab_judge::qualify;
use ssdlab_judge::qualify::{Evidence, Progress, Settings};
use ssdlab_life::age::left;
use ssdlab_load::plan::Plan;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What a target's name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// `drive:NAME`, `drive:FILE.toml`, or `drive:PATH` of a kept drive.
    Drive(String),
    /// `null:SIZE`.
    Null(u64),
    /// A file or a block device.
    Path(PathBuf),
}

impl Name {
    /// Reads a target's name.
    ///
    /// # Errors
    /// When it is empty, or the size of a null target is no size.
    pub fn parse(text: &str) -> Result<Name, LabError> {
        if let Some(drive) = text.strip_prefix("drive:") {
            return Ok(Name::Drive(drive.to_owned()));
        }
        if let Some(size) = text.strip_prefix("null:") {
            let bytes = parse_size(size)?;
            if bytes == 0 {
                return Err(LabError::refused(
                    "a null target of 0 bytes",
                    "try null:1GiB",
                ));
            }
            return Ok(Name::Null(bytes));
        }
        if text.is_empty() {
            return Err(LabError::refused("the target's name is empty", TARGET_HINT));
        }
        Ok(Name::Path(PathBuf::from(
            text.strip_prefix("file:").unwrap_or(text),
        )))
    }
}

/// What to write where a target is missing or wrong.
pub const TARGET_HINT: &str = "a target is drive:NAME (see `ssdlab drives list`), drive:PATH \
     of a saved or aged drive, null:SIZE, a file or a block device";

/// An open target. The run itself is compiled for each kind.
pub enum Open {
    /// A modelled drive, with what its figures rest on.
    Modelled(Box<ModelledTarget>, Vec<String>),
    /// Nothing.
    Null(Box<NullTarget>),
    /// A file or a block device.
    Real(Box<UringTarget>),
}

impl Open {
    /// Opens what `name` says; a file that does not exist is created and filled, with a bar.
    ///
    /// # Errors
    /// When it does not exist, is not allowed, or does not fit.
    pub fn named(
        name: &Name,
        args: &TargetArgs,
        needs: &Needs,
        quiet: bool,
        stop: &AtomicBool,
    ) -> Result<Open, LabError> {
        let size = args.size.as_deref().map(parse_size).transpose()?;
        if size == Some(0) {
            return Err(LabError::refused(
                "--size 0: a target has some bytes",
                "try --size 1GiB",
            ));
        }
        match name {
            Name::Drive(drive) if left::kept(drive).is_some() => {
                let (kept, about) = left::open(std::path::Path::new(drive))?;
                let target = ModelledTarget::kept(kept, &about, size)?;
                Ok(Open::Modelled(Box::new(target), about.rests_on))
            }
            Name::Drive(drive) => {
                let found = catalogue::open(drive)?;
                let target = ModelledTarget::new(&found, size)?;
                Ok(Open::Modelled(Box::new(target), found.rests_on()))
            }
            Name::Null(bytes) => Ok(Open::Null(Box::new(NullTarget::new(*bytes, needs.depth)))),
            Name::Path(path) => {
                let options = OpenOptions {
                    write: WriteOptions {
                        allow_overwrite: args.overwrite,
                        confirmed_serial: args.serial.clone(),
                    },
                    size,
                    buffered: args.buffered,
                    keep: args.keep,
                };
                let title = format!("writing {} for the first time", path.display());
                let mut bar = None;
                let mut progress = |done, total| {
                    bar.get_or_insert_with(|| Bar::new(&title, 0.0, quiet))
                        .bytes(done, total);
                };
                let target = device::open::open(path, needs, &options, &mut progress, stop)?;
                Ok(Open::Real(Box::new(target)))
            }
        }
    }

    /// What is known of it.
    pub fn facts(&self) -> &TargetFacts {
        match self {
            Open::Modelled(target, _) => target.facts(),
            Open::Null(target) => target.facts(),
            Open::Real(target) => target.facts(),
        }
    }

    /// Whether a plan fits it, before anything is written.
    ///
    /// # Errors
    /// What [`host::check`] finds.
    pub fn check(&self, plan: &Plan) -> Result<(), LabError> {
        let depth_max = match self {
            Open::Modelled(target, _) => target.depth_max(),
            Open::Null(target) => target.depth_max(),
            Open::Real(target) => target.depth_max(),
        };
        engine::check(plan, self.facts(), depth_max)
    }

    /// Calibrated and assumed values that a modelled drive's figures rest on.
    pub fn rests_on(&self) -> Vec<String> {
        match self {
            Open::Modelled(_, rests_on) => rests_on.clone(),
            Open::Null(_) | Open::Real(_) => Vec::new(),
        }
    }

    /// Runs a plan on it; see [`host::run`].
    ///
    /// # Errors
    /// When the plan does not fit.
    pub fn run(
        &mut self,
        plan: &Plan,
        observer: &mut dyn Observer,
        stop: &AtomicBool,
    ) -> Result<RunRecord, LabError> {
        match self {
            Open::Modelled(target, _) => engine::run(plan, &mut **target, observer, stop),
            Open::Null(target) => engine::run(plan, &mut **target, observer, stop),
            Open::Real(target) => engine::run(plan, &mut **target, observer, stop),
        }
    }

    /// Measures a qualification's evidence on it; see [`qualify::measure`].
    ///
    /// # Errors
    /// When nothing could be measured.
    pub fn measure(
        &mut self,
        settings: &Settings,
        progress: &mut dyn Progress,
        stop: &AtomicBool,
    ) -> Result<Evidence, LabError> {
        let mut evidence = match self {
            Open::Modelled(target, _) => qualify::measure(&mut **target, settings, progress, stop),
            Open::Null(target) => qualify::measure(&mut **target, settings, progress, stop),
            Open::Real(target) => qualify::measure(&mut **target, settings, progress, stop),
        }?;
        evidence.rests_on = self.rests_on();
        Ok(evidence)
    }

    /// The target itself, without its kind.
    pub fn into_target(self) -> Box<dyn Target> {
        match self {
            Open::Modelled(target, _) => target,
            Open::Null(target) => target,
            Open::Real(target) => target,
        }
    }

    /// Lets a modelled drive be idle for a while; a real one is simply waited for.
    ///
    /// # Errors
    /// Only when the target fails.
    pub fn idle(&mut self, time: ssdlab_ssd::Nanos) -> Result<(), LabError> {
        match self {
            Open::Modelled(target, _) => idle(&mut **target, time),
            Open::Null(target) => idle(&mut **target, time),
            Open::Real(target) => idle(&mut **target, time),
        }
    }
}

fn idle<T: Target>(target: &mut T, time: ssdlab_ssd::Nanos) -> Result<(), LabError> {
    let until = target.now() + time;
    target.reap(Some(until), &mut Vec::new())
}
