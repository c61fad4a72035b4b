//! What the evidence says about one measure: a number, a fact, or that it does not tell.
//!
//! Nothing here knows a limit. Three rules hold throughout: timing never proves durability; a
//! number is only given when enough was measured to have it; and every durable number carries the
//! command stream that produced it, because the same "synchronous write" is one, two or no
//! flushes depending on the path (docs/methods.md, section 2.2).

pub use super::reading::MeasureReading;
use super::reading::{not_measured, number, unknown};
use super::roles::{DurableMethod, MeasureUnit};
use super::sustained::{self, length_s};
use super::{Evidence, EvidenceGrade, QualifyMeasure, WriteProbe, names, show};
use super::{account, cuts, health, loads, ratings};
use ssdlab_bench::device::TargetKind;

/// Below this a durable write on NAND needs protected RAM, or did not happen (docs/methods.md,
/// section 3.2).
pub const NAND_FLOOR_NS: u64 = 100_000;
/// Below this a flush that reached a write-back cache is implausible (docs/methods.md, section
/// 3.2).
pub const IMPLAUSIBLE_NS: u64 = 10_000;
/// Commands that must have been measured before a 99th percentile is quoted.
const P99_COUNT_MIN: u64 = 100;
/// Commands before a median is quoted.
const P50_COUNT_MIN: u64 = 10;
/// Reads `measure` off the evidence, for a role that makes writes durable by `method`.
pub fn read(measure: QualifyMeasure, method: DurableMethod, e: &Evidence) -> MeasureReading {
    use QualifyMeasure::*;
    match measure {
        Durability => durability(method, e),
        PowerLossProtection => power_loss_protection(method, e),
        DurableWriteP50 => durable_latency(method, e, P50_COUNT_MIN, |p| p.p50_ns),
        DurableWriteP99 => durable_latency(method, e, P99_COUNT_MIN, |p| p.p99_ns),
        FlushP99 => flush_p99(e),
        DurableWritesPerSecond => durable_rate(method, e),
        DurableWritesScaling => scaling(method, e),
        DurableWriteP999 => sustained::tail(method, e, sustained::P999),
        DurableWriteP9999 => sustained::tail(method, e, sustained::P9999),
        LongestStall => sustained::longest_stall(method, e),
        SustainedDurableIops => sustained::durable_iops(method, e),
        DurableFall => sustained::durable_fall(method, e),
        EtcdAppendP99 => sustained::used_p99(loads::ETCD, e).unwrap_or_else(|| flush_p99(e)),
        OneDatasetPerSecond => sustained::used_rate(loads::ZIL, method, e),
        FiveDatasetsPerSecond => sustained::used_rate(loads::ZIL_FIVE, method, e),
        TierWritesPerSecond => sustained::used_rate(loads::TIER, method, e),
        LogRecordsPerSecond => sustained::used_rate(loads::LOG_8K, method, e),
        EtcdAppendsPerSecond => sustained::used_rate(loads::ETCD, method, e),
        DesktopWritesPerSecond => sustained::used_rate(loads::DESKTOP, method, e),
        Health => health::health(e),
        FlushGrowth => flush_growth(e),
        WriteThroughPenalty => write_through_penalty(e),
        WriteThroughMixedIops => run_iops(e, names::MIXED_DURABLE),
        SustainedWriteIops => sustained::write_iops(e),
        WriteCliffDepth => sustained::write_cliff_depth(e),
        SteadyState => sustained::steady_state(e),
        RandomReadIops => run_iops(e, names::READ_QD32),
        RandomReadP99 => read_p99(e, names::READ_QD1),
        ReadP99UnderWrites => read_p99(e, names::MIXED),
        EnduranceDwpd => ratings::endurance_dwpd(e),
        EnduranceTbPerDay => ratings::endurance_tb_per_day(e),
    }
}

/// The state of the drive in which a durable figure was taken: one of three names, everywhere.
pub fn state(measure: QualifyMeasure, method: DurableMethod, e: &Evidence) -> Option<&'static str> {
    use QualifyMeasure::*;
    let if_overwritten = |state| match sustained::durable_run(method, e) {
        Some(_) => state,
        None => FRESH,
    };
    let is_used = |load| e.used(load).is_some();
    match measure {
        DurableWritesPerSecond | FlushP99 => Some(FRESH),
        SustainedDurableIops => Some(WORST_CASE),
        DurableWriteP50 | DurableWriteP99 | DurableWriteP999 | DurableWriteP9999 | LongestStall => {
            Some(if_overwritten(WORST_CASE))
        }
        other => other.load().map(|load| match other.unit() {
            _ if is_used(load) => USED,
            MeasureUnit::PerSecond => WORST_CASE,
            _ => FRESH,
        }),
    }
}

