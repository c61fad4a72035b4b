//! Write amplification by spare area: simulations at a few spare areas, interpolated between.

use crate::structure::{self, FtlLayout, SLOT};
use crate::trace::{self, TraceExcerpt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::{LabError, parallel};
use ssdlab_load::distribution::Zipf;
use ssdlab_load::permutation::Permutation;
use ssdlab_load::synthetic::SyntheticPattern;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Op};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Spare areas (effective over-provisioning) that are simulated; steps of about a factor 1.4.
pub const SPARES: [f64; 10] = [0.05, 0.07, 0.10, 0.14, 0.20, 0.28, 0.40, 0.56, 0.80, 1.12];
/// Floor of WAF - 1, for its logarithm.
const FLOOR: f64 = 1e-3;
/// Writes between two checks of the stop flag.
const STRIDE: u64 = 65_536;

/// A load as it is simulated.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatedLoad {
    /// Where it writes, as `--load` of `ssdlab simulate` has it, or [`trace::NAME`].
    pub pattern: String,
    /// Part of the user capacity that is filled and written, 0 to 1.
    pub used: f64,
    /// Host writes after the fill, in user capacities.
    pub overwrites: f64,
}

impl SimulatedLoad {
    /// For tables: the pattern, and the used share where it is not all.
    pub fn label(&self) -> String {
        if self.used < 1.0 {
            format!("{}, {:.0} % used", self.pattern, self.used * 100.0)
        } else {
            self.pattern.clone()
        }
    }
}

enum ScaledPattern {
    Uniform(u64),
    Hot {
        pct: u32,
        hot: u64,
        slots: u64,
        scatter: Option<Permutation>,
    },
    /// Ranks of the real drive, as many as it has blocks, gathered to those of the small one: a
    /// distribution over fewer blocks would be flatter.
    Zipf {
        ranks: Zipf,
        shrink: f64,
        last: u64,
        scatter: Permutation,
    },
}

impl ScaledPattern {
    fn new(
        pattern: SyntheticPattern,
        slots: u64,
        real: u64,
        rng: &mut Rng,
    ) -> Result<ScaledPattern, LabError> {
        Ok(match pattern {
            SyntheticPattern::HotCold {
                commands_pct,
                blocks_pct,
                scattered,
            } => ScaledPattern::Hot {
                pct: commands_pct,
                hot: (slots * u64::from(blocks_pct) / 100).clamp(1, slots - 1),
                slots,
                scatter: scattered.then(|| Permutation::new(slots, rng)),
            },
            SyntheticPattern::Zipf(theta) => ScaledPattern::Zipf {
                ranks: Zipf::new(real.max(slots), theta, rng),
                shrink: slots as f64 / real.max(slots) as f64,
                last: slots - 1,
                scatter: Permutation::new(slots, rng),
            },
            SyntheticPattern::Uniform | SyntheticPattern::Sequential => {
                ScaledPattern::Uniform(slots)
            }
            SyntheticPattern::Cache { .. } => {
                return Err(LabError::refused(
                    format!("the twin has no models of `{pattern}`"),
                    "`ssdlab simulate` runs it on a drive",
                ));
            }
        })
    }

    #[inline]
    fn draw(&self, rng: &mut Rng) -> u64 {
        match self {
            ScaledPattern::Uniform(slots) => rng.below(*slots),
            ScaledPattern::Hot {
                pct,
                hot,
                slots: all,
                scatter,
            } => {
                let slot = if rng.percent(*pct) {
                    rng.below(*hot)
                } else {
                    *hot + rng.below(*all - *hot)
                };
                scatter.as_ref().map_or(slot, |scatter| scatter.at(slot))
            }
            ScaledPattern::Zipf {
                ranks,
                shrink,
                last,
                scatter,
            } => scatter.at(((ranks.rank(rng) as f64 * shrink) as u64).min(*last)),
        }
    }
}

