//! Where a drive stands among the drives of its model in service, by no more than is known of
//! them: a tenth percentile, a median and a ninetieth, each with the number of drives.

use crate::field::{FieldPopulation, FieldSpread};
use crate::ledger::Ledger;
use crate::siblings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldMeasure {
    /// Host writes for 1 % of life used, TB.
    TbPerPercent,
    /// Write amplification since the drive was new.
    Waf,
    /// Erase cycles at 100 % of life used.
    EraseCycles,
    /// Drive writes per day.
    DriveWritesPerDay,
    /// Hours with power.
    PowerOnHours,
}

/// Where a value stands in a spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FieldRank {
    /// Below nine of ten drives.
    LowestTenth,
    /// Below half of the drives.
    BelowMedian,
    /// Above half of the drives.
    AboveMedian,
    /// Above nine of ten drives.
    HighestTenth,
}

/// A drive's value among those of its model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldPlace {
    /// What is compared.
    pub measure: FieldMeasure,
    /// The drive's value.
    pub value: f64,
    /// Drives of which the measure is known.
    pub drives: u32,
    /// Median of these.
    pub median: f64,
    /// Where the value stands.
    pub rank: FieldRank,
}

/// What a drive's counters say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveCounters {
    /// Life used, per cent.
    pub used_percent: Option<f64>,
    /// Host writes, bytes.
    pub host_bytes: Option<f64>,
    /// Write amplification since the drive was new.
    pub waf: Option<f64>,
    /// Mean erase cycles.
    pub erase_cycles: Option<f64>,
    /// Hours with power.
    pub hours: Option<f64>,
}

/// A drive that is placed.
#[derive(Clone, Copy, Debug)]
pub struct PlacedDrive<'a> {
    /// The model that it reports.
    pub model: &'a str,
    /// Bytes; `None`: not reported.
    pub capacity: Option<u64>,
    /// What its counters say.
    pub counters: DriveCounters,
}

/// A drive among the drives of its model in service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldStanding {
    /// The model that the drives of the population report.
    pub model_code: String,
    /// Drives in the population.
    pub drives: u32,
    /// Whether the population is of the same product at another capacity. Only measures that the
    /// capacity does not change are compared then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_sibling: bool,
    /// The measures that can be compared.
    pub places: Vec<FieldPlace>,
    /// The same in sentences.
    pub sentences: Vec<String>,
    /// Id of the source.
    pub source: String,
}

/// Life used from which a rate per 1 % means something: it is counted in whole per cents.
const USED_MIN_PERCENT: f64 = 3.0;
/// Drive writes from which a write amplification is that of the load, and not of the first days.
const DRIVE_WRITES_MIN: f64 = 5.0;

/// How far a capacity may be from a product's, as a share of it.
const CAPACITY_SHARE: f64 = 0.03;

