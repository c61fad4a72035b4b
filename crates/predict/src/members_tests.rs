//! Are the right constants drawn, and is all else the file's?

use super::*;
use ssdlab_judge::qualify::references::names_kept;

fn drive(name: &str) -> CatalogueDrive {
    catalogue::drive(name).unwrap()
}

fn keys(name: &str) -> Vec<String> {
    draws(&drive(name), DraftPrior::built_in()).constants
}

#[test]
fn what_a_sheet_a_measurement_or_a_fit_gives_is_never_drawn() {
    // Protected: a commit is free. Fitted: article s2d measured its durable writes.
    for name in ["samsung-pm983-960gb", "consumer-sata-1tb"] {
        assert_eq!(keys(name), [""; 0], "{name}");
    }
    // All of the commit is assumed.
    for name in ["samsung-980-1tb", "crucial-p1-1tb", "intel-x25e-32gb"] {
        let keys = keys(name);
        assert!(
            keys.iter().any(|key| key == "buffer.flush_time"),
            "{keys:?}"
        );
        assert!(keys.iter().all(|key| is_of_commits(key)), "{keys:?}");
    }
}

#[test]
fn every_draw_differs_in_the_drawn_constants_and_in_nothing_else() {
    let whole = drive("samsung-980-1tb");
    let drawn = draws(&whole, DraftPrior::built_in());
    assert_eq!(drawn.drives.len(), 9);
    let own = by_key(&whole);
    let mut times = BTreeSet::new();
    for member in &drawn.drives {
        let parameters = by_key(member);
        for (key, parameter) in &own {
            let is_drawn = drawn.constants.contains(key);
            assert!(is_drawn || parameters[key] == *parameter, "{key}");
        }
        times.insert(member.config.buffer.flush_time.0);
    }
    assert_eq!(times.len(), 9, "{times:?}");
}

/// A draft's own file gives back the facts that it was made from: its draws are those of the prior.
#[test]
fn a_draft_is_drawn_as_its_facts_are() {
    let list: FactList = vec![
        ("name", "a-draft".into()),
        ("source", "a sheet".into()),
        ("capacity", "1000GB".into()),
        ("interface", "pcie4".into()),
        ("protected", "no".into()),
        ("cells", "qlc".into()),
        ("random-read", "600000".into()),
        ("span", "8GB".into()),
    ];
    let facts = facts::facts(&[&list]).unwrap();
    let prior = DraftPrior::built_in();
    let medians = prior.constants(PriorClass::of(&facts), |_| 0.0);
    let text = draft_with(&facts, &medians).unwrap();
    let file = catalogue::parse(&text, "a-draft.toml").unwrap();
    let drawn = draws(&file, prior);
    for key in [
        "buffer.flush_time",
        "ftl.slc_dynamic_superblocks",
        "nand.program",
    ] {
        assert!(
            drawn.constants.iter().any(|own| own == key),
            "{:?}",
            drawn.constants
        );
    }
    let constants = ensemble::draws(prior, PriorClass::of(&facts));
    for (member, constants) in drawn.drives.iter().zip(&constants) {
        let text = draft_with(&facts, constants).unwrap();
        let draft = catalogue::parse(&text, "draft.toml").unwrap().config;
        let of = |config: &ssdlab_ssd::DriveConfig| {
            let slc = config.ftl.slc.dynamic_superblocks;
            (
                slc,
                config.nand.timing.program.clone(),
                config.buffer.flush_time,
            )
        };
        assert_eq!(of(&member.config), of(&draft));
    }
}

/// A kept ensemble is of the ledger's figures as they are now, and every validated drive whose file
/// assumes what decides has one.
#[test]
fn kept_ensembles_are_of_the_prior_that_is_built_in() {
    let prior = DraftPrior::built_in();
    let write = "run `ssdlab drives references --ensembles --write drives/ensembles.jsonl`";
    let mut kept_count = 0;
    let mut missing = Vec::new();
    for name in names_kept().unwrap() {
        let drawn = draws(&drive(&name), prior);
        match kept::kept(&name) {
            Some(ensemble) => {
                assert_eq!(ensemble.prior, drawn.prior, "{name}: {write}");
                assert_eq!(ensemble.constants, drawn.constants, "{name}: {write}");
                assert_eq!(ensemble.members, 9, "{name}");
                kept_count += 1;
            }
            None if drawn.drives.is_empty() => {}
            None => missing.push(name),
        }
    }
    assert_eq!(missing, [""; 0], "{kept_count} are kept: {write}");
    assert!(kept_count > 5, "{kept_count}");
}
