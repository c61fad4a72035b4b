//! Valid slots that plain reclaim has found in its victim and has not moved yet.

/// Scanned units of the victim, with valid slots still to be moved. Empty except while single
/// writes are being taken in; at all other times a mover holds these slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    pub units: Vec<ScannedUnit>,
    /// Valid slots of all units.
    pub slots: u32,
}

/// The valid slots found in one unit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScannedUnit {
    pub first: u32,
    /// Number of bits set in `bits`.
    pub slots: u32,
    /// A bit for each slot from `first` on.
    pub bits: u64,
}
