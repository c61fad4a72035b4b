//! The parser of a format, and the format of a file.

use super::columns::ColumnParser;
use super::sink::{EventSink, Parser};
use super::vscsi::VscsiLayout;
use super::{TraceFormat, biosnoop, blkparse, blktrace, csv, iolog, rows};

impl TraceFormat {
    /// A parser for its lines; `None` for a binary format.
    pub(in crate::trace) fn parser(self) -> Option<Box<dyn Parser>> {
        Some(match self {
            TraceFormat::Csv => Box::new(csv::Csv::default()),
            TraceFormat::Blkparse => Box::new(blkparse::Blkparse::default()),
            TraceFormat::Blktrace | TraceFormat::CloudPhysics => return None,
            TraceFormat::IologV2 => Box::new(iolog::Iolog::new(2)),
            TraceFormat::IologV3 => Box::new(iolog::Iolog::new(3)),
            TraceFormat::Msr => Box::new(rows::FixedColumnFormat::Msr),
            TraceFormat::Spc => Box::new(rows::FixedColumnFormat::Spc),
            TraceFormat::Disksim => Box::new(rows::FixedColumnFormat::Disksim),
            TraceFormat::Mqsim => Box::new(rows::FixedColumnFormat::Mqsim),
            TraceFormat::Biosnoop => Box::new(biosnoop::Biosnoop::default()),
            TraceFormat::Columns(table) => Box::new(ColumnParser::new(table)),
        })
    }
}

/// The format of a trace that begins with `head`.
pub(in crate::trace) fn detect(head: &[u8]) -> Option<TraceFormat> {
    if blktrace::Endian::of(head).is_some() {
        return Some(TraceFormat::Blktrace);
    }
    if VscsiLayout::of(head).is_some() {
        return Some(TraceFormat::CloudPhysics);
    }
    let text = String::from_utf8_lossy(head);
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let first = lines.first()?.trim();
    match first {
        "fio version 2 iolog" => return Some(TraceFormat::IologV2),
        "fio version 3 iolog" => return Some(TraceFormat::IologV3),
        _ if csv::is_header(first) => return Some(TraceFormat::Csv),
        // A header stands for its format, whatever damage follows; without one this is binary.
        _ if text.contains('\0') => return None,
        _ => {}
    }
    if lines.iter().take(10).any(|line| biosnoop::is_header(line)) {
        return Some(TraceFormat::Biosnoop);
    }
    // The head may end within a line.
    let sample = &lines[..lines.len().min(100)];
    let whole = if sample.len() > 1 && sample.len() == lines.len() {
        &sample[..sample.len() - 1]
    } else {
        sample
    };
    let candidates = [
        TraceFormat::Blkparse,
        TraceFormat::Msr,
        TraceFormat::Spc,
        TraceFormat::Disksim,
        TraceFormat::Mqsim,
    ]
    .into_iter()
    .chain(TraceFormat::READ_ONLY);
    let fits = |format: TraceFormat| {
        let Some(mut parser) = format.parser() else {
            return 0;
        };
        let mut sink = EventSink::new(Some("all"));
        let good = |line: &&&str| parser.line(line, &mut sink).is_ok();
        whole.iter().filter(good).count()
    };
    candidates
        .map(|format| (fits(format), format))
        .filter(|(good, _)| good * 2 > whole.len())
        .max_by_key(|(good, _)| *good)
        .map(|(_, format)| format)
}
