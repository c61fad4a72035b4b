//! NVMe commands as the kernel takes them, and as the drive gets them.
//!
//! Sources: NVM Express NVM Command Set Specification 1.0, 3.2 (Dataset Management, Flush, Read,
//! Write, Write Zeroes); Base Specification 2.0, 5.17 (Identify); Linux
//! `include/uapi/linux/nvme_ioctl.h`.

use ssdlab_ssd::{Command, Op};

/// Opcodes of the NVM command set.
const FLUSH: u8 = 0x00;
const WRITE: u8 = 0x01;
const READ: u8 = 0x02;
const WRITE_ZEROES: u8 = 0x08;
const DATASET_MANAGEMENT: u8 = 0x09;
/// Opcode of the admin command set.
pub(super) const IDENTIFY: u8 = 0x06;
/// Dword 12 of Read, Write and Write Zeroes: Force Unit Access.
const FUA: u32 = 1 << 30;
/// Dword 11 of Dataset Management: Attribute - Deallocate.
const DEALLOCATE: u32 = 1 << 2;
/// Logical blocks of one Read, Write or Write Zeroes: the field holds one less in 16 bits.
pub(super) const BLOCKS_MAX: u32 = 1 << 16;
/// Bytes of the answer to Identify.
pub(super) const IDENTIFY_BYTES: usize = 4096;

/// `NVME_URING_CMD_IO`, as an entry of a ring has it.
pub(super) const URING_IO: u32 = 0xc048_4e80;

/// `struct nvme_uring_cmd`, which is `struct nvme_passthru_cmd` too.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct UringNvmeCommand {
    pub opcode: u8,
    pub flags: u8,
    pub reserved: u16,
    pub nsid: u32,
    pub cdw2: u32,
    pub cdw3: u32,
    pub metadata: u64,
    pub addr: u64,
    pub metadata_len: u32,
    pub data_len: u32,
    pub cdw10: u32,
    pub cdw11: u32,
    pub cdw12: u32,
    pub cdw13: u32,
    pub cdw14: u32,
    pub cdw15: u32,
    /// 0: the kernel's own.
    pub timeout_ms: u32,
    pub result: u32,
}

const _: () = assert!(size_of::<UringNvmeCommand>() == 72);

impl UringNvmeCommand {
    /// `command` to a namespace whose blocks have `1 << block_shift` bytes. `address` is that of
    /// the data of a read or write, and of a trim that of its [`DsmRange`].
    #[inline]
    pub fn of(command: &Command, nsid: u32, block_shift: u32, address: u64) -> UringNvmeCommand {
        let mut nvme = UringNvmeCommand {
            opcode: match command.op {
                Op::Flush => FLUSH,
                Op::Write => WRITE,
                Op::Read => READ,
                Op::WriteZeroes => WRITE_ZEROES,
                Op::Trim => DATASET_MANAGEMENT,
            },
            nsid,
            ..UringNvmeCommand::default()
        };
        match command.op {
            Op::Flush => {}
            Op::Trim => {
                // One range: dword 10 holds one less.
                nvme.cdw11 = DEALLOCATE;
                (nvme.addr, nvme.data_len) = (address, size_of::<DsmRange>() as u32);
            }
            Op::Read | Op::Write | Op::WriteZeroes => {
                let first = command.offset >> block_shift;
                let blocks = command.len >> block_shift;
                (nvme.cdw10, nvme.cdw11) = (first as u32, (first >> 32) as u32);
                nvme.cdw12 = blocks.wrapping_sub(1) & (BLOCKS_MAX - 1);
                if command.fua {
                    nvme.cdw12 |= FUA;
                }
                if command.op != Op::WriteZeroes {
                    (nvme.addr, nvme.data_len) = (address, command.len);
                }
            }
        }
        nvme
    }

    /// As an entry of a ring carries it.
    #[inline]
    pub fn bytes(&self) -> [u8; 80] {
        let mut bytes = [0; 80];
        let long = [self.metadata, self.addr];
        let words = [
            self.metadata_len,
            self.data_len,
            self.cdw10,
            self.cdw11,
            self.cdw12,
            self.cdw13,
            self.cdw14,
            self.cdw15,
            self.timeout_ms,
            self.result,
        ];
        (bytes[0], bytes[1]) = (self.opcode, self.flags);
        bytes[2..4].copy_from_slice(&self.reserved.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.nsid.to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.cdw2.to_ne_bytes());
        bytes[12..16].copy_from_slice(&self.cdw3.to_ne_bytes());
        for (to, from) in bytes[16..32].chunks_exact_mut(8).zip(long) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        for (to, from) in bytes[32..72].chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&from.to_ne_bytes());
        }
        bytes
    }
}

/// The range of a Dataset Management command, as the drive reads it from memory. It is aligned so
/// that it never crosses a page.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DsmRange(pub [u8; 16]);

impl DsmRange {
    /// That of a trim, on blocks of `1 << block_shift` bytes.
    #[inline]
    pub fn of(trim: &Command, block_shift: u32) -> DsmRange {
        let mut range = [0; 16];
        // Bytes 0 to 3 are attributes for other uses than deallocation.
        range[4..8].copy_from_slice(&(trim.len >> block_shift).to_le_bytes());
        range[8..].copy_from_slice(&(trim.offset >> block_shift).to_le_bytes());
        DsmRange(range)
    }
}

/// What Identify Namespace says of the format (NVM Command Set Specification 1.0, figure 97).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamespaceFormat {
    /// NSZE: logical blocks.
    pub blocks: u64,
    /// LBADS: log2 of the bytes of a block.
    pub block_shift: u32,
    /// MS: bytes of metadata with each block.
    pub metadata_bytes: u16,
    /// NSATTR bit 0: the namespace refuses writes.
    pub write_protected: bool,
}

impl NamespaceFormat {
    /// Reads the answer; `None` if its current format is not valid.
    pub fn read(answer: &[u8; IDENTIFY_BYTES]) -> Option<NamespaceFormat> {
        let flbas = answer[26];
        // Bits 6:5 extend the number in bits 3:0; without them they are zero.
        let number = usize::from(flbas & 0xf | (flbas >> 5 & 3) << 4);
        let descriptor = 128 + 4 * number;
        let block_shift = u32::from(answer[descriptor + 2]);
        let mut blocks = [0; 8];
        blocks.copy_from_slice(&answer[..8]);
        (9..=31).contains(&block_shift).then_some(NamespaceFormat {
            blocks: u64::from_le_bytes(blocks),
            block_shift,
            metadata_bytes: u16::from_le_bytes([answer[descriptor], answer[descriptor + 1]]),
            write_protected: answer[99] & 1 == 1,
        })
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
