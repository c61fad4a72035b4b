//! A reduced model of how a drive fills up: room in the pSLC cache, free space in native mode, and
//! what pauses give back. Bytes of media, not of superblocks; a span of steady load is one step.
//!
//! Its laws are those of docs/model.md, sections 8 and 9: the static cache first, then free
//! superblocks in SLC mode while more than a floor are free, then native mode until reclaim must
//! work for each write. Left out: placement, single victims, coalescing in the write buffer. What
//! that costs is held by tests against the full model.

use super::load::LoadSpan;
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::SpareArea;

/// Writes are slowed when the rate that follows is below this share of the present one.
pub const SLOWED: f64 = 0.8;
/// Cycles of the load that are looked ahead at one by one; equal ones are jumped over.
const CYCLES_MAX: usize = 400;
/// Nothing is foretold beyond 30 days.
const HORIZON_S: f64 = 30.0 * 86_400.0;

/// What makes writes slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillEvent {
    /// The pSLC cache has no room.
    CacheFull,
    /// Reclaim must work for each write.
    SpareExhausted,
}

/// What a load puts on the media.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WritePressure {
    /// Share of the writes that are not in order.
    pub random: f64,
    /// Bytes over which writes go, if known.
    pub span_bytes: Option<f64>,
}

/// Sizes and rates of a drive, as the media sees them.
#[derive(Clone, Debug, PartialEq)]
pub struct FillLaw {
    /// Bytes of the static pSLC cache.
    pub static_bytes: f64,
    /// Bytes of all superblocks that are used in native mode.
    pub native_bytes: f64,
    /// Free native bytes down to which superblocks are opened in SLC mode; `None`: no such cache.
    pub dynamic_floor: Option<f64>,
    /// Most bytes that are in the dynamic cache at one time; infinite: as many as that lets.
    pub dynamic_most: f64,
    /// Free native bytes at which reclaim begins.
    pub reclaim_floor: f64,
    /// Bytes of the host.
    pub user_bytes: f64,
    /// Bits of a cell.
    pub bits: f64,
    /// Bytes a second of all dies in SLC mode.
    pub slc_rate: f64,
    /// Bytes a second of all dies in native mode.
    pub native_rate: f64,
    /// Bytes a second that are folded in a pause.
    pub fold_rate: f64,
    /// Pause after which folding begins, s.
    pub idle_after: f64,
    /// Factor on what writes take of the media.
    pub cost: f64,
    commit: CommitLaw,
    journal_share: f64,
    slot_bytes: f64,
    moved_s_per_byte: f64,
    write_overhead: f64,
    leaf: Option<LeafLaw>,
}

/// Commits of a volatile buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CommitLaw {
    unit_bytes: f64,
    map_programs: f64,
    is_volatile: bool,
    slc_program: f64,
    native_program: f64,
    word_line: f64,
}

/// A map that is not all in DRAM.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LeafLaw {
    covered_bytes: f64,
    programs: f64,
}

/// How full a drive is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillState {
    /// Room in the static cache, bytes.
    pub static_room: f64,
    /// Free bytes in native mode.
    pub free: f64,
    /// Bytes in superblocks opened in SLC mode.
    pub dynamic_used: f64,
    /// Bytes that the host holds.
    pub valid: f64,
    /// Length of the pause at hand, s.
    pub rested: f64,
}

/// What a span does until something happens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SpanEvent {
    event: FillEvent,
    /// Share of the span before it.
    share: f64,
}

/// When writes become slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillOutcome {
    /// Why.
    pub event: FillEvent,
    /// In how many seconds.
    pub seconds: f64,
    /// After how many bytes of the host.
    pub bytes: f64,
    /// Bytes of the host a second that follow.
    pub rate_after: f64,
}

