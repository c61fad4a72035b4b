//! Logs of dm-log-writes: a log that is accepted gives the same stream when it is written and
//! read back.

use crate::Target;
use ssdlab_power::crashtest::log_writes::{Dialect, read, write};
use ssdlab_power::crashtest::{CommandStream, RecordingDisk, SectorDevice};
use ssdlab_ssd::DriveConfig;

/// A log.
pub const TARGET: Target = Target {
    name: "log_writes",
    run,
    seeds: || {
        let mut disk = RecordingDisk::new(&DriveConfig::tiny());
        disk.mark("begin");
        disk.write(512, &[1; 1024], false).expect("written");
        disk.write(8192, &[2; 512], true).expect("written");
        disk.flush().expect("flushed");
        disk.trim(0, 4096).expect("trimmed");
        disk.mark("end");
        let stream = disk.into_stream();
        let dialects = [Dialect::Own, Dialect::Standard];
        let mut seeds = dialects.map(|dialect| written(&stream, dialect)).to_vec();
        seeds.push(mark_in_large_sectors());
        seeds
    },
    words: &["rhswfsj"],
};

/// Size of the drive in bytes: more than the longest command of a stream.
const DRIVE_BYTES: u64 = 4 << 20;

fn run(input: &[u8]) {
    let stream = match read(input, DRIVE_BYTES) {
        Ok(stream) => stream,
        Err(error) => return assert!(error.to_string().contains("dm-log-writes"), "{error}"),
    };
    for recorded in &stream.commands {
        let command = &recorded.command;
        assert!(command.offset + u64::from(command.len) <= DRIVE_BYTES);
        let bytes = recorded
            .bytes
            .as_ref()
            .map_or(command.len as usize, |bytes| bytes.len());
        assert_eq!(bytes, command.len as usize);
    }
    let again = read(&written(&stream, Dialect::Own), DRIVE_BYTES);
    assert_eq!(again.expect("a log that was written"), stream);
}

/// A log of sectors of 4096 bytes with one mark of 600 bytes, not all of them UTF-8.
fn mark_in_large_sectors() -> Vec<u8> {
    let mut log = vec![0; 8192];
    let words = [
        (0, 0x006a_7366_7773_6872_u64),
        (8, 1),
        (16, 1),
        (24, 4096),
        (4112, 8),
        (4120, 600),
    ];
    for (at, value) in words {
        log[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
    log[4128..4728].fill(0xc3);
    log
}

fn written(stream: &CommandStream, dialect: Dialect) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(stream, dialect, &mut bytes).expect("memory");
    bytes
}
