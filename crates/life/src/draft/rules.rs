//! The arithmetic of a draft: from facts to numbers. Each rule says what it follows from.

use super::facts::{Cells, DatasheetFacts, DraftClass, Interface, MapLocation};
use super::prior::{EstimatedConstants, PriorConstant};
use crate::theory::closed_form::greedy;
use ssdlab_drives::catalogue::Provenance;

const GIB: u64 = 1 << 30;
/// Bytes of a page, usual since 2016.
pub(super) const PAGE: u64 = 16 << 10;
/// Share of a rate's time per command that is the controller's: the rest is queueing.
const CONTROLLER_SHARE: f64 = 0.97;
/// Writes in order at this share of the link are limited by it, and say nothing of the flash.
const LINK_SHARE: f64 = 0.85;
/// Time of a program in SLC mode in ns: cells take 160 to 250 us.
pub(super) const USUAL_SLC_PROGRAM_NS: u64 = 200_000;
/// Time of a moved slot in times per command where nothing decides it (`docs/catalogue.md`).
const MOVED_PER_COMMAND: f64 = 1.94;

/// Shape of the array.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ArrayShape {
    pub channels: u64,
    pub dies: u64,
    pub planes: u64,
    pub blocks: u64,
    pub pages: u64,
    pub bits: u64,
    /// Planes that read apart are dies of the model.
    pub planes_apart: bool,
}

impl ArrayShape {
    /// Bytes of a program of all planes of a die.
    pub fn unit(&self) -> u64 {
        self.planes * PAGE
    }

    /// Bytes of a superblock.
    pub fn superblock(&self) -> u64 {
        self.dies * self.unit() * self.pages
    }

    /// Bytes of flash.
    pub fn raw(&self) -> u64 {
        self.superblock() * self.blocks
    }
}

/// User bytes: decimal GB of at least 50 are counted as IDEMA LBA1-03 has it, the rest as given.
/// `true` when counted.
pub(super) fn user_bytes(capacity: u64) -> (u64, bool) {
    let gb = capacity / 1_000_000_000;
    if !capacity.is_multiple_of(1_000_000_000) || gb < 50 {
        return (capacity / 4096 * 4096, false);
    }
    ((97_696_368 + 1_953_504 * (gb - 50)) * 512, true)
}

/// Bytes of a mapping unit, and why: 4 KiB, or as few more as keep the map's numbers in 32 bits.
/// Drives of four bits a cell go in steps of four: 16 and 64 KiB are documented of them.
pub(super) fn mapping_unit(raw: u64, cells: Cells) -> (u64, &'static str) {
    let steps = if cells == Cells::Qlc { 2 } else { 1 };
    let fits = |shift: &u32| raw.div_ceil(1 << shift) <= 1 << 32;
    let shift = (12..=16).step_by(steps).find(fits).unwrap_or(16);
    match shift {
        12 => (4 << 10, "usual"),
        shift => (
            1 << shift,
            "4 KiB are usual; larger ones keep the map in 32 bits",
        ),
    }
}

/// Most bytes of flash that a map of `unit` bytes each has numbers for.
fn mappable(unit: u64) -> u64 {
    0xFEFF_FFFF * unit
}

/// Flash on the board: the smallest power of two of GiB that leaves 6.5 % of the user capacity, or
/// three quarters of one that leaves 20 %.
pub(super) fn usual_raw(user: u64) -> u64 {
    let leaves = |raw: u64, share: f64| raw as f64 >= user as f64 * (1.0 + share);
    let mut raw = GIB;
    while !leaves(raw, 0.065) {
        raw *= 2;
    }
    if leaves(raw / 4 * 3, 0.2) {
        raw / 4 * 3
    } else {
        raw
    }
}

