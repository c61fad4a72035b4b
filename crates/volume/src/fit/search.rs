//! The search for the cheapest setting.

use super::cost::SettingCost;
use super::grid::{SettingGrid, grid};
use super::prices::VolumePrices;
use super::replay::{FitLimit, FitLoad, FitRun, replay};
use crate::catalogue::{VolumeFile, VolumeSetting, resolve, setting_range};
use crate::volume::VolumeLimits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is searched for.
#[derive(Clone, Debug)]
pub struct FitPlan<'a> {
    /// The load.
    pub load: &'a FitLoad,
    /// How fast it must be.
    pub limit: FitLimit,
    /// The least size in GiB.
    pub gib_min: u64,
    /// The instance and its limits.
    pub instance: Option<(String, VolumeLimits)>,
    /// Share of the credit at the load's beginning, in thousandths.
    pub credit_permille: u32,
    /// The user's prices.
    pub prices: &'a VolumePrices,
}

/// The cheapest setting of a type, or how near its largest comes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct VolumeFit {
    /// The type.
    pub volume: String,
    /// It serves the load within the limit.
    pub serves: bool,
    /// The setting: the cheapest that serves it, else the largest.
    pub cost: SettingCost,
    /// The load on it.
    pub run: FitRun,
    /// The load on the next smaller setting, which misses the limit; `None`: this is the smallest.
    pub below: Option<FitRun>,
    /// Settings tried.
    pub tried: usize,
}

struct FitSearch<'a> {
    file: &'a VolumeFile,
    plan: &'a FitPlan<'a>,
    tried: usize,
}

impl FitSearch<'_> {
    fn run(&mut self, setting: &VolumeSetting) -> Option<FitRun> {
        let mut config = resolve(self.file, setting).ok()?;
        config.instance.clone_from(&self.plan.instance);
        config.credit_permille = self.plan.credit_permille;
        self.tried += 1;
        Some(replay(config, self.plan.load, self.plan.limit))
    }

    fn serves(&mut self, setting: &VolumeSetting) -> bool {
        let run = self.run(setting);
        run.is_some_and(|run| run.latency_ns <= self.plan.limit.latency_ns)
    }

    /// The first of `settings`, each of which is no slower than the one before, that serves the
    /// load.
    fn first(&mut self, settings: &[VolumeSetting]) -> Option<usize> {
        let last = settings.last()?;
        if !self.serves(last) {
            return None;
        }
        let (mut low, mut high) = (0, settings.len() - 1);
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.serves(&settings[middle]) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(high)
    }
}

/// The settings of one line of the grid, slowest first: by size, or by operations with this
/// throughput.
fn line(file: &VolumeFile, grid: &SettingGrid, throughput: Option<u64>) -> Vec<VolumeSetting> {
    if grid.operations.is_empty() {
        let setting = |gib: &u64| VolumeSetting {
            gib: *gib,
            operations: None,
            throughput,
        };
        return grid.gib.iter().map(setting).collect();
    }
    let setting = |operations: &u64| {
        let operation_rate = *operations as f64;
        let gib = grid
            .gib
            .iter()
            .find(|gib| setting_range(&file.operations, **gib, None).1 >= operation_rate);
        let (_, most) = setting_range(&file.throughput, u64::MAX, Some(operation_rate));
        let fits = throughput.is_none_or(|throughput| throughput as f64 <= most);
        gib.filter(|_| fits).map(|gib| VolumeSetting {
            gib: *gib,
            operations: Some(*operations),
            throughput,
        })
    };
    grid.operations.iter().filter_map(setting).collect()
}

/// Every line of the grid.
fn lines(file: &VolumeFile, grid: &SettingGrid) -> Vec<Vec<VolumeSetting>> {
    if grid.throughput.is_empty() {
        return vec![line(file, grid, None)];
    }
    let throughput = grid.throughput.iter();
    throughput
        .map(|chosen| line(file, grid, Some(*chosen)))
        .collect()
}

/// The cheapest setting of a type that serves the load.
pub fn fit(file: &VolumeFile, plan: &FitPlan<'_>) -> Option<VolumeFit> {
    let grid = grid(file, plan.gib_min);
    let mut search = FitSearch {
        file,
        plan,
        tried: 0,
    };
    let mut best: Option<(SettingCost, VolumeSetting, Option<VolumeSetting>)> = None;
    let lines = lines(file, &grid);
    for line in &lines {
        let Some(index) = search.first(line) else {
            continue;
        };
        let setting = line[index];
        let cost = plan.prices.cost(file, &setting);
        let is_cheaper = best
            .as_ref()
            .is_none_or(|(best, ..)| cost.order(best).is_lt());
        if is_cheaper {
            let below = index.checked_sub(1).map(|below| line[below]);
            best = Some((cost, setting, below));
        }
    }
    if let Some((cost, setting, below)) = best {
        let below = below.and_then(|below| search.run(&below));
        return Some(VolumeFit {
            volume: file.name.clone(),
            serves: true,
            cost,
            run: search.run(&setting)?,
            below,
            tried: search.tried,
        });
    }
    let largest = *lines.last()?.last()?;
    Some(VolumeFit {
        volume: file.name.clone(),
        serves: false,
        cost: plan.prices.cost(file, &largest),
        run: search.run(&largest)?,
        below: None,
        tried: search.tried,
    })
}

/// The same by trying every setting of the grid, for tests: slow, and right by construction.
pub fn cheapest_of_all(file: &VolumeFile, plan: &FitPlan<'_>) -> Option<SettingCost> {
    let grid = grid(file, plan.gib_min);
    let mut search = FitSearch {
        file,
        plan,
        tried: 0,
    };
    let settings = lines(file, &grid).into_iter().flatten();
    let serving = settings.filter(|setting| search.serves(setting));
    let costs = serving.map(|setting| plan.prices.cost(file, &setting));
    costs.min_by(SettingCost::order)
}
