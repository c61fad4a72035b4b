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

use super::distribution::{Normal, Pareto, Zipf, Zoned};
use super::permutation::Permutation;
use super::place::{
    AddressGenerator, AlignedSize, RandomRuns, RoundRobinFiles, SequentialHoles, SizeRange,
    StridedZones,
};
use crate::plan::{BlockSize, Distribution, JobSpec, Mix, Order, Zones};
use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Bytes, Command, Op};

/// Commands address multiples of this many bytes.
const LOGICAL_BLOCK: u64 = 512;

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

/// The part of the target a job uses, in bytes.
#[derive(Clone, Copy, Debug)]
struct JobRegion {
    base: u64,
    len: u64,
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
                CommandSizes::Range(Box::new(SizeRange::new(ranges[kind], align[kind], span)))
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
fn share(whole: u64, percent: u64) -> u64 {
    let bytes = u128::from(whole) * u128::from(percent) / 100;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    bytes - bytes % LOGICAL_BLOCK
}

/// Resolves offset and size against the target.
fn region(job: &JobSpec, copy: u32, capacity: u64) -> Result<JobRegion, LabError> {
    let name = &job.name;
    let first = match job.shares.offset {
        Some(percent) => share(capacity, percent.min(100).into()),
        None => job.offset,
    };
    let base = first.saturating_add(job.steps.copy.saturating_mul(copy.into()));
    if !base.is_multiple_of(LOGICAL_BLOCK) {
        return Err(LabError::refused(
            format!("job `{name}`: its offset of {base} bytes is not a multiple of 512"),
            "drives are addressed in blocks of 512 bytes: round the offset",
        ));
    }
    let Some(room) = capacity.checked_sub(base).filter(|rest| *rest > 0) else {
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
        (Some(percent), _) => share(capacity, percent.into()).min(room),
        (None, Some(bytes)) => bytes,
        (None, None) => room,
    };
    if len > room {
        return Err(LabError::refused(
            format!(
                "job `{name}`: {} from byte {base} on do not fit a target of {}",
                Bytes(len),
                Bytes(capacity)
            ),
            "use a smaller size, or 100% for all of the target",
        ));
    }
    Ok(JobRegion { base, len })
}

/// The file at the region's start.
fn file(job: &JobSpec, region: JobRegion) -> Result<JobRegion, LabError> {
    let files = u64::from(job.steps.files.max(1));
    let len = region.len / files;
    if files > 1 && !len.is_multiple_of(LOGICAL_BLOCK) {
        return Err(LabError::refused(
            format!(
                "job `{}`: files of {len} bytes are no multiple of 512",
                job.name
            ),
            "give a filesize that is",
        ));
    }
    Ok(JobRegion { len, ..region })
}

/// The order within one file.
fn file_place(
    job: &JobSpec,
    copy: u32,
    file: JobRegion,
    rng: &mut Rng,
    turn_rng: Rng,
) -> Result<AddressGenerator, LabError> {
    let (steps, len) = (&job.steps, file.len);
    if let Some(zones) = steps.zones {
        return strided(job, copy, file, zones, rng);
    }
    let inner = place(job, copy, file, rng)?;
    if matches!(job.order, Order::Sequential { .. }) {
        if steps.skip == 0 {
            return Ok(inner);
        }
        if !steps.skip.unsigned_abs().is_multiple_of(LOGICAL_BLOCK) {
            return Err(LabError::refused(
                format!("job `{}`: {} bytes between commands", job.name, steps.skip),
                "drives are addressed in blocks of 512 bytes: use a multiple",
            ));
        }
        let (ends, skip) = ([0; 3], steps.skip);
        return Ok(AddressGenerator::Holes(Box::new(SequentialHoles {
            ends,
            skip,
            len,
        })));
    }
    if job.random_pct >= 100 && steps.followers == 0 {
        return Ok(inner);
    }
    Ok(AddressGenerator::Runs(Box::new(RandomRuns {
        turn_rng,
        random_pct: job.random_pct,
        followers: steps.followers,
        follow: 0,
        ends: [0; 3],
        len,
        random: inner,
    })))
}

/// Zone by zone through the file.
fn strided(
    job: &JobSpec,
    copy: u32,
    file: JobRegion,
    zones: Zones,
    rng: &mut Rng,
) -> Result<AddressGenerator, LabError> {
    let lengths = [zones.bytes, zones.range, zones.skip];
    let crooked = lengths.iter().any(|n| !n.is_multiple_of(LOGICAL_BLOCK));
    if crooked || zones.bytes == 0 || zones.range == 0 || zones.range > file.len {
        return Err(LabError::refused(
            format!(
                "job `{}`: zones of {} in a region of {}",
                job.name,
                Bytes(zones.range),
                Bytes(file.len)
            ),
            "a zone is a multiple of 512 bytes, and not larger than the region",
        ));
    }
    let zone = JobRegion {
        len: zones.range,
        ..file
    };
    check_blocks(job, zone)?;
    let within = match job.order {
        Order::Sequential { .. } => None,
        Order::Random { .. } => Some(place(job, copy, zone, rng)?),
    };
    Ok(AddressGenerator::Strided(Box::new(StridedZones {
        zones,
        start: 0,
        done: 0,
        ends: [0; 3],
        len: file.len,
        within,
    })))
}

/// Refuses block sizes that are empty, crooked or larger than the region.
fn check_blocks(job: &JobSpec, region: JobRegion) -> Result<(), LabError> {
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
fn limit(job: &JobSpec, region: JobRegion) -> Result<u64, LabError> {
    if job.time.time_based {
        // 16 EiB: decades at any speed a drive has.
        return Ok(u64::MAX);
    }
    let percent = job
        .shares
        .io_limit
        .map(|percent| share(region.len, percent));
    let least = [percent, job.io_limit].into_iter().flatten().min();
    let bytes = least.unwrap_or(region.len);
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

/// Resolves the order of addresses.
fn place(
    job: &JobSpec,
    copy: u32,
    region: JobRegion,
    rng: &mut Rng,
) -> Result<AddressGenerator, LabError> {
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
                AddressGenerator::Sequential {
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
            let mut random_addresses = |align: u64, smallest: u64, distribution: &Distribution| {
                if align == 0 || !align.is_multiple_of(LOGICAL_BLOCK) {
                    return Err(LabError::refused(
                        format!("job `{}`: an alignment of {align} bytes", job.name),
                        "random commands are aligned to a multiple of 512 bytes",
                    ));
                }
                let slots = region.len.saturating_sub(smallest) / align + 1;
                random(&job.name, slots, align, distribution, *each_once, rng)
            };
            let places = match (job.steps.align, distribution) {
                // An alignment of a kind's own is its smallest block.
                (Some([read, write, trim]), all) => [
                    random_addresses(read, read, all)?,
                    random_addresses(write, write, all)?,
                    random_addresses(trim, trim, all)?,
                ],
                (None, Distribution::Kinds { kinds }) => {
                    let [read, write, trim] = &**kinds;
                    [
                        random_addresses(*align, smallest, read)?,
                        random_addresses(*align, smallest, write)?,
                        random_addresses(*align, smallest, trim)?,
                    ]
                }
                (None, all) => return random_addresses(*align, smallest, all),
            };
            Ok(AddressGenerator::Kinds(Box::new(places)))
        }
    }
}

/// Where a sequential copy starts, and where it goes on after the end of the region.
fn sequential(
    name: &str,
    copy: u32,
    region: JobRegion,
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
) -> Result<AddressGenerator, LabError> {
    let refuse =
        |what: String, hint: &str| Err(LabError::refused(format!("job `{name}`: {what}"), hint));
    match distribution {
        Distribution::Uniform if each_once => {
            let pass = Permutation::new(slots, rng);
            Ok(AddressGenerator::Once {
                align,
                pass,
                visited: 0,
                slots,
            })
        }
        Distribution::Uniform => Ok(AddressGenerator::Uniform { align }),
        &Distribution::Zipf { theta } if theta > 0.0 && theta.is_finite() => {
            let zipf = Box::new(Zipf::new(slots, theta, rng));
            Ok(AddressGenerator::Zipf { align, zipf })
        }
        Distribution::Zipf { theta } => refuse(
            format!("a Zipf exponent of {theta}"),
            "give a number above 0",
        ),
        &Distribution::Pareto { h } if h > 0.0 && h < 1.0 => {
            let pareto = Box::new(Pareto::new(slots, h, rng));
            Ok(AddressGenerator::Pareto { align, pareto })
        }
        Distribution::Pareto { h } => refuse(
            format!("a Pareto power of {h}"),
            "give a number between 0 and 1",
        ),
        &Distribution::Normal { deviation } if (0.0..=100.0).contains(&deviation) => {
            let normal = Box::new(Normal::new(slots, deviation, rng));
            Ok(AddressGenerator::Normal { align, normal })
        }
        Distribution::Normal { deviation } => refuse(
            format!("a deviation of {deviation} % of the region"),
            "give 0 to 100",
        ),
        Distribution::Kinds { .. } => refuse(
            String::from("zones of each kind, and an alignment of each kind"),
            "give reads and writes the same smallest block",
        ),
        Distribution::ZonedBytes { zones } => match Zoned::of_bytes(slots, align, zones) {
            Some(zoned) => Ok(AddressGenerator::Zoned { align, zoned }),
            None => refuse(
                format!("zones of {zones:?} per cent and bytes"),
                "give 1 to 100 zones, some of the accesses of which go to the region",
            ),
        },
        Distribution::Zoned { zones } => match Zoned::new(slots, zones) {
            Some(zoned) => Ok(AddressGenerator::Zoned { align, zoned }),
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
