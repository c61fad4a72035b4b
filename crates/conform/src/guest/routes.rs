//! Takes every route on a disk.

use super::console::Console;
use super::disk::{CommandSet, LabelledDisk};
use super::raw::{self, DmaPage};
use super::system::{MOUNT, mount_ext4, open};
use crate::route::{
    BLOCK_BYTES, BLOCK_STEP, EXT4_BYTES, ROUTES, Route, RoutePromise, RouteTarget, fill,
};
use rustix::fs::OFlags;
use rustix::io::{ReadWriteFlags, pwritev2};
use rustix::mount::{UnmountFlags, unmount};
use std::fs::File;
use std::io::IoSlice;
use std::os::unix::fs::FileExt;

/// A block of the device's own in one command, in units of 512 bytes.
const SECTORS: u32 = (BLOCK_BYTES / 512) as u32;
/// The FUA bit of an NVMe write, in dword 12.
const NVME_FUA: u32 = 1 << 30;
/// The FUA bit of a SCSI WRITE, in byte 1.
const SCSI_FUA: u8 = 1 << 3;

/// A file of the guest's file system, made before its route is taken.
const FILE: &str = "/run/mnt/file";
/// Its length in blocks before the route.
const FILE_BLOCKS: usize = 8;

/// Takes the routes one after another, each with a token of its own.
pub fn take(console: &mut Console, disk: &LabelledDisk, token: &mut u64) {
    for (number, route) in (0..).zip(ROUTES) {
        let attempt = RouteAttempt {
            disk,
            token: *token,
            offset: EXT4_BYTES + number * BLOCK_STEP,
        };
        *token += 1;
        if let Err(why) = attempt.take(console, route) {
            console.ask(&format!("none {}\t{}\t{why}", attempt.token, route.name));
        }
    }
}

