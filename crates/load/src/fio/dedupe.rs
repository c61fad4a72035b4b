//! Writes that repeat earlier contents: `dedupe_percentage` and what belongs to it.

use crate::plan::Dedupe;

/// What a job asks for, with fio's defaults.
#[derive(Clone, Debug)]
pub(super) struct DedupeOptions {
    pub percent: u8,
    /// From a working set rather than the last contents.
    pub from_set: bool,
    pub set_pct: u8,
}

impl Default for DedupeOptions {
    fn default() -> DedupeOptions {
        DedupeOptions {
            percent: 0,
            from_set: false,
            set_pct: 5,
        }
    }
}

impl DedupeOptions {
    /// The repetition in units of `unit` bytes, the smallest write.
    pub fn plan(&self, unit: u64) -> Option<Dedupe> {
        (self.percent > 0).then(|| Dedupe {
            percent: self.percent,
            unit: unit as u32,
            working_set_pct: self.from_set.then_some(self.set_pct),
        })
    }

    /// What fio refuses of a working set, too.
    pub fn contradiction(
        &self,
        has_size: bool,
        files: u32,
    ) -> Option<(&'static str, &'static str)> {
        if self.percent == 0 || !self.from_set {
            None
        } else if !has_size {
            Some((
                "a working set of dedupe without a size",
                "say with size= how large the region is",
            ))
        } else if files > 1 {
            let problem = "a working set of dedupe with several files";
            Some((problem, "give it one file"))
        } else if self.percent + self.set_pct > 100 {
            Some((
                "a working set and a share of repeated blocks above 100 % together",
                "lower dedupe_percentage or dedupe_working_set_percentage",
            ))
        } else {
            None
        }
    }
}
