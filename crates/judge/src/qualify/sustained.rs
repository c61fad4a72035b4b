//! What the evidence says once a drive has been overwritten: rates, falls and tails that last.
//!
//! A sustained figure takes random overwrites of [`CAPACITIES`] times the user capacity, and a
//! drive that no longer moves. A model is always overwritten ([`Overwrite`]). A real drive is
//! written for as long as the profile lasts ([`super::states`]): until that is enough, what was
//! seen is a [`MeasureReading::Partial`], with the share that was covered and the time that the
//! rest takes.

use super::overwrite::{CAPACITIES, DurableRun, Overwrite};
use super::reading::{MeasureReading, not_measured, number, unknown};
use super::roles::DurableMethod;
use super::{Evidence, EvidenceGrade, SustainedRun, UsedRun, WriteProbe};
use super::{account, loads, names, show};
use ssdlab_bench::device::TargetKind;
use ssdlab_ssd::{Bytes, Op};

/// Seconds counted, ramp left out.
pub(super) fn length_s(run: &SustainedRun) -> f64 {
    let counted = run.seconds.iter().filter(|s| s.t_s >= 0);
    counted.map(|s| s.length_s).sum()
}

/// How far a real drive was overwritten at random.
struct OverwriteCoverage {
    complete: bool,
    said: String,
}

/// Random overwrites, in the order in which they are made.
const OVERWRITES: [&str; 3] = [names::RANDOM_WRITE, names::SNIA_ROUNDS, names::WHOLE_DRIVE];

fn bytes_written(run: &SustainedRun) -> u64 {
    run.seconds
        .iter()
        .map(|s| s.ops[Op::Write as usize].bytes)
        .sum()
}

fn covered(e: &Evidence) -> OverwriteCoverage {
    let runs = || OVERWRITES.iter().filter_map(|name| e.run(name));
    let written: u64 = runs().map(bytes_written).sum();
    if let Some(why) = account::lasting(e) {
        return OverwriteCoverage {
            complete: true,
            said: why,
        };
    }
    if e.facts.kind == TargetKind::File {
        return OverwriteCoverage {
            complete: false,
            said: format!(
                "{} were overwritten at random in a file of {}; a sustained figure takes \
                 {CAPACITIES} times the capacity of the drive underneath, which a file does not \
                 show.",
                Bytes(written),
                Bytes(e.region_bytes)
            ),
        };
    }
    let needed = CAPACITIES.saturating_mul(e.facts.capacity);
    let whole = e.region_bytes as f64 >= 0.95 * e.facts.capacity as f64;
    let last = runs().next_back();
    // The last one that was long enough for five rounds.
    let steady = runs().rev().find_map(|run| run.steady.as_ref());
    let steady = steady.is_some_and(|s| s.attained && s.left_for.is_none());
    let remaining = needed.saturating_sub(written) as f64;
    let rate = last.map_or(0.0, |run| run.iops_end * 4096.0);
    let takes = if rate > 0.0 {
        format!("; the rest takes {}", show::hours(remaining / rate))
    } else {
        String::new()
    };
    let share = 100.0 * written as f64 / needed.max(1) as f64;
    OverwriteCoverage {
        complete: e.facts.kind == TargetKind::BlockDevice && whole && steady && remaining == 0.0,
        said: format!(
            "{} of the {} needed ({CAPACITIES} times the capacity) were overwritten at random, \
             {share:.1} %{takes}.",
            Bytes(written),
            Bytes(needed)
        ),
    }
}

/// A number of a real drive: it counts when enough was written.
pub(super) fn of_real(e: &Evidence, value: f64, why: String) -> MeasureReading {
    let covered = covered(e);
    if covered.complete {
        number(value, why)
    } else {
        MeasureReading::Partial {
            value,
            why: format!("{why} {}", covered.said),
        }
    }
}

/// A number of a model: it counts when nothing moves any more.
fn of_model(o: &Overwrite, value: f64, why: String) -> MeasureReading {
    let why = format!("{why} {}.", o.covered());
    if o.is_sustained() {
        number(value, why)
    } else {
        MeasureReading::Partial { value, why }
    }
}

