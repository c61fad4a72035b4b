//! "Performance is horrible: what gives?", answered by experiment on a modelled drive.
//!
//! The drive is forked in its slow state, and the same commands run on forks without one of its
//! costs: see [`ssdlab_ssd::drive::Relief`]. A cost made the drive slow if the fork is fast. Costs
//! are taken away one after the other, each time the one that saves most, so that the shares add
//! up; see [`decompose()`].
//!
//! A cost is first reduced to what a healthy drive of the same interface and cells has
//! ([`ReliefLevels::healthy`]): if this saves a third of the time, the cost is a fault. Then every
//! cost is taken down to nothing ([`ReliefLevels::free`]): the limits of the drive, not its faults.
//!
//! The commands are those of eight loads, or a host's own: see [`HostStream`].

mod decompose;
mod levels;
mod load;
pub mod planted;
mod show;
mod state;
mod stream;

pub use crate::cause::Cause;
pub use decompose::{CauseShare, Decomposition, decompose, decompose_stream};
pub use levels::ReliefLevels;
pub use load::{AblationLoad, AblationMeasurement, measure};
pub use show::text;
pub use state::steady;
pub use stream::{COMMANDS_MAX, HostRelief, HostStream};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_base::parallel;
use ssdlab_ssd::{Drive, DriveConfig};

/// A cause is a fault when the drive is this many times as fast without it as a healthy one.
pub const FAULT: f64 = 1.5;

/// A drive taken apart.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// Name of the drive.
    pub drive: String,
    /// The faults, worst first.
    pub faults: Vec<Bottleneck>,
    /// Each load with its costs reduced to those of a healthy drive.
    pub healthy: Vec<Decomposition>,
    /// Each load with all costs taken away.
    pub free: Vec<Decomposition>,
    /// The 99.9th percentiles, with all costs taken away; empty for a trace.
    pub slowest: Vec<Decomposition>,
}

impl Diagnosis {
    /// Whether the commands were those of a host.
    pub fn is_of_trace(&self) -> bool {
        self.healthy.iter().any(|of| of.load == AblationLoad::Trace)
    }
}

/// A cause that slows a load down.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct Bottleneck {
    /// The cause.
    pub cause: Cause,
    /// As a sentence.
    pub sentence: String,
    /// The load that it slows down most.
    pub load: AblationLoad,
    /// How many times as fast that load is with the cost of a healthy drive.
    pub factor: f64,
}

/// Takes a drive apart under every load; it has no command outstanding and is in the state that is
/// asked about.
///
/// # Errors
/// None of its own; those of the threads.
pub fn diagnose(drive: &Drive, seed: u64) -> Result<Diagnosis, LabError> {
    let healthy = taken_apart(
        drive,
        &AblationLoad::ALL,
        seed,
        &ReliefLevels::healthy(drive.config()),
    )?;
    Ok(Diagnosis {
        drive: drive.config().name.clone(),
        faults: faults(&healthy, drive.config()),
        free: taken_apart(drive, &AblationLoad::ALL, seed, &ReliefLevels::free())?,
        slowest: taken_apart(drive, &AblationLoad::SLOWEST, seed, &ReliefLevels::free())?,
        healthy,
    })
}

/// Takes a drive apart under the commands of a host. What the host does itself, its pauses and
/// doubled flushes, is named like the costs of the drive. A fault takes a third of the time of the
/// trace, as much as makes a load 1.5 times as long; the one that takes most comes first. Doubled
/// flushes that alone take as much are named last even where another cause hides them: a protected
/// buffer would make them free, but the host can do without them on this drive.
pub fn diagnose_stream(drive: &Drive, stream: &HostStream) -> Diagnosis {
    let to = |levels| decompose_stream(drive, stream, &levels);
    let healthy = to(ReliefLevels::healthy(drive.config()));
    let least = healthy.ns * (1.0 - 1.0 / FAULT);
    let shares = healthy.shares.iter().filter(|share| share.ns >= least);
    let faults = shares.flat_map(|share| in_share(&healthy, share, drive.config()));
    let mut faults: Vec<Bottleneck> = faults.collect();
    let known = |fault: &Bottleneck| fault.cause == Cause::DoubledFlushes;
    if stream.doubled_flushes().0 > 0 && !faults.iter().any(known) {
        let once = HostRelief {
            without_doubled_flushes: true,
            ..HostRelief::default()
        };
        let factor = healthy.ns / stream.measure(drive.clone(), once).ns;
        faults.extend((factor >= FAULT).then(|| Bottleneck {
            cause: Cause::DoubledFlushes,
            sentence: Cause::DoubledFlushes.sentence(drive.config()),
            load: AblationLoad::Trace,
            factor,
        }));
    }
    Diagnosis {
        drive: drive.config().name.clone(),
        faults,
        free: vec![to(ReliefLevels::free())],
        slowest: Vec::new(),
        healthy: vec![healthy],
    }
}

/// The faults under some loads alone.
///
/// # Errors
/// As [`diagnose`].
pub fn diagnose_faults(
    drive: &Drive,
    loads: &[AblationLoad],
    seed: u64,
) -> Result<Vec<Bottleneck>, LabError> {
    let healthy = taken_apart(drive, loads, seed, &ReliefLevels::healthy(drive.config()))?;
    Ok(faults(&healthy, drive.config()))
}

fn taken_apart(
    drive: &Drive,
    loads: &[AblationLoad],
    seed: u64,
    to: &ReliefLevels,
) -> Result<Vec<Decomposition>, LabError> {
    let decomposition = |load: &AblationLoad| Ok(decompose(drive, *load, to, seed));
    parallel::all(loads, parallel::cores(), decomposition)
}

fn in_share<'a>(
    decomposition: &'a Decomposition,
    share: &'a CauseShare,
    config: &'a DriveConfig,
) -> impl Iterator<Item = Bottleneck> + 'a {
    share.causes.iter().map(|cause| Bottleneck {
        cause: *cause,
        sentence: cause.sentence(config),
        load: decomposition.load,
        factor: share.factor,
    })
}

/// The faults that decompositions against a healthy drive show, worst first, settings of the host
/// before all.
pub fn faults(healthy: &[Decomposition], config: &DriveConfig) -> Vec<Bottleneck> {
    let mut faults: Vec<Bottleneck> = Vec::new();
    for of in healthy {
        for share in of.shares.iter().filter(|share| share.factor >= FAULT) {
            for found in in_share(of, share, config) {
                match faults.iter_mut().find(|fault| fault.cause == found.cause) {
                    Some(known) if known.factor >= found.factor => {}
                    Some(known) => *known = found,
                    None => faults.push(found),
                }
            }
        }
    }
    let setting = |fault: &Bottleneck| fault.cause.is_setting();
    faults.sort_by(|a, b| {
        let settings = setting(b).cmp(&setting(a));
        settings.then(b.factor.total_cmp(&a.factor))
    });
    faults
}

#[cfg(test)]
mod tests;