/// The first probe: of a model after 100 GiB were written once, of a real drive as it was found.
pub const FRESH: &str = "fresh";
/// Filled, overwritten, idle, and then under the role's load.
pub const USED: &str = "used";
/// Overwritten at random over its whole span without a pause.
pub const WORST_CASE: &str = "worst case";

/// The command stream behind a durable number, in a clause.
pub fn stream(p: &WriteProbe) -> String {
    let count = |n: Option<f64>| n.map_or("unknown".to_owned(), |n| format!("{n:.2}"));
    if p.device_writes.is_none() && p.device_fua.is_none() && p.device_flushes.is_none() {
        return "which commands reached the device is not known".into();
    }
    format!(
        "per durable write the device saw {} writes, {} of them FUA, and {} flushes",
        count(p.device_writes),
        count(p.device_fua),
        count(p.device_flushes)
    )
}

/// Said wherever the kernel believes that there is no volatile cache.
fn write_through_note(e: &Evidence) -> &'static str {
    if e.facts.write_cache.as_deref() == Some("write through") {
        " The kernel takes the cache for write-through and sends no flush at all, so a fast flush \
         says nothing."
    } else {
        ""
    }
}

fn one_writer(method: DurableMethod, e: &Evidence) -> Option<&WriteProbe> {
    e.probe(method.probe(), 1).filter(|p| p.count > 0)
}

// ---- durability -------------------------------------------------------------------------------

/// What timing has to say about protection: never a proof.
fn behaviour(method: DurableMethod, e: &Evidence) -> Option<String> {
    let p = one_writer(method, e)?;
    let took = show::time(p.p50_ns);
    let says = if is_implausible(p, e) {
        format!(
            "A durable write took {took} from a write-back cache that had to be flushed: \
             suspiciously fast, perhaps the flush is ignored; only power cuts can tell."
        )
    } else if p.p50_ns < NAND_FLOOR_NS {
        format!(
            "A durable write took {took}, which NAND alone cannot do: the buffer is protected, or \
             the medium is not NAND, or flushes are ignored, and only power cuts can tell."
        )
    } else {
        format!(
            "A durable write took {took}: long enough for the media to have been written, but \
             only power cuts can tell whether it was."
        )
    };
    Some(says + write_through_note(e))
}

/// Whether a durable write was faster than a flushed write-back cache without known protection
/// allows, with the durable command counted on its way to the device.
pub fn is_implausible(p: &WriteProbe, e: &Evidence) -> bool {
    let reached = |n: Option<f64>| n.is_some_and(|n| n >= 0.9);
    p.count >= P50_COUNT_MIN
        && p.p50_ns < IMPLAUSIBLE_NS
        && e.facts.write_cache.as_deref() == Some("write back")
        && known_protection(e) != Some(true)
        && cuts::passed(e).is_empty()
        && (reached(p.device_flushes) || reached(p.device_fua))
}

/// Power-loss protection as far as it can be known: by cuts, or else by documents and the drive's
/// own account. What a hypervisor's disk says of itself is not what the drive underneath is.
pub fn known_protection(e: &Evidence) -> Option<bool> {
    if let Some(MeasureReading::Fact { holds, .. }) = cuts::protection(e) {
        return Some(holds);
    }
    match e.facts.virtualised {
        Some(true) => None,
        _ => e.facts.power_loss_protection,
    }
}

/// Whether what is known of the protection is an assumption that no power cut has tested.
pub fn protection_is_assumed(e: &Evidence) -> bool {
    e.facts.power_loss_protection_assumed && cuts::protection(e).is_none()
}

fn protection_source(e: &Evidence) -> (EvidenceGrade, String) {
    let grade = match (&e.facts.health, e.facts.kind) {
        _ if protection_is_assumed(e) => EvidenceGrade::Assumed,
        (Some(health), _) => health.protection_grade,
        (None, TargetKind::Modelled) => EvidenceGrade::Documented,
        (None, _) => EvidenceGrade::Declared,
    };
    let source = e.facts.power_loss_protection_source.as_deref();
    (grade, source.unwrap_or("source not recorded").to_owned())
}

