//! What a command that failed says: an errno of the system, or the status of an NVMe drive.
//!
//! Commands that an NVMe drive is given directly are answered by the drive. Its status travels in
//! [`super::Done::errno`], above every errno. Names: NVM Express Base Specification 2.0, 3.3.3.2.1
//! (figures 93 to 98), NVM Command Set Specification 1.0, 3.1.2, and Zoned Namespace Command Set
//! Specification 1.1, 3.1.

use std::{error, fmt, io};

/// Above every errno, which are below 4096.
const ABOVE_ERRNO: i32 = 1 << 16;
/// Status code type, 3 bits, and status code, 8 bits.
const CODE: u16 = 0x7ff;

/// The status of an NVMe completion, without its phase bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NvmeStatus(pub u16);

impl NvmeStatus {
    /// The status in a [`super::Done::errno`], if there is one.
    pub fn in_errno(errno: i32) -> Option<NvmeStatus> {
        let status = errno.checked_sub(ABOVE_ERRNO)?;
        u16::try_from(status).ok().map(NvmeStatus)
    }

    /// Status code type: 0 generic, 1 of the command, 2 media and data, 3 path, 7 the vendor's.
    pub fn code_type(self) -> u8 {
        (self.0 >> 8 & 7) as u8
    }

    /// Status code within its type.
    pub fn code(self) -> u8 {
        (self.0 & 0xff) as u8
    }

    /// The specification's name; `None` for what it reserves or leaves to the vendor.
    pub fn name(self) -> Option<&'static str> {
        let code = self.0 & CODE;
        let index = NAMES.binary_search_by_key(&code, |(code, _)| *code);
        index.ok().map(|index| NAMES[index].1)
    }

    /// What to do about it.
    pub fn hint(self) -> &'static str {
        match (self.code_type(), self.code()) {
            (0, 0x01 | 0x02) => {
                "the drive does not take this kind of command: look for it in \
                 `nvme id-ctrl -H` (oncs)"
            }
            (0, 0x20) | (1, 0x82) => "see `nvme get-feature -f 0x84 -H` (write protection)",
            (0, 0x80 | 0x81) => "the namespace is smaller than the region: see `nvme id-ns`",
            (0, 0x83) => "another host holds a reservation: see `nvme resv-report`",
            (2, _) => {
                "the medium failed, not the path: see `nvme smart-log` and `nvme error-log` of the \
                 drive"
            }
            _ => "the drive itself answered so: see `nvme error-log` of it",
        }
    }
}

impl fmt::Display for NvmeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match (self.name(), self.code_type()) {
            (Some(name), _) => name,
            (None, 7) => "vendor specific",
            (None, _) => "reserved",
        };
        let (code_type, code) = (self.code_type(), self.code());
        write!(f, "NVMe status {code_type:x}h/{code:02x}h, {name}")
    }
}

impl error::Error for NvmeStatus {}

/// An NVMe status, not 0, as a [`super::Done::errno`].
pub fn errno_of(status: u16) -> i32 {
    ABOVE_ERRNO + i32::from(status)
}

/// What a [`super::Done::errno`] means.
pub fn error_of(errno: i32) -> io::Error {
    match NvmeStatus::in_errno(errno) {
        Some(status) => io::Error::other(status),
        None => io::Error::from_raw_os_error(errno),
    }
}

