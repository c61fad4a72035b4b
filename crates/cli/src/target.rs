//! From a target's name on the command line to an open target.

use crate::args::TargetArgs;
use ssdlab_lab::host::{self, Observer};
use ssdlab_lab::qualify::{Evidence, Progress, Settings};
use ssdlab_lab::record::RunRecord;
use ssdlab_lab::target::null::NullTarget;
use ssdlab_lab::target::{ModelledTarget, Target, TargetFacts};
use ssdlab_lab::workload::Plan;
use ssdlab_lab::workload::quantity::parse_size;
use ssdlab_lab::{LabError, catalogue, qualify};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What a target's name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// `drive:NAME` or `drive:FILE.toml`.
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
pub const TARGET_HINT: &str =
    "a target is drive:NAME (see `ssdlab drives list`), null:SIZE, a file or a block device";

/// An open target. The run itself is compiled for each kind.
pub enum Open {
    /// A modelled drive, with what its figures rest on.
    Modelled(Box<ModelledTarget>, Vec<String>),
    /// Nothing.
    Null(NullTarget),
}

/// How a target is going to be used.
pub struct Use {
    /// Commands outstanding at most.
    pub depth: u32,
    /// It will be written.
    pub writes: bool,
    /// Size of a file to be created when neither `--size` nor the file itself says.
    pub usual_size: Option<u64>,
}

impl Open {
    /// Opens what `name` says.
    ///
    /// # Errors
    /// When it does not exist, is not allowed, or does not fit.
    pub fn open(name: &Name, args: &TargetArgs, used: &Use) -> Result<Open, LabError> {
        let size = args.size.as_deref().map(parse_size).transpose()?;
        match name {
            Name::Drive(drive) => {
                let found = catalogue::open(drive)?;
                let target = ModelledTarget::new(&found, size)?;
                Ok(Open::Modelled(Box::new(target), found.rests_on()))
            }
            Name::Null(bytes) => Ok(Open::Null(NullTarget::new(*bytes, used.depth))),
            Name::Path(_) => Err(LabError::refused("not written yet", "")),
        }
    }

    /// What is known of it.
    pub fn facts(&self) -> &TargetFacts {
        match self {
            Open::Modelled(target, _) => target.facts(),
            Open::Null(target) => target.facts(),
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
        };
        host::check(plan, self.facts(), depth_max)
    }

    /// Calibrated and assumed values that a modelled drive's figures rest on.
    pub fn rests_on(&self) -> Vec<String> {
        match self {
            Open::Modelled(_, rests_on) => rests_on.clone(),
            Open::Null(_) => Vec::new(),
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
            Open::Modelled(target, _) => host::run(plan, &mut **target, observer, stop),
            Open::Null(target) => host::run(plan, target, observer, stop),
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
            Open::Null(target) => qualify::measure(target, settings, progress, stop),
        }?;
        evidence.rests_on = self.rests_on();
        Ok(evidence)
    }

    /// Makes a file that ssdlab creates: full of data, so that nothing read is a hole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn make_ready(&mut self, _quiet: bool, _stop: &AtomicBool) -> Result<(), LabError> {
        Ok(())
    }

    /// Lets a modelled drive be idle for a while; a real one is simply waited for.
    ///
    /// # Errors
    /// Only when the target fails.
    pub fn idle(&mut self, time: ssdlab_lab::Nanos) -> Result<(), LabError> {
        match self {
            Open::Modelled(target, _) => idle(&mut **target, time),
            Open::Null(target) => idle(target, time),
        }
    }
}

fn idle<T: Target>(target: &mut T, time: ssdlab_lab::Nanos) -> Result<(), LabError> {
    let until = target.now() + time;
    target.reap(Some(until), &mut Vec::new())
}
