//! One intent log: its waiting records, the block being filled, and the chain of blocks that is
//! replayed after a crash.

use super::block_size::{
    BLOCK_MAX, BLOCK_MIN, CHAIN_BYTES, RECORD_BYTES, SizeRule, SizeRuleInput, Sizer,
};
use super::space::LogExtent;
use std::collections::VecDeque;

/// How log blocks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogBlockFormat {
    /// All of the block: the link to the next one stands at its end (pool version below 23).
    Whole,
    /// The part in use, in whole 4 KiB: the link stands at its start.
    Slim,
}

/// A log record of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogRecord {
    /// Bytes of data.
    pub data: u64,
    /// Writer that waits for it, if it is the last record of a write.
    pub waiter: Option<u32>,
    /// The transaction group that the write belongs to.
    pub group: u64,
}

/// A log block of a chain.
#[derive(Clone, Debug)]
pub struct LogBlock {
    /// Number within the chain, from 0.
    pub number: u64,
    /// Its place on the device.
    pub extent: LogExtent,
    /// Bytes used, with the header.
    pub used: u64,
    /// Its write has been issued.
    pub issued: bool,
    /// Its write has completed (on every side of a mirror).
    pub written: bool,
    /// The latest group of its records and of its allocation.
    pub group: u64,
    /// Writers whose write ends in it.
    pub waiters: Vec<u32>,
    /// The waiters' writes have been acknowledged as durable.
    pub acknowledged: bool,
}

/// What a chain needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainStep {
    /// The next block must be allocated; then the one being filled, if any, can be written.
    Full,
    /// All records are in blocks; the block being filled holds some that are not written yet.
    Open,
    /// All records are in blocks whose writes were issued.
    Idle,
}

/// A block to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockWrite {
    /// Its number within the chain.
    pub number: u64,
    /// Part of it that is written.
    pub extent: LogExtent,
}

/// One intent log.
#[derive(Clone, Debug)]
pub struct LogChain {
    format: LogBlockFormat,
    sizer: Sizer,
    rule_input: SizeRuleInput,
    queue: VecDeque<LogRecord>,
    /// The record being placed into blocks, with its remaining data.
    partial: Option<LogRecord>,
    /// From the head of the chain on; the last one is being filled.
    blocks: VecDeque<LogBlock>,
    next_number: u64,
    cut_to_fit: bool,
}

impl LogChain {
    /// An empty log. `cut_to_fit`: a record larger than the room is split over blocks.
    pub fn new(format: LogBlockFormat, rule: SizeRule, cut_to_fit: bool) -> LogChain {
        LogChain {
            format,
            sizer: Sizer::new(rule),
            rule_input: SizeRuleInput::default(),
            queue: VecDeque::new(),
            partial: None,
            blocks: VecDeque::new(),
            next_number: 0,
            cut_to_fit,
        }
    }

    /// Whether records wait.
    pub fn has_queue(&self) -> bool {
        self.partial.is_some() || !self.queue.is_empty()
    }

    /// Blocks from the head of the chain to the one being filled.
    pub fn blocks(&self) -> impl Iterator<Item = &LogBlock> {
        self.blocks.iter()
    }

    /// Adds a record; a commit has to follow.
    pub fn push(&mut self, record: LogRecord) {
        self.rule_input.waiting += RECORD_BYTES + record.data;
        self.queue.push_back(record);
    }

    /// A commit begins.
    pub fn begin_commit(&mut self) {
        self.rule_input.commit_before = self.rule_input.commit;
        self.rule_input.commit = 0;
    }