/// A rate of a model that was given up before anything settled.
fn falling(o: &Overwrite, value: f64, last: f64, bytes: u64, why: &str) -> MeasureReading {
    MeasureReading::Falling {
        value,
        last,
        why: format!(
            "There is no sustained rate: {} a second after 80 minutes and {} of such writes on the \
             whole drive, new before, and still falling. The model is calibrated to runs of 80 \
             minutes; what follows shows only that it does not settle. {why} {}; given up, as it \
             programs ever more for its map.",
            show::rate(value),
            Bytes(bytes),
            o.covered()
        ),
    }
}

/// Durable writes of a drive that was overwritten: a model to the end, a real drive as far as the
/// profile goes.
pub(super) fn durable_run(method: DurableMethod, e: &Evidence) -> Option<&DurableRun> {
    e.worst_case(method.probe()).filter(|run| run.count > 0)
}

/// A number of a drive that was overwritten: a model, or a real one.
fn of_drive(e: &Evidence, value: f64, why: String) -> MeasureReading {
    match &e.overwrite {
        Some(o) => of_model(o, value, why),
        None => of_real(e, value, why),
    }
}

fn probe(method: DurableMethod, e: &Evidence) -> Option<&WriteProbe> {
    e.probe(method.probe(), 1).filter(|p| p.count > 0)
}

/// Durable 4 KiB writes a second, one writer, in the end.
pub(super) fn durable_iops(method: DurableMethod, e: &Evidence) -> MeasureReading {
    if let (Some(o), Some(run)) = (&e.overwrite, durable_run(method, e)) {
        let why = format!(
            "Worst case (overwritten at random over its whole span without a pause): one writer \
             completes {} durable 4 KiB writes a second ({}), WAF {:.1}.",
            show::rate(run.after),
            method.says(),
            o.waf
        );
        if let (Some(value), Some(bytes)) = (run.after_80_min, o.written_80_min) {
            return falling(o, value, run.after, bytes, &why);
        }
        return of_model(o, run.after, why);
    }
    if let Some(run) = durable_run(method, e) {
        let why = format!(
            "Worst case (right after the profile's random writes): one writer completed {} durable \
             4 KiB writes a second ({}).",
            show::rate(run.after),
            method.says()
        );
        return of_real(e, run.after, why);
    }
    // The series of durable writes are written through; other methods have their probe.
    let series = (method.probe() == names::FUA).then(|| e.run(names::DURABLE_WRITE));
    if let Some(run) = series.flatten().filter(|r| length_s(r) > 0.0) {
        let (value, capped) = account::capped(e, run.iops_end);
        let why = format!(
            "One writer completed {} durable 4 KiB writes a second in the last fifth of {:.0} \
             s.{capped}",
            show::rate(run.iops_end),
            length_s(run)
        );
        return of_real(e, value, why);
    }
    let Some(probe) = probe(method, e) else {
        return not_measured("A run of durable writes");
    };
    let (value, capped) = account::capped(e, probe.per_second);
    let why = format!(
        "One writer completed {} durable 4 KiB writes a second ({}).{capped}",
        show::rate(probe.per_second),
        method.says()
    );
    of_real(e, value, why)
}

/// Commits a second of a role's load on a used drive. Where it was not run, the worst case stands
/// in its place.
pub(super) fn used_rate(name: &str, method: DurableMethod, e: &Evidence) -> MeasureReading {
    match e.used(name) {
        Some(run) => of_drive(e, run.per_second, used_why(e, run)),
        None => durable_iops(method, e),
    }
}

/// 99th percentile of such a commit, ms; `None` where the load was not run.
pub(super) fn used_p99(name: &str, e: &Evidence) -> Option<MeasureReading> {
    let run = e.used(name)?;
    Some(of_drive(e, run.p99_ns as f64 / 1e6, used_why(e, run)))
}

