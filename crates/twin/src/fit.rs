//! The ensemble for a table: what it decides, and which row decides it.

use crate::ensemble::{
    BEFORE_SIGMA, EnsembleMember, SPARE, WeightedMember, design, drawn, normalised, quantiles,
};
use crate::latency;
use crate::likeness::{ErrorUnder, MeasuredErrors};
use crate::spread::interval;
use crate::structure;
use crate::surface::{SPARES, SimulatedLoad, Simulator, SurfaceRequest, WafCurve, enclosing};
use crate::table::MeasurementTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::collections::BTreeMap;

/// Layout that is simulated first, of [`structure::ALL`].
const FIRST: usize = 1;
/// Members that are kept.
const KEPT: usize = 400;
/// Spare areas of a layout whose weight is below this part of its greatest after the first load
/// are not simulated for the others.
const NEGLIGIBLE: f64 = 1e-3;
/// A median is stated when the 90 % interval is within this factor of it.
const STATED: f64 = 1.10;
/// An interval wider than this part of the prior's (in logarithms) decides nothing.
const UNDECIDED: f64 = 0.6;
/// A layout is stated, or called likely, from this probability, all layouts being as likely before.
const LAYOUT_STATED: f64 = 0.95;
const LAYOUT_LIKELY: f64 = 0.5;
/// The best model may miss the rows by this many sigma, root mean square. From 1 on, every sigma is
/// taken as many times as large (the Birge ratio): rows that contradict each other decide less.
const MISS_MAX: f64 = 4.0;
/// Sigma of ln of counted WAF: with the drive's own WAF under the sequential load, and without.
const COUNTED_SIGMA: (f64, f64) = (0.03, 0.08);
/// Sigma of ln of the spare area that a write cliff gives.
const CLIFF_SIGMA: f64 = 0.05;

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueGrade {
    /// The interval is within 10 % of the median.
    Value,
    /// Narrower than before, but no value.
    Range,
    /// No row decides it.
    Unknown,
}

/// A number of the drive.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knob {
    /// Name for people.
    pub name: String,
    /// 5, 50 and 95 % of the ensemble; the median only where it is stated.
    pub interval: [f64; 2],
    /// The median, when `grade` is a value.
    pub value: Option<f64>,
    /// 5 and 95 % before any row.
    pub prior: [f64; 2],
    /// How well it is known.
    pub grade: ValueGrade,
    /// The row without which it is known least.
    pub decided_by: Option<String>,
}

/// The drive's layout.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayoutEstimate {
    /// Most probable victim policy and frontiers.
    pub text: String,
    /// Its probability, all layouts being as likely before.
    pub probability: f64,
    /// How well it is known.
    pub grade: ValueGrade,
    /// The row without which it is known least.
    pub decided_by: Option<String>,
}

/// Measurements of one load, and what the ensemble has for it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoadFit {
    /// The load.
    pub load: SimulatedLoad,
    /// Lines of the table.
    pub lines: Vec<usize>,
    /// Geometric mean of the measured rates, B/s.
    pub rate: f64,
    /// Geometric mean of counted WAF, less that under the sequential load.
    pub waf: Option<f64>,
    /// Geometric mean of the spare area, unused space included, that its write cliffs give.
    #[serde(default)]
    pub room: Option<f64>,
    /// Geometric mean of the rates before its write cliffs, B/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<f64>,
    /// 5, 50 and 95 % of the ensemble, B/s, the model's own error included.
    pub model: [f64; 3],
}

/// A fitted ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Twin {
    /// `ssdlab-twin`.
    pub format: String,
    /// Version of this structure.
    pub version: u32,
    /// Drive file that it began with.
    pub from: String,
    /// User capacity, bytes.
    pub capacity: u64,
    /// Seed.
    pub seed: u64,
    /// What was measured.
    pub table: MeasurementTable,
    /// Why nothing is known, where that is so.
    pub unknown: Option<String>,
    /// By how many times the rows miss the best model more than the models' error explains; 1 where
    /// they do not. Intervals are wider by it.
    #[serde(default = "one")]
    pub inflation: f64,
    /// The loads measured.
    pub figures: Vec<LoadFit>,
    /// Numbers.
    pub knobs: Vec<Knob>,
    /// Layout.
    pub layout: Option<LayoutEstimate>,
    /// The model of the greatest weight.
    pub best: Option<EnsembleMember>,
    /// The ensemble.
    pub members: Vec<WeightedMember>,
    /// Latency that was measured.
    #[serde(default)]
    pub latency: Vec<latency::MeasuredLatency>,
}

