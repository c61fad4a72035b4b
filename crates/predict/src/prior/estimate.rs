//! Median and spread of a constant by class, from what single drives say.
//!
//! Drives of a family are alike, so a family counts once. The centre of a class is drawn towards
//! that of the wider class as if that were one more family of it. The spread is what it is for: how
//! far a drive is from what the *other* families say. 80 % of such residuals, of all classes of the
//! constant, lie within 1.28 of it; assumed ones that count as four drives stand beside them.

use super::observe::Observation;
use ssdlab_life::draft::prior::{ClassPrior, PriorConstant};
use std::collections::{BTreeMap, BTreeSet};

/// Families that the centre of the wider class counts for in one.
const PULL: f64 = 1.0;
/// Assumed standard deviation for a drive of another family, and the drives that it counts for.
const ASSUMED: f64 = 0.58;
const ASSUMED_COUNT: usize = 4;
/// Quantile of a normal distribution that 10 % lie above, and the share that lies within.
const TENTH: f64 = 1.2816;
const WITHIN: f64 = 0.8;

/// A drive: its family, its classes from the narrowest on, and the logarithm of its value.
#[derive(Clone, Debug)]
struct DriveValue {
    family: String,
    classes: Vec<String>,
    log: f64,
    /// See [`Observation::beside`].
    beside: f64,
}

impl DriveValue {
    /// How many times as long the drive's whole command takes as with `log` in place of its own.
    fn ratio_to(&self, log: f64) -> f64 {
        (self.beside + self.log.exp()) / (self.beside + log.exp())
    }
}

/// Every constant of every class that a drive was seen of, and of the wider ones.
pub(super) fn classes(observations: &[Observation]) -> Vec<ClassPrior> {
    let constants = PriorConstant::ALL.into_iter();
    constants
        .flat_map(|constant| match constant {
            PriorConstant::DurableRatio => of_ratios(constant, &drives(observations, constant)),
            _ => of_constant(constant, &drives(observations, constant)),
        })
        .collect()
}

/// What each drive says of a constant: the median of its values.
fn drives(observations: &[Observation], constant: PriorConstant) -> Vec<DriveValue> {
    type Values = Vec<(f64, f64)>;
    let mut values: BTreeMap<(&str, &str, Vec<String>), Values> = BTreeMap::new();
    for observation in observations.iter().filter(|o| o.constant == constant) {
        let classes = constant.classes(observation.class);
        let key = (
            observation.family.as_str(),
            observation.drive.as_str(),
            classes,
        );
        let value = (observation.value.ln(), observation.beside);
        values.entry(key).or_default().push(value);
    }
    let drive = |((family, _, classes), values): ((&str, &str, Vec<String>), Values)| {
        let (logs, besides): (Vec<f64>, Vec<f64>) = values.into_iter().unzip();
        Some(DriveValue {
            family: family.to_owned(),
            classes,
            log: crate::median(logs)?,
            beside: crate::median(besides)?,
        })
    };
    values.into_iter().filter_map(drive).collect()
}

/// What drives of a class are about.
fn centre(constant: PriorConstant, drives: &[&DriveValue], classes: &[String]) -> Option<f64> {
    let (class, wider) = classes.split_first()?;
    let mut families: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for drive in drives.iter().filter(|drive| drive.classes.contains(class)) {
        families.entry(&drive.family).or_default().push(drive.log);
    }
    let above = centre(constant, drives, wider);
    if families.is_empty() {
        return above;
    }
    let count = families.len() as f64;
    let means: Vec<f64> = families.values().map(|logs| mean(logs)).collect();
    // Some drives acknowledge what is in no cell, and caches are of three designs: a few are far
    // from all others.
    let own = match constant {
        PriorConstant::FlushTime | PriorConstant::FuaTime | PriorConstant::CacheShare => {
            crate::median(means)?
        }
        _ => mean(&means),
    };
    Some(above.map_or(own, |above| (count * own + PULL * above) / (count + PULL)))
}

