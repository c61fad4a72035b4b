//! What the kernel knows of the drive underneath a file or block device, and its counters.
//!
//! Everything is read from `/sys`, `/proc` and udev's database; nothing is ever written there.
//! In particular `queue/write_cache` is only read: writing it would change the kernel's belief,
//! not the drive, and drop flushes that the drive needs.
//!
//! Left out: SMART and Identify data (they need ioctls per transport), and what lies beneath a
//! stacked device (dm, md, loop) or a hypervisor. Sources: Linux
//! `Documentation/ABI/stable/sysfs-block`, `Documentation/block/stat.rst`,
//! `Documentation/block/writeback_cache_control.rst`, proc_pid_mountinfo(5).

use super::{Counters, TargetFacts};
use rustix::fs::{FileType, Stat, major, minor};
use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// A block device's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DevId {
    /// Which driver.
    pub major: u32,
    /// Which of its devices.
    pub minor: u32,
}

impl DevId {
    /// From `st_dev` or `st_rdev`.
    pub fn from_raw(raw: u64) -> DevId {
        DevId {
            major: major(raw),
            minor: minor(raw),
        }
    }

    /// From `8:16`.
    pub fn parse(text: &str) -> Option<DevId> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(DevId {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    }
}

impl fmt::Display for DevId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Where the kernel's files are; other places in tests.
#[derive(Clone, Debug)]
pub struct SystemPaths {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/proc`.
    pub proc: PathBuf,
    /// `/run/udev/data`.
    pub udev: PathBuf,
}

/// A mounted file system, from `mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountInfoEntry {
    /// Device number; major 0 for file systems that span devices or have none.
    pub id: DevId,
    /// Where.
    pub point: String,
    /// `ext4`, `btrfs`, `tmpfs`...
    pub kind: String,
    /// `/dev/sda1`, or whatever the file system calls its source.
    pub source: String,
    /// Options of the mount and of the file system, each once.
    pub options: Vec<String>,
}

/// One block device or partition as sysfs shows it.
#[derive(Clone, Debug)]
pub struct SysfsDevice {
    /// Its number.
    pub id: DevId,
    /// `sda1`, `nvme0n1`, `loop0`.
    pub name: String,
    /// Its directory in sysfs.
    pub dir: PathBuf,
    /// The directory of the whole disk; the same unless this is a partition.
    pub disk: PathBuf,
}

impl SystemPaths {
    /// The machine this runs on.
    pub fn live() -> SystemPaths {
        SystemPaths {
            sys: PathBuf::from("/sys"),
            proc: PathBuf::from("/proc"),
            udev: PathBuf::from("/run/udev/data"),
        }
    }

    /// The block device numbered `id`, if sysfs has it.
    pub fn block_device(&self, id: DevId) -> Option<SysfsDevice> {
        let link = self.sys.join("dev/block").join(id.to_string());
        let dir = fs::canonicalize(link).ok()?;
        let partition = dir.join("partition").exists();
        let disk = match (partition, dir.parent()) {
            (true, Some(parent)) => parent.to_path_buf(),
            _ => dir.clone(),
        };
        let name = dir.file_name()?.to_str()?.to_owned();
        Some(SysfsDevice {
            id,
            name,
            dir,
            disk,
        })
    }

    /// Every mount this process can see.
    pub fn mounts(&self) -> Vec<MountInfoEntry> {
        let text = fs::read_to_string(self.proc.join("self/mountinfo")).unwrap_or_default();
        text.lines().filter_map(parse_mount).collect()
    }

    /// Every mount of every mount namespace that a process shown in `/proc` lives in.
    pub fn mounts_everywhere(&self) -> Vec<MountInfoEntry> {
        let mut mounts = self.mounts();
        let mut namespaces: Vec<PathBuf> = Vec::new();
        namespaces.extend(fs::read_link(self.proc.join("self/ns/mnt")).ok());
        for process in fs::read_dir(&self.proc).into_iter().flatten().flatten() {
            let Ok(namespace) = fs::read_link(process.path().join("ns/mnt")) else {
                continue;
            };
            if namespaces.contains(&namespace) {
                continue;
            }
            let text = fs::read_to_string(process.path().join("mountinfo")).unwrap_or_default();
            mounts.extend(text.lines().filter_map(parse_mount));
            namespaces.push(namespace);
        }
        mounts
    }

    /// The device a file with this `st_dev` is on. File systems without a device of their own
    /// (btrfs) are looked up by the source they were mounted from.
    pub fn device_of_file(&self, st_dev: u64) -> Option<SysfsDevice> {
        let id = DevId::from_raw(st_dev);
        if let Some(device) = self.block_device(id) {
            return Some(device);
        }
        let mount = self.mounts().into_iter().find(|mount| mount.id == id)?;
        let source = rustix::fs::stat(mount.source.as_str()).ok()?;
        let is_block = FileType::from_raw_mode(source.st_mode) == FileType::BlockDevice;
        is_block.then(|| self.block_device(DevId::from_raw(source.st_rdev)))?
    }

