//! What one model says to the questions of its rows.

use crate::ensemble::quantile;
use crate::interval::{FlushVariant, Margin};
use crate::load::{
    AddressOrder, ClosedLoad, Durability, Figure, FillFigure, NoPrediction, Question,
    ServiceFigure, StateBefore,
};
use crate::model::LedgerModel;
use crate::run::{ModelRig, RunTimes, time_us};
use crate::service::{self, ServiceLoad};
use ssdlab_life::draft::DatasheetFacts;
use ssdlab_life::draft::prior::{ClassPrior, DraftPrior, PriorClass, PriorConstant};
use ssdlab_ssd::DriveConfig;
use std::collections::HashMap;

/// Parts of a drive over which a fill is looked at.
const PARTS: usize = 128;
/// Parts in a row whose median is a rate.
const WINDOW: usize = 5;
/// Share of a phase's rate below which another phase begins.
const PHASE_SHARE: f64 = 0.75;
/// Fewest draws with a fall that speak for all.
const FALLS_MIN: usize = 3;

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

/// Which drive of a model runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ModelDrive {
    /// Its own, with what a flush may program.
    Own(FlushVariant),
    /// One with drawn constants.
    Draw(usize),
}

/// Runs of a model, each done once.
pub struct Answers<'a> {
    model: &'a LedgerModel,
    prior: &'a DraftPrior,
    ensemble: Option<Vec<DriveConfig>>,
    prepared: HashMap<(ModelDrive, StateBefore), ModelRig>,
    outcomes: HashMap<(ModelDrive, StateBefore, ClosedLoad), Option<RunTimes>>,
    curves: HashMap<(ModelDrive, u32), Vec<f64>>,
}

