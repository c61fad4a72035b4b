//! What to buy: the cheapest setting of a volume type that serves a load within a latency limit.
//!
//! ```text
//! requests -> replay on a setting -> share within the limit, what held commands back
//! grid of settings -> search (bisection over what only helps) -> check by replay -> VolumeFit
//! ```
//! More operations, throughput or size never slow a load down, but for sequential commands that
//! merge while they wait: so what bisection finds is replayed once more, and goes up a step until
//! it serves the load.

mod cost;
mod grid;
mod prices;
mod replay;
mod search;

pub use cost::SettingCost;
pub use grid::{SettingGrid, grid};
pub use prices::{VolumePrice, VolumePrices};
pub use replay::{FitLimit, FitLoad, FitRun, VolumeRequest, replay};
pub use search::{FitPlan, VolumeFit, cheapest_of_all, fit};
