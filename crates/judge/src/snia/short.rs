//! The three tests with preconditioning and rounds of minutes: IOPS, throughput, latency.

use super::load::{SniaDemand, SniaLoad};
use super::result::{ResponseHistogram, TrackingVariable};
use super::rig::SniaRig;
use super::rounds::{IOPS, MEAN, THROUGHPUT, until_steady};
use ssdlab_base::LabError;

const KIB: u32 = 1024;
const ONE: SniaDemand = SniaDemand::new(1, 1);
/// Per cent of reads, in the order of the specification.
pub const MIXES: [u8; 7] = [100, 95, 65, 50, 35, 5, 0];
/// Command sizes, in the order of the specification.
pub const SIZES: [u32; 8] = [
    1024 * KIB,
    128 * KIB,
    64 * KIB,
    32 * KIB,
    16 * KIB,
    8 * KIB,
    4 * KIB,
    512,
];
/// The same of the latency test.
pub const LATENCY_MIXES: [u8; 3] = [100, 65, 0];
/// The same of the latency test.
pub const LATENCY_SIZES: [u32; 3] = [8 * KIB, 4 * KIB, 512];
/// Sizes of the throughput test.
pub const THROUGHPUT_SIZES: [u32; 2] = [1024 * KIB, 128 * KIB];
/// Length of the latency test's histogram, s.
const HISTOGRAM_S: f64 = 20.0 * 60.0;

/// What a test found besides its rows.
pub type SniaFindings = (Vec<TrackingVariable>, Vec<ResponseHistogram>, Vec<String>);

/// IOPS: 7 mixes of 8 sizes; 4 KiB writes, 64 KiB at 65 % reads and 1 MiB reads are tracked.
///
/// # Errors
/// When the drive fails.
pub fn iops(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    let demand = rig.class.demand();
    rig.purge()?;
    rig.precondition()?;
    let of_mix = |mix: u8| SIZES.map(|size| SniaLoad::random(demand, mix, size));
    let loads: Vec<SniaLoad> = MIXES.into_iter().flat_map(of_mix).collect();
    let tracked = [(0, 4 * KIB), (65, 64 * KIB), (100, 1024 * KIB)];
    let tracked = tracked.map(|(mix, size)| (SniaLoad::random(demand, mix, size), IOPS));
    let variables = until_steady(rig, "round", None, &loads, &tracked)?;
    Ok((variables, Vec::new(), Vec::new()))
}

/// Throughput: for each size a purge, preconditioning, and rounds of reads and writes.
///
/// # Errors
/// When the drive fails.
pub fn throughput(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    let mut variables = Vec::new();
    for size in THROUGHPUT_SIZES {
        if rig.stopped() {
            break;
        }
        rig.purge()?;
        rig.precondition()?;
        let loads = [
            SniaLoad::sequential(100, size),
            SniaLoad::sequential(0, size),
        ];
        let part = format!("round-{}k", size / KIB);
        variables.extend(until_steady(
            rig,
            &part,
            None,
            &loads,
            &[(loads[1], THROUGHPUT)],
        )?);
    }
    Ok((variables, Vec::new(), Vec::new()))
}

/// Latency: 3 mixes of 3 sizes, one command at a time; then 20 minutes of 4 KiB writes.
///
/// # Errors
/// When the drive fails.
pub fn latency(rig: &mut SniaRig<'_>) -> Result<SniaFindings, LabError> {
    rig.purge()?;
    rig.precondition()?;
    let of_mix = |mix: u8| LATENCY_SIZES.map(|size| SniaLoad::random(ONE, mix, size));
    let loads: Vec<SniaLoad> = LATENCY_MIXES.into_iter().flat_map(of_mix).collect();
    let write = SniaLoad::random(ONE, 0, 4 * KIB);
    let variables = until_steady(rig, "round", None, &loads, &[(write, MEAN)])?;
    let histogram = if rig.stopped() {
        None
    } else {
        rig.histogram("histogram", &write.lasting(HISTOGRAM_S))?
    };
    Ok((variables, histogram.into_iter().collect(), Vec::new()))
}