impl<'a> Answers<'a> {
    /// Of a model; constants that no sheet gives are drawn from `prior`.
    pub fn new(model: &'a LedgerModel, prior: &'a DraftPrior) -> Answers<'a> {
        Answers {
            model,
            prior,
            ensemble: None,
            prepared: HashMap::new(),
            outcomes: HashMap::new(),
            curves: HashMap::new(),
        }
    }

    /// The answer to a question.
    ///
    /// # Errors
    /// Why it cannot be predicted.
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

    fn rig(&mut self, drive: ModelDrive, state: StateBefore) -> Result<ModelRig, NoPrediction> {
        if let Some(rig) = self.prepared.get(&(drive, state)) {
            return Ok(rig.clone());
        }
        let config = match drive {
            ModelDrive::Own(variant) => variant.of(&self.model.config),
            ModelDrive::Draw(number) => self.ensemble()[number].clone(),
        };
        let rig = ModelRig::new(&config, self.model.is_sata);
        let mut rig = rig.map_err(|_| NoPrediction::NoDraft)?;
        rig.prepare(state).map_err(|_| NoPrediction::NoDraft)?;
        self.prepared.insert((drive, state), rig.clone());
        Ok(rig)
    }

    fn ensemble(&mut self) -> &[DriveConfig] {
        let (model, prior) = (self.model, self.prior);
        self.ensemble.get_or_insert_with(|| model.ensemble(prior))
    }

    /// Whether the prior says anything of a constant of a draft.
    fn knows(&self, constant: PriorConstant) -> bool {
        self.class_prior(constant).is_some()
    }

    fn class_prior(&self, constant: PriorConstant) -> Option<&'a ClassPrior> {
        let facts = self.model.facts.as_ref()?;
        self.prior.of(constant, PriorClass::of(facts))
    }

    /// The drives of which the prior decides the figure of a load; else none.
    fn drawn(&mut self, state: StateBefore, load: &ClosedLoad) -> Vec<ModelDrive> {
        let is_protected = self.model.config.buffer.protected;
        let facts = self.model.facts.as_ref();
        let writes = load.read_pct < 50;
        let is_decided = if load.sync != Durability::None {
            false
        } else if is_protected {
            let is_withheld = facts.is_some_and(|facts| facts.random_write.is_none());
            state == StateBefore::Steady && is_withheld && self.knows(PriorConstant::MovedSlot)
        } else {
            writes && state != StateBefore::Fresh && self.knows(PriorConstant::DirectRate)
        };
        let count = if is_decided { self.ensemble().len() } else { 0 };
        (0..count).map(ModelDrive::Draw).collect()
    }

    /// What the sheet of a protected drive says: what it holds, not what it reaches.
    fn protected_facts(&self) -> Option<&'a DatasheetFacts> {
        let facts = self.model.facts.as_ref();
        facts.filter(|facts| facts.protected)
    }

    /// Whether the drive's sheet states the rate of a load.
    fn states_rate(&self, state: StateBefore, load: &ClosedLoad, figure: Figure) -> bool {
        let is_of_sheet = *load
            == ClosedLoad {
                order: AddressOrder::Random,
                read_pct: 0,
                block: 4096,
                sync: Durability::None,
                ..*load
            };
        let is_rate = matches!(figure, Figure::Writes(_)) && state == StateBefore::Steady;
        let facts = self.protected_facts();
        is_of_sheet && is_rate && facts.is_some_and(|facts| facts.random_write.is_some())
    }

    /// How far durable writes of a draft are off, if it is known, in times of them.
    fn durable_prior(&self, load: &ClosedLoad, figure: Figure) -> Option<Answer> {
        let is_of_writes = match figure {
            Figure::Writes(_) | Figure::Durable(_) | Figure::SyncOnly(_) => true,
            Figure::Reads(_) | Figure::All | Figure::Read(_) | Figure::Write(_) => false,
        };
        if load.sync == Durability::None || !is_of_writes {
            return None;
        }
        let (low, high) = self.class_prior(PriorConstant::DurableRatio)?.interval();
        Some(answer(1.0, low, high))
    }

    fn run(
        &mut self,
        state: StateBefore,
        load: ClosedLoad,
        figure: Figure,
    ) -> Result<Answer, NoPrediction> {
        if let Some(prior) = self.durable_prior(&load, figure) {
            let value = self.of_median(state, load, figure)?;
            let margin = Margin::of_durable(figure);
            let (low, high) = margin.beside(value, value * prior.low, value * prior.high);
            return Ok(Answer { value, low, high });
        }
        let drawn = self.drawn(state, &load);
        if !drawn.is_empty() {
            let values = self.values(&drawn, state, load, figure)?;
            let is_rate = figure == Figure::Writes(1.0);
            let margin = if self.model.config.buffer.protected && is_rate {
                Margin::of_fitted()
            } else {
                Margin::of_drawn(figure)
            };
            return over_draws(&values, margin);
        }
        let is_flushed = load.sync != Durability::None && !self.model.config.buffer.protected;
        let variants = if is_flushed {
            &FlushVariant::ALL[..]
        } else {
            &FlushVariant::ALL[..1]
        };
        let drives: Vec<ModelDrive> = variants.iter().copied().map(ModelDrive::Own).collect();
        let values = self.values(&drives, state, load, figure)?;
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let margin = if self.states_rate(state, &load, figure) {
            Margin::of_stated()
        } else {
            Margin::of_run(&load, state, figure, &self.model.basis)
        };
        let (low, high) = margin.about(least, most);
        Ok(Answer {
            value: values[0],
            low,
            high,
        })
    }

    /// A figure of the model's own drive.
    ///
    /// # Errors
    /// Why it cannot be predicted.
    pub fn of_median(
        &mut self,
        state: StateBefore,
        load: ClosedLoad,
        figure: Figure,
    ) -> Result<f64, NoPrediction> {
        let own = [ModelDrive::Own(FlushVariant::Model)];
        Ok(self.values(&own, state, load, figure)?[0])
    }

    fn values(
        &mut self,
        drives: &[ModelDrive],
        state: StateBefore,
        load: ClosedLoad,
        figure: Figure,
    ) -> Result<Vec<f64>, NoPrediction> {
        let mut values = Vec::new();
        for drive in drives {
            if !self.outcomes.contains_key(&(*drive, state, load)) {
                let outcome = self.rig(*drive, state)?.run(&load, state);
                self.outcomes.insert((*drive, state, load), outcome);
            }
            let outcome = self.outcomes.get(&(*drive, state, load));
            let outcome = outcome.and_then(Option::as_ref);
            let outcome = outcome.ok_or(NoPrediction::BlockTooLarge)?;
            let value = figure_of(outcome, figure).filter(|value| *value > 0.0);
            let why = match figure {
                Figure::SyncOnly(_) => NoPrediction::NoFlush,
                _ => NoPrediction::Metric,
            };
            values.push(value.ok_or(why)?);
        }
        Ok(values)
    }

    fn fill(&mut self, block: u32, figure: FillFigure) -> Result<Answer, NoPrediction> {
        let is_drawn = self.knows(PriorConstant::CacheShare) && !self.model.config.buffer.protected;
        let count = if is_drawn { self.ensemble().len() } else { 0 };
        let capacity = self.model.config.user_bytes as f64 / 1e9;
        let knows_cache = self.model.knows_cache;
        let answer = if count > 0 {
            // Whoever measured the end of a phase saw another: draws without one are not asked,
            // unless hardly any has it.
            let (mut values, mut of_falls) = (Vec::new(), Vec::new());
            for number in 0..count {
                let rates = self.curve(ModelDrive::Draw(number), block)?;
                let mut value = fill_figure(rates, figure, capacity, knows_cache)?;
                let mut has_fall = phases(rates).len() >= phases_seen(figure);
                let cache = cache_gb(&self.ensemble()[number]);
                if figure == FillFigure::End(1) && !has_fall && cache > 0.0 {
                    (value, has_fall) = (cache.min(capacity), true);
                }
                if has_fall {
                    of_falls.push(value);
                }
                values.push(value);
            }
            let has_falls = of_falls.len() >= FALLS_MIN;
            let asked = if has_falls { &of_falls } else { &values };
            let margin = if self.states_fill(figure) {
                Margin::of_read()
            } else {
                Margin::of_fitted()
            };
            over_draws(asked, margin)?
        } else {
            let rates = self.curve(ModelDrive::Own(FlushVariant::Model), block)?;
            let value = fill_figure(rates, figure, capacity, knows_cache)?;
            let is_stated = self
                .protected_facts()
                .is_some_and(|f| f.sequential_write.is_some());
            let margin = if is_stated {
                Margin::of_stated()
            } else {
                Margin::of_fill(&self.model.basis)
            };
            let (low, high) = margin.about(value, value);
            Answer { value, low, high }
        };
        let high = match figure {
            FillFigure::End(_) => answer.high.min(capacity).max(answer.value),
            _ => answer.high,
        };
        Ok(Answer { high, ..answer })
    }

    /// Whether a figure of a fill is in the drive's own sheet, so that all draws have it.
    fn states_fill(&self, figure: FillFigure) -> bool {
        self.model.facts.as_ref().is_some_and(|facts| match figure {
            FillFigure::Rate(1) => facts.sequential_write.is_some(),
            FillFigure::End(1) => facts.slc.is_some() || facts.slc_empty.is_some(),
            FillFigure::Rate(2) => facts.direct_write.is_some(),
            _ => false,
        })
    }

    fn curve(&mut self, drive: ModelDrive, block: u32) -> Result<&[f64], NoPrediction> {
        if !self.curves.contains_key(&(drive, block)) {
            let rig = self.rig(drive, StateBefore::Fresh)?;
            let curve = rig.fill_curve(block, PARTS);
            self.curves.insert((drive, block), curve);
        }
        Ok(&self.curves[&(drive, block)])
    }

    fn waf(&self, load: ServiceLoad) -> Result<f64, NoPrediction> {
        service::waf(&self.model.config, load).map_err(|_| NoPrediction::NoDraft)
    }

    fn service(&self, figure: ServiceFigure) -> Result<Answer, NoPrediction> {
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
        let by_prior = |constant, per_cycle: f64| {
            let prior = self.class_prior(constant)?;
            let (low, high) = prior.interval();
            Some(answer(
                prior.median * per_cycle,
                low * per_cycle,
                high * per_cycle,
            ))
        };
        match figure {
            ServiceFigure::Cycles => {
                let by_class = by_prior(PriorConstant::Cycles, 1.0);
                return Ok(by_class.unwrap_or(by_cycles(1.0)));
            }
            ServiceFigure::NandDriveWrites => {
                let per_cycle = raw / user / 100.0;
                let by_class = by_prior(PriorConstant::WearCycles, per_cycle);
                return Ok(by_class.unwrap_or(by_cycles(per_cycle)));
            }
            _ => {}
        }
        let most = self.waf(ServiceLoad::Uniform)?;
        if figure == ServiceFigure::WafUniform {
            let (low, high) = (1.0 + (most - 1.0) * 0.7, 1.0 + (most - 1.0) * 1.4);
            return Ok(answer(most, low, high));
        }
        let least = self.waf(ServiceLoad::InOrder)?;
        let middle = self.waf(ServiceLoad::HotAndCold)?;
        let in_service = match figure {
            ServiceFigure::WafLow => self.times(least, PriorConstant::WafLow),
            ServiceFigure::WafHigh => self.times(most, PriorConstant::WafHigh),
            ServiceFigure::HostTb => self.times(raw / middle / 1e14, PriorConstant::WearCycles),
            _ => self.times(middle, PriorConstant::WafMedian),
        };
        if let Some(answer) = in_service {
            return Ok(answer);
        }
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

    /// A value of the model times a constant that the prior has.
    fn times(&self, value: f64, constant: PriorConstant) -> Option<Answer> {
        let prior = self.class_prior(constant)?;
        let (low, high) = prior.interval();
        Some(answer(value * prior.median, value * low, value * high))
    }
}

