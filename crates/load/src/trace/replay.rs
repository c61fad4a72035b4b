//! A trace as a workload: as fast as possible at a queue depth, or at its recorded times.
//!
//! The file is read twice: a *survey* checks all of it and learns where it reaches before
//! anything is written, then the commands are read again as they are sent. Times are a schedule
//! from the start: what is late goes at once and does not delay what follows.
//!
//! Commands are rounded outward to sectors, and split where they are longer than
//! [`COMMAND_MAX`] or wrap around the end of the target. A write that flushes first is sent as a
//! flush and a write.

use super::{ReadOptions, TraceEvent, TraceReadStats, TraceReader};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_ssd::{Bytes, Command, Nanos, Op};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// The longest command sent, in bytes.
pub const COMMAND_MAX: u64 = 1 << 20;
pub(super) const SECTOR: u64 = 512;
/// What scaled addresses are multiples of.
const SCALE_ALIGN: u64 = 4096;

/// What to do with addresses beyond the target's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AddressFit {
    /// Refuse the trace.
    #[default]
    Refuse,
    /// Fold them: address modulo capacity.
    Wrap,
    /// Shrink all addresses alike so that the highest fits; lengths stay.
    Scale,
}

/// How a trace is replayed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Replay {
    /// The trace.
    pub path: PathBuf,
    /// `None`: as fast as possible. Otherwise the recorded times divided by this.
    pub speed: Option<f64>,
    /// Addresses beyond the end.
    pub fit: AddressFit,
    /// What the survey found.
    pub survey: ReplaySurvey,
    #[serde(skip)]
    read: ReadOptions,
}

/// What must be known of a trace before it is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReplaySurvey {
    /// Commands by kind, in the order of [`Op::ALL`].
    pub commands: [u64; Op::COUNT],
    /// Bytes read and written.
    pub bytes: u64,
    /// Bytes of the longest read or write that is sent.
    #[serde(skip)]
    pub longest: u64,
    /// The byte after the highest one addressed.
    pub end: u64,
    /// Time of the last issue, in ns.
    pub span_ns: u64,
    /// Commands that are not whole sectors.
    pub rounded: u64,
}

impl Replay {
    /// Surveys the trace at `path`. The second value counts its bad lines.
    ///
    /// # Errors
    /// When the trace cannot be read or the speed is below a millionth.
    pub fn survey(
        path: &Path,
        read: &ReadOptions,
        speed: Option<f64>,
        fit: AddressFit,
    ) -> Result<(Replay, TraceReadStats), LabError> {
        if speed.is_some_and(|speed| !(speed.is_finite() && speed >= 1e-6)) {
            return Err(LabError::refused(
                "a trace cannot be replayed at that speed",
                "give a number such as 1.0 (recorded times) or 2 (twice as fast), or max",
            ));
        }
        let mut reader = TraceReader::open(path, read)?;
        let mut survey = ReplaySurvey::default();
        while let Some(event) = reader.next_event()? {
            survey.commands[event.op as usize] += 1;
            if event.transfers() {
                survey.bytes = survey.bytes.saturating_add(event.len);
            }
            let (start, end) = sectors(&event);
            if event.transfers() {
                survey.longest = survey.longest.max((end - start).min(COMMAND_MAX));
            }
            survey.rounded += u64::from((start, end) != (event.offset, event.end()));
            survey.end = survey.end.max(end);
            survey.span_ns = event.issued_ns;
        }
        let replay = Replay {
            path: path.to_owned(),
            speed,
            fit,
            survey,
            read: read.clone(),
        };
        Ok((replay, reader.reading()))
    }

    /// What a reader of the result should know.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        notes.push(match self.speed {
            None => "the trace was replayed as fast as possible, without its pauses".to_owned(),
            Some(1.0) => "the trace was replayed at its recorded times".to_owned(),
            Some(speed) => format!("the trace was replayed at {speed} x its recorded speed"),
        });
        if self.survey.rounded > 0 {
            notes.push(format!(
                "{} commands were rounded outward to whole sectors",
                self.survey.rounded
            ));
        }
        match self.fit {
            AddressFit::Refuse => {}
            AddressFit::Wrap => {
                notes.push("addresses beyond the target's end were folded".to_owned())
            }
            AddressFit::Scale => notes.push(
                "addresses were scaled to the target where it is smaller; what follows one \
                 another in the trace may not do so any more"
                    .to_owned(),
            ),
        }
        notes
    }
}

