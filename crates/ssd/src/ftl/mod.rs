//! The translation layer: where each logical slot lies, and how room is made.
//!
//! One interface, [`Translation`], and several kinds behind it, chosen at compile time:
//!
//! - [`PageFtl`]: page-mapped, with a map in DRAM, cached, or a tree;
//! - [`BlockFtl`]: block-mapped in place, the naive baseline;
//! - [`HybridFtl`]: block-mapped with page-mapped log superblocks.
//!
//! What changes the map is done in the order of the calls and never depends on time, so that the
//! timed and the counting gear leave the same map. What takes time is booked on the media, and
//! the ends are told.

mod candidates;
mod frontier;
mod gather;
mod map_value;
mod page;
pub mod policies;
pub mod recover;
mod segment;
mod translation;

pub use candidates::Candidates;
pub use page::{Full, Layout, Lean, PageFtl};
pub use segment::SegmentFtl;
pub(crate) use translation::AHEAD;
pub use translation::{Found, Hint, Launched, SuperblockView, Translation};

/// Block-mapped in place, the naive baseline.
pub type BlockFtl<G> = SegmentFtl<G, segment::InPlace>;
/// Block-mapped, with page-mapped log superblocks that are merged in.
pub type HybridFtl<G> = SegmentFtl<G, segment::Logged>;
