//! `ssdlab serve`: a drive directory for other programs, until Ctrl-C.

use crate::Exit;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use ssdlab_base::LabError;
use ssdlab_base::huge_pages::{expect_small_pieces, keep_freed_memory};
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue;
use ssdlab_drives::keep::directory::{DriveDir, Safety};
use ssdlab_drives::scaling;
use ssdlab_power::served::{Pace, Places, ServedDrive, Serving, parse_address, parse_fault};
use ssdlab_ssd::drive::power::{DataDrive, Power, Recovery};
use ssdlab_ssd::{Bytes, DriveConfig};
use ssdlab_view::units;
use std::io::Write;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

/// `ssdlab serve`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab create my-drive --drive intel-dc-s3700-100gb --size 1GiB
  ssdlab serve my-drive --nbd unix:nbd.sock --control switch.sock
  ssdlab serve my-drive --fuse mnt/drive --pace real --fault ignores-flush
  ssdlab serve drive:consumer-sata-1tb --size 1GiB --nbd unix:nbd.sock
  ssdlab power cut-when --flush 3 --inside --wait --control switch.sock

It runs until Ctrl-C or SIGTERM, then shuts the drive down and prints what it
noted of each client. A second Ctrl-C ends it at once, as a power cut would.")]
pub struct Serve {
    /// The directory; `ssdlab create` makes one. Or drive:NAME, a new drive of the catalogue in
    /// memory: nothing of it is kept.
    #[arg(value_name = "DRIVE_DIR|drive:NAME")]
    pub directory: PathBuf,
    /// Bytes that drive:NAME offers. [default: as the drive]
    #[arg(long, value_name = "SIZE")]
    pub size: Option<String>,
    /// Listen for NBD clients: unix:PATH or tcp:HOST:PORT; may be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub nbd: Vec<String>,
    /// Be a file, for losetup: its name in an empty folder (mnt/drive). Needs /dev/fuse.
    #[arg(long, value_name = "FOLDER/FILE")]
    pub fuse: Option<PathBuf>,
    /// Listen for `ssdlab power` at this unix socket.
    #[arg(long, value_name = "SOCKET")]
    pub control: Option<PathBuf>,
    /// How long commands take.
    #[arg(long, value_enum, default_value = "fast")]
    pub pace: PaceName,
    /// What is wrong with the drive: NAME[:PERMILLE[:SEED]]; may be repeated.
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<String>,
    /// Seed of faults that have none, and of where inside a flush a cut falls.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// On FLUSH and FUA also sync the directory's files, so that it survives the machine.
    #[arg(long)]
    pub sync: bool,
}

/// `--pace`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaceName {
    /// As long as the modelled drive takes.
    Real,
    /// As long as computing them takes.
    Fast,
}

/// Serves a drive directory.
///
/// # Errors
/// When it cannot be opened or written, or a front end not be had.
pub fn serve(args: &Serve) -> Result<Exit, Failure> {
    let places = places(args)?;
    let faults = args.fault.iter().map(|text| parse_fault(text, args.seed));
    let power = Power {
        faults: faults.collect::<Result<_, _>>()?,
        ..Power::default()
    };
    keep_freed_memory();
    let stop = signals()?;
    let name = args.directory.to_str();
    let (drive, name, about) = match name.and_then(|name| name.strip_prefix("drive:")) {
        Some(name) => in_memory(args, name, power)?,
        None => in_directory(args, power)?,
    };
    let pace = match args.pace {
        PaceName::Real => Pace::Real,
        PaceName::Fast => Pace::Fast,
    };
    let drive = drive.at_pace(pace).with_seed(args.seed);
    let serving = Serving::start(drive, &places, &name)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}: {about}", args.directory.display())?;
    for line in serving.how_to_attach() {
        writeln!(out, "{line}")?;
    }
    writeln!(out, "ready")?;
    // Until a signal comes; the sender lives as long as the program.
    let _ = stop.recv();
    let notes = serving.stop()?;
    write!(out, "{notes}")?;
    writeln!(out, "closed")?;
    Ok(Exit::Good)
}

fn places(args: &Serve) -> Result<Places, LabError> {
    if args.nbd.is_empty() && args.fuse.is_none() {
        return Err(LabError::refused(
            "nobody could reach the drive: neither --nbd nor --fuse is given",
            "--nbd unix:drive.sock",
        ));
    }
    let nbd = args.nbd.iter().map(|text| parse_address(text));
    Ok(Places {
        nbd: nbd.collect::<Result<_, _>>()?,
        fuse: args.fuse.clone(),
        control: args.control.clone(),
    })
}

/// Ctrl-C, SIGTERM and SIGHUP end the serving; the second ends the program.
fn signals() -> Result<Receiver<()>, LabError> {
    let (send, receive) = channel();
    let mut seen = false;
    ctrlc::set_handler(move || {
        if std::mem::replace(&mut seen, true) {
            std::process::exit(130);
        }
        tell!("shutting the drive down (once more to quit at once)");
        let _ = send.send(());
    })
    .map_err(|error| LabError::refused(format!("cannot watch for Ctrl-C: {error}"), ""))?;
    Ok(receive)
}

fn in_memory(
    args: &Serve,
    name: &str,
    power: Power,
) -> Result<(ServedDrive, String, String), LabError> {
    if args.sync {
        return Err(LabError::refused(
            "--sync with a drive in memory, of which nothing is kept",
            "`ssdlab create` makes a drive directory",
        ));
    }
    let config = catalogue::open(name)?.config;
    let config = match args.size.as_deref().map(parse_size).transpose()? {
        Some(bytes) => scaling::sized(&config, bytes)?.config,
        None => config,
    };
    let (name, bytes) = (config.name.clone(), Bytes(config.user_bytes));
    expect_to_hold(&config);
    let data = DataDrive::new(config, power);
    let data = data.map_err(|error| LabError::refused(error.to_string(), ""))?;
    let about = format!("{bytes}, new, in memory: nothing of it is kept");
    Ok((ServedDrive::in_memory(data), name, about))
}

fn in_directory(args: &Serve, power: Power) -> Result<(ServedDrive, String, String), LabError> {
    if args.size.is_some() {
        return Err(LabError::refused(
            "--size: a drive directory has its size",
            "drive:NAME with --size, or `ssdlab create DRIVE_DIR --size ...`",
        ));
    }
    let safety = if args.sync {
        Safety::Host
    } else {
        Safety::Process
    };
    let (dir, recovery) = DriveDir::open(&args.directory, power, safety)?;
    expect_to_hold(dir.drive().config());
    let about = about(&dir, &recovery);
    let name = dir.drive().config().name.clone();
    Ok((ServedDrive::in_directory(dir), name, about))
}

/// Room for every page of the media, of which many small pieces are made.
fn expect_to_hold(config: &DriveConfig) {
    let raw = config.geometry().raw_bytes();
    expect_small_pieces(raw.saturating_add(raw / 4));
}

fn about(dir: &DriveDir, recovery: &Recovery) -> String {
    let drive = dir.drive();
    let config = drive.config();
    let power = drive.power_counters();
    format!(
        "{}, {}, recovered in {} of virtual time, {} power cycles, {} unsafe shutdowns",
        config.name,
        Bytes(config.user_bytes),
        units::time(recovery.ready.0 - recovery.at.0),
        power.power_cycles,
        power.unsafe_shutdowns,
    )
}