/// First byte and end of the sectors that a command touches.
fn sectors(event: &TraceEvent) -> (u64, u64) {
    let start = event.offset - event.offset % SECTOR;
    let end = event.end().div_ceil(SECTOR).saturating_mul(SECTOR);
    (start, end)
}

/// The commands of a replay, each with the time at which it is due.
pub struct ReplayCommands {
    reader: TraceReader,
    fit: AddressFit,
    /// Whole sectors of the target.
    capacity: u64,
    /// Where the trace reaches.
    end: u64,
    speed: Option<f64>,
    ready: VecDeque<(Command, Nanos)>,
    /// The part of an event that is not yet commands: where it is in the trace and its end.
    rest: Option<(TraceEvent, u64, u64)>,
    failure: Option<LabError>,
}

impl ReplayCommands {
    /// Opens the trace again, for a target of `capacity` bytes.
    ///
    /// # Errors
    /// When it reaches beyond the target and may not, or cannot be opened any more.
    pub fn new(replay: &Replay, capacity: u64) -> Result<ReplayCommands, LabError> {
        let capacity = capacity - capacity % SECTOR;
        let end = replay.survey.end;
        if replay.fit == AddressFit::Refuse && end > capacity {
            return Err(LabError::refused(
                format!(
                    "{} reaches to byte {end} ({}), the target ends at byte {capacity} ({})",
                    replay.path.display(),
                    Bytes(end),
                    Bytes(capacity)
                ),
                "fold the addresses with --wrap, shrink them with --scale, or choose a larger \
                 target",
            ));
        }
        if capacity < COMMAND_MAX {
            return Err(LabError::refused(
                format!("a target of {} is too small for a trace", Bytes(capacity)),
                format!("it needs {}", Bytes(COMMAND_MAX)),
            ));
        }
        Ok(ReplayCommands {
            reader: TraceReader::open(&replay.path, &replay.read)?,
            fit: replay.fit,
            capacity,
            end,
            speed: replay.speed,
            ready: VecDeque::new(),
            rest: None,
            failure: None,
        })
    }

    /// The next command and when it is due, counted from the start; `None` at the end, or when
    /// the trace cannot be read on ([`Commands::failure`]).
    pub fn next_command(&mut self) -> Option<(Command, Nanos)> {
        while self.ready.is_empty() {
            if self.rest.is_some() {
                self.cut();
                continue;
            }
            match self.reader.next_event() {
                Ok(Some(event)) => self.begin(&event),
                Ok(None) => return None,
                Err(error) => {
                    self.failure = Some(error);
                    return None;
                }
            }
        }
        self.ready.pop_front()
    }

    /// Why there were no more commands, if it was not the end of the trace.
    pub fn failure(&mut self) -> Option<LabError> {
        self.failure.take()
    }

    fn due(&self, event: &TraceEvent) -> Nanos {
        Nanos(match self.speed {
            None => 0,
            Some(1.0) => event.issued_ns,
            // Saturates.
            Some(speed) => (event.issued_ns as f64 / speed) as u64,
        })
    }

    fn begin(&mut self, event: &TraceEvent) {
        if event.op == Op::Flush || event.preflush {
            self.ready.push_back((Command::flush(), self.due(event)));
        }
        if event.op == Op::Flush {
            return;
        }
        let (start, end) = sectors(event);
        let (start, end) = match self.fit {
            AddressFit::Scale if self.end > self.capacity => {
                let scaled = u128::from(start) * u128::from(self.capacity) / u128::from(self.end);
                let len = (end - start).min(self.capacity);
                let start = scaled as u64 / SCALE_ALIGN * SCALE_ALIGN;
                let start = start.min(self.capacity - len);
                (start, start + len)
            }
            _ => (start, end),
        };
        self.rest = Some((*event, start, end));
    }

    /// Makes one command of the rest of an event.
    fn cut(&mut self) {
        let Some((event, start, end)) = self.rest.take() else {
            return;
        };
        let offset = start % self.capacity;
        let len = (end - start).min(COMMAND_MAX).min(self.capacity - offset);
        // What a trace's data compressed to is not known: random data.
        let command = Command {
            op: event.op,
            fua: event.fua,
            ..Command::write(offset, len as u32)
        };
        let due = self.due(&event);
        self.ready.push_back((command, due));
        if start + len < end {
            self.rest = Some((event, start + len, end));
        }
    }
}

impl std::fmt::Debug for ReplayCommands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Commands").finish_non_exhaustive()
    }
}
