//! `ssdlab.qualify`.

use crate::errors::{json, lab, refused};
use crate::long::{CallProgress, whole};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::OpenOptions;
use ssdlab_bench::device::WriteOptions;
use ssdlab_bench::device::named::TargetName;
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_judge::page::qualification_page;
use ssdlab_judge::qualify::evidence::Qualification;
use ssdlab_judge::qualify::{
    QualifyPlan, QualifyProfile, QualifyProgress, QualifyStep, ReferenceSelection, references,
    role, terminal,
};
use ssdlab_life::age::left;
use ssdlab_predict::members::drawn;
use ssdlab_ssd::Drive;
use std::path::Path;

/// A finished qualification.
#[pyclass(frozen, name = "Qualified", module = "ssdlab._native")]
pub struct PyQualification {
    found: Qualification,
}

#[pymethods]
impl PyQualification {
    /// Reads `qualification.json`.
    #[new]
    fn new(text: &str) -> PyResult<PyQualification> {
        let parsed = serde_json::from_str(text);
        let hint = "it was written by another version, or changed";
        let qualification =
            parsed.map_err(|error| refused(format!("no qualification: {error}"), hint))?;
        Ok(PyQualification {
            found: qualification,
        })
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
pub struct PyQualifyRequest {
    role: String,
    profile: String,
    seed: u64,
    references: Vec<String>,
    size: Option<String>,
    overwrite: bool,
    serial: Option<String>,
    destroy: Option<String>,
    keep: bool,
}

impl PyQualifyRequest {
    fn plan(&self, target: Option<&str>) -> Result<QualifyPlan, LabError> {
        let profiles = [
            QualifyProfile::Quick,
            QualifyProfile::Standard,
            QualifyProfile::Full,
        ];
        let profile = profiles.into_iter().find(|p| p.name() == self.profile);
        let profile = profile.ok_or_else(|| {
            LabError::bad_option(
                "profile",
                &self.profile,
                "quick, standard or full is allowed",
                "quick takes about a minute, standard a quarter of an hour, full hours",
            )
        })?;
        let beside = if self.references.is_empty() {
            ReferenceSelection::None
        } else {
            ReferenceSelection::Measured(references(&self.references)?)
        };
        let target = target.map(TargetName::parse).transpose()?;
        Ok(QualifyPlan {
            drawn: target.as_ref().map(drawn).unwrap_or_default(),
            target,
            role: role(&self.role)?,
            profile,
            seed: self.seed,
            references: beside,
            open: OpenOptions {
                write: WriteOptions {
                    allow_overwrite: self.overwrite,
                    confirmed_serial: self.serial.clone(),
                    destroy: self.destroy.clone(),
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
fn kept(name: &str) -> Result<Option<(Drive, SavedDriveInfo)>, LabError> {
    let path = left::kept(name);
    path.map(|_| left::open(Path::new(name))).transpose()
}

struct QualifyReporter<'a>(&'a CallProgress);

impl QualifyProgress for QualifyReporter<'_> {
    fn step(&mut self, step: &QualifyStep) {
        let share = (step.number - 1) as f64 / step.count.max(1) as f64;
        self.0.note(share, || step.title.clone());
    }
}

/// Measures and judges a target.
#[pyfunction]
#[pyo3(signature = (target, request, progress=None))]
pub fn qualify(
    py: Python<'_>,
    target: Option<String>,
    request: PyQualifyRequest,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<PyQualification> {
    let plan = request.plan(target.as_deref()).map_err(lab)?;
    let qualification = whole(py, progress.as_ref(), |stop, reached| {
        ssdlab_judge::qualify(&plan, &mut QualifyReporter(reached), stop)
    })?;
    Ok(PyQualification {
        found: qualification,
    })
}
