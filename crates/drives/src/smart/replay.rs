//! The sectors as a log of commands that smartctl reads back: `ssdlab ... | smartctl -x -`.
//!
//! smartctl 5.38 and later replays the output of its own `-r ataioctl,2` from standard input, ATA
//! only, and treats it as a drive. That is the nearest thing to being probed by it.

use super::ata::{self, SmartSector};
use super::identify::identify_device;
use super::{AttributeSet, Identity, SmartHealth};
use std::fmt::Write;

/// What smartctl's `-a` and `-x` ask for, in the order in which they ask.
pub fn smartctl_log(identity: &Identity, set: AttributeSet, health: &SmartHealth) -> String {
    let status = i32::from(ata::threshold_exceeded(set, health));
    let mut log = String::new();
    command(
        &mut log,
        "IDENTIFY DEVICE",
        None,
        0,
        Some(&identify_device(identity)),
    );
    let data = ata::data(set, health);
    command(
        &mut log,
        "SMART READ ATTRIBUTE VALUES",
        None,
        0,
        Some(&data),
    );
    let limits = ata::thresholds(set, health);
    command(
        &mut log,
        "SMART READ ATTRIBUTE THRESHOLDS",
        None,
        0,
        Some(&limits),
    );
    command(&mut log, "SMART STATUS CHECK", None, status, None);
    let directory = ata::log_directory();
    command(&mut log, "SMART READ LOG", Some(0), 0, Some(&directory));
    let errors = ata::error_log();
    command(&mut log, "SMART READ LOG", Some(1), 0, Some(&errors));
    log
}

fn command(
    log: &mut String,
    name: &str,
    select: Option<u8>,
    returned: i32,
    data: Option<&SmartSector>,
) {
    let select = select.map_or(String::new(), |n| format!(" InputParameter={n}"));
    let ioctl = format!("REPORT-IOCTL: Device=ssdlab Command={name}");
    // Writing to a String does not fail.
    let _ = writeln!(log, "{ioctl}{select}\n{ioctl} returned {returned}");
    let Some(data) = data else { return };
    let _ = writeln!(log, "===== [{name}] DATA START (BASE-16) =====");
    for (n, row) in data.chunks_exact(16).enumerate() {
        let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(
            log,
            "{:03}-{:03}: {} ||",
            16 * n,
            16 * n + 15,
            hex.join(" ")
        );
    }
    let _ = writeln!(log, "===== [{name}] DATA END (512 Bytes) =====");
}
