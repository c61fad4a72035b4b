//! A whole qualification as one call: open the target, measure it, judge it, and put modelled
//! drives beside it.

use super::draws::{self, DrawnDrives};
use super::evidence::{Assessment, EnsembleEvidence, Evidence, Qualification};
use super::kept_ensembles;
use super::overwrite::{Overwrite, overwrite};
use super::plans::QualifyRegion;
use super::procedures::{QualifyProgress, QualifyStep, SilentProgress, measure};
use super::references::{self, ReferenceSelection};
use super::roles::Role;
use super::settings::{Precondition, QualifyProfile, QualifySettings, region_of};
use super::show;
use super::states::LoadDurations;
use super::steps::{always_s, steps};
use super::verdict::judge;
use crate::account::ACCOUNT_DEPTH;
use crate::inspect::{drive_of, enrich};
use crate::pull;
use ssdlab_base::{LabError, parallel};
use ssdlab_bench::device::named::{KeptDriveLoader, OpenTarget, TargetName, none_kept};
use ssdlab_bench::device::{ModelledTarget, Target, TargetFacts, TargetKind};
use ssdlab_bench::device::{Needs, OpenOptions};
use ssdlab_bench::run_dir::FORMAT_VERSION;
use ssdlab_bench::with_target;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_ssd::Bytes;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The file made in the current directory when no target is named.
const DEFAULT_FILE: &str = "ssdlab-qualify.tmp";
/// Maximum number of outstanding commands of any step.
const DEPTH: u32 = ACCOUNT_DEPTH;
/// Largest command of any step, in bytes.
const BLOCK_MAX: u32 = 1 << 20;

/// Title of the step that follows those of the profile.
const OVERWRITING: &str = "overwriting until nothing moves";
/// Most references measured at once: each needs the memory of a modelled drive.
const THREADS_MAX: usize = 4;

/// What to qualify, for which role, and how.
#[derive(Clone, Debug)]
pub struct QualifyPlan {
    /// The device; `None`: a file made in the current directory and removed afterwards.
    pub target: Option<TargetName>,
    /// The role whose requirements are held against the evidence.
    pub role: &'static Role,
    /// How long to measure.
    pub profile: QualifyProfile,
    /// Seed of every random stream.
    pub seed: u64,
    /// Modelled drives beside the target.
    pub references: ReferenceSelection,
    /// Size of the target and leave to write.
    pub open: OpenOptions,
    /// The ledger of a test of pulls of this target.
    pub pull_record: Option<PathBuf>,
    /// Loads `drive:PATH` of a kept drive.
    pub kept: KeptDriveLoader,
    /// The target with draws of what its file assumes; they decide with it.
    pub drawn: DrawnDrives,
}

impl QualifyPlan {
    /// The quick qualification of `target` for `role`, seed 1, without references.
    pub fn new(target: Option<TargetName>, role: &'static Role) -> QualifyPlan {
        QualifyPlan {
            target,
            role,
            profile: QualifyProfile::Quick,
            seed: 1,
            references: ReferenceSelection::None,
            open: OpenOptions::default(),
            pull_record: None,
            kept: none_kept,
            drawn: DrawnDrives::default(),
        }
    }

    fn name(&self) -> TargetName {
        let default = || TargetName::Path(PathBuf::from(DEFAULT_FILE));
        self.target.clone().unwrap_or_else(default)
    }

    /// The settings before the target is known.
    fn settings(&self) -> QualifySettings {
        let kind = match self.name() {
            TargetName::Path(_) => TargetKind::File,
            TargetName::Volume(_) => TargetKind::Volume,
            TargetName::Drive(_) | TargetName::Null(_) => TargetKind::Modelled,
        };
        QualifySettings {
            seed: self.seed,
            ..QualifySettings::usual(self.profile, kind)
        }
    }

