//! Loads that were not measured: rate and WAF with 90 % intervals, and which of them would tell
//! the models of the ensemble apart.

use crate::ensemble::{EnsembleMember, WeightedMember, quantiles};
use crate::fit::{Twin, waf_of};
use crate::latency::{self, LatencyAtRate, MeasuredBusyShare, RequestedRate};
use crate::likeness::ErrorUnder;
use crate::spread::{cases, interval};
use crate::surface::{SimulatedLoad, Simulator, SurfaceRequest, enclosing};
use crate::trace;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_load::synthetic::SyntheticPattern;

/// Loads that are tried when none is named: what separates drives, from easy to hard to measure.
pub const CANDIDATES: [&str; 8] = [
    "uniform",
    "zipf:0.8",
    "zipf:1",
    "hotcold:80/20:scattered",
    "hotcold:95/5:scattered",
    "hotcold:100/60:scattered",
    "hotcold:100/40:scattered",
    "hotcold:100/20:scattered",
];

/// A question to an ensemble.
#[derive(Clone, Debug)]
pub struct PredictionQuery {
    /// Loads, as `--load` has them, or [`trace::NAME`] for that of the simulator's trace.
    pub loads: Vec<String>,
    /// Part of the user capacity that is filled and written.
    pub used: f64,
    /// Host writes after the fill, in user capacities.
    pub overwrites: f64,
    /// Effective over-provisioning added to that of every model.
    pub more_spare: f64,
    /// Rates of writes at which latency is asked for.
    pub rates: Vec<RequestedRate>,
    /// Host bytes that the drive is rated for under uniform writes, if its life is asked for.
    pub rated: Option<f64>,
}

impl PredictionQuery {
    /// The named loads and that of a trace; without either, the usual ones.
    pub fn loads(names: &[String], has_trace: bool) -> Vec<String> {
        let trace = has_trace.then(|| trace::NAME.to_owned());
        match names.iter().cloned().chain(trace).collect::<Vec<String>>() {
            none if none.is_empty() => CANDIDATES.map(String::from).to_vec(),
            some => some,
        }
    }

    /// The load that ratings assume, on the whole drive as it is.
    fn uniform(other: &PredictionQuery) -> PredictionQuery {
        PredictionQuery {
            loads: vec!["uniform".to_owned()],
            used: 1.0,
            more_spare: 0.0,
            rates: Vec::new(),
            rated: None,
            ..*other
        }
    }
}

/// A prediction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LoadPrediction {
    /// The load.
    pub load: SimulatedLoad,
    /// `prediction`, or `measured` when the table has the load.
    pub kind: &'static str,
    /// 5, 50 and 95 % of the rate, B/s.
    pub rate: [f64; 3],
    /// 5, 50 and 95 % of WAF.
    pub waf: [f64; 3],
    /// How far the models are apart, in sigma of the model's error and the measurement's.
    pub separation: f64,
    /// 5, 50 and 95 % of the host bytes until the rated cycles are used up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<[f64; 3]>,
    /// Latency at the rates that were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub latency: Vec<LatencyAtRate>,
}

/// Predicts.
///
/// # Errors
/// When a load is unknown or cannot be predicted, or nothing was decided by the fit.
pub fn predict(
    twin: &Twin,
    question: &PredictionQuery,
    simulator: &Simulator<'_>,
) -> Result<Vec<LoadPrediction>, LabError> {
    if let Some(why) = &twin.unknown {
        let problem = format!("this twin knows nothing of its drive: {why}");
        return Err(LabError::refused(problem, "fit it to other rows"));
    }
    let loads = loads(question, simulator)?;
    let mut requests: Vec<SurfaceRequest> = Vec::new();
    let mut layouts: Vec<usize> = twin
        .members
        .iter()
        .map(|weighted| weighted.member.layout)
        .collect();
    layouts.dedup();
    for layout in layouts {
        let own = twin
            .members
            .iter()
            .filter(|weighted| weighted.member.layout == layout);
        let spares = own.map(|weighted| weighted.member.spare + question.more_spare);
        let (low, high) = spares.fold((f64::MAX, 0.0_f64), |(l, h), s| (l.min(s), h.max(s)));
        requests.extend((0..loads.len()).map(|load| (load, layout, enclosing(low, high))));
    }
    let curves = simulator.curves(&loads, &requests)?;
    let errors = twin.measured_errors();
    let predicted = loads.iter().enumerate().map(|(i, load)| {
        let waf = |member: &EnsembleMember| {
            let spare = member.spare + question.more_spare;
            waf_of(&curves, i, &EnsembleMember { spare, ..*member })
        };
        let error = errors.under(load).inflated(twin.inflation);
        let mut wafs = cases(&twin.members, &error, &waf, |member, slowdown| {
            member.waf_at(slowdown)
        });
        let known = measured(twin, &load.pattern, load.used);
        let known = known.filter(|_| question.more_spare == 0.0);
        LoadPrediction {
            load: load.clone(),
            kind: known.map_or("prediction", |_| "measured"),
            rate: interval(&twin.members, &error, twin.table.sequential, waf),
            waf: quantiles(&mut wafs, [0.05, 0.5, 0.95]),
            separation: separation(&twin.members, waf),
            life: None,
            latency: Vec::new(),
        }
    });
    let mut predictions: Vec<LoadPrediction> = predicted.collect();
    if let Some(rated) = question.rated {
        let uniform = &predict(twin, &PredictionQuery::uniform(question), simulator)?[0];
        // Both are of one drive, so the interval of the ratio is narrower than this one.
        for prediction in &mut predictions {
            prediction.life =
                Some([2, 1, 0].map(|bound| rated * uniform.waf[1] / prediction.waf[bound]));
        }
    }
    if !question.rates.is_empty() {
        latencies(twin, question, simulator, &mut predictions)?;
    }
    Ok(predictions)
}

