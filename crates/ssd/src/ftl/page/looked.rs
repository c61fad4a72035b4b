//! What plain reclaim has found in its victim and has not moved yet.

/// Units of the victim that were looked through: the valid slots found, which are yet to be moved.
/// Empty but while single writes are taken: a mover holds them then.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    pub units: Vec<LookedUnit>,
    /// Of all of them.
    pub slots: u32,
}

/// The valid slots found in one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookedUnit {
    pub first: u32,
    /// Bits that are set in `bits`.
    pub slots: u32,
    /// A bit for each slot from `first` on.
    pub bits: u64,
}
