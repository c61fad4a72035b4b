//! The account of a volume, as part of a verdict.

use super::plans::QualifyRegion;
use super::roles::{QualifyMeasure, role};
use super::{Evidence, Mechanism, Qualification, names};
use crate::account::{
    AccountEvidence, AccountLengths, AccountPlan, SpeedKind, detect, measure, words,
};
use ssdlab_base::LabError;
use ssdlab_bench::device::{Target, TargetKind};
use ssdlab_volume::AccountUnit;
use std::sync::atomic::AtomicBool;

/// Rates of reads and writes this near each other are held by something that counts commands.
const ALIKE: f64 = 0.02;
/// A drain has at most this number of commands.
const COMMANDS_MAX: u64 = 40_000_000;

/// Whether reads and writes of the same depth have the same rate, as on no drive.
pub(super) fn is_suspected(e: &Evidence) -> bool {
    let rate = |name| e.run(name).map(|run| run.iops_end);
    let (Some(read), Some(write)) = (rate(names::READ_QD32), rate(names::RANDOM_WRITE)) else {
        return false;
    };
    write > 0.0 && (read / write - 1.0).abs() <= ALIKE
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

/// The experiment, and what it shows.
pub(super) fn evidence<T: Target>(
    target: &mut T,
    plan: AccountPlan,
    stop: &AtomicBool,
) -> Result<AccountEvidence, LabError> {
    let record = measure(target, plan, stop)?;
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
        SpeedKind::Account => (
            "account",
            "An account, not a drive",
            [words::burst(finding), words::refill(finding)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
        ),
        SpeedKind::Limit => ("limit", "A limit, not a drive", words::limit(finding)?),
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

/// A run too short for the experiment that looks like a limit: of a virtual disk only, where
/// nothing else explains it.
fn suspicion(e: &Evidence) -> Option<Mechanism> {
    let write = e.run(names::RANDOM_WRITE)?;
    (e.facts.virtualised == Some(true) && is_suspected(e)).then(|| Mechanism {
        id: "limit_suspected".into(),
        title: "Perhaps a limit, not a drive".into(),
        sentence: format!(
            "Reads and writes have the same {:.0} a second, as on a volume whose commands are \
             counted. It may be a burst: `--profile standard` writes for ten minutes to see.",
            write.iops_end
        ),
    })
}

/// Why figures taken after the experiment last: the credit is spent, or the target has no credit.
/// `None`: of a drive, or where it is not known.
pub(super) fn lasting(e: &Evidence) -> Option<String> {
    let finding = e.account.as_ref().map(|account| &account.finding);
    match finding.map(|finding| finding.kind) {
        Some(SpeedKind::Account) => Some("The credit was spent before.".to_owned()),
        Some(SpeedKind::Limit) => Some("One limit holds whatever the load.".to_owned()),
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
