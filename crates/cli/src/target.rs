//! From the arguments about a target to an open device.

use crate::args::TargetArgs;
use crate::progress::RateBar;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::WriteOptions;
use ssdlab_bench::device::named::{OpenTarget, TargetName};
use ssdlab_bench::device::{Needs, OpenOptions};
use ssdlab_drives::keep::saved::SavedDriveInfo;
use ssdlab_life::age::left;
use ssdlab_ssd::Drive;
use std::path::Path;
use std::sync::atomic::AtomicBool;

impl TargetArgs {
    /// The options of opening that the arguments give.
    ///
    /// # Errors
    /// When the size cannot be read or is 0.
    pub fn options(&self) -> Result<OpenOptions, LabError> {
        let size = self.size.as_deref().map(parse_size).transpose()?;
        if size == Some(0) {
            return Err(LabError::refused(
                "--size 0: a target has some bytes",
                "try --size 1GiB",
            ));
        }
        Ok(OpenOptions {
            write: WriteOptions {
                allow_overwrite: self.overwrite,
                confirmed_serial: self.serial.clone(),
                destroy: self.destroy.clone(),
            },
            size,
            buffered: self.buffered,
            keep: self.keep,
        })
    }
}

/// Opens a device; a file that does not exist is created and filled, with a bar.
///
/// # Errors
/// When it does not exist, may not be written, or does not fit.
pub fn open(
    name: &TargetName,
    args: &TargetArgs,
    needs: &Needs,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<OpenTarget, LabError> {
    let title = match name {
        TargetName::Path(path) => format!("writing {} for the first time", path.display()),
        TargetName::Drive(_) | TargetName::Volume(_) | TargetName::Null(_) => String::new(),
    };
    let mut bar = None;
    let mut progress = |done, total| {
        bar.get_or_insert_with(|| RateBar::new(&title, 0.0, quiet))
            .bytes(done, total);
    };
    OpenTarget::open(name, needs, &args.options()?, kept, &mut progress, stop)
}

/// A drive saved by `simulate` or left by `age`.
///
/// # Errors
/// When it cannot be loaded.
pub fn kept(name: &str) -> Result<Option<(Drive, SavedDriveInfo)>, LabError> {
    left::kept(name)
        .map(|_| left::open(Path::new(name)))
        .transpose()
}
