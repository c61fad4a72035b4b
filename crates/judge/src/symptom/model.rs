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
/// How long a drive rests before it is asked about what is seen at rest.
const REST: Nanos = Nanos::from_secs(60);
const IN_ORDER: u32 = 128 << 10;
const DEPTH: u32 = 32;

/// Share by which a cost must weigh more on the drive as it is than on the new one.
const NOTICEABLE: f64 = 0.25;

fn evidence(load: AblationLoad, with_ns: f64, without_ns: f64) -> String {
    format!(
        "{}: {} with it, {} without",
        load.title(),
        load.figure(with_ns),
        load.figure(without_ns)
    )
}

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
    Ok(rested(host.into_drive()))
}

/// The drive after a rest: its buffer is empty, and no work is queued in it.
pub fn rested(drive: Drive) -> Drive {
    let mut host = Devices::one(drive);
    host.rest(REST);
    host.into_drive()
}

/// One load of a symptom: taken apart, and what it is held against.
struct SymptomLoad {
    apart: Decomposition,
    new_ns: Option<f64>,
    sheet_ns: Option<f64>,
    /// Of a percentile: the mean time of a command of the same load.
    typical_ns: Option<f64>,
    /// How many times as fast the drive when new would be without each cause.
    new_factors: Vec<(Cause, f64)>,
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
        let mut apart = decompose(drive, load, &levels, seed);
        let sheet_ns = sheet.of(load);
        // Within what drives of its kind do at worst, and yet slower than its own sheet.
        let explained = apart.shares.iter().any(|share| share.factor >= FAULT);
        if sheet_ns.is_some_and(|sheet| apart.ns >= FAULT * sheet) && !explained {
            apart = decompose(drive, load, &ReliefLevels::free(), seed);
            apart.shares.truncate(1);
            apart.rest_ns = apart.ns - apart.shares.iter().map(|share| share.ns).sum::<f64>();
        }
        let new_ns = new.map(|new| measure(new, load, &[], seed).ns);
        let moved = measure(drive, load, &[], seed).moved;
        let causes = apart.shares.iter().flat_map(|share| &share.causes);
        let new_factors = new.iter().zip(new_ns).flat_map(|(new, new_ns)| {
            let factor = |cause: &Cause| {
                let reliefs = levels.reliefs(*cause, drive.config(), moved);
                let without_ns = measure(new, load, &reliefs, seed).ns;
                (*cause, new_ns / without_ns.max(1.0))
            };
            causes.clone().map(factor).collect::<Vec<_>>()
        });
        let new_factors = new_factors.collect();
        SymptomLoad {
            apart,
            new_ns,
            new_factors,
            sheet_ns,
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

    /// Whether a cause that makes the drive `factor` times as slow now costs it less when new.
    fn slows_down_by(&self, cause: Cause, factor: f64) -> bool {
        let when_new = self.new_factors.iter().find(|one| one.0 == cause);
        when_new.is_none_or(|(_, when_new)| factor >= FAULT * when_new)
    }

    fn meets_sheet(&self) -> bool {
        self.sheet_ns
            .is_some_and(|sheet| self.apart.ns < FAULT * sheet)
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
                    && (symptom != Symptom::SlowsDown || self.slows_down_by(**cause, share.factor))
            };
            if share.factor >= FAULT {
                let evidence = evidence(self.apart.load, before_ns, after_ns);
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

    /// How many times as slow as the drive when new.
    fn slowed(&self) -> f64 {
        self.new_ns.map_or(1.0, |new| self.apart.ns / new)
    }

    /// What a drive that is as it should be spends the time on that it did not when new: the
    /// largest of its costs, each taken down to nothing.
    fn limit(&self, drive: &Drive, new: &Drive, seed: u64) -> Option<SymptomCause> {
        let (load, levels) = (self.apart.load, ReliefLevels::free());
        let free = decompose(drive, load, &levels, seed);
        let moved = measure(drive, load, &[], seed).moved;
        let develops = |cause: &&Cause| {
            let reliefs = levels.reliefs(**cause, drive.config(), moved);
            let (ns, without_ns) = (free.ns, measure(drive, load, &reliefs, seed).ns);
            let new_without_ns = measure(new, load, &reliefs, seed).ns;
            let when_new = self
                .new_ns
                .map_or(1.0, |new_ns| new_ns / new_without_ns.max(1.0));
            ns / without_ns.max(1.0) >= when_new * (1.0 + NOTICEABLE)
        };
        let mut causes = free.shares.iter().flat_map(|share| &share.causes);
        let cause = *causes.find(develops)?;
        let reliefs = levels.reliefs(cause, drive.config(), moved);
        let without_ns = measure(drive, load, &reliefs, seed).ns;
        Some(SymptomCause {
            cause,
            name: cause.name().to_owned(),
            sentence: cause.sentence(drive.config()),
            normal: true,
            factor: free.ns / without_ns.max(1.0),
            evidence: evidence(load, free.ns, without_ns),
            remedy: cause.remedy(),
        })
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
    let at_rest = symptom.is_at_rest().then(|| rested(drive.clone()));
    let drive = at_rest.as_ref().unwrap_or(drive);
    let config = drive.config();
    let kind = DriveKind::of(config);
    // What a sheet promises is another symptom's question.
    let no_sheet = SheetFigures::default();
    let sheet = if symptom == Symptom::SlowerThanSheet {
        sheet
    } else {
        &no_sheet
    };
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
    let mut figures: Vec<SymptomFigure> = loads.iter().map(SymptomLoad::figure).collect();
    // A drive that is as its kind slows down too: say by what, and by how much in all. A healthy
    // drive's figures are no measure then.
    if symptom == Symptom::SlowsDown
        && causes.iter().all(|cause| cause.normal)
        && let Some(new) = &new
    {
        let slowest = |a: &&SymptomLoad, b: &&SymptomLoad| a.slowed().total_cmp(&b.slowed());
        let slowed = loads.iter().filter(|load| load.slowed() >= FAULT);
        let load = slowed.max_by(slowest);
        if let Some(limit) = load.and_then(|load| load.limit(drive, new, seed)) {
            causes = vec![limit];
            figures.iter_mut().for_each(|figure| figure.healthy = None);
        }
    }
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
