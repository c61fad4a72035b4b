//! Drives in service: what the counters of many drives of one model say, as distributions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution by what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FieldSpread {
    /// Drives that it is of.
    pub drives: u32,
    /// One of ten drives is below; `None`: only the median is known.
    pub p10: Option<f64>,
    /// Half of them are below.
    pub median: f64,
    /// Nine of ten drives are below; `None`: only the median is known.
    pub p90: Option<f64>,
}

/// Drives of one model in service: a line of `ledger/field-models.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FieldPopulation {
    /// Maker.
    pub maker: String,
    /// Product name.
    pub name: String,
    /// Family, as in the rows.
    pub family: String,
    /// The model as the drives report it.
    pub model_code: String,
    /// Capacity in units of 10^9 bytes.
    pub capacity_gb: f64,
    /// Drives counted.
    pub drives: u32,
    /// Median of the hours with power.
    pub hours_median: Option<f64>,
    /// Median of the host writes, TB.
    pub host_tb_median: Option<f64>,
    /// Most drive writes of one drive.
    pub drive_writes_max: Option<f64>,
    /// Median of the drive writes a day in service.
    pub dwpd_median: Option<f64>,
    /// Median of the life used, per cent.
    pub used_pct_median: Option<f64>,
    /// Most life used, per cent.
    pub used_pct_max: Option<f64>,
    /// Write amplification since the drive was new.
    pub waf: Option<FieldSpread>,
    /// How the write amplification was counted.
    pub waf_how: String,
    /// Host writes for 1 % of life used, TB.
    pub tb_per_pct: Option<FieldSpread>,
    /// Erase cycles at 100 % of life used.
    pub erase_cycles: Option<FieldSpread>,
    /// Id of the source.
    pub source: String,
    /// What misleads; may be empty.
    pub trap: String,
}

/// A line as it stands in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PopulationLine {
    maker: String,
    name: String,
    family: String,
    model_code: String,
    capacity_gb: f64,
    drives: u32,
    hours_median: Option<f64>,
    host_tb_median: Option<f64>,
    drive_writes_max: Option<f64>,
    dwpd_median: Option<f64>,
    used_pct_median: Option<f64>,
    used_pct_max: Option<f64>,
    waf_drives: Option<u32>,
    waf_p10: Option<f64>,
    waf_median: Option<f64>,
    waf_p90: Option<f64>,
    waf_how: String,
    tb_per_pct_drives: Option<u32>,
    tb_per_pct_p10: Option<f64>,
    tb_per_pct_median: Option<f64>,
    tb_per_pct_p90: Option<f64>,
    erase_drives: Option<u32>,
    erase_p10: Option<f64>,
    erase_median: Option<f64>,
    erase_p90: Option<f64>,
    source: String,
    trap: String,
}

fn spread(
    drives: Option<u32>,
    p10: Option<f64>,
    median: Option<f64>,
    p90: Option<f64>,
) -> Option<FieldSpread> {
    Some(FieldSpread {
        drives: drives?,
        p10,
        median: median?,
        p90,
    })
}

impl From<PopulationLine> for FieldPopulation {
    fn from(line: PopulationLine) -> FieldPopulation {
        let waf = spread(line.waf_drives, line.waf_p10, line.waf_median, line.waf_p90);
        let tb_per_pct = spread(
            line.tb_per_pct_drives,
            line.tb_per_pct_p10,
            line.tb_per_pct_median,
            line.tb_per_pct_p90,
        );
        let erase_cycles = spread(
            line.erase_drives,
            line.erase_p10,
            line.erase_median,
            line.erase_p90,
        );
        FieldPopulation {
            maker: line.maker,
            name: line.name,
            family: line.family,
            model_code: line.model_code,
            capacity_gb: line.capacity_gb,
            drives: line.drives,
            hours_median: line.hours_median,
            host_tb_median: line.host_tb_median,
            drive_writes_max: line.drive_writes_max,
            dwpd_median: line.dwpd_median,
            used_pct_median: line.used_pct_median,
            used_pct_max: line.used_pct_max,
            waf,
            waf_how: line.waf_how,
            tb_per_pct,
            erase_cycles,
            source: line.source,
            trap: line.trap,
        }
    }
}

/// Reads the file of populations.
///
/// # Errors
/// With the line that cannot be read.
pub fn populations(text: &str) -> Result<Vec<FieldPopulation>, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let lines = reader.deserialize::<PopulationLine>();
    lines.map(|line| line.map(FieldPopulation::from)).collect()
}
