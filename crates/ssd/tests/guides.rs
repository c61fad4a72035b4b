//! Do the guides name every policy and every fault that the registries have?

use ssdlab_ssd::config::policy::{PolicyInfo, SEPARATIONS, VICTIMS};
use ssdlab_ssd::drive::power::FAULTS;
use std::fs;
use std::path::Path;

fn guide(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).expect("a guide")
}

fn row(policy: &PolicyInfo) -> String {
    let parameter = policy.parameter.map_or("-".to_owned(), |p| {
        let (least, most) = p.range;
        format!("{}, {least} to {most}, {} unless given", p.name, p.default)
    });
    let (name, text, source) = (policy.name, policy.text, policy.source);
    format!("| `{name}` | {parameter} | {text} | {source} |")
}

#[test]
fn every_policy_has_its_row_in_the_guide() {
    let guide = guide("docs/simulate.md");
    let separations = SEPARATIONS.iter().map(|(_, policy)| policy);
    for policy in VICTIMS.iter().chain(separations) {
        let row = row(policy);
        assert!(guide.contains(&row), "docs/simulate.md lacks: {row}");
    }
}

#[test]
fn every_fault_is_named_in_the_guide() {
    let guide = guide("docs/power-cuts.md");
    let (_, list) = guide.split_once("## Faults by name").expect("a list");
    let list = list.split("\n## ").next().expect("its section");
    for fault in FAULTS {
        let name = format!("`{}`", fault.name);
        assert!(list.contains(&name), "docs/power-cuts.md lacks {name}");
    }
}
