//! What every parser is and where its commands go.

use super::number::TraceLineError;
use crate::trace::TraceEvent;
use ssdlab_ssd::Op;

/// No command of a drive is longer; what claims to be is a damaged line. Trims may be.
const TRANSFER_MAX: u64 = 1 << 32;
/// Nor does any drive reach further: 8 EiB, where signed offsets end.
const END_MAX: u64 = 1 << 63;

/// Reads the lines of one format.
pub(in crate::trace) trait Parser {
    /// Reads a line without its end; its command goes to `sink`.
    ///
    /// # Errors
    /// Why it cannot be understood. Lines that describe anything but a command are fine.
    fn line(&mut self, line: &str, sink: &mut EventSink) -> Result<(), TraceLineError>;

    /// The trace is over: what was held back goes to `sink`.
    fn end(&mut self, _sink: &mut EventSink) {}
}

/// Takes events, of one device unless all are asked for.
#[derive(Debug, Default)]
pub(in crate::trace) struct EventSink {
    /// Events since it was last emptied, in the order of the trace.
    pub events: Vec<TraceEvent>,
    /// Lines that are well-formed and no command of the device in question.
    pub skipped: u64,
    /// The device whose commands are taken; `all` takes every device's.
    wanted: Option<String>,
    /// Devices seen, at most [`EventSink::DEVICES_MAX`].
    pub devices: Vec<String>,
    /// Whether the user chose the device.
    chosen: bool,
}

impl EventSink {
    const DEVICES_MAX: usize = 16;

    pub fn new(device: Option<&str>) -> EventSink {
        EventSink {
            wanted: device.map(str::to_owned),
            chosen: device.is_some(),
            ..EventSink::default()
        }
    }

    /// Whether commands of `device` are to be taken.
    pub fn admits(&mut self, device: &str) -> bool {
        if !self.devices.iter().any(|d| d == device) && self.devices.len() < EventSink::DEVICES_MAX
        {
            self.devices.push(device.to_owned());
        }
        let chosen_device = self.wanted.get_or_insert_with(|| device.to_owned());
        let admitted = chosen_device == device || chosen_device == "all";
        self.skipped += u64::from(!admitted);
        admitted
    }

    /// More than one device, and the user did not say which.
    pub fn ambiguous(&self) -> bool {
        !self.chosen && self.devices.len() > 1
    }

    /// Takes `event` if it can be a command.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn take(&mut self, mut event: TraceEvent) -> Result<(), TraceLineError> {
        checked(&event)?;
        if event.op == Op::Flush {
            // Some formats give a flush the place of the next command.
            (event.offset, event.len) = (0, 0);
        }
        self.events.push(event);
        Ok(())
    }
}

/// What no command can be.
pub(in crate::trace) fn checked(event: &TraceEvent) -> Result<(), TraceLineError> {
    if event
        .done_ns
        .is_some_and(|done_ns| done_ns < event.issued_ns)
    {
        return Err("it completes before it was issued".to_owned());
    }
    if event.op == Op::Flush {
        return Ok(());
    }
    if event.len == 0 {
        return Err(format!("a {} of 0 bytes", event.op.name()));
    }
    let end = event.offset.checked_add(event.len);
    if end.is_none_or(|end| end > END_MAX) {
        return Err(format!(
            "byte {} lies beyond 8 EiB, where no drive reaches",
            event.offset
        ));
    }
    if event.len > TRANSFER_MAX && matches!(event.op, Op::Read | Op::Write) {
        return Err(format!(
            "a {} of {} bytes: no command is that long",
            event.op.name(),
            event.len
        ));
    }
    Ok(())
}
