//! Real power cuts of a real drive: stamps on its sectors, a ledger elsewhere of what it promised,
//! and after each pull of the plug a check of every sector.
//!
//! ```text
//! run -> streams -> scribe -> ledger -> file, or wire -> keeper (another machine)
//!     -> switch (off, on)     book (what the records add up to)
//!     -> check -> book
//! verdict <- book
//! ```
//!
//! A record of every write is in the ledger before the write is sent, so that newer content is
//! never taken for corruption; a promise enters it once the drive has completed the flush or the
//! FUA write. All but reading ledgers needs Linux. Left out: cuts of the ledger's own disk that
//! lose what it has synced (then it is too short, and says so), and drives that never come back.

// Elsewhere, ledgers are only read: what writes them has no user.
#![cfg_attr(not(target_os = "linux"), allow(dead_code))]

pub mod book;
#[cfg(target_os = "linux")]
mod check;
mod frames;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod ledger;
mod place;
mod record;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod scribe;
mod stamp;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod switch;
#[cfg(target_os = "linux")]
mod target;
#[cfg(target_os = "linux")]
pub mod text;
mod verdict;
#[cfg(target_os = "linux")]
pub mod verified;
mod wire;

pub use book::Book;
#[cfg(target_os = "linux")]
pub use check::{SectorCheckResult, check_target};
#[cfg(target_os = "linux")]
pub use keeper::Keeper;
pub use place::LedgerLocation;
pub use record::{
    Loss, PromiseBasis, Pull, PullDurabilityMode, PullTestSetup, RECENT_NEEDED, Strike,
};
#[cfg(target_os = "linux")]
pub use run::{PullEvent, PullObserver, PullPlan, run};
pub use stamp::UnexpectedContent;
#[cfg(target_os = "linux")]
pub use switch::PullSwitch;
pub use verdict::{PULLS_NEEDED, PullRecord, PullVerdict, verdict};

use ssdlab_base::LabError;

/// The book of a ledger that is not to be continued.
///
/// # Errors
/// When it cannot be read, is damaged, or is empty.
pub fn read(ledger: &LedgerLocation) -> Result<Book, LabError> {
    let contents = place::read(ledger)?;
    let book = Book::replay(&contents.records, &ledger.to_string())?;
    book.ok_or_else(|| {
        LabError::refused(
            format!("the ledger {ledger} is empty"),
            "`ssdlab pull run TARGET --ledger ...` writes to it",
        )
    })
}
