//! The targets, one file each.

mod blktrace;
mod canaries;
mod control;
mod diskspd;
mod drive_dir;
mod drive_file;
mod drive_image;
mod fio_job;
mod log_writes;
mod nbd;
mod nbd_conversation;
mod nbd_handshake;
mod nbd_requests;
mod plans;
mod saved_drive;
mod smart_report;
mod trace_text;
mod traces;

use crate::Target;

/// All targets. A name is that of the file.
pub const TARGETS: &[Target] = &[
    blktrace::TARGET,
    control::TARGET,
    diskspd::TARGET,
    drive_dir::TARGET,
    drive_file::TARGET,
    drive_image::TARGET,
    fio_job::TARGET,
    log_writes::TARGET,
    nbd_conversation::TARGET,
    nbd_handshake::TARGET,
    nbd_requests::TARGET,
    saved_drive::TARGET,
    smart_report::TARGET,
    trace_text::TARGET,
];

/// The target of a name, a canary included.
pub fn named(name: &str) -> Option<&'static Target> {
    let all = TARGETS.iter().chain(canaries::CANARIES);
    all.into_iter().find(|target| target.name == name)
}
