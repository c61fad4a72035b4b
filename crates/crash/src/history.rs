//! What a host did to a disk, so that it can be done again, in whole or in part.

use crate::cut::CutAt;
use ssdlab_ssd::command::{Command, Op};
use ssdlab_ssd::nand::media::Payload;
use ssdlab_ssd::{Bytes, Nanos};
use std::fmt;
use std::sync::Arc;

/// One thing that a host did.
#[derive(Clone, Debug)]
pub enum HistoryStep {
    /// A command.
    Command {
        /// Its number: writes are known by it in reports.
        number: u64,
        /// What it says.
        command: Command,
        /// The bytes of a write.
        bytes: Option<Payload>,
        /// Whether its completion was waited for.
        waited: bool,
    },
    /// The next completion was taken.
    Complete,
    /// Time passed without commands.
    Rest(Nanos),
    /// A cut was armed.
    Arm(CutAt),
    /// The disk's seed was changed.
    Reseed(u64),
    /// Power was cut at once.
    Cut,
    /// Power was switched on; false: a cut struck in the recovery.
    PowerOn(bool),
}

/// A command in words: `write 4 KiB at 8192`.
pub(crate) fn in_words(command: &Command) -> String {
    let name = match (command.op, command.fua) {
        (Op::Flush, _) => return "FLUSH".into(),
        (Op::Write, true) => "FUA write",
        (op, _) => op.name(),
    };
    format!("{name} {} at {}", Bytes(command.len.into()), command.offset)
}

impl fmt::Display for HistoryStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HistoryStep::Command {
                number,
                command,
                waited,
                ..
            } => {
                let open = if *waited { "" } else { ", not waited for" };
                write!(f, "#{number} {}{open}", in_words(command))
            }
            HistoryStep::Complete => f.write_str("wait for a completion"),
            HistoryStep::Rest(time) => write!(f, "rest {time}"),
            HistoryStep::Arm(CutAt::After(time)) => write!(f, "arm a cut after {time}"),
            HistoryStep::Arm(CutAt::Event(count)) => write!(f, "arm a cut after {count} events"),
            HistoryStep::Arm(CutAt::Program(nth)) => {
                write!(f, "arm a cut inside NAND operation {nth}")
            }
            HistoryStep::Arm(CutAt::Recovery(share)) => {
                write!(f, "arm a cut after {share}/1000 of the recovery")
            }
            HistoryStep::Reseed(seed) => write!(f, "seed {seed}"),
            HistoryStep::Cut => f.write_str("cut"),
            HistoryStep::PowerOn(true) => f.write_str("power on"),
            HistoryStep::PowerOn(false) => f.write_str("power on, cut inside recovery"),
        }
    }
}

/// Steps of a chunk that forks share.
const CHUNK: usize = 32;

/// The steps since a disk was as `base`: new, or where its history was started. Forks share all
/// but the last steps.
///
/// ```
/// use ssdlab_crash::{CrashDisk, DriveConfig};
///
/// let mut disk = CrashDisk::new(DriveConfig::tiny(), 1)?;
/// disk.write(8192, &[1; 512])?;
/// disk.flush()?;
/// let steps = disk.history()?.to_string();
/// assert_eq!(steps, "#1 write 512 B at 8192\n#2 FLUSH\n");
/// # Ok::<(), ssdlab_crash::CrashError>(())
/// ```
#[derive(Clone, Debug)]
pub struct History<D> {
    pub(crate) base: Arc<D>,
    sealed: Vec<Arc<[HistoryStep]>>,
    last: Vec<HistoryStep>,
}

impl<D> History<D> {
    pub(crate) fn new(base: D) -> History<D> {
        History {
            base: Arc::new(base),
            sealed: Vec::new(),
            last: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, step: HistoryStep) {
        self.last.push(step);
        if self.last.len() == CHUNK {
            self.sealed.push(std::mem::take(&mut self.last).into());
        }
    }

    /// The steps, in order.
    pub fn steps(&self) -> impl Iterator<Item = &HistoryStep> {
        let sealed = self.sealed.iter().flat_map(|chunk| chunk.iter());
        sealed.chain(&self.last)
    }

    /// A command by its number, in words.
    pub fn command(&self, wanted: u64) -> Option<String> {
        self.steps().find_map(|step| match step {
            HistoryStep::Command {
                number, command, ..
            } if *number == wanted => Some(in_words(command)),
            _ => None,
        })
    }
}

impl<D> fmt::Display for History<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps().try_for_each(|step| writeln!(f, "{step}"))
    }
}
