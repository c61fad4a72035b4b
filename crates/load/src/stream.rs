//! One copy of one job as a stream of commands.
//!
//! A [`JobSpec`] is resolved once, against the target's capacity, into slots and tables; after
//! that a command costs one to three random numbers and no allocation. Budget: 15 ns for uniform
//! random commands of one size (`examples/stream_speed.rs` measures it).
//!
//! Kind, size and address are drawn from three named random streams, so changing the mix does
//! not move the addresses.
//!
//! What is not exactly fio's: a pass of `each_once` visits every aligned *start* once, in an
//! order no memory is needed for. With several block sizes fio cuts commands short where they
//! meet visited blocks; here they keep their length and may overlap.

mod addresses;
mod region;

use super::place::{AddressGenerator, AlignedSize, RoundRobinFiles, SizeRange};
use crate::plan::{BlockSize, JobSpec, Mix, Order};
use addresses::file_place;
use region::{LOGICAL_BLOCK, check_blocks, file, limit, region};
use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Op};

/// The commands of one copy of a job, in order.
#[derive(Clone, Debug)]
pub struct JobStream {
    kind_rng: Rng,
    size_rng: Rng,
    place_rng: Rng,
    mix: Mix,
    sizes: [CommandSizes; 3],
    place: AddressGenerator,
    /// First byte of the region.
    base: u64,
    /// Bytes still to be transferred, and of a whole pass.
    remaining_bytes: u64,
    limit: u64,
    compress_pct: u8,
    fua: bool,
    flush_every: u32,
    /// Writes since the last flush.
    unflushed: u32,
}

/// The sizes of one kind of command.
#[derive(Clone, Debug)]
enum CommandSizes {
    One(AlignedSize),
    /// The size of each of 100 equally likely draws.
    Split(Box<[AlignedSize; 100]>),
    /// Drawn evenly from a range.
    Range(Box<SizeRange>),
}

/// The bytes of a target of `capacity` bytes that copy number `copy` of `job` uses.
///
/// # Errors
/// When they do not fit the target.
pub fn used_region(
    job: &JobSpec,
    copy: u32,
    capacity: u64,
) -> Result<std::ops::Range<u64>, LabError> {
    let region = region(job, copy, capacity)?;
    Ok(region.base..region.base + region.len)
}

impl JobStream {
    /// The stream of copy number `copy` (from 0) of `job` on a target of `capacity` bytes.
    ///
    /// # Errors
    /// When the region does not fit the target, or no block fits the region.
    pub fn new(job: &JobSpec, copy: u32, capacity: u64) -> Result<JobStream, LabError> {
        let region = region(job, copy, capacity)?;
        let file = file(job, region)?;
        check_blocks(job, file)?;
        let align = job.steps.align.unwrap_or(match job.order {
            Order::Random { align, .. } => [align; 3],
            Order::Sequential { .. } => [LOGICAL_BLOCK; 3],
        });
        let fork = |name: &str| Rng::named(job.seed, &format!("{name} of copy {copy}"));
        let mut place_rng = fork("place");
        let place = match job.steps.files {
            0 | 1 => file_place(job, copy, file, &mut place_rng, fork("turn"))?,
            files => {
                let mut place_in_file = |n| {
                    let turn_rng = fork(&format!("turn in file {n}"));
                    file_place(job, copy, file, &mut place_rng, turn_rng)
                };
                let places: Result<_, LabError> = (0..files).map(&mut place_in_file).collect();
                AddressGenerator::Files(Box::new(RoundRobinFiles {
                    places: places?,
                    turn: 0,
                    len: file.len,
                }))
            }
        };
        let limit = limit(job, region)?;
        let span = job.steps.zones.map_or(file.len, |zones| zones.range);
        let sizes = |kind: usize| match job.steps.size_range {
            Some(ranges) if ranges[kind].0 < ranges[kind].1 => {
                let (low, high) = ranges[kind];
                let range = SizeRange::new(low, high, align[kind], span);
                CommandSizes::Range(Box::new(range))
            }
            _ => sizes(&job.block_sizes[kind], align[kind], span),
        };
        Ok(JobStream {
            kind_rng: fork("kind"),
            size_rng: fork("size"),
            place_rng,
            mix: job.mix,
            sizes: [0, 1, 2].map(sizes),
            place,
            base: region.base,
            remaining_bytes: limit,
            limit,
            compress_pct: job.data.compress_pct.min(100),
            fua: job.durability.fua,
            flush_every: job.durability.flush_every,
            unflushed: 0,
        })
    }

    /// Begins another pass: as much again, from where it stands.
    pub fn again(&mut self) {
        self.remaining_bytes = self.limit;
    }

    /// The next command; `None` when the job's `io_limit` is used up.
    #[inline(always)] // through memory, its parts stall the 16-byte load of the whole
    pub fn next_command(&mut self) -> Option<Command> {
        if self.flush_every != 0 && self.unflushed == self.flush_every {
            self.unflushed = 0;
            return Some(Command::flush());
        }
        let op = match self.mix {
            Mix::Read => Op::Read,
            Mix::Write => Op::Write,
            Mix::Trim => Op::Trim,
            Mix::ReadWrite { read_pct } => {
                if self.kind_rng.percent(u32::from(read_pct)) {
                    Op::Read
                } else {
                    Op::Write
                }
            }
        };
        let size = match &self.sizes[op as usize] {
            CommandSizes::One(size) => *size,
            CommandSizes::Split(draw) => draw[self.size_rng.below(100) as usize],
            CommandSizes::Range(range) => range.draw(&mut self.size_rng),
        };
        let Some(remaining_bytes) = self.remaining_bytes.checked_sub(u64::from(size.bytes)) else {
            self.remaining_bytes = 0;
            return None;
        };
        self.remaining_bytes = remaining_bytes;
        let position = self.place.next(&mut self.place_rng, op, size);
        let offset = self.base + position;
        let write = op == Op::Write;
        self.unflushed += u32::from(write);
        Some(Command {
            offset,
            len: size.bytes,
            op,
            fua: write && self.fua,
            compress_pct: if write { self.compress_pct } else { 0 },
            stream: 0,
        })
    }
}

/// The table of one kind's sizes.
fn sizes(list: &[BlockSize], align: u64, region: u64) -> CommandSizes {
    let size = |block: &BlockSize| AlignedSize {
        bytes: block.bytes,
        slots: region.saturating_sub(u64::from(block.bytes)) / align + 1,
    };
    let mut draw = list
        .iter()
        .flat_map(|b| std::iter::repeat_n(size(b), b.percent.into()));
    match list {
        [only] => CommandSizes::One(size(only)),
        // Kinds the mix does not use may have any weights: fill up with the last.
        [.., last] => CommandSizes::Split(Box::new(std::array::from_fn(|_| {
            draw.next().unwrap_or_else(|| size(last))
        }))),
        [] => CommandSizes::One(AlignedSize {
            bytes: 512,
            slots: 1,
        }),
    }
}

#[cfg(test)]
mod tests;
