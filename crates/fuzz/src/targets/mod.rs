//! The targets, one file each.

mod canaries;
mod control;
mod drive_image;
mod nbd;
mod nbd_conversation;
mod nbd_handshake;
mod nbd_requests;

use crate::Target;

/// All targets. A name is that of the file.
pub const TARGETS: &[Target] = &[
    control::TARGET,
    drive_image::TARGET,
    nbd_conversation::TARGET,
    nbd_handshake::TARGET,
    nbd_requests::TARGET,
];

/// The target of a name, a canary included.
pub fn named(name: &str) -> Option<&'static Target> {
    let all = TARGETS.iter().chain(canaries::CANARIES);
    all.into_iter().find(|target| target.name == name)
}
