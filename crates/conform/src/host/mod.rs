//! The host's side: boots guests, answers them, and judges what they were promised.

mod drive;
mod elf;
mod image;
mod machine;
mod report;
mod session;

pub use machine::{CACHE_MODES, MODELS, Transport, VHOST_USER};
pub use report::{Cell, Report, Verdict};

use image::Image;
use ssdlab_base::LabError;
use std::path::PathBuf;
use std::time::Duration;

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The hypervisor and its arguments; see [`machine`] for what is filled in.
    pub command: Vec<String>,
    /// The kernel of the guest.
    pub kernel: PathBuf,
    /// Its modules: `lib/modules/VERSION`. `None` where all that is needed is built in.
    pub modules: Option<PathBuf>,
    /// The program that the guest runs: it calls [`crate::guest::run`] for
    /// [`crate::guest::ARGUMENT`]. With its libraries it goes into the image.
    pub guest: PathBuf,
    /// Device models, of [`MODELS`]; used where `command` is only a program.
    pub models: Vec<String>,
    /// Cache modes, of [`CACHE_MODES`]; likewise.
    pub cache_modes: Vec<String>,
    /// How hypervisors reach the drives.
    pub transport: Transport,
    /// Time that one guest has.
    pub timeout: Duration,
}

/// Boots every machine of the plan and judges what its guests were promised. `progress` receives a
/// line for each guest.
///
/// # Errors
/// When the plan names something that does not exist, or a guest does not finish. Results obtained
/// before are in the report, whose `trouble` says what failed.
pub fn conform(plan: &Plan, progress: &mut dyn FnMut(&str)) -> Result<Report, LabError> {
    let machines = machine::machines(plan)?;
    let folder = tempfile::tempdir().map_err(|error| LabError::File {
        action: "making a folder for sockets in",
        path: std::env::temp_dir(),
        source: error,
        hint: "TMPDIR names another place".to_owned(),
    })?;
    let image = Image::make(plan, folder.path())?;
    let mut report = Report::new(&plan.command);
    report.ext4 = image.has_ext4();
    for machine in &machines {
        progress(&format!("booting {}", machine.name));
        match session::run(plan, machine, &image, folder.path(), &mut report) {
            Ok(()) => {}
            Err(error) => {
                report.trouble = Some(error.to_string());
                break;
            }
        }
    }
    Ok(report)
}
