//! Time per command, divided among its causes.

use super::cause::{Cause, Levels};
use super::load::{Load, measure};
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
#[derive(Clone, Debug, Serialize)]
pub struct Share {
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
#[derive(Clone, Debug, Serialize)]
pub struct Decomposition {
    /// The load.
    pub load: Load,
    /// Time per command of the drive as it is, ns.
    pub ns: f64,
    /// Largest share first taken, in the order taken away.
    pub shares: Vec<Share>,
    /// Time that is left, ns.
    pub rest_ns: f64,
}

impl Decomposition {
    /// How many times as fast the drive is without all causes.
    pub fn factor(&self) -> f64 {
        self.ns / self.rest_ns
    }
}

struct Bench<'a> {
    drive: &'a Drive,
    load: Load,
    seed: u64,
    taken: Vec<Relief>,
}

impl Bench<'_> {
    fn without(&self, more: &[Relief]) -> f64 {
        let all: Vec<Relief> = self.taken.iter().chain(more).copied().collect();
        measure(self.drive, self.load, &all, self.seed).ns
    }
}

/// A cause that is still there, and what takes it away.
type Left = (Cause, Vec<Relief>, f64);

/// Takes causes away from forks of `drive` under `load`: each time the one that saves most, until
/// none saves anything. Where no single one does, but all together do, pairs are tried: two
/// bottlenecks at once hide behind each other.
pub fn decompose(drive: &Drive, load: Load, levels: &Levels, seed: u64) -> Decomposition {
    let as_it_is = measure(drive, load, &[], seed);
    let mut bench = Bench {
        drive,
        load,
        seed,
        taken: Vec::new(),
    };
    let mut left: Vec<Left> = Vec::new();
    for cause in Cause::ALL {
        let reliefs = levels.reliefs(cause, drive.config(), as_it_is.moved);
        if !reliefs.is_empty() {
            let alone = as_it_is.ns - bench.without(&reliefs);
            left.push((cause, reliefs, alone));
        }
    }
    let but = |which: Option<Cause>| -> Vec<Relief> {
        let others = left.iter().filter(|one| Some(one.0) != which);
        others.flat_map(|one| one.1.clone()).collect()
    };
    let least = bench.without(&but(None));
    let mut now = as_it_is.ns;
    let mut shares = Vec::new();
    // One that neither saves anything alone nor costs anything when all others are gone is none.
    let counts = |one: &Left| {
        let last = || bench.without(&but(Some(one.0))) - least;
        now - least >= WORTH * now && (one.2 >= COUNTS * now || last() >= COUNTS * now)
    };
    let counted: Vec<bool> = left.iter().map(counts).collect();
    let mut counted = counted.into_iter();
    left.retain(|_| counted.next().unwrap_or(false));
    while let Some((which, after)) = best(&bench, &left, now, least, as_it_is.ns) {
        let mut causes = Vec::new();
        let mut alone = 0.0;
        for index in which.into_iter().rev() {
            let (cause, reliefs, ns) = left.remove(index);
            causes.insert(0, cause);
            alone += ns;
            bench.taken.extend(reliefs);
        }
        shares.push(Share {
            causes,
            ns: now - after,
            alone_ns: alone,
            factor: now / after.max(1.0),
        });
        now = after;
    }
    Decomposition {
        load,
        ns: as_it_is.ns,
        shares,
        rest_ns: now,
    }
}

/// The causes in `left`, by index, that save most, and the time without them.
fn best(
    bench: &Bench<'_>,
    left: &[Left],
    now: f64,
    least: f64,
    whole: f64,
) -> Option<(Vec<usize>, f64)> {
    let single = (0..left.len()).map(|i| (vec![i], bench.without(&left[i].1)));
    let fastest = |a: &(Vec<usize>, f64), b: &(Vec<usize>, f64)| a.1.total_cmp(&b.1);
    let one = single.min_by(fastest)?;
    if now - one.1 >= WORTH * whole {
        return Some(one);
    }
    if now - least < PAIR_WORTH * whole {
        return None;
    }
    let pairs = (0..left.len()).flat_map(|i| (0..i).map(move |j| (j, i)));
    let both = |(j, i): (usize, usize)| {
        let reliefs = [left[j].1.clone(), left[i].1.clone()].concat();
        (vec![j, i], bench.without(&reliefs))
    };
    let two = pairs.map(both).min_by(fastest)?;
    (now - two.1 >= PAIR_WORTH * whole).then_some(two)
}