/// How far each drive is from what other families say of it, from its class `level` on.
fn residuals(constant: PriorConstant, drives: &[DriveValue], level: usize) -> Vec<f64> {
    let residual = |drive: &DriveValue| {
        let others: Vec<&DriveValue> = drives
            .iter()
            .filter(|other| other.family != drive.family)
            .collect();
        let classes = drive.classes.get(level..)?;
        let by_others = centre(constant, &others, classes)?;
        Some(drive.ratio_to(by_others).ln().abs())
    };
    drives.iter().filter_map(residual).collect()
}

fn of_constant(constant: PriorConstant, drives: &[DriveValue]) -> Vec<ClassPrior> {
    let all: Vec<&DriveValue> = drives.iter().collect();
    let mut named = BTreeSet::new();
    for drive in drives {
        let levels = drive.classes.len();
        for level in 0..levels {
            // From the end, so that makers do not shift the others.
            named.insert((levels - level, drive.classes[level..].to_vec()));
        }
    }
    let spread_at = |width: usize| {
        let with_level = |drive: &&DriveValue| drive.classes.len() >= width;
        let of_width: Vec<DriveValue> = drives.iter().filter(with_level).cloned().collect();
        let own = |drive: &DriveValue| DriveValue {
            classes: drive.classes[drive.classes.len() - width..].to_vec(),
            ..drive.clone()
        };
        let of_width: Vec<DriveValue> = of_width.iter().map(own).collect();
        spread(residuals(constant, &of_width, 0))
    };
    let prior = |(width, classes): (usize, Vec<String>)| {
        let of_class = all
            .iter()
            .filter(|drive| drive.classes.contains(&classes[0]));
        let families: BTreeSet<&str> = of_class.clone().map(|d| d.family.as_str()).collect();
        let median = centre(constant, &all, &classes)?.exp();
        let beside = crate::median(of_class.clone().map(|d| d.beside).collect())?;
        Some(ClassPrior {
            constant,
            class: classes[0].clone(),
            median: significant(median),
            spread: significant(spread_of_part(median, beside, spread_at(width))),
            drives: of_class.count(),
            families: families.len(),
        })
    };
    named.into_iter().rev().filter_map(prior).collect()
}

/// The spread of a time of which, with what stands `beside` it, one in ten is as much longer as of
/// wholes with the spread `whole`.
fn spread_of_part(median: f64, beside: f64, whole: f64) -> f64 {
    let slowest = (median + beside) * (TENTH * whole).exp() - beside;
    (slowest / median).ln() / TENTH
}

/// Ratios of what other families say to what was measured: their spread alone is used, and it is
/// that of their own class as far as there are drives of it.
fn of_ratios(constant: PriorConstant, drives: &[DriveValue]) -> Vec<ClassPrior> {
    let named: BTreeSet<&String> = drives.iter().flat_map(|d| d.classes.iter()).collect();
    let prior = |class: &String| {
        let of_class: Vec<&DriveValue> = drives
            .iter()
            .filter(|d| d.classes.contains(class))
            .collect();
        let families: BTreeSet<&str> = of_class.iter().map(|d| d.family.as_str()).collect();
        ClassPrior {
            constant,
            class: class.clone(),
            median: 1.0,
            spread: significant(spread(of_class.iter().map(|d| d.log.abs()).collect())),
            drives: of_class.len(),
            families: families.len(),
        }
    };
    named.into_iter().map(prior).collect()
}

/// The spread of which 80 % of the residuals lie within 1.28.
fn spread(mut residuals: Vec<f64>) -> f64 {
    // The middles of four parts of a normal distribution's absolute values.
    let assumed = [0.157, 0.489, 0.887, 1.534].map(|part| part * ASSUMED);
    residuals.extend(&assumed[..ASSUMED_COUNT]);
    residuals.sort_by(f64::total_cmp);
    let place = WITHIN * residuals.len() as f64 - 0.5;
    let below = residuals[place.floor() as usize];
    let above = residuals[(place.ceil() as usize).min(residuals.len() - 1)];
    (below + (above - below) * place.fract()) / TENTH
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Four significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
