use super::choice::spearman;
use super::table::{DOCS_BEGIN, DOCS_END};
use super::*;
use crate::frozen;

const DOCS: &str = include_str!("../../../../ledger/SCORE.md");

fn built_in() -> Vec<FrozenPrediction> {
    frozen::read(frozen::files()).expect("every frozen line can be read")
}

#[test]
fn the_table_in_the_docs_is_what_the_frozen_predictions_give() {
    let predictions = built_in();
    let score = score(Ledger::open(), &frozen::first(&predictions));
    let begin = DOCS.find(DOCS_BEGIN).expect("the table begins");
    let end = DOCS.find(DOCS_END).expect("the table ends");
    let kept = &DOCS[begin..end + DOCS_END.len() + 1];
    assert!(
        kept == docs(&score),
        "run `ssdlab ledger score --markdown`:\n{}",
        docs(&score)
    );
}

#[test]
fn no_measured_row_is_left_out() {
    let predictions = built_in();
    let score = score(Ledger::open(), &frozen::first(&predictions));
    let predicted: usize = score
        .groups
        .iter()
        .chain(&score.apart)
        .map(|l| l.rows)
        .sum();
    let unpredicted: usize = score.unpredicted.values().sum();
    assert_eq!(predicted + unpredicted, score.measured);
    for line in &score.apart {
        assert!(line.rows > 0 && line.error >= 1.0);
    }
}

/// A perfect predictor has an error of one and rank of one; one that is twice too high everywhere
/// an error of two, the same rank, and covers what its intervals reach.
#[test]
fn known_ratios_give_known_scores() {
    let predictions = built_in();
    let ledger = Ledger::open();
    let shifted = |times: f64| -> Vec<FrozenPrediction> {
        let rows = ledger.all_rows().iter();
        let values: BTreeMap<String, f64> =
            rows.map(|row| (row_id(row), row.figure.value)).collect();
        let shift = |p: &FrozenPrediction| FrozenPrediction {
            predicted: values[&p.row] * times,
            low: values[&p.row] * times / 1.5,
            high: values[&p.row] * times * 1.5,
            ..p.clone()
        };
        let is_kept = |p: &&FrozenPrediction| values.get(&p.row).is_some_and(|value| *value > 0.0);
        predictions.iter().filter(is_kept).map(shift).collect()
    };
    let of = |times: f64| {
        let predictions = shifted(times);
        let scored = score(ledger, &frozen::first(&predictions));
        let fills = scored
            .groups
            .into_iter()
            .find(|l| l.name == FigureGroup::FillRates.name());
        fills.expect("fill rates")
    };
    // Rows that agree in all that decides a figure share one prediction, so two runs of one drive
    // cannot both be met: hence not exactly one.
    let (perfect, twice) = (of(1.0), of(2.0));
    assert!(
        perfect.error < 1.05 && perfect.coverage > 0.95,
        "{perfect:?}"
    );
    assert!((twice.error / perfect.error - 2.0).abs() < 0.1, "{twice:?}");
    assert!(twice.coverage < 0.05, "{twice:?}");
    assert!(perfect.rank > Some(0.98) && twice.rank == perfect.rank);
    assert!(perfect.choices.model > 0.98, "{:?}", perfect.choices);
}

#[test]
fn ranks_correlate_with_ties() {
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[30.0, 20.0, 10.0]), Some(-1.0));
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]), None);
    let tied = spearman(&[1.0, 1.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    assert!(tied > 0.9 && tied < 1.0, "{tied}");
}