impl FillLaw {
    /// Of a drive.
    pub fn new(config: &DriveConfig) -> FillLaw {
        let geometry = config.geometry();
        let superblock = geometry.raw_bytes() as f64 / f64::from(config.shape.blocks_per_plane);
        let bits = f64::from(config.shape.bits_per_cell);
        let slc = &config.ftl.slc;
        let native_count = f64::from(config.shape.blocks_per_plane - slc.static_superblocks());
        let timing = &config.nand.timing;
        let mean_program = seconds(timing.program.iter().map(|time| time.0).sum::<u64>())
            / timing.program.len().max(1) as f64;
        let rate = |program: f64| media_rate(config, program);
        let native_rate = rate(mean_program);
        let parity = if config.ftl.parity {
            f64::from(geometry.die_count) / f64::from(geometry.die_count.max(2) - 1)
        } else {
            1.0
        };
        let slot_bytes = f64::from(config.shape.slot_bytes);
        let moved_s_per_byte = seconds(config.host.moved_slot.0) / slot_bytes;
        let free_at_reclaim = match config.ftl.reclaim.spare {
            SpareArea::Dynamic => f64::from(config.ftl.reclaim.free_superblocks_low),
            // Free space is not used as spare: reclaim begins with the first overwrites.
            SpareArea::Fixed | SpareArea::Limited(_) => native_count,
        };
        FillLaw {
            static_bytes: f64::from(slc.superblocks) * superblock / bits,
            native_bytes: native_count * superblock,
            dynamic_floor: (slc.dynamic_above_free > 0)
                .then(|| f64::from(slc.dynamic_above_free) * superblock),
            dynamic_most: match slc.dynamic_superblocks {
                0 => f64::INFINITY,
                most => f64::from(most) * superblock / bits,
            },
            reclaim_floor: free_at_reclaim * superblock,
            user_bytes: config.user_bytes as f64,
            bits,
            slc_rate: rate(seconds(timing.slc_program.0)),
            native_rate,
            fold_rate: fold_rate(config, mean_program),
            idle_after: seconds(config.ftl.idle_after.0),
            cost: parity,
            commit: CommitLaw {
                unit_bytes: geometry.unit_bytes() as f64,
                map_programs: f64::from(config.ftl.journal.commit_map_programs),
                is_volatile: !config.buffer.completes_durably(),
                slc_program: seconds(timing.slc_program.0),
                native_program: mean_program,
                word_line: if config.ftl.journal.commit_closes_word_lines {
                    bits
                } else {
                    1.0
                },
            },
            journal_share: f64::from(config.ftl.journal.entry_bytes) / slot_bytes,
            slot_bytes,
            moved_s_per_byte,
            write_overhead: seconds(config.host.write_overhead.0),
            leaf: leaf_law(config),
        }
    }

    /// Whether it has a pSLC cache.
    pub fn has_cache(&self) -> bool {
        self.static_bytes > 0.0 || self.dynamic_floor.is_some()
    }

    /// Room of an empty cache on a drive with `free` native bytes.
    pub fn cache_bytes(&self, free: f64) -> f64 {
        self.static_bytes + self.dynamic_room(free, 0.0)
    }

    /// Room of the dynamic cache with `used` bytes in it.
    fn dynamic_room(&self, free: f64, used: f64) -> f64 {
        let of_free = self
            .dynamic_floor
            .map_or(0.0, |floor| (free - floor).max(0.0) / self.bits);
        of_free.min((self.dynamic_most - used).max(0.0))
    }

    /// Bytes of media for the writes of a span.
    pub fn programmed(&self, span: &LoadSpan, pressure: &WritePressure) -> f64 {
        if span.written <= 0.0 {
            return 0.0;
        }
        let mean = span.written / span.writes.max(1.0);
        let slots = span.written * (self.slot_bytes / mean).max(1.0);
        let mut bytes = slots * (1.0 + self.journal_share);
        if let Some(leaf) = &self.leaf {
            let over = pressure.span_bytes.unwrap_or(self.user_bytes);
            let missed = (1.0 - leaf.covered_bytes / over.max(1.0)).max(0.0) * pressure.random;
            bytes += span.writes * missed * leaf.programs;
        }
        if self.commit.is_volatile && span.flushes > 0.0 {
            let commits = span.flushes.min(span.writes.max(1.0));
            let commit_bytes = slots / commits;
            let units = (commit_bytes / self.commit.unit_bytes).ceil().max(1.0);
            let padding = units * self.commit.unit_bytes - commit_bytes;
            bytes += commits * (padding + self.commit.map_programs * self.commit.unit_bytes);
        }
        bytes * self.cost
    }

    /// Host rate at which native mode, and reclaim on top of it, take the writes of a span.
    fn rate_after(
        &self,
        valid: f64,
        span: &LoadSpan,
        pressure: &WritePressure,
        event: FillEvent,
    ) -> f64 {
        let cost = self.programmed(span, pressure) / span.written.max(1.0);
        let mut per_byte = cost / self.native_rate;
        if event == FillEvent::SpareExhausted {
            let stored = pressure.span_bytes.unwrap_or(self.user_bytes).max(valid);
            let moved = pressure.random * (self.steady_waf(stored) - 1.0);
            per_byte += moved * (1.0 / self.native_rate + self.moved_s_per_byte);
        }
        let media = 1.0 / per_byte;
        let mean = span.written / span.writes.max(1.0);
        let controller = mean / self.write_overhead.max(1e-9);
        media.min(controller).min(self.commit_rate(span))
    }