/// Shape of the array: dies of 32 GiB (SATA, PCIe 3.0) or 64 GiB, QLC 128 GiB, of four planes.
pub(super) fn array(facts: &DatasheetFacts, raw: u64) -> ArrayShape {
    let old = matches!(
        facts.interface,
        Interface::Sata | Interface::Sas | Interface::Pcie3
    );
    let die = match facts.cells {
        Cells::Qlc => 128 * GIB,
        _ if old => 32 * GIB,
        _ => 64 * GIB,
    };
    let most = match (facts.map, facts.class(), facts.interface) {
        (MapLocation::Host, _, _) => 4,
        (_, DraftClass::Enterprise, Interface::Pcie4 | Interface::Pcie5) => 16,
        _ => 8,
    };
    let dies = (raw / die).max(4);
    let mut channels = most;
    while channels > 1 && !dies.is_multiple_of(channels) {
        channels /= 2;
    }
    let (bits, pages) = match facts.cells {
        Cells::Slc => (1, 384),
        Cells::Mlc => (2, 512),
        Cells::Tlc => (3, 1152),
        Cells::Qlc => (4, 2304),
    };
    let mut array = ArrayShape {
        channels,
        dies,
        planes: 4,
        // 16 TiB are as many units of 4 KiB as a map of 32 bits has numbers; some it keeps.
        blocks: raw.min(mappable(mapping_unit(raw, facts.cells).0)) / (dies * 4 * PAGE * pages),
        pages,
        bits,
        planes_apart: false,
    };
    let required_rate = facts.random_read.map_or(0.0, f64::from);
    if required_rate > random_reads(facts, array.dies, cell_read_ns(facts)) {
        array.dies *= array.planes;
        array.planes = 1;
        array.planes_apart = true;
    }
    array
}

/// Rate of a channel in MB/s.
pub(super) fn channel_rate(facts: &DatasheetFacts) -> u64 {
    match facts.interface {
        Interface::Sata => 400,
        Interface::Sas => 800,
        Interface::Pcie3 => 800,
        Interface::Pcie4 => 1200,
        Interface::Pcie5 => 2400,
    }
}

/// What the link carries in MB/s.
pub fn link_rate(facts: &DatasheetFacts) -> u64 {
    match facts.interface {
        Interface::Sata => 550,
        Interface::Sas => 1_100,
        Interface::Pcie3 => 3500,
        Interface::Pcie4 => 7500,
        Interface::Pcie5 => 14_500,
    }
}

/// Controller's time in ns at `iops`.
pub(super) fn per_command(iops: u32) -> u64 {
    (1e9 * CONTROLLER_SHARE / f64::from(iops)).round() as u64
}

/// The same, usual for the interface.
pub(super) fn usual_per_command(facts: &DatasheetFacts) -> u64 {
    match facts.interface {
        Interface::Sata => 10_500,
        Interface::Sas => 4_000,
        _ => 1_600,
    }
}

/// Time that every command adds, in ns: what a write into a protected buffer takes, less the
/// controller and the link; `None` where the sheet does not say.
pub(super) fn latency_ns(facts: &DatasheetFacts) -> Option<u64> {
    let write = facts.write_latency.filter(|_| facts.protected)?.0;
    let fixed = usual_or(facts.random_read, facts) + link_ns(facts);
    Some(write.saturating_sub(fixed).max(1_000))
}

/// Time of a cell read in ns that is usual: the mean over the pages of a word line.
pub(super) fn usual_read_ns(cells: Cells) -> u64 {
    match cells {
        Cells::Slc => 25_000,
        Cells::Mlc => 50_000,
        Cells::Tlc => 60_000,
        Cells::Qlc => 110_000,
    }
}

/// Random reads per second of `dies` of which each takes `ns`: of those outstanding, D are at the
/// dies, which are busy for D / (D + dies - 1) of the time (a closed queue, dies drawn at random).
fn random_reads(facts: &DatasheetFacts, dies: u64, ns: u64) -> f64 {
    let outstanding = f64::from(facts.depth.unwrap_or(32));
    let fixed = latency_ns(facts).unwrap_or(10_000) + link_ns(facts) + transfer_ns(facts, 4096);
    let required_rate = facts.random_read.map_or(0.0, f64::from);
    let at_dies = (outstanding - required_rate * fixed as f64 / 1e9).max(1.0);
    let dies = dies as f64;
    dies * 1e9 / ns as f64 * at_dies / (at_dies + dies - 1.0)
}