fn undecided(method: DurableMethod, e: &Evidence, first: &str) -> MeasureReading {
    let first = format!("{}{first}", cuts::undecided(e));
    match behaviour(method, e) {
        Some(behaviour) => MeasureReading::Unknown {
            grade: EvidenceGrade::Behavioural,
            why: format!("{first} {behaviour}"),
        },
        None => unknown(format!("{first} No durable write was measured.")),
    }
}

fn not_known_why(e: &Evidence) -> &'static str {
    if e.facts.virtualised == Some(true) {
        "This is a virtual machine's disk: what is underneath is not visible."
    } else {
        "Nothing documents or declares power-loss protection."
    }
}

fn durability(method: DurableMethod, e: &Evidence) -> MeasureReading {
    if let Some(tested) = cuts::durability(e) {
        return tested;
    }
    match known_protection(e) {
        Some(true) => {
            let (grade, source) = protection_source(e);
            MeasureReading::Fact {
                holds: true,
                grade,
                why: format!("{} ({source}); not tested by cuts.", buffer_words(true, e)),
            }
        }
        Some(false) => undecided(
            method,
            e,
            "The write buffer is volatile, so it rests on the drive honouring each flush.",
        ),
        None => undecided(method, e, not_known_why(e)),
    }
}

/// What is known of the write buffer.
fn buffer_words(is_protected: bool, e: &Evidence) -> &'static str {
    let is_assumed = protection_is_assumed(e);
    if is_protected && is_assumed {
        "The write buffer is assumed to be power-protected"
    } else if is_protected {
        "The write buffer is power-protected"
    } else if is_assumed {
        "The write buffer is assumed to be volatile and not protected"
    } else {
        "The write buffer is volatile and not protected"
    }
}

fn power_loss_protection(method: DurableMethod, e: &Evidence) -> MeasureReading {
    if let Some(tested) = cuts::protection(e) {
        return tested;
    }
    let Some(holds) = known_protection(e) else {
        return undecided(method, e, not_known_why(e));
    };
    let (grade, source) = protection_source(e);
    let says = buffer_words(holds, e);
    MeasureReading::Fact {
        holds,
        grade,
        why: format!("{says} ({source})."),
    }
}

// ---- durable writes ---------------------------------------------------------------------------

fn durable_latency(
    method: DurableMethod,
    e: &Evidence,
    count_min: u64,
    pick: fn(&WriteProbe) -> u64,
) -> MeasureReading {
    if let Some(run) = sustained::durable_run(method, e) {
        let ns = if count_min == P99_COUNT_MIN {
            run.p99_ns
        } else {
            run.p50_ns
        };
        let why = sustained::tail_why(method, run);
        return match &e.overwrite {
            Some(_) => number(ns as f64 / 1e6, why),
            None if run.count < count_min => unknown(why),
            None => sustained::of_real(e, ns as f64 / 1e6, why),
        };
    }
    let Some(p) = one_writer(method, e) else {
        return not_measured("A durable write");
    };
    if p.count < count_min {
        return unknown(format!(
            "Only {} durable writes were measured; {count_min} are needed.",
            p.count
        ));
    }
    number(
        pick(p) as f64 / 1e6,
        format!(
            "Latency of {} durable 4 KiB writes ({}): p50 {}, p99 {}; {}.{}",
            show::rate(p.count as f64),
            method.says(),
            show::time(p.p50_ns),
            show::time(p.p99_ns),
            stream(p),
            write_through_note(e)
        ),
    )
}

fn flush_p99(e: &Evidence) -> MeasureReading {
    let probe = e.probe(names::WRITE_FLUSH, 1);
    let Some((p, p99)) = probe.and_then(|p| Some((p, p.flush_p99_ns?))) else {
        return not_measured("A flush after each write");
    };
    if p.count < P99_COUNT_MIN {
        return unknown(format!(
            "Only {} flushes were measured; {P99_COUNT_MIN} are needed.",
            p.count
        ));
    }
    number(
        p99 as f64 / 1e6,
        format!(
            "99 % of {} flushes after a 4 KiB write took at most {}; {}.{}",
            show::rate(p.count as f64),
            show::time(p99),
            stream(p),
            write_through_note(e)
        ),
    )
}

