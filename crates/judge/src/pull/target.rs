//! The target of a test: opened for the first time, and found again after each pull.

use super::ledger::random_number;
use super::record::PullTestSetup;
use crate::inspect::drive_of;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::OpenOptions;
use ssdlab_bench::device::direct::DirectFile;
use ssdlab_bench::device::system::{DevId, SystemPaths};
use ssdlab_ssd::Bytes;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Bytes used unless said otherwise.
pub const USED_DEFAULT: u64 = 256 << 20;
/// Fewest bytes: each stream has room for its largest writes.
const USED_MIN: u64 = 8 << 20;
/// How often a target that is away is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What the drive says of itself, as far as a test of pulls wants it.
#[derive(Clone, Debug, Default)]
pub struct DrivePowerInfo {
    /// Why its buffer is known to be protected, if it is.
    pub protected: Option<String>,
    /// Times powered up.
    pub power_cycles: Option<u64>,
}

/// Asks the drive under `path`; one that cannot be asked says nothing.
pub fn own_account(path: &Path) -> DrivePowerInfo {
    let Ok(Some(found)) = drive_of(path) else {
        return DrivePowerInfo::default();
    };
    let protected = found.protection.holds == Some(true);
    DrivePowerInfo {
        protected: protected.then_some(found.protection.why),
        power_cycles: found.events.power_cycles,
    }
}

/// The record that begins a test of `file`.
///
/// # Errors
/// When it is too small, or has sectors of an odd size.
pub fn start(file: &DirectFile, size: Option<u64>, seed: u64) -> Result<PullTestSetup, LabError> {
    let facts = file.facts();
    let (sector, capacity) = (u64::from(facts.block_size), facts.capacity);
    let bytes = size.unwrap_or(USED_DEFAULT).min(capacity);
    if !sector.is_power_of_two() || !(512..=64 << 10).contains(&sector) {
        return Err(LabError::refused(
            format!("{} has blocks of {sector} bytes", facts.name),
            "blocks of 512 bytes to 64 KiB can be tested",
        ));
    }
    let bytes = bytes - bytes % sector.max(64 << 10);
    if bytes < USED_MIN {
        return Err(LabError::refused(
            format!("{} bytes of {} would be used", bytes, facts.name),
            format!("at least {} are needed (--size)", Bytes(USED_MIN)),
        ));
    }
    start_of(file, bytes, seed)
}

/// The same of the first `bytes` of `file`, whatever they are.
///
/// # Errors
/// When the system gives no random number.
pub fn start_of(file: &DirectFile, bytes: u64, seed: u64) -> Result<PullTestSetup, LabError> {
    let facts = file.facts();
    Ok(PullTestSetup {
        run: random_number()?,
        path: facts.name.clone(),
        serial: facts.serial.clone(),
        model: facts.model.clone(),
        is_file: file.is_file(),
        bytes,
        sector_bytes: facts.block_size,
        seed,
        at: Utc::now().rfc3339(),
    })
}

/// Whether `file` is the target that a ledger speaks of.
///
/// # Errors
/// When it is another.
pub fn is_same(start: &PullTestSetup, file: &DirectFile) -> Result<(), LabError> {
    let facts = file.facts();
    let named = |serial: &Option<String>, path: &str| match serial {
        Some(serial) => format!("{path}, serial number {serial}"),
        None => path.to_owned(),
    };
    let same = match (&start.serial, &facts.serial) {
        (Some(a), Some(b)) => a == b && (!start.is_file || start.path == facts.name),
        (None, None) => start.path == facts.name,
        _ => false,
    };
    let fits = start.is_file == file.is_file() && facts.capacity >= start.bytes;
    if same && fits {
        Ok(())
    } else {
        Err(LabError::refused(
            format!(
                "the ledger is of another target: {} of {}; this is {} of {}",
                Bytes(start.bytes),
                named(&start.serial, &start.path),
                Bytes(facts.capacity),
                named(&facts.serial, &facts.name)
            ),
            "give the ledger of this target, or a new one",
        ))
    }
}

/// The device with the serial number of `start`, under whatever name it has come back.
fn by_serial(start: &PullTestSetup) -> Option<PathBuf> {
    let (serial, system) = (start.serial.as_ref()?, SystemPaths::live());
    let disks = fs::read_dir(system.sys.join("block")).ok()?;
    disks.flatten().find_map(|disk| {
        let id = DevId::parse(&fs::read_to_string(disk.path().join("dev")).ok()?)?;
        let device = system.block_device(id)?;
        let is_match = device.serial(&system)? == *serial;
        is_match.then(|| Path::new("/dev").join(device.name))
    })
}

/// Opens the target once it is back, by its name or else by its serial number. The first time in a
/// process, a refusal is final.
///
/// # Errors
/// When it is not back within the limit, or refused.
pub fn reopen(
    path: &Path,
    start: &PullTestSetup,
    options: &OpenOptions,
    limit: Duration,
    is_first: bool,
) -> Result<DirectFile, LabError> {
    let until = Instant::now() + limit;
    loop {
        let open = |path: &Path| {
            let file = DirectFile::open(path, options)?;
            is_same(start, &file).map(|()| file)
        };
        // A name that nothing has would make a file.
        let exists = !matches!(path.try_exists(), Ok(false));
        let named = if exists { open(path) } else { Err(gone(path)) };
        let opened = named.or_else(|error| match by_serial(start).filter(|_| !start.is_file) {
            Some(renamed) if renamed != path => open(&renamed),
            _ => Err(error),
        });
        match opened {
            Ok(file) => return Ok(file),
            Err(error @ LabError::Refused { .. }) if is_first && exists => return Err(error),
            Err(error) if Instant::now() >= until => return Err(error),
            Err(_) => std::thread::sleep(LOOK_EVERY),
        }
    }
}

fn gone(path: &Path) -> LabError {
    LabError::refused(
        format!("{} is not there", path.display()),
        "see that it has power and is connected, and run this again: it continues (--back gives it \
         more time)",
    )
}