    /// Puts waiting records into the block being filled until it is full or none waits.
    pub fn fill(&mut self) -> ChainStep {
        while let Some(mut record) = self.take() {
            let Some(block) = self.blocks.back_mut() else {
                self.partial = Some(record);
                return ChainStep::Full;
            };
            let room = block.extent.len - block.used;
            let fits = RECORD_BYTES + record.data <= room;
            let cut = self.cut_to_fit && worth_cutting(record.data, room);
            if !fits && !cut {
                self.partial = Some(record);
                return ChainStep::Full;
            }
            let taken_bytes = record.data.min(room - RECORD_BYTES);
            block.used += RECORD_BYTES + taken_bytes;
            block.group = block.group.max(record.group);
            record.data -= taken_bytes;
            if !fits {
                self.partial = Some(record);
                return ChainStep::Full;
            }
            block.waiters.extend(record.waiter);
        }
        match self.blocks.back() {
            Some(block) if block.used > CHAIN_BYTES => ChainStep::Open,
            _ => ChainStep::Idle,
        }
    }

    /// Size of the next block. Call it once per block: the rule remembers its choices.
    pub fn next_size(&mut self) -> u64 {
        if self.blocks.is_empty() {
            BLOCK_MIN
        } else {
            self.sizer.next(&self.rule_input)
        }
    }

    /// The block being filled is full: the next one is at `next`, allocated in `group`. Returns
    /// the write of the full block, if any.
    pub fn link(&mut self, next: LogExtent, group: u64) -> Option<BlockWrite> {
        let format = self.format;
        let full = self.blocks.back_mut().map(|block| {
            block.issued = true;
            let len = match format {
                LogBlockFormat::Whole => block.extent.len,
                LogBlockFormat::Slim => block.used.next_multiple_of(BLOCK_MIN),
            };
            BlockWrite {
                number: block.number,
                extent: LogExtent {
                    offset: block.extent.offset,
                    len,
                },
            }
        });
        self.blocks.push_back(LogBlock {
            number: self.next_number,
            extent: next,
            used: CHAIN_BYTES,
            issued: false,
            written: false,
            group,
            waiters: Vec::new(),
            acknowledged: false,
        });
        self.next_number += 1;
        full
    }

    /// The write of block `number` has completed.
    pub fn written(&mut self, number: u64) {
        if let Some(block) = self.block_mut(number) {
            block.written = true;
        }
    }

    /// Marks block `number` as durable and returns the writers that it releases.
    pub fn acknowledge(&mut self, number: u64) -> Vec<u32> {
        self.block_mut(number).map_or_else(Vec::new, |block| {
            block.acknowledged = true;
            block.waiters.clone()
        })
    }

    /// Frees the blocks at the head that no group after the synced `group` needs.
    pub fn synced(&mut self, group: u64) -> Vec<LogExtent> {
        let mut freed = Vec::new();
        while let Some(head) = self.blocks.front() {
            if !head.acknowledged || head.group > group {
                break;
            }
            freed.push(head.extent);
            self.blocks.pop_front();
        }
        freed
    }

    fn block_mut(&mut self, number: u64) -> Option<&mut LogBlock> {
        let head = self.blocks.front()?.number;
        self.blocks.get_mut(number.checked_sub(head)? as usize)
    }

    fn take(&mut self) -> Option<LogRecord> {
        self.partial.take().or_else(|| {
            let record = self.queue.pop_front()?;
            self.rule_input.waiting -= RECORD_BYTES + record.data;
            self.rule_input.commit += RECORD_BYTES + record.data;
            Some(record)
        })
    }
}

