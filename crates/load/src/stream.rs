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

use super::distribution::{Pareto, Zipf, Zoned};
use super::permutation::Permutation;
use crate::plan::{BlockSize, Distribution, JobSpec, Mix, Order};
use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, Op};

/// Commands address multiples of this many bytes.
const LOGICAL_BLOCK: u64 = 512;

/// The commands of one copy of a job, in order.
#[derive(Clone, Debug)]
pub struct Stream {
    kind_rng: Rng,
    size_rng: Rng,
    place_rng: Rng,
    mix: Mix,
    sizes: [Sizes; 3],
    place: Place,
    /// First byte of the region.
    base: u64,
    /// Bytes still to be transferred.
    left: u64,
    compress_pct: u8,
    fua: bool,
    flush_every: u32,
    /// Writes since the last flush.
    unflushed: u32,
}

/// One command size and the places it fits.
#[derive(Clone, Copy, Debug)]
struct Size {
    bytes: u32,
    /// Aligned starts at which it ends inside the region; at least 1.
    slots: u64,
}

/// The sizes of one kind of command.
#[derive(Clone, Debug)]
enum Sizes {
    One(Size),
    /// The size of each of 100 equally likely draws.
    Split(Box<[Size; 100]>),
}

/// A random order in which some commands follow the last one of their kind.
#[derive(Clone, Debug)]
struct Runs {
    turn_rng: Rng,
    random_pct: u8,
    /// Where the last command of each kind ended, from the region's start.
    ends: [u64; 3],
    /// Length of the region.
    len: u64,
    /// Where the others go.
    random: Place,
}

impl Runs {
    /// Out of line, so that the orders without runs stay as fast as they are.
    #[inline(never)]
    fn next(&mut self, rng: &mut Rng, op: Op, size: Size) -> u64 {
        let (end, bytes) = (self.ends[op as usize], u64::from(size.bytes));
        let random = self.turn_rng.percent(u32::from(self.random_pct));
        let position = match !random && end + bytes <= self.len {
            true => end,
            false => self.random.next(rng, op, size),
        };
        self.ends[op as usize] = position + bytes;
        position
    }
}

/// How the next address is found. Positions are in bytes from the region's start.
#[derive(Clone, Debug)]
enum Place {
    Sequential {
        /// Next position of each kind; all kinds use the first unless `split`.
        next: [u64; 3],
        split: bool,
        /// Where to go on after the end.
        wrap: u64,
        /// Distance between starts; 0: the command's own length.
        stride: u64,
        end: u64,
    },
    Uniform {
        align: u64,
    },
    Once {
        align: u64,
        pass: Permutation,
        visited: u64,
        slots: u64,
    },
    Zipf {
        align: u64,
        zipf: Box<Zipf>,
    },
    Pareto {
        align: u64,
        pareto: Box<Pareto>,
    },
    Zoned {
        align: u64,
        zoned: Zoned,
    },
    Runs(Box<Runs>),
}

/// The part of the target a job uses, in bytes.
#[derive(Clone, Copy, Debug)]
struct Region {
    base: u64,
    len: u64,
}

