//! An investigation as one call: open the target, look into it.

use super::investigate::{Investigation, investigate};
use super::kinds::ExperimentKind;
use super::measure::{DEPTH_MAX, ExperimentBench, LARGE};
use super::own_word::SmartSnapshot;
use crate::ablate::{Cause, steady};
use crate::inspect::{drive_of, enrich};
use ssdlab_base::LabError;
use ssdlab_bench::device::named::{KeptDriveLoader, OpenTarget, TargetName};
use ssdlab_bench::device::{ModelledTarget, Target, TargetFacts, TargetKind};
use ssdlab_bench::device::{Needs, OpenOptions};
use ssdlab_bench::with_target;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use std::sync::atomic::AtomicBool;

/// Bytes of a file that is made for an investigation.
pub const FILE_BYTES: u64 = 1 << 30;

/// What to look into.
#[derive(Clone, Debug)]
pub struct InvestigationRequest {
    /// The target.
    pub target: TargetName,
    /// Size of the target and leave to write.
    pub open: OpenOptions,
    /// Loads `drive:PATH` of a kept drive.
    pub kept: KeptDriveLoader,
    /// Size of the model of a new drive, bytes.
    pub capacity: u64,
    /// Bytes that one experiment may write.
    pub writes_max: u64,
    /// Seed of every random stream.
    pub seed: u64,
}

/// Sees an investigation as it happens.
pub trait InvestigationProgress {
    /// A new file is being filled: bytes written, and their total.
    fn filling(&mut self, done: u64, total: u64);

    /// An experiment begins, which these hypotheses asked for; none: it is one of the symptoms.
    fn begins(&mut self, experiment: ExperimentKind, asked_by: &[Cause]);
}

/// Opens the target and looks into it. A new model is first written until it is steady; anything
/// else is taken as it is.
///
/// # Errors
/// When the target cannot be opened, fails, or the run is stopped.
pub fn look_into(
    request: &InvestigationRequest,
    progress: &mut dyn InvestigationProgress,
    stop: &AtomicBool,
) -> Result<(TargetFacts, Investigation), LabError> {
    let mut opened = open(request, progress, stop)?;
    let mut facts = opened.facts().clone();
    ask(&request.target, &mut facts);
    let bytes = match (facts.kind, request.open.size) {
        (TargetKind::Modelled, _) | (_, None) => facts.capacity,
        (_, Some(size)) => size.min(facts.capacity),
    };
    let investigation = with_target!(&mut opened, target => {
        let mut bench = ExperimentBench {
            target: &mut **target,
            bytes,
            seed: request.seed,
            stop,
            busy: true,
        };
        let mut begins = |experiment, by: &[Cause]| progress.begins(experiment, by);
        let mut current_facts = facts.clone();
        let mut ask_drive = |target: &_| {
            ask(&request.target, &mut current_facts);
            SmartSnapshot::of(current_facts.health.as_ref(), Target::heat(target))
        };
        investigate(&mut bench, request.writes_max, &mut begins, &mut ask_drive)?
    });
    Ok((facts, investigation))
}

/// Asks the drive underneath a file or a device, if it answers.
fn ask(target: &TargetName, facts: &mut TargetFacts) {
    if let TargetName::Path(path) = target
        && let Ok(Some(account)) = drive_of(path)
    {
        enrich(facts, &account);
    }
}

fn open(
    request: &InvestigationRequest,
    progress: &mut dyn InvestigationProgress,
    stop: &AtomicBool,
) -> Result<OpenTarget, LabError> {
    if let TargetName::Drive(name) = &request.target
        && (request.kept)(name)?.is_none()
    {
        let listed = catalogue::open(name)?;
        let small = scaled(&listed.config, request.capacity)?.config;
        let facts = TargetFacts {
            capacity: small.user_bytes,
            interface: Some(listed.file.interface.clone()),
            ..TargetFacts::unknown(format!("drive:{name}"), TargetKind::Modelled)
        };
        let drive = steady(&small, request.seed)?;
        let target = ModelledTarget::around(drive, facts);
        return Ok(OpenTarget::Modelled(Box::new(target), listed.rests_on()));
    }
    let mut options = request.open.clone();
    let is_new = matches!(&request.target, TargetName::Path(path) if !path.exists());
    if is_new {
        options.size.get_or_insert(FILE_BYTES);
    }
    let needs = Needs {
        depth: DEPTH_MAX,
        read_bytes: LARGE,
        write_bytes: LARGE,
        changes: true,
        granule: 4096,
        extent: options.size,
        ..Needs::default()
    };
    let mut filling = |done, total| progress.filling(done, total);
    let (target, kept) = (&request.target, request.kept);
    OpenTarget::open(target, &needs, &options, kept, &mut filling, stop)
}
