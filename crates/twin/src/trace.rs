//! The writes of a host's trace, made small.
//!
//! ```text
//! trace -> blocks of 4 KiB -> those whose hash is below a threshold -> the small drive's blocks
//! ```
//! A small drive gets as large a part of the blocks as it has of the real drive's, each of them
//! written and trimmed when it was. How long data live, counted in writes of the whole drive, stays
//! as it is. Sampling by hash: C. Waldspurger,
//! N. Park, A. Garthwaite, I. Ahmad: "Efficient MRC Construction with SHARDS", FAST 2015. The
//! trace is repeated. Reads and flushes are left out.

use crate::structure::{MEDIA_SLOTS, SLOT};
use ssdlab_base::LabError;
use ssdlab_load::trace::{ReadOptions, TraceReader};
use ssdlab_ssd::{Command, Op};
use std::collections::HashMap;
use std::path::Path;

/// Name of the load.
pub const NAME: &str = "trace";
/// Fewest blocks that a small drive gets.
const BLOCKS_MIN: usize = 256;
/// How far the sample's part of the writes may be from its part of the blocks.
const APART_MAX: f64 = 0.25;
/// How many more blocks than expected a sample may have.
const CHANCE: f64 = 0.03;
/// Set where a block is trimmed.
const TRIMMED: u64 = 1 << 63;

/// The part of a trace that the largest of the small drives gets.
#[derive(Clone, Debug)]
pub struct TraceExcerpt {
    /// Blocks in the order in which they are written or [`TRIMMED`].
    steps: Vec<u64>,
    /// Blocks of the real drive.
    real: u64,
    /// Blocks written in all.
    writes: u64,
}

/// A trace scaled to a drive of some size.
pub(crate) struct ScaledTrace {
    /// Numbers of blocks in the order in which they are written or [`TRIMMED`].
    steps: Vec<u64>,
}

