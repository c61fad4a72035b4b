//! The catalogue: one TOML file per drive, every value with its source and kind.
//!
//! ```text
//! read -> file (tables, sourced) -> resolve -> DriveConfig        drive = file + config
//! read -> place: key and line of a mistake    check: the papers' arithmetic, families
//! ```
//! A member of a family names its `base` and gives only what the product differs in; the rest
//! comes from the base. Unknown keys are errors, so a misspelt parameter cannot be ignored.

mod check;
mod documents;
mod drive;
mod file;
mod parameters;
mod place;
mod read;
mod reader;
mod resolve;
pub mod show;
mod sourced;
mod standing;
mod tables;

pub use check::{CatalogueCheck, check, check_family};
pub use drive::CatalogueDrive;
pub use file::{DriveFamily, DriveFile};
pub use read::{drive, files, meant, names, open, parse, read, references};
pub use resolve::derived;
pub use sourced::{CatalogueParameter, Provenance, SourcedValue};
pub use standing::{DatasheetStanding, HEADER as VALIDATED_HEADER, TABLE as VALIDATED};
pub use tables::{
    BufferTable, CapacityTable, DocumentedTable, EnergyTable, FtlTable, HostTable, NandTable,
    SmartTable, WearTable,
};