/// WAF in the last quarter of `load` on a small drive of `structure`, `capacity` being the real
/// drive's bytes. `None` when it was stopped.
///
/// # Errors
/// When the load is not one that can be simulated, or no such drive is possible.
pub fn waf(
    structure: &FtlLayout,
    spare: f64,
    load: &SimulatedLoad,
    capacity: u64,
    trace: Option<&TraceExcerpt>,
    seed: u64,
    stop: &AtomicBool,
) -> Result<Option<f64>, LabError> {
    let config = structure.config(spare);
    let user = config.user_slots();
    let impossible = |e: ssdlab_ssd::ConfigError| LabError::refused(e.to_string(), "");
    let mut drive = CountingDrive::new(config).map_err(impossible)?;
    let slots = ((user as f64 * load.used) as u64).clamp(2, user);
    // Through the buffer, so that no write is absorbed: real ones are small against a drive.
    let write = |slot: u64| Command::write_fua(slot * SLOT, SLOT as u32);
    let writes = (load.overwrites * user as f64) as u64;
    match trace.filter(|_| load.pattern == trace::NAME) {
        Some(trace) => {
            let sample = trace.sample(user, slots)?;
            (0..slots).for_each(|slot| drive.apply(&write(slot)));
            Ok(last_quarter(&mut drive, sample.commands(), writes, stop))
        }
        None => {
            let real = (capacity as f64 * load.used) as u64 / SLOT;
            let mut rng = Rng::named(seed, "twin: load");
            let place = ScaledPattern::new(
                SyntheticPattern::parse(&load.pattern)?,
                slots,
                real,
                &mut rng,
            )?;
            (0..slots).for_each(|slot| drive.apply(&write(slot)));
            let commands = std::iter::repeat_with(|| write(place.draw(&mut rng)));
            Ok(last_quarter(&mut drive, commands, writes, stop))
        }
    }
}

/// WAF in the last quarter of `writes`, with the trims between them.
fn last_quarter(
    drive: &mut CountingDrive,
    commands: impl Iterator<Item = Command>,
    writes: u64,
    stop: &AtomicBool,
) -> Option<f64> {
    let mut before = drive.counters().clone();
    let mut n = 0;
    for command in commands {
        if command.op == Op::Write {
            if n == writes {
                break;
            }
            if n == writes * 3 / 4 {
                before = drive.counters().clone();
            }
            if n % STRIDE == 0 && stop.load(Ordering::Relaxed) {
                return None;
            }
            n += 1;
        }
        drive.apply(&command);
    }
    drive.counters().waf_since(&before, SLOT as u32)
}

/// ln(WAF - 1) by ln spare, at the spare areas that were simulated.
#[derive(Clone, Debug)]
pub struct WafCurve {
    points: Vec<(f64, f64)>,
}

