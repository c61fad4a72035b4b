//! Is what is sent allowed, and counted as what the drive said?

use super::*;
use crate::device::status::error_of;

fn claimed() -> Passthrough {
    let file = File::open("/dev/null").unwrap();
    Passthrough::new(1, 12, Some(file), 4)
}

#[test]
fn without_a_claim_only_reads_are_sent() {
    let way = Passthrough::new(1, 12, None, 4);
    assert!(way.check(&Command::read(0, 4096)).is_ok());
    for command in [
        Command::write(0, 4096),
        Command::write_fua(0, 4096),
        Command::trim(0, 4096),
        Command::flush(),
    ] {
        let why = way.check(&command).unwrap_err().to_string();
        assert!(why.contains("read only"), "{why}");
        assert!(claimed().check(&command).is_ok());
    }
}

#[test]
fn parts_of_blocks_and_lengths_beyond_the_field_are_refused() {
    let way = claimed();
    let zeroes = |len| Command {
        op: Op::WriteZeroes,
        ..Command::write(0, len)
    };
    assert!(way.check(&zeroes(4096 << 16)).is_ok());
    assert!(way.check(&Command::trim(0, 8192 << 16)).is_ok());
    for command in [
        Command::read(512, 4096),
        Command::read(4096, 512),
        Command::read(0, 0),
        Command::write(0, 4096 + 512),
        Command::trim(0, 0),
        Command::trim(2048, 4096),
        zeroes((4096 << 16) + 4096),
    ] {
        let error = way.check(&command).unwrap_err();
        assert!(error.to_string().contains("4096 bytes"), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn a_trim_points_to_the_range_of_its_tag() {
    let mut way = claimed();
    for tag in [3, 0] {
        let trim = Command::trim(u64::from(tag) << 20, 8192);
        let nvme = way.encode(tag, &trim, 0);
        let range = &way.ranges[tag as usize];
        assert_eq!(nvme.addr, (&raw const *range) as u64);
        assert_eq!(*range, DsmRange::of(&trim, 12));
    }
    assert_eq!(
        way.ranges[3],
        DsmRange::of(&Command::trim(3 << 20, 8192), 12)
    );
}

#[test]
fn commands_are_counted_when_the_drive_has_completed_them() {
    let mut way = claimed();
    let commands = [
        Command::write(0, 8192),
        Command::write_fua(0, 4096),
        Command::trim(0, 4096),
        Command::flush(),
    ];
    for (tag, command) in commands.iter().enumerate() {
        way.encode(tag as u32, command, 0);
    }
    assert_eq!(way.counters().writes, Some(0));
    for tag in 0..4 {
        assert_eq!(way.error(tag, 0, 0), 0);
    }
    let counters = way.counters();
    assert_eq!((counters.writes, counters.fua_writes), (Some(2), Some(1)));
    assert_eq!(counters.host_bytes_written, Some(12288));
    assert_eq!((counters.reads, counters.flushes), (Some(0), Some(1)));
    assert_eq!(
        (counters.trims, counters.nand_bytes_written),
        (Some(1), None)
    );
    // Failures are not.
    way.encode(0, &commands[0], 0);
    assert_eq!(way.error(0, -4, 8192), 4, "EINTR: given up by the kernel");
    let failed = way.error(0, 0x4280, 8192);
    assert_eq!(
        error_of(failed).to_string(),
        "NVMe status 2h/80h, Write Fault"
    );
    assert_eq!(way.counters().writes, Some(2));
}
