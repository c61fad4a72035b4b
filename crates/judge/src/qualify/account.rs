//! The account of a volume, as part of a verdict.

use super::plans::QualifyRegion;
use super::roles::{QualifyMeasure, role};
use super::{Evidence, Mechanism, Qualification, SustainedRun, names, show};
use crate::account::{
    AccountEvidence, AccountFinding, AccountLengths, AccountPlan, AccountRecord, RateSeries,
    SeriesPurpose, SpeedKind, detect, measure, measure_after, words,
};
use ssdlab_base::LabError;
use ssdlab_bench::device::{Target, TargetKind};
use ssdlab_ssd::Op;
use ssdlab_volume::AccountUnit;
use std::sync::atomic::AtomicBool;

/// Rates of reads and writes this near each other are held by something that counts commands.
const ALIKE: f64 = 0.02;
/// A drain has at most this number of commands.
const COMMANDS_MAX: u64 = 40_000_000;

/// A limit that held for this long, s, is no burst that matters: the longest that a provider's
/// document lists (gp2, 750 GiB) takes two hours.
const BURST_LONGEST_S: usize = 7200;
/// Bytes of the commands of the loads.
const BLOCK: u64 = 4096;
/// A rate this much higher than another is another rate.
const HIGHER: f64 = 1.1;

/// Whether the target is a volume, or loads have rates that no drive has: one for reads, mixed
/// loads or writes alike, or one constant rate that steps down to another.
pub(super) fn is_suspected(e: &Evidence) -> bool {
    e.facts.kind == TargetKind::Volume
        || are_alike(e)
        || mixed_alike(e).is_some()
        || seen(e).is_some()
}

fn are_alike(e: &Evidence) -> bool {
    one_rate(e, [names::READ_QD32, names::RANDOM_WRITE]).is_some()
}

/// The rate of mixed loads where reads alone or writes alone have it too, though the mix has fewer
/// commands outstanding. A credit that ends between loads leaves such a pair before or after.
fn mixed_alike(e: &Evidence) -> Option<f64> {
    let mixes = [names::MIXED, names::MIXED_DURABLE];
    let others = [names::READ_QD32, names::RANDOM_WRITE];
    let mut pairs = mixes
        .into_iter()
        .flat_map(|mix| others.map(|other| [mix, other]));
    pairs.find_map(|pair| one_rate(e, pair))
}

/// The rate of two loads, where they have the same.
fn one_rate(e: &Evidence, names: [&str; 2]) -> Option<f64> {
    let [one, other] = names.map(|name| e.run(name).map(|run| run.iops_end));
    let (one, other) = (one?, other?);
    (other > 0.0 && (one / other - 1.0).abs() <= ALIKE).then_some(one)
}

/// A run as a series of the experiment.
fn series(run: &SustainedRun, purpose: SeriesPurpose, op: Op) -> RateSeries {
    let counted = run.seconds.iter().filter(|second| second.t_s >= 0);
    let whole = counted.filter(|second| second.length_s > 0.999);
    RateSeries {
        purpose,
        reads: op == Op::Read,
        block: BLOCK,
        depth: 32,
        pause_s: 0.0,
        rates: whole
            .map(|second| second.ops[op as usize].count as f64)
            .collect(),
    }
}

/// The loads in which a credit ended, where it ended in them.
fn seen(e: &Evidence) -> Option<AccountRecord> {
    let reads = e.run(names::READ_QD32)?;
    let writes = e.run(names::RANDOM_WRITE)?;
    let record = AccountRecord {
        series: vec![
            series(reads, SeriesPurpose::Early, Op::Read),
            series(writes, SeriesPurpose::Drain, Op::Write),
        ],
        began_late: true,
    };
    record.has_step().then_some(record)
}

/// The experiment of a step in this region.
pub(super) fn plan_of(region: QualifyRegion, drain_s: f64) -> AccountPlan {
    AccountPlan {
        offset: region.offset,
        bytes: region.bytes,
        drain_s: drain_s as u64,
        commands: COMMANDS_MAX,
        seed: region.seed,
        lengths: AccountLengths::STANDARD,
    }
}

