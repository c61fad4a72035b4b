//! After a crash: which blocks of a chain are found, and what that means for the writers.
//!
//! Replay starts at the block that the last synced group's header names and follows the links. It
//! ends at the first block whose checksum does not match what the link promised: normally the one
//! that was allocated but not yet written. There is no other mark of the end, so a device that
//! lost a block in the middle loses all that follow, silently.

use super::chain::{LogBlock, LogChain};

/// Findings of a replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReplayResult {
    /// Blocks read and found valid.
    pub blocks: u64,
    /// Synchronous writes whose end is in them.
    pub writes: u64,
    /// Writes that had been acknowledged and are not in them: broken promises.
    pub acknowledged_lost: u64,
    /// Blocks behind the end of the walk that the device did keep, but replay does not reach.
    pub unreachable: u64,
}

/// Walks `chain` as replay would after a crash now. `kept` says whether the device holds what was
/// last written to a block.
pub fn replay(chain: &LogChain, is_kept: impl Fn(&LogBlock) -> bool) -> LogReplayResult {
    let mut result = LogReplayResult::default();
    let mut reachable = true;
    for block in chain.blocks() {
        let valid = block.issued && is_kept(block);
        reachable &= valid;
        let writes = block.waiters.len() as u64;
        if reachable {
            result.blocks += 1;
            result.writes += writes;
        } else {
            result.unreachable += u64::from(valid);
            if block.acknowledged {
                result.acknowledged_lost += writes;
            }
        }
    }
    result
}