    /// The settings for the target that was opened. A file that `existed` is filled first.
    fn settings_for(&self, facts: &TargetFacts, existed: bool) -> QualifySettings {
        let mut settings = self.settings();
        settings.precondition = QualifySettings::usual(self.profile, facts.kind).precondition;
        if facts.kind == TargetKind::File && existed {
            settings.precondition = Precondition::Fill(settings.region.unwrap_or(facts.capacity));
        }
        if let (Some(size), true) = (self.open.size, facts.kind != TargetKind::Modelled) {
            settings.region = Some(size.min(facts.capacity));
        }
        settings.for_role(self.role, facts)
    }

    /// About how long the steps take on a file of this size, s; its filling is left out.
    fn planned_s(&self, bytes: u64) -> f64 {
        let settings = QualifySettings::usual(self.profile, TargetKind::File);
        let region = QualifyRegion {
            offset: 0,
            bytes,
            seed: self.seed,
        };
        let steps = steps(&settings, region, bytes, 4096);
        let loads = self.role.loads().len() as f64;
        let loads_s = loads * LoadDurations::of(self.profile).total_s();
        always_s(&steps) + loads_s
    }

    /// The file that a qualification without a target makes, why it has its size, and how long it
    /// takes. `None` when a target is named.
    pub fn own_file(&self) -> Option<String> {
        if self.target.is_some() {
            return None;
        }
        let usual = self.settings().region.unwrap_or(0);
        let (size, why) = match self.open.size {
            Some(size) => (size, ""),
            None => (
                usual,
                ": large enough that a flush has real\nwork to do, small enough to be written soon",
            ),
        };
        Some(format!(
            "Measuring the drive under the current directory on a file of {}, made here\n\
             ({DEFAULT_FILE}) and removed afterwards{why}.\nThat takes about {}, and the time to \
             fill the file.",
            Bytes(size),
            show::hours(self.planned_s(size))
        ))
    }
}

/// What the procedures ask of a target.
fn needs(extent: Option<u64>) -> Needs {
    Needs {
        depth: DEPTH,
        read_bytes: BLOCK_MAX,
        write_bytes: BLOCK_MAX,
        changes: true,
        granule: 4096,
        extent,
        ..Needs::default()
    }
}

