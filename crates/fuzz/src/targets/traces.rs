//! Properties that the targets for traces share.

use ssdlab_base::LabError;
use ssdlab_load::trace::describe::Describer;
use ssdlab_load::trace::write::TraceWriter;
use ssdlab_load::trace::{
    Op, ReadOptions, TraceEvent, TraceFormat, TraceReadStats, TraceReader, show,
};
use std::io::Cursor;
use std::path::Path;

/// Name of the input in messages.
pub const NAME: &str = "input.trace";

/// Reads a trace and returns all events in order.
pub fn read(
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<(Vec<TraceEvent>, TraceReadStats), LabError> {
    let input = Box::new(Cursor::new(bytes.to_vec()));
    let mut reader = TraceReader::new(Path::new(NAME), input, options)?;
    let mut events = Vec::new();
    while let Some(event) = reader.next_event()? {
        events.push(event);
    }
    Ok((events, reader.reading()))
}

/// Checks the events: order, bounds, the description, and that it survives being written as
/// CSV and in `format`.
pub fn check(outcome: Result<(Vec<TraceEvent>, TraceReadStats), LabError>, format: TraceFormat) {
    let (events, reading) = match outcome {
        Ok(found) => found,
        Err(error) => {
            let text = error.to_string();
            assert!(text.contains(NAME), "no place: {text}");
            return;
        }
    };
    assert_eq!(reading.events, events.len() as u64);
    assert_eq!(events.first().map(|event| event.issued_ns), Some(0));
    for pair in events.windows(2) {
        assert!(pair[0].issued_ns <= pair[1].issued_ns, "{pair:?}");
    }
    let mut describer = Describer::new(1_000_000_000, 100);
    for event in &events {
        assert_eq!(event.len == 0, event.op == Op::Flush, "{event:?}");
        assert!(event.offset.checked_add(event.len).is_some(), "{event:?}");
        assert!(
            event.done_ns.is_none_or(|done| done >= event.issued_ns),
            "{event:?}"
        );
        describer.event(event);
    }
    let text = show::text(NAME, &reading, &describer.finish());
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    assert_eq!(written(&events, TraceFormat::Csv), Some(events.clone()));
    if let Some(back) = written(&events, format) {
        assert!(
            back.len() <= events.len(),
            "{} grow to {}",
            events.len(),
            back.len()
        );
    }
}

/// The events after they were written in `format` and read back; `None` if the format holds none
/// of them.
fn written(events: &[TraceEvent], format: TraceFormat) -> Option<Vec<TraceEvent>> {
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(format, &mut bytes).expect("memory");
    for event in events {
        writer.event(event).expect("memory");
    }
    let lost = writer.finish().expect("memory");
    if lost.commands == events.len() as u64 {
        return None;
    }
    let mut options = ReadOptions::default();
    options.format = Some(format);
    options.bad_share = 0.0;
    options.device = Some("all".to_owned());
    let back = read(&bytes, &options);
    let (back, reading) = back.unwrap_or_else(|error| {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
        panic!("a trace written as {}: {error}\n{text}", format.name())
    });
    assert_eq!(reading.bad, 0);
    Some(back)
}

/// A short trace in `format`.
pub fn sample(format: TraceFormat) -> Vec<u8> {
    let event = |n: u64, op| TraceEvent {
        done_ns: Some(n * 100_000 + 80_000),
        fua: n % 5 == 4,
        ..TraceEvent::new(
            n * 100_000,
            op,
            n * 8192,
            if op == Op::Flush { 0 } else { 4096 },
        )
    };
    let mut bytes = Vec::new();
    let mut writer = TraceWriter::new(format, &mut bytes).expect("memory");
    for (n, op) in (0..).zip([
        Op::Read,
        Op::Write,
        Op::Write,
        Op::Flush,
        Op::Trim,
        Op::Read,
    ]) {
        writer.event(&event(n, op)).expect("memory");
    }
    writer.finish().expect("memory");
    bytes
}