fn one() -> f64 {
    1.0
}

impl Twin {
    /// Errors of the models under the loads that were measured.
    pub(crate) fn measured_errors(&self) -> MeasuredErrors {
        let figures = self.figures.iter();
        let measured = figures.map(|figure| (&figure.load, figure.lines.len()));
        MeasuredErrors::new(measured, self.capacity)
    }
}

/// Agreement of every member with every figure.
struct MemberLikelihoods {
    members: Vec<(EnsembleMember, f64)>,
    /// By member: logarithm of the likelihood of all figures.
    totals: Vec<f64>,
    /// By figure: what it adds to that of each member, given all others.
    by_figure: Vec<Vec<f64>>,
    /// By member: ln(measured / model) of each figure.
    errors: Vec<Vec<f64>>,
}

impl MemberLikelihoods {
    /// Makes every sigma `inflation` times as large.
    fn soften(&mut self, inflation: f64) {
        let by_figure = self.by_figure.iter_mut().flatten();
        for log in by_figure.chain(&mut self.totals) {
            *log /= inflation * inflation;
        }
    }

    /// Weights of the members, without one of the figures.
    fn weights(&self, without: Option<usize>) -> Vec<f64> {
        let mut sums: Vec<f64> = self.members.iter().map(|(_, log)| *log).collect();
        sums.iter_mut().zip(&self.totals).for_each(|(s, l)| *s += l);
        if let Some(logs) = without.map(|i| &self.by_figure[i]) {
            sums.iter_mut().zip(logs).for_each(|(sum, log)| *sum -= log);
        }
        normalised(&sums)
    }
}

/// Fits an ensemble to `table`.
///
/// # Errors
/// When a load cannot be simulated, or the work was stopped.
pub fn fit(
    table: &MeasurementTable,
    from: &str,
    simulator: &Simulator<'_>,
) -> Result<Twin, LabError> {
    let mut twin = Twin {
        format: "ssdlab-twin".into(),
        version: 1,
        from: from.into(),
        capacity: simulator.capacity,
        seed: simulator.seed,
        table: table.clone(),
        unknown: None,
        inflation: 1.0,
        figures: figures(table),
        knobs: Vec::new(),
        layout: None,
        best: None,
        members: Vec::new(),
        latency: Vec::new(),
    };
    if twin.figures.is_empty() {
        twin.unknown = Some("no row is a settled rate of a load".into());
        return Ok(twin);
    }
    let before = mean(twin.figures.iter().filter_map(|figure| figure.before));
    let ratio = before.map(|before| table.sequential / before);
    let members = design(simulator.seed as u32, ratio);
    let curves = simulated(&twin, &members, simulator)?;
    let mut agreement = agreement(&twin, members, &curves);
    let miss = misfit(&agreement, twin.figures.len());
    // Not a number counts as missed.
    if !miss.le(&MISS_MAX) {
        twin.unknown = Some(format!(
            "no model explains these rows: the best one misses them by {miss:.1} sigma"
        ));
        return Ok(twin);
    }
    twin.inflation = miss.max(1.0);
    agreement.soften(twin.inflation);
    let weights = agreement.weights(None);
    let prior = design(simulator.seed as u32, None);
    twin.knobs = knobs(&twin.figures, &prior, &agreement, &weights);
    twin.layout = Some(layout(&twin.figures, &agreement, &weights));
    let weighted: Vec<WeightedMember> = agreement
        .members
        .iter()
        .zip(&weights)
        .zip(&agreement.errors)
        .map(|(((member, _), &weight), errors)| WeightedMember {
            member: *member,
            weight,
            errors: errors.iter().map(|error| rounded(*error)).collect(),
        })
        .collect();
    let best = weighted.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
    twin.best = best.map(|best| best.member);
    twin.members = drawn(&weighted, KEPT);
    for (i, figure) in twin.figures.iter_mut().enumerate() {
        // What the models say by themselves, so that a row that they cannot explain is seen.
        let error = ErrorUnder::unknown().inflated(twin.inflation);
        figure.model = interval(&twin.members, &error, table.sequential, |member| {
            waf_of(&curves, i, member)
        });
    }
    Ok(twin)
}