fn used_why(e: &Evidence, run: &UsedRun) -> String {
    let title = loads::load(&run.load).map_or(run.load.as_str(), |load| load.title);
    let state = match &e.later {
        Some(later) => format!(
            "overwritten by the profile, {:.0} s idle, then in a region of {}",
            later.idle_s,
            Bytes(later.region_bytes)
        ),
        None => "filled, overwritten, an hour idle".to_owned(),
    };
    format!(
        "Used ({state}): one writer commits {} a second ({title}), median {}, 99th percentile {}.",
        show::rate(run.per_second),
        show::time(run.p50_ns),
        show::time(run.p99_ns)
    )
}

/// 4 KiB random writes a second, 32 outstanding, in the end.
pub(super) fn write_iops(e: &Evidence) -> MeasureReading {
    if let Some(o) = e.overwrite.as_ref().filter(|o| !o.rates.is_empty()) {
        let why = format!(
            "{} random 4 KiB writes a second, 32 outstanding, WAF {:.1}.",
            show::rate(o.sustained),
            o.waf
        );
        return of_model(o, o.sustained, why);
    }
    let Some(run) = e.run(names::RANDOM_WRITE).filter(|r| length_s(r) > 0.0) else {
        return not_measured("A sustained random write");
    };
    let (value, capped) = account::capped(e, run.iops_end);
    let why = format!(
        "{}: {} a second in the last fifth of {:.0} s.{capped}",
        run.title,
        show::rate(run.iops_end),
        length_s(run)
    );
    of_real(e, value, why)
}

fn percent_lost(before: f64, after: f64) -> f64 {
    if before > 0.0 {
        (100.0 * (before - after) / before).max(0.0)
    } else {
        0.0
    }
}

/// How much of one writer's fresh durable rate is lost in the worst case, per cent.
pub(super) fn durable_fall(method: DurableMethod, e: &Evidence) -> MeasureReading {
    let Some(run) = durable_run(method, e) else {
        return deepest_cliff(e);
    };
    let Some(fresh) = probe(method, e) else {
        return not_measured("A durable write of the fresh drive");
    };
    let why = format!(
        "One writer's durable writes: {} a second fresh, {} in the worst case.",
        show::rate(fresh.per_second),
        show::rate(run.after)
    );
    of_drive(e, percent_lost(fresh.per_second, run.after), why)
}

/// How much of the random write rate is lost, per cent.
pub(super) fn write_cliff_depth(e: &Evidence) -> MeasureReading {
    let Some(o) = e.overwrite.as_ref().filter(|o| !o.rates.is_empty()) else {
        return deepest_cliff(e);
    };
    let most = o.rates.iter().copied().fold(0.0, f64::max);
    let why = format!(
        "Random writes: {} a second at best, {} in the end.",
        show::rate(most),
        show::rate(o.sustained)
    );
    of_model(o, percent_lost(most, o.sustained), why)
}

fn deepest_cliff(e: &Evidence) -> MeasureReading {
    let deepest = e
        .sustained
        .iter()
        .filter_map(|r| Some((r, r.cliff.as_ref()?)))
        .map(|(r, cliff)| (r, cliff, percent_lost(cliff.before, cliff.after)))
        .max_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((run, cliff, depth)) = deepest {
        let why = format!(
            "{}: from {} to {} a second after {:.0} s.",
            run.title,
            show::rate(cliff.before),
            show::rate(cliff.after),
            cliff.at_s
        );
        return of_real(e, depth, why);
    }
    match e.run(names::RANDOM_WRITE).map(length_s) {
        None => not_measured("A sustained random write"),
        Some(s) => of_real(
            e,
            0.0,
            format!("No lasting drop within {s:.0} s of random writes."),
        ),
    }
}

/// A quantile of durable writes: its name, the writes it takes, and where it is.
#[derive(Clone, Copy)]
pub(super) struct DurableTail {
    count_min: u64,
    of_run: fn(&DurableRun) -> u64,
    of_probe: fn(&WriteProbe) -> u64,
}

