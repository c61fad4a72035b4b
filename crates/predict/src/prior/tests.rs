//! Folds, estimates, and what may not be looked at.

use super::*;
use ssdlab_life::draft::prior::{ANY, PriorClass, PriorConstant};
use ssdlab_life::draft::{Cells, Interface};

#[test]
fn families_are_in_the_fold_that_their_name_draws() {
    let folds: Folds = toml::from_str(include_str!("../../../../ledger/folds.toml")).unwrap();
    assert_eq!(folds.folds.len(), 5);
    for (number, families) in folds.folds.iter().enumerate() {
        for family in families {
            assert_eq!(folds.fold(family), number, "{family}");
            assert!(!Ledger::open().is_apart(family), "{family} is set apart");
        }
    }
}

fn observation(family: &str, drive: &str, value: f64) -> Observation {
    Observation {
        constant: PriorConstant::CacheRate,
        class: PriorClass {
            protected: false,
            interface: Interface::Sata,
            cells: Cells::Tlc,
            maker: None,
        },
        family: family.into(),
        drive: drive.into(),
        value,
        beside: 0.0,
    }
}

/// Many drives of one family say no more of another family than one does; what many families say
/// alike is narrow, and the median is theirs.
#[test]
fn a_family_counts_once_and_agreement_makes_narrow() {
    let many: Vec<Observation> = (0..40)
        .map(|n| observation(&format!("family {n}"), "a", 100.0))
        .collect();
    let agreed = &estimate::classes(&many)[0];
    assert!((agreed.median - 100.0).abs() < 0.1, "{agreed:?}");
    assert!(agreed.spread < 0.4, "{agreed:?}");
    let mut uneven: Vec<Observation> = (0..40)
        .map(|n| observation("one", &format!("drive {n}"), 100.0))
        .collect();
    uneven.push(observation("other", "drive", 400.0));
    let classes = estimate::classes(&uneven);
    let of_both = classes.iter().find(|class| class.class == ANY).unwrap();
    assert!((of_both.median - 200.0).abs() < 0.5, "{of_both:?}");
    assert_eq!((of_both.drives, of_both.families), (41, 2));
    assert!(of_both.spread > agreed.spread);
}

/// The time of a commit is what a measured figure takes beside programs, so that of alike drives it
/// differs many times. What is drawn is as wide as the figures are, where the time is longest.
#[test]
fn a_time_is_as_wide_as_the_figures_that_it_is_a_part_of() {
    let figures = [500.0, 700.0, 1000.0, 1400.0, 2000.0, 520.0, 980.0, 1900.0];
    let programs = 480.0;
    let seen: Vec<Observation> = figures
        .iter()
        .enumerate()
        .map(|(n, whole)| Observation {
            constant: PriorConstant::FlushTime,
            beside: programs,
            ..observation(&format!("family {n}"), "a", whole - programs)
        })
        .collect();
    let class = &estimate::classes(&seen)[0];
    let slowest = programs + class.interval().1;
    assert!((1600.0..2800.0).contains(&slowest), "{slowest} {class:?}");
}

/// Ten thousand drives drawn from the model of the estimate: four of five lie within the interval
/// that eight families give, on average over many such eights.
#[test]
fn four_of_five_drives_of_unseen_families_lie_within() {
    let mut rng = ssdlab_ssd::rng::Rng::named(75, "normal");
    let mut normal = || -> f64 {
        let sum: f64 = (0..12)
            .map(|_| rng.below(1 << 30) as f64 / (1 << 30) as f64)
            .sum();
        sum - 6.0
    };
    let (mut within, mut count) = (0, 0);
    for _ in 0..300 {
        let seen: Vec<Observation> = (0..8)
            .map(|n| observation(&format!("family {n}"), "a", (0.6 * normal()).exp()))
            .collect();
        let (low, high) = estimate::classes(&seen)[0].interval();
        for _ in 0..30 {
            count += 1;
            within += i32::from((low..high).contains(&(0.6 * normal()).exp()));
        }
    }
    let share = f64::from(within) / f64::from(count);
    assert!((0.74..0.88).contains(&share), "{share}");
}

/// Drafts from the class alone are alike for drives of several makers. They were one model with the
/// maker of the first: an 850 PRO had the commits of an MX100.
#[test]
fn every_row_is_predicted_by_a_model_of_its_own_maker() {
    let ledger = Ledger::open();
    let is_open = |row: &&LedgerRow| row.load.is_durable() && !ledger.is_apart(&row.drive.family);
    let rows: Vec<LedgerRow> = ledger.all_rows().iter().filter(is_open).cloned().collect();
    let tasks = crate::predict::tasks(&rows, &rows, &|_| String::new(), &DraftPrior::none());
    let mut makers = std::collections::BTreeSet::new();
    for task in &tasks {
        let Some(facts) = &task.model.facts else {
            continue;
        };
        let maker = PriorClass::of(facts).maker;
        for asked in &task.asked {
            let own = crate::model::sheet_facts(&asked.row.drive, &rows);
            let own = own.and_then(|facts| PriorClass::of(&facts).maker);
            assert_eq!(maker, own, "{}", asked.row.drive.family);
        }
        makers.insert(maker);
    }
    assert!(makers.len() > 5, "{makers:?}");
}

/// A QLC drive that writes 3,500 MB/s until 460 of 2,000 GB are full is in its cache until then:
/// cells of four bits were said to take that rate, by the second phase of its fill.
#[test]
fn a_phase_that_the_cells_in_slc_mode_can_hold_is_cache() {
    let rows: Vec<LedgerRow> = Ledger::open()
        .all_rows()
        .iter()
        .filter(|row| row.drive.family == "hp-fx700")
        .cloned()
        .collect();
    let fills = observe::of_fills(&rows);
    let value = |constant| {
        let mut of_constant = fills.iter().filter(|fill| fill.constant == constant);
        of_constant.next().map(|fill| fill.value)
    };
    assert_eq!(value(PriorConstant::CacheShare), Some(0.23));
    let past = value(PriorConstant::DirectRate).unwrap() * 2_f64.sqrt();
    assert!((past - 130e6).abs() < 1.0, "{past}");
}