impl Stream {
    /// The stream of copy number `copy` (from 0) of `job` on a target of `capacity` bytes.
    ///
    /// # Errors
    /// When the region does not fit the target, or no block fits the region.
    pub fn new(job: &JobSpec, copy: u32, capacity: u64) -> Result<Stream, LabError> {
        let region = region(job, capacity)?;
        check_blocks(job, region)?;
        let align = match job.order {
            Order::Random { align, .. } => align,
            Order::Sequential { .. } => LOGICAL_BLOCK,
        };
        let fork = |name: &str| Rng::named(job.seed, &format!("{name} of copy {copy}"));
        let mut place_rng = fork("place");
        let mut place = place(job, copy, region, &mut place_rng)?;
        if matches!(job.order, Order::Random { .. }) && job.random_pct < 100 {
            place = Place::Runs(Box::new(Runs {
                turn_rng: fork("turn"),
                random_pct: job.random_pct,
                ends: [0; 3],
                len: region.len,
                random: place,
            }));
        }
        Ok(Stream {
            kind_rng: fork("kind"),
            size_rng: fork("size"),
            place_rng,
            mix: job.mix,
            sizes: [0, 1, 2].map(|kind| sizes(&job.block_sizes[kind], align, region.len)),
            place,
            base: region.base,
            left: limit(job, region)?,
            compress_pct: job.data.compress_pct.min(100),
            fua: job.durability.fua,
            flush_every: job.durability.flush_every,
            unflushed: 0,
        })
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
            Sizes::One(size) => *size,
            Sizes::Split(draw) => draw[self.size_rng.below(100) as usize],
        };
        let Some(left) = self.left.checked_sub(u64::from(size.bytes)) else {
            self.left = 0;
            return None;
        };
        self.left = left;
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

impl Place {
    /// The next command's position in the region.
    #[inline]
    fn next(&mut self, rng: &mut Rng, op: Op, size: Size) -> u64 {
        // Slots are counted for the smallest size; a larger command that would stick out is
        // moved back to the last slot where it fits.
        let last = size.slots - 1;
        match self {
            Place::Uniform { align } => rng.below(size.slots) * *align,
            Place::Sequential {
                next,
                split,
                wrap,
                stride,
                end,
            } => {
                let position = &mut next[if *split { op as usize } else { 0 }];
                let len = u64::from(size.bytes);
                if *position > *end - len {
                    *position = *wrap;
                }
                let start = (*position).min(*end - len);
                *position = start + if *stride == 0 { len } else { *stride };
                start
            }
            Place::Once {
                align,
                pass,
                visited,
                slots,
            } => {
                if *visited == *slots {
                    *visited = 0;
                    *pass = Permutation::new(*slots, rng);
                }
                *visited += 1;
                pass.at(*visited - 1).min(last) * *align
            }
            Place::Zipf { align, zipf } => zipf.slot(rng).min(last) * *align,
            Place::Pareto { align, pareto } => pareto.slot(rng).min(last) * *align,
            Place::Zoned { align, zoned } => zoned.slot(rng).min(last) * *align,
            Place::Runs(runs) => runs.next(rng, op, size),
        }
    }
}

/// The kinds of command a mix has, as indices into `block_sizes`.
fn kinds(mix: Mix) -> &'static [usize] {
    match mix {
        Mix::Read | Mix::ReadWrite { read_pct: 100 } => &[0],
        Mix::Write | Mix::ReadWrite { read_pct: 0 } => &[1],
        Mix::Trim => &[2],
        Mix::ReadWrite { .. } => &[0, 1],
    }
}

/// `percent` of `whole`, rounded down to whole logical blocks.
fn share(whole: u64, percent: u8) -> u64 {
    let bytes = (u128::from(whole) * u128::from(percent.min(100)) / 100) as u64;
    bytes - bytes % LOGICAL_BLOCK
}

/// Resolves offset and size against the target.
fn region(job: &JobSpec, capacity: u64) -> Result<Region, LabError> {
    let name = &job.name;
    let base = match job.shares.offset {
        Some(percent) => share(capacity, percent),
        None => job.offset,
    };
    if !base.is_multiple_of(LOGICAL_BLOCK) {
        return Err(LabError::refused(
            format!("job `{name}`: its offset of {base} bytes is not a multiple of 512"),
            "drives are addressed in blocks of 512 bytes: round the offset",
        ));
    }
    let Some(rest) = capacity.checked_sub(base).filter(|rest| *rest > 0) else {
        return Err(LabError::refused(
            format!(
                "job `{name}`: it starts at byte {base}, but the target ends at byte {capacity} \
                 ({})",
                Bytes(capacity)
            ),
            "choose a smaller offset or a larger target",
        ));
    };
    let len = match (job.shares.region, job.region) {
        (Some(percent), _) => share(capacity, percent).min(rest),
        (None, Some(bytes)) => bytes,
        (None, None) => rest,
    };
    if len > rest {
        return Err(LabError::refused(
            format!(
                "job `{name}`: {} from byte {base} on do not fit a target of {}",
                Bytes(len),
                Bytes(capacity)
            ),
            "use a smaller size, or 100% for all of the target",
        ));
    }
    Ok(Region { base, len })
}

