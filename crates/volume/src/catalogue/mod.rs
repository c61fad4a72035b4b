//! The catalogue: one TOML file per volume type, every value with its source and kind, and a file
//! of the limits of instances.
//!
//! ```text
//! volumes/*.toml -> file (tables, sourced) -> resolve(setting) -> VolumeConfig
//! volumes/instances.toml -> instances -> VolumeLimits
//! ```

mod file;
mod instances;
mod read;
mod resolve;
mod series;
mod sourced;

pub use file::{AccountTable, LatencyTable, SizeTable, TierRow, VolumeFile};
pub use instances::{Instance, family, instance, instances, series};
pub use read::{names, parse, volume, volumes};
pub use resolve::{VolumeSetting, limits, resolve, setting_range};
pub use series::InstanceRange;
pub use sourced::{SourcedFigure, VolumeProvenance};