pub(super) const P999: DurableTail = DurableTail {
    count_min: 10_000,
    of_run: |run| run.p999_ns,
    of_probe: |p| p.p999_ns,
};
pub(super) const P9999: DurableTail = DurableTail {
    count_min: 100_000,
    of_run: |run| run.p9999_ns,
    of_probe: |p| p.p9999_ns,
};

pub(super) fn tail_why(method: DurableMethod, run: &DurableRun) -> String {
    format!(
        "Latency of {} durable 4 KiB writes ({}) in the worst case: p50 {}, p99 {}, p99.9 {}, \
         p99.99 {}, longest {}.",
        show::rate(run.count as f64),
        method.says(),
        show::time(run.p50_ns),
        show::time(run.p99_ns),
        show::time(run.p999_ns),
        show::time(run.p9999_ns),
        show::time(run.max_ns)
    )
}

fn too_few(count: u64, count_min: u64) -> String {
    format!("Only {count} durable writes were measured; {count_min} are needed.")
}

/// A far quantile of one writer's durable writes, ms.
pub(super) fn tail(method: DurableMethod, e: &Evidence, tail: DurableTail) -> MeasureReading {
    if let Some(run) = durable_run(method, e) {
        if e.overwrite.is_none() && run.count < tail.count_min {
            return unknown(too_few(run.count, tail.count_min));
        }
        let ms = (tail.of_run)(run) as f64 / 1e6;
        return of_drive(e, ms, tail_why(method, run));
    }
    let Some(p) = probe(method, e) else {
        return not_measured("A durable write");
    };
    if p.count < tail.count_min {
        return unknown(too_few(p.count, tail.count_min));
    }
    let why = format!("Of {} durable writes ({}).", p.count, method.says());
    of_real(e, (tail.of_probe)(p) as f64 / 1e6, why)
}

/// The longest durable write, ms.
pub(super) fn longest_stall(method: DurableMethod, e: &Evidence) -> MeasureReading {
    if let Some(run) = durable_run(method, e) {
        return of_drive(e, run.max_ns as f64 / 1e6, tail_why(method, run));
    }
    let of_method = |p: &&WriteProbe| p.method == method.probe() && p.count > 0;
    let Some(p) = e.probes.iter().filter(of_method).max_by_key(|p| p.max_ns) else {
        return not_measured("A durable write");
    };
    let why = format!(
        "The longest durable write took {}, with {} writers.",
        show::time(p.max_ns),
        p.writers
    );
    of_real(e, p.max_ns as f64 / 1e6, why)
}

/// Steady state by SNIA's rule.
pub(super) fn steady_state(e: &Evidence) -> MeasureReading {
    if let Some(o) = e.overwrite.as_ref().filter(|o| !o.rates.is_empty()) {
        return MeasureReading::Fact {
            holds: o.is_sustained(),
            grade: EvidenceGrade::Behavioural,
            why: format!("{}.", o.covered()),
        };
    }
    let names = [names::SNIA_ROUNDS, names::WHOLE_DRIVE, names::RANDOM_WRITE];
    let settled = names
        .iter()
        .find_map(|name| e.run(name).and_then(|r| Some((r, r.steady.as_ref()?))));
    let Some((run, steady)) = settled else {
        return unknown("Too short a run for five rounds.".into());
    };
    let departure = steady.left_for.map_or(String::new(), |last| {
        let (average, last) = (show::rate(steady.average), show::rate(last));
        format!(" It was left again: {average} then, {last} in the end.")
    });
    let why = format!(
        "{}: range {:.0} % and excursion {:.0} % of the average over five rounds (limits 20 % \
         and 10 %).{departure}",
        run.title,
        100.0 * steady.range_share,
        100.0 * steady.excursion_share
    );
    let holds = steady.attained && steady.left_for.is_none();
    match (holds, covered(e)) {
        (
            true,
            OverwriteCoverage {
                complete: false,
                said,
            },
        ) => unknown(format!("{why} {said}")),
        _ => MeasureReading::Fact {
            holds,
            grade: EvidenceGrade::Behavioural,
            why,
        },
    }
}