    /// Host rate of commits in native mode, where each waits for programs.
    fn commit_rate(&self, span: &LoadSpan) -> f64 {
        if !self.commit.is_volatile || span.flushes <= 0.0 {
            return f64::INFINITY;
        }
        let commits = span.flushes.min(span.writes.max(1.0));
        let serial = self.commit.map_programs + 1.0;
        let longer = serial
            * (self.commit.native_program * self.commit.word_line - self.commit.slc_program)
                .max(0.0);
        span.written / (span.seconds + commits * longer)
    }

    /// Write amplification of uniform random overwrites by greedy reclaim, in closed form:
    /// (1 + OP) / (2 OP), OP = spare / what is stored.
    fn steady_waf(&self, valid: f64) -> f64 {
        let spare = (self.native_bytes - self.reclaim_floor - valid).max(0.0);
        let op = (spare / valid.max(1.0)).max(0.01);
        ((1.0 + op) / (2.0 * op)).max(1.0)
    }

    /// Places bytes that were written before, as the drive does.
    pub fn place(&self, state: &mut FillState, programmed: f64) {
        let to_static = programmed.min(state.static_room);
        state.static_room -= to_static;
        let room = self.dynamic_room(state.free, state.dynamic_used);
        let to_dynamic = (programmed - to_static).min(room);
        state.dynamic_used += to_dynamic;
        state.free -= to_dynamic * self.bits;
        let native = programmed - to_static - to_dynamic;
        state.free = (state.free - native).max(self.reclaim_floor.min(state.free));
    }

    /// A pause: the cache is folded, and discarded space becomes free.
    fn rest(&self, state: &mut FillState, seconds: f64) {
        let before = (state.rested - self.idle_after).max(0.0);
        state.rested += seconds;
        let background = (state.rested - self.idle_after).max(0.0) - before;
        let mut folds = background * self.fold_rate;
        let of_static = folds.min(self.static_bytes - state.static_room);
        state.static_room += of_static;
        state.free -= of_static;
        folds -= of_static;
        let of_dynamic = folds.min(state.dynamic_used);
        state.dynamic_used -= of_dynamic;
        state.free += of_dynamic * (self.bits - 1.0);
        let spare = self.native_bytes - state.valid - state.dynamic_used * self.bits;
        state.free = state.free.min(spare).max(0.0);
    }

    /// Goes on with a span; says whether writes become slow in it.
    fn step(
        &self,
        state: &mut FillState,
        span: &LoadSpan,
        pressure: &WritePressure,
    ) -> Option<SpanEvent> {
        if span.is_rest() {
            self.rest(state, span.seconds);
            return None;
        }
        state.rested = 0.0;
        if span.discarded > 0.0 {
            let freed = span.discarded.min(state.valid);
            state.valid -= freed;
            state.free += freed;
        }
        let programmed = self.programmed(span, pressure);
        if programmed <= 0.0 {
            return None;
        }
        let dynamic_room = self.dynamic_room(state.free, state.dynamic_used);
        let room = state.static_room + dynamic_room;
        let valid = state.valid;
        let slows =
            |event| self.rate_after(valid, span, pressure, event) < SLOWED * span.write_rate();
        let slowing = if self.has_cache() && programmed > room && slows(FillEvent::CacheFull) {
            Some((FillEvent::CacheFull, room / programmed))
        } else {
            let native = (programmed - room).max(0.0);
            let free = state.free - dynamic_room * self.bits - self.reclaim_floor;
            let used_up = native > free && pressure.random > 0.0;
            (used_up && slows(FillEvent::SpareExhausted)).then(|| {
                (
                    FillEvent::SpareExhausted,
                    (room + free.max(0.0)) / programmed,
                )
            })
        };
        self.place(state, programmed);
        slowing.map(|(event, share)| SpanEvent { event, share })
    }

    /// Goes through what was watched; whether writes would have become slow before its end.
    pub fn replay(
        &self,
        state: &mut FillState,
        spans: &[LoadSpan],
        pressure: &WritePressure,
    ) -> bool {
        let mut slowed = false;
        for span in spans {
            slowed |= self.step(state, span, pressure).is_some();
        }
        slowed
    }

    /// When writes become slow if the load repeats `cycle`; `None`: not within the horizon.
    pub fn foretell(
        &self,
        mut state: FillState,
        cycle: &[LoadSpan],
        pressure: &WritePressure,
    ) -> Option<FillOutcome> {
        let (mut seconds, mut bytes) = (0.0, 0.0);
        let mut change: Option<RoomChange> = None;
        for _ in 0..CYCLES_MAX {
            let begin = state;
            for span in cycle {
                if let Some(slowing) = self.step(&mut state, span, pressure) {
                    return Some(FillOutcome {
                        event: slowing.event,
                        seconds: seconds + slowing.share * span.seconds,
                        bytes: bytes + slowing.share * span.written,
                        rate_after: self.rate_after(state.valid, span, pressure, slowing.event),
                    });
                }
                seconds += span.seconds;
                bytes += span.written;
            }
            let cycle_change = RoomChange::between(&begin, &state);
            if cycle.is_empty() || cycle_change.is_none() || seconds > HORIZON_S {
                return None;
            }
            if change.is_some_and(|before| before.is_like(cycle_change)) {
                let times = self.equal_cycles(&state, &cycle_change);
                cycle_change.repeat(&mut state, times);
                let length: f64 = cycle.iter().map(|span| span.seconds).sum();
                let written: f64 = cycle.iter().map(|span| span.written).sum();
                seconds += times * length;
                bytes += times * written;
            }
            change = Some(cycle_change);
        }
        None
    }

