//! Time per command, divided among its causes.

use super::levels::ReliefLevels;
use super::load::{AblationLoad, AblationMeasurement, measure};
use super::stream::{HostRelief, HostStream};
use crate::cause::Cause;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_ssd::Drive;
use ssdlab_ssd::drive::Relief;

/// Share of the time below which a cause is not worth a line.
const WORTH: f64 = 0.02;
/// Share below which it is not looked at again.
const COUNTS: f64 = 0.005;
/// Share of the time that must be left unexplained before pairs of causes are tried.
const PAIR_WORTH: f64 = 0.1;

/// What one cause costs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CauseShare {
    /// The cause; two where only both together cost anything: each hides behind the other.
    pub causes: Vec<Cause>,
    /// Time per command that goes when it is taken away after those before it, ns.
    pub ns: f64,
    /// The same when it is taken away alone, ns. Less than `ns` where another cause hides it, more
    /// where both wait at the same time.
    pub alone_ns: f64,
    /// Time per command with it and all causes that come after it, over the time without it.
    pub factor: f64,
}

/// One load taken apart. The shares and the rest add up to the time per command.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Decomposition {
    /// The load.
    pub load: AblationLoad,
    /// Time per command of the drive as it is, ns.
    pub ns: f64,
    /// Largest share first taken, in the order taken away.
    pub shares: Vec<CauseShare>,
    /// Time that is left, ns.
    pub rest_ns: f64,
}

impl Decomposition {
    /// How many times as fast the drive is without all causes.
    pub fn factor(&self) -> f64 {
        self.ns / self.rest_ns
    }
}

/// Something that a fork of the drive, or the host in front of it, is without.
#[derive(Clone, Copy, Debug)]
enum RemovedCost {
    Cost(Relief),
    Pauses,
    DoubledFlushes,
}

/// What is measured on each fork.
struct ForkBench<'a> {
    drive: &'a Drive,
    commands: ForkCommands<'a>,
    taken: Vec<RemovedCost>,
}

enum ForkCommands<'a> {
    Of(AblationLoad, u64),
    Recorded(&'a HostStream),
}

impl ForkBench<'_> {
    fn measure(&self, all: &[RemovedCost]) -> AblationMeasurement {
        let costs = all.iter().filter_map(|one| match one {
            RemovedCost::Cost(relief) => Some(*relief),
            RemovedCost::Pauses | RemovedCost::DoubledFlushes => None,
        });
        let reliefs: Vec<Relief> = costs.collect();
        match self.commands {
            ForkCommands::Of(load, seed) => measure(self.drive, load, &reliefs, seed),
            ForkCommands::Recorded(stream) => {
                let mut drive = self.drive.clone();
                reliefs.iter().for_each(|relief| drive.relieve(*relief));
                let lacks = |of: fn(&RemovedCost) -> bool| all.iter().any(of);
                let host = HostRelief {
                    without_pauses: lacks(|one| matches!(one, RemovedCost::Pauses)),
                    without_doubled_flushes: lacks(|one| {
                        matches!(one, RemovedCost::DoubledFlushes)
                    }),
                };
                stream.measure(drive, host)
            }
        }
    }

    fn without(&self, more: &[RemovedCost]) -> f64 {
        let removed: Vec<RemovedCost> = self.taken.iter().chain(more).copied().collect();
        self.measure(&removed).ns
    }

    /// What takes a cause away; empty where there is no such cause.
    fn withouts(&self, cause: Cause, levels: &ReliefLevels, moved: f64) -> Vec<RemovedCost> {
        let of_host = |has: bool, without| if has { vec![without] } else { Vec::new() };
        match (&self.commands, cause) {
            (ForkCommands::Recorded(stream), Cause::HostPauses) => {
                of_host(stream.has_pauses(), RemovedCost::Pauses)
            }
            (ForkCommands::Recorded(stream), Cause::DoubledFlushes) => {
                of_host(stream.doubled_flushes().0 > 0, RemovedCost::DoubledFlushes)
            }
            _ => {
                let reliefs = levels.reliefs(cause, self.drive.config(), moved);
                reliefs.into_iter().map(RemovedCost::Cost).collect()
            }
        }
    }
}

/// A cause that is still there, what takes it away, and what it saves alone, ns.
type RemainingCause = (Cause, Vec<RemovedCost>, f64);