/// Time of a cell read in ns, and whether the sheet's random reads need it to be shorter than what
/// is usual or a single read takes.
pub(super) fn read_ns(facts: &DatasheetFacts, array: &ArrayShape) -> (u64, bool) {
    let cell = cell_read_ns(facts);
    let required_rate = facts.random_read.map_or(0.0, f64::from);
    let reads = random_reads(facts, array.dies, cell);
    if required_rate > reads {
        ((cell as f64 * reads / required_rate).round() as u64, true)
    } else {
        (cell, false)
    }
}

/// Time of a transfer between die and controller in ns.
fn transfer_ns(facts: &DatasheetFacts, bytes: u64) -> u64 {
    bytes * 1000 / channel_rate(facts)
}

/// Time of a cell read in ns: what a random read takes, less all else.
fn cell_read_ns(facts: &DatasheetFacts) -> u64 {
    let usual = usual_read_ns(facts.cells);
    let Some(whole) = facts.random_read_latency else {
        return usual;
    };
    let fixed = latency_ns(facts).unwrap_or(10_000)
        + usual_or(facts.random_read, facts)
        + link_ns(facts)
        + transfer_ns(facts, 4096);
    whole.0.saturating_sub(fixed).max(usual / 3)
}

/// Time of 4 KiB on the link.
fn link_ns(facts: &DatasheetFacts) -> u64 {
    4096 * 1000 / link_rate(facts)
}

fn usual_or(iops: Option<u32>, facts: &DatasheetFacts) -> u64 {
    iops.map_or(usual_per_command(facts), per_command)
}

/// Time of a program in ns so that the array as a whole takes `rate` bytes per second: a die
/// transfers a unit, then programs it.
pub(super) fn program_ns(facts: &DatasheetFacts, array: &ArrayShape, rate: u64) -> u64 {
    let unit = array.unit() as f64;
    let whole = array.dies as f64 * unit * 1e9 / rate as f64;
    let transfer = unit * 1000.0 / channel_rate(facts) as f64;
    (whole - transfer).max(20_000.0).round() as u64
}

/// Time of a program in SLC mode in ns, and how many programs run at a time where not all dies do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SlcPrograms {
    pub ns: u64,
    pub at_once: Option<u64>,
}

/// Programs in SLC mode take what is usual, less where the rate into the cache needs it. Where it
/// needs fewer dies than there are, the controller is what limits it: a program takes no longer
/// because there are more dies.
pub(super) fn slc_programs(facts: &DatasheetFacts, array: &ArrayShape) -> SlcPrograms {
    let Some(rate) = facts.sequential_write.filter(|_| has_slc(facts)) else {
        return SlcPrograms {
            ns: USUAL_SLC_PROGRAM_NS,
            at_once: None,
        };
    };
    let by_all = program_ns(facts, array, rate);
    if by_all <= USUAL_SLC_PROGRAM_NS {
        return SlcPrograms {
            ns: by_all,
            at_once: None,
        };
    }
    let per_program = array.unit() as f64 * 1e9 / rate as f64;
    let at_once = (USUAL_SLC_PROGRAM_NS as f64 / per_program).ceil().max(1.0);
    SlcPrograms {
        ns: (at_once * per_program).round() as u64,
        at_once: Some(at_once as u64),
    }
}

/// Time of a program past the cache in ns, so that those that run at a time take `rate`.
pub(super) fn native_program_ns(facts: &DatasheetFacts, array: &ArrayShape, rate: u64) -> u64 {
    match slc_programs(facts, array).at_once {
        Some(at_once) if at_once < array.dies => {
            let ns = at_once as f64 * array.unit() as f64 * 1e9 / rate as f64;
            ns.max(20_000.0).round() as u64
        }
        _ => program_ns(facts, array, rate),
    }
}

/// Whether the drive has a pSLC cache.
pub(super) fn has_slc(facts: &DatasheetFacts) -> bool {
    facts.slc.is_some() || facts.slc_empty.is_some()
}

