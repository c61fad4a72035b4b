//! Reads a trace of any format and any size: events in the order in which they were issued.
//!
//! Memory does not grow with the trace. A file may be compressed with gzip. Lines that cannot be
//! understood are counted, the first ten are kept, and they are fatal above a stated share: a
//! format guessed wrongly must not give a result. Events may stand out of order in the file by
//! up to [`WINDOW`] places; further than that is such a line too.

use super::TraceEvent;
use super::format::blktrace::{self, Blktrace, CpuFileMerge, Endian};
use super::format::number::{TraceLineError, excerpt};
use super::format::sink::{EventSink, Parser};
use super::format::vscsi::VscsiLayout;
use super::format::{TraceFormat, detect};
use flate2::read::MultiGzDecoder;
use ssdlab_base::LabError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

/// How far from its place in time an event may stand, in events.
pub const WINDOW: usize = 1 << 16;
/// Lines that are kept of those that cannot be understood.
const SHOWN_MAX: usize = 10;
/// The longest line of a trace; a longer one is an error.
const LINE_MAX: u64 = 1 << 16;
/// Bytes from which the format is detected.
const HEAD: u64 = 1 << 16;
/// How a text in UTF-8 may begin.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// How a text in UTF-16 begins.
const UTF_16: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];
/// Lines after which reading stops if more than half are bad: the format is the wrong one.
const HOPELESS_AFTER: u64 = 1000;

/// How to read a trace.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadOptions {
    /// `None`: detected from the content.
    pub format: Option<TraceFormat>,
    /// The share of lines, 0 to 1, that may be bad.
    pub bad_share: f64,
    /// The device whose commands are wanted, where a trace holds several; `all` takes all.
    pub device: Option<String>,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions {
            format: None,
            bad_share: 0.01,
            device: None,
        }
    }
}

/// A line that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// From 1; of a binary trace: the record.
    pub number: u64,
    /// Why.
    pub why: String,
    /// How it begins.
    pub text: String,
}

/// The account of the lines read so far.
#[derive(Clone, Debug)]
pub struct TraceReadStats {
    /// The format.
    pub format: TraceFormat,
    /// Whether it was detected from the content.
    pub detected: bool,
    /// Lines, or records of a binary trace.
    pub lines: u64,
    /// Commands given out.
    pub events: u64,
    /// Lines that could not be understood.
    pub bad: u64,
    /// The first ten of them.
    pub shown: Vec<BadLine>,
    /// Well-formed lines that are no command of the device: headers, other actions.
    pub skipped: u64,
    /// Devices whose commands were seen (the first sixteen).
    pub devices: Vec<String>,
    /// The last line has no end: it may have been cut short.
    pub unended: bool,
}

enum TraceDecoder {
    Lines(Box<dyn Parser>),
    Records(Blktrace),
    VirtualDisk(VscsiLayout),
}

/// An event's place: when it was issued, and its turn in the file.
type Turn = (u64, u64);

/// A trace being read.
pub struct TraceReader {
    path: PathBuf,
    input: Box<dyn BufRead + Send>,
    source: TraceDecoder,
    sink: EventSink,
    reading: TraceReadStats,
    bad_share: f64,
    waiting: BinaryHeap<Reverse<(Turn, QueuedEvent)>>,
    turn: u64,
    /// When the trace's first command was issued, on the trace's clock.
    origin_ns: Option<u64>,
    last_ns: u64,
    over: bool,
    line: Vec<u8>,
}

/// An event in a heap that orders by its turn only.
struct QueuedEvent(TraceEvent);

