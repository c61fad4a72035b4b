//! Contents of writes that are neither random nor stamped: a repeated pattern, or blocks some of
//! which equal earlier ones.
//!
//! Equal blocks are those of fio 3.33 (dedupe.c, io_u.c): the smallest write is the unit; each
//! write is with the given probability a repetition, of the last units with contents of their own
//! or of units from a working set, which is the first ones, whether they were written yet or not.

use super::needs::RepeatedBlocks;
use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;

/// Which contents the next unit has.
pub(super) struct Repeats {
    choice: Rng,
    percent: u32,
    unit: usize,
    /// Units of the working set; `None`: the last one is repeated.
    working_set: Option<u64>,
    /// Units with contents of their own until now.
    own: u64,
}

impl Repeats {
    /// On a target of `capacity` bytes.
    ///
    /// # Errors
    /// When the working set holds no unit.
    pub fn new(repeated: &RepeatedBlocks, capacity: u64) -> Result<Repeats, LabError> {
        let dedupe = repeated.dedupe;
        let percent_of = |bytes: u64, percent: u8| {
            (u128::from(bytes) * u128::from(percent) / 100).min(u64::MAX.into()) as u64
        };
        let share = percent_of(capacity, repeated.share_pct);
        let bytes = repeated.region.unwrap_or(share);
        let units = |percent| percent_of(bytes, percent) / u64::from(dedupe.unit);
        let working_set = dedupe.working_set_pct.map(units);
        if working_set == Some(0) {
            return Err(LabError::refused(
                format!(
                    "a working set of {} % of {bytes} bytes holds no block of {} bytes",
                    dedupe.working_set_pct.unwrap_or(0),
                    dedupe.unit
                ),
                "raise dedupe_working_set_percentage or the size",
            ));
        }
        Ok(Repeats {
            choice: Rng::named(0, "dedupe"),
            percent: dedupe.percent.into(),
            unit: dedupe.unit as usize,
            working_set,
            own: 0,
        })
    }

    /// Fills one write.
    pub fn fill(&mut self, write: &mut [u8]) {
        let units = write.len().div_ceil(self.unit) as u64;
        let first = match (self.choice.percent(self.percent), self.working_set) {
            (true, Some(set)) => self.choice.below(set),
            (true, None) => self.own.saturating_sub(units),
            (false, _) => {
                self.own += units;
                self.own - units
            }
        };
        for (number, unit) in (first..).zip(write.chunks_mut(self.unit)) {
            fill(&mut Rng::new(number), unit);
        }
    }
}

/// Fills `bytes`, a multiple of 8 long, with random data.
pub(super) fn fill(rng: &mut Rng, bytes: &mut [u8]) {
    for word in bytes.chunks_exact_mut(8) {
        word.copy_from_slice(&rng.next_u64().to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_load::plan::Dedupe;
    use std::collections::HashSet;

    fn of(dedupe: Dedupe) -> RepeatedBlocks {
        RepeatedBlocks {
            dedupe,
            region: None,
            share_pct: 100,
        }
    }

    /// Distinct blocks of `count`, with contents drawn as `dedupe` says.
    fn distinct(dedupe: Dedupe, bytes: u64, count: usize) -> usize {
        let mut repeats = Repeats::new(&of(dedupe), bytes).unwrap();
        let mut seen = HashSet::new();
        let mut unit = [0; 512];
        for _ in 0..count {
            repeats.fill(&mut unit);
            seen.insert(unit.to_vec());
        }
        seen.len()
    }

    #[test]
    fn as_many_blocks_are_distinct_as_do_not_repeat() {
        let dedupe = Dedupe {
            percent: 30,
            unit: 512,
            working_set_pct: None,
        };
        // A binomial of 10,000 at 0.7: five standard deviations are 230.
        let found = distinct(dedupe, 1 << 20, 10_000);
        assert!(found.abs_diff(7000) < 230, "{found}");
        let none = Dedupe {
            percent: 0,
            ..dedupe
        };
        assert_eq!(distinct(none, 1 << 20, 1000), 1000);
        let all = Dedupe {
            percent: 100,
            ..dedupe
        };
        assert_eq!(distinct(all, 1 << 20, 1000), 1);
    }

    #[test]
    fn a_working_set_bounds_what_is_repeated() {
        let dedupe = Dedupe {
            percent: 100,
            unit: 512,
            working_set_pct: Some(10),
        };
        assert_eq!(distinct(dedupe, 1000 * 512, 10_000), 100);
        assert!(Repeats::new(&of(dedupe), 512).is_err());
    }
}
