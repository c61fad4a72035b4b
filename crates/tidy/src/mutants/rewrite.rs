//! Mutants written into the code, each behind its switch.

use super::sites::ON;
use super::{Edit, Mutant};

/// Where the switches are, in the crate.
pub const SWITCH_MODULE: &str = "crate::mutant";

/// The text of a file with its mutants. Every change is two insertions around what it changes, so
/// that changes may lie within each other.
pub fn rewritten(text: &str, mutants: &[&Mutant]) -> String {
    let mut insertions = Vec::new();
    for mutant in mutants {
        let Edit { start, end, .. } = mutant.site.edit;
        let id = mutant.id;
        let mark = |text: &str| text.replace(ON, &format!("{SWITCH_MODULE}::on({id})"));
        // At one place: ends before beginnings, the inner end first, the outer beginning first.
        let order_of_end = (end, 0, usize::MAX - start, usize::MAX - id);
        let order_of_start = (start, 1, usize::MAX - end, id);
        insertions.push((order_of_start, mark(&mutant.site.edit.before)));
        insertions.push((order_of_end, mark(&mutant.site.edit.after)));
    }
    insertions.sort();
    let mut result = String::new();
    let mut copied = 0;
    for ((position, ..), insertion) in &insertions {
        result += &text[copied..*position];
        result += insertion;
        copied = *position;
    }
    result + &text[copied..]
}

/// The module of the switches. `SSDLAB_MUTANT` turns one on; with `SSDLAB_MUTANT_TRACE` the numbers
/// of those that are reached go to that file.
pub fn switch(count: usize) -> String {
    SWITCH.replace("COUNT", &count.max(1).to_string())
}

const SWITCH: &str = r#"//! The switches of mutants.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

const UNREAD: u32 = u32::MAX;
const TRACE: u32 = u32::MAX - 1;
const NONE: u32 = u32::MAX - 2;

static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

/// Whether this mutant is turned on.
#[inline(always)]
pub fn on(id: u32) -> bool {
    let active = ACTIVE.load(Relaxed);
    active == id || (active >= TRACE && unusual(id, active))
}

#[cold]
#[inline(never)]
fn unusual(id: u32, active: u32) -> bool {
    if active == UNREAD {
        let given = std::env::var("SSDLAB_MUTANT").map(|id| id.parse().expect("a number"));
        let traced = std::env::var_os("SSDLAB_MUTANT_TRACE").is_some();
        ACTIVE.store(given.unwrap_or(if traced { TRACE } else { NONE }), Relaxed);
        return on(id);
    }
    if !REACHED[id as usize].swap(true, Relaxed) {
        let path = std::env::var_os("SSDLAB_MUTANT_TRACE").expect("a file");
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        file.expect("a file").write_all(format!("{id}\n").as_bytes()).expect("written");
    }
    false
}
"#;