/// Whether commits go to pages in SLC mode: of drives without protection and with cells that take
/// long to program.
pub(super) fn commits_to_slc(facts: &DatasheetFacts) -> bool {
    !facts.protected && matches!(facts.cells, Cells::Tlc | Cells::Qlc)
}

/// The facts with what other drives of the class have where the sheet does not say it: the rate of
/// writes in order, or the pSLC cache and its rates.
pub(super) fn completed(
    given: &DatasheetFacts,
    user: u64,
    array: &ArrayShape,
    constants: &EstimatedConstants,
) -> DatasheetFacts {
    if given.protected {
        with_write_rate(given, user, array, constants)
    } else {
        with_cache(given, user, constants)
    }
}

/// The facts of a protected drive with the rate of writes in order of other sheets, and no less
/// than the drive's own random writes need.
fn with_write_rate(
    given: &DatasheetFacts,
    user: u64,
    array: &ArrayShape,
    constants: &EstimatedConstants,
) -> DatasheetFacts {
    let mut facts = given.clone();
    let known = given.sequential_write.or(given.direct_write);
    let estimate = constants.get(PriorConstant::WriteRate);
    let (None, Some(estimate)) = (known, estimate) else {
        return facts;
    };
    let random = given.random_write.filter(|_| given.span.is_none());
    let needed = f64::from(random.unwrap_or(0)) * 4096.0 * uniform_waf(user, array);
    let link = (link_rate(given) * 1_000_000) as f64;
    let rate = estimate.value * link * (user as f64 / 1e12).sqrt();
    facts.sequential_write = Some(rate.max(needed).min(link) as u64);
    let source = (Provenance::Assumed, estimate.source.clone());
    facts.others.insert("sequential-write", source);
    facts.estimated.insert("sequential-write");
    facts
}

/// The facts with a pSLC cache and its rates as measured drives have them, where a drive of that
/// kind has one and its sheet does not say so.
fn with_cache(given: &DatasheetFacts, user: u64, constants: &EstimatedConstants) -> DatasheetFacts {
    let mut facts = given.clone();
    let bits = match given.cells {
        Cells::Tlc => 3,
        Cells::Qlc => 4,
        Cells::Slc | Cells::Mlc => return facts,
    };
    let estimate = |constant, scale: f64, most: u64| {
        let estimate = constants.get(constant)?;
        let value = ((estimate.value * scale) as u64).min(most).max(1);
        Some((value, (Provenance::Assumed, estimate.source.clone())))
    };
    let share = estimate(PriorConstant::CacheShare, user as f64, user / bits / 10 * 9);
    if let Some((bytes, source)) = share.filter(|_| !has_slc(given)) {
        facts.slc_empty = Some(bytes);
        facts.others.insert("slc-empty", source);
        facts.estimated.insert("slc-empty");
    }
    if !has_slc(&facts) {
        return facts;
    }
    let link = link_rate(given) * 1_000_000;
    let into = estimate(PriorConstant::CacheRate, link as f64, link);
    if let Some((rate, source)) = into.filter(|_| given.sequential_write.is_none()) {
        facts.sequential_write = Some(rate);
        facts.others.insert("sequential-write", source);
        facts.estimated.insert("sequential-write");
    }
    let most = facts.sequential_write.unwrap_or(link) / 10 * 9;
    let at_capacity = (user as f64 / 1e12).sqrt();
    let past = estimate(PriorConstant::DirectRate, at_capacity, most);
    if let Some((rate, source)) = past.filter(|_| given.direct_write.is_none()) {
        facts.direct_write = Some(rate);
        facts.others.insert("direct-write", source);
        facts.estimated.insert("direct-write");
    }
    facts
}

/// Time of a program in ns that is usual: the mean over the pages of a word line.
pub(super) fn usual_program_ns(cells: Cells) -> u64 {
    match cells {
        Cells::Slc => 200_000,
        Cells::Mlc => 650_000,
        Cells::Tlc => 233_000,
        Cells::Qlc => 2_000_000,
    }
}