/// Opens the target of `plan`, measures it, judges it, and measures and judges its references.
/// When `stop` is set, the evidence so far is judged, and the rest is listed in
/// [`Qualification::incomplete`].
///
/// # Errors
/// When the target cannot be opened, nothing could be measured, or `progress` fails.
pub fn qualify(
    plan: &QualifyPlan,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<Qualification, LabError> {
    let name = plan.name();
    let ledger = plan.pull_record.clone().map(pull::LedgerLocation::File);
    let pulls = ledger.as_ref().map(pull::read).transpose()?;
    let pulls = pulls.as_ref().map(pull::verdict);
    let existed = matches!(&name, TargetName::Path(path) if path.exists());
    let mut target = open(plan, &name, progress, stop)?;
    let mut settings = plan.settings_for(target.facts(), existed);
    if let OpenTarget::Volume(volume) = &target {
        settings.account_s = Some(volume.drain_s());
    }
    if let Some(pulls) = &pulls {
        pulls.is_of(target.facts())?;
    }
    progress.opened(target.facts())?;
    let own_account = match &name {
        TargetName::Path(path) => drive_of(path),
        TargetName::Drive(_) | TargetName::Volume(_) | TargetName::Null(_) => Ok(None),
    };
    let mut evidence = measure_opened(&mut target, &settings, progress, stop)?;
    match own_account {
        Ok(Some(found)) => enrich(&mut evidence.facts, &found),
        Ok(None) => {}
        Err(error) => {
            let note = format!("SMART was not read: {error}");
            evidence.facts.notes.push(note);
        }
    }
    drop(target);
    evidence.ensemble = ensemble(plan, &evidence, &settings, progress, stop)?;
    if !plan.drawn.drives.is_empty() && stop.load(Ordering::Relaxed) {
        let note = format!("{}: stopped", draws::title(&plan.drawn));
        evidence.incomplete.push(note);
    }
    evidence.pulls = pulls;
    settings.region = Some(evidence.region_bytes);
    let mut qualification = Qualification {
        version: FORMAT_VERSION,
        role: plan.role.name.clone(),
        profile: plan.profile.name().to_owned(),
        seed: plan.seed,
        incomplete: evidence.incomplete.clone(),
        target: assessed(plan.role, evidence),
        references: Vec::new(),
        kept: None,
    };
    if plan.references == ReferenceSelection::Kept {
        let beside = references::beside(plan.role, &name, &qualification.target.evidence)?;
        qualification.references = beside;
        qualification.kept = Some(references::kept_said());
    }
    progress.judged(&qualification)?;
    if let ReferenceSelection::Measured(drives) = &plan.references {
        measure_references(plan, drives, &settings, &mut qualification, progress, stop);
    }
    Ok(qualification)
}

fn assessed(role: &Role, evidence: Evidence) -> Assessment {
    Assessment {
        verdict: judge(role, &evidence),
        evidence,
    }
}

fn open(
    plan: &QualifyPlan,
    name: &TargetName,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<OpenTarget, LabError> {
    let file = match name {
        TargetName::Path(path) => path.as_path(),
        TargetName::Drive(_) | TargetName::Volume(_) | TargetName::Null(_) => Path::new(""),
    };
    let mut filling = |done, total| progress.filling(file, done, total);
    let needs = needs(plan.settings().region);
    OpenTarget::open(name, &needs, &plan.open, plan.kept, &mut filling, stop)
}

/// The ensemble of the target of `plan`: measured where the plan has drawn drives, else the one
/// that is kept of a drive of the catalogue.
///
/// # Errors
/// When a drawn drive cannot be measured.
fn ensemble(
    plan: &QualifyPlan,
    own: &Evidence,
    settings: &QualifySettings,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<Option<EnsembleEvidence>, LabError> {
    let drawn = &plan.drawn;
    if drawn.drives.is_empty() {
        return Ok(match &plan.target {
            Some(TargetName::Drive(name)) => kept_ensembles::kept(name),
            _ => None,
        });
    }
    progress.step(&QualifyStep {
        number: 1,
        count: 1,
        title: draws::title(drawn),
        expected_s: 0.0,
    });
    let measure = |drive: &CatalogueDrive| {
        let target = ModelledTarget::new(drive, plan.open.size)?;
        let mut open = OpenTarget::Modelled(Box::new(target), Vec::new());
        measure_opened(&mut open, settings, &mut SilentProgress, stop)
    };
    draws::measured(drawn, own, measure, stop).map(Some)
}

fn measure_opened(
    target: &mut OpenTarget,
    settings: &QualifySettings,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<Evidence, LabError> {
    let mut evidence =
        with_target!(&mut *target, inner => measure(&mut **inner, settings, progress, stop))?;
    evidence.rests_on = target.rests_on().to_vec();
    if let (OpenTarget::Modelled(model, _), Some(bytes)) = (&*target, settings.overwrite) {
        evidence.overwrite = overwritten(model, bytes, settings, progress, stop)?;
        if stop.load(Ordering::Relaxed) {
            let note = format!("{OVERWRITING}: stopped");
            evidence.incomplete.push(note);
        }
    }
    Ok(evidence)
}

/// The sustained step of a model; `None` when the drive refuses writes.
fn overwritten(
    model: &ModelledTarget,
    bytes: u64,
    settings: &QualifySettings,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) -> Result<Option<Overwrite>, LabError> {
    if model.drive().ended().is_some() || stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let facts = model.facts();
    let region = region_of(settings, facts.capacity)?;
    let count = steps(settings, region, facts.capacity, facts.block_size).len() + 1;
    let step = QualifyStep {
        number: count,
        count,
        title: OVERWRITING.into(),
        expected_s: 0.0,
    };
    progress.step(&step);
    let mut watch = |done, needed| progress.overwriting(done, needed);
    let (kept, seed) = (model.is_kept(), settings.seed);
    overwrite(model.drive(), kept, bytes, seed, &mut watch, stop).map(Some)
}

/// Measures drives of the catalogue by the same procedure, in virtual time, on several threads.
fn measure_references(
    plan: &QualifyPlan,
    drives: &[String],
    settings: &QualifySettings,
    qualification: &mut Qualification,
    progress: &mut dyn QualifyProgress,
    stop: &AtomicBool,
) {
    let target = plan.name();
    let is_other = |drive: &&String| TargetName::Drive((*drive).clone()) != target;
    let drives: Vec<&String> = drives.iter().filter(is_other).collect();
    let settings = QualifySettings {
        precondition: QualifySettings::usual(plan.profile, TargetKind::Modelled).precondition,
        whole_drive: false,
        loads: Vec::new(),
        until_overwritten: None,
        account_s: None,
        ..settings.clone()
    };
    let work = |drive: &&String| {
        if stop.load(Ordering::Relaxed) {
            return Err(LabError::refused("stopped", ""));
        }
        let name = TargetName::Drive((*drive).clone());
        let plain = OpenOptions::default();
        let mut unseen = |_, _| {};
        let mut open = OpenTarget::open(&name, &needs(None), &plain, plan.kept, &mut unseen, stop)?;
        let mut evidence = measure_opened(&mut open, &settings, &mut SilentProgress, stop)?;
        evidence.ensemble = kept_ensembles::kept(drive);
        Ok(assessed(plan.role, evidence))
    };
    if drives.is_empty() {
        return;
    }
    let mut results: Vec<_> = drives.iter().map(|_| None).collect();
    let mut ended = 0;
    progress.references(ended, drives.len());
    let threads = parallel::cores().min(THREADS_MAX);
    parallel::each(&drives, threads, work, |index, result| {
        ended += 1;
        progress.references(ended, drives.len());
        results[index] = Some(result);
    });
    for (name, result) in drives.iter().zip(results) {
        match result {
            Some(Ok(drive)) => qualification.references.push(drive),
            Some(Err(error)) => {
                let note = format!("{name}: not measured: {error}");
                qualification.incomplete.push(note);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualify::{QualifyOutcome, role};

    /// Stops when the last step begins.
    struct StopLast<'a>(&'a AtomicBool);

    impl QualifyProgress for StopLast<'_> {
        fn step(&mut self, step: &QualifyStep) {
            if step.title == OVERWRITING {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Stops when the draws begin.
    struct StopDraws<'a>(&'a AtomicBool);

    impl QualifyProgress for StopDraws<'_> {
        fn step(&mut self, step: &QualifyStep) {
            if step.title.contains("drawn constants") {
                self.0.store(true, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn a_stop_before_the_draws_decides_nothing_and_is_said() {
        let stop = AtomicBool::new(false);
        let name = "ddrdrive-x1";
        let drive = Some(TargetName::Drive(name.to_owned()));
        let plan = QualifyPlan {
            drawn: DrawnDrives {
                drives: vec![ssdlab_drives::catalogue::drive(name).unwrap(); 9],
                ..DrawnDrives::default()
            },
            ..QualifyPlan::new(drive, role("slog").unwrap())
        };
        let found = qualify(&plan, &mut StopDraws(&stop), &stop).unwrap();
        assert_eq!(found.target.verdict.outcome, QualifyOutcome::Unknown);
        let note = "the same of 9 drives with drawn constants: stopped";
        assert_eq!(found.incomplete, [note]);
        // Not stopped, nine of itself change nothing.
        let stop = AtomicBool::new(false);
        let found = qualify(&plan, &mut SilentProgress, &stop).unwrap();
        let ensemble = found.target.evidence.ensemble.unwrap();
        assert_eq!(ensemble.shares, []);
    }

    /// A verdict whose last step was stopped looked like one of a drive that does not settle.
    #[test]
    fn a_stop_in_the_last_step_is_said() {
        let stop = AtomicBool::new(false);
        let drive = Some(TargetName::Drive("ddrdrive-x1".to_owned()));
        let plan = QualifyPlan::new(drive, role("slog").unwrap());
        let found = qualify(&plan, &mut StopLast(&stop), &stop).unwrap();
        assert_eq!(found.target.verdict.outcome, QualifyOutcome::Unknown);
        assert_eq!(found.incomplete, [format!("{OVERWRITING}: stopped")]);
    }
}
