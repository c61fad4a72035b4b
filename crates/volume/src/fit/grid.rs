//! The settings of a type that are tried: steps of a tenth, on round figures.

use crate::catalogue::{AccountTable, VolumeFile, setting_range};

/// Steps of what can be chosen of a type; a single step where nothing can.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingGrid {
    /// GiB.
    pub gib: Vec<u64>,
    /// Operations a second; empty where they are not provisioned.
    pub operations: Vec<u64>,
    /// Throughput; empty where it is not provisioned.
    pub throughput: Vec<u64>,
}

/// From `min` to `max` by a tenth, rounded up to `unit`.
fn steps(min: u64, max: u64, unit: u64) -> Vec<u64> {
    let mut steps = vec![min];
    let mut step = min;
    while step < max {
        let next = (step + step.div_ceil(10)).div_ceil(unit) * unit;
        step = next.max(step + unit).min(max);
        steps.push(step);
    }
    steps
}

fn provisioned(table: &AccountTable, gib_max: u64, unit: u64) -> Vec<u64> {
    if !table.provisioned {
        return Vec::new();
    }
    let (min, max) = setting_range(table, gib_max, None);
    steps(min.ceil() as u64, max as u64, unit)
}

/// The grid of a type for at least `gib_min` GiB.
pub fn grid(file: &VolumeFile, gib_min: u64) -> SettingGrid {
    let gib_max = file.size.max.value as u64;
    let gib_min = gib_min.max(file.size.min.value as u64).min(gib_max);
    let tiers: Vec<u64> = file.tiers.iter().map(|tier| tier.gib).collect();
    let gib = if tiers.is_empty() {
        steps(gib_min, gib_max, 1)
    } else {
        tiers.into_iter().filter(|gib| *gib >= gib_min).collect()
    };
    SettingGrid {
        gib,
        operations: provisioned(&file.operations, gib_max, 100),
        throughput: provisioned(&file.throughput, gib_max, 5),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::volume;

    #[test]
    fn steps_are_a_tenth_and_end_at_the_most() {
        assert_eq!(steps(3000, 4000, 100), [3000, 3300, 3700, 4000]);
        let grid = grid(&volume("gp3").unwrap(), 100);
        assert_eq!(
            (grid.operations[0], grid.operations.last()),
            (3000, Some(&16_000))
        );
        assert_eq!(
            (grid.throughput[0], grid.throughput.last()),
            (125, Some(&1000))
        );
        let tiers = super::grid(&volume("premium-ssd").unwrap(), 100);
        assert_eq!((tiers.gib[0], tiers.operations.len()), (128, 0));
    }
}