    /// Cycles with the same change until a limit is near.
    fn equal_cycles(&self, state: &FillState, change: &RoomChange) -> f64 {
        let until = |room: f64, per_cycle: f64| {
            if per_cycle < 0.0 {
                room / -per_cycle
            } else {
                f64::INFINITY
            }
        };
        let floor = self.dynamic_floor.unwrap_or(self.reclaim_floor);
        let free_limit = if state.free > floor {
            floor
        } else {
            self.reclaim_floor
        };
        let cycles = until(state.static_room, change.static_room)
            .min(until(state.free - free_limit, change.free))
            .min(until(
                (self.dynamic_most - state.dynamic_used).max(0.0),
                -change.dynamic_used,
            ));
        (cycles.min(1e9).floor() - 1.0).max(0.0)
    }
}

/// What a cycle of the load changes.
#[derive(Clone, Copy, Debug)]
struct RoomChange {
    static_room: f64,
    free: f64,
    dynamic_used: f64,
}

/// Changes below this many bytes are none.
const UNCHANGED: f64 = 1.0;

impl RoomChange {
    fn between(before: &FillState, after: &FillState) -> RoomChange {
        RoomChange {
            static_room: after.static_room - before.static_room,
            free: after.free - before.free,
            dynamic_used: after.dynamic_used - before.dynamic_used,
        }
    }

    fn is_none(&self) -> bool {
        let changes = [self.static_room, self.free, self.dynamic_used];
        changes.iter().all(|change| change.abs() < UNCHANGED)
    }

    fn is_like(&self, other: RoomChange) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= UNCHANGED + 1e-6 * a.abs();
        near(self.static_room, other.static_room)
            && near(self.free, other.free)
            && near(self.dynamic_used, other.dynamic_used)
    }

    fn repeat(&self, state: &mut FillState, times: f64) {
        state.static_room += times * self.static_room;
        state.free += times * self.free;
        state.dynamic_used = (state.dynamic_used + times * self.dynamic_used).max(0.0);
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Bytes a second that all dies take when a program lasts `program` seconds.
fn media_rate(config: &DriveConfig, program: f64) -> f64 {
    let geometry = config.geometry();
    let unit = geometry.unit_bytes() as f64;
    let channel = config.nand.timing.channel_bytes_per_second as f64;
    let transfer = unit / channel;
    let program_s = if config.nand.cache_program {
        program.max(transfer)
    } else {
        program + transfer
    };
    let mut dies = f64::from(geometry.die_count);
    if config.nand.programs_at_once > 0 {
        dies = dies.min(f64::from(config.nand.programs_at_once));
    }
    let channels = channel * f64::from(config.shape.channel_count);
    let link = config.host.link_bytes_per_second as f64;
    (dies * unit / program_s.max(1e-9)).min(channels).min(link)
}

/// Folding goes die by die: read, move over the channel twice, program; the controller pays for
/// each slot.
fn fold_rate(config: &DriveConfig, program: f64) -> f64 {
    let geometry = config.geometry();
    let unit = geometry.unit_bytes() as f64;
    let dies = f64::from(geometry.die_count);
    let per_channel = dies / f64::from(config.shape.channel_count);
    let transfer = unit / config.nand.timing.channel_bytes_per_second as f64;
    let read = seconds(config.nand.timing.slc_read.0);
    let media = read + program + 2.0 * per_channel * transfer;
    let slots = dies * f64::from(geometry.slots_per_unit);
    let controller = slots * seconds(config.host.moved_slot.0);
    dies * unit / media.max(controller).max(1e-9)
}

fn leaf_law(config: &DriveConfig) -> Option<LeafLaw> {
    let mapping = &config.ftl.mapping;
    if !mapping.kind.has_leaves() {
        return None;
    }
    let slot = f64::from(config.shape.slot_bytes);
    let unit = config.geometry().unit_bytes() as f64;
    let programs = match mapping.leaf_programs {
        0 => slot,
        programs => f64::from(programs) * unit,
    };
    Some(LeafLaw {
        covered_bytes: mapping.dram_bytes as f64 / f64::from(mapping.entry_bytes) * slot,
        programs,
    })
}
