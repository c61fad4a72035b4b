//! Causes of slowness as hypotheses: what shows each, what excludes it, what must still be tried.
//!
//! Each is judged from times alone. Limits are those of a healthy drive of the same interface, as
//! in [`crate::ablate::ReliefLevels`]; a cause is shown when some load would be [`FAULT`] times as
//! fast with that of a healthy drive.

use super::figures::{ExperimentFigure, ExperimentFigures};
use super::kinds::ExperimentKind;
use super::own_word::DriveSelfReport;
use crate::ablate::{Cause, FAULT};
use schemars::JsonSchema;
use serde::Serialize;

/// Slots of 4 KiB in a large command.
const SLOTS: f64 = 32.0;
/// Commands outstanding where a queue is kept.
const DEPTH: f64 = 32.0;
/// Bytes of a small and of a large command.
const SMALL: f64 = 4096.0;
const LARGE: f64 = SLOTS * SMALL;
/// ns of reading a page of healthy cells, and of moving 4 KiB over a slow channel.
const CELLS_READ: f64 = 115e3 + 5e3;
/// Bytes per second that a die of healthy cells programs, at least: 32 KiB (two planes) of three
/// bits in 2.6 ms or 16 KiB of two bits in 1.6 ms.
const DIE_PROGRAMS: f64 = 10e6;
/// Times as long as [`CELLS_READ`] from which reads of the media are worth another look.
const SUSPICIOUS: f64 = 1.2;
/// ns of any read of the media, at least: Optane's take 7 us, those of SLC 20 us and more.
const MEDIA_READ: f64 = 5e3;
/// ns of any program of NAND, at least.
const PROGRAM: f64 = 100e3;
/// Bytes that two planes of a die program at once.
const DIE_BYTES: f64 = 32768.0;
/// Slots written to the media for each slot of the host that a healthy drive writes at random.
const WAF: f64 = 5.0;

/// What a healthy drive does at worst, by its interface.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct InterfaceLimits {
    /// Bytes per second of the link.
    pub link: f64,
    /// Time that each command takes for itself at depth, ns.
    pub command: f64,
    /// Time that each command waits on its way, ns.
    pub latency: f64,
}

impl InterfaceLimits {
    /// By the interface as the kernel names it; SATA's where it is not known.
    pub fn of(interface: Option<&str>) -> InterfaceLimits {
        let pcie = interface.is_some_and(|name| {
            let name = name.to_lowercase();
            name.contains("nvme") || name.contains("pcie")
        });
        let (link, command) = if pcie { (2.5e9, 4e3) } else { (500e6, 15e3) };
        InterfaceLimits {
            link,
            command,
            latency: 40e3,
        }
    }
}

/// Where a hypothesis stands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HypothesisStatus {
    /// It slows some load down.
    Shown {
        /// How many times as fast that load would be.
        factor: f64,
        /// The numbers that show it.
        why: String,
    },
    /// It does not.
    Excluded {
        /// The numbers that exclude it.
        why: String,
    },
    /// Something must be tried first.
    Open {
        /// What.
        next: ExperimentKind,
        /// How many times as fast some load might be at most.
        suspicion: f64,
    },
    /// This target does not let it be seen.
    Unseen {
        /// Why not.
        why: String,
    },
    /// It, or another cause from which no experiment here separates it.
    Unclear {
        /// The other.
        or: Cause,
        /// How many times as fast some load would be.
        factor: f64,
        /// The numbers.
        why: String,
    },
}

/// Figures that a hypothesis asks for; one that is missing leaves it open.
struct HypothesisEvidence<'a> {
    figures: &'a ExperimentFigures,
    limits: &'a InterfaceLimits,
    word: &'a DriveSelfReport,
}

/// What reads at depth wait for.
enum DepthWait {
    /// Until a command before has ended.
    Turn,
    /// The controller.
    Controller,
    /// One or the other.
    Either,
}

type HypothesisResult = Result<HypothesisStatus, HypothesisStatus>;

fn excluded(why: String) -> HypothesisResult {
    Ok(HypothesisStatus::Excluded { why })
}

