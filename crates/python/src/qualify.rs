//! `ssdlab.qualify`.

use crate::errors::{json, lab, refused};
use crate::long::{Reached, whole};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::OpenOptions;
use ssdlab_bench::device::WriteOptions;
use ssdlab_bench::device::named::Name;
use ssdlab_drives::keep::saved::About;
use ssdlab_judge::page::qualification_page;
use ssdlab_judge::qualify::evidence::Qualification;
use ssdlab_judge::qualify::{
    Profile, Progress, QualifyPlan, References, Step, references, role, terminal,
};
use ssdlab_life::age::left;
use ssdlab_ssd::Drive;
use std::path::Path;

/// A finished qualification.
#[pyclass(frozen, module = "ssdlab._native")]
pub struct Qualified {
    found: Qualification,
}

#[pymethods]
impl Qualified {
    /// Reads `qualification.json`.
    #[new]
    fn new(text: &str) -> PyResult<Qualified> {
        let found = serde_json::from_str(text);
        let hint = "it was written by another version, or changed";
        let found = found.map_err(|error| refused(format!("no qualification: {error}"), hint))?;
        Ok(Qualified { found })
    }

    /// `qualification.json`.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string(&self.found).map_err(json)
    }

    /// `report.html`.
    fn page(&self) -> String {
        qualification_page(&self.found)
    }

    /// Every requirement, what gives, and the answer.
    fn summary(&self) -> String {
        terminal::verdict_summary(&self.found)
    }
}

/// The rest of a request, by the names of the command line.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    role: String,
    profile: String,
    seed: u64,
    references: Vec<String>,
    size: Option<String>,
    overwrite: bool,
    serial: Option<String>,
    keep: bool,
}

impl Request {
    fn plan(&self, target: Option<&str>) -> Result<QualifyPlan, LabError> {
        let all = [Profile::Quick, Profile::Standard, Profile::Full];
        let profile = all.into_iter().find(|p| p.name() == self.profile);
        let profile = profile.ok_or_else(|| {
            LabError::bad_option(
                "profile",
                &self.profile,
                "quick, standard or full is allowed",
                "quick takes about a minute, standard a quarter of an hour, full hours",
            )
        })?;
        let beside = match self.references.is_empty() {
            true => References::None,
            false => References::Measured(references(&self.references)?),
        };
        Ok(QualifyPlan {
            target: target.map(Name::parse).transpose()?,
            role: role(&self.role)?,
            profile,
            seed: self.seed,
            references: beside,
            open: OpenOptions {
                write: WriteOptions {
                    allow_overwrite: self.overwrite,
                    confirmed_serial: self.serial.clone(),
                },
                size: self.size.as_deref().map(parse_size).transpose()?,
                keep: self.keep,
                ..OpenOptions::default()
            },
            pull_record: None,
            kept,
        })
    }
}

/// A drive saved by `simulate` or left by `age`.
fn kept(name: &str) -> Result<Option<(Drive, About)>, LabError> {
    let path = left::kept(name);
    path.map(|_| left::open(Path::new(name))).transpose()
}

struct Noted<'a>(&'a Reached);

impl Progress for Noted<'_> {
    fn step(&mut self, step: &Step) {
        let done = (step.number - 1) as f64 / step.count.max(1) as f64;
        self.0.note(done, || step.title.clone());
    }
}

/// Measures and judges a target.
#[pyfunction]
#[pyo3(signature = (target, request, progress=None))]
pub fn qualify(
    py: Python<'_>,
    target: Option<String>,
    request: Request,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Qualified> {
    let plan = request.plan(target.as_deref()).map_err(lab)?;
    let found = whole(py, progress.as_ref(), |stop, reached| {
        ssdlab_judge::qualify(&plan, &mut Noted(reached), stop)
    })?;
    Ok(Qualified { found })
}