/// The median of draws, and the interval of the draws with a margin of its own beside it.
fn over_draws(values: &[f64], margin: Margin) -> Result<Answer, NoPrediction> {
    let at = |share| quantile(values, share).ok_or(NoPrediction::Metric);
    let value = at(0.5)?;
    let (low, high) = margin.beside(value, at(0.1)?, at(0.9)?);
    Ok(Answer { value, low, high })
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

/// How many phases a fill had of which there is a figure.
fn phases_seen(figure: FillFigure) -> usize {
    match figure {
        FillFigure::Mean => 1,
        FillFigure::Rate(number) => number,
        FillFigure::End(number) => number + 1,
    }
}

/// The cache of an empty drive in GB.
fn cache_gb(config: &DriveConfig) -> f64 {
    let slc = &config.ftl.slc;
    let superblocks = slc.superblocks + slc.dynamic_superblocks;
    let geometry = config.geometry();
    let native = f64::from(superblocks) * geometry.superblock_bytes() as f64;
    native / f64::from(config.shape.bits_per_cell) / 1e9
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
/// of what the stretch began with. Its rate is the median of all of it: the buffer of a model that
/// was made smaller takes a share of its beginning.
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
        let rate = crate::facts::median(rates[from..end].to_vec()).unwrap_or(rate);
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

    /// A draft whose sheet says 6,500 MB/s was shown with the rate of its link, at which its buffer
    /// takes the beginning.
    #[test]
    fn the_rate_of_a_phase_is_not_that_of_the_buffer() {
        let mut rates = vec![7e9; 9];
        rates.extend(vec![6.5e9; 60]);
        rates.extend(vec![1e9; 59]);
        let first = fill_figure(&rates, FillFigure::Rate(1), 2000.0, true);
        assert_eq!(first, Ok(6500.0));
    }

    /// A drive whose cache is as fast as its link allows shows no end of it in most draws, and was
    /// predicted to have none (870 EVO of 4 TB: 4,001 GB); a row of the end is of a drive that
    /// showed one, and its draws know how large their caches are.
    #[test]
    fn the_end_of_a_cache_that_no_fill_shows_is_the_cache_of_the_draws() {
        let ledger = ssdlab_ledger::Ledger::open();
        let prior = DraftPrior::built_in();
        let ends = ledger.all_rows().iter().filter(|row| {
            let is_drive = matches!(&*row.drive.family, "crucial-mx500" | "samsung-870-evo");
            is_drive && row.figure.metric == ssdlab_ledger::Metric::SeqFillPhase1End
        });
        let mut families = std::collections::BTreeSet::new();
        for row in ends {
            let model = crate::model::choose(&row.drive, "", ledger.all_rows(), prior).unwrap();
            let (question, _) = crate::load::question(row).unwrap();
            let mut answers = Answers::new(&model, prior);
            let answer = answers.answer(question).unwrap();
            let share = answers.class_prior(PriorConstant::CacheShare).unwrap();
            let drawn = share.median * row.drive.capacity_gb.unwrap();
            let ratio = answer.value / drawn;
            assert!((0.5..2.0).contains(&ratio), "{answer:?}, drawn {drawn} GB");
            families.insert(&row.drive.family);
        }
        assert_eq!(families.len(), 2, "{families:?}");
    }
}
