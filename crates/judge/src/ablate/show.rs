//! A diagnosis as text: the answer first.

use super::{Decomposition, Diagnosis};
use ssdlab_view::text::{PLAIN, finish, new_table, paragraph};
use ssdlab_view::units;

/// The faults, then every load taken apart.
pub fn text(found: &Diagnosis) -> String {
    let mut text = match found.faults.as_slice() {
        _ if found.is_of_trace() => of_trace(found),
        [] => paragraph(
            &found.drive,
            "no fault: under none of these loads would a healthy drive of this interface and these \
             cells be 1.5 times as fast. What limits it is below.",
        ),
        [first, ..] => paragraph(&found.drive, &format!("slow because {}.", first.sentence)),
    };
    for (number, fault) in found.faults.iter().enumerate() {
        let instead = if fault.cause.is_of_host() {
            "without them"
        } else {
            "with that of a healthy drive"
        };
        let sentence = format!(
            "{}: {} would be {:.1} times as fast {instead}.",
            fault.cause.name(),
            fault.load.name(),
            fault.factor
        );
        text += &paragraph(&format!("{}.", number + 1), &sentence);
    }
    if !found.faults.is_empty() {
        text += "\nBeside a healthy drive, time per command (largest cost first):\n\n";
        text += &table(&found.healthy);
    }
    text += "\nWhere the time goes, with every cost taken away down to nothing:\n\n";
    text += &table(&found.free);
    if !found.slowest.is_empty() {
        text += "\nWhere the time of the slowest commands goes:\n\n";
        text += &table(&found.slowest);
    }
    text
}

fn of_trace(found: &Diagnosis) -> String {
    let sentence = match found.faults.as_slice() {
        [] => "no fault: on a healthy drive of this interface and these cells, without pauses and \
               doubled flushes, no single cause would take a third of the trace's time."
            .to_owned(),
        [first, ..] => format!(
            "the trace takes as long as it does because {}.",
            first.sentence
        ),
    };
    paragraph(&found.drive, &sentence)
}

fn table(decompositions: &[Decomposition]) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["load", "now", "without", "what the difference is"]);
    for decomposition in decompositions {
        let parts = decomposition.shares.iter().map(|share| {
            let names: Vec<&str> = share.causes.iter().map(|cause| cause.name()).collect();
            let percent = 100.0 * share.ns / decomposition.ns;
            format!("{} {percent:.0} %", names.join(" with "))
        });
        let parts: Vec<String> = parts.collect();
        let parts = if parts.is_empty() {
            units::NOTHING.to_owned()
        } else {
            parts.join(", ")
        };
        table.add_row([
            decomposition.load.name().to_owned(),
            units::time_mean(decomposition.ns),
            units::time_mean(decomposition.rest_ns),
            parts,
        ]);
    }
    finish(&table)
}
