//! The main rates of a draft, with their 80 % intervals.

use crate::answers::{Answer, Answers};
use crate::load::{
    AddressOrder, ClosedLoad, Durability, Figure, FillFigure, Question, StateBefore,
};
use crate::model::{Basis, LedgerModel};
use ssdlab_base::LabError;
use ssdlab_life::draft::DatasheetFacts;
use ssdlab_life::draft::prior::DraftPrior;

/// A rate of a draft.
#[derive(Clone, Debug, PartialEq)]
pub struct DraftRate {
    /// What it is a rate of.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Median and interval.
    pub answer: Answer,
}

/// Durable and steady random writes, and where there is a pSLC cache its volume and rates.
///
/// # Errors
/// When the facts give no drive.
pub fn main_rates(facts: &DatasheetFacts) -> Result<Vec<DraftRate>, LabError> {
    let prior = DraftPrior::built_in();
    let model = LedgerModel::draft(facts, Basis::Sheet, prior)?;
    let mut answers = Answers::new(&model, prior);
    let writes = |state, outstanding, sync| Question::Run {
        state,
        load: ClosedLoad {
            order: AddressOrder::Random,
            read_pct: 0,
            block: 4096,
            outstanding,
            sync,
        },
        figure: Figure::Writes(1.0),
    };
    let fill = |figure| Question::Fill {
        block: 1 << 20,
        figure,
    };
    let durable = writes(StateBefore::Filled(50), 1, Durability::Flush);
    let steady = writes(StateBefore::Steady, 128, Durability::None);
    let mut questions = vec![
        ("durable 4 KiB writes, one writer", "a second", durable),
        ("steady 4 KiB random writes", "a second", steady),
        (
            "writes in order at first",
            "MB/s",
            fill(FillFigure::Rate(1)),
        ),
    ];
    if !model.config.buffer.protected && model.knows_cache {
        questions.extend([
            (
                "written until they slow down",
                "GB",
                fill(FillFigure::End(1)),
            ),
            (
                "writes in order after that",
                "MB/s",
                fill(FillFigure::Rate(2)),
            ),
        ]);
    }
    let rate = |(name, unit, question)| {
        let answer = answers.answer(question).ok()?;
        Some(DraftRate { name, unit, answer })
    };
    Ok(questions.into_iter().filter_map(rate).collect())
}

/// The rates as a table.
pub fn text(rates: &[DraftRate]) -> String {
    let mut text = format!("{:34} {:>9} {:>20}\n", "", "median", "80 % within");
    for rate in rates {
        let Answer { value, low, high } = rate.answer;
        let within = format!("{} .. {}", whole(low), whole(high));
        text += &format!(
            "{:34} {:>9} {within:>20} {}\n",
            rate.name,
            whole(value),
            rate.unit
        );
    }
    text
}

/// Three significant digits, without an exponent.
fn whole(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded}")
}