impl WafCurve {
    /// WAF at a spare area: linear between the logarithms, level beyond the ends.
    pub fn at(&self, spare: f64) -> f64 {
        let x = spare.ln();
        let next = self.points.partition_point(|point| point.0 < x);
        let log = match (
            next.checked_sub(1).map(|i| self.points[i]),
            self.points.get(next),
        ) {
            (Some((x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
            (Some((_, y)), None) | (None, Some(&(_, y))) => y,
            (None, None) => f64::NEG_INFINITY,
        };
        1.0 + log.exp()
    }
}

/// What to simulate: a load, a layout and indices into [`SPARES`].
pub type SurfaceRequest = (usize, usize, std::ops::RangeInclusive<usize>);

/// Simulates on several threads, each request once.
pub struct Simulator<'a> {
    /// User capacity of the real drive, bytes.
    pub capacity: u64,
    /// Of the loads.
    pub seed: u64,
    threads: usize,
    stop: &'a AtomicBool,
    trace: Option<TraceExcerpt>,
    cache: RefCell<BTreeMap<(String, usize, usize), f64>>,
}

impl<'a> Simulator<'a> {
    /// For a drive of `capacity` bytes, with `threads` simulations at once until `stop` is set.
    pub fn new(capacity: u64, seed: u64, threads: usize, stop: &'a AtomicBool) -> Simulator<'a> {
        Simulator {
            capacity,
            seed,
            threads,
            stop,
            trace: None,
            cache: RefCell::default(),
        }
    }

    /// The same, with a trace as one of the loads.
    pub fn with_trace(self, trace: Option<TraceExcerpt>) -> Simulator<'a> {
        Simulator { trace, ..self }
    }

    /// Whether a load of this name is that of the trace.
    pub fn is_trace(&self, name: &str) -> bool {
        self.trace.is_some() && name == trace::NAME
    }

    /// The requested curves, by load and layout.
    ///
    /// # Errors
    /// When a load cannot be simulated, or the work was stopped.
    pub fn curves(
        &self,
        loads: &[SimulatedLoad],
        requests: &[SurfaceRequest],
    ) -> Result<BTreeMap<(usize, usize), WafCurve>, LabError> {
        let mut cache = self.cache.borrow_mut();
        let key = |load: usize, layout: usize, spare: usize| {
            let SimulatedLoad {
                pattern,
                used,
                overwrites,
            } = &loads[load];
            (format!("{pattern} {used} {overwrites}"), layout, spare)
        };
        let jobs = requests.iter().flat_map(|(load, layout, spares)| {
            spares.clone().map(move |spare| (*load, *layout, spare))
        });
        let jobs: Vec<(usize, usize, usize)> = jobs
            .filter(|&(load, layout, spare)| !cache.contains_key(&key(load, layout, spare)))
            .collect();
        let (capacity, trace) = (self.capacity, self.trace.as_ref());
        let (seed, stop) = (self.seed, self.stop);
        let work = |&(load, layout, spare): &(usize, usize, usize)| {
            let structure = &structure::ALL[layout];
            let (spare, load) = (SPARES[spare], &loads[load]);
            let waf = waf(structure, spare, load, capacity, trace, seed, stop)?;
            waf.ok_or_else(|| LabError::refused("stopped before the end", "run it again"))
        };
        let wafs = parallel::all(&jobs, self.threads, work)?;
        for ((load, layout, spare), waf) in jobs.into_iter().zip(wafs) {
            cache.insert(key(load, layout, spare), waf);
        }
        let curve = |(load, layout, spares): &SurfaceRequest| {
            let point = |spare: usize| {
                let waf = cache.get(&key(*load, *layout, spare))?;
                Some((SPARES[spare].ln(), (waf - 1.0).max(FLOOR).ln()))
            };
            let points = spares.clone().filter_map(point).collect();
            ((*load, *layout), WafCurve { points })
        };
        Ok(requests.iter().map(curve).collect())
    }
}

/// Indices of [`SPARES`] that enclose `low` to `high`.
pub fn enclosing(low: f64, high: f64) -> std::ops::RangeInclusive<usize> {
    let last = SPARES.len() - 1;
    let first = SPARES.partition_point(|&s| s <= low).saturating_sub(1);
    let end = SPARES.partition_point(|&s| s < high).min(last);
    first.min(last)..=end.max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knots_enclose_a_range() {
        assert_eq!(enclosing(0.10, 0.10), 2..=2);
        assert_eq!(enclosing(0.11, 0.13), 2..=3);
        assert_eq!(enclosing(0.01, 0.06), 0..=1);
        assert_eq!(enclosing(0.9, 3.0), 8..=9);
    }

    #[test]
    fn a_curve_meets_its_points_and_is_level_beyond() {
        let points = vec![(0.1_f64.ln(), 4_f64.ln()), (0.4_f64.ln(), 1_f64.ln())];
        let curve = WafCurve { points };
        for (spare, waf) in [(0.1, 5.0), (0.2, 3.0), (0.4, 2.0), (0.01, 5.0), (2.0, 2.0)] {
            assert!((curve.at(spare) - waf).abs() < 1e-9, "{spare}");
        }
    }

    /// Uniform writes, settled. For FIFO, A = a / (a + W(-a e^-a)) with a = 1 + spare and Lambert's
    /// W (P. Desnoyers 2012): 5.66 at a spare of 0.1, 1.97 at 0.4. Greedy is somewhat below.
    #[test]
    fn write_amplification_is_near_theory_and_falls_with_spare() {
        let load = SimulatedLoad {
            pattern: "uniform".into(),
            used: 1.0,
            overwrites: 4.0,
        };
        let at = |spare| {
            waf(
                &structure::ALL[1],
                spare,
                &load,
                1 << 40,
                None,
                1,
                &AtomicBool::new(false),
            )
            .expect("possible")
            .expect("not stopped")
        };
        let (little, much) = (at(0.1), at(0.4));
        for (found, fifo) in [(little, 5.66), (much, 1.97)] {
            assert!(found < fifo && found > 0.85 * fifo, "{found} for {fifo}");
        }
    }
}
