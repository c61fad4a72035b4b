//! A volume made from a snapshot: each block is fetched when it is first touched.

use ssdlab_ssd::{Command, Nanos, Op};

/// How a block is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstTouch {
    /// Bytes of a block.
    pub block: u64,
    /// How much longer a command takes that has to wait for a block.
    pub extra: Nanos,
}

impl FirstTouch {
    /// Words of the map of a volume of this size.
    pub fn words(&self, bytes: u64) -> usize {
        usize::try_from(bytes.div_ceil(self.block).div_ceil(64)).unwrap_or(usize::MAX)
    }

    /// Marks the blocks of a command in `map`, and counts those that it has to wait for: not those
    /// that it writes whole.
    pub fn fetch(&self, map: &mut [u64], command: &Command) -> u64 {
        if command.len == 0 {
            return 0;
        }
        let end = command.offset + u64::from(command.len);
        let blocks = command.offset / self.block..=(end - 1) / self.block;
        let mut fetched = 0;
        for block in blocks {
            let (start, stop) = (block * self.block, (block + 1) * self.block);
            let is_whole = command.offset <= start && end >= stop;
            let Some(word) = usize::try_from(block / 64)
                .ok()
                .and_then(|at| map.get_mut(at))
            else {
                return fetched;
            };
            let bit = 1 << (block % 64);
            if *word & bit == 0 && (command.op == Op::Read || !is_whole) {
                fetched += 1;
            }
            *word |= bit;
        }
        fetched
    }
}
