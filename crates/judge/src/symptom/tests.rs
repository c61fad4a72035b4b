use super::planted::PlantedDrive;
use super::*;
use crate::ablate::planted::{FAULTS, healthy, healthy_client};
use crate::ablate::steady;
use crate::cause::{Cause, RemedyKind};
use crate::page::symptom_page;

/// Faults of [`FAULTS`] that the test plants: all but the pSLC cache, which hardly shows on these
/// drives, and one of two that are the map.
const PLANTED: [usize; 12] = [0, 1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];

/// Twelve faults, each on a drive of its own seed, and every symptom that it causes.
#[test]
fn the_planted_cause_is_named_for_the_symptoms_that_it_causes() {
    let (mut asked, mut right, mut wrong) = (0, 0, Vec::new());
    for (number, fault) in PLANTED.into_iter().enumerate() {
        let seed = 90_001 + number as u64;
        let Some(drive) = PlantedDrive::draw(seed, fault).unwrap() else {
            continue;
        };
        let mut caused = 0;
        for symptom in Symptom::ALL {
            if !drive.causes(symptom) {
                continue;
            }
            caused += 1;
            let found = drive.ask(symptom).unwrap();
            asked += 1;
            right += usize::from(found.right);
            if !found.right {
                let names: Vec<_> = found.answer.causes.iter().map(|c| c.name.clone()).collect();
                wrong.push(format!("{} {symptom:?}: {names:?}", FAULTS[fault].0));
            }
        }
        println!("{}: {caused} symptoms", FAULTS[fault].0);
    }
    println!("{right} of {asked}; {wrong:?}");
    assert!(asked >= 20, "{asked}");
    assert!(10 * right >= 9 * asked, "{right} of {asked}: {wrong:?}");
}

#[test]
fn healthy_drives_of_several_kinds_are_normal_for_every_symptom() {
    for (config, seed) in [
        (healthy(91_001), 91_001),
        (healthy(91_002), 91_002),
        (healthy_client(91_003), 91_003),
        (healthy_client(91_004), 91_004),
        (healthy_client(91_005), 91_005),
    ] {
        let drive = steady(&config, seed).unwrap();
        for symptom in Symptom::ALL {
            let found = of_model(&drive, &SheetFigures::default(), symptom, 1).unwrap();
            assert_eq!(
                found.outcome,
                SymptomOutcome::Normal,
                "{symptom:?}: {found:#?}"
            );
            assert!(
                found.answer.starts_with("Normal for this kind"),
                "{found:?}"
            );
            if config.buffer.protected && symptom != Symptom::SlowsDown {
                assert!(found.causes.is_empty(), "{found:?}");
                assert_eq!(found.remedy.kind, RemedyKind::Nothing);
            }
        }
    }
}

/// The volatile buffer explains durable writes and nothing else.
#[test]
fn the_answer_depends_on_the_symptom() {
    let drive = steady(&healthy_client(91_003), 91_003).unwrap();
    let first = |symptom| {
        let found = of_model(&drive, &SheetFigures::default(), symptom, 1).unwrap();
        found.causes.first().map(|cause| cause.cause)
    };
    assert_eq!(
        first(Symptom::SlowDurableWrites),
        Some(Cause::VolatileBuffer)
    );
    for symptom in [Symptom::SlowReads, Symptom::SlowsDown, Symptom::Spikes] {
        assert_ne!(first(symptom), Some(Cause::VolatileBuffer), "{symptom:?}");
    }
}

#[test]
fn a_screen_has_24_lines_at_most_and_ends_with_what_to_do() {
    let drive = steady(&healthy_client(91_004), 91_004).unwrap();
    for symptom in Symptom::ALL {
        let found = of_model(&drive, &SheetFigures::default(), symptom, 1).unwrap();
        let text = answer(&found, 80);
        assert!(text.lines().count() < 24, "{text}");
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        let last = text.rfind("What to do").expect("what to do");
        assert!(
            last > text.find("Normal").expect("what is normal"),
            "{text}"
        );
        let page = symptom_page(&found);
        assert!(page.find("What to do").unwrap() < page.find("Measured").unwrap());
    }
}

#[test]
fn symptoms_are_parsed_by_their_names() {
    for symptom in Symptom::ALL {
        assert_eq!(Symptom::parse(symptom.name()).unwrap(), symptom);
    }
    assert!(Symptom::parse("slow").is_err());
}
