//! An account: a rate that lasts, a higher one while credit is left, and the credit.

use crate::bucket::TokenBucket;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::Nanos;

/// What an account allows, in units (operations or bytes) a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct AccountRates {
    /// Lasts, and is what the credit earns.
    pub base: u64,
    /// While credit is left; the base where there is no credit.
    pub burst: u64,
    /// Credit that it holds when full, in units; 0: it has no credit.
    pub credit: u64,
}

impl AccountRates {
    /// A rate that lasts, without credit.
    pub const fn constant(rate: u64) -> AccountRates {
        AccountRates {
            base: rate,
            burst: rate,
            credit: 0,
        }
    }

    /// A base, a burst and a credit; without effect where the base is no lower than the burst.
    pub const fn bursting(base: u64, burst: u64, credit: u64) -> AccountRates {
        if burst <= base || credit == 0 {
            return AccountRates::constant(base);
        }
        AccountRates {
            base,
            burst,
            credit,
        }
    }

    /// Whether it has credit.
    pub const fn has_credit(&self) -> bool {
        self.credit > 0
    }

    /// How long a full credit lasts at this rate of use; `None`: for ever.
    pub fn lasts_s(&self, rate: f64) -> Option<f64> {
        let spent = rate.min(self.burst as f64) - self.base as f64;
        (self.has_credit() && spent > 0.0).then(|| self.credit as f64 / spent)
    }

    /// How long an empty credit takes to fill without use; `None`: it has no credit.
    pub fn refill_s(&self) -> Option<f64> {
        self.has_credit()
            .then(|| self.credit as f64 / self.base as f64)
    }
}

/// An account in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    rates: AccountRates,
    ceiling: TokenBucket,
    credit: Option<TokenBucket>,
}

/// Which part of an account made a command wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountPart {
    /// The rate that is never exceeded.
    Ceiling,
    /// The credit was spent.
    Credit,
}

impl Account {
    /// An account whose ceiling passes `window` at once, and whose credit is full to `permille`.
    pub fn new(rates: AccountRates, window: Nanos, permille: u32) -> Account {
        let at_once = u128::from(rates.burst) * u128::from(window.0) / 1_000_000_000;
        let at_once = u64::try_from(at_once).unwrap_or(u64::MAX).max(1);
        let share = |full: u64| {
            let part = u128::from(full) * u128::from(permille.min(1000)) / 1000;
            u64::try_from(part).unwrap_or(full)
        };
        let credit = rates
            .has_credit()
            .then(|| TokenBucket::new(rates.base, rates.credit, share(rates.credit)));
        Account {
            rates,
            ceiling: TokenBucket::new(rates.burst, at_once, at_once),
            credit,
        }
    }

    /// The first time, not before `time`, at which it allows `units`, and which part makes it wait.
    pub fn earliest(&self, time: Nanos, units: u64) -> (Nanos, Option<AccountPart>) {
        let ceiling = self.ceiling.earliest(time, units);
        let credit = self.credit.as_ref();
        let credit = credit.map_or(time, |credit| credit.earliest(time, units));
        if credit > ceiling {
            (credit, Some(AccountPart::Credit))
        } else {
            (ceiling, (ceiling > time).then_some(AccountPart::Ceiling))
        }
    }

    /// Takes `units` at `time`.
    pub fn take(&mut self, time: Nanos, units: u64) {
        self.ceiling.take(time, units);
        if let Some(credit) = &mut self.credit {
            credit.take(time, units);
        }
    }

    /// What it allows.
    pub fn rates(&self) -> AccountRates {
        self.rates
    }

    /// Credit left at `time`, in units; `None`: it has no credit.
    pub fn credit(&self, time: Nanos) -> Option<u64> {
        self.credit.as_ref().map(|credit| credit.tokens(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units allowed in each of `seconds` seconds to somebody who always wants more.
    fn served(account: &mut Account, seconds: u64) -> Vec<u64> {
        let mut counts = vec![0; seconds as usize];
        let mut time = Nanos::ZERO;
        loop {
            time = account.earliest(time, 1).0;
            let second = time.0 / 1_000_000_000;
            if second >= seconds {
                return counts;
            }
            account.take(time, 1);
            counts[second as usize] += 1;
        }
    }

    #[test]
    fn it_serves_the_burst_then_the_base() {
        let rates = AccountRates::bursting(10, 100, 900);
        let mut account = Account::new(rates, Nanos::ZERO, 1000);
        let counts = served(&mut account, 20);
        // 900 / (100 - 10) = 10 s.
        let near = |counts: &[u64], rate: u64| counts.iter().all(|n| n.abs_diff(rate) <= 1);
        assert!(
            near(&counts[..10], 100) && near(&counts[10..], 10),
            "{counts:?}"
        );
        assert_eq!(rates.lasts_s(100.0), Some(10.0));
        assert_eq!((rates.lasts_s(10.0), rates.refill_s()), (None, Some(90.0)));
    }

    #[test]
    fn a_base_above_the_burst_has_no_credit() {
        assert!(!AccountRates::bursting(3000, 3000, 5_400_000).has_credit());
        let mut account = Account::new(AccountRates::constant(7), Nanos::ZERO, 1000);
        assert_eq!(served(&mut account, 3), [7, 7, 7]);
    }
}