/// A pseudo-random number (the finaliser of SplitMix64: G. Steele, D. Lea, C. Flood 2014).
fn hash(block: u64) -> u64 {
    let x = block.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Hashes below this are `share` of them.
fn threshold(share: f64) -> u64 {
    (share * u64::MAX as f64) as u64
}

impl TraceExcerpt {
    /// Reads the trace of a drive of `capacity` bytes.
    ///
    /// # Errors
    /// When it cannot be read, is of a larger drive, or writes nothing.
    pub fn read(
        path: &Path,
        options: &ReadOptions,
        capacity: u64,
    ) -> Result<TraceExcerpt, LabError> {
        let mut reader = TraceReader::open(path, options)?;
        let mut trace = TraceExcerpt {
            steps: Vec::new(),
            real: capacity / SLOT,
            writes: 0,
        };
        while let Some(event) = reader.next_event()? {
            if event.len > 0 && event.end() > capacity {
                let problem = format!(
                    "{} goes to byte {} of a drive of {capacity}",
                    path.display(),
                    event.end()
                );
                return Err(LabError::refused(
                    problem,
                    "a trace of this drive is needed",
                ));
            }
            trace.add(event.op, event.offset, event.len);
        }
        match trace.writes {
            0 => {
                let problem = format!("{} writes nothing", path.display());
                Err(LabError::refused(problem, "the twin predicts writes"))
            }
            _ => Ok(trace),
        }
    }

    /// Adds a command of the trace. A write of part of a block counts as a write of the block; a
    /// trim of part of a block is ignored.
    fn add(&mut self, op: Op, offset: u64, len: u64) {
        let end = offset + len;
        let (first, last, mark) = match op {
            Op::Write => (offset / SLOT, end.div_ceil(SLOT), 0),
            Op::Trim | Op::WriteZeroes => (offset.div_ceil(SLOT), end / SLOT, TRIMMED),
            Op::Read | Op::Flush => return,
        };
        let most = threshold(f64::from(MEDIA_SLOTS.0) / self.real as f64);
        for block in first..last {
            self.writes += u64::from(mark == 0);
            if hash(block) <= most {
                self.steps.push(block | mark);
            }
        }
    }

    /// The part of the trace for a drive of `slots` blocks, `filled` of which hold data.
    ///
    /// # Errors
    /// When the sample is too small to represent the trace, or has more blocks than hold data.
    pub(crate) fn sample(&self, slots: u64, filled: u64) -> Result<ScaledTrace, LabError> {
        let share = (slots as f64 / self.real as f64).min(1.0);
        let mut blocks: Vec<u64> = self.below(threshold(share)).map(|s| s & !TRIMMED).collect();
        blocks.sort_unstable();
        blocks.dedup();
        if blocks.len() as f64 > filled as f64 * (1.0 + CHANCE) {
            let problem = "the trace writes more of the drive than --used-pct".to_string();
            return Err(LabError::refused(problem, "give the share that holds data"));
        }
        if blocks.len() as u64 > filled {
            // When the whole drive is written, the sample may exceed the room by a few blocks.
            blocks.sort_unstable_by_key(|block| hash(*block));
            blocks.truncate(filled as usize);
            blocks.sort_unstable();
        }
        let places = self.places(&blocks, filled);
        let number: HashMap<u64, u64> = blocks.iter().copied().zip(places).collect();
        let renamed = |step: u64| Some(number.get(&(step & !TRIMMED))? | (step & TRIMMED));
        let steps: Vec<u64> = self.below(threshold(share)).filter_map(renamed).collect();
        let writes = steps.iter().filter(|step| *step & TRIMMED == 0).count();
        let part = writes as f64 / self.writes as f64;
        let hint = "`ssdlab simulate` and `ssdlab run --trace` take the twin's drive.toml";
        if blocks.len() < BLOCKS_MIN {
            let problem = format!(
                "the trace writes too few blocks: a sample of {:.3} % of the drive has {} of them, \
                 and {BLOCKS_MIN} are needed",
                share * 100.0,
                blocks.len()
            );
            return Err(LabError::refused(problem, hint));
        }
        if (part / share - 1.0).abs() > APART_MAX {
            let problem = format!(
                "a few blocks take most of the trace's writes: {:.2} % of the blocks have {:.2} % \
                 of the writes, so a sample does not stand for it",
                share * 100.0,
                part * 100.0
            );
            return Err(LabError::refused(problem, hint));
        }
        Ok(ScaledTrace { steps })
    }

    /// Steps of blocks whose hash is at most this.
    fn below(&self, most: u64) -> impl Iterator<Item = u64> {
        let steps = self.steps.iter().copied();
        steps.filter(move |step| hash(step & !TRIMMED) <= most)
    }

    /// Numbers of `blocks`, which are in order, among `filled`: in the same order, about where they
    /// are on the real drive. A fill lays them down side by side.
    fn places(&self, blocks: &[u64], filled: u64) -> Vec<u64> {
        let mut next = 0;
        let mut places: Vec<u64> = Vec::with_capacity(blocks.len());
        for block in blocks {
            let about = (u128::from(*block) * u128::from(filled) / u128::from(self.real)) as u64;
            next = about.max(next) + 1;
            places.push(next - 1);
        }
        for (place, last) in places.iter_mut().rev().zip((0..filled).rev()) {
            *place = (*place).min(last);
        }
        places
    }
}

impl ScaledTrace {
    /// The drive's commands, over and over.
    pub(crate) fn commands(&self) -> impl Iterator<Item = Command> {
        self.steps.iter().cycle().map(|step| {
            let offset = (step & !TRIMMED) * SLOT;
            match step & TRIMMED {
                0 => Command::write_fua(offset, SLOT as u32),
                _ => Command::trim(offset, SLOT as u32),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure;
    use crate::surface::{SimulatedLoad, waf};
    use ssdlab_ssd::rng::Rng;
    use std::sync::atomic::AtomicBool;

    /// Blocks of the real drive: 4 GiB; the small drive has a twelfth of them.
    const REAL: u64 = 1 << 20;

    fn empty() -> TraceExcerpt {
        TraceExcerpt {
            steps: Vec::new(),
            real: REAL,
            writes: 0,
        }
    }

    /// WAF under a load, which may be the trace.
    fn found(pattern: &str, trace: Option<&TraceExcerpt>) -> Result<f64, LabError> {
        let load = SimulatedLoad {
            pattern: pattern.into(),
            used: 1.0,
            overwrites: 4.0,
        };
        let (layout, stop) = (&structure::ALL[0], AtomicBool::new(false));
        let waf = waf(layout, 0.2, &load, REAL * SLOT, trace, 1, &stop)?;
        Ok(waf.expect("not stopped"))
    }

    /// 95 % of the writes to a tenth of the blocks, which lies in one piece: as the load of the
    /// same name, which is drawn on the small drive itself. A sample that took writes instead of
    /// blocks would have fewer overwrites of each: nearly uniform.
    #[test]
    fn a_trace_of_a_known_load_is_that_load() {
        let mut trace = empty();
        let mut rng = Rng::new(7);
        for _ in 0..4 * REAL {
            let block = if rng.percent(95) {
                rng.below(REAL / 10)
            } else {
                REAL / 10 + rng.below(REAL - REAL / 10)
            };
            trace.add(Op::Write, block * SLOT, SLOT);
        }
        let traced = found(NAME, Some(&trace)).expect("a sample");
        let known = found("hotcold:95/10", None).expect("a load");
        let uniform = found("uniform", None).expect("a load");
        assert!((traced / known - 1.0).abs() < 0.03, "{traced} for {known}");
        assert!(
            (uniform / known - 1.0).abs() > 0.1,
            "{uniform}: tells nothing"
        );
    }

    /// A log that goes round leaves whole superblocks stale. Blocks drawn one by one would make the
    /// WAF of uniform writes; and trims count.
    #[test]
    fn the_order_of_a_trace_is_kept() {
        let mut log = empty();
        for start in (0..4 * REAL).step_by(256) {
            log.add(Op::Write, start % REAL * SLOT, 256 * SLOT);
        }
        let round = found(NAME, Some(&log)).expect("a sample");
        assert!(round < 1.02, "{round}");
        let mut trimmed = empty();
        let mut rng = Rng::new(7);
        for _ in 0..2 * REAL {
            let block = rng.below(REAL);
            trimmed.add(Op::Write, block * SLOT, SLOT);
            trimmed.add(Op::Trim, rng.below(REAL) * SLOT, SLOT);
        }
        let (trimmed, uniform) = (
            found(NAME, Some(&trimmed)).expect("a sample"),
            found("uniform", None).expect("a load"),
        );
        assert!(trimmed < 0.7 * uniform, "{trimmed} for {uniform}");
    }

    #[test]
    fn what_a_sample_cannot_stand_for_is_refused() {
        let mut journal = empty();
        for block in 0..REAL / 2 {
            journal.add(Op::Write, block * SLOT, SLOT);
            journal.add(Op::Write, 5 * SLOT, SLOT);
        }
        let error = found(NAME, Some(&journal)).expect_err("one block has half of the writes");
        assert!(error.to_string().contains("a few blocks"), "{error}");
        let mut little = empty();
        little.add(Op::Write, 0, 64 * SLOT);
        let error = found(NAME, Some(&little)).expect_err("64 blocks of a million");
        assert!(error.to_string().contains("too few blocks"), "{error}");
    }
}
