#![doc = include_str!("../README.md")]
//! # Structure
//!
//! ```text
//! metric, source, row     names, units and ranges; where figures are from; a figure typed
//! read, write             ledger files as rows, and back
//! field -> placing        drives in service, as distributions; a drive among them
//! field -> siblings       the same product at another capacity -> placing
//! formats                 results of other tools as figures
//! apart                   families that are kept for judging
//! laws -> check           what every row must hold to; files checked
//! names                   which family a name means
//! ledger                  the ledger that comes with ssdlab
//! ```

pub mod apart;
pub mod check;
pub mod field;
pub mod formats;
pub mod laws;
mod ledger;
pub mod metric;
pub mod names;
pub mod placing;
pub mod read;
pub mod row;
mod siblings;
pub mod source;
pub mod write;

pub use ledger::Ledger;
pub use metric::Metric;
pub use row::LedgerRow;
pub use source::LedgerSource;
