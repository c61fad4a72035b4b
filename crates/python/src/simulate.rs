//! `ssdlab.simulate`.

use crate::drives::NamedDrive;
use crate::errors::{json, lab};
use crate::long::{CallProgress, finished, run};
use crate::table::{Columns, PyTable};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::settings::DriveSetting;
use ssdlab_life::simulate::life::{LifeObserver, LifeProgress, live};
use ssdlab_life::simulate::page::simulation_page;
use ssdlab_life::simulate::result::Simulation;
use ssdlab_life::simulate::sample::LifeSample;
use ssdlab_life::simulate::summary::summary;
use ssdlab_life::simulate::{LoadEnd, SimulationGear, SimulationPlan};

/// A life that was simulated.
#[pyclass(frozen, name = "Simulated", module = "ssdlab._native")]
pub struct PySimulation {
    simulation: Simulation,
    samples: Vec<LifeSample>,
}

#[pymethods]
impl PySimulation {
    /// `result.json`.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.simulation).map_err(json)
    }

    /// `series.csv`.
    fn samples(&self) -> PyResult<PyTable> {
        let samples = || self.samples.iter();
        let mut columns = Columns::default();
        columns.texts("phase", samples().map(|s| Some(s.phase.to_owned())));
        columns.counts("host_bytes", samples().map(|s| Some(s.host_bytes)));
        columns.decimals("t_s", samples().map(|s| Some(s.t_s)));
        columns.decimals("waf", samples().map(|s| s.waf));
        columns.decimals("iops", samples().map(|s| s.iops));
        for (at, name) in ["p50", "p99", "p999"].iter().enumerate() {
            let read = samples().map(|s| s.read_ns.map(|three| three[at]));
            columns.counts(&format!("read_{name}_ns"), read);
        }
        for (at, name) in ["p50", "p99", "p999"].iter().enumerate() {
            let write = samples().map(|s| s.write_ns.map(|three| three[at]));
            columns.counts(&format!("write_{name}_ns"), write);
        }
        let free = samples().map(|s| Some(s.free_superblocks as u64));
        columns.counts("free_superblocks", free);
        columns.decimals("watts", samples().map(|s| s.watts));
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

struct SimulateReporter<'a>(&'a CallProgress);

impl LifeObserver for SimulateReporter<'_> {
    fn progress(&mut self, progress: &LifeProgress) {
        let text = || {
            let waf = progress.waf.map_or("-".into(), |waf| format!("{waf:.2}"));
            format!("{} WAF {waf}", progress.phase.name())
        };
        self.0.note(progress.done, text);
    }
}

/// A load as texts: its parameters, and the gear.
type LoadTexts = (Vec<(String, String)>, Option<String>);

/// The life that the texts ask for, of a drive whose settings are `settings`.
fn plan(
    found: &CatalogueDrive,
    settings: &[DriveSetting],
    load: &LoadTexts,
) -> Result<SimulationPlan, LabError> {
    let mut plan = SimulationPlan::usual(found);
    plan.settings = settings.iter().map(DriveSetting::to_string).collect();
    for (key, value) in &load.0 {
        plan.set(key, value)?;
    }
    plan.gear = match &load.1 {
        Some(gear) => SimulationGear::parse(gear)?,
        None if matches!(plan.until, LoadEnd::Time(_)) => SimulationGear::Timed,
        None => SimulationGear::Counting,
    };
    plan.validate()?;
    Ok(plan)
}

/// Simulates a drive's life.
#[pyfunction]
#[pyo3(signature = (drive, load, gear=None, progress=None))]
pub fn simulate<'py>(
    py: Python<'py>,
    drive: NamedDrive,
    load: Vec<(String, String)>,
    gear: Option<String>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PySimulation>> {
    let opened = drive.open().map_err(lab)?;
    let settings = drive.settings().map_err(lab)?;
    let plan = plan(&opened, &settings, &(load, gear)).map_err(lab)?;
    let ended = run(py, progress.as_ref(), |stop, reached| {
        let lived = live(&plan, None, &mut SimulateReporter(reached), stop)?;
        Ok(PySimulation {
            simulation: lived.simulation,
            samples: lived.samples,
        })
    })?;
    finished(py, ended)
}

/// Whether lives of a drive are possible: raises what makes the first of them impossible.
#[pyfunction]
pub fn check_points(drive: NamedDrive, loads: Vec<LoadTexts>) -> PyResult<()> {
    let opened = drive.open().map_err(lab)?;
    let settings = drive.settings().map_err(lab)?;
    let mut plans = loads.iter().map(|load| plan(&opened, &settings, load));
    plans.try_for_each(|plan| plan.map(drop)).map_err(lab)
}
