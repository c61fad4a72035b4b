//! The formats that traces come in: one parser each, and how to tell them apart.

mod biosnoop;
mod blkparse;
pub(super) mod blktrace;
mod csv;
mod iolog;
mod pairing;
mod rows;

pub(super) use csv::HEADER as CSV_HEADER;

use super::Event;
use ssdlab_ssd::Op;

/// Bytes in a sector, the unit of most formats.
pub(super) const SECTOR: u64 = 512;
/// No command of a drive is longer; what claims to be is a damaged line. Trims may be.
const TRANSFER_MAX: u64 = 1 << 32;
/// Nor does any drive reach further: 8 EiB, where signed offsets end.
const END_MAX: u64 = 1 << 63;

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Our own: `t_us,op,offset,length,done_us`, and optionally `,fua,preflush`.
    Csv,
    /// Text output of `blkparse`.
    Blkparse,
    /// What `blktrace` writes: `struct blk_io_trace`, either byte order.
    Blktrace,
    /// fio's `write_iolog` before 3.31.
    IologV2,
    /// fio's `write_iolog`, with times.
    IologV3,
    /// Microsoft Research Cambridge.
    Msr,
    /// Storage Performance Council.
    Spc,
    /// DiskSim ASCII: times in ms with a point.
    Disksim,
    /// MQSim ASCII: the same columns, times in whole ns.
    Mqsim,
    /// bcc's and libbpf-tools' `biosnoop`.
    Biosnoop,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 10] = [
        Format::Csv,
        Format::Blkparse,
        Format::Blktrace,
        Format::IologV2,
        Format::IologV3,
        Format::Msr,
        Format::Spc,
        Format::Disksim,
        Format::Mqsim,
        Format::Biosnoop,
    ];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Blkparse => "blkparse",
            Format::Blktrace => "blktrace",
            Format::IologV2 => "fio-iolog-2",
            Format::IologV3 => "fio-iolog-3",
            Format::Msr => "msr",
            Format::Spc => "spc",
            Format::Disksim => "disksim",
            Format::Mqsim => "mqsim",
            Format::Biosnoop => "biosnoop",
        }
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|f| f.name() == name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        Format::ALL.map(Format::name).join(", ")
    }

    /// A parser for its lines; `None` for the binary format.
    pub(super) fn parser(self) -> Option<Box<dyn Parser>> {
        Some(match self {
            Format::Csv => Box::new(csv::Csv::default()),
            Format::Blkparse => Box::new(blkparse::Blkparse::default()),
            Format::Blktrace => return None,
            Format::IologV2 => Box::new(iolog::Iolog::new(2)),
            Format::IologV3 => Box::new(iolog::Iolog::new(3)),
            Format::Msr => Box::new(rows::Rows::Msr),
            Format::Spc => Box::new(rows::Rows::Spc),
            Format::Disksim => Box::new(rows::Rows::Disksim),
            Format::Mqsim => Box::new(rows::Rows::Mqsim),
            Format::Biosnoop => Box::new(biosnoop::Biosnoop::default()),
        })
    }
}

/// Why a line cannot be understood.
pub(super) type Why = String;

/// Reads the lines of one format.
pub(super) trait Parser {
    /// Takes a line without its end; what it tells goes to `sink`.
    ///
    /// # Errors
    /// Why it cannot be understood. Lines that tell of something other than a command are fine.
    fn line(&mut self, line: &str, sink: &mut Sink) -> Result<(), Why>;

    /// The trace is over: what was held back goes to `sink`.
    fn end(&mut self, _sink: &mut Sink) {}
}

/// Takes events, of one device only unless told otherwise.
#[derive(Debug, Default)]
pub(super) struct Sink {
    /// Events since it was last emptied, in the order of the trace.
    pub events: Vec<Event>,
    /// Lines that are well-formed and no command of the device in question.
    pub skipped: u64,
    /// The device whose commands are taken; `all` takes every device's.
    wanted: Option<String>,
    /// Devices seen, at most [`Sink::DEVICES_MAX`].
    pub devices: Vec<String>,
    /// Whether the user chose `wanted`.
    chosen: bool,
}