/// Whether newer ZFS code splits a record of `data` bytes to use `room`: the room must be an eighth
/// of the largest block, or the split must save a block.
fn worth_cutting(data: u64, room: u64) -> bool {
    let data_max = BLOCK_MAX - CHAIN_BYTES - RECORD_BYTES;
    let last_part = data % data_max;
    // Data that is copied into the record at the time of the write cannot be split.
    let copied = data <= (BLOCK_MAX - CHAIN_BYTES) / 2 - RECORD_BYTES;
    !copied
        && room > RECORD_BYTES
        && (room >= data_max / 8 || (last_part != 0 && room >= RECORD_BYTES + last_part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(data: u64, group: u64) -> LogRecord {
        LogRecord {
            data,
            waiter: Some(0),
            group,
        }
    }

    /// Links adjacent blocks until all records are in blocks; returns the writes.
    fn commit(chain: &mut LogChain, records: &[LogRecord], place: &mut u64) -> Vec<(u64, u64)> {
        records.iter().for_each(|record| chain.push(*record));
        chain.begin_commit();
        let mut written = Vec::new();
        while chain.fill() != ChainStep::Idle {
            let len = chain.next_size();
            let next = LogExtent {
                offset: *place,
                len,
            };
            *place += len;
            let group = records[0].group;
            written.extend(
                chain
                    .link(next, group)
                    .map(|w| (w.extent.offset, w.extent.len)),
            );
        }
        written
    }

    #[test]
    fn old_format_writes_whole_blocks_and_follows_the_size_of_the_commits() {
        let mut chain = LogChain::new(LogBlockFormat::Whole, SizeRule::LargestUse, false);
        let mut place = 0;
        let write = [record(4096, 1)];
        // The first block is of 4 KiB: the record does not fit, it is written empty.
        assert_eq!(
            commit(&mut chain, &write, &mut place),
            [(0, 4096), (4096, 8192)]
        );
        assert_eq!(commit(&mut chain, &write, &mut place), [(12288, 8192)]);
        assert_eq!(commit(&mut chain, &write, &mut place), [(20480, 8192)]);
    }

    #[test]
    fn slim_blocks_leave_gaps() {
        let mut chain = LogChain::new(LogBlockFormat::Slim, SizeRule::Buckets, true);
        let mut place = 0;
        let write = [record(4096, 1)];
        commit(&mut chain, &write, &mut place);
        assert_eq!(commit(&mut chain, &write, &mut place), [(16384, 8192)]);
        assert_eq!(commit(&mut chain, &write, &mut place), [(28672, 8192)]);
    }

    /// As in the real trace: 128 KiB take a block of 68 KiB and one of which 64 are written.
    #[test]
    fn newer_code_cuts_large_writes_to_fit() {
        let mut chain = LogChain::new(LogBlockFormat::Slim, SizeRule::Buckets, true);
        let mut place = 0;
        let write = [record(128 << 10, 1)];
        commit(&mut chain, &write, &mut place);
        let written = commit(&mut chain, &write, &mut place);
        let sizes: Vec<u64> = written.iter().map(|(_, len)| len >> 10).collect();
        assert_eq!(sizes, [68, 64]);
    }

    #[test]
    fn a_synced_group_frees_from_the_head_what_is_durable_and_old_enough() {
        let mut chain = LogChain::new(LogBlockFormat::Whole, SizeRule::LargestUse, false);
        let mut place = 0;
        commit(&mut chain, &[record(2048, 1)], &mut place);
        commit(&mut chain, &[record(2048, 2)], &mut place);
        // Not written yet: nothing is freed.
        assert!(chain.synced(2).is_empty());
        chain.acknowledge(0);
        chain.acknowledge(1);
        assert_eq!(chain.synced(0).len(), 0);
        // The second block was allocated in group 1, and holds a record of group 2.
        assert_eq!(chain.synced(1).len(), 1);
        assert_eq!(chain.synced(2).len(), 1);
        // The block being filled stays.
        assert_eq!(chain.synced(9).len(), 0);
        assert_eq!(chain.blocks().count(), 1);
    }

    #[test]
    fn waiters_are_those_whose_write_ends_in_the_block() {
        let mut chain = LogChain::new(LogBlockFormat::Whole, SizeRule::LargestUse, false);
        let mut place = 0;
        let first = LogRecord {
            waiter: None,
            ..record(65536, 1)
        };
        commit(&mut chain, &[first, record(65536, 1)], &mut place);
        let waiters: Vec<usize> = chain.blocks().map(|block| block.waiters.len()).collect();
        assert_eq!(waiters, [0, 0, 1, 0]);
    }
}
