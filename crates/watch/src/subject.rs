//! What is watched: the drive under a device, a mount point, a file or a process.

use ssdlab_base::LabError;
use ssdlab_bench::device::system::{DevId, SysfsDevice, SystemPaths};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

/// A drive to watch.
#[derive(Clone, Debug)]
pub struct WatchSubject {
    /// As the user named it.
    pub given: String,
    /// The whole disk.
    pub disk: SysfsDevice,
    /// The process it was found by.
    pub pid: Option<u32>,
}

fn refused(given: &str, why: &str, hint: &str) -> LabError {
    LabError::refused(format!("{given}: {why}"), hint)
}

const KINDS: &str = "name a block device (/dev/nvme0n1), a mount point, a file on it, or a process \
                     number; `lsblk` lists devices";

impl WatchSubject {
    /// The drive under what the user named.
    ///
    /// # Errors
    /// When nothing has that name, it is on no drive of this machine, or on several.
    pub fn find(system: &SystemPaths, given: &str) -> Result<WatchSubject, LabError> {
        let is_number = given.bytes().all(|byte| byte.is_ascii_digit()) && !given.is_empty();
        if is_number && !Path::new(given).exists() {
            let pid = given
                .parse()
                .map_err(|_| refused(given, "no process has this number", KINDS))?;
            return by_process(system, given, pid);
        }
        let meta =
            fs::metadata(given).map_err(|error| refused(given, &error.to_string(), KINDS))?;
        let device = if meta.file_type().is_block_device() {
            system.block_device(DevId::from_raw(meta.rdev()))
        } else {
            system.device_of_file(meta.dev())
        };
        let Some(device) = device else {
            let why = "it is on no block device of this machine (a network or memory file system)";
            return Err(refused(given, why, KINDS));
        };
        Ok(WatchSubject {
            given: given.to_owned(),
            disk: lowest(system, given, device)?,
            pid: None,
        })
    }
}

/// The one disk under stacked devices.
fn lowest(system: &SystemPaths, given: &str, device: SysfsDevice) -> Result<SysfsDevice, LabError> {
    let mut device = whole(system, device);
    loop {
        let slaves = fs::read_dir(device.disk.join("slaves"))
            .into_iter()
            .flatten()
            .flatten();
        let mut names: Vec<String> = slaves
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        match names.as_slice() {
            [] => return Ok(device),
            [name] => {
                let id = fs::read_to_string(device.disk.join("slaves").join(name).join("dev"));
                let below = id
                    .ok()
                    .and_then(|id| DevId::parse(&id))
                    .and_then(|id| system.block_device(id));
                let Some(below) = below else {
                    return Ok(device);
                };
                device = whole(system, below);
            }
            several => {
                let why = format!("it stands on several drives: {}", several.join(", "));
                let hint = format!("name one of them: ssdlab watch /dev/{}", several[0]);
                return Err(refused(given, &why, &hint));
            }
        }
    }
}

/// The whole disk of a partition.
fn whole(system: &SystemPaths, device: SysfsDevice) -> SysfsDevice {
    let id = fs::read_to_string(device.disk.join("dev")).ok();
    let disk = id.and_then(|id| system.block_device(DevId::parse(&id)?));
    disk.unwrap_or(device)
}

/// Disks on which a process has files open, each with how many.
fn open_disks(
    system: &SystemPaths,
    given: &str,
    pid: u32,
) -> Result<BTreeMap<String, (u32, SysfsDevice)>, LabError> {
    let folder = system.proc.join(pid.to_string()).join("fd");
    let open = fs::read_dir(&folder).map_err(|error| {
        let why = format!("its open files cannot be read: {error}");
        refused(
            given,
            &why,
            "name a process that runs, as root or as its owner",
        )
    })?;
    let mut disks: BTreeMap<String, (u32, SysfsDevice)> = BTreeMap::new();
    for file in open.flatten() {
        let Ok(meta) = fs::metadata(file.path()) else {
            continue;
        };
        let kind = meta.file_type();
        let device = if kind.is_block_device() {
            system.block_device(DevId::from_raw(meta.rdev()))
        } else if kind.is_file() {
            system.device_of_file(meta.dev())
        } else {
            None
        };
        let Some(device) = device else { continue };
        let disk = lowest(system, given, device)?;
        disks.entry(disk.disk_name()).or_insert((0, disk)).0 += 1;
    }
    Ok(disks)
}

/// Whether a process has a file open on a disk, as far as can be seen.
pub(crate) fn has_open_on(system: &SystemPaths, pid: u32, disk: &str) -> bool {
    open_disks(system, "", pid).is_ok_and(|disks| disks.contains_key(disk))
}

fn by_process(system: &SystemPaths, given: &str, pid: u32) -> Result<WatchSubject, LabError> {
    let disks = open_disks(system, given, pid)?;
    let busiest = disks.into_values().max_by_key(|(files, _)| *files);
    let Some((_, disk)) = busiest else {
        return Err(refused(
            given,
            "this process has no file open on a drive",
            KINDS,
        ));
    };
    Ok(WatchSubject {
        given: given.to_owned(),
        disk,
        pid: Some(pid),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(given: &str) -> String {
        match WatchSubject::find(&SystemPaths::live(), given) {
            Ok(found) => panic!("{given} is {}", found.disk.name),
            Err(error) => format!("{error} / {}", error.hint()),
        }
    }

    #[test]
    fn what_is_on_no_drive_is_refused_with_what_would_do() {
        assert!(said("/proc/self/stat").contains("on no block device"));
        assert!(said("/no/such/file").contains("process number"));
        assert!(said("4294967290").contains("a process that runs"));
        assert!(said("99999999999999999999").contains("no process has this number"));
    }
}