/// The experiment, and what it shows. Where the credit ended in the loads before, it goes on there.
pub(super) fn evidence<T: Target>(
    target: &mut T,
    plan: AccountPlan,
    before: &Evidence,
    stop: &AtomicBool,
) -> Result<AccountEvidence, LabError> {
    let record = match seen(before).filter(|_| !are_alike(before)) {
        Some(record) => measure_after(target, plan, record, stop)?,
        None => measure(target, plan, stop)?,
    };
    Ok(AccountEvidence {
        finding: detect(&record),
        record,
    })
}

/// What an account gives, with the measured figures.
pub(super) fn explain(e: &Evidence) -> Option<Mechanism> {
    let Some(account) = &e.account else {
        return suspicion(e);
    };
    let finding = &account.finding;
    let (id, title, sentence) = match finding.kind {
        SpeedKind::Account => ("account", ACCOUNT, said_of_account(finding)),
        SpeedKind::Limit => match burst_before(e) {
            Some(before) => ("account", ACCOUNT, said_of_spent(finding, before)?),
            None => ("limit", "A limit, not a drive", said_of_limit(e)?),
        },
        SpeedKind::DriveFall | SpeedKind::Unsteady | SpeedKind::NoLimit | SpeedKind::Unknown => {
            return None;
        }
    };
    Some(Mechanism {
        id: id.into(),
        title: title.into(),
        sentence,
    })
}

const ACCOUNT: &str = "An account, not a drive";

