//! `ssdlab.simulate`.

use crate::drives::Named;
use crate::errors::{json, lab};
use crate::long::{Reached, finished, run};
use crate::table::{Columns, Table};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_drives::settings::Setting;
use ssdlab_life::simulate::life::{Progress, Watch, live};
use ssdlab_life::simulate::page::simulation_page;
use ssdlab_life::simulate::result::Simulation;
use ssdlab_life::simulate::sample::Sample;
use ssdlab_life::simulate::summary::summary;
use ssdlab_life::simulate::{Gear, Plan, Until};

/// A life that was simulated.
#[pyclass(frozen, module = "ssdlab._native")]
pub struct Lived {
    simulation: Simulation,
    samples: Vec<Sample>,
}

#[pymethods]
impl Lived {
    /// `result.json`.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.simulation).map_err(json)
    }

    /// `series.csv`.
    fn samples(&self) -> PyResult<Table> {
        let all = || self.samples.iter();
        let mut columns = Columns::default();
        columns.texts("phase", all().map(|s| Some(s.phase.to_owned())));
        columns.counts("host_bytes", all().map(|s| Some(s.host_bytes)));
        columns.decimals("t_s", all().map(|s| Some(s.t_s)));
        columns.decimals("waf", all().map(|s| s.waf));
        columns.decimals("iops", all().map(|s| s.iops));
        for (at, name) in ["p50", "p99", "p999"].iter().enumerate() {
            let read = all().map(|s| s.read_ns.map(|three| three[at]));
            columns.counts(&format!("read_{name}_ns"), read);
        }
        for (at, name) in ["p50", "p99", "p999"].iter().enumerate() {
            let write = all().map(|s| s.write_ns.map(|three| three[at]));
            columns.counts(&format!("write_{name}_ns"), write);
        }
        let free = all().map(|s| Some(s.free_superblocks as u64));
        columns.counts("free_superblocks", free);
        columns.decimals("watts", all().map(|s| s.watts));
        columns.table()
    }

    /// `report.html`.
    fn page(&self) -> String {
        simulation_page(&self.simulation, &self.samples)
    }

    /// What the command line prints.
    fn summary(&self) -> String {
        summary(&self.simulation)
    }
}

struct Noted<'a>(&'a Reached);

impl Watch for Noted<'_> {
    fn progress(&mut self, progress: &Progress) {
        let text = || {
            let waf = progress.waf.map_or("-".into(), |waf| format!("{waf:.2}"));
            format!("{} WAF {waf}", progress.phase.name())
        };
        self.0.note(progress.done, text);
    }
}

/// The life that the texts ask for.
fn plan(drive: &Named, load: &[(String, String)], gear: Option<&str>) -> Result<Plan, LabError> {
    let mut plan = Plan::usual(&drive.open()?);
    let settings = drive.settings()?;
    plan.settings = settings.iter().map(Setting::to_string).collect();
    for (key, value) in load {
        plan.set(key, value)?;
    }
    plan.gear = match gear {
        Some(gear) => Gear::parse(gear)?,
        None if matches!(plan.until, Until::Time(_)) => Gear::Timed,
        None => Gear::Counting,
    };
    plan.validate()?;
    Ok(plan)
}

/// Simulates a drive's life.
#[pyfunction]
#[pyo3(signature = (drive, load, gear=None, progress=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    drive: Named,
    load: Vec<(String, String)>,
    gear: Option<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, Lived>> {
    let plan = plan(&drive, &load, gear.as_deref()).map_err(lab)?;
    let ended = run(py, progress.as_ref(), |stop, reached| {
        let lived = live(&plan, None, &mut Noted(reached), stop)?;
        Ok(Lived {
            simulation: lived.simulation,
            samples: lived.samples,
        })
    })?;
    finished(py, ended)
}

/// Whether a life is possible: raises what makes it impossible.
#[pyfunction]
#[pyo3(signature = (drive, load, gear=None))]
pub fn check_point(drive: Named, load: Vec<(String, String)>, gear: Option<&str>) -> PyResult<()> {
    plan(&drive, &load, gear).map(drop).map_err(lab)
}
