//! Real power cuts of a real drive: stamps on its sectors, a ledger elsewhere of what it promised,
//! and after each pull of the plug a check of every sector.
//!
//! ```text
//! run -> streams -> scribe -> store -> file, or wire -> keeper (another machine)
//!     -> switch (off, on)     book (what the records add up to)
//!     -> check -> book
//! verdict <- book
//! ```
//!
//! A record of every write is in the ledger before the write is sent, so that newer content is
//! never taken for corruption; a promise enters it once the drive has completed the flush or the
//! FUA write. Left out: cuts of the ledger's own disk that lose what it has synced (then the
//! ledger is too short, and says so), and drives that never come back.

pub mod book;
mod check;
mod frames;
mod keeper;
mod record;
mod run;
mod scribe;
mod stamp;
mod store;
mod streams;
mod switch;
mod target;
pub mod text;
mod verdict;
mod wire;

pub use book::Book;
pub use check::Checked;
pub use keeper::Keeper;
pub use record::{Loss, Maker, Mode, Pull, RECENT_NEEDED, Start, Strike};
pub use run::{Event, PullPlan, Watch, run};
pub use stamp::Found;
pub use store::Place;
pub use switch::Switch;
pub use verdict::{PULLS_NEEDED, PullRecord, Standing, verdict};

use ssdlab_base::LabError;
use ssdlab_bench::device::direct::DirectFile;
use std::path::Path;

/// The book of a ledger that is not to be continued.
///
/// # Errors
/// When it cannot be read, is damaged, or is empty.
pub fn read(ledger: &Place) -> Result<Book, LabError> {
    let contents = store::read(ledger)?;
    let book = Book::replay(&contents.records, &ledger.to_string())?;
    book.ok_or_else(|| {
        LabError::refused(
            format!("the ledger {ledger} is empty"),
            "`ssdlab pull run TARGET --ledger ...` writes to it",
        )
    })
}

/// Reads every sector of `target` and holds it against `ledger`; changes neither.
///
/// # Errors
/// When one of them cannot be read, or they do not belong together.
pub fn check_target(
    target: &Path,
    ledger: &Place,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Checked, LabError> {
    let book = read(ledger)?;
    let path = target
        .canonicalize()
        .map_err(|error| LabError::file("looking at", target, error))?;
    let file = DirectFile::open_to_read(&path)?;
    target::is_same(&book.start, &file)?;
    check::check(&file, &book, progress)
}
