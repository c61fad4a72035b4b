//! "We use this drive and performance is horrible: what gives?"
//!
//! Each mechanism is one function from evidence to an optional sentence with the numbers that
//! show it. None of them proves anything about power cuts. What is not shown is not said: an
//! empty list means that nothing measured here explains slowness.

use super::readings::{flush_ends, is_implausible, known_protection};
use super::{Evidence, Mechanism, WriteProbe, names, show};
use super::{account, health};
use crate::ablate::{Bottleneck, Cause};
use ssdlab_bench::device::TargetKind;
use ssdlab_ssd::Bytes;

/// A mechanism's test: the evidence in, the mechanism out when the evidence shows it.
pub type MechanismTest = fn(&Evidence) -> Option<Mechanism>;

/// Every mechanism, in the order reported: causes first, side effects after.
pub const MECHANISMS: [(&str, MechanismTest); 12] = [
    ("drive_reports_trouble", drive_reports_trouble),
    (
        "volatile_buffer_forced_to_media",
        volatile_buffer_forced_to_media,
    ),
    ("durable_write_amplification", durable_write_amplification),
    ("flush_doubling", flush_doubling),
    ("host_file_system_overhead", host_file_system_overhead),
    ("group_commit_absent", group_commit_absent),
    ("slow_drain", slow_drain),
    ("write_cliff", write_cliff),
    ("no_steady_state", no_steady_state),
    ("read_behind_programs", read_behind_programs),
    ("flush_merging", flush_merging),
    ("implausibly_fast_flush", implausibly_fast_flush),
];

/// Symptoms that may have several causes; an experiment on the model knows better.
const GUESSES: [&str; 4] = [
    "volatile_buffer_forced_to_media",
    "group_commit_absent",
    "slow_drain",
    "read_behind_programs",
];

/// Everything the evidence shows; empty when it shows nothing. Of a model that was taken apart, the
/// faults found come first and replace what symptoms suggest.
pub fn explain(e: &Evidence) -> Vec<Mechanism> {
    let faults = e.overwrite.as_ref().and_then(|run| run.faults.as_ref());
    let mut mechanisms: Vec<Mechanism> = account::explain(e).into_iter().collect();
    mechanisms.extend(faults.into_iter().flatten().map(|f| shown(f, e)));
    let known = |id: &str| faults.is_some() && GUESSES.contains(&id);
    let symptoms = MECHANISMS.iter().filter(|(id, _)| !known(id));
    mechanisms.extend(symptoms.filter_map(|(_, test)| test(e)));
    mechanisms
}

/// A fault as a mechanism; with the measured times where they say more.
fn shown(fault: &Bottleneck, e: &Evidence) -> Mechanism {
    if fault.cause == Cause::VolatileBuffer
        && let Some(measured) = volatile_buffer_forced_to_media(e)
    {
        return measured;
    }
    Mechanism {
        id: fault.cause.name().replace(' ', "_"),
        title: show::sentence_case(fault.cause.name()),
        sentence: format!(
            "{}. With a healthy drive's in its place, {} would be {} times as fast.",
            show::sentence_case(&fault.sentence),
            fault.load.name(),
            show::plain(fault.factor)
        ),
    }
}

/// A NAND program takes about this long at least (SLC; MLC and TLC more): C. George (2011).
const PROGRAM_NS: u64 = 200_000;
/// A durable write this many times a plain one waits for something that the plain one does not.
const FORCED_RATIO: f64 = 5.0;
/// A durable write programming this many times what a plain one does costs lifetime.
const WEAR_RATIO: f64 = 2.0;
/// Device flushes per durable write from which there are practically two.
const DOUBLED: f64 = 1.8;
/// Device flushes per durable write up to which writers share them.
const MERGED: f64 = 0.5;
/// Device writes per write issued from which something else writes too.
const EXTRA_WRITES: f64 = 1.2;
/// Gain from 1 to 8 writers below which durable writes are done one by one.
const GROUP_GAIN: f64 = 1.5;
/// Bytes per second below which a buffer drains slowly: one TLC plane programs 16 KiB in about a
/// millisecond (16 MB/s), so this is what six planes do.
const DRAIN_SLOW: f64 = 100e6;
/// A read tail this many times the idle one...
const TAIL_RATIO: f64 = 4.0;
/// ...and at least this long comes from the writes beside it.
const TAIL_NS: u64 = 1_000_000;

fn mechanism(id: &str, title: &str, sentence: String) -> Option<Mechanism> {
    Some(Mechanism {
        id: id.into(),
        title: title.into(),
        sentence,
    })
}