/// Refuses block sizes that are empty, crooked or larger than the region.
fn check_blocks(job: &JobSpec, region: Region) -> Result<(), LabError> {
    let name = &job.name;
    if let Mix::ReadWrite { read_pct: 101.. } = job.mix {
        return Err(LabError::refused(
            format!("job `{name}`: a share of reads above 100 %"),
            "give 0 to 100",
        ));
    }
    for &BlockSize { bytes, .. } in &job.block_sizes.concat() {
        if bytes == 0 || !u64::from(bytes).is_multiple_of(LOGICAL_BLOCK) {
            return Err(LabError::refused(
                format!("job `{name}`: a block of {bytes} bytes is not a multiple of 512"),
                "drives are addressed in blocks of 512 bytes: use 512, 4096, ...",
            ));
        }
    }
    for kind in kinds(job.mix) {
        let list = &job.block_sizes[*kind];
        let percent: u32 = list.iter().map(|b| u32::from(b.percent)).sum();
        if percent != 100 {
            return Err(LabError::refused(
                format!("job `{name}`: the shares of its block sizes add up to {percent} %"),
                "they must add up to 100",
            ));
        }
        let largest = list.iter().map(|b| u64::from(b.bytes)).max().unwrap_or(0);
        if largest > region.len {
            return Err(LabError::refused(
                format!(
                    "job `{name}`: a block of {} does not fit its region of {}",
                    Bytes(largest),
                    Bytes(region.len)
                ),
                "use a smaller block size or a larger size",
            ));
        }
    }
    Ok(())
}

/// The bytes one copy transfers.
fn limit(job: &JobSpec, region: Region) -> Result<u64, LabError> {
    if job.time.time_based {
        // 16 EiB: decades at any speed a drive has.
        return Ok(u64::MAX);
    }
    let bytes = match (job.shares.io_limit, job.io_limit) {
        (Some(percent), _) => share(region.len, percent),
        (None, Some(bytes)) => bytes,
        (None, None) => region.len,
    };
    let sizes = kinds(job.mix)
        .iter()
        .flat_map(|kind| &job.block_sizes[*kind]);
    let smallest = sizes.map(|b| u64::from(b.bytes)).min().unwrap_or(0);
    if bytes < smallest {
        return Err(LabError::refused(
            format!(
                "job `{}`: its limit of {} is less than one block of {}",
                job.name,
                Bytes(bytes),
                Bytes(smallest)
            ),
            "raise the amount to transfer or lower the block size",
        ));
    }
    Ok(bytes)
}

/// The table of one kind's sizes.
fn sizes(list: &[BlockSize], align: u64, region: u64) -> Sizes {
    let size = |block: &BlockSize| Size {
        bytes: block.bytes,
        slots: region.saturating_sub(u64::from(block.bytes)) / align + 1,
    };
    let mut draw = list
        .iter()
        .flat_map(|b| std::iter::repeat_n(size(b), b.percent.into()));
    match list {
        [only] => Sizes::One(size(only)),
        // Kinds the mix does not use may have any weights: fill up with the last.
        [.., last] => Sizes::Split(Box::new(std::array::from_fn(|_| {
            draw.next().unwrap_or_else(|| size(last))
        }))),
        [] => Sizes::One(Size {
            bytes: 512,
            slots: 1,
        }),
    }
}

