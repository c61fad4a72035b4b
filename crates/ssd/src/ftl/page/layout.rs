//! What a drive has besides a flat map of uncompressed data.

/// Compile-time choice of features: a drive with a flat map and without compression does not pay
/// for the rest.
pub trait Layout: Clone + Copy + std::fmt::Debug + Default {
    /// Whether data is compressed or the map is not all in DRAM.
    const FULL: bool;
}

/// Flat map, uncompressed data.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lean;

/// All features.
#[derive(Clone, Copy, Debug, Default)]
pub struct Full;

impl Layout for Lean {
    const FULL: bool = false;
}

impl Layout for Full {
    const FULL: bool = true;
}