/// The one-writer durable probes that have data.
fn durable(e: &Evidence) -> impl Iterator<Item = &WriteProbe> {
    [names::WRITE_FLUSH, names::FUA]
        .into_iter()
        .filter_map(|method| e.probe(method, 1))
        .filter(|p| p.count > 0)
}

fn ratio(a: u64, b: u64) -> f64 {
    a as f64 / b.max(1) as f64
}

fn method_name(p: &WriteProbe) -> &'static str {
    if p.method == names::FUA {
        "write-through"
    } else {
        "write-then-flush"
    }
}

fn volatile_buffer_forced_to_media(e: &Evidence) -> Option<Mechanism> {
    if known_protection(e) == Some(true) {
        return None;
    }
    let plain = e.probe(names::PLAIN, 1).filter(|p| p.count > 0)?;
    let slow = durable(e).max_by_key(|p| p.p50_ns)?;
    let times = ratio(slow.p50_ns, plain.p50_ns);
    if slow.p50_ns < PROGRAM_NS || times < FORCED_RATIO {
        return None;
    }
    let cause = match known_protection(e) {
        Some(_) => "each one waits until the volatile buffer is on the media.",
        None if e.facts.virtualised == Some(true) => {
            "as when a volatile buffer is forced to media each time; what is underneath is not \
             visible, so the wait may also be the hypervisor's."
        }
        None => "as when a volatile buffer is forced to media each time.",
    };
    mechanism(
        "volatile_buffer_forced_to_media",
        "Volatile buffer forced to media",
        format!(
            "At the median a plain 4 KiB write takes {}, a {} one {} ({} times as long): {cause}",
            show::time(plain.p50_ns),
            method_name(slow),
            show::time(slow.p50_ns),
            show::plain(times)
        ),
    )
}

fn drive_reports_trouble(e: &Evidence) -> Option<Mechanism> {
    let health = e.facts.health.as_ref()?;
    // Wear and losses by their numbers; a warning of the drive's own only where these are silent.
    let mut reports = health::reported(e);
    if reports.is_empty() {
        reports.clone_from(&health.warnings);
    }
    if reports.is_empty() {
        return None;
    }
    mechanism(
        "drive_reports_trouble",
        "The drive reports trouble",
        format!("Asked through SMART, it says: {}.", reports.join("; ")),
    )
}

fn durable_write_amplification(e: &Evidence) -> Option<Mechanism> {
    let plain = e.probe(names::PLAIN, 1)?.waf.filter(|waf| *waf > 0.0)?;
    let durable = durable(e).filter_map(|p| p.waf).max_by(f64::total_cmp)?;
    if durable < WEAR_RATIO * plain {
        return None;
    }
    mechanism(
        "durable_write_amplification",
        "Durable writes wear the drive out",
        format!(
            "Made durable one by one, 4 KiB writes program {} times their bytes into NAND, \
             buffered {} times: the lifetime shrinks by as much.",
            show::plain(durable),
            show::plain(plain)
        ),
    )
}

fn flush_doubling(e: &Evidence) -> Option<Mechanism> {
    let (p, flushes) = durable(e)
        .filter_map(|p| Some((p, p.device_flushes?)))
        .find(|(_, flushes)| *flushes >= DOUBLED)?;
    mechanism(
        "flush_doubling",
        "Two flushes per durable write",
        format!(
            "The device received {flushes:.2} flushes per {} write: the host's path flushes \
             twice, which about doubles the time where flushes are slow.",
            method_name(p)
        ),
    )
}

fn flush_merging(e: &Evidence) -> Option<Mechanism> {
    // Of each method the most writers, as in the requirements: fewer give other numbers.
    let most = |method| {
        let of_method = |p: &&WriteProbe| p.method == method && p.writers > 1 && p.count > 0;
        e.probes.iter().filter(of_method).max_by_key(|p| p.writers)
    };
    let (p, flushes) = [names::WRITE_FLUSH, names::FUA]
        .into_iter()
        .filter_map(most)
        .filter_map(|p| Some((p, p.device_flushes?)))
        .find(|(p, flushes)| {
            let alone = e.probe(&p.method, 1).and_then(|one| one.device_flushes);
            *flushes <= MERGED && alone.is_some_and(|alone| alone >= 0.9)
        })?;
    mechanism(
        "flush_merging",
        "Writers share flushes",
        format!(
            "With {} writers ({}) the device received only {flushes:.2} flushes per durable \
             write: the host merges them, so rates with many writers do not tell what one writer \
             gets.",
            p.writers,
            method_name(p)
        ),
    )
}