/// A model as it is compared: capitals and digits, without the maker before or after it.
fn bare(model: &str) -> String {
    const MAKERS: [&str; 11] = [
        "INTEL ",
        "SAMSUNG ",
        "KINGSTON ",
        "WDC ",
        "TOSHIBA ",
        "CRUCIAL_",
        "MICRON_",
        "SOLIDIGM ",
        "SEAGATE ",
        "SANDISK ",
        "ATA ",
    ];
    let upper = model.trim().to_ascii_uppercase();
    let unprefixed = MAKERS.iter().find_map(|maker| upper.strip_prefix(maker));
    let unprefixed = unprefixed.unwrap_or(&upper);
    let bare = [" TOSHIBA", " KIOXIA"]
        .iter()
        .find_map(|maker| unprefixed.strip_suffix(maker));
    let bare = bare.unwrap_or(unprefixed);
    let name = bare.strip_prefix("SSD ").unwrap_or(bare);
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Ledger {
    /// The population of drives that report this model.
    pub fn population(&self, model: &str) -> Option<&FieldPopulation> {
        let model = bare(model);
        let has = |population: &&FieldPopulation| bare(&population.model_code) == model;
        self.populations().iter().find(has)
    }

    /// The populations of a drive of the catalogue, by its name: `intel-dc-s4500-3840gb`.
    pub fn populations_of_catalogue(&self, name: &str) -> Vec<&FieldPopulation> {
        let Some((family, capacity)) = name.rsplit_once('-') else {
            return Vec::new();
        };
        let Some(capacity_gb) = capacity
            .strip_suffix("gb")
            .and_then(|digits| digits.parse::<f64>().ok())
        else {
            return Vec::new();
        };
        let family = family.replace("-dc-", "-");
        let is_like = |population: &&FieldPopulation| {
            let share = population.capacity_gb / capacity_gb;
            population.family == family && (share - 1.0).abs() < CAPACITY_SHARE
        };
        self.populations().iter().filter(is_like).collect()
    }

    /// The population of the same product at another capacity, the largest of several.
    fn sibling(&self, model: &str) -> Option<&FieldPopulation> {
        let model = bare(model);
        siblings::largest(self.populations().iter().filter(|population| {
            let code = bare(&population.model_code);
            siblings::are_siblings(&model, &code, population.capacity_gb)
        }))
    }

    /// Where a drive of this model stands among its like; `None`: there is no population, neither
    /// of the model nor of the product at another capacity.
    pub fn standing(&self, drive: &PlacedDrive<'_>) -> Option<FieldStanding> {
        if let Some(population) = self.population(drive.model) {
            return Some(population.standing(&drive.counters));
        }
        let population = self.sibling(drive.model)?;
        Some(population.standing_of_sibling(drive))
    }
}

impl FieldPopulation {
    /// Where a drive with these counters stands in the population.
    pub fn standing(&self, counters: &DriveCounters) -> FieldStanding {
        let places = self.places(counters, self.capacity_gb);
        self.standing_at(places, counters, "drives of this model")
    }

    /// Where a drive of the same product at another capacity stands, by what the capacity does not
    /// change.
    fn standing_of_sibling(&self, drive: &PlacedDrive<'_>) -> FieldStanding {
        let capacity_gb = drive.capacity.map_or(0.0, |bytes| bytes as f64 / 1e9);
        let mut places = self.places(&drive.counters, capacity_gb);
        places.retain(|place| place.measure != FieldMeasure::TbPerPercent);
        let like = format!(
            "drives of the same product at {:.0} GB, {}",
            self.capacity_gb, self.model_code
        );
        FieldStanding {
            is_sibling: true,
            ..self.standing_at(places, &drive.counters, &like)
        }
    }

    fn standing_at(
        &self,
        places: Vec<FieldPlace>,
        counters: &DriveCounters,
        like: &str,
    ) -> FieldStanding {
        let sentences = places.iter().map(|place| sentence(place, counters, like));
        FieldStanding {
            model_code: self.model_code.clone(),
            drives: self.drives,
            is_sibling: false,
            sentences: sentences.collect(),
            places,
            source: self.source.clone(),
        }
    }

    fn places(&self, counters: &DriveCounters, capacity_gb: f64) -> Vec<FieldPlace> {
        let used = counters
            .used_percent
            .filter(|used| *used >= USED_MIN_PERCENT);
        let host_tb = counters.host_bytes.map(|bytes| bytes / 1e12);
        let per_percent = host_tb.zip(used).map(|(tb, used)| tb / used);
        let drive_writes = host_tb
            .filter(|_| capacity_gb > 0.0)
            .map(|tb| tb * 1000.0 / capacity_gb);
        let is_worn_in = drive_writes.is_some_and(|writes| writes >= DRIVE_WRITES_MIN);
        let cycles = counters.erase_cycles.zip(used);
        let per_day = drive_writes.zip(counters.hours.filter(|hours| *hours >= 1000.0));
        let compared = [
            (FieldMeasure::TbPerPercent, per_percent, self.tb_per_pct),
            (
                FieldMeasure::Waf,
                counters.waf.filter(|_| is_worn_in),
                self.waf,
            ),
            (
                FieldMeasure::EraseCycles,
                cycles.map(|(cycles, used)| cycles / used * 100.0),
                self.erase_cycles,
            ),
            (
                FieldMeasure::DriveWritesPerDay,
                per_day.map(|(writes, hours)| writes * 24.0 / hours),
                self.dwpd,
            ),
            (FieldMeasure::PowerOnHours, counters.hours, self.hours),
        ];
        let place = |(measure, value, spread): (FieldMeasure, Option<f64>, Option<FieldSpread>)| {
            let (value, spread) = (value.filter(|value| *value > 0.0)?, spread?);
            Some(FieldPlace {
                measure,
                value,
                drives: spread.drives,
                median: spread.median,
                rank: spread.rank(value),
            })
        };
        compared.into_iter().filter_map(place).collect()
    }
}

/// Drives from which a tenth of them is one at least.
const TENTHS_MIN: u32 = 10;

impl FieldSpread {
    /// Where a value stands. Of fewer than ten drives only the median is used.
    pub fn rank(&self, value: f64) -> FieldRank {
        let (p10, p90) = if self.drives >= TENTHS_MIN {
            (self.p10, self.p90)
        } else {
            (None, None)
        };
        match () {
            () if p10.is_some_and(|p10| value < p10) => FieldRank::LowestTenth,
            () if p90.is_some_and(|p90| value > p90) => FieldRank::HighestTenth,
            () if value < self.median => FieldRank::BelowMedian,
            () => FieldRank::AboveMedian,
        }
    }
}

/// Digits of a figure as people read it.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

fn sentence(place: &FieldPlace, counters: &DriveCounters, like: &str) -> String {
    let value = short(place.value);
    let subject = match place.measure {
        FieldMeasure::TbPerPercent => format!(
            "{:.0} % worn after {} TB",
            counters.used_percent.unwrap_or_default(),
            short(counters.host_bytes.unwrap_or_default() / 1e12)
        ),
        FieldMeasure::Waf => format!("WAF {value} over its life"),
        FieldMeasure::EraseCycles => format!("{value} erase cycles at 100 % of its life"),
        FieldMeasure::DriveWritesPerDay => format!("{value} drive writes a day"),
        FieldMeasure::PowerOnHours => format!("{value} hours with power"),
    };
    let (low, high) = match place.measure {
        FieldMeasure::TbPerPercent => ("worse", "better"),
        FieldMeasure::Waf => ("better", "worse"),
        FieldMeasure::EraseCycles | FieldMeasure::DriveWritesPerDay => ("less", "more"),
        FieldMeasure::PowerOnHours => ("fewer", "more"),
    };
    let (order, share) = match place.rank {
        FieldRank::LowestTenth => (low, "9 of 10"),
        FieldRank::BelowMedian => (low, "half"),
        FieldRank::AboveMedian => (high, "half"),
        FieldRank::HighestTenth => (high, "9 of 10"),
    };
    let unit = match place.measure {
        FieldMeasure::TbPerPercent => " TB for 1 %",
        _ => "",
    };
    format!(
        "{subject}: {order} than {share} of {} {like} (median {}{unit})",
        place.drives,
        short(place.median)
    )
}