/// Microseconds or milliseconds, for sentences.
fn time(ns: f64) -> String {
    match ns {
        ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
        ns if ns >= 100e3 => format!("{:.0} us", ns / 1e3),
        ns => format!("{:.1} us", ns / 1e3),
    }
}

/// Shown when it is worth it, otherwise excluded.
fn by_factor(factor: f64, why: String) -> HypothesisResult {
    Ok(if factor >= FAULT {
        HypothesisStatus::Shown { factor, why }
    } else {
        HypothesisStatus::Excluded { why }
    })
}

impl HypothesisEvidence<'_> {
    fn get(&self, figure: ExperimentFigure, suspicion: f64) -> Result<f64, HypothesisStatus> {
        self.figures.get(figure).ok_or(HypothesisStatus::Open {
            next: figure.experiment(),
            suspicion,
        })
    }

    /// Time of 4 KiB on the link, from two sizes, ns.
    fn link_small(&self) -> Result<f64, HypothesisStatus> {
        let write = self.get(ExperimentFigure::Write, 1.0)?;
        let large = self.get(ExperimentFigure::WriteLarge, 1.0)?;
        Ok((large - write).max(1.0) * SMALL / (LARGE - SMALL))
    }

    /// Most that a command can take for itself at depth, ns.
    fn command_at_most(&self) -> Result<f64, HypothesisStatus> {
        let link = self.link_small()?;
        let reads = self.get(ExperimentFigure::ReadNearAtDepth, 1.0)?;
        let burst = self.get(ExperimentFigure::Burst, 1.0)? - link;
        let back = self.get(ExperimentFigure::ReadBack, reads / self.limits.command)?;
        Ok(reads.min(burst).min(back).max(1.0))
    }

    /// Whether reads reach the media at all, and not only a cache of the host's or a hypervisor's.
    fn sees_media(&self) -> Result<(), HypothesisStatus> {
        let media = self.media()?;
        if media < MEDIA_READ {
            Err(HypothesisStatus::Unseen {
                why: format!(
                    "a read spends {} on the media: a cache serves it",
                    time(media)
                ),
            })
        } else {
            Ok(())
        }
    }

    /// Time of a read that is spent on the media, ns.
    fn media(&self) -> Result<f64, HypothesisStatus> {
        let read = self.get(ExperimentFigure::ReadNear, 1.0)?;
        Ok((read - self.get(ExperimentFigure::Write, 1.0)?).max(1.0))
    }

    /// Dies, from how long 32 reads at random dies take together. The busiest of `d` dies has
    /// about 32 / (0.93 d)^(2/3) of them for 2 to 16 dies.
    fn dies(&self, suspicion: f64) -> Result<f64, HypothesisStatus> {
        let large = self.get(ExperimentFigure::ReadLarge, suspicion)?;
        let media = large - self.get(ExperimentFigure::WriteLarge, 1.0)?;
        let at_once = SLOTS * self.media()? / media.max(1.0);
        Ok((0.93 * at_once.max(1.0).powf(1.5)).max(1.0))
    }

    /// Time between small reads at depth, were the dies all that limits them, ns.
    fn by_dies(&self, suspicion: f64) -> Result<f64, HypothesisStatus> {
        let dies = self.dies(suspicion)?;
        let busy = DEPTH * dies / (DEPTH - 1.0 + dies);
        Ok(self.media()? / busy)
    }

    /// Bytes per second that a die programs when nothing has to be moved.
    fn die_programs(&self, suspicion: f64) -> Result<f64, HypothesisStatus> {
        let in_order = self.get(ExperimentFigure::InOrder, suspicion)?;
        Ok(LARGE / (in_order / 1e9) / self.dies(suspicion)?)
    }

    fn volatile_buffer(&self) -> HypothesisResult {
        let plain = self.get(ExperimentFigure::Write, 1.0)?;
        let durable = self.get(ExperimentFigure::Durable, 1.0)?;
        let why = format!(
            "a single durable write takes {}, a plain one {}",
            time(durable),
            time(plain)
        );
        if durable - plain < PROGRAM {
            excluded(why)
        } else {
            by_factor(durable / plain, why)
        }
    }

    /// A write that a cache takes waits for no page, not even for the one that a read waits for.
    fn write_cache_off(&self) -> HypothesisResult {
        let plain = self.get(ExperimentFigure::Write, 1.0)?;
        let durable = self.get(ExperimentFigure::Durable, 1.0)?;
        let read = self.get(ExperimentFigure::ReadNear, 1.0)?;
        let why = format!(
            "a single plain write takes {}, a durable one {}, a read {}",
            time(plain),
            time(durable),
            time(read)
        );
        if plain - read < PROGRAM || durable - plain >= PROGRAM {
            excluded(why)
        } else {
            by_factor(plain / read, why)
        }
    }

    fn link(&self) -> HypothesisResult {
        let small = self.link_small()?;
        let bytes = SMALL / (small / 1e9);
        let large = self.get(ExperimentFigure::WriteLarge, 1.0)?;
        let saved = (LARGE / bytes - LARGE / self.limits.link) * 1e9;
        let why = format!(
            "124 KiB more in a write take {} longer: {:.0} MB/s",
            time(small * (SLOTS - 1.0)),
            bytes / 1e6
        );
        if bytes * FAULT > self.limits.link {
            excluded(why)
        } else {
            by_factor(large / (large - saved), why)
        }
    }

    fn latency(&self) -> HypothesisResult {
        let write = self.get(ExperimentFigure::Write, 1.0)?;
        let single = write.min(self.get(ExperimentFigure::ReadNear, 1.0)?);
        let command = self.command_at_most()?;
        let waits = (single - command - self.link_small()?).max(0.0);
        let more = (waits - self.limits.latency).max(0.0);
        let why = format!(
            "a single command takes {}, of which {} are neither the link's nor those of a command \
             at depth",
            time(single),
            time(waits)
        );
        by_factor(single / (single - more).max(1.0), why)
    }

    fn controller(&self) -> HypothesisResult {
        let command = self.command_at_most()?;
        let factor = command / self.limits.command;
        let why = format!("at depth a command takes {} at most", time(command));
        if factor < FAULT {
            return excluded(why);
        }
        let reads = self.get(ExperimentFigure::ReadNearAtDepth, factor)?;
        if reads < 1.4 * self.by_dies(factor)? || self.is_link(reads)? {
            return excluded(format!("{why}, and its dies or its link take as long"));
        }
        match self.waits_for(reads)? {
            DepthWait::Turn => excluded(format!(
                "{why}, and reads at depth {}: they wait for their turn",
                time(reads)
            )),
            DepthWait::Either => Ok(HypothesisStatus::Unclear {
                or: Cause::QueueDepth,
                factor,
                why: format!("{why}; so do reads, few of which may be in progress at a time"),
            }),
            DepthWait::Controller => by_factor(factor, why),
        }
    }

    /// What reads at depth wait for that neither the dies nor the link explain. A controller takes
    /// as long for commands that the write buffer serves; these are faster where few commands are
    /// in progress at a time.
    fn waits_for(&self, reads: f64) -> Result<DepthWait, HypothesisStatus> {
        let burst = self.get(ExperimentFigure::Burst, 1.0)? - self.link_small()?;
        let buffer = burst.min(self.get(ExperimentFigure::ReadBack, 1.0)?);
        Ok(match buffer / reads {
            share if share < 0.8 => DepthWait::Turn,
            share if share < 1.25 || !self.few_at_once()? => DepthWait::Controller,
            _ => DepthWait::Either,
        })
    }

    fn is_link(&self, at_depth: f64) -> Result<bool, HypothesisStatus> {
        Ok(at_depth < 1.25 * self.link_small()?)
    }

    /// Whether fewer reads are in progress at a time than its dies could do.
    fn few_at_once(&self) -> Result<bool, HypothesisStatus> {
        let near = self.get(ExperimentFigure::ReadNear, 1.0)?;
        let at_depth = self.get(ExperimentFigure::ReadNearAtDepth, 1.0)?;
        let at_once = near / at_depth;
        let suspicion = (16.0 / at_once).max(1.0);
        Ok(at_once < 0.65 * self.get_busy(suspicion)?)
    }

    fn get_busy(&self, suspicion: f64) -> Result<f64, HypothesisStatus> {
        Ok(self.media()? / self.by_dies(suspicion)?)
    }

    fn queue_depth(&self) -> HypothesisResult {
        self.sees_media()?;
        let near = self.get(ExperimentFigure::ReadNear, 1.0)?;
        let at_depth = self.get(ExperimentFigure::ReadNearAtDepth, 1.0)?;
        let at_once = near / at_depth;
        let why = format!("32 reads at a time are {at_once:.1} times as fast as single ones");
        if at_once >= 16.0 {
            return excluded(why);
        }
        let command = self.command_at_most()?;
        if !self.few_at_once()? || self.is_link(at_depth)? {
            return excluded(format!("{why}, as fast as its dies or its link allow"));
        }
        let best = self.by_dies(1.0)?.max(command.min(self.limits.command));
        let factor = at_depth / best;
        let why = format!("{why}, though its dies would allow {:.1}", near / best);
        match self.waits_for(at_depth)? {
            DepthWait::Turn => by_factor(factor, why),
            DepthWait::Either if factor >= FAULT => Ok(HypothesisStatus::Unclear {
                or: Cause::Controller,
                factor,
                why,
            }),
            DepthWait::Either | DepthWait::Controller => excluded(why),
        }
    }

    fn map(&self) -> HypothesisResult {
        self.sees_media()?;
        let read = self.get(ExperimentFigure::Read, 1.0)?;
        let near = self.get(
            ExperimentFigure::ReadNear,
            read / self.get(ExperimentFigure::Write, 1.0)?,
        )?;
        let at_depth = self.get(ExperimentFigure::ReadAtDepth, 1.0)?;
        let near_at_depth = self.get(ExperimentFigure::ReadNearAtDepth, 1.0)?;
        let factor = (read / near).max(at_depth / near_at_depth);
        let why = format!(
            "a read takes {} anywhere and {} within 2 MiB; at depth, {} and {}",
            time(read),
            time(near),
            time(at_depth),
            time(near_at_depth)
        );
        by_factor(factor, why)
    }

    fn reclaim(&self) -> HypothesisResult {
        let write = self.get(ExperimentFigure::Overwrite, 1.0)?;
        let least = self.get(ExperimentFigure::Burst, 1.0)?;
        let most = write / least / WAF;
        let why = format!(
            "a random write takes {}, one that the buffer takes {}",
            time(write),
            time(least)
        );
        if let Ok(HypothesisStatus::Shown { .. }) = self.map() {
            return if most.max(write / least) < FAULT {
                excluded(why)
            } else {
                Ok(HypothesisStatus::Excluded {
                    why: format!("{why}; the map's own writes are part of that"),
                })
            };
        }
        let in_order = self.get(ExperimentFigure::InOrder, write / least)? / SLOTS;
        // Where the media are faster than the controller, small commands are bound by this.
        let base = in_order.max(self.command_at_most()?);
        let written = write / base;
        let why = format!(
            "a random write takes {written:.1} times as long as one for which nothing has to be \
             moved ({}, in order {})",
            time(base),
            time(in_order)
        );
        by_factor(written / WAF, why)
    }

    fn reads_in_order(&self) -> HypothesisResult {
        let alone = self.get(ExperimentFigure::Read, 1.0)?;
        let beside = self.get(ExperimentFigure::ReadBeside, 1.0)?;
        let waits = (beside - alone).max(0.0);
        let why = format!(
            "a read takes {} alone and {} beside random writes",
            time(alone),
            time(beside)
        );
        // A program and an erase of any cells.
        if waits < 20e6 {
            return excluded(format!("{why}: no longer than a program and an erase"));
        }
        let program = DIE_BYTES / self.die_programs(waits / PROGRAM)? * 1e9;
        let why = format!("{why}; a die programs in about {}", time(program));
        by_factor(waits / (5.0 * program), why)
    }

    /// Reads of the media themselves; `worn` when programs are as fast as those of healthy cells.
    fn cells(&self, worn: bool) -> HypothesisResult {
        self.sees_media()?;
        let media = self.media()?;
        let reads = media / CELLS_READ;
        let why = format!("a read of the media takes {}", time(media));
        if reads < SUSPICIOUS {
            return excluded(why);
        }
        let programs = self.die_programs(reads)?;
        let why = format!("{why}; a die programs {:.0} MB/s", programs / 1e6);
        let used = self.word.after.used_percent;
        let why = used.map_or(why.clone(), |used| {
            format!("{why}; the drive says that {used:.0} % of its life is used")
        });
        let (slow, sound) = (programs < 0.8 * DIE_PROGRAMS, programs > 0.9 * DIE_PROGRAMS);
        let (slow, sound) = match self.word.is_worn() {
            Some(is_worn) if !slow && !sound => (!is_worn, is_worn),
            _ => (slow, sound),
        };
        match (slow, sound) {
            (true, _) if worn => excluded(format!("{why}: programs are slow, too")),
            (_, true) if !worn => excluded(format!("{why}: programs are not slow")),
            (false, false) => Ok(HypothesisStatus::Unclear {
                or: if worn { Cause::SlowCells } else { Cause::Wear },
                factor: reads,
                why,
            }),
            _ if worn => by_factor(reads, why),
            _ => by_factor(reads.max(DIE_PROGRAMS / programs), why),
        }
    }

    /// A drive that is faster after a rest: its pSLC cache was emptied, or it cooled down.
    fn rested(&self, throttled: bool) -> HypothesisResult {
        let too_warm = self.word.too_warm_s();
        if throttled && too_warm == Some(0.0) {
            return excluded("it was never too warm by its own count".into());
        }
        let steady = self.get(ExperimentFigure::Overwrite, 1.0)? * SLOTS;
        let in_order = self.get(ExperimentFigure::InOrder, 1.0)?;
        let fast = self.get(ExperimentFigure::AfterIdle, 1.0)?;
        let factor = in_order / fast;
        let why = format!(
            "128 KiB in order take {} after half a minute's rest, {} in the end",
            time(fast),
            time(in_order)
        );
        if steady < fast || factor < FAULT {
            return excluded(why);
        }
        match too_warm {
            None => Ok(HypothesisStatus::Unclear {
                or: if throttled {
                    Cause::SlcFull
                } else {
                    Cause::Throttling
                },
                factor,
                why: format!("{why}; it does not say whether it was too warm"),
            }),
            Some(seconds) if seconds > 0.0 && !throttled => excluded(format!(
                "{why}; it was too warm for {seconds:.0} s by its own count"
            )),
            Some(seconds) if seconds > 0.0 => by_factor(
                factor,
                format!("{why}; it was too warm for {seconds:.0} s by its own count"),
            ),
            Some(_) => by_factor(factor, format!("{why}; it was never too warm")),
        }
    }
}

