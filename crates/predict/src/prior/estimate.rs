//! Median and spread of a constant by class, from what single drives say.
//!
//! Drives of a family are alike, so a family counts once. The median of a class is drawn towards
//! that of all classes as if that were one more family of it. Standard deviations are pooled over
//! classes, with an assumed one that counts as four families (0.5) and two drives (0.3).

use super::observe::Observation;
use ssdlab_life::draft::prior::{ANY, ClassPrior, PriorConstant};
use std::collections::BTreeMap;

/// Families that the median of all classes counts for in one.
const PULL: f64 = 1.0;
/// Assumed deviation between families, and the families that it counts for.
const BETWEEN: f64 = 0.5;
const BETWEEN_COUNT: f64 = 4.0;
/// The same within a family.
const WITHIN: f64 = 0.3;
const WITHIN_COUNT: f64 = 2.0;
/// By how much the quantile that 10 % lie above is wider for few degrees of freedom: Student's t,
/// to 1 % from four on.
const FEW: f64 = 0.74;

/// A family: logarithms of its drives' values.
#[derive(Default)]
struct FamilyValues {
    drives: BTreeMap<String, Vec<f64>>,
}

impl FamilyValues {
    fn by_drive(&self) -> Vec<f64> {
        let medians = self.drives.values();
        medians
            .filter_map(|values| crate::median(values.clone()))
            .collect()
    }

    fn mean(&self) -> f64 {
        mean(&self.by_drive())
    }
}

/// Families of a class by name.
type ClassFamilies = BTreeMap<String, FamilyValues>;

/// Every constant of every class that a drive was seen of, and of any class.
pub(super) fn classes(observations: &[Observation]) -> Vec<ClassPrior> {
    let mut priors = Vec::new();
    for constant in PriorConstant::ALL {
        let mut by_class: BTreeMap<String, ClassFamilies> = BTreeMap::new();
        for observation in observations.iter().filter(|o| o.constant == constant) {
            let class = by_class
                .entry(constant.class(observation.class))
                .or_default();
            let family = class.entry(observation.family.clone()).or_default();
            let drive = family.drives.entry(observation.drive.clone()).or_default();
            drive.push(observation.value.ln());
        }
        priors.extend(of_constant(constant, &by_class));
    }
    priors
}

fn of_constant(
    constant: PriorConstant,
    by_class: &BTreeMap<String, ClassFamilies>,
) -> Vec<ClassPrior> {
    let means = |families: &ClassFamilies| -> Vec<f64> {
        families.values().map(FamilyValues::mean).collect()
    };
    let means_of_families: Vec<f64> = by_class.values().flat_map(means).collect();
    if means_of_families.is_empty() {
        return Vec::new();
    }
    let middle = mean(&means_of_families);
    let (mut between, mut between_count) = (BETWEEN_COUNT * BETWEEN * BETWEEN, BETWEEN_COUNT);
    let (mut within, mut within_count) = (WITHIN_COUNT * WITHIN * WITHIN, WITHIN_COUNT);
    let mut apart = Vec::new();
    for families in by_class.values() {
        let of_families = means(families);
        let own = mean(&of_families);
        apart.push(own - middle);
        between += of_families.iter().map(|m| (m - own).powi(2)).sum::<f64>();
        between_count += of_families.len() as f64 - 1.0;
        for family in families.values() {
            let drives = family.by_drive();
            let of_family = mean(&drives);
            within += drives.iter().map(|d| (d - of_family).powi(2)).sum::<f64>();
            within_count += drives.len() as f64 - 1.0;
        }
    }
    let between = between / between_count;
    let within = within / within_count;
    let between_classes = apart.iter().map(|m| m * m).sum::<f64>() / apart.len() as f64;
    let few = 1.0 + FEW / between_count;
    let drives = |families: &ClassFamilies| families.values().map(|f| f.drives.len()).sum();
    let mut priors: Vec<ClassPrior> = by_class
        .iter()
        .map(|(class, families)| {
            let of_families = means(families);
            let count = of_families.len() as f64;
            let median = (of_families.iter().sum::<f64>() + PULL * middle) / (count + PULL);
            let variance = between + within + between / (count + PULL);
            ClassPrior {
                constant,
                class: class.clone(),
                median: significant(median.exp()),
                spread: significant(variance.sqrt() * few),
                drives: drives(families),
                families: of_families.len(),
            }
        })
        .collect();
    let variance = between + within + between_classes.max(BETWEEN * BETWEEN);
    priors.push(ClassPrior {
        constant,
        class: ANY.to_owned(),
        median: significant(middle.exp()),
        spread: significant(variance.sqrt() * few),
        drives: by_class.values().map(drives).sum(),
        families: means_of_families.len(),
    });
    priors
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Four significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}