struct RouteAttempt<'a> {
    disk: &'a LabelledDisk,
    token: u64,
    offset: u64,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl RouteAttempt<'_> {
    /// Takes `route`, or says why it does not exist on this disk.
    fn take(&self, console: &mut Console, route: &Route) -> Result<(), String> {
        let kind = self.disk.kind;
        let fits = match route.on {
            RouteTarget::Device | RouteTarget::Ext4 | RouteTarget::Ext4Metadata => true,
            RouteTarget::CacheSwitch => self.disk.cache_switch().is_some(),
            RouteTarget::Scsi => kind == CommandSet::Scsi,
            RouteTarget::Ata => kind == CommandSet::Ata,
            RouteTarget::Nvme => kind == CommandSet::Nvme,
        };
        if !fits {
            return Err("no such command on this disk".to_owned());
        }
        let mut page = DmaPage([0; BLOCK_BYTES]);
        fill(&mut page.0, self.token);
        match route.on {
            RouteTarget::Ext4 | RouteTarget::Ext4Metadata => {
                return self.on_ext4(console, route, &page);
            }
            RouteTarget::CacheSwitch => self.turn_cache_off()?,
            _ => {}
        }
        self.begin(console);
        self.on_device(route, &page)?;
        self.done(console, route);
        Ok(())
    }

    /// The route has answered: the host looks into the drive.
    fn done(&self, console: &mut Console, route: &Route) {
        let promised = match route.promise {
            RoutePromise::Always => "promised",
            RoutePromise::Writethrough if self.disk.is_writethrough() => "promised",
            _ => "unpromised",
        };
        console.ask(&format!("done {}\t{}\t{promised}", self.token, route.name));
    }

    /// The host counts commands from here.
    fn begin(&self, console: &mut Console) {
        console.ask(&format!("begin {}", self.token));
    }

    fn device(&self, flags: OFlags) -> Result<File, String> {
        open(&self.disk.path(), OFlags::RDWR | flags)
    }

    fn on_device(&self, route: &Route, page: &DmaPage) -> Result<(), String> {
        let (direct, at) = (OFlags::DIRECT, self.offset);
        let write = |flags| -> Result<File, String> {
            let file = self.device(flags)?;
            file.write_all_at(&page.0, at).map_err(text)?;
            Ok(file)
        };
        match route.name {
            "write" | "cache turned off, write" => write(direct).map(|_| ()),
            "write, fsync" => write(direct)?.sync_all().map_err(text),
            "write, fdatasync" => write(direct)?.sync_data().map_err(text),
            "O_DSYNC write" => write(direct | OFlags::DSYNC).map(|_| ()),
            "RWF_DSYNC write" => {
                let file = self.device(direct)?;
                let from = [IoSlice::new(&page.0)];
                let count = pwritev2(&file, &from, at, ReadWriteFlags::DSYNC).map_err(text)?;
                if count == page.0.len() {
                    Ok(())
                } else {
                    Err(format!("{count} bytes were written"))
                }
            }
            "buffered write, fsync" => write(OFlags::empty())?.sync_all().map_err(text),
            "buffered O_SYNC write" => write(OFlags::SYNC).map(|_| ()),
            "mmap, msync" => {
                let file = self.device(OFlags::empty())?;
                raw::write_mapped(&file, at, page).map_err(text)
            }
            "buffered write, sync_file_range" => {
                let file = write(OFlags::empty())?;
                raw::sync_range(&file, at, page.0.len() as u64).map_err(text)
            }
            "buffered write, BLKFLSBUF" => {
                raw::flush_buffers(&write(OFlags::empty())?).map_err(text)
            }
            _ => self.by_command(route, page),
        }
    }

    /// Routes by commands of the device's own.
    fn by_command(&self, route: &Route, page: &DmaPage) -> Result<(), String> {
        let file = self.device(OFlags::DIRECT)?;
        let sector = (self.offset / 512) as u32;
        let write = || file.write_all_at(&page.0, self.offset).map_err(text);
        match route.name {
            "SCSI WRITE with FUA" => {
                let [a, b, c, d] = sector.to_be_bytes();
                let command = [0x2a, SCSI_FUA, a, b, c, d, 0, 0, SECTORS as u8, 0];
                raw::scsi(&file, &command, Some(page)).map_err(text)
            }
            "SCSI SYNCHRONIZE CACHE" => {
                write()?;
                raw::scsi(&file, &[0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0], None).map_err(text)
            }
            "ATA WRITE DMA FUA EXT" => {
                // DMA to the device, with 48-bit addresses, the length in the sector count.
                let command = ata(0x3d, 6, 0x06, SECTORS as u8, sector);
                raw::scsi(&file, &command, Some(page)).map_err(text)
            }
            "ATA FLUSH CACHE EXT" => {
                write()?;
                raw::scsi(&file, &ata(0xea, 3, 0, 0, 0), None).map_err(text)
            }
            "NVMe write with FUA" => {
                let cdw = [sector, 0, (SECTORS - 1) | NVME_FUA];
                raw::nvme(&file, 0x01, cdw, Some(page)).map_err(text)
            }
            "NVMe flush" => {
                write()?;
                raw::nvme(&file, 0x00, [0; 3], None).map_err(text)
            }
            name => Err(format!("{name} is not known here")),
        }
    }

    fn on_ext4(&self, console: &mut Console, route: &Route, page: &DmaPage) -> Result<(), String> {
        mount_ext4(&self.disk.path())?;
        let result = self.on_mounted(console, route, page);
        if result.is_ok() {
            // Before unmounting, which makes everything durable.
            self.done(console, route);
        }
        unmount(MOUNT, UnmountFlags::empty()).map_err(text)?;
        result
    }

    fn on_mounted(
        &self,
        console: &mut Console,
        route: &Route,
        page: &DmaPage,
    ) -> Result<(), String> {
        // Blocks that are allocated and written, so that an overwrite changes no metadata.
        let before = open(FILE, OFlags::RDWR | OFlags::CREATE)?;
        before
            .write_all_at(&[1; FILE_BLOCKS * BLOCK_BYTES], 0)
            .map_err(text)?;
        before.sync_all().map_err(text)?;
        let flags = match route.name {
            "ext4: O_DSYNC overwrite" => OFlags::DIRECT | OFlags::DSYNC,
            _ => OFlags::empty(),
        };
        let at = match route.name {
            "ext4: append, fsync" => FILE_BLOCKS * BLOCK_BYTES,
            _ => BLOCK_BYTES,
        };
        let file = open(FILE, OFlags::RDWR | flags)?;
        self.begin(console);
        file.write_all_at(&page.0, at as u64).map_err(text)?;
        match route.name {
            "ext4: overwrite, fdatasync" => file.sync_data().map_err(text),
            "ext4: append, fsync" => file.sync_all().map_err(text),
            _ => Ok(()),
        }
    }

    /// Turns the write cache off, for good.
    fn turn_cache_off(&self) -> Result<(), String> {
        let switch = self.disk.cache_switch().unwrap_or_default();
        let turned = std::fs::write(&switch, "write through");
        turned.map_err(|error| format!("{switch}: {error}"))?;
        if self.disk.is_writethrough() {
            Ok(())
        } else {
            Err("the disk keeps its write cache".to_owned())
        }
    }
}

/// An ATA command as SCSI has it: ATA PASS-THROUGH (16), protocol, flags, count and address.
fn ata(command: u8, protocol: u8, flags: u8, count: u8, sector: u32) -> [u8; 16] {
    let [high, mid_high, mid, low] = sector.to_be_bytes();
    let mut cdb = [0; 16];
    cdb[0] = 0x85;
    // 48-bit.
    cdb[1] = (protocol << 1) | 1;
    cdb[2] = flags;
    cdb[6] = count;
    cdb[7] = high;
    cdb[8] = low;
    cdb[10] = mid;
    cdb[12] = mid_high;
    cdb[13] = 0x40;
    cdb[14] = command;
    cdb
}