/// The causes that experiments can show.
pub const CAUSES: [Cause; 13] = [
    Cause::VolatileBuffer,
    Cause::WriteCacheOff,
    Cause::Link,
    Cause::Latency,
    Cause::Controller,
    Cause::QueueDepth,
    Cause::Map,
    Cause::SlowCells,
    Cause::Wear,
    Cause::ReadsInOrder,
    Cause::SlcFull,
    Cause::Throttling,
    Cause::Reclaim,
];

/// Where the hypothesis that `cause` slows the drive down stands.
pub fn stands(
    cause: Cause,
    figures: &ExperimentFigures,
    limits: &InterfaceLimits,
    word: &DriveSelfReport,
) -> HypothesisStatus {
    let look = HypothesisEvidence {
        figures,
        limits,
        word,
    };
    let judged = match cause {
        Cause::VolatileBuffer => look.volatile_buffer(),
        Cause::WriteCacheOff => look.write_cache_off(),
        Cause::Link => look.link(),
        Cause::Latency => look.latency(),
        Cause::Controller => look.controller(),
        Cause::QueueDepth => look.queue_depth(),
        Cause::Map => look.map(),
        Cause::SlowCells => look.cells(false),
        Cause::Wear => look.cells(true),
        Cause::ReadsInOrder => look.reads_in_order(),
        Cause::SlcFull => look.rested(false),
        Cause::Throttling => look.rested(true),
        Cause::Reclaim => look.reclaim(),
        Cause::Parity | Cause::Power => excluded("times do not show it".into()),
        Cause::HostPauses | Cause::DoubledFlushes => {
            excluded("the commands were those of the experiments".into())
        }
    };
    judged.unwrap_or_else(|open| open)
}
