//! Queries to an NVMe generic device before it is used: two calls that take memory by address.
//!
//! Source: Linux `include/uapi/linux/nvme_ioctl.h`.

use super::command::{IDENTIFY, IDENTIFY_BYTES, UringNvmeCommand};
use rustix::io::Result as SystemResult;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use std::ffi::c_void;
use std::fs::File;

/// `NVME_IOCTL_ID`: the number of the namespace.
const ID: Opcode = opcode::none(b'N', 0x40);
/// `NVME_IOCTL_ADMIN_CMD`.
const ADMIN: Opcode = opcode::read_write::<UringNvmeCommand>(b'N', 0x41);
/// The number of the namespace behind an NVMe generic device or its block device.
///
/// # Errors
/// What the system says, of a device that is neither too.
pub(super) fn namespace_id(device: &File) -> SystemResult<u32> {
    // SAFETY: the call takes no memory, and a device that does not know it refuses it.
    unsafe { ioctl(device, NamespaceId) }
}

/// Identify Namespace of `nsid`: an NVMe status, 0 for success, and the drive's answer.
///
/// # Errors
/// What the system says, above all that commands are not allowed.
pub(super) fn identify(device: &File, nsid: u32) -> SystemResult<(u16, Box<[u8; IDENTIFY_BYTES]>)> {
    let mut answer = Box::new([0; IDENTIFY_BYTES]);
    // SAFETY: NVMe's driver takes the command as `Identify` describes it; a device that does not
    // know the call refuses it.
    let status = unsafe { ioctl(device, Identify::namespace(nsid, &mut answer)) }?;
    Ok((status, answer))
}

/// Asks for the number of the namespace.
struct NamespaceId;

// SAFETY: `NVME_IOCTL_ID` takes no memory and returns a number.
unsafe impl Ioctl for NamespaceId {
    type Output = u32;
    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        ID
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> SystemResult<u32> {
        Ok(out as u32)
    }
}

/// Asks what the namespace is: Identify with CNS 0. The answer is an NVMe status, 0 for success.
struct Identify<'a> {
    command: UringNvmeCommand,
    answer: &'a mut [u8; IDENTIFY_BYTES],
}

impl Identify<'_> {
    /// Of namespace `nsid`; the drive fills `answer`.
    fn namespace(nsid: u32, answer: &mut [u8; IDENTIFY_BYTES]) -> Identify<'_> {
        Identify {
            command: UringNvmeCommand {
                opcode: IDENTIFY,
                nsid,
                data_len: IDENTIFY_BYTES as u32,
                ..UringNvmeCommand::default()
            },
            answer,
        }
    }
}

// SAFETY: `NVME_IOCTL_ADMIN_CMD` takes a `struct nvme_passthru_cmd`, which `NvmeCommand` is, and
// writes its last field and `data_len` bytes at `addr`, which are the borrowed answer.
unsafe impl Ioctl for Identify<'_> {
    type Output = u16;
    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        ADMIN
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.command.addr = self.answer.as_mut_ptr() as u64;
        (&raw mut self.command).cast()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> SystemResult<u16> {
        Ok(out as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_have_the_kernels_numbers() {
        assert_eq!((ID, ADMIN), (0x4e40, 0xc048_4e41));
        let mut answer = [0; IDENTIFY_BYTES];
        let mut call = Identify::namespace(5, &mut answer);
        assert!(!call.as_ptr().is_null());
        let command = &call.command;
        assert_eq!((command.opcode, command.nsid, command.cdw10), (6, 5, 0));
        assert_eq!(command.data_len, 4096);
        assert_eq!(command.addr, call.answer.as_ptr() as u64);
    }

    #[test]
    fn what_is_no_namespace_refuses_to_say_its_number() {
        let null = File::open("/dev/null").unwrap();
        assert!(namespace_id(&null).is_err());
        assert!(identify(&null, 1).is_err());
    }
}
