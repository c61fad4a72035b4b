//! How far blocks have worn: one place for what samples, SMART and experiments show.

use ssdlab_ssd::nand::Reliability;

/// Cycles of the blocks in use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cycles {
    /// Their mean; 0 without blocks.
    pub average: f64,
    /// Of the least worn.
    pub min: u32,
    /// Of the most worn.
    pub max: u32,
}

impl Cycles {
    /// Of a drive's array as it is now.
    pub fn of(wear: &Reliability) -> Cycles {
        let (mut sum, mut count) = (0_u64, 0_u64);
        let (mut min, mut max) = (u32::MAX, 0);
        for cycles in wear.cycles_in_use() {
            sum += u64::from(cycles);
            count += 1;
            min = min.min(cycles);
            max = max.max(cycles);
        }
        Cycles {
            average: sum as f64 / count.max(1) as f64,
            min: min.min(max),
            max,
        }
    }

    /// Per cent of the rated cycles left on average; negative beyond the rating.
    pub fn left_pct(&self, rated: u32) -> f64 {
        100.0 * (1.0 - self.average / f64::from(rated))
    }
}
