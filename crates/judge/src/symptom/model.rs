//! A symptom of a modelled drive, by what its forks do without its costs.

use super::answer::{SymptomAnswer, SymptomCause, SymptomFigure};
use super::kind::{DriveKind, SheetFigures};
use super::{Symptom, answer};
use crate::ablate::{AblationLoad, Decomposition, FAULT, ReliefLevels, decompose, measure};
use crate::cause::Cause;
use ssdlab_base::{LabError, parallel};
use ssdlab_bench::engine::devices::{Devices, new_drive};
use ssdlab_ssd::{Command, Drive, DriveConfig, Nanos};
use ssdlab_view::units;

/// Times as long as the typical command of its load that a slow one takes, at least, to stand out.
const STANDS_OUT: f64 = 3.0;
const IN_ORDER: u32 = 128 << 10;
const DEPTH: u32 = 32;

/// A new drive of `config`, filled once in order and left to rest.
///
/// # Errors
/// When the drive is impossible.
pub fn fresh(config: &DriveConfig) -> Result<Drive, LabError> {
    let mut host = Devices::one(new_drive(config)?);
    let blocks = config.user_bytes / u64::from(IN_ORDER);
    let mut fill = (0..blocks).map(|n| Command::write(n * u64::from(IN_ORDER), IN_ORDER));
    host.keep(DEPTH, Nanos::MAX, &mut || fill.next());
    host.settle();
    Ok(host.into_drive())
}

/// One load of a symptom: taken apart, and what it is held against.
struct SymptomLoad {
    apart: Decomposition,
    new_ns: Option<f64>,
    sheet_ns: Option<f64>,
    /// Of a percentile: the mean time of a command of the same load.
    typical_ns: Option<f64>,
}

impl SymptomLoad {
    fn of(
        drive: &Drive,
        new: Option<&Drive>,
        sheet: &SheetFigures,
        load: AblationLoad,
        seed: u64,
    ) -> SymptomLoad {
        let levels = ReliefLevels::healthy(drive.config());
        let typical = load.typical();
        SymptomLoad {
            apart: decompose(drive, load, &levels, seed),
            new_ns: new.map(|new| measure(new, load, &[], seed).ns),
            sheet_ns: sheet.of(load),
            typical_ns: typical
                .map(|typical| measure(drive, typical, &[], seed).ns * f64::from(typical.depth())),
        }
    }

    /// Whether the load has the symptom at all, whatever causes it.
    fn has(&self, symptom: Symptom) -> bool {
        let now = self.apart.ns;
        match symptom {
            Symptom::SlowsDown => self.new_ns.is_none_or(|new| now >= FAULT * new),
            Symptom::Spikes => self
                .typical_ns
                .is_none_or(|typical| now >= STANDS_OUT * typical),
            Symptom::SlowerThanSheet => !self.meets_sheet(),
            _ => true,
        }
    }

    fn meets_sheet(&self) -> bool {
        self.sheet_ns
            .is_some_and(|sheet| self.apart.ns < FAULT * sheet)
    }

    /// As fast when new as the sheet says: its design is not the cause.
    fn met_sheet_when_new(&self) -> bool {
        let (Some(sheet), Some(new)) = (self.sheet_ns, self.new_ns) else {
            return false;
        };
        new < FAULT * sheet
    }

    fn causes(
        &self,
        symptom: Symptom,
        kind: &DriveKind,
        config: &DriveConfig,
    ) -> Vec<SymptomCause> {
        let mut before_ns = self.apart.ns;
        let mut causes = Vec::new();
        for share in &self.apart.shares {
            let after_ns = before_ns - share.ns;
            let counts = |cause: &&Cause| {
                symptom.can_come_from(**cause)
                    && (symptom != Symptom::SlowerThanSheet
                        || !self.met_sheet_when_new()
                        || cause.can_develop())
            };
            if share.factor >= FAULT {
                let evidence = format!(
                    "{}: {} with it, {} without",
                    self.apart.load.title(),
                    self.apart.load.figure(before_ns),
                    self.apart.load.figure(after_ns)
                );
                let causes_of_share = share.causes.iter().filter(counts);
                causes.extend(causes_of_share.map(|cause| SymptomCause {
                    cause: *cause,
                    name: cause.name().to_owned(),
                    sentence: cause.sentence(config),
                    normal: kind.has(*cause),
                    factor: share.factor,
                    evidence: evidence.clone(),
                    remedy: cause.remedy(),
                }));
            }
            before_ns = after_ns;
        }
        causes
    }

    fn figure(&self) -> SymptomFigure {
        let load = self.apart.load;
        let text = |ns: f64| load.figure(ns);
        let healthy = (self.apart.factor() >= FAULT).then_some(self.apart.rest_ns);
        let mut title = load.title().to_owned();
        if let Some(typical) = self.typical_ns {
            title += &format!(" (mean {})", units::time_mean(typical));
        }
        SymptomFigure {
            title,
            now: text(self.apart.ns),
            now_ns: self.apart.ns,
            new: self.new_ns.map(text),
            healthy: healthy.map(text),
            sheet: self.sheet_ns.map(text),
        }
    }
}

/// Takes a drive in the state that is asked about apart, under the loads of a symptom.
///
/// # Errors
/// When a new drive of its kind cannot be made.
pub fn of_model(
    drive: &Drive,
    sheet: &SheetFigures,
    symptom: Symptom,
    seed: u64,
) -> Result<SymptomAnswer, LabError> {
    let config = drive.config();
    let kind = DriveKind::of(config);
    let beside_new = symptom.is_change() || symptom == Symptom::SlowerThanSheet;
    let new = beside_new.then(|| fresh(config)).transpose()?;
    let taken_apart =
        |load: &AblationLoad| Ok(SymptomLoad::of(drive, new.as_ref(), sheet, *load, seed));
    let loads = parallel::all(symptom.loads(), parallel::cores(), taken_apart)?;
    let mut causes: Vec<SymptomCause> = Vec::new();
    for load in loads.iter().filter(|load| load.has(symptom)) {
        for cause in load.causes(symptom, &kind, config) {
            match causes.iter_mut().find(|known| known.cause == cause.cause) {
                Some(known) if known.factor >= cause.factor => {}
                Some(known) => *known = cause,
                None => causes.push(cause),
            }
        }
    }
    causes.sort_by(|a, b| {
        let settings = b.cause.is_setting().cmp(&a.cause.is_setting());
        settings.then(b.factor.total_cmp(&a.factor))
    });
    let figures = loads.iter().map(SymptomLoad::figure).collect();
    let mut notes = Vec::new();
    if symptom == Symptom::SlowerThanSheet {
        notes.push(if sheet.loads.is_empty() {
            "no figure of its sheet is known: it is held against healthy drives of its interface \
             and cells"
                .to_owned()
        } else {
            sheet.condition.clone()
        });
    }
    Ok(answer::of_causes(
        config.name.clone(),
        &kind,
        symptom,
        causes,
        figures,
        notes,
    ))
}
