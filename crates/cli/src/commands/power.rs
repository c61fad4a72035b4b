//! `ssdlab power`: the switch of a drive that is served.

mod args;

pub use args::{PowerAction, PowerArgs};

use crate::failure::{CliFailure, CommandExit};
use crate::terminal::write_output;
use ssdlab_base::LabError;
use ssdlab_power::served::describe;
use ssdlab_power::served::switch;
use ssdlab_power::served::switch::{ControlReply, ControlRequest};

/// Asks the switch.
///
/// # Errors
/// When no server listens at the socket, or the drive refuses.
pub fn power(args: &PowerArgs) -> Result<CommandExit, CliFailure> {
    let (ask, switch) = match &args.action {
        PowerAction::Off(switch) => (ControlRequest::Off {}, switch),
        PowerAction::On(switch) => (ControlRequest::On {}, switch),
        PowerAction::Status(switch) => (ControlRequest::Status {}, switch),
        PowerAction::Disarm(switch) => (ControlRequest::Disarm {}, switch),
        PowerAction::CutWhen(when) => {
            let (at, wait) = (when.moment()?, when.wait);
            (ControlRequest::CutWhen { at, wait }, &when.switch)
        }
    };
    let mut printed = Ok(());
    switch::ask(&switch.control, &ask, |answer| {
        if printed.is_ok() {
            printed = say(&answer, switch.json);
        }
    })?;
    printed.map(|()| CommandExit::Good)
}

fn say(answer: &ControlReply, json: bool) -> Result<(), CliFailure> {
    if json {
        let line = serde_json::to_string(answer).map_err(std::io::Error::other)?;
        write_output(&(line + "\n"))?;
    }
    if !answer.ok {
        return Err(refusal(answer.error.as_deref().unwrap_or("refused")).into());
    }
    if !json && let Some(status) = &answer.status {
        let event = answer.event.as_deref().unwrap_or_default();
        write_output(&describe(event, status).to_string())?;
    }
    Ok(())
}

/// The switch's words, with their hint.
fn refusal(text: &str) -> LabError {
    match text.split_once("\nhint: ") {
        Some((what, hint)) => LabError::refused(what, hint),
        None => LabError::refused(text, ""),
    }
}