impl PartialEq for QueuedEvent {
    fn eq(&self, _: &QueuedEvent) -> bool {
        true
    }
}
impl Eq for QueuedEvent {}
impl PartialOrd for QueuedEvent {
    fn partial_cmp(&self, other: &QueuedEvent) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for QueuedEvent {
    fn cmp(&self, _: &QueuedEvent) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl TraceReader {
    /// Opens the trace at `path`. If there is no such file but `path.blktrace.0`, that file and
    /// those of the other CPUs are read as one.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or is of no known format.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<TraceReader, LabError> {
        let fail = |error| LabError::file("reading", path, error);
        let parts = if path.exists() {
            Vec::new()
        } else {
            CpuFileMerge::files(path)
        };
        let input: Box<dyn BufRead + Send> = if parts.is_empty() {
            let file = File::open(path).map_err(fail)?;
            if file.metadata().map_err(fail)?.is_dir() {
                let error = std::io::Error::from(std::io::ErrorKind::IsADirectory);
                return Err(fail(error));
            }
            Box::new(BufReader::new(file))
        } else {
            Box::new(BufReader::new(CpuFileMerge::open(parts)?))
        };
        TraceReader::new(path, input, options)
    }

    /// Reads a trace from `input`; `path` names it in messages.
    ///
    /// # Errors
    /// As [`TraceReader::open`].
    pub fn new(
        path: &Path,
        mut input: Box<dyn BufRead + Send>,
        options: &ReadOptions,
    ) -> Result<TraceReader, LabError> {
        let fail = |error| LabError::file("reading", path, error);
        let gzip = input.fill_buf().map_err(fail)?.starts_with(&[0x1f, 0x8b]);
        if gzip {
            input = Box::new(BufReader::new(MultiGzDecoder::new(input)));
        }
        let mut head = Vec::new();
        let begun = input.by_ref().take(HEAD).read_to_end(&mut head);
        // A cut in the head still shows when it is read again below.
        if head.is_empty() {
            begun.map_err(|error| cut(path, 0, error))?;
            return Err(LabError::refused(
                format!("{}: the file is empty", path.display()),
                "a trace holds at least one command",
            ));
        }
        if head.starts_with(BYTE_ORDER_MARK) {
            // Programs on Windows begin a text so; it is not part of the first line.
            head.drain(..BYTE_ORDER_MARK.len());
        }
        let format = match options.format {
            Some(format) => format,
            None => detect(&head).ok_or_else(|| unknown(path, &head))?,
        };
        let source = decoder(format, &head).ok_or_else(|| unknown(path, &head))?;
        Ok(TraceReader {
            path: path.to_owned(),
            input: Box::new(
                Cursor::new(head)
                    .chain(DeferredReadError(begun.err()))
                    .chain(input),
            ),
            source,
            sink: EventSink::new(options.device.as_deref()),
            reading: TraceReadStats {
                format,
                detected: options.format.is_none(),
                lines: 0,
                events: 0,
                bad: 0,
                shown: Vec::new(),
                skipped: 0,
                devices: Vec::new(),
                unended: false,
            },
            bad_share: options.bad_share,
            waiting: BinaryHeap::new(),
            turn: 0,
            origin_ns: None,
            last_ns: 0,
            over: false,
            line: Vec::new(),
        })
    }

    /// The account of the lines read so far.
    pub fn reading(&self) -> TraceReadStats {
        TraceReadStats {
            skipped: self.sink.skipped,
            devices: self.sink.devices.clone(),
            ..self.reading.clone()
        }
    }

    /// The next command, its times counted from the first one's issue.
    ///
    /// # Errors
    /// When the file cannot be read on, too many lines are bad, no command is in it, or it
    /// holds several devices and none was chosen.
    pub fn next_event(&mut self) -> Result<Option<TraceEvent>, LabError> {
        while !self.over && self.waiting.len() <= WINDOW {
            self.read_one()?;
            self.queue();
            if self.sink.ambiguous() {
                return Err(self.ambiguous());
            }
        }
        let Some(Reverse(((issued_ns, _), QueuedEvent(mut event)))) = self.waiting.pop() else {
            return Ok(None);
        };
        let origin = *self.origin_ns.get_or_insert(issued_ns);
        self.last_ns = issued_ns;
        event.issued_ns = issued_ns - origin;
        event.done_ns = event.done_ns.map(|done_ns| done_ns.saturating_sub(origin));
        self.reading.events += 1;
        Ok(Some(event))
    }

    /// Puts the events read in order of time.
    fn queue(&mut self) {
        let number = self.reading.lines;
        for event in std::mem::take(&mut self.sink.events) {
            if self.origin_ns.is_some() && event.issued_ns < self.last_ns {
                let back = self.last_ns - event.issued_ns;
                let why = format!(
                    "the time goes back by {} over more than {WINDOW} commands",
                    ssdlab_ssd::Nanos(back)
                );
                self.bad(number, why, String::new());
                continue;
            }
            let turn = (event.issued_ns, self.turn);
            self.turn += 1;
            self.waiting.push(Reverse((turn, QueuedEvent(event))));
        }
    }

    fn read_one(&mut self) -> Result<(), LabError> {
        let more = match self.source {
            TraceDecoder::Lines(_) => self.read_line()?,
            TraceDecoder::Records(_) => self.read_record()?,
            TraceDecoder::VirtualDisk(layout) => self.read_virtual_disk(layout)?,
        };
        if !more {
            self.end()?;
        } else if self.reading.lines >= HOPELESS_AFTER && self.reading.bad > self.reading.lines / 2
        {
            self.judge()?;
        }
        Ok(())
    }

    /// The file is at its end.
    fn end(&mut self) -> Result<(), LabError> {
        self.over = true;
        match &mut self.source {
            TraceDecoder::Lines(parser) => parser.end(&mut self.sink),
            TraceDecoder::Records(blktrace) => blktrace.end(&mut self.sink),
            TraceDecoder::VirtualDisk(_) => {}
        }
        self.queue();
        self.judge()?;
        if self.turn == 0 {
            let format = self.reading.format.name();
            let hint = if self.sink.devices.is_empty() {
                "name the format with --trace-format if it is another".to_owned()
            } else {
                format!("it has commands of {}", self.sink.devices.join(", "))
            };
            return Err(LabError::refused(
                format!(
                    "{}: read as {format}, there is no command in it",
                    self.path.display()
                ),
                hint,
            ));
        }
        Ok(())
    }

    fn read_line(&mut self) -> Result<bool, LabError> {
        self.line.clear();
        let mut limited = self.input.by_ref().take(LINE_MAX);
        let read = limited.read_until(b'\n', &mut self.line);
        let read = read.map_err(|error| cut(&self.path, self.reading.lines, error))?;
        if read == 0 {
            return Ok(false);
        }
        self.reading.lines += 1;
        self.reading.unended = !self.line.ends_with(b"\n");
        let outcome = match (std::str::from_utf8(&self.line), &mut self.source) {
            _ if read as u64 == LINE_MAX && self.reading.unended => {
                Err("the line is longer than 64 KiB".to_owned())
            }
            (Err(_), _) => Err("it is not text".to_owned()),
            (Ok(text), TraceDecoder::Lines(parser)) => {
                parser.line(text.trim_end_matches(['\n', '\r']), &mut self.sink)
            }
            (Ok(_), TraceDecoder::Records(_) | TraceDecoder::VirtualDisk(_)) => Ok(()),
        };
        if let Err(why) = outcome {
            let text = String::from_utf8_lossy(&self.line);
            let text = excerpt(text.trim_end());
            self.bad(self.reading.lines, why, text);
        }
        Ok(true)
    }

    fn read_record(&mut self) -> Result<bool, LabError> {
        let TraceDecoder::Records(blktrace) = &mut self.source else {
            return Ok(false);
        };
        let mut record = [0; blktrace::RECORD];
        let (path, lines) = (&self.path, self.reading.lines);
        let fail = |error| cut(path, lines, error);
        let got = fill(&mut self.input, &mut record).map_err(fail)?;
        if got == 0 {
            return Ok(false);
        }
        self.reading.lines += 1;
        let number = self.reading.lines;
        if got < record.len() {
            self.bad(number, "the file ends within it".to_owned(), String::new());
            return Ok(false);
        }
        let outcome = match blktrace.trailer(&record) {
            // Without a record here, no later one can be found: stop.
            Err(why) => {
                let problem = format!("{}: record {number}: {why}", self.path.display());
                return Err(LabError::refused(
                    problem,
                    "the file is damaged or no blktrace",
                ));
            }
            Ok(trailer) => {
                let mut trailer_reader = self.input.by_ref().take(trailer as u64);
                let skipped =
                    std::io::copy(&mut trailer_reader, &mut std::io::sink()).map_err(fail)?;
                if skipped < trailer as u64 {
                    Err("the file ends within it".to_owned())
                } else {
                    blktrace.record(&record, &mut self.sink)
                }
            }
        };
        if let Err(why) = outcome {
            self.bad(number, why, String::new());
        }
        Ok(true)
    }

    fn read_virtual_disk(&mut self, layout: VscsiLayout) -> Result<bool, LabError> {
        let mut record = vec![0; layout.record_bytes()];
        let lines = self.reading.lines;
        let got = fill(&mut self.input, &mut record);
        let got = got.map_err(|error| cut(&self.path, lines, error))?;
        if got == 0 {
            return Ok(false);
        }
        self.reading.lines += 1;
        let outcome = if got < record.len() {
            Err("the file ends within it".to_owned())
        } else {
            layout.record(&record, &mut self.sink)
        };
        if let Err(why) = outcome {
            self.bad(self.reading.lines, why, String::new());
        }
        Ok(got == record.len())
    }

    fn bad(&mut self, number: u64, why: TraceLineError, text: String) {
        self.reading.bad += 1;
        if self.reading.shown.len() < SHOWN_MAX {
            self.reading.shown.push(BadLine { number, why, text });
        }
    }

    fn judge(&self) -> Result<(), LabError> {
        let TraceReadStats { bad, lines, .. } = self.reading;
        if bad == 0 || bad as f64 <= self.bad_share * lines as f64 {
            return Ok(());
        }
        Err(LabError::refused(
            format!(
                "{}: {bad} of {lines} lines cannot be read as {}:{}",
                self.path.display(),
                self.reading.format.name(),
                self.reading.bad_lines()
            ),
            format!(
                "name the format with --trace-format ({}), or allow more with --bad-share",
                TraceFormat::names()
            ),
        ))
    }

    fn ambiguous(&self) -> LabError {
        LabError::refused(
            format!(
                "{}:{}: the trace holds commands of several devices: {}",
                self.path.display(),
                self.reading.lines,
                self.sink.devices.join(", ")
            ),
            "choose one with --device NAME, or take all as if they were one with --device all",
        )
    }
}

impl TraceReadStats {
    /// The bad lines that were kept, one to a line.
    pub fn bad_lines(&self) -> String {
        let unit = match self.format {
            TraceFormat::Blktrace | TraceFormat::CloudPhysics => "record",
            _ => "line",
        };
        let line = |bad: &BadLine| {
            if bad.text.is_empty() {
                format!("\n  {unit} {}: {}", bad.number, bad.why)
            } else {
                format!("\n  {unit} {}: {}: `{}`", bad.number, bad.why, bad.text)
            }
        };
        self.shown.iter().map(line).collect()
    }
}

/// What reads a trace of `format` that begins with `head`; `None` when it does not begin so.
fn decoder(format: TraceFormat, head: &[u8]) -> Option<TraceDecoder> {
    Some(match format.parser() {
        Some(parser) => TraceDecoder::Lines(parser),
        None if format == TraceFormat::CloudPhysics => {
            TraceDecoder::VirtualDisk(VscsiLayout::of(head)?)
        }
        None => TraceDecoder::Records(Blktrace::new(Endian::of(head)?)),
    })
}

/// An error that comes after what could be read.
struct DeferredReadError(Option<std::io::Error>);

impl Read for DeferredReadError {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for DeferredReadError {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }
    fn consume(&mut self, _: usize) {}
}

/// Fills `buffer` as far as the file goes.
fn fill(input: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..])? {
            0 => break,
            more => got += more,
        }
    }
    Ok(got)
}