/// Takes causes away from forks of `drive` under `load`: each time the one that saves most, until
/// none saves anything. Where no single one does, but all together do, pairs are tried: two
/// bottlenecks at once hide behind each other.
pub fn decompose(
    drive: &Drive,
    load: AblationLoad,
    levels: &ReliefLevels,
    seed: u64,
) -> Decomposition {
    taken_apart(drive, load, ForkCommands::Of(load, seed), levels)
}

/// The same for the commands of a host; its pauses and doubled flushes are causes too.
pub fn decompose_stream(
    drive: &Drive,
    stream: &HostStream,
    levels: &ReliefLevels,
) -> Decomposition {
    taken_apart(
        drive,
        AblationLoad::Trace,
        ForkCommands::Recorded(stream),
        levels,
    )
}

fn taken_apart(
    drive: &Drive,
    load: AblationLoad,
    commands: ForkCommands<'_>,
    levels: &ReliefLevels,
) -> Decomposition {
    let mut bench = ForkBench {
        drive,
        commands,
        taken: Vec::new(),
    };
    let as_it_is = bench.measure(&[]);
    let mut remaining: Vec<RemainingCause> = Vec::new();
    for cause in Cause::ALL {
        let withouts = bench.withouts(cause, levels, as_it_is.moved);
        if !withouts.is_empty() {
            let alone = as_it_is.ns - bench.without(&withouts);
            remaining.push((cause, withouts, alone));
        }
    }
    let all_but = |which: Option<Cause>| -> Vec<RemovedCost> {
        let others = remaining.iter().filter(|one| Some(one.0) != which);
        others.flat_map(|one| one.1.clone()).collect()
    };
    let least = bench.without(&all_but(None));
    let mut current_ns = as_it_is.ns;
    let mut shares = Vec::new();
    // Drop what neither saves time alone nor costs any once all others are removed.
    let counts = |one: &RemainingCause| {
        let last = || bench.without(&all_but(Some(one.0))) - least;
        current_ns - least >= WORTH * current_ns
            && (one.2 >= COUNTS * current_ns || last() >= COUNTS * current_ns)
    };
    let counted: Vec<bool> = remaining.iter().map(counts).collect();
    let mut counted = counted.into_iter();
    remaining.retain(|_| counted.next().unwrap_or(false));
    while let Some((which, after)) = best(&bench, &remaining, current_ns, least, as_it_is.ns) {
        let mut causes = Vec::new();
        let mut alone = 0.0;
        for index in which.into_iter().rev() {
            let (cause, reliefs, ns) = remaining.remove(index);
            causes.insert(0, cause);
            alone += ns;
            bench.taken.extend(reliefs);
        }
        shares.push(CauseShare {
            causes,
            ns: current_ns - after,
            alone_ns: alone,
            factor: current_ns / after.max(1.0),
        });
        current_ns = after;
    }
    Decomposition {
        load,
        ns: as_it_is.ns,
        shares,
        rest_ns: current_ns,
    }
}

/// The causes in `remaining`, by index, that save most, and the time without them.
fn best(
    bench: &ForkBench<'_>,
    remaining: &[RemainingCause],
    current_ns: f64,
    least: f64,
    whole: f64,
) -> Option<(Vec<usize>, f64)> {
    let worth = |one: &(Vec<usize>, f64)| current_ns - one.1 >= WORTH * whole;
    let alone = |i: usize| (vec![i], bench.without(&remaining[i].1));
    let setting = remaining
        .iter()
        .position(|one| one.0.is_setting())
        .map(alone);
    if let Some(setting) = setting.filter(worth) {
        return Some(setting);
    }
    let singles = (0..remaining.len()).map(alone);
    let fastest = |a: &(Vec<usize>, f64), b: &(Vec<usize>, f64)| a.1.total_cmp(&b.1);
    let fastest_single = singles.min_by(fastest)?;
    if worth(&fastest_single) {
        return Some(fastest_single);
    }
    if current_ns - least < PAIR_WORTH * whole {
        return None;
    }
    let pairs = (0..remaining.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let pair = |(j, i): (usize, usize)| {
        let reliefs = [remaining[j].1.clone(), remaining[i].1.clone()].concat();
        (vec![j, i], bench.without(&reliefs))
    };
    let fastest_pair = pairs.map(pair).min_by(fastest)?;
    (current_ns - fastest_pair.1 >= PAIR_WORTH * whole).then_some(fastest_pair)
}