fn host_file_system_overhead(e: &Evidence) -> Option<Mechanism> {
    if e.facts.kind != TargetKind::File {
        return None;
    }
    let (p, writes) = durable(e)
        .filter_map(|p| Some((p, p.device_writes?)))
        .find(|(_, writes)| *writes >= EXTRA_WRITES)?;
    let system = e.facts.file_system.as_deref().unwrap_or("the file system");
    mechanism(
        "host_file_system_overhead",
        "File system writes more than was asked",
        format!(
            "The device received {writes:.2} writes per {} write on {system}: its journal and \
             metadata, or other users of the device, are part of every number here.",
            method_name(p)
        ),
    )
}

fn group_commit_absent(e: &Evidence) -> Option<Mechanism> {
    durable(e).find_map(|one| {
        let many = e.probe(&one.method, 8).filter(|p| p.count > 0)?;
        let gain = many.per_second / one.per_second;
        if one.p50_ns < PROGRAM_NS || !gain.is_finite() || gain >= GROUP_GAIN {
            return None;
        }
        mechanism(
            "group_commit_absent",
            "Durable writes are done one by one",
            format!(
                "Eight writers together complete {} {} writes a second, one alone {}: committing \
                 in parallel gains nothing.",
                show::rate(many.per_second),
                method_name(one),
                show::rate(one.per_second)
            ),
        )
    })
}

fn slow_drain(e: &Evidence) -> Option<Mechanism> {
    let (least, most) = flush_ends(e)?;
    let longer_ns = most.p50_ns.checked_sub(least.p50_ns)?;
    let bytes = most.dirty_bytes - least.dirty_bytes;
    let drain = bytes as f64 / (longer_ns as f64 / 1e9);
    if drain >= DRAIN_SLOW {
        return None;
    }
    mechanism(
        "slow_drain",
        "Buffer drains slowly",
        format!(
            "A flush takes {} after {} of writes and {} after {}: the buffer drains at about {} \
             MB/s.",
            show::time(least.p50_ns),
            Bytes(least.dirty_bytes),
            show::time(most.p50_ns),
            Bytes(most.dirty_bytes),
            show::plain(drain / 1e6)
        ),
    )
}

fn write_cliff(e: &Evidence) -> Option<Mechanism> {
    let (run, cliff) = e
        .sustained
        .iter()
        .filter_map(|r| Some((r, r.cliff.as_ref()?)))
        .max_by(|a, b| (a.1.before / a.1.after).total_cmp(&(b.1.before / b.1.after)))?;
    mechanism(
        "write_cliff",
        "Write cliff",
        format!(
            "{}: the rate falls from {} to {} a second after {:.0} s and {} written, as when \
             erased blocks or a fast cache run out.",
            run.title,
            show::rate(cliff.before),
            show::rate(cliff.after),
            cliff.at_s,
            Bytes(cliff.after_bytes)
        ),
    )
}

fn no_steady_state(e: &Evidence) -> Option<Mechanism> {
    let (run, steady) = e
        .sustained
        .iter()
        .filter_map(|r| Some((r, r.steady.as_ref()?)))
        .find(|(_, steady)| !steady.attained)?;
    mechanism(
        "no_steady_state",
        "No steady state",
        format!(
            "{}: over the last five rounds the rate ranges over {:.0} % and drifts by {:.0} % of \
             its average (limits 20 % and 10 %), so a longer run would give another number.",
            run.title,
            100.0 * steady.range_share,
            100.0 * steady.excursion_share
        ),
    )
}

fn read_behind_programs(e: &Evidence) -> Option<Mechanism> {
    let idle = e.run(names::READ_QD1).filter(|r| r.read_p99_ns > 0)?;
    let busy = [names::MIXED, names::MIXED_DURABLE]
        .into_iter()
        .filter_map(|name| e.run(name))
        .find(|r| {
            r.read_p99_ns >= TAIL_NS && ratio(r.read_p99_ns, idle.read_p99_ns) >= TAIL_RATIO
        })?;
    mechanism(
        "read_behind_programs",
        "Reads wait behind writes",
        format!(
            "99 % of reads alone take at most {}, but {} in: {}. They queue behind programs and \
             erases.",
            show::time(idle.read_p99_ns),
            show::time(busy.read_p99_ns),
            busy.title
        ),
    )
}

fn implausibly_fast_flush(e: &Evidence) -> Option<Mechanism> {
    let p = durable(e).find(|p| is_implausible(p, e))?;
    mechanism(
        "implausibly_fast_flush",
        "Implausibly fast flush",
        format!(
            "A durable write takes {} although the cache is write-back and the flush or FUA \
             reached the device: too fast for NAND, and faster than the fastest protected drive \
             known to us (12 us). The flush may be ignored; only power cuts can tell.",
            show::time(p.p50_ns)
        ),
    )
}
