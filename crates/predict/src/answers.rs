//! What one model says to the questions of its rows.

use crate::interval::{FlushVariant, Margin};
use crate::load::{
    ClosedLoad, Durability, Figure, FillFigure, NoPrediction, Question, ServiceFigure, StateBefore,
};
use crate::model::LedgerModel;
use crate::run::{ModelRig, RunTimes, ServiceLoad, time_us};
use std::collections::HashMap;

/// Parts of a drive over which a fill is looked at.
const PARTS: usize = 128;
/// Parts in a row whose median is a rate.
const WINDOW: usize = 5;
/// Share of a phase's rate below which another phase begins.
const PHASE_SHARE: f64 = 0.75;

/// A value with its 80 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The value.
    pub value: f64,
    /// One in ten is below.
    pub low: f64,
    /// One in ten is above.
    pub high: f64,
}

/// Runs of a model, each done once.
pub struct Answers<'a> {
    model: &'a LedgerModel,
    prepared: HashMap<(FlushVariant, StateBefore), ModelRig>,
    outcomes: HashMap<(FlushVariant, StateBefore, ClosedLoad), Option<RunTimes>>,
    curves: HashMap<u32, Vec<f64>>,
    wafs: HashMap<ServiceLoad, f64>,
}

impl<'a> Answers<'a> {
    /// Of a model.
    pub fn new(model: &'a LedgerModel) -> Answers<'a> {
        Answers {
            model,
            prepared: HashMap::new(),
            outcomes: HashMap::new(),
            curves: HashMap::new(),
            wafs: HashMap::new(),
        }
    }

    /// The answer to a question.
    ///
    /// # Errors
    /// Why there is none.
    pub fn answer(&mut self, question: Question) -> Result<Answer, NoPrediction> {
        match question {
            Question::Run {
                state,
                load,
                figure,
            } => self.run(state, load, figure),
            Question::Fill { block, figure } => self.fill(block, figure),
            Question::Service(figure) => self.service(figure),
        }
    }

    fn rig(&mut self, variant: FlushVariant, state: StateBefore) -> Result<ModelRig, NoPrediction> {
        if let Some(rig) = self.prepared.get(&(variant, state)) {
            return Ok(rig.clone());
        }
        let config = variant.of(&self.model.config);
        let rig = ModelRig::new(&config, self.model.is_sata);
        let mut rig = rig.map_err(|_| NoPrediction::NoDraft)?;
        rig.prepare(state);
        self.prepared.insert((variant, state), rig.clone());
        Ok(rig)
    }

    fn run(
        &mut self,
        state: StateBefore,
        load: ClosedLoad,
        figure: Figure,
    ) -> Result<Answer, NoPrediction> {
        let is_flushed = load.sync != Durability::None && !self.model.config.buffer.protected;
        let variants = if is_flushed {
            &FlushVariant::ALL[..]
        } else {
            &FlushVariant::ALL[..1]
        };
        let mut values = Vec::new();
        for variant in variants {
            if !self.outcomes.contains_key(&(*variant, state, load)) {
                let outcome = self.rig(*variant, state)?.run(&load, state);
                self.outcomes.insert((*variant, state, load), outcome);
            }
            let outcome = self.outcomes.get(&(*variant, state, load));
            let outcome = outcome.and_then(Option::as_ref);
            let outcome = outcome.ok_or(NoPrediction::BlockTooLarge)?;
            let value = figure_of(outcome, figure).filter(|value| *value > 0.0);
            let why = match figure {
                Figure::SyncOnly(_) => NoPrediction::NoFlush,
                _ => NoPrediction::Metric,
            };
            values.push(value.ok_or(why)?);
        }
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let margin = Margin::of_run(&load, state, figure, &self.model.basis);
        let (low, high) = margin.about(least, most);
        Ok(Answer {
            value: values[0],
            low,
            high,
        })
    }

    fn fill(&mut self, block: u32, figure: FillFigure) -> Result<Answer, NoPrediction> {
        if !self.curves.contains_key(&block) {
            let rig = self.rig(FlushVariant::Model, StateBefore::Fresh)?;
            self.curves.insert(block, rig.fill_curve(block, PARTS));
        }
        let rates = &self.curves[&block];
        let capacity = self.model.config.user_bytes as f64 / 1e9;
        let value = fill_figure(rates, figure, capacity, self.model.knows_cache)?;
        let (low, high) = Margin::of_fill(&self.model.basis).about(value, value);
        let high = match figure {
            FillFigure::End(_) => high.min(capacity),
            _ => high,
        };
        Ok(Answer { value, low, high })
    }

    fn waf(&mut self, load: ServiceLoad) -> Result<f64, NoPrediction> {
        if let Some(waf) = self.wafs.get(&load) {
            return Ok(*waf);
        }
        let waf = self.rig(FlushVariant::Model, StateBefore::Fresh)?.waf(load);
        self.wafs.insert(load, waf);
        Ok(waf)
    }

    fn service(&mut self, figure: ServiceFigure) -> Result<Answer, NoPrediction> {
        let config = &self.model.config;
        if self.model.is_written_in_place() {
            return Err(NoPrediction::WrittenInPlace);
        }
        let raw = config.geometry().raw_bytes() as f64;
        let user = config.user_bytes as f64;
        let cycles = self.model.cycles;
        let (of_cycles_low, of_cycles_high) = Margin::of_cycles().about(cycles, cycles);
        let by_cycles = |per_cycle: f64| Answer {
            value: cycles * per_cycle,
            low: of_cycles_low * per_cycle,
            high: of_cycles_high * per_cycle,
        };
        match figure {
            ServiceFigure::Cycles => return Ok(by_cycles(1.0)),
            ServiceFigure::NandDriveWrites => return Ok(by_cycles(raw / user / 100.0)),
            _ => {}
        }
        let most = self.waf(ServiceLoad::Uniform)?;
        if figure == ServiceFigure::WafUniform {
            let (low, high) = (1.0 + (most - 1.0) * 0.7, 1.0 + (most - 1.0) * 1.4);
            return Ok(Answer {
                value: most,
                low,
                high,
            });
        }
        let least = self.waf(ServiceLoad::InOrder)?;
        let middle = self.waf(ServiceLoad::HotAndCold)?;
        Ok(match figure {
            ServiceFigure::WafLow => answer(least, least, middle),
            ServiceFigure::WafHigh => answer(most, middle, most),
            ServiceFigure::HostTb => {
                let tb = |waf: f64, cycles: f64| cycles * raw / waf / 1e14;
                answer(
                    tb(middle, cycles),
                    tb(most, of_cycles_low),
                    tb(least, of_cycles_high),
                )
            }
            _ => answer(middle, least, most),
        })
    }
}

fn answer(value: f64, low: f64, high: f64) -> Answer {
    Answer { value, low, high }
}

fn figure_of(outcome: &RunTimes, figure: Figure) -> Option<f64> {
    let rate = |count: usize| count as f64 / outcome.seconds.max(1e-9);
    match figure {
        Figure::Writes(times) => Some(times * rate(outcome.durable.len())),
        Figure::Reads(times) => Some(times * rate(outcome.reads.len())),
        Figure::All => Some(rate(outcome.durable.len() + outcome.reads.len())),
        Figure::Read(share) => time_us(&outcome.reads, share),
        Figure::Write(share) => time_us(&outcome.writes, share),
        Figure::SyncOnly(share) => time_us(&outcome.syncs, share),
        Figure::Durable(share) => time_us(&outcome.durable, share),
    }
}

fn fill_figure(
    rates: &[f64],
    figure: FillFigure,
    capacity_gb: f64,
    knows_cache: bool,
) -> Result<f64, NoPrediction> {
    let phases = phases(rates);
    let part = capacity_gb / rates.len() as f64;
    let phase = |number: usize| phases.get(number - 1).or(phases.last()).copied();
    match figure {
        FillFigure::Mean => {
            let seconds: f64 = rates.iter().map(|rate| 1.0 / rate).sum();
            Ok(rates.len() as f64 / seconds / 1e6)
        }
        FillFigure::Rate(1) => Ok(phase(1).ok_or(NoPrediction::Metric)?.rate / 1e6),
        _ if !knows_cache => Err(NoPrediction::CacheUnknown),
        FillFigure::Rate(number) => Ok(phase(number).ok_or(NoPrediction::Metric)?.rate / 1e6),
        FillFigure::End(number) => Ok(phase(number).ok_or(NoPrediction::Metric)?.end as f64 * part),
    }
}

/// A stretch of a fill at one rate, and the part at which it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
struct FillPhase {
    rate: f64,
    end: usize,
}

/// The stretches of a fill: another begins where the median of a window is less than three quarters
/// of what the stretch began with.
fn phases(rates: &[f64]) -> Vec<FillPhase> {
    let mut phases = Vec::new();
    let mut from = 0;
    while from < rates.len() {
        let window = |start: usize| {
            let end = (start + WINDOW).min(rates.len());
            crate::facts::median(rates[start..end].to_vec()).unwrap_or(0.0)
        };
        let rate = window(from);
        let fell = (from + 1..rates.len()).find(|start| window(*start) < PHASE_SHARE * rate);
        // The window's median falls when half of it lies behind the edge.
        let end = fell.map_or(rates.len(), |start| (start + WINDOW / 2).min(rates.len()));
        phases.push(FillPhase { rate, end });
        from = end;
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_end_where_the_rate_falls_and_a_dip_is_none() {
        let mut rates = vec![4000.0; 30];
        rates.extend(vec![1000.0; 60]);
        rates.extend(vec![500.0; 38]);
        rates[10] = 100.0;
        let found: Vec<(f64, usize)> = phases(&rates).iter().map(|p| (p.rate, p.end)).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0].0, 4000.0);
        assert!(
            found[0].1.abs_diff(30) <= 1 && found[1].1.abs_diff(90) <= 1,
            "{found:?}"
        );
        let end = fill_figure(&rates, FillFigure::End(1), 1280.0, true).unwrap();
        assert!((end - 300.0).abs() <= 10.0, "{end}");
        let unknown = fill_figure(&rates, FillFigure::End(1), 1280.0, false);
        assert_eq!(unknown, Err(NoPrediction::CacheUnknown));
    }
}
