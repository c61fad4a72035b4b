//! Does the printed command draft every known drive?

use super::*;
use ssdlab_drives::known::families;
use ssdlab_life::draft::{QUESTIONS, draft};

/// The step that the error about a drive outside the catalogue prints, for every family.
#[test]
fn the_printed_command_drafts_every_known_family_or_says_why_not() {
    let (mut drafted, mut refused) = (0, 0);
    for family in families() {
        let Some(command) = family.draft_command() else {
            refused += 1;
            let mut facts = DatasheetFacts::default();
            facts.set("name", &family.slug()).unwrap();
            assert!(
                complete(&mut facts, &mut Vec::new()).is_err(),
                "{}",
                family.name
            );
            continue;
        };
        let mut facts = DatasheetFacts::default();
        let mut keys = Vec::new();
        for word in command.split(' ').skip(3) {
            let (key, value) = word.split_once('=').unwrap();
            facts.set(key, value).unwrap();
            keys.push(key.to_owned());
        }
        let said = complete(&mut facts, &mut keys).unwrap();
        assert!(said.contains(&family.name), "{command}: {said}");
        let mut needed = QUESTIONS.iter().filter(|question| question.needed);
        let missing = needed.find(|question| !keys.iter().any(|key| key == question.key));
        assert!(missing.is_none(), "{command}: {}", missing.unwrap().key);
        if let Err(error) = draft(&facts) {
            panic!("{command}: {error}");
        }
        drafted += 1;
    }
    assert!(drafted >= 200 && refused >= 5, "{drafted} {refused}");
}
