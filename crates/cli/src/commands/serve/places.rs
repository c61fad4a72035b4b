//! Where `ssdlab serve` offers its drive.

use super::args::{Serve, TlsName};
use ssdlab_base::LabError;
use ssdlab_power::served::{DriveEndpoints, TlsPlan, parse_address};

/// Where a drive is to be reached, by the arguments.
///
/// # Errors
/// When none is given, or an address is wrong.
pub(super) fn places(args: &Serve) -> Result<DriveEndpoints, LabError> {
    let is_served = !args.nbd.is_empty() || !args.nbd_read_only.is_empty();
    if !is_served && args.fuse.is_none() && args.vhost_user.is_none() {
        return Err(LabError::refused(
            "no program could reach the drive: give --nbd, --fuse or --vhost-user",
            "--nbd unix:drive.sock",
        ));
    }
    let addresses = |texts: &[String]| {
        let addresses = texts.iter().map(|text| parse_address(text));
        addresses.collect::<Result<Vec<_>, _>>()
    };
    let certificates = args.tls_certificates.clone();
    let plan = |certificates| TlsPlan {
        certificates,
        required: args.tls == Some(TlsName::Require),
        verify_peer: args.tls_verify_peer,
    };
    let tls = certificates.filter(|_| args.tls != Some(TlsName::Off));
    Ok(DriveEndpoints {
        nbd: addresses(&args.nbd)?,
        nbd_read_only: addresses(&args.nbd_read_only)?,
        fuse: args.fuse.clone(),
        vhost_user: args.vhost_user.clone(),
        control: args.control.clone(),
        read_only: args.read_only,
        tls: tls.map(plan),
    })
}

/// The refusal of `--slower` without real time.
pub(super) fn needs_real_pace() -> LabError {
    LabError::refused(
        "--slower at the pace of the computation",
        "--pace real --slower 4",
    )
}

/// The refusal of an option that belongs to the other kind of drive.
pub(super) fn misplaced(in_memory: bool) -> LabError {
    if in_memory {
        return LabError::refused(
            "--sync with a drive in memory, which keeps nothing",
            "`ssdlab create` makes a drive directory",
        );
    }
    LabError::refused(
        "--size: a drive directory has its size",
        "drive:NAME with --size, or `ssdlab create DRIVE_DIR --size ...`",
    )
}
