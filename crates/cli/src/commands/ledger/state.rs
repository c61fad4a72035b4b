//! What a contributor says of a drive's state.

use clap::ValueEnum;
use ssdlab_ledger::row::DriveState;

/// What a drive held when it was measured.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum StateOption {
    /// Empty or nearly so.
    Fresh,
    /// Filled once or more.
    Filled,
    /// In use before.
    Used,
    /// Written until the rate no longer changed.
    Steady,
    /// Not known.
    Unknown,
}

impl StateOption {
    /// As the ledger has it.
    pub fn state(self) -> DriveState {
        match self {
            StateOption::Fresh => DriveState::Fresh,
            StateOption::Filled => DriveState::Filled,
            StateOption::Used => DriveState::Used,
            StateOption::Steady => DriveState::Steady,
            StateOption::Unknown => DriveState::Unknown,
        }
    }
}
