//! `ssdlab.serve`: a drive for other programs, with its power switch.

use crate::drives::NamedDrive;
use crate::errors::{json, lab, refused};
use pyo3::prelude::*;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::directory::{CrashSafety, DriveDir};
use ssdlab_drives::scaling::sized;
use ssdlab_power::served::{
    DriveEndpoints, DriveServer, ServableDrive, ServedDrive, ServedPace, in_directory, of_config,
    parse_address, parse_fault,
};
use ssdlab_serve::{CutMoment, PowerControl, PowerError};
use ssdlab_ssd::drive::power;
use std::path::PathBuf;
use std::time::Duration;

/// A drive that is served until it is stopped.
#[pyclass(frozen, name = "Served", module = "ssdlab._native")]
pub struct PyServed {
    serving: std::sync::RwLock<Option<DriveServer>>,
    /// Name, size and state in a line, and what was found of an earlier kill.
    #[pyo3(get)]
    about: String,
}

/// What is served, where and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyServeRequest {
    directory: Option<PathBuf>,
    size: Option<String>,
    nbd: Vec<String>,
    nbd_read_only: Vec<String>,
    fuse: Option<PathBuf>,
    control: Option<PathBuf>,
    read_only: bool,
    real_pace: bool,
    faults: Vec<String>,
    seed: u64,
    sync: bool,
}

impl PyServeRequest {
    fn places(&self) -> Result<DriveEndpoints, LabError> {
        let addresses = |texts: &[String]| {
            let addresses = texts.iter().map(|text| parse_address(text));
            addresses.collect::<Result<Vec<_>, _>>()
        };
        Ok(DriveEndpoints {
            nbd: addresses(&self.nbd)?,
            nbd_read_only: addresses(&self.nbd_read_only)?,
            fuse: self.fuse.clone(),
            vhost_user: None,
            control: self.control.clone(),
            read_only: self.read_only,
            tls: None,
        })
    }

    fn open(&self, drive: Option<&NamedDrive>) -> Result<ServableDrive, LabError> {
        let faults = self.faults.iter();
        let faults = faults.map(|text| parse_fault(text, self.seed));
        let power = power::Power::with_faults(faults.collect::<Result<_, _>>()?);
        match (drive, &self.directory) {
            (Some(drive), None) => of_config(drive.config(self.size.as_deref())?, power),
            (None, Some(directory)) => {
                let safety = if self.sync {
                    CrashSafety::Host
                } else {
                    CrashSafety::Process
                };
                in_directory(directory, power, safety)
            }
            _ => Err(LabError::refused(
                "a drive or a drive directory is served",
                "serve(\"drive:NAME\") or serve(DIRECTORY)",
            )),
        }
    }

    fn start(&self, drive: Option<&NamedDrive>) -> Result<PyServed, LabError> {
        let opened = self.open(drive)?;
        let pace = if self.real_pace {
            ServedPace::Real { slower: 1 }
        } else {
            ServedPace::Fast
        };
        let drive = opened.drive.at_pace(pace).with_seed(self.seed);
        let serving = DriveServer::start(drive, &self.places()?, &opened.name, log)?;
        let notes = opened.notes.iter().map(|note| format!("\nnote: {note}"));
        Ok(PyServed {
            serving: Some(serving).into(),
            about: opened.about + &notes.collect::<String>(),
        })
    }
}

/// Warnings of the front ends go to Python's logger `ssdlab`, from whatever thread.
fn log(text: &str) {
    let logged = Python::attach(|py| -> PyResult<()> {
        let logger = py
            .import("logging")?
            .call_method1("getLogger", ("ssdlab",))?;
        logger.call_method1("warning", ("%s", text)).map(drop)
    });
    // A warning that Python cannot log is dropped.
    drop(logged);
}

fn power_error(error: PowerError) -> LabError {
    LabError::refused(error.to_string(), "see `status()`")
}

