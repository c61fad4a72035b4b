//! The translation layer: the place of each logical slot, and reclaim.
//!
//! One interface, [`Translation`], and several kinds behind it, chosen at compile time:
//!
//! - [`PageFtl`]: page-mapped, with a map in DRAM, cached, or a tree;
//! - [`BlockFtl`]: block-mapped in place, the naive baseline.
//!
//! The map changes in the order of the calls and never depends on time, so that the timed and the
//! counting gear produce the same map. Operations that take time are booked on the media, which
//! return their ends.

mod block;
mod candidates;
mod frontier;
mod gather;
mod map_value;
mod page;
pub mod policies;
pub mod recover;
mod translation;

pub use block::BlockFtl;
pub use candidates::Candidates;
pub use page::{Full, Layout, Lean, PageFtl};
pub(crate) use translation::AHEAD;
pub use translation::{BookedUnit, Hint, SlotPlace, SuperblockView, Translation};
