//! Calls that need `unsafe`: commands handed to a device as they are, and memory that is mapped.
//!
//! Every structure here is as Linux's headers have it, and lives until its call returns.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Memory that a device can read: aligned to a page.
#[repr(C, align(4096))]
pub struct DmaPage(pub [u8; 4096]);

/// `BLKFLSBUF` of `linux/fs.h`.
const BLKFLSBUF: libc::Ioctl = 0x1261;
/// `SG_IO` of `scsi/sg.h`.
const SG_IO: libc::Ioctl = 0x2285;
/// `NVME_IOCTL_ID` of `linux/nvme_ioctl.h`.
const NVME_ID: libc::Ioctl = 0x4e40;
/// `NVME_IOCTL_IO_CMD` of `linux/nvme_ioctl.h`.
const NVME_IO: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;
/// Time that a command has, in ms.
const TIMEOUT_MS: u32 = 30_000;

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct NvmeIoctlCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    addr: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    result: u32,
}

/// `struct sg_io_hdr`.
#[repr(C)]
struct SgHeader {
    interface_id: i32,
    direction: i32,
    cmd_len: u8,
    sense_max: u8,
    iovec_count: u16,
    data_len: u32,
    data: *const u8,
    command: *const u8,
    sense: *mut u8,
    timeout: u32,
    flags: u32,
    pack_id: i32,
    user: usize,
    status: u8,
    masked_status: u8,
    msg_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    resid: i32,
    duration: u32,
    info: u32,
}

const SG_NONE: i32 = -1;
const SG_TO_DEVICE: i32 = -2;

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    match result {
        -1 => Err(io::Error::last_os_error()),
        result => Ok(result),
    }
}

/// Writes back and forgets what Linux has cached of a block device.
pub fn flush_buffers(device: &File) -> io::Result<()> {
    // SAFETY: this call takes no memory.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), BLKFLSBUF, 0) }).map(|_| ())
}

/// Writes back a range of a file, and waits for that.
pub fn sync_range(file: &File, offset: u64, length: u64) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    let (offset, length) = (offset as i64, length as i64);
    // SAFETY: this call takes no memory.
    checked(unsafe { libc::sync_file_range(file.as_raw_fd(), offset, length, flags) }).map(|_| ())
}

/// Writes a page by way of mapped memory, and makes it durable with msync.
pub fn write_mapped(file: &File, offset: u64, page: &DmaPage) -> io::Result<()> {
    let (length, prot) = (page.0.len(), libc::PROT_READ | libc::PROT_WRITE);
    let descriptor = file.as_raw_fd();
    // SAFETY: a mapping of its own, of `length` bytes, which ends before this function does.
    unsafe {
        let mapping = libc::mmap(
            std::ptr::null_mut(),
            length,
            prot,
            libc::MAP_SHARED,
            descriptor,
            offset as i64,
        );
        if mapping == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        std::ptr::copy_nonoverlapping(page.0.as_ptr(), mapping.cast(), length);
        let synced = checked(libc::msync(mapping, length, libc::MS_SYNC));
        libc::munmap(mapping, length);
        synced.map(|_| ())
    }
}

/// Sends an NVMe I/O command: opcode, and dwords 10 to 12, with a page to write where it has data.
pub fn nvme(device: &File, opcode: u8, cdw: [u32; 3], page: Option<&DmaPage>) -> io::Result<()> {
    // SAFETY: this call takes no memory.
    let nsid = checked(unsafe { libc::ioctl(device.as_raw_fd(), NVME_ID) })?;
    let mut command = NvmeIoctlCommand {
        opcode,
        nsid: nsid as u32,
        addr: page.map_or(0, |page| page.0.as_ptr() as u64),
        data_len: page.map_or(0, |page| page.0.len() as u32),
        cdw10: cdw[0],
        cdw11: cdw[1],
        cdw12: cdw[2],
        timeout_ms: TIMEOUT_MS,
        ..NvmeIoctlCommand::default()
    };
    // SAFETY: `command` has the layout that the call expects; its data are `data_len` bytes of a
    // page that the device only reads.
    let status = checked(unsafe { libc::ioctl(device.as_raw_fd(), NVME_IO, &raw mut command) })?;
    match status {
        0 => Ok(()),
        status => Err(io::Error::other(format!("NVMe status {status:#x}"))),
    }
}

/// Sends a SCSI command, with a page to write where it has data.
pub fn scsi(device: &File, command: &[u8], page: Option<&DmaPage>) -> io::Result<()> {
    let mut sense = [0u8; 32];
    let mut header = SgHeader {
        interface_id: i32::from(b'S'),
        direction: if page.is_some() {
            SG_TO_DEVICE
        } else {
            SG_NONE
        },
        cmd_len: command.len() as u8,
        sense_max: sense.len() as u8,
        iovec_count: 0,
        data_len: page.map_or(0, |page| page.0.len() as u32),
        data: page.map_or(std::ptr::null(), |page| page.0.as_ptr()),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout: TIMEOUT_MS,
        flags: 0,
        pack_id: 0,
        user: 0,
        status: 0,
        masked_status: 0,
        msg_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        resid: 0,
        duration: 0,
        info: 0,
    };
    // SAFETY: `header` has the layout that the call expects; command, sense and data are as long
    // as it says and outlive the call, and the device only reads the data.
    checked(unsafe { libc::ioctl(device.as_raw_fd(), SG_IO, &raw mut header) })?;
    let is_good = header.status == 0 && header.host_status == 0;
    // ATA commands report what they did as sense data even when they succeed (driver status 8).
    if is_good {
        Ok(())
    } else {
        Err(io::Error::other(format!(
            "SCSI status {:#x}, host {:#x}, sense {:02x?}",
            header.status,
            header.host_status,
            &sense[..usize::from(header.sense_written)]
        )))
    }
}