/// Resolves the order of addresses.
fn place(job: &JobSpec, copy: u32, region: Region, rng: &mut Rng) -> Result<Place, LabError> {
    let used = kinds(job.mix)
        .iter()
        .flat_map(|kind| &job.block_sizes[*kind]);
    let bytes = used.map(|b| u64::from(b.bytes));
    let (smallest, largest) = (bytes.clone().min().unwrap_or(0), bytes.max().unwrap_or(0));
    match &job.order {
        &Order::Sequential {
            stride,
            start_step,
            split_positions,
        } => {
            sequential(&job.name, copy, region, stride, start_step, largest).map(|(start, wrap)| {
                Place::Sequential {
                    next: [start; 3],
                    split: split_positions,
                    wrap,
                    stride: stride.unwrap_or(0),
                    end: region.len,
                }
            })
        }
        Order::Random {
            align,
            distribution,
            each_once,
        } => {
            let align = *align;
            if align == 0 || !align.is_multiple_of(LOGICAL_BLOCK) {
                return Err(LabError::refused(
                    format!("job `{}`: an alignment of {align} bytes", job.name),
                    "random commands are aligned to a multiple of 512 bytes",
                ));
            }
            let slots = (region.len - smallest) / align + 1;
            random(&job.name, slots, align, distribution, *each_once, rng)
        }
    }
}

/// Where a sequential copy starts, and where it goes on after the end of the region.
fn sequential(
    name: &str,
    copy: u32,
    region: Region,
    stride: Option<u64>,
    start_step: u64,
    largest: u64,
) -> Result<(u64, u64), LabError> {
    let step = stride.unwrap_or(largest);
    if [step, start_step]
        .iter()
        .any(|n| !n.is_multiple_of(LOGICAL_BLOCK))
        || step == 0
    {
        return Err(LabError::refused(
            format!("job `{name}`: steps of {step} and {start_step} bytes between commands"),
            "steps are multiples of 512 bytes",
        ));
    }
    let start = start_step.saturating_mul(u64::from(copy));
    if start > region.len - largest {
        return Err(LabError::refused(
            format!(
                "job `{name}`: copy {copy} would start {} into a region of {}",
                Bytes(start),
                Bytes(region.len)
            ),
            "use fewer copies, smaller steps between them, or a larger region",
        ));
    }
    // As DISKSPD: back to the region's start, keeping the copy's phase within a step.
    Ok((start, (start % step).min(region.len - largest)))
}

/// Resolves a random order over `slots` aligned starts.
fn random(
    name: &str,
    slots: u64,
    align: u64,
    distribution: &Distribution,
    each_once: bool,
    rng: &mut Rng,
) -> Result<Place, LabError> {
    let refuse =
        |what: String, hint: &str| Err(LabError::refused(format!("job `{name}`: {what}"), hint));
    match distribution {
        Distribution::Uniform if each_once => {
            let pass = Permutation::new(slots, rng);
            Ok(Place::Once {
                align,
                pass,
                visited: 0,
                slots,
            })
        }
        Distribution::Uniform => Ok(Place::Uniform { align }),
        &Distribution::Zipf { theta } if theta > 0.0 && theta.is_finite() => {
            let zipf = Box::new(Zipf::new(slots, theta, rng));
            Ok(Place::Zipf { align, zipf })
        }
        Distribution::Zipf { theta } => refuse(
            format!("a Zipf exponent of {theta}"),
            "give a number above 0",
        ),
        &Distribution::Pareto { h } if h > 0.0 && h < 1.0 => {
            let pareto = Box::new(Pareto::new(slots, h, rng));
            Ok(Place::Pareto { align, pareto })
        }
        Distribution::Pareto { h } => refuse(
            format!("a Pareto power of {h}"),
            "give a number between 0 and 1",
        ),
        Distribution::Zoned { zones } => match Zoned::new(slots, zones) {
            Some(zoned) => Ok(Place::Zoned { align, zoned }),
            None => refuse(
                format!("zones of {zones:?} per cent"),
                "give 1 to 100 zones whose accesses, and whose sizes, add up to at most 100",
            ),
        },
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