impl Drop for PyServed {
    /// Shut down without the interpreter's lock: threads that it waits for may want to log.
    fn drop(&mut self) {
        let serving = self.serving.get_mut();
        let serving = serving.unwrap_or_else(std::sync::PoisonError::into_inner);
        let Some(serving) = serving.take() else {
            return;
        };
        let mut server = Some(serving);
        Python::try_attach(|py| py.detach(|| drop(server.take())));
    }
}

impl PyServed {
    /// Asks the drive without the interpreter's lock.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&ServedDrive) -> Result<T, LabError> + Send,
    ) -> PyResult<T> {
        let answer = py.detach(|| {
            let serving = self.serving.read();
            let serving = serving.unwrap_or_else(std::sync::PoisonError::into_inner);
            match serving.as_ref() {
                Some(serving) => ask(serving.drive()),
                None => Err(LabError::refused(
                    "the drive is not served any more",
                    "use it inside its `with` block",
                )),
            }
        });
        answer.map_err(lab)
    }

    fn stand<E: Into<Option<CutMoment>>>(&self, py: Python<'_>, moment: E) -> PyResult<String> {
        let moment = moment.into();
        let status = self.ask(py, |drive| drive.cut_when(moment).map_err(power_error))?;
        serde_json::to_string(&status).map_err(json)
    }
}

#[pymethods]
impl PyServed {
    #[new]
    fn new(
        py: Python<'_>,
        drive: Option<NamedDrive>,
        request: PyServeRequest,
    ) -> PyResult<PyServed> {
        py.detach(|| request.start(drive.as_ref())).map_err(lab)
    }

    /// What people type to use the drive.
    fn how_to_attach(&self) -> Vec<String> {
        let serving = self.serving.read();
        let serving = serving.unwrap_or_else(std::sync::PoisonError::into_inner);
        serving
            .as_ref()
            .map_or(Vec::new(), DriveServer::how_to_attach)
    }

    fn off(&self, py: Python<'_>) -> PyResult<String> {
        let status = self.ask(py, |drive| drive.off().map_err(power_error))?;
        serde_json::to_string(&status).map_err(json)
    }

    fn on(&self, py: Python<'_>) -> PyResult<String> {
        let status = self.ask(py, |drive| drive.on().map_err(power_error))?;
        serde_json::to_string(&status).map_err(json)
    }

    fn status(&self, py: Python<'_>) -> PyResult<String> {
        let status = self.ask(py, |drive| Ok(drive.status()))?;
        serde_json::to_string(&status).map_err(json)
    }

    /// `at` as the switch's protocol has it, JSON; `None` takes an armed cut back.
    #[pyo3(signature = (at=None))]
    fn cut_when(&self, py: Python<'_>, at: Option<&str>) -> PyResult<String> {
        let moment: Option<CutMoment> = at
            .map(serde_json::from_str)
            .transpose()
            .map_err(|error| refused(format!("no place of a cut: {error}"), ""))?;
        self.stand(py, moment)
    }

    /// Waits until there were more than `cuts` cuts, at most `seconds`.
    fn wait_for_cut(&self, py: Python<'_>, cuts: u64, seconds: f64) -> PyResult<bool> {
        let at_most = Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
        self.ask(py, |drive| Ok(drive.wait_for_cut(cuts, at_most)))
    }

    /// Hangs up, shuts the drive down in order and returns notes on its clients; `None` when that
    /// has happened already.
    fn stop(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let stopped = py.detach(|| {
            let serving = self.serving.write();
            let mut serving = serving.unwrap_or_else(std::sync::PoisonError::into_inner);
            serving.take().map(DriveServer::stop).transpose()
        });
        stopped.map_err(lab)
    }
}

/// Makes a drive directory.
#[pyfunction]
#[pyo3(signature = (directory, drive, size=None))]
pub fn create(
    py: Python<'_>,
    directory: PathBuf,
    drive: NamedDrive,
    size: Option<&str>,
) -> PyResult<()> {
    let created = py.detach(|| {
        let opened = drive.open()?;
        let config = match size {
            Some(size) => sized(&opened.config, parse_size(size)?)?.config,
            None => opened.config.clone(),
        };
        DriveDir::create(&directory, &config, &opened.file.title)
    });
    created.map(drop).map_err(lab)
}
