//! The power switch from outside: what `ssdlab power` asks.

use ssdlab_base::LabError;
pub use ssdlab_serve::control::{ControlReply, ControlRequest};
pub use ssdlab_serve::{CutMoment, FlushSide, PowerStatus};
use std::io;
use std::path::Path;

/// Asks the switch at the socket `path`; `next` gets each answer.
///
/// # Errors
/// When no server listens there, or the connection ends.
pub fn ask(
    path: &Path,
    ask: &ControlRequest,
    next: impl FnMut(ControlReply),
) -> Result<(), LabError> {
    ssdlab_serve::control::ask(path, ask, next).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                "`ssdlab serve DRIVE_DIR --control SOCKET` listens there while it runs"
            }
            io::ErrorKind::UnexpectedEof => "the server has ended meanwhile",
            _ => "",
        };
        LabError::File {
            action: "asking the switch at",
            path: path.to_owned(),
            source: error,
            hint: hint.to_owned(),
        }
    })
}