/// By status code type and status code, in order.
static NAMES: &[(u16, &str)] = &[
    (0x000, "Successful Completion"),
    (0x001, "Invalid Command Opcode"),
    (0x002, "Invalid Field in Command"),
    (0x003, "Command ID Conflict"),
    (0x004, "Data Transfer Error"),
    (0x005, "Commands Aborted due to Power Loss Notification"),
    (0x006, "Internal Error"),
    (0x007, "Command Abort Requested"),
    (0x008, "Command Aborted due to SQ Deletion"),
    (0x009, "Command Aborted due to Failed Fused Command"),
    (0x00a, "Command Aborted due to Missing Fused Command"),
    (0x00b, "Invalid Namespace or Format"),
    (0x00c, "Command Sequence Error"),
    (0x00d, "Invalid SGL Segment Descriptor"),
    (0x00e, "Invalid Number of SGL Descriptors"),
    (0x00f, "Data SGL Length Invalid"),
    (0x010, "Metadata SGL Length Invalid"),
    (0x011, "SGL Descriptor Type Invalid"),
    (0x012, "Invalid Use of Controller Memory Buffer"),
    (0x013, "PRP Offset Invalid"),
    (0x014, "Atomic Write Unit Exceeded"),
    (0x015, "Operation Denied"),
    (0x016, "SGL Offset Invalid"),
    (0x018, "Host Identifier Inconsistent Format"),
    (0x019, "Keep Alive Timer Expired"),
    (0x01a, "Keep Alive Timeout Invalid"),
    (0x01b, "Command Aborted due to Preempt and Abort"),
    (0x01c, "Sanitize Failed"),
    (0x01d, "Sanitize In Progress"),
    (0x01e, "SGL Data Block Granularity Invalid"),
    (0x01f, "Command Not Supported for Queue in CMB"),
    (0x020, "Namespace is Write Protected"),
    (0x021, "Command Interrupted"),
    (0x022, "Transient Transport Error"),
    (0x023, "Command Prohibited by Command and Feature Lockdown"),
    (0x024, "Admin Command Media Not Ready"),
    (0x080, "LBA Out of Range"),
    (0x081, "Capacity Exceeded"),
    (0x082, "Namespace Not Ready"),
    (0x083, "Reservation Conflict"),
    (0x084, "Format In Progress"),
    (0x180, "Conflicting Attributes"),
    (0x181, "Invalid Protection Information"),
    (0x182, "Attempted Write to Read Only Range"),
    (0x183, "Command Size Limit Exceeded"),
    (0x1b8, "Zoned Boundary Error"),
    (0x1b9, "Zone Is Full"),
    (0x1ba, "Zone Is Read Only"),
    (0x1bb, "Zone Is Offline"),
    (0x1bc, "Zone Invalid Write"),
    (0x1bd, "Too Many Active Zones"),
    (0x1be, "Too Many Open Zones"),
    (0x1bf, "Invalid Zone State Transition"),
    (0x280, "Write Fault"),
    (0x281, "Unrecovered Read Error"),
    (0x282, "End-to-end Guard Check Error"),
    (0x283, "End-to-end Application Tag Check Error"),
    (0x284, "End-to-end Reference Tag Check Error"),
    (0x285, "Compare Failure"),
    (0x286, "Access Denied"),
    (0x287, "Deallocated or Unwritten Logical Block"),
    (0x288, "End-to-End Storage Tag Check Error"),
    (0x300, "Internal Path Error"),
    (0x301, "Asymmetric Access Persistent Loss"),
    (0x302, "Asymmetric Access Inaccessible"),
    (0x303, "Asymmetric Access Transition"),
    (0x360, "Controller Pathing Error"),
    (0x370, "Host Pathing Error"),
    (0x371, "Command Aborted By Host"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found() {
        assert!(NAMES.is_sorted_by(|(a, _), (b, _)| a < b));
        for (code, name) in NAMES {
            assert_eq!(NvmeStatus(*code).name(), Some(*name));
        }
        assert_eq!(NvmeStatus(0x017).name(), None, "reserved");
    }

    #[test]
    fn a_status_and_an_errno_are_told_apart() {
        let said = |errno| error_of(errno).to_string();
        // Do Not Retry and More are set beside the code.
        let out_of_range = errno_of(0x6080);
        assert_eq!(said(out_of_range), "NVMe status 0h/80h, LBA Out of Range");
        assert_eq!(
            said(errno_of(0x281)),
            "NVMe status 2h/81h, Unrecovered Read Error"
        );
        assert_eq!(said(errno_of(0x7c1)), "NVMe status 7h/c1h, vendor specific");
        assert_eq!(said(errno_of(0x0c1)), "NVMe status 0h/c1h, reserved");
        for errno in [1, 5, 84, 4095] {
            assert_eq!(NvmeStatus::in_errno(errno), None);
            assert_eq!(error_of(errno).raw_os_error(), Some(errno));
        }
        assert_eq!(NvmeStatus::in_errno(i32::MIN), None);
        assert_eq!(NvmeStatus::in_errno(i32::MAX), None);
    }
}
