//! Is a target that holds anything never taken for blank, whatever holds it?

use super::tests::{Loop, destroying, identity, nothing_typed, typed};
use super::*;
use std::os::unix::fs::FileExt;

const LEN: u64 = 256 << 20;

/// A file of `LEN` bytes that holds `bytes` at `offset`, counted from the end when negative.
fn holding(offset: i64, bytes: &[u8]) -> File {
    let file = tempfile::tempfile().unwrap();
    file.set_len(LEN).unwrap();
    let offset = if offset < 0 {
        LEN - offset.unsigned_abs()
    } else {
        offset as u64
    };
    file.write_all_at(bytes, offset).unwrap();
    file
}

/// Magic numbers of formats, each where its format has it (util-linux `superblocks/*.c`,
/// `partitions/*.c`, magic(5), the formats' own headers). A magic number alone is less than a whole
/// superblock: libblkid names few of these, and all must count as data.
const KINDS: [(&str, i64, &[u8]); 62] = [
    ("ext4", 0x438, b"\x53\xef"),
    (
        "ext4 whose first superblock is gone",
        0x800_0038,
        b"\x53\xef",
    ),
    ("XFS", 0, b"XFSB"),
    ("XFS with a zeroed first sector", 512, b"XAGF\0\0\0\x01"),
    ("XFS log", 0, b"\xfe\xed\xba\xbe"),
    ("btrfs", 0x1_0040, b"_BHRfS_M"),
    (
        "btrfs whose first superblock is gone",
        0x400_0040,
        b"_BHRfS_M",
    ),
    ("f2fs", 0x400, b"\x10\x20\xf5\xf2"),
    ("bcache", 0x1018, b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca"),
    ("bcachefs", 0x1018, b"\xc6\x85\x73\xf6\x66\xce\x90\xa9"),
    ("ReiserFS", 0x1_0034, b"ReIsEr2Fs"),
    ("JFS", 0x8000, b"JFS1"),
    ("NILFS2", 0x406, b"\x34\x34"),
    ("EROFS", 0x400, b"\xe2\xe1\xf5\xe0"),
    ("squashfs", 0, b"hsqs"),
    ("GFS2", 0x1_0000, b"\x01\x16\x19\x70"),
    ("OCFS2", 0x2000, b"OCFSV2"),
    ("VMFS", 0x10_0000, b"\x0d\xd0\x01\xc0"),
    ("VxFS", 0x400, b"\xa5\x01\xfc\xf5"),
    ("APFS", 32, b"NXSB"),
    ("HFS+", 0x400, b"H+\0\x04"),
    ("UFS2", 0x1_055c, b"\x19\x01\x54\x19"),
    ("ISO 9660", 0x8001, b"CD001"),
    ("UDF", 0x8001, b"BEA01"),
    ("NTFS", 3, b"NTFS    "),
    ("ReFS", 3, b"ReFS\0\0\0\0"),
    ("exFAT", 3, b"EXFAT   "),
    ("FAT16", 0x36, b"FAT16   "),
    ("FAT32", 0x52, b"FAT32   "),
    ("BitLocker", 3, b"-FVE-FS-"),
    ("Minix", 0x410, b"\x7f\x13"),
    ("ZFS", 0x2_0000, b"\x0c\xb1\xba\0\0\0\0\0"),
    (
        "ZFS, only its last label",
        -0x2_0000,
        b"\x0c\xb1\xba\0\0\0\0\0",
    ),
    ("UBI", 0, b"UBI#\x01"),
    ("UBIFS", 0, b"\x31\x18\x10\x06"),
    ("swap", 4086, b"SWAPSPACE2"),
    ("suspended system", 4086, b"S1SUSPEND"),
    ("LVM2", 0x218, b"LVM2 001"),
    ("LVM1", 0, b"HM\x01\0"),
    ("LUKS1", 0, b"LUKS\xba\xbe\0\x01"),
    ("LUKS2, second header", 0x4000, b"SKUL\xba\xbe\0\x02"),
    ("dm-verity", 0, b"verity\0\0\x01\0\0\0"),
    ("dm-integrity", 0, b"integrt\0\x01"),
    ("dm-cache", 0x1000, b"\x31\x82\x61\x09"),
    ("VDO", 0, b"dmvdo001"),
    ("Stratis", 0x204, b"!Stra0tis\x86\xff\x02^\x41rh"),
    ("md 1.2", 4096, b"\xfc\x4e\x2b\xa9"),
    ("md 1.0", -8192, b"\xfc\x4e\x2b\xa9"),
    ("md 0.90", -0x1_0000, b"\xfc\x4e\x2b\xa9"),
    ("DRBD", -4068, b"\x83\x74\x02\x6b"),
    ("DDF RAID", -512, b"\xde\x11\xde\x11"),
    ("Oracle ASM", 32, b"ORCLDISK"),
    ("Ceph BlueStore", 0, b"bluestore block device"),
    ("GPT", 512, b"EFI PART"),
    ("GPT, only its copy", -512, b"EFI PART"),
    ("MBR", 510, b"\x55\xaa"),
    ("qcow2", 0, b"QFI\xfb\0\0\0\x03"),
    ("VHDX", 0, b"vhdxfile"),
    ("VHD, fixed size", -512, b"conectix"),
    ("VMDK", 0, b"KDMV"),
    ("SQLite", 0, b"SQLite format 3\0"),
    ("text", 0, b"Minutes of the meeting\n"),
];

#[test]
fn every_kind_of_content_needs_a_word_with_and_without_a_serial_number() {
    let size = LEN.to_string();
    for (kind, offset, bytes) in KINDS {
        let contents = TargetContents::look(&holding(offset, bytes), LEN).unwrap();
        assert!(!contents.is_blank(), "{kind}");
        for (serial, word) in [(Some("S1"), typed("S1")), (None, destroying(&size))] {
            let mut device = identity(serial);
            device.bytes = LEN;
            let ask = |options: &OpenOptions| {
                device.confirm("/dev/loop3", &contents, false, &options.write)
            };
            for silent in [nothing_typed(), typed("loop3"), typed("yes")] {
                let error = ask(&silent).expect_err(kind).to_string();
                assert!(error.contains("it holds "), "{error}");
            }
            assert!(ask(&word).is_ok(), "{kind}");
        }
    }
}

#[test]
fn contents_are_described_by_what_they_are() {
    let described = |offset, bytes: &[u8]| {
        let contents = TargetContents::look(&holding(offset, bytes), LEN).unwrap();
        contents.to_string()
    };
    for (bytes, name) in [
        (&b"QFI\xfb\0\0\0\x03"[..], "qcow2 image"),
        (b"vhdxfile", "VHDX image"),
        (b"KDMV", "VMDK image"),
        (b"SQLite format 3\0", "SQLite database"),
    ] {
        assert_eq!(described(0, bytes), name);
    }
    assert_eq!(described(512, b"XAGF"), "XFS without its first sector");
    assert_eq!(
        described(0x400_0040, b"_BHRfS_M"),
        "btrfs, second superblock"
    );
    assert_eq!(described(0, b"Dear diary,\n"), "text, from its start on");
    assert_eq!(
        described(8 << 20, &[1, 2, 3]),
        "data of no known format, 8 MiB from its start"
    );
    let mut random = vec![0; 1 << 20];
    let mut rng = ssdlab_ssd::rng::Rng::named(1, "an encrypted volume");
    random.fill_with(|| rng.below(256) as u8);
    let volume = "data that look random (encrypted or compressed), from its start on";
    assert_eq!(described(0, &random), volume);
}

#[test]
fn one_repeated_byte_is_blank_and_a_tenth_of_data_anywhere_is_not() {
    for byte in [0, 0xff, 0xa5] {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&vec![byte; 9 << 20], 0).unwrap();
        assert!(TargetContents::look(&file, 9 << 20).unwrap().is_blank());
    }
    for len in [0, 1, 511, 4096, 4097, 5 << 20] {
        let file = tempfile::tempfile().unwrap();
        file.set_len(len).unwrap();
        assert!(
            TargetContents::look(&file, len).unwrap().is_blank(),
            "{len}"
        );
        if len > 1 {
            file.write_all_at(&[1], len - 1).unwrap();
            assert!(
                !TargetContents::look(&file, len).unwrap().is_blank(),
                "{len}"
            );
        }
    }
    // 64 places miss a tenth once in 800 times; ten tenths at once, never.
    let blank = (0..10).filter(|tenth| {
        let data = vec![7; (LEN / 10) as usize];
        let file = holding((LEN / 10 * tenth) as i64, &data);
        TargetContents::look(&file, LEN).unwrap().is_blank()
    });
    assert!(blank.count() <= 1);
}