/// The rate that a load was measured at.
fn measured(twin: &Twin, pattern: &str, used: f64) -> Option<f64> {
    let same = |f: &&crate::fit::LoadFit| f.load.pattern == pattern && f.load.used == used;
    twin.figures.iter().find(same).map(|figure| figure.rate)
}

/// Latency of every prediction at the rates that were asked for.
fn latencies(
    twin: &Twin,
    question: &PredictionQuery,
    simulator: &Simulator<'_>,
    predictions: &mut [LoadPrediction],
) -> Result<(), LabError> {
    if twin.latency.is_empty() {
        let hint = "give what was measured to `ssdlab twin fit --latency`";
        return Err(LabError::refused("this twin holds no latency", hint));
    }
    let mut busy = Vec::new();
    for measurement in &twin.latency {
        let sustained = match measured(twin, &measurement.load, measurement.used) {
            Some(rate) => rate,
            None => {
                let own = PredictionQuery {
                    loads: vec![measurement.load.clone()],
                    used: measurement.used,
                    more_spare: 0.0,
                    rates: Vec::new(),
                    rated: None,
                    ..question.clone()
                };
                let own = predict(twin, &own, simulator)?;
                own.first().map_or(twin.table.sequential, |p| p.rate[1])
            }
        };
        busy.push(MeasuredBusyShare {
            measured: measurement,
            share: measurement.rate / sustained,
        });
    }
    for prediction in predictions {
        let known = measured(twin, &prediction.load.pattern, prediction.load.used);
        let sustained = known.filter(|_| question.more_spare == 0.0);
        let sustained = sustained.unwrap_or(prediction.rate[1]);
        let rates = question.rates.iter();
        prediction.latency = rates
            .map(|rate| latency::predict(&busy, *rate, sustained))
            .collect();
    }
    Ok(())
}

/// Spread of ln T over the ensemble, in sigma of what a measurement would be off by.
fn separation(members: &[WeightedMember], waf: impl Fn(&EnsembleMember) -> f64) -> f64 {
    let logs: Vec<(f64, f64)> = members
        .iter()
        .map(|weighted| {
            (
                weighted.member.slowdown(waf(&weighted.member)).ln(),
                weighted.weight,
            )
        })
        .collect();
    let mean: f64 = logs.iter().map(|(log, weight)| log * weight).sum();
    let variance: f64 = logs.iter().map(|(log, w)| w * (log - mean).powi(2)).sum();
    variance.sqrt() / ErrorUnder::unknown().sigma
}

/// The prediction that separates the ensemble best, among several loads that were not measured.
/// `None` for a drive with more spare area: it cannot be measured.
pub fn next<'a>(
    predictions: &'a [LoadPrediction],
    question: &PredictionQuery,
) -> Option<&'a LoadPrediction> {
    if predictions.len() < 2 || question.more_spare > 0.0 {
        return None;
    }
    let open = predictions.iter().filter(|p| p.kind == "prediction");
    open.max_by(|a, b| a.separation.total_cmp(&b.separation))
}

fn loads(
    question: &PredictionQuery,
    simulator: &Simulator<'_>,
) -> Result<Vec<SimulatedLoad>, LabError> {
    let mut loads = Vec::new();
    for text in &question.loads {
        let pattern = if simulator.is_trace(text) {
            text.clone()
        } else {
            pattern(text)?
        };
        loads.push(SimulatedLoad {
            pattern,
            used: question.used,
            overwrites: question.overwrites,
        });
    }
    Ok(loads)
}

fn pattern(text: &str) -> Result<String, LabError> {
    let pattern = SyntheticPattern::parse(text)?;
    if pattern == SyntheticPattern::Sequential {
        let hint = "it is in the table already: name a load of random writes";
        return Err(LabError::refused("the sequential rate is measured", hint));
    }
    Ok(pattern.to_string())
}