    /// Whether this machine is itself virtual.
    fn hypervisor(&self) -> bool {
        let flag = |line: &str| line.starts_with("flags") && line.contains(" hypervisor");
        self.sys.join("hypervisor/type").exists()
            || fs::read_to_string(self.proc.join("cpuinfo"))
                .is_ok_and(|text| text.lines().take(64).any(flag))
    }
}

impl SysfsDevice {
    /// A file below the whole disk's directory, trimmed; `None` when absent or empty.
    pub(super) fn read(&self, file: &str) -> Option<String> {
        let bytes = fs::read(self.disk.join(file)).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// The whole disk's name.
    pub fn disk_name(&self) -> String {
        let name = self.disk.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Bytes of this device or partition.
    pub fn capacity(&self) -> Option<u64> {
        let sectors = fs::read_to_string(self.dir.join("size")).ok()?;
        Some(sectors.trim().parse::<u64>().ok()? * 512)
    }

    /// The file or device that a loop device is on, as the kernel names it.
    pub fn backing_file(&self) -> Option<String> {
        self.read("loop/backing_file")
    }

    /// The drive's serial number, wherever the kernel or udev has it.
    pub fn serial(&self, system: &SystemPaths) -> Option<String> {
        self.read("device/serial")
            .or_else(|| self.read("serial"))
            .or_else(|| self.scsi_serial())
            .or_else(|| self.udev_serial(system))
    }

    /// VPD page 80h: four bytes of header, then the serial number (SPC-4, 7.8.15).
    fn scsi_serial(&self) -> Option<String> {
        let page = fs::read(self.disk.join("device/vpd_pg80")).ok()?;
        let text = String::from_utf8_lossy(page.get(4..)?);
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn udev_serial(&self, system: &SystemPaths) -> Option<String> {
        let id = self.read("dev")?;
        let text = fs::read_to_string(system.udev.join(format!("b{id}"))).ok()?;
        let find = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        find("E:ID_SERIAL_SHORT=")
            .or_else(|| find("E:ID_SCSI_SERIAL="))
            .map(str::to_owned)
    }

    /// A number that the kernel has of the whole disk's queue, such as `max_hw_sectors_kb`.
    pub fn queue(&self, name: &str) -> Option<u64> {
        self.read(&format!("queue/{name}"))?.parse().ok()
    }

    fn model(&self) -> Option<String> {
        let model = self.read("device/model")?;
        match self.read("device/vendor") {
            // libata says ATA, virtio and NVMe give a PCI number: neither names the maker.
            Some(vendor) if vendor != "ATA" && !vendor.starts_with("0x") => {
                Some(format!("{vendor} {model}"))
            }
            _ => Some(model),
        }
    }

    /// How it is attached, from its name and its place in the device tree.
    pub fn interface(&self) -> &'static str {
        const BY_NAME: [(&str, &str); 8] = [
            ("nvme", "nvme"),
            ("loop", "loop"),
            ("dm-", "device mapper"),
            ("md", "md"),
            ("mmcblk", "mmc"),
            ("zram", "memory"),
            ("ram", "memory"),
            ("nbd", "network"),
        ];
        const BY_PLACE: [(&str, &str); 7] = [
            ("/virtio", "virtio"),
            ("/vbd-", "xen"),
            ("/usb", "usb"),
            ("/ata", "sata"),
            ("/pmem", "persistent memory"),
            ("/session", "iscsi"),
            ("/host", "scsi"),
        ];
        let disk = self.disk_name();
        let place = self.disk.to_string_lossy();
        let name = BY_NAME.iter().find(|(start, _)| disk.starts_with(start));
        let row = name.or_else(|| BY_PLACE.iter().find(|(part, _)| place.contains(part)));
        row.map_or("unknown", |(_, interface)| interface)
    }

    /// Opens the whole disk's counters.
    pub fn counters(&self) -> Option<DeviceCounters> {
        DeviceCounters::open(&self.disk.join("stat"))
    }

    /// Fills in the properties of the drive that sysfs has.
    pub fn describe(&self, system: &SystemPaths, facts: &mut TargetFacts) {
        facts.model = self.model();
        facts.serial = self.serial(system);
        facts.interface = Some(self.interface().to_owned());
        facts.write_cache = self.read("queue/write_cache");
        facts.fua = self.read("queue/fua").map(|value| value == "1");
        facts.rotational = self.read("queue/rotational").map(|value| value == "1");
        let block = self.queue("logical_block_size");
        if let Some(bytes) = block.and_then(|bytes| bytes.try_into().ok()) {
            facts.block_size = bytes;
        }
        let virtual_disk = matches!(facts.interface.as_deref(), Some("virtio" | "xen"));
        let virtual_machine = system.hypervisor();
        facts.virtualised = Some(virtual_disk || virtual_machine);
        if virtual_machine && !virtual_disk {
            facts.notes.push(String::from(
                "this is a virtual machine; whether the drive is passed through cannot be seen",
            ));
        }
        if let Some(backing) = self.backing_file() {
            facts.notes.push(format!("a loop device on {backing}"));
        }
        let below = fs::read_dir(self.disk.join("slaves")).ok();
        let below: Vec<String> = below
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        if !below.is_empty() {
            facts.notes.push(format!(
                "a stacked device on {}: its cache setting need not be theirs",
                below.join(", ")
            ));
        }
    }
}

/// `36 35 98:0 /root /path/of/mount options - type source options`, with octal escapes.
fn parse_mount(line: &str) -> Option<MountInfoEntry> {
    let (mount, source) = line.split_once(" - ")?;
    let mut mount_fields = mount.split(' ').skip(2);
    let id = DevId::parse(mount_fields.next()?)?;
    let point = unescape(mount_fields.nth(1)?);
    let of_mount = mount_fields.next()?.split(',');
    let mut source_fields = source.split(' ');
    let kind = source_fields.next()?.to_owned();
    let source = unescape(source_fields.next()?);
    let of_file_system = source_fields.next().unwrap_or_default().split(',');
    let options: BTreeSet<&str> = of_mount.chain(of_file_system).collect();
    Some(MountInfoEntry {
        id,
        point,
        kind,
        source,
        options: options.into_iter().map(str::to_owned).collect(),
    })
}

/// Undoes `\040` and its like.
pub(super) fn unescape(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        let octal = bytes.get(position + 1..position + 4).and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok()?;
            u8::from_str_radix(digits, 8).ok()
        });
        match octal {
            Some(byte) if bytes[position] == b'\\' => {
                out.push(byte);
                position += 4;
            }
            _ => {
                out.push(bytes[position]);
                position += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// `/sys/block/X/stat`, relative to when it was opened. Reading takes some microseconds.
///
/// The kernel counts a flush that stands alone (fsync, or what a file system sends after an
/// RWF_DSYNC write) as a write without data, and once more among the flushes; the flush that
/// belongs to a durable write on a bare device without FUA only among the flushes (measured on
/// Linux 6.18, virtio: 2,048 writes to an ext4 file, each with fdatasync or RWF_DSYNC, count as
/// 4,100 to 4,200 writes and 2,048 flushes). `writes` here leaves those that stood alone out.
/// Flushes that the kernel merged count once.
#[derive(Debug)]
pub struct DeviceCounters {
    stat: File,
    opened: [u64; 17],
}

impl DeviceCounters {
    /// Opens a `stat` file; `None` when it cannot be read.
    pub fn open(path: &Path) -> Option<DeviceCounters> {
        let stat = File::open(path).ok()?;
        let opened = read_stat(&stat)?;
        Some(DeviceCounters { stat, opened })
    }

    /// What reached the device since; at most `alone` of the flushes stood alone.
    pub fn read(&self, alone: u64) -> Counters {
        let Some(current) = read_stat(&self.stat) else {
            return Counters::default();
        };
        // Fields are numbered from 1 in the kernel's documentation.
        let since = |field: usize| current[field - 1].wrapping_sub(self.opened[field - 1]);
        Counters {
            reads: Some(since(1)),
            writes: Some(since(5).saturating_sub(alone.min(since(16)))),
            fua_writes: None,
            flushes: Some(since(16)),
            trims: Some(since(12)),
            host_bytes_written: Some(since(7) * 512),
            nand_bytes_written: None,
            more: Vec::new(),
        }
    }
}

/// All 17 fields (Linux 5.5 and later).
fn read_stat(stat: &File) -> Option<[u64; 17]> {
    let mut buffer = [0; 512];
    let len = stat.read_at(&mut buffer, 0).ok()?;
    let text = std::str::from_utf8(&buffer[..len]).ok()?;
    let mut fields = [0; 17];
    let mut words = text.split_ascii_whitespace();
    for field in &mut fields {
        *field = words.next()?.parse().ok()?;
    }
    Some(fields)
}

/// Describes the drive underneath an open file or block device, and opens its counters.
pub fn describe(
    system: &SystemPaths,
    stat: &Stat,
    facts: &mut TargetFacts,
) -> Option<DeviceCounters> {
    let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    let device = if is_device {
        system.block_device(DevId::from_raw(stat.st_rdev))
    } else {
        let id = DevId::from_raw(stat.st_dev);
        let mount = system.mounts().into_iter().rfind(|mount| mount.id == id);
        facts.file_system = mount.map(|mount| mount.kind);
        system.device_of_file(stat.st_dev)
    };
    let device = device?;
    device.describe(system, facts);
    facts.notes.push(format!(
        "device counters are of the whole of {}, whatever else uses it, after the kernel merged \
         requests; a flush that stands alone also counts as a write; FUA writes are not counted \
         apart",
        device.disk_name()
    ));
    device.counters()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TargetKind;

    fn put(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A SATA disk with one partition, as sysfs shows it.
    fn sata() -> (tempfile::TempDir, SystemPaths) {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path().join("sys");
        let disk = sys.join("devices/pci0/ata1/host0/target0/0:0:0:0/block/sda");
        put(disk.join("device/model"), "Samsung SSD 860\n");
        put(disk.join("device/vendor"), "ATA     \n");
        put(disk.join("device/vpd_pg80"), "\0\u{1}\0\u{8}  S3Z8NB0  ");
        put(disk.join("queue/write_cache"), "write back\n");
        put(disk.join("queue/fua"), "0\n");
        put(disk.join("queue/rotational"), "0\n");
        put(disk.join("queue/logical_block_size"), "4096\n");
        put(disk.join("sda1/partition"), "1\n");
        put(disk.join("sda1/size"), "2048\n");
        fs::create_dir_all(sys.join("dev/block")).unwrap();
        std::os::unix::fs::symlink(&disk, sys.join("dev/block/8:0")).unwrap();
        std::os::unix::fs::symlink(disk.join("sda1"), sys.join("dev/block/8:1")).unwrap();
        let system = SystemPaths {
            sys,
            proc: root.path().join("proc"),
            udev: root.path().join("udev"),
        };
        put(system.proc.join("cpuinfo"), "flags\t\t: fpu vme\n");
        (root, system)
    }

    #[test]
    fn a_partition_tells_of_its_disk() {
        let (_root, system) = sata();
        let device = system.block_device(DevId { major: 8, minor: 1 }).unwrap();
        assert_eq!(
            (device.name.as_str(), device.capacity()),
            ("sda1", Some(1 << 20))
        );
        let mut facts = TargetFacts::unknown(String::from("sda1"), TargetKind::BlockDevice);
        device.describe(&system, &mut facts);
        assert_eq!(facts.model.as_deref(), Some("Samsung SSD 860"));
        assert_eq!(facts.serial.as_deref(), Some("S3Z8NB0"));
        assert_eq!(facts.interface.as_deref(), Some("sata"));
        assert_eq!(facts.write_cache.as_deref(), Some("write back"));
        assert_eq!((facts.fua, facts.rotational), (Some(false), Some(false)));
        assert_eq!((facts.block_size, facts.virtualised), (4096, Some(false)));
    }

    #[test]
    fn a_virtual_machine_is_seen_by_its_processor() {
        let (_root, system) = sata();
        put(
            system.proc.join("cpuinfo"),
            "flags\t\t: fpu hypervisor lahf\n",
        );
        let device = system.block_device(DevId { major: 8, minor: 0 }).unwrap();
        let mut facts = TargetFacts::unknown(String::new(), TargetKind::BlockDevice);
        device.describe(&system, &mut facts);
        assert_eq!(facts.virtualised, Some(true));
    }

    #[test]
    fn mounts_are_read_with_their_escapes() {
        let line = r"36 35 8:1 / /srv/a\040b rw,noatime shared:1 master:2 - ext4 /dev/sda1 rw";
        let mount = parse_mount(line).unwrap();
        assert_eq!(mount.point, "/srv/a b");
        assert_eq!(
            (mount.kind.as_str(), mount.source.as_str()),
            ("ext4", "/dev/sda1")
        );
        assert_eq!(mount.id, DevId { major: 8, minor: 1 });
    }

    #[test]
    fn counters_are_relative_and_flushes_are_field_16() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("stat");
        fs::write(&path, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n").unwrap();
        let counters = DeviceCounters::open(&path).unwrap();
        fs::write(&path, "2 2 3 4 7 6 10 8 9 10 11 16 13 14 15 21 17\n").unwrap();
        let read = counters.read(0);
        assert_eq!(
            (read.reads, read.writes, read.flushes),
            (Some(1), Some(2), Some(5))
        );
        assert_eq!(
            counters.read(1).writes,
            Some(1),
            "one of the flushes stood alone"
        );
        assert_eq!(
            (read.trims, read.host_bytes_written),
            (Some(4), Some(3 * 512))
        );
    }
}