/// An error as files have it.
fn rounded(error: f64) -> f64 {
    (error * 1e5).round() / 1e5
}

/// WAF of a member under a load that was simulated for its layout.
pub(crate) fn waf_of(
    curves: &BTreeMap<(usize, usize), WafCurve>,
    load: usize,
    member: &EnsembleMember,
) -> f64 {
    let curve = curves.get(&(load, member.layout));
    curve.map_or(f64::NAN, |curve| curve.at(member.spare))
}

/// Rows of one load together.
fn figures(table: &MeasurementTable) -> Vec<LoadFit> {
    let mut sums: Vec<(LoadFit, f64)> = Vec::new();
    for row in table.used() {
        let base = table.sequential_waf.unwrap_or(1.0);
        let waf = row.waf.map(|waf| (waf / base).max(1.0));
        // Of other loads, the cliff depends on the layout.
        let is_uniform = row.load.pattern == "uniform";
        let room = row.cliff.filter(|_| is_uniform);
        // A skewed load is partly absorbed by the buffer.
        let before = row.before.filter(|_| is_uniform);
        match sums.iter_mut().find(|(f, _)| f.load == row.load) {
            Some((figure, sum)) => {
                figure.lines.push(row.line);
                *sum += row.rate.ln();
                figure.rate = (*sum / figure.lines.len() as f64).exp();
                figure.waf = figure.waf.or(waf);
                figure.room = both(figure.room, room);
                figure.before = both(figure.before, before);
            }
            None => sums.push((
                LoadFit {
                    load: row.load.clone(),
                    lines: vec![row.line],
                    rate: row.rate,
                    waf,
                    room,
                    before,
                    model: [0.0; 3],
                },
                row.rate.ln(),
            )),
        }
    }
    sums.into_iter().map(|(figure, _)| figure).collect()
}

/// Geometric mean of what is known of two.
fn both(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some((a * b).sqrt()),
        (a, b) => a.or(b),
    }
}

/// Geometric mean.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, n), value| (sum + value.ln(), n + 1));
    (count > 0).then(|| (sum / f64::from(count)).exp())
}

/// Simulates what the fit needs: the first load (uniform and the fullest, if there is one) at
/// every spare area for one layout, then only where that leaves weight.
fn simulated(
    twin: &Twin,
    members: &[(EnsembleMember, f64)],
    simulator: &Simulator<'_>,
) -> Result<BTreeMap<(usize, usize), WafCurve>, LabError> {
    let loads: Vec<SimulatedLoad> = twin.figures.iter().map(|f| f.load.clone()).collect();
    let rank = |load: &SimulatedLoad| (load.pattern == "uniform", (load.used * 1e4) as u64);
    let first = (0..loads.len()).max_by_key(|&i| (rank(&loads[i]), loads.len() - i));
    let first = first.unwrap_or(0);
    let everywhere = enclosing(SPARE.0, SPARE.1);
    let mut curves = simulator.curves(&loads, &[(first, FIRST, everywhere)])?;
    let around = plausible_spares(twin, members, first, FIRST, &curves);
    // Another layout may need a step more or less for the same rate.
    let around = around.start().saturating_sub(1)..=(around.end() + 1).min(SPARES.len() - 1);
    let layouts = 0..structure::ALL.len();
    let requests: Vec<SurfaceRequest> = layouts
        .clone()
        .map(|s| (first, s, around.clone()))
        .collect();
    curves.append(&mut simulator.curves(&loads, &requests)?);
    let mut narrow = Vec::new();
    for layout in layouts {
        let around = plausible_spares(twin, members, first, layout, &curves);
        let others = (0..loads.len()).filter(|load| *load != first);
        narrow.extend(others.map(|load| (load, layout, around.clone())));
    }
    curves.append(&mut simulator.curves(&loads, &narrow)?);
    Ok(curves)
}

