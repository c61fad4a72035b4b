//! The host's side: boots guests, answers them, and judges what they were promised.

mod drive;
mod elf;
mod files;
mod image;
mod machine;
mod plan;
mod report;
mod session;

pub use plan::{CACHE_MODES, ConformPlan, MODELS, Transport, VHOST_USER, layer_words};
pub use report::{ConformReport, RouteCell, RouteVerdict};

use image::BootImage;
use ssdlab_base::LabError;
use std::sync::atomic::AtomicBool;

/// Boots every machine of the plan and judges what its guests were promised, until `stop` is set.
/// `progress` receives a line for each guest.
///
/// # Errors
/// When the plan names something that does not exist, or a guest does not finish. Results obtained
/// before are in the report, whose `trouble` says what failed.
pub fn conform(
    plan: &ConformPlan,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(&str),
) -> Result<ConformReport, LabError> {
    let machines = machine::machines(plan)?;
    let folder = tempfile::tempdir().map_err(|error| LabError::File {
        action: "making a folder for sockets in",
        path: std::env::temp_dir(),
        source: error,
        hint: "TMPDIR names another place".to_owned(),
    })?;
    let image = BootImage::make(plan, folder.path())?;
    let mut report = ConformReport::new(&plan.command);
    report.ext4 = image.has_ext4();
    report.layer.clone_from(&plan.layer);
    for machine in &machines {
        progress(&format!("booting {}", machine.name));
        match session::run(plan, machine, &image, folder.path(), stop, &mut report) {
            Ok(()) => {}
            Err(error) => {
                report.trouble = Some(error.to_string());
                break;
            }
        }
    }
    Ok(report)
}