/// What the tools of file systems and volumes make is recognised by name, and its UUID is a word.
#[test]
fn libblkid_names_what_the_tools_make() {
    for (kind, tool, arguments) in [
        ("ext4", "mkfs.ext4", &["-q", "-F"][..]),
        ("xfs", "mkfs.xfs", &["-q", "-f"]),
        ("swap", "mkswap", &[]),
    ] {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(400 << 20).unwrap();
        let made = std::process::Command::new(tool)
            .args(arguments)
            .arg(file.path())
            .output();
        if !made.is_ok_and(|output| output.status.success()) {
            ssdlab_skips::skip(format_args!("{tool} does not work"));
            continue;
        }
        let contents = TargetContents::look(file.as_file(), 400 << 20).unwrap();
        let format = contents.formats.first().expect(kind);
        assert_eq!(format.kind, kind);
        assert_eq!(
            format.uuid.as_ref().map(String::len),
            Some(36),
            "{contents}"
        );
    }
}

#[test]
fn a_loop_device_that_holds_text_is_written_only_by_a_word_that_stays() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "the only copy\n").unwrap();
    let backing = file.path().to_str().unwrap().to_owned();
    let Some(device) = Loop::on(file) else { return };
    let error = claim(&device.device, &typed(&device.name())).unwrap_err();
    assert!(
        error.to_string().contains("text, from its start on"),
        "{error}"
    );
    assert!(error.hint().contains(&backing), "{}", error.hint());
    let claimed = claim(&device.device, &destroying(&backing)).unwrap();
    // What this process wrote needs no second word.
    claimed
        .into_file()
        .write_all_at(&[1, 2, 3, 4], 8 << 20)
        .unwrap();
    assert!(claim(&device.device, &typed(&device.name())).is_ok());
}
