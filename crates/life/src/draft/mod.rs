//! A drive file from the facts of a data sheet, by stated rules.
//!
//! ```text
//! facts (what the sheet says) -> rules (shape, times, cells) -> file (TOML, every value sourced)
//! ```
//! The constants that no sheet gives are estimated from measured drives (prior); where these say
//! nothing, they are what is usual for drives of the kind.
//!
//! The sheet fixes the controller's time per command (random reads), the link (reads in order), the
//! time of programs (writes in order), what every command adds (latencies) and the time of a moved
//! slot (random writes). The rest is marked as assumed. Such a file is a first draft and a prior
//! for `ssdlab twin fit --from`; how far its predictions are off is in `docs/catalogue.md`.
//! Deliberately left out: media without erase (3D XPoint), heat, energy, compression.

mod facts;
mod file;
pub mod prior;
pub mod recognised;
mod rules;
#[cfg(test)]
mod tests;
mod wear;
mod writer;

pub use facts::{
    Cells, DatasheetFacts, DraftClass, DraftQuestion, Interface, MapLocation, QUESTIONS,
};
pub use file::{draft, draft_with};
pub use rules::{implied_moved_slot, link_rate, usual_moved_slot};