/// Spare areas that a figure leaves some weight, for one layout.
fn plausible_spares(
    twin: &Twin,
    members: &[(EnsembleMember, f64)],
    figure: usize,
    layout: usize,
    curves: &BTreeMap<(usize, usize), WafCurve>,
) -> std::ops::RangeInclusive<usize> {
    let own: Vec<(f64, f64)> = members
        .iter()
        .filter(|(member, _)| member.layout == layout)
        .map(|(member, log)| {
            (
                member.spare,
                log + log_likelihood(twin, figure, member, curves),
            )
        })
        .collect();
    let most = own.iter().map(|o| o.1).fold(f64::NEG_INFINITY, f64::max);
    let plausible = own
        .iter()
        .filter(|o| o.1 > most + NEGLIGIBLE.ln())
        .map(|o| o.0);
    let (low, high) = plausible.fold((SPARE.1, SPARE.0), |(l, h), s| (l.min(s), h.max(s)));
    enclosing(low, high)
}

/// Logarithm of the likelihood of a figure alone.
fn log_likelihood(
    twin: &Twin,
    i: usize,
    member: &EnsembleMember,
    curves: &BTreeMap<(usize, usize), WafCurve>,
) -> f64 {
    let sigma = ErrorUnder::unknown().sigma;
    let z = model_error(twin, i, member, curves) / sigma;
    log_likelihood_besides(twin, i, member, curves) - 0.5 * z * z
}

/// ln(measured / model) of the rate of a figure.
fn model_error(
    twin: &Twin,
    i: usize,
    member: &EnsembleMember,
    curves: &BTreeMap<(usize, usize), WafCurve>,
) -> f64 {
    let ours = twin.table.sequential / member.slowdown(waf_of(curves, i, member));
    (twin.figures[i].rate / ours).ln()
}

/// Logarithm of the likelihood of what was measured of a figure besides its rate.
fn log_likelihood_besides(
    twin: &Twin,
    i: usize,
    member: &EnsembleMember,
    curves: &BTreeMap<(usize, usize), WafCurve>,
) -> f64 {
    let figure = &twin.figures[i];
    let waf = waf_of(curves, i, member);
    let counted = figure.waf.map_or(0.0, |counted| {
        let sigma = match twin.table.sequential_waf {
            Some(_) => COUNTED_SIGMA.0,
            None => COUNTED_SIGMA.1,
        };
        (counted / waf).ln() / sigma
    });
    // After a sequential fill no superblock holds stale data, so nothing can be reclaimed, and
    // nothing is moved, until free space is used up.
    let cliff = figure.room.map_or(0.0, |room| {
        (room / (member.spare + 1.0 - figure.load.used)).ln() / CLIFF_SIGMA
    });
    // Until then a slot costs 1 + j.
    let before = figure.before.map_or(0.0, |before| {
        (before * (1.0 + member.scattered_cost) / twin.table.sequential).ln() / BEFORE_SIGMA
    });
    -0.5 * (counted * counted + cliff * cliff + before * before)
}

fn agreement(
    twin: &Twin,
    members: Vec<(EnsembleMember, f64)>,
    curves: &BTreeMap<(usize, usize), WafCurve>,
) -> MemberLikelihoods {
    let count = twin.figures.len();
    let measured = twin.measured_errors();
    let (mut totals, mut errors_by_member) = (Vec::new(), Vec::new());
    let mut by_figure = vec![Vec::new(); count];
    let mut misfits = vec![0.0; count];
    for (member, _) in &members {
        let error = |i| model_error(twin, i, member, curves);
        let errors: Vec<f64> = (0..count).map(error).collect();
        let mut sum = -0.5 * measured.misfit(&errors, &mut misfits);
        for (i, logs) in by_figure.iter_mut().enumerate() {
            let besides = log_likelihood_besides(twin, i, member, curves);
            logs.push(besides - 0.5 * misfits[i]);
            sum += besides;
        }
        totals.push(sum);
        errors_by_member.push(errors);
    }
    MemberLikelihoods {
        members,
        totals,
        by_figure,
        errors: errors_by_member,
    }
}

/// By how many sigma the best member misses the figures, root mean square.
fn misfit(agreement: &MemberLikelihoods, figures: usize) -> f64 {
    let totals = agreement.totals.iter().copied();
    let best = totals.fold(f64::NEG_INFINITY, f64::max);
    (-2.0 * best / figures as f64).sqrt()
}

