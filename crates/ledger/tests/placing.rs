//! A drive is placed among its like by no more than the population holds.

use ssdlab_ledger::Ledger;
use ssdlab_ledger::placing::{DriveCounters, FieldMeasure, FieldRank, FieldStanding, PlacedDrive};

fn standing(model: &str, capacity: Option<u64>, counters: DriveCounters) -> Option<FieldStanding> {
    Ledger::open().standing(&PlacedDrive {
        model,
        capacity,
        counters,
    })
}

fn population_of_many() -> String {
    let mut populations = Ledger::open().populations().iter();
    let population = populations.find(|population| {
        let spread = population.tb_per_pct;
        spread.is_some_and(|spread| spread.drives >= 10 && spread.p10.is_some())
    });
    population.expect("a population").model_code.clone()
}

#[test]
fn a_value_is_ranked_by_the_percentiles_that_are_known() {
    let ledger = Ledger::open();
    let code = population_of_many();
    let spread = ledger
        .population(&code)
        .and_then(|p| p.tb_per_pct)
        .expect("a spread");
    let (p10, p90) = (spread.p10.expect("p10"), spread.p90.expect("p90"));
    for (tb, rank, words) in [
        (p10 * 0.9, FieldRank::LowestTenth, "worse than 9 of 10 of"),
        (
            (p10 + spread.median) / 2.0,
            FieldRank::BelowMedian,
            "worse than half of",
        ),
        (
            (p90 + spread.median) / 2.0,
            FieldRank::AboveMedian,
            "better than half of",
        ),
        (p90 * 1.1, FieldRank::HighestTenth, "better than 9 of 10 of"),
    ] {
        let counters = DriveCounters {
            used_percent: Some(8.0),
            host_bytes: Some(tb * 8.0 * 1e12),
            ..DriveCounters::default()
        };
        let standing = standing(&code, None, counters).expect("a population");
        let place = standing
            .places
            .iter()
            .find(|p| p.measure == FieldMeasure::TbPerPercent);
        assert_eq!(place.expect("a place").rank, rank);
        assert!(
            standing.sentences[0].starts_with("8 % worn after "),
            "{:?}",
            standing.sentences
        );
        assert!(
            standing.sentences[0].contains(words),
            "{:?}",
            standing.sentences
        );
        assert!(standing.sentences[0].contains(&format!("{} drives", spread.drives)));
    }
}

#[test]
fn of_fewer_than_ten_drives_only_the_half_is_said() {
    let mut spread = Ledger::open()
        .population(&population_of_many())
        .and_then(|population| population.tb_per_pct)
        .expect("a spread");
    let low = spread.p10.expect("p10") * 0.5;
    assert_eq!(spread.rank(low), FieldRank::LowestTenth);
    spread.drives = 9;
    assert_eq!(spread.rank(low), FieldRank::BelowMedian);
    spread.drives = 10;
    assert_eq!(spread.rank(low), FieldRank::LowestTenth);
}

#[test]
fn whole_per_cents_and_first_days_are_not_compared() {
    let code = population_of_many();
    let counters = DriveCounters {
        used_percent: Some(2.0),
        host_bytes: Some(1e9),
        waf: Some(9.0),
        ..DriveCounters::default()
    };
    let placed = standing(&code, None, counters).expect("a population");
    assert!(placed.places.is_empty(), "{:?}", placed.sentences);
    assert!(standing("Vorrath Rocket 1TB", None, counters).is_none());
}

#[test]
fn a_model_is_found_with_and_without_its_maker() {
    let ledger = Ledger::open();
    for (with, without) in [
        ("Samsung SSD 860 EVO 1TB", "SSD 860 EVO 1TB"),
        ("INTEL SSDSC2KB960G8", "SSDSC2KB960G8"),
        ("Micron_5300_MTFDDAK960TDS", "5300_MTFDDAK960TDS"),
    ] {
        let code = |name| {
            ledger
                .population(name)
                .map(|population| &population.model_code)
        };
        assert!(code(with).is_some(), "{with}");
        assert_eq!(code(with), code(without));
    }
}

#[test]
fn the_figures_that_the_issue_names_are_there() {
    let ledger = Ledger::open();
    let medians = |family: &str| {
        let populations = ledger.populations().iter();
        let of_family = populations.filter(|population| population.family == family);
        of_family
            .filter_map(|population| population.waf)
            .map(|waf| waf.median)
            .collect::<Vec<_>>()
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    // More spare area, less write amplification.
    assert!(mean(medians("intel-s4500")) > mean(medians("intel-s4600")));
}

#[test]
fn a_model_is_found_with_its_maker_before_or_after_it() {
    let ledger = Ledger::open();
    for reported in [
        "KXG60ZNV512G TOSHIBA",
        "KXG60ZNV512G",
        "TOSHIBA KXG60ZNV512G",
    ] {
        let population = ledger.population(reported).expect(reported);
        assert_eq!(population.model_code, "KXG60ZNV512G");
    }
}

/// A drive was not placed when its own capacity had no population, though that of the same product
/// at another capacity was known.
#[test]
fn a_drive_is_placed_among_the_same_product_at_another_capacity_by_what_that_leaves_alone() {
    let ledger = Ledger::open();
    let reported = "Micron_5210_MTFDDAK960QDE";
    assert!(ledger.population(reported).is_none());
    let counters = DriveCounters {
        used_percent: Some(10.0),
        host_bytes: Some(96e12),
        hours: Some(24_000.0),
        ..DriveCounters::default()
    };
    let placed = standing(reported, Some(960_197_124_096), counters).expect("a sibling");
    assert!(placed.is_sibling && placed.model_code.contains("MTFDDAK3T8QDE"));
    let measures: Vec<FieldMeasure> = placed.places.iter().map(|place| place.measure).collect();
    assert!(
        !measures.contains(&FieldMeasure::TbPerPercent),
        "{measures:?}"
    );
    let per_day = placed
        .places
        .iter()
        .find(|p| p.measure == FieldMeasure::DriveWritesPerDay);
    // 100 writes of its own capacity, not of the sibling's, in 1,000 days.
    assert!((per_day.expect("known").value - 0.1).abs() < 1e-3);
    let sentence = &placed.sentences[0];
    assert!(sentence.contains("the same product at 384"), "{sentence}");
    let unknown = standing(reported, None, counters).expect("a sibling");
    let is_per_day =
        |p: &ssdlab_ledger::placing::FieldPlace| p.measure == FieldMeasure::DriveWritesPerDay;
    assert!(
        !unknown.places.iter().any(is_per_day),
        "no capacity, no drive writes"
    );
}
