//! From the arguments about a target to an open device.

use crate::args::TargetArgs;
use crate::progress::Bar;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::WriteOptions;
use ssdlab_bench::device::named::{Name, Opened};
use ssdlab_bench::device::{Needs, OpenOptions};
use ssdlab_drives::keep::saved::About;
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
    name: &Name,
    args: &TargetArgs,
    needs: &Needs,
    quiet: bool,
    stop: &AtomicBool,
) -> Result<Opened, LabError> {
    let title = match name {
        Name::Path(path) => format!("writing {} for the first time", path.display()),
        Name::Drive(_) | Name::Null(_) => String::new(),
    };
    let mut bar = None;
    let mut progress = |done, total| {
        bar.get_or_insert_with(|| Bar::new(&title, 0.0, quiet))
            .bytes(done, total);
    };
    Opened::open(name, needs, &args.options()?, kept, &mut progress, stop)
}

/// A drive saved by `simulate` or left by `age`.
///
/// # Errors
/// When it cannot be loaded.
pub fn kept(name: &str) -> Result<Option<(Drive, About)>, LabError> {
    left::kept(name)
        .map(|_| left::open(Path::new(name)))
        .transpose()
}