/// Name, value of a member.
type MemberKnob = (&'static str, fn(&EnsembleMember) -> f64);

const KNOBS: [MemberKnob; 3] = [
    ("spare area (effective over-provisioning)", |m| m.spare),
    ("cost of a moved slot, in host slots", |m| m.moved_cost),
    ("clean random rate / sequential rate", |m| {
        1.0 / (1.0 + m.scattered_cost)
    }),
];

fn knobs(
    figures: &[LoadFit],
    design: &[(EnsembleMember, f64)],
    agreement: &MemberLikelihoods,
    weights: &[f64],
) -> Vec<Knob> {
    let priors: Vec<f64> = design.iter().map(|(_, log)| log.exp()).collect();
    let without: Vec<Vec<f64>> = (0..figures.len())
        .map(|i| agreement.weights(Some(i)))
        .collect();
    let three_of =
        |members: &[(EnsembleMember, f64)], pick: fn(&EnsembleMember) -> f64, weights: &[f64]| {
            let members = members.iter();
            let mut values: Vec<(f64, f64)> = members
                .zip(weights)
                .map(|((m, _), w)| (pick(m), *w))
                .collect();
            quantiles(&mut values, [0.05, 0.5, 0.95])
        };
    let three = |pick, weights: &[f64]| three_of(&agreement.members, pick, weights);
    let width = |q: [f64; 3]| (q[2] / q[0]).ln();
    KNOBS
        .iter()
        .map(|&(name, pick)| {
            let [low, middle, high] = three(pick, weights);
            let prior = three_of(design, pick, &priors);
            let share = width([low, middle, high]) / width(prior);
            let near = (high / middle).max(middle / low) <= STATED;
            let grade = if share > UNDECIDED {
                ValueGrade::Unknown
            } else if near {
                ValueGrade::Value
            } else {
                ValueGrade::Range
            };
            let wider = |i: usize| width(three(pick, &without[i]));
            let most = (0..figures.len()).max_by(|&a, &b| wider(a).total_cmp(&wider(b)));
            Knob {
                name: name.into(),
                interval: [low, high],
                value: (grade == ValueGrade::Value).then_some(middle),
                prior: [prior[0], prior[2]],
                grade,
                decided_by: most
                    .filter(|_| grade != ValueGrade::Unknown)
                    .map(|i| figures[i].load.label()),
            }
        })
        .collect()
}

/// Probabilities of victim policy and frontiers, each being as likely before.
fn layouts(agreement: &MemberLikelihoods, weights: &[f64]) -> BTreeMap<String, f64> {
    let mut evidence: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for ((member, prior), weight) in agreement.members.iter().zip(weights) {
        let text = structure::ALL[member.layout].text();
        let sums = evidence.entry(text).or_default();
        *sums = (sums.0 + weight, sums.1 + prior.exp());
    }
    let sum: f64 = evidence
        .values()
        .map(|(after, before)| after / before)
        .sum();
    let share = |(text, (after, before)): (String, (f64, f64))| (text, after / before / sum);
    evidence.into_iter().map(share).collect()
}

fn layout(figures: &[LoadFit], agreement: &MemberLikelihoods, weights: &[f64]) -> LayoutEstimate {
    let probabilities = layouts(agreement, weights);
    let best = probabilities.iter().max_by(|a, b| a.1.total_cmp(b.1));
    let (text, probability) = best.map_or((String::new(), 0.0), |(t, p)| (t.clone(), *p));
    let grade = match probability {
        p if p >= LAYOUT_STATED => ValueGrade::Value,
        p if p >= LAYOUT_LIKELY => ValueGrade::Range,
        _ => ValueGrade::Unknown,
    };
    let probability_without = |i: usize| {
        let probabilities = layouts(agreement, &agreement.weights(Some(i)));
        probabilities.get(&text).copied().unwrap_or(0.0)
    };
    let least = (0..figures.len())
        .min_by(|&a, &b| probability_without(a).total_cmp(&probability_without(b)));
    LayoutEstimate {
        probability,
        grade,
        decided_by: least
            .filter(|_| grade != ValueGrade::Unknown)
            .map(|i| figures[i].load.label()),
        text,
    }
}
