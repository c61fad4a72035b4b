//! The generator of a job's addresses, resolved from its order, distribution and zones.

use super::region::{JobRegion, LOGICAL_BLOCK, check_blocks, kinds};
use crate::distribution::{Normal, Pareto, Zipf, Zoned};
use crate::permutation::Permutation;
use crate::place::{AddressGenerator, RandomRuns, SequentialHoles, StridedZones};
use crate::plan::{Distribution, JobSpec, Order, Zones};
use ssdlab_base::LabError;
use ssdlab_ssd::Bytes;
use ssdlab_ssd::rng::Rng;

/// The order within one file.
pub(super) fn file_place(
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
    let random_pct = steps.random_pct.unwrap_or([job.random_pct; 3]);
    if random_pct.iter().all(|percent| *percent >= 100) && steps.followers == 0 {
        return Ok(inner);
    }
    Ok(AddressGenerator::Runs(Box::new(RandomRuns {
        turn_rng,
        random_pct,
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
                let crooked = !align.is_multiple_of(LOGICAL_BLOCK) && !job.steps.pages;
                if align == 0 || crooked {
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
    if [stride.unwrap_or(0), start_step]
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
