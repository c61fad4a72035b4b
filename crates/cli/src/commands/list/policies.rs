//! `ssdlab list policies`: what the registries of the software SSD hold.

use crate::failure::CliFailure;
use crate::output::{print, print_json, wrap};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_ssd::ftl::policies::{PolicyInfo, SEPARATIONS, VICTIM_POLICIES};

/// One policy, for JSON.
#[derive(Serialize, JsonSchema)]
struct PolicyEntry {
    name: &'static str,
    text: &'static str,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameter: Option<ParameterEntry>,
}

/// Every policy, for JSON.
#[derive(Serialize, JsonSchema)]
pub struct PolicyTable {
    victim: Vec<PolicyEntry>,
    separation: Vec<PolicyEntry>,
}

#[derive(Serialize, JsonSchema)]
struct ParameterEntry {
    name: &'static str,
    text: &'static str,
    default: u64,
    min: u64,
    max: u64,
}

impl From<&PolicyInfo> for PolicyEntry {
    fn from(info: &PolicyInfo) -> PolicyEntry {
        PolicyEntry {
            name: info.name,
            text: info.text,
            source: info.source,
            parameter: info.parameter.map(|p| ParameterEntry {
                name: p.name,
                text: p.text,
                default: p.default,
                min: p.range.0,
                max: p.range.1,
            }),
        }
    }
}

/// Lists every policy.
///
/// # Errors
/// When standard output cannot be written.
pub fn policies(json: bool) -> Result<(), CliFailure> {
    let victims: Vec<PolicyEntry> = VICTIM_POLICIES.iter().map(|e| (&e.info).into()).collect();
    let separations: Vec<PolicyEntry> = SEPARATIONS.iter().map(|(_, info)| info.into()).collect();
    if json {
        return print_json(&PolicyTable {
            victim: victims,
            separation: separations,
        });
    }
    let mut text = String::new();
    group(
        &mut text,
        "Victim policies: which superblock is emptied next (ftl.victim)",
        &victims,
    );
    text.push('\n');
    group(
        &mut text,
        "Separation: which open superblock a host write goes to (ftl.separation; give it\n\
         somewhere to go with ftl.streams)",
        &separations,
    );
    text += "\nTry one: ssdlab simulate --drive NAME --set ftl.victim=d-choices:4\n\
             Write one: docs/simulate.md";
    print(&text)
}

fn group(text: &mut String, title: &str, policies: &[PolicyEntry]) {
    *text += &format!("{title}\n");
    for policy in policies {
        let usage = policy
            .parameter
            .as_ref()
            .map_or(String::new(), |p| format!(":{}", p.name));
        *text += &format!("\n  {}{usage}\n", policy.name);
        let mut lines = wrap(policy.text, 72);
        if let Some(p) = &policy.parameter {
            let range = format!("{} to {}, default {}", p.min, p.max, p.default);
            lines.extend(wrap(&format!("{}: {}, {range}", p.name, p.text), 72));
        }
        lines.extend(wrap(&format!("source: {}", policy.source), 72));
        for line in lines {
            *text += &format!("      {line}\n");
        }
    }
}
