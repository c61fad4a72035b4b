//! Answers of the switch, for people.

use super::switch::{CutMoment, FlushSide, PowerStatus};
use ssdlab_view::units;
use std::fmt::Write as _;

/// Text for what happened and how the drive stands; `event` as the answer has it.
pub fn describe(event: &str, status: &PowerStatus) -> String {
    let mut text = String::new();
    let cuts = status.cuts;
    let _ = match (status.powered, event, &status.last_cut) {
        (true, "armed", _) => writeln!(text, "armed"),
        (true, ..) => writeln!(text, "power is on"),
        (false, _, Some(why)) => writeln!(text, "power is off: cut {cuts}, {}", at_what(why)),
        (false, ..) => writeln!(text, "power is off"),
    };
    if let Some(why) = &status.trouble {
        let _ = writeln!(text, "  {why}");
    }
    if !status.powered
        && let Some(cut) = &status.cut
    {
        let _ = writeln!(
            text,
            "  units only in the controller {}, saved {}; torn programs {}, torn erases {}, \
             not begun {}",
            cut.buffered, cut.saved, cut.torn_programs, cut.torn_erases, cut.not_begun
        );
    }
    if event == "on" {
        describe_recovery(&mut text, status);
    }
    if event == "status" {
        let nand = status.nand_ops.unwrap_or(0);
        let _ = writeln!(
            text,
            "  {}, {} flushes, {} written, {} programs and erases",
            units::plural(cuts, "cut"),
            units::count(status.flushes),
            units::bytes(status.bytes_written),
            units::count(nand),
        );
        if cuts > 0 {
            let (broken, after) = (status.promises_broken, status.cuts_with_broken);
            let _ = writeln!(
                text,
                "  promises broken {broken}, after {after} of the cuts"
            );
        }
    }
    if let Some(at) = &status.armed {
        let _ = writeln!(text, "  the next cut: {}", when(at));
    }
    text
}

fn describe_recovery(text: &mut String, status: &PowerStatus) {
    if let Some(ns) = status.recovery_ns {
        let _ = writeln!(text, "  recovered in {} of virtual time", units::time(ns));
    }
    for step in &status.recovery_steps {
        let (name, count) = (&step.name, units::count(step.operations));
        let _ = writeln!(
            text,
            "    {name:24} {count:>9}  {:>9}",
            units::time(step.ns)
        );
    }
    if let Some(found) = &status.found {
        let _ = writeln!(
            text,
            "  sectors older {}, torn {}, lost {}; promises broken {}",
            found.older, found.torn, found.lost, found.broken
        );
        if let Some(first) = found.broken_sectors.first() {
            let _ = writeln!(text, "  the first of them is sector {first}");
        }
    }
}

fn at_what(why: &str) -> &str {
    if why == "switch" {
        "by the switch"
    } else {
        why
    }
}

fn when(at: &CutMoment) -> String {
    match at {
        CutMoment::Flush { nth, side } => {
            let side = match side {
                FlushSide::Before => "before",
                FlushSide::Inside => "inside",
            };
            format!("{side} flush {nth} from when it was armed")
        }
        CutMoment::NandOp { nth } => {
            format!("inside program or erase {nth} from when it was armed")
        }
        CutMoment::WriteTo { offset, length } => {
            format!("after a write to bytes {offset}..+{length}")
        }
        CutMoment::AfterBytes { bytes } => format!("after {} more written", units::bytes(*bytes)),
        CutMoment::Magic { text } => format!("instead of a write that begins with {text:?}"),
    }
}
