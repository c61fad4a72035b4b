//! Drives of a kind, each with its own parameters and the state in which the watch may have met it.

use super::draw::EnsembleRng;
use super::evidence::{ForecastEvidence, ForecastModel};
use super::fill::{FillLaw, FillState, WritePressure};
use super::load::WatchedLoad;

/// Members that are drawn.
const MEMBERS: usize = 1500;
/// Deviation of the bytes of media, as a share of the whole: blocks that are bad or reserved.
const MEDIA_SIGMA: f64 = 0.01;
/// Deviations of rates, of what writes take of the media, of folding and of the pause before it.
const RATE_SIGMA: f64 = 0.12;
const COST_SIGMA: f64 = 0.03;
const FOLD_SIGMA: f64 = 0.3;
const PAUSE_SIGMA: f64 = 0.3;
/// Deviation of the share in use: file systems keep space of their own, and other partitions exist.
const USED_SIGMA: f64 = 0.015;
/// Share of the members whose cache was empty when the watch began, where nothing tells.
const EMPTY_SHARE: f64 = 0.6;
/// Share of the members whose free space holds nothing stale, where nothing tells.
const CLEAN_SHARE: f64 = 0.5;
/// Share of the members that keep everything stale until they need the space, where the bytes
/// written in the drive's life say how much that may be.
const KEEPING_SHARE: f64 = 0.75;
/// Weight of a member that would have become slow before now: the load, too, is modelled.
const CONTRADICTED: f64 = 0.0;

/// A member, at the present moment.
#[derive(Clone, Debug)]
pub struct FillMember {
    /// Its parameters.
    pub law: FillLaw,
    /// How full it is.
    pub state: FillState,
    /// How far it agrees with what was watched.
    pub weight: f64,
}

fn drawn_law(model: &ForecastModel, base: &FillLaw, rng: &mut EnsembleRng) -> FillLaw {
    let mut law = base.clone();
    let cache = rng.factor(model.cache_sigma);
    law.static_bytes *= cache;
    law.native_bytes *= 1.0 + MEDIA_SIGMA * rng.normal();
    if law.dynamic_most.is_finite() {
        law.dynamic_most *= cache;
    } else {
        law.dynamic_floor = law.dynamic_floor.map(|floor| {
            let room = (base.native_bytes - floor) * cache;
            (law.native_bytes - room).max(law.reclaim_floor)
        });
    }
    law.native_rate *= rng.factor(RATE_SIGMA);
    law.fold_rate *= rng.factor(FOLD_SIGMA);
    law.idle_after *= rng.factor(PAUSE_SIGMA);
    law.cost *= rng.factor(COST_SIGMA);
    law
}

/// Bytes that lie stale on the media: written once, and written over or deleted since.
fn stale_bytes(
    law: &FillLaw,
    evidence: &ForecastEvidence,
    valid: f64,
    rng: &mut EnsembleRng,
) -> f64 {
    let room = (law.native_bytes - law.reclaim_floor - valid).max(0.0);
    let most = match evidence.written_in_life {
        Some(bytes) => (bytes as f64 * law.cost - valid).clamp(0.0, room),
        None if rng.uniform() < CLEAN_SHARE => return 0.0,
        None => return room * rng.uniform(),
    };
    // Drives that clean up when idle have less of it.
    if rng.uniform() < KEEPING_SHARE {
        most
    } else {
        most * rng.uniform()
    }
}

/// Bytes of the host that the cache held when the watch began.
fn cached_bytes(
    law: &FillLaw,
    free: f64,
    evidence: &ForecastEvidence,
    rng: &mut EnsembleRng,
) -> f64 {
    let cache = law.cache_bytes(free);
    if let Some(range) = evidence.run_up {
        return rng.between(range.low, range.high).min(cache);
    }
    let most = evidence
        .written_since_boot
        .map_or(cache, |bytes| cache.min(bytes as f64));
    if rng.uniform() < EMPTY_SHARE {
        0.0
    } else {
        most * rng.uniform()
    }
}

fn drawn_state(law: &FillLaw, evidence: &ForecastEvidence, rng: &mut EnsembleRng) -> FillState {
    let used = match evidence.used {
        Some(used) => used + USED_SIGMA * rng.normal(),
        None => rng.uniform(),
    };
    let valid = used.clamp(0.0, 1.0) * law.user_bytes;
    let stale = stale_bytes(law, evidence, valid, rng);
    let mut state = FillState {
        static_room: law.static_bytes,
        free: (law.native_bytes - valid - stale).max(law.reclaim_floor),
        dynamic_used: 0.0,
        valid,
        rested: 0.0,
    };
    let cached = cached_bytes(law, state.free, evidence, rng) * law.cost;
    // What the cache holds is among what is stored, so that space is not taken twice.
    state.free += cached.min(valid);
    law.place(&mut state, cached);
    state
}

/// Members after what was watched; those that contradict it weigh nothing.
pub fn fill_members(
    model: &ForecastModel,
    evidence: &ForecastEvidence,
    load: &WatchedLoad,
    pressure: &WritePressure,
) -> Vec<FillMember> {
    let base = FillLaw::new(&model.config);
    let mut rng = EnsembleRng::new(1, "fill");
    (0..MEMBERS)
        .map(|_| {
            let law = drawn_law(model, &base, &mut rng);
            let mut state = drawn_state(&law, evidence, &mut rng);
            let slowed = law.replay(&mut state, &load.spans, pressure);
            FillMember {
                weight: if slowed { CONTRADICTED } else { 1.0 },
                law,
                state,
            }
        })
        .collect()
}