/// Bytes per second that the array takes at the usual time of a program.
fn usual_write_rate(facts: &DatasheetFacts, array: &ArrayShape) -> u64 {
    let unit = array.unit();
    let program_cycle_ns = usual_program_ns(facts.cells) + unit * 1000 / channel_rate(facts);
    let dies = array.dies * unit * 1_000_000_000 / program_cycle_ns;
    dies.min(link_rate(facts) * 1_000_000)
}

/// Write amplification under uniform writes over the whole drive.
pub(super) fn uniform_waf(user: u64, array: &ArrayShape) -> f64 {
    let usable = array.raw() as f64 * (1.0 - 4.0 / array.blocks.max(5) as f64);
    let slots = array.superblock() / 4096;
    greedy(
        usable / user as f64,
        u32::try_from(slots).unwrap_or(u32::MAX).min(4096),
    )
}

/// The rate of writes in order past any cache, where the flash limits it and not the link.
pub(super) fn flash_limited(facts: &DatasheetFacts) -> Option<u64> {
    if facts.direct_write.is_some() || facts.slc.is_some() || facts.slc_empty.is_some() {
        return facts.direct_write;
    }
    let link = (link_rate(facts) * 1_000_000) as f64;
    facts
        .sequential_write
        .filter(|rate| (*rate as f64) < LINK_SHARE * link)
}

/// How the time of a moved slot is known.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum MovedSlot {
    /// By the sheet's random writes.
    Sheet(u64),
    /// By measured drives.
    Estimated(u64, String),
    /// As is usual.
    Usual(u64),
}

/// Time of a moved slot in ns: by the sheet's random writes where the flash alone would be faster.
pub(super) fn moved_slot(
    facts: &DatasheetFacts,
    user: u64,
    array: &ArrayShape,
    constants: &EstimatedConstants,
) -> MovedSlot {
    let command = usual_or(facts.random_read, facts) as f64;
    let usual = usual_moved_slot(facts);
    let whole_drive = facts.span.is_none() && !has_slc(facts);
    let known = constants.get(PriorConstant::MovedSlot);
    let known = known.filter(|_| facts.protected);
    let Some(writes) = facts.random_write.filter(|_| whole_drive) else {
        return match known {
            Some(estimate) => {
                let ns = (estimate.value * usual as f64).round() as u64;
                MovedSlot::Estimated(ns, estimate.source.clone())
            }
            None => MovedSlot::Usual(usual),
        };
    };
    let rate = flash_limited(facts).unwrap_or_else(|| usual_write_rate(facts, array));
    let waf = uniform_waf(user, array);
    if waf <= 1.01 {
        return MovedSlot::Usual(usual);
    }
    let flash = rate as f64 / 4096.0 / waf;
    let moved = (1e9 / f64::from(writes) - command) / (waf - 1.0);
    let moved = moved.max(0.0).round() as u64;
    if f64::from(writes) >= 0.95 * flash && moved >= usual {
        MovedSlot::Usual(usual)
    } else {
        MovedSlot::Sheet(moved)
    }
}

/// The time of a moved slot in ns that is usual at the time that a command takes.
pub fn usual_moved_slot(facts: &DatasheetFacts) -> u64 {
    let command = usual_or(facts.random_read, facts) as f64;
    (MOVED_PER_COMMAND * command).round() as u64
}

/// The time of a moved slot that a sheet's random writes give, if they decide it, and what a write
/// takes besides it for each slot that it moves: both in times of the usual one.
pub fn implied_moved_slot(facts: &DatasheetFacts) -> Option<(f64, f64)> {
    let (user, _) = user_bytes(facts.capacity);
    let array = array(facts, facts.raw.unwrap_or_else(|| usual_raw(user)));
    let MovedSlot::Sheet(ns) = moved_slot(facts, user, &array, &EstimatedConstants::default())
    else {
        return None;
    };
    let beside = 1.0 / (MOVED_PER_COMMAND * (uniform_waf(user, &array) - 1.0));
    Some((ns as f64 / usual_moved_slot(facts) as f64, beside))
}