/// A file that fails after this many lines.
fn cut(path: &Path, lines: u64, error: std::io::Error) -> LabError {
    use std::io::ErrorKind;
    let compressed = matches!(
        error.kind(),
        ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData
    );
    if !compressed {
        return LabError::file("reading", path, error);
    }
    LabError::refused(
        format!(
            "{}: the compressed data is cut short or damaged after line {lines}: {error}",
            path.display()
        ),
        "to use what is there: gzip -dc FILE > PART",
    )
}

fn unknown(path: &Path, head: &[u8]) -> LabError {
    if UTF_16.iter().any(|mark| head.starts_with(mark)) {
        return LabError::refused(
            format!("{}: the text is in UTF-16, not UTF-8", path.display()),
            "to make it UTF-8: iconv -f UTF-16 -t UTF-8 FILE > OUT",
        );
    }
    let text = String::from_utf8_lossy(head);
    let first = text.lines().find(|line| !line.trim().is_empty());
    let shown: String = excerpt(first.unwrap_or_default());
    LabError::refused(
        format!(
            "{}: not a trace of a known format; it begins with `{}`",
            path.display(),
            shown.escape_debug()
        ),
        if text.lines().take(100).any(is_own_blkparse_layout) {
            "it looks like `blkparse -f`, whose fields anyone may choose: give blkparse's output \
             without -f, or name its columns with --trace-format; a command needs its kind \
             (%d), which this may not have"
                .to_owned()
        } else {
            format!(
                "with --trace-format the lines are read as that format, and what is wrong with \
                 them is said: {}",
                TraceFormat::names()
            )
        },
    )
}

/// Whether a line may come from `blkparse -f`: an action of blkparse, a time and numbers among its
/// fields.
fn is_own_blkparse_layout(line: &str) -> bool {
    let fields: Vec<&str> = line
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|'))
        .filter(|field| !field.is_empty())
        .collect();
    let is_action = |field: &&str| matches!(*field, "Q" | "G" | "I" | "D" | "C" | "M" | "P" | "U");
    let is_number = |field: &&&str| field.parse::<f64>().is_ok();
    fields.len() >= 4
        && fields.iter().any(is_action)
        && fields.iter().filter(is_number).count() >= 2
        && fields.iter().any(|field| field.contains('.'))
}

#[cfg(test)]
mod tests;
