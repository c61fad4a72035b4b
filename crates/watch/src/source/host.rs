//! Settings of a running system, read from `/sys` and `/proc`; nothing is ever written there.

use super::cgroup;
use super::settings::{HostSettings, LinkState, MountedFileSystem, StackedDevice};
use ssdlab_bench::device::system::{DevId, SysfsDevice, SystemPaths};
use std::fs;
use std::path::Path;

fn text(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

/// What the host has set for the whole disk of `device`.
pub fn read_settings(system: &SystemPaths, device: &SysfsDevice) -> HostSettings {
    let disk = &device.disk;
    let queue = |file: &str| disk.join("queue").join(file);
    let stat = text(&disk.join("stat"));
    HostSettings {
        scheduler: text(&queue("scheduler")).map(|line| active(&line)),
        requests_max: number(&queue("nr_requests")),
        write_cache: text(&queue("write_cache")),
        fua: number(&queue("fua")).map(|value| value == 1),
        discard_max_bytes: number(&queue("discard_max_bytes")),
        discards_since_boot: stat.and_then(|line| line.split_whitespace().nth(11)?.parse().ok()),
        rotational: number(&queue("rotational")).map(|value| value == 1),
        interface: device.interface().to_owned(),
        backing_file: device.backing_file(),
        link: pcie_link(disk).or_else(|| sata_link(system, disk)),
        temperature_c: temperature(disk),
        file_systems: file_systems(system, device),
        stack: above(system, disk),
        limits: disk_id(disk).map_or_else(Vec::new, |id| cgroup::limits(system, id)),
        misaligned: misaligned(disk),
    }
}

/// The name in brackets, or the whole line.
fn active(line: &str) -> String {
    let name = line
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    name.map_or(line, |(name, _)| name).to_owned()
}

fn disk_id(disk: &Path) -> Option<DevId> {
    DevId::parse(&text(&disk.join("dev"))?)
}

fn pcie_link(disk: &Path) -> Option<LinkState> {
    // An NVMe namespace's device is its controller, whose device is the PCIe function.
    let functions = [disk.join("device/device"), disk.join("device")];
    functions.iter().find_map(|function| {
        let width =
            |file: &str| number(&function.join(file)).and_then(|lanes| u32::try_from(lanes).ok());
        Some(LinkState {
            speed: text(&function.join("current_link_speed"))?,
            speed_max: text(&function.join("max_link_speed"))?,
            width: width("current_link_width")?,
            width_max: width("max_link_width")?,
        })
    })
}

fn sata_link(system: &SystemPaths, disk: &Path) -> Option<LinkState> {
    let place = disk.to_string_lossy();
    let port = place.split('/').find(|part| {
        let number = part.strip_prefix("ata");
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    })?;
    let link = format!("link{}", port.trim_start_matches("ata"));
    let folder = system.sys.join("class/ata_link").join(link);
    Some(LinkState {
        speed: text(&folder.join("sata_spd"))?,
        speed_max: text(&folder.join("hw_sata_spd_limit"))?,
        width: 1,
        width_max: 1,
    })
}

fn temperature(disk: &Path) -> Option<f64> {
    for folder in ["device/hwmon", "device/device/hwmon"] {
        for monitor in fs::read_dir(disk.join(folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            if let Some(millidegrees) = number(&monitor.path().join("temp1_input")) {
                return Some(millidegrees as f64 / 1000.0);
            }
        }
    }
    // NVMe: the controller's own folder has hwmonN without a folder around it.
    let entries = fs::read_dir(disk.join("device"))
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("hwmon"))
        .find_map(|entry| number(&entry.path().join("temp1_input")))
        .map(|millidegrees| millidegrees as f64 / 1000.0)
}

/// Names of devices in a folder of sysfs.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The disk's partitions, by their folders.
fn partitions(disk: &Path) -> Vec<std::path::PathBuf> {
    let folders = names(disk).into_iter().map(|name| disk.join(name));
    folders
        .filter(|folder| folder.join("partition").exists())
        .collect()
}

fn misaligned(disk: &Path) -> Vec<String> {
    let begins_badly = |folder: &std::path::PathBuf| {
        number(&folder.join("start")).is_some_and(|sector| !sector.is_multiple_of(8))
    };
    let bad = partitions(disk).into_iter().filter(begins_badly);
    bad.filter_map(|folder| Some(folder.file_name()?.to_string_lossy().into_owned()))
        .collect()
}

/// Devices on top of the disk and its partitions, each once, the nearest first.
fn above(system: &SystemPaths, disk: &Path) -> Vec<StackedDevice> {
    let mut stack: Vec<StackedDevice> = Vec::new();
    let mut folders = vec![disk.to_owned()];
    folders.extend(partitions(disk));
    while let Some(folder) = folders.pop() {
        for name in names(&folder.join("holders")) {
            if stack.iter().any(|device| device.name == name) {
                continue;
            }
            let holder = system.sys.join("block").join(&name);
            stack.push(StackedDevice {
                kind: stacked_kind(&holder, &name),
                name,
            });
            folders.push(holder);
        }
    }
    stack
}

fn stacked_kind(folder: &Path, name: &str) -> String {
    // "CRYPT-LUKS2-...", "LVM-...", by convention of the tools that make them.
    if let Some(uuid) = text(&folder.join("dm/uuid")) {
        let tool = uuid.split('-').next().unwrap_or_default();
        return match tool {
            "CRYPT" => "dm-crypt".to_owned(),
            "LVM" => "LVM".to_owned(),
            other => format!("device mapper ({other})"),
        };
    }
    if let Some(level) = text(&folder.join("md/level")) {
        return format!("md {level}");
    }
    match name {
        name if name.starts_with("dm-") => "device mapper".to_owned(),
        name if name.starts_with("bcache") => "bcache".to_owned(),
        name => name.to_owned(),
    }
}

/// File systems on the disk, its partitions and what stands on them.
fn file_systems(system: &SystemPaths, device: &SysfsDevice) -> Vec<MountedFileSystem> {
    let disk = &device.disk;
    let mut folders = vec![disk.clone()];
    folders.extend(partitions(disk));
    let stacked = above(system, disk);
    folders.extend(
        stacked
            .iter()
            .map(|holder| system.sys.join("block").join(&holder.name)),
    );
    let ids: Vec<DevId> = folders
        .iter()
        .filter_map(|folder| disk_id(folder))
        .collect();
    let mut found: Vec<MountedFileSystem> = Vec::new();
    for mount in system.mounts() {
        let by_source = || {
            let stat = rustix::fs::stat(mount.source.as_str()).ok()?;
            Some(DevId::from_raw(stat.st_rdev))
        };
        let is_here = ids.contains(&mount.id)
            || mount.source.starts_with("/dev/") && by_source().is_some_and(|id| ids.contains(&id));
        if !is_here || found.iter().any(|other| other.device == mount.source) {
            continue;
        }
        found.push(MountedFileSystem {
            used: used(&mount.point),
            options: mount.options,
            point: mount.point,
            kind: mount.kind,
            device: mount.source,
        });
    }
    found
}

fn used(point: &str) -> Option<f64> {
    let space = rustix::fs::statvfs(point).ok()?;
    let blocks = space.f_blocks as f64;
    (blocks > 0.0).then(|| 1.0 - space.f_bavail as f64 / blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_in_use_is_in_brackets() {
        assert_eq!(active("none mq-deadline [bfq]"), "bfq");
        assert_eq!(active("none"), "none");
    }

    /// A disk with a partition at an odd place, encrypted, as sysfs shows it.
    #[test]
    fn a_stack_is_followed_upwards() {
        let folder = tempfile::tempdir().expect("a folder");
        let sys = folder.path().join("sys");
        let write = |path: &str, text: &str| {
            let path = sys.join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("block/sdz/dev", "8:400");
        write("block/sdz/sdz1/partition", "1");
        write("block/sdz/sdz1/start", "63");
        write("block/sdz/sdz1/holders/dm-9/x", "");
        write("block/dm-9/dm/uuid", "CRYPT-LUKS2-0123");
        write("block/dm-9/holders/dm-10/x", "");
        write("block/dm-10/dm/uuid", "LVM-abc");
        let system = SystemPaths {
            sys: sys.clone(),
            proc: folder.path().join("proc"),
            udev: folder.path().join("udev"),
        };
        let disk = sys.join("block/sdz");
        let kinds: Vec<_> = above(&system, &disk)
            .into_iter()
            .map(|device| device.kind)
            .collect();
        assert_eq!(kinds, ["dm-crypt", "LVM"]);
        assert_eq!(misaligned(&disk), ["sdz1"]);
    }
}
