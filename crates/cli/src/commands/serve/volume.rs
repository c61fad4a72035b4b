//! `ssdlab serve volume:TYPE`: a volume of a cloud, at its own pace.

use super::args::{PaceName, Serve};
use super::until::until;
use crate::failure::{CliFailure, CommandExit};
use crate::terminal::write_output;
use ssdlab_base::LabError;
use ssdlab_power::served::{DriveEndpoints, DriveServer, ServedVolume};
use ssdlab_ssd::Bytes;
use std::sync::mpsc::Receiver;

/// Serves the volume that `text` names, until it is stopped.
///
/// # Errors
/// When it is not sold, or a front end not be had.
pub(super) fn serve_volume(
    args: &Serve,
    text: &str,
    places: &DriveEndpoints,
    stop: &Receiver<()>,
) -> Result<CommandExit, CliFailure> {
    let is_drive = args.sync || args.size.is_some() || !args.fault.is_empty() || args.slower > 1;
    if is_drive {
        return Err(LabError::refused(
            "--sync, --size, --fault and --slower are for drives",
            "a volume's size is in its name: volume:gp3,size=20",
        )
        .into());
    }
    let config = ssdlab_volume::open(text)?;
    let (title, bytes) = (config.title.clone(), Bytes(config.bytes));
    let volume = ServedVolume::new(config);
    let serving = DriveServer::start(volume, places, text, |line| tell!("{line}"))?;
    if args.pace == PaceName::Real {
        tell!("note: a volume is always at its own pace; --pace adds nothing");
    }
    let about = "at its own pace, in memory: nothing of it is kept";
    write_output(&format!("volume:{text}: {title}, {bytes}, {about}\n"))?;
    for line in serving.how_to_attach() {
        write_output(&(line + "\n"))?;
    }
    write_output("ready\n")?;
    until(stop, &serving);
    write_output(&serving.stop()?)?;
    write_output("closed\n")?;
    Ok(CommandExit::Good)
}
