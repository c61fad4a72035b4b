//! Are commands what the specifications say? The numbers are theirs, not those of `command.rs`.

use super::*;

/// Address of a buffer that is never read.
const AT: u64 = 0x7f12_3456_7000;

/// Dwords 10 to 13.
fn dwords(nvme: &UringNvmeCommand) -> [u32; 4] {
    [nvme.cdw10, nvme.cdw11, nvme.cdw12, nvme.cdw13]
}

#[test]
fn reads_and_writes_hold_the_first_block_and_one_less_than_their_blocks() {
    // 2^40 + 8 blocks of 512 bytes in: both halves of the address are needed.
    let offset = ((1 << 40) + 8) * 512;
    let read = UringNvmeCommand::of(&Command::read(offset, 4096), 7, 9, AT);
    assert_eq!((read.opcode, read.nsid, read.flags), (0x02, 7, 0));
    assert_eq!(dwords(&read), [8, 1 << 8, 7, 0]);
    assert_eq!((read.addr, read.data_len), (AT, 4096));
    assert_eq!((read.metadata, read.metadata_len), (0, 0));
    let write = UringNvmeCommand::of(&Command::write(12 * 4096, 1 << 17), 1, 12, AT);
    assert_eq!(write.opcode, 0x01);
    assert_eq!(dwords(&write), [12, 0, 31, 0]);
    assert_eq!((write.addr, write.data_len), (AT, 1 << 17));
    assert_eq!([write.cdw2, write.cdw3, write.cdw14, write.cdw15], [0; 4]);
}

#[test]
fn force_unit_access_is_bit_30() {
    let durable = UringNvmeCommand::of(&Command::write_fua(0, 512), 1, 9, AT);
    assert_eq!(dwords(&durable), [0, 0, 0x4000_0000, 0]);
    let largest = UringNvmeCommand::of(&Command::write_fua(0, 512 << 16), 1, 9, AT);
    assert_eq!(largest.cdw12, 0x4000_ffff, "65,536 blocks");
}

#[test]
fn a_flush_has_nothing_but_the_namespace() {
    let expected = UringNvmeCommand {
        nsid: 3,
        ..UringNvmeCommand::default()
    };
    let flush = UringNvmeCommand::of(&Command::flush(), 3, 9, 0);
    assert_eq!((flush.opcode, flush), (0x00, expected));
}

#[test]
fn a_trim_deallocates_one_range_of_16_bytes() {
    let trim = Command::trim(0x0123_4567_8000, 1 << 20);
    let nvme = UringNvmeCommand::of(&trim, 1, 12, AT);
    assert_eq!(nvme.opcode, 0x09);
    assert_eq!(dwords(&nvme), [0, 4, 0, 0], "NR 0 is one range; AD");
    assert_eq!((nvme.addr, nvme.data_len), (AT, 16));
    // Context attributes, length in blocks, first block; each little endian.
    let range = DsmRange::of(&trim, 12);
    assert_eq!(
        range.0,
        [0, 0, 0, 0, 0, 1, 0, 0, 0x78, 0x56, 0x34, 0x12, 0, 0, 0, 0]
    );
    assert_eq!(align_of::<DsmRange>(), 16);
    let whole = DsmRange::of(&Command::trim(0, !511), 9);
    assert_eq!(whole.0[4..8], [0xff, 0xff, 0x7f, 0]);
}

#[test]
fn zeroes_carry_no_data() {
    let zeroes = Command {
        op: Op::WriteZeroes,
        ..Command::write(8192, 65536)
    };
    let nvme = UringNvmeCommand::of(&zeroes, 1, 9, AT);
    assert_eq!((nvme.opcode, nvme.addr, nvme.data_len), (0x08, 0, 0));
    assert_eq!(dwords(&nvme), [16, 0, 127, 0]);
}

/// `include/uapi/linux/nvme_ioctl.h`: the kernel reads these offsets, and finds the calls by these
/// numbers.
#[test]
fn the_kernel_finds_every_field_where_it_looks() {
    let nvme = UringNvmeCommand {
        opcode: 0x11,
        flags: 0x22,
        reserved: 0x3333,
        nsid: 0x4444_4444,
        metadata: 0x55,
        addr: 0x66,
        metadata_len: 0x77,
        data_len: 0x88,
        cdw10: 0x10,
        cdw12: 0x12,
        cdw15: 0x15,
        timeout_ms: 0x99,
        ..UringNvmeCommand::default()
    };
    let bytes = nvme.bytes();
    let u32_at = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((bytes[0], bytes[1], u32_at(4)), (0x11, 0x22, 0x4444_4444));
    let found = [16, 24, 32, 36, 40, 48, 60, 64].map(u32_at);
    assert_eq!(found, [0x55, 0x66, 0x77, 0x88, 0x10, 0x12, 0x15, 0x99]);
    assert_eq!(bytes[68..], [0; 12]);
    let uring = rustix::ioctl::opcode::read_write::<UringNvmeCommand>(b'N', 0x80);
    assert_eq!(u64::from(URING_IO), uring as u64);
}

/// Identify Namespace of QEMU's drive: 8 formats, the third current.
fn answer() -> [u8; IDENTIFY_BYTES] {
    let mut answer = [0; IDENTIFY_BYTES];
    answer[..8].copy_from_slice(&131_072_u64.to_le_bytes());
    (answer[25], answer[26]) = (7, 2);
    answer[128..132].copy_from_slice(&[0, 0, 9, 0]);
    answer[136..140].copy_from_slice(&[8, 0, 12, 0]);
    answer
}

#[test]
fn the_current_format_is_read() {
    let expected = NamespaceFormat {
        blocks: 131_072,
        block_shift: 12,
        metadata_bytes: 8,
        write_protected: false,
    };
    assert_eq!(NamespaceFormat::read(&answer()), Some(expected));
    let mut protected = answer();
    (protected[26], protected[99]) = (0x10, 1);
    let format = NamespaceFormat::read(&protected).unwrap();
    // Bit 4 says where metadata would be, not which format.
    assert_eq!((format.block_shift, format.metadata_bytes), (9, 0));
    assert!(format.write_protected);
    let mut many = answer();
    // Bits 6:5 are the upper ones: format 19.
    (many[26], many[128 + 4 * 19 + 2]) = (1 << 5 | 3, 13);
    assert_eq!(NamespaceFormat::read(&many).unwrap().block_shift, 13);
}

#[test]
fn nonsense_is_no_format() {
    let mut nonsense = answer();
    for shift in [0, 8, 32, 255] {
        nonsense[138] = shift;
        assert_eq!(NamespaceFormat::read(&nonsense), None, "{shift}");
    }
    assert_eq!(NamespaceFormat::read(&[0xff; IDENTIFY_BYTES]), None);
}