fn durable_rate(method: DurableMethod, e: &Evidence) -> MeasureReading {
    let Some(p) = one_writer(method, e) else {
        return not_measured("A durable write");
    };
    number(
        p.per_second,
        format!(
            "One writer completed {} durable 4 KiB writes a second, one in {} on average ({}); \
             {}.{}",
            show::rate(p.per_second),
            show::time((1e9 / p.per_second).round() as u64),
            method.says(),
            stream(p),
            write_through_note(e)
        ),
    )
}

fn scaling(method: DurableMethod, e: &Evidence) -> MeasureReading {
    let single = one_writer(method, e).filter(|p| p.per_second > 0.0);
    let most = e
        .probes
        .iter()
        .filter(|p| p.method == method.probe() && p.writers >= 8 && p.count > 0)
        .max_by_key(|p| p.writers);
    let (Some(single), Some(most)) = (single, most) else {
        return not_measured("Durable writes with 1 and with 8 writers");
    };
    number(
        most.per_second / single.per_second,
        format!(
            "{} writers completed {} durable writes a second, one {}; with {} writers {}.",
            most.writers,
            show::rate(most.per_second),
            show::rate(single.per_second),
            most.writers,
            stream(most)
        ),
    )
}

fn flush_growth(e: &Evidence) -> MeasureReading {
    let Some((least, most)) = flush_ends(e) else {
        return not_measured("Flush time against dirty bytes");
    };
    number(
        most.p50_ns as f64 / least.p50_ns as f64,
        format!(
            "A flush took {} after {} of writes and {} after {}.{}",
            show::time(least.p50_ns),
            ssdlab_ssd::Bytes(least.dirty_bytes),
            show::time(most.p50_ns),
            ssdlab_ssd::Bytes(most.dirty_bytes),
            write_through_note(e)
        ),
    )
}

/// The flush points with the least and the most dirty bytes.
pub(super) fn flush_ends(e: &Evidence) -> Option<(&super::FlushPoint, &super::FlushPoint)> {
    let usable = || {
        e.flush_by_dirty
            .iter()
            .filter(|p| p.count > 0 && p.p50_ns > 0)
    };
    let least = usable().min_by_key(|p| p.dirty_bytes)?;
    let most = usable().max_by_key(|p| p.dirty_bytes)?;
    (least.dirty_bytes < most.dirty_bytes).then_some((least, most))
}

// ---- longer runs ------------------------------------------------------------------------------

fn run_iops(e: &Evidence, name: &str) -> MeasureReading {
    let Some(run) = e.run(name).filter(|r| length_s(r) > 0.0) else {
        return not_measured(&format!("`{name}`"));
    };
    let (value, capped) = account::capped(e, run.iops_end);
    number(
        value,
        format!(
            "{}: {} a second in the last fifth of {:.0} s.{capped}",
            run.title,
            show::rate(run.iops_end),
            length_s(run)
        ),
    )
}

fn write_through_penalty(e: &Evidence) -> MeasureReading {
    let buffered = e.run(names::MIXED).filter(|r| r.iops_end > 0.0);
    let durable = e.run(names::MIXED_DURABLE).filter(|r| r.iops_end > 0.0);
    let (Some(buffered), Some(durable)) = (buffered, durable) else {
        return not_measured("The 70/30 mix buffered and written through");
    };
    number(
        buffered.iops_end / durable.iops_end,
        format!(
            "The same 70/30 mix does {} a second buffered and {} written through.{}",
            show::rate(buffered.iops_end),
            show::rate(durable.iops_end),
            write_through_note(e)
        ),
    )
}

fn read_p99(e: &Evidence, name: &str) -> MeasureReading {
    let Some(run) = e.run(name).filter(|r| r.read_p99_ns > 0) else {
        return not_measured(&format!("Reads in `{name}`"));
    };
    number(
        run.read_p99_ns as f64 / 1e6,
        format!(
            "{}: reads took {} at the median, {} at the 99th percentile.",
            run.title,
            show::time(run.read_p50_ns),
            show::time(run.read_p99_ns)
        ),
    )
}

// ---- endurance --------------------------------------------------------------------------------