fn said_of_account(finding: &AccountFinding) -> String {
    let sentences = [words::burst_in_loads(finding), words::refill(finding)];
    sentences
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Of a base that was reached before the experiment began.
fn said_of_spent(finding: &AccountFinding, before: f64) -> Option<String> {
    Some(format!(
        "You measured the burst: loads before had up to {} commands a second, and what lasts is \
         {}. How long the burst takes from a full credit was not seen.",
        show::rate(before),
        words::base(finding)?
    ))
}

/// Of a limit, with what a longer load might show.
fn said_of_limit(e: &Evidence) -> Option<String> {
    let account = e.account.as_ref()?;
    let limit = words::limit(&account.finding)?;
    if holds(e) {
        return Some(limit);
    }
    Some(format!(
        "{limit} It may be a burst all the same, for it was written for {} only: that of gp2 takes \
         33 min and more, that of Azure 30. `--profile full` writes for three hours.",
        words::time(drained_s(&account.record) as f64)
    ))
}

fn drained_s(record: &AccountRecord) -> usize {
    let drain = record.of(SeriesPurpose::Drain).next();
    drain.map_or(0, |series| series.rates.len())
}

/// Whether a limit is known to be no burst.
fn holds(e: &Evidence) -> bool {
    let drained = e
        .account
        .as_ref()
        .map_or(0, |account| drained_s(&account.record));
    e.facts.kind == TargetKind::Volume || drained >= BURST_LONGEST_S
}

/// The highest rate of 4 KiB commands before the experiment, where it is above the limit that the
/// experiment found.
fn burst_before(e: &Evidence) -> Option<f64> {
    let limit = base(e)?;
    // Writes that are not made durable may end in a cache of the host.
    let durable = e.probes.iter().filter(|probe| probe.method != names::PLAIN);
    let probes = durable.map(|probe| probe.per_second);
    let runs = e.sustained.iter().map(|run| run.iops_end);
    let highest = probes.chain(runs).fold(0.0, f64::max);
    (highest > HIGHER * limit).then_some(highest)
}

/// What lasts, in 4 KiB commands a second, where an account or a limit was found.
fn base(e: &Evidence) -> Option<f64> {
    let finding = &e.account.as_ref()?.finding;
    let base = finding.base?.value;
    Some(match finding.unit {
        Some(AccountUnit::Bytes) => base / BLOCK as f64,
        _ => base,
    })
}

/// A rate of 4 KiB commands that lasts: not the burst of an account, but its base; and what is to
/// be said of that.
pub(super) fn capped(e: &Evidence, rate: f64) -> (f64, String) {
    match base(e).filter(|base| rate > HIGHER * base) {
        Some(base) => (
            base,
            format!(
                " That was the burst; what lasts is {} a second.",
                show::rate(base)
            ),
        ),
        None => (rate, String::new()),
    }
}

/// A run too short for the experiment that looks like a limit: of a virtual disk only, where
/// nothing else explains it.
fn suspicion(e: &Evidence) -> Option<Mechanism> {
    if e.facts.virtualised != Some(true) || !is_suspected(e) {
        return None;
    }
    let write = e.run(names::RANDOM_WRITE)?.iops_end;
    let mixed = mixed_alike(e).filter(|_| !are_alike(e));
    let spent = if mixed.is_some_and(|rate| rate > HIGHER * write) {
        format!(
            ", and writes end at {}: the burst may be over",
            show::rate(write)
        )
    } else if mixed.is_none() && !are_alike(e) {
        ": the burst may be over".to_owned()
    } else {
        ". It may be a burst".to_owned()
    };
    let sign = match mixed {
        Some(rate) => format!(
            "Loads of different kinds have the same {} a second",
            show::rate(rate)
        ),
        None if are_alike(e) => {
            format!(
                "Reads and writes have the same {} a second",
                show::rate(write)
            )
        }
        None => format!(
            "Writes fell from one constant rate to another, {} a second",
            show::rate(write)
        ),
    };
    Some(Mechanism {
        id: "limit_suspected".into(),
        title: "Perhaps a limit, not a drive".into(),
        sentence: format!(
            "{sign}, as on a volume whose commands are counted{spent}. `--profile standard` writes \
             for ten minutes to see."
        ),
    })
}

/// Why figures taken after the experiment last: the credit is spent, or the target has no credit.
/// `None`: of a drive, or where it is not known.
pub(super) fn lasting(e: &Evidence) -> Option<String> {
    let finding = e.account.as_ref().map(|account| &account.finding);
    match finding.map(|finding| finding.kind) {
        Some(SpeedKind::Account) => Some("The credit was spent before.".to_owned()),
        Some(SpeedKind::Limit) if burst_before(e).is_some() => {
            Some("The credit was spent before.".to_owned())
        }
        Some(SpeedKind::Limit) if holds(e) => Some("One limit holds whatever the load.".to_owned()),
        _ if e.facts.kind == TargetKind::Volume => Some("A volume has no state.".to_owned()),
        _ => None,
    }
}

/// How long the credit lasts at the rate that the role requires.
pub(super) fn forecast(q: &Qualification) -> Option<String> {
    let finding = &q.target.evidence.account.as_ref()?.finding;
    if finding.kind != SpeedKind::Account {
        return None;
    }
    let required = role(&q.role)
        .ok()?
        .requirements
        .iter()
        .find_map(|requirement| {
            let is_rate = requirement.measure == QualifyMeasure::DurableWritesPerSecond;
            requirement.at_least.filter(|_| is_rate)
        })?;
    let used = match finding.unit {
        Some(AccountUnit::Bytes) => required * finding.block as f64,
        _ => required,
    };
    let text = words::forecast(finding, used)?;
    Some(format!("The role's load: {}", words::lower_first(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qualify::fixtures;
    use crate::qualify::mechanisms::explain as mechanisms;

    /// Of a served volume whose credit ended in the quick profile: nothing named it.
    #[test]
    fn a_burst_that_ends_between_loads_is_suspected() {
        let rates = [
            (names::READ_QD32, 2988.0),
            (names::MIXED, 2999.0),
            (names::MIXED_DURABLE, 2929.0),
            (names::RANDOM_WRITE, 300.0),
        ];
        let mut evidence = fixtures::virtio_file();
        let runs = rates.iter();
        evidence.sustained = runs
            .map(|(name, rate)| fixtures::run(name, 8, *rate, 1000.0))
            .collect();
        assert!(is_suspected(&evidence));
        let all = mechanisms(&evidence);
        let said = all.iter().find(|said| said.id == "limit_suspected");
        let sentence = &said.expect("the suspicion").sentence;
        assert!(sentence.contains("same 2,999 a second"), "{sentence}");
        assert!(
            sentence.contains("end at 300: the burst may be over"),
            "{sentence}"
        );
    }
}
