//! Serving until a signal.

use ssdlab_power::served::{DriveServer, ServedStore};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often the drive is asked whether its files can be written.
const TROUBLE_CHECK: Duration = Duration::from_millis(200);

/// Waits for a signal, and says meanwhile when nothing can be acknowledged and when it can again.
pub(super) fn until<D: ServedStore>(stop: &Receiver<()>, serving: &DriveServer<D>) {
    let mut trouble = None;
    // The sender lives as long as the program.
    while let Err(RecvTimeoutError::Timeout) = stop.recv_timeout(TROUBLE_CHECK) {
        let current = serving.trouble();
        if current != trouble {
            match &current {
                Some(why) => tell!("warning: {why}"),
                None => tell!("note: everything is kept again"),
            }
            trouble = current;
        }
    }
}
