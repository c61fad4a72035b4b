//! The disks of the guest, as Linux shows them.

use crate::route::LABEL;
use std::io::Read;
use std::time::Duration;

/// How long disks may take to appear.
pub const DISKS_WITHIN: Duration = Duration::from_secs(60);
/// Pause between two looks.
pub const DISKS_PAUSE: Duration = Duration::from_millis(100);

/// The command set of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSet {
    /// No command set that a program can use.
    Virtio,
    /// Likewise: a device that a layer makes.
    Layer,
    /// SCSI.
    Scsi,
    /// ATA, which Linux shows as SCSI.
    Ata,
    /// NVMe.
    Nvme,
}

/// A disk with our label.
pub struct LabelledDisk {
    /// The name in the label.
    pub name: String,
    /// The name that Linux gives it.
    pub device: String,
    pub kind: CommandSet,
}

impl LabelledDisk {
    /// The device file.
    pub fn path(&self) -> String {
        format!("/dev/{}", self.device)
    }

    /// Whether the device announces that it has no volatile write cache.
    pub fn is_writethrough(&self) -> bool {
        self.of_queue("write_cache") == "write through"
    }

    /// What the host is to know.
    pub fn describe(&self) -> String {
        let cache = if self.is_writethrough() {
            "writethrough"
        } else {
            "writeback"
        };
        let LabelledDisk { name, device, kind } = self;
        let fua = self.of_queue("fua");
        format!("{name}\t{device}\t{kind:?}\t{cache}\t{fua}")
    }

    fn of_queue(&self, name: &str) -> String {
        let path = format!("/sys/block/{}/queue/{name}", self.device);
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.trim().to_owned()
    }

    /// The file with which the guest turns the write cache off, if there is one.
    pub fn cache_switch(&self) -> Option<String> {
        let block = format!("/sys/block/{}", self.device);
        let own = format!("{block}/cache_type");
        if std::path::Path::new(&own).exists() {
            return Some(own);
        }
        let scsi_disks = std::fs::read_dir(format!("{block}/device/scsi_disk")).ok()?;
        let first = scsi_disks.flatten().next()?.path();
        Some(format!("{}/cache_type", first.display()))
    }
}

/// The names of all block devices except RAM disks and loop devices, sorted.
pub fn all() -> Vec<String> {
    let Ok(found) = std::fs::read_dir("/sys/block") else {
        return Vec::new();
    };
    let names = found.flatten();
    let mut names: Vec<String> = names
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with("ram") && !name.starts_with("loop"))
        .collect();
    names.sort();
    names
}

/// The disks that bear our label.
pub fn labelled() -> Vec<LabelledDisk> {
    let disks = all().into_iter().filter_map(|device| {
        let mut sector = [0; 512];
        let mut file = std::fs::File::open(format!("/dev/{device}")).ok()?;
        file.read_exact(&mut sector).ok()?;
        let number = sector.strip_prefix(LABEL.as_bytes())?;
        let end = number.iter().position(|byte| *byte == b'\n')?;
        let name = String::from_utf8(number[..end].to_vec()).ok()?;
        let kind = kind(&device);
        Some(LabelledDisk { name, device, kind })
    });
    disks.collect()
}

fn kind(device: &str) -> CommandSet {
    let vendor = std::fs::read_to_string(format!("/sys/block/{device}/device/vendor"));
    match device.as_bytes() {
        [b'n', b'v', b'm', b'e', ..] => CommandSet::Nvme,
        [b's', b'd', ..] if vendor.is_ok_and(|name| name.trim() == "ATA") => CommandSet::Ata,
        [b's', b'd', ..] => CommandSet::Scsi,
        [b'v', b'd', ..] => CommandSet::Virtio,
        _ => CommandSet::Layer,
    }
}
