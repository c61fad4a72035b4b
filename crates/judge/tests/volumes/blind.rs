//! Blind: 120 subjects drawn from seeds, in virtual time. Without `BLIND_VOLUMES=all`, every fifth.
//!
//! Required: the kind right in 95 %, rate and refill within 5 %, burst within 10 % or UNKNOWN;
//! no drive's cliff is called an account.

use super::subjects::{Truth, drawn, drive, volume};
use ssdlab_bench::device::Target;
use ssdlab_judge::account::{
    AccountEstimate, AccountFinding, AccountLengths, AccountPlan, SpeedKind, detect, measure,
};
use std::sync::atomic::AtomicBool;

const SUBJECTS: u64 = 120;

fn look<T: Target>(target: &mut T, drain_s: u64, seed: u64) -> AccountFinding {
    let bytes = target.facts().capacity.min(1 << 30) / (256 << 10) * (256 << 10);
    let plan = AccountPlan {
        offset: 0,
        bytes,
        drain_s,
        commands: 3_000_000,
        seed,
        lengths: AccountLengths::STANDARD,
    };
    let stop = AtomicBool::new(false);
    detect(&measure(target, plan, &stop).expect("it is measured"))
}

/// Relative errors of the estimates.
#[derive(Default)]
struct BlindErrors {
    base: Vec<f64>,
    burst: Vec<f64>,
    credit: Vec<f64>,
    refill: Vec<f64>,
}

fn error(estimate: Option<AccountEstimate>, truth: u64) -> f64 {
    let value = estimate.expect("an account has it").value;
    (value / truth as f64 - 1.0).abs()
}

fn largest(errors: &[f64]) -> f64 {
    errors.iter().copied().fold(0.0, f64::max)
}

#[test]
fn accounts_limits_and_cliffs_are_told_apart_blind() {
    let step = if std::env::var_os("BLIND_VOLUMES").is_some() {
        1
    } else {
        5
    };
    let (mut right, mut unknown, mut count) = (0, 0, 0);
    let mut errors = BlindErrors::default();
    for seed in (0..SUBJECTS).step_by(step) {
        let (truth, config) = drawn(seed);
        let finding = match (&truth, config) {
            (Truth::Drive(name), _) => look(&mut drive(name), 300, seed),
            (_, Some(config)) => look(&mut volume(config), 300, seed),
            (_, None) => unreachable!("a volume has a configuration"),
        };
        let is_right = match &truth {
            Truth::Account(unit, rates) => {
                let found = finding.kind == SpeedKind::Account && finding.unit == Some(*unit);
                if found {
                    errors.base.push(error(finding.base, rates.base));
                    errors.burst.push(error(finding.burst, rates.burst));
                    errors.credit.push(error(finding.credit, rates.credit));
                    errors.refill.push(error(finding.refill, rates.base));
                }
                found
            }
            Truth::Limit(unit, rate) => {
                let found = finding.kind == SpeedKind::Limit && finding.unit == Some(*unit);
                if found {
                    errors.base.push(error(finding.base, *rate));
                }
                found
            }
            Truth::None => finding.kind == SpeedKind::NoLimit,
            Truth::Drive(_) => {
                let is_account = matches!(finding.kind, SpeedKind::Account | SpeedKind::Limit);
                assert!(!is_account, "{truth:?}: {finding:?}");
                !is_account
            }
        };
        count += 1;
        right += u32::from(is_right);
        unknown += u32::from(finding.kind == SpeedKind::Unknown);
        if !is_right {
            println!(
                "seed {seed}: {truth:?} taken for {:?}: {:?}",
                finding.kind, finding.why
            );
        }
    }
    println!(
        "{right} of {count} right, {unknown} unknown; largest error: rate {:.2} %, burst rate \
         {:.2} %, credit {:.2} %, refill {:.2} %",
        100.0 * largest(&errors.base),
        100.0 * largest(&errors.burst),
        100.0 * largest(&errors.credit),
        100.0 * largest(&errors.refill)
    );
    assert!(
        f64::from(right) >= 0.95 * f64::from(count),
        "{right} of {count}"
    );
    assert!(largest(&errors.base) <= 0.05 && largest(&errors.refill) <= 0.05);
    assert!(largest(&errors.burst) <= 0.05 && largest(&errors.credit) <= 0.10);
}
