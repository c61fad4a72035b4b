//! `ssdlab serve`: a drive directory for other programs, until Ctrl-C.

mod args;
mod places;
mod until;
mod volume;

pub use args::{PaceName, Serve};

use crate::failure::{CliFailure, CommandExit};
use crate::terminal::write_output;
use places::{misplaced, needs_real_pace, places};
use ssdlab_base::LabError;
use ssdlab_base::huge_pages::keep_freed_memory;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::directory::CrashSafety;
use ssdlab_power::served::{DriveServer, ServedPace, in_directory, in_memory, parse_fault};
use ssdlab_ssd::drive::power::Power;
use std::sync::mpsc::{Receiver, channel};
use until::until;

/// Serves a drive directory.
///
/// # Errors
/// When it cannot be opened or written, or a front end not be had.
pub fn serve(args: &Serve) -> Result<CommandExit, CliFailure> {
    let places = places(args)?;
    let faults = args.fault.iter().map(|text| parse_fault(text, args.seed));
    let power = Power::with_faults(faults.collect::<Result<_, _>>()?);
    keep_freed_memory();
    let stop = signals()?;
    let name = args.directory.to_str();
    if let Some(volume) = name.and_then(|name| name.strip_prefix("volume:")) {
        return volume::serve_volume(args, volume, &places, &stop);
    }
    let opened = match name.and_then(|name| name.strip_prefix("drive:")) {
        Some(name) if !args.sync => {
            let size = args.size.as_deref().map(parse_size).transpose()?;
            in_memory(name, size, power)?
        }
        None if args.size.is_none() => {
            let safety = if args.sync {
                CrashSafety::Host
            } else {
                CrashSafety::Process
            };
            in_directory(&args.directory, power, safety)?
        }
        kind => return Err(misplaced(kind.is_some()).into()),
    };
    for note in &opened.notes {
        tell!("note: {note}");
    }
    let (drive, name, about) = (opened.drive, opened.name, opened.about);
    let pace = match args.pace {
        PaceName::Real => ServedPace::Real {
            slower: args.slower,
        },
        PaceName::Fast if args.slower > 1 => return Err(needs_real_pace().into()),
        PaceName::Fast => ServedPace::Fast,
    };
    let drive = drive.at_pace(pace).with_seed(args.seed);
    let serving = DriveServer::start(drive, &places, &name, |text| tell!("{text}"))?;
    write_output(&format!("{}: {about}\n", args.directory.display()))?;
    for line in serving.how_to_attach() {
        write_output(&(line + "\n"))?;
    }
    write_output("ready\n")?;
    until(&stop, &serving);
    let notes = serving.stop()?;
    write_output(&notes)?;
    write_output("closed\n")?;
    Ok(CommandExit::Good)
}

/// Ctrl-C, SIGTERM and SIGHUP end the serving; the second ends the program.
fn signals() -> Result<Receiver<()>, LabError> {
    let (send, receive) = channel();
    let mut signalled = false;
    ctrlc::set_handler(move || {
        if std::mem::replace(&mut signalled, true) {
            std::process::exit(130);
        }
        tell!("shutting the drive down (once more to quit at once)");
        let _ = send.send(());
    })
    .map_err(|error| LabError::refused(format!("cannot watch for Ctrl-C: {error}"), ""))?;
    Ok(receive)
}