impl Sink {
    const DEVICES_MAX: usize = 16;

    pub fn new(device: Option<&str>) -> Sink {
        Sink {
            wanted: device.map(str::to_owned),
            chosen: device.is_some(),
            ..Sink::default()
        }
    }

    /// Whether commands of `device` are to be taken.
    pub fn admits(&mut self, device: &str) -> bool {
        if !self.devices.iter().any(|d| d == device) && self.devices.len() < Sink::DEVICES_MAX {
            self.devices.push(device.to_owned());
        }
        let wanted = self.wanted.get_or_insert_with(|| device.to_owned());
        let admitted = wanted == device || wanted == "all";
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
    pub fn take(&mut self, mut event: Event) -> Result<(), Why> {
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
pub(super) fn checked(event: &Event) -> Result<(), Why> {
    if event.done_ns.is_some_and(|done| done < event.issued_ns) {
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

/// The format of a trace that begins with `head`.
pub(super) fn detect(head: &[u8]) -> Option<Format> {
    if blktrace::Endian::of(head).is_some() {
        return Some(Format::Blktrace);
    }
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let first = lines.first()?.trim();
    match first {
        "fio version 2 iolog" => return Some(Format::IologV2),
        "fio version 3 iolog" => return Some(Format::IologV3),
        _ if csv::is_header(first) => return Some(Format::Csv),
        // A header stands for its format, whatever damage follows; without one this is binary.
        _ if text.contains('\0') => return None,
        _ => {}
    }
    if lines.iter().take(10).any(|line| biosnoop::is_header(line)) {
        return Some(Format::Biosnoop);
    }
    // The head may end within a line.
    let sample = &lines[..lines.len().min(100)];
    let whole = if sample.len() > 1 && sample.len() == lines.len() {
        &sample[..sample.len() - 1]
    } else {
        sample
    };
    let candidates = [
        Format::Blkparse,
        Format::Msr,
        Format::Spc,
        Format::Disksim,
        Format::Mqsim,
    ];
    let fits = |format: Format| {
        let Some(mut parser) = format.parser() else {
            return 0;
        };
        let mut sink = Sink::new(Some("all"));
        let good = |line: &&&str| parser.line(line, &mut sink).is_ok();
        whole.iter().filter(good).count()
    };
    candidates
        .into_iter()
        .map(|format| (fits(format), format))
        .filter(|(good, _)| good * 2 > whole.len())
        .max_by_key(|(good, _)| *good)
        .map(|(_, format)| format)
}

/// Sectors to bytes.
fn bytes_of(sectors: u64) -> Result<u64, Why> {
    sectors
        .checked_mul(SECTOR)
        .ok_or_else(|| format!("sector {sectors} lies beyond 8 EiB, where no drive reaches"))
}

/// A number that must be there and whole.
fn whole(text: Option<&str>, what: &str) -> Result<u64, Why> {
    let text = text.ok_or_else(|| format!("no {what}"))?.trim();
    text.parse()
        .map_err(|_| format!("`{}` is no {what}", excerpt(text)))
}

/// A decimal number of `unit` ns, rounded to whole ns.
fn time(text: Option<&str>, unit: u64, what: &str) -> Result<u64, Why> {
    let text = text.ok_or_else(|| format!("no {what}"))?.trim();
    decimal(text, unit).ok_or_else(|| format!("`{}` is no {what}", excerpt(text)))
}

/// `text` x `unit`, exact but for the last rounding; `None` when it is no number or too large.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    let fraction = &fraction[..fraction.len().min(18)];
    if fraction.is_empty() {
        return Some(whole);
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let part = fraction.parse::<u128>().ok()? * u128::from(unit);
    whole.checked_add(((part + scale / 2) / scale) as u64)
}

/// The start of a field or a line, for messages.
pub(super) fn excerpt(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
