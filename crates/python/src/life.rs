//! `ssdlab.life`.

use crate::drives::NamedDrive;
use crate::errors::{json, lab};
use crate::long::{finished, run};
use crate::table::{Columns, PyTable};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::keep::saved::{OverwritePolicy, SaveTarget};
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::age::live::Ageing;
use ssdlab_life::age::result::{LifeResult, summary};
use ssdlab_life::age::row::AgeingSample;
use ssdlab_life::age::{AgeingPlan, LifeEnd};
use std::path::PathBuf;

/// A column's name, and its value in a row.
type AgedColumn<T> = (&'static str, fn(&AgeingSample) -> T);

/// A whole life that was played.
#[pyclass(frozen, name = "Aged", module = "ssdlab._native")]
pub struct PyLife {
    life: LifeResult,
    rows: Vec<AgeingSample>,
}

#[pymethods]
impl PyLife {
    /// `result.json`.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.life).map_err(json)
    }

    /// `series.csv`.
    fn samples(&self) -> PyResult<PyTable> {
        let mut columns = Columns::default();
        let counts: [AgedColumn<u64>; 6] = [
            ("host_bytes", |row| row.host_bytes),
            ("cycles_min", |row| row.cycles_min.into()),
            ("cycles_max", |row| row.cycles_max.into()),
            ("blocks_retired", |row| row.blocks_retired),
            ("reserve_left", |row| row.reserve_left.into()),
            ("superblocks_retired", |row| row.superblocks_retired),
        ];
        let decimals: [AgedColumn<f64>; 6] = [
            ("days", |row| row.days),
            ("waf", |row| row.waf),
            ("cycles_average", |row| row.cycles_average),
            ("life_left_pct", |row| row.life_left_pct),
            ("levelled_share", |row| row.levelled_share),
            ("refreshed_share", |row| row.refreshed_share),
        ];
        for (name, value) in counts {
            columns.counts(name, self.rows.iter().map(|row| Some(value(row))));
        }
        for (name, value) in decimals {
            columns.decimals(name, self.rows.iter().map(|row| Some(value(row))));
        }
        columns.table()
    }

    /// What the command line prints.
    fn summary(&self) -> String {
        summary(&self.life)
    }
}

/// How a drive is used.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct DriveUsage {
    load: String,
    block: String,
    read_pct: u32,
    trim_pct: u32,
    seed: u64,
    per_day: Option<String>,
    temperature_c: f64,
    fast: bool,
    until: String,
}

impl DriveUsage {
    fn plan(&self, drive: &NamedDrive) -> Result<AgeingPlan, LabError> {
        let opened = drive.open()?;
        let block = parse_size(&self.block)?;
        let block = u32::try_from(block).map_err(|_| {
            LabError::refused(
                format!("a block of {}: up to 16 MiB is allowed", self.block),
                "choose a smaller block",
            )
        })?;
        let settings = drive.settings()?;
        let manner = LifeConditions {
            name: String::new(),
            title: String::new(),
            settings: settings.iter().map(DriveSetting::to_string).collect(),
            rests_on: Vec::new(),
            pattern: self.load.clone(),
            block,
            read_pct: self.read_pct,
            trim_pct: self.trim_pct,
            seed: self.seed,
            per_day: match &self.per_day {
                Some(size) => parse_size(size)?,
                None => opened.config.user_bytes,
            },
            temperature_c: self.temperature_c,
            fast: self.fast,
        };
        AgeingPlan::new(&opened, manner, LifeEnd::parse(&self.until)?)
    }
}

/// Plays a drive's whole life.
#[pyfunction]
#[pyo3(signature = (drive, manner, save=None, progress=None))]
pub fn age<'py>(
    py: Python<'py>,
    drive: NamedDrive,
    manner: DriveUsage,
    save: Option<PathBuf>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyLife>> {
    let plan = manner.plan(&drive).map_err(lab)?;
    let place = save.map(|path| SaveTarget::reserve(&path, OverwritePolicy::Refuse));
    let place = place.transpose().map_err(lab)?;
    let outcome = run(py, progress.as_ref(), |stop, reached| {
        let mut watch = |row: &AgeingSample| {
            let share = 1.0 - row.life_left_pct / 100.0;
            reached.note(share, || row.to_string());
        };
        let aged = Ageing::begin(&plan)?.live(None, &mut watch, stop)?;
        let (life, rows) = (aged.life.clone(), aged.rows.clone());
        if let Some(place) = place
            && !life.stopped
        {
            aged.save(place, &plan)?;
        }
        Ok(PyLife { life, rows })
    })?;
    finished(py, outcome)
}
