//! Does `qualify` name the burst wherever among its loads the credit ends, and judge by the base?

use ssdlab_bench::device::named::TargetName;
use ssdlab_judge::qualify::readings::{MeasureReading, read};
use ssdlab_judge::qualify::{
    Qualification, QualifyMeasure, QualifyPlan, SilentProgress, qualify, role,
};
use std::sync::atomic::AtomicBool;

fn qualified(volume: &str) -> Qualification {
    let name = TargetName::parse(volume).expect("it is a volume");
    let plan = QualifyPlan::new(Some(name), role("general").expect("it is a role"));
    let stop = AtomicBool::new(false);
    qualify(&plan, &mut SilentProgress, &stop).expect("it is measured")
}

fn rate(q: &Qualification, measure: QualifyMeasure) -> f64 {
    let method = role("general").expect("it is a role").durable_method;
    match read(measure, method, &q.target.evidence) {
        MeasureReading::Number { value, .. } => value,
        reading => panic!("{measure:?}: {reading:?}"),
    }
}

/// The quick profile takes 45 s: a credit of 20 s to 100 s at the burst ends in the durable writes,
/// in the mixed loads, in the random writes and after them.
#[test]
fn the_burst_is_named_and_the_base_is_judged_wherever_the_credit_ends() {
    for percent in [1, 2, 3, 4, 5, 100] {
        let q = qualified(&format!("volume:gp2,size=100,credit={percent}"));
        let gives = q.target.verdict.mechanisms.first().expect("it has one");
        assert_eq!(gives.id, "account", "{percent} %: {}", gives.sentence);
        assert!(
            gives.sentence.starts_with("You measured the burst: "),
            "{percent} %: {}",
            gives.sentence
        );
        assert!(
            gives.sentence.contains("300"),
            "{percent} %: {}",
            gives.sentence
        );
        for measure in [
            QualifyMeasure::SustainedWriteIops,
            QualifyMeasure::RandomReadIops,
            QualifyMeasure::WriteThroughMixedIops,
            QualifyMeasure::SustainedDurableIops,
        ] {
            let rate = rate(&q, measure);
            assert!(
                (285.0..=330.0).contains(&rate),
                "{percent} % {measure:?}: {rate}"
            );
        }
    }
}

#[test]
fn a_volume_without_credit_has_no_burst() {
    let q = qualified("volume:gp3");
    let gives = q.target.verdict.mechanisms.first().expect("it has one");
    assert_eq!(gives.id, "limit", "{}", gives.sentence);
    let rate = rate(&q, QualifyMeasure::SustainedWriteIops);
    assert!((2970.0..=3030.0).contains(&rate), "{rate}");
}
