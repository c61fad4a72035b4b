//! Power draw that does not belong to an operation: at rest, with commands in progress, asleep.

use crate::config::{EnergyConfig, PowerState};
use crate::image::image_of;

image_of! {
    /// Draw over time. A drive is busy while it has commands outstanding; after some idle time it
    /// enters its power states, one after the other.
    #[derive(Clone, Debug)]
    pub(super) struct Draw {
        idle_mw: u64,
        active_mw: u64,
        states: Vec<PowerState>,
        busy: bool,
        /// Begin of the idle time.
        idle_since: u64,
        /// Time up to which the sums below count.
        settled: u64,
        pj: u128,
        asleep_ns: u64,
        wakes: u64,
    }
}

impl Draw {
    pub fn new(config: &EnergyConfig, now: u64) -> Draw {
        Draw {
            idle_mw: config.idle_mw,
            active_mw: config.active_mw,
            states: config.states.clone(),
            busy: false,
            idle_since: now,
            settled: now,
            pj: 0,
            asleep_ns: 0,
            wakes: 0,
        }
    }

    /// Times at which the drive has entered each state if it stays idle. It draws as much as
    /// before until it is in.
    fn entered(&self) -> impl Iterator<Item = (u64, &PowerState)> {
        let entered = |s: &PowerState| self.idle_since.saturating_add(s.after.0 + s.entry.0);
        self.states.iter().map(move |state| (entered(state), state))
    }

    /// Time of the next change of the draw after `at` if nothing else happens.
    pub fn next_change(&self, at: u64) -> u64 {
        if self.busy {
            return u64::MAX;
        }
        let mut later = self.entered().filter(|(entered, _)| *entered > at);
        later.next().map_or(u64::MAX, |(entered, _)| entered)
    }

    /// Draw from `at` until the next change, mW.
    pub fn mw(&self, at: u64) -> u64 {
        if self.busy {
            return self.idle_mw + self.active_mw;
        }
        let before = self.entered().take_while(|(entered, _)| *entered <= at);
        before.last().map_or(self.idle_mw, |(_, state)| state.mw)
    }

    /// Energy drawn up to `until`, not before the last change, pJ: mW x ns.
    pub fn total_pj(&self, until: u64) -> u128 {
        let (mut at, mut pj) = (self.settled, self.pj);
        while at < until {
            let end = self.next_change(at).min(until);
            pj += u128::from(self.mw(at)) * u128::from(end - at);
            at = end;
        }
        pj
    }

    /// Time in power states up to `until`, ns.
    pub fn asleep_ns(&self, until: u64) -> u64 {
        let first = self.entered().next().filter(|_| !self.busy);
        let from = first.map_or(until, |(entered, _)| entered.max(self.settled));
        self.asleep_ns + until.saturating_sub(from)
    }

    /// Time of the last change that was not foreseeable.
    pub fn settled(&self) -> u64 {
        self.settled
    }

    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    fn settle(&mut self, now: u64) {
        if now > self.settled {
            self.pj = self.total_pj(now);
            self.asleep_ns = self.asleep_ns(now);
            self.settled = now;
        }
    }

    /// A command arrives at an idle drive; returns when the drive is operational.
    pub fn wake(&mut self, now: u64) -> u64 {
        self.settle(now);
        let began = |state: &&PowerState| self.idle_since.saturating_add(state.after.0) <= now;
        let deepest = self.states.iter().take_while(began).last();
        let ready = deepest.map_or(now, |state| {
            let entered = self.idle_since + state.after.0 + state.entry.0;
            entered.max(now) + state.exit.0
        });
        self.wakes += u64::from(deepest.is_some() && !self.busy);
        self.busy = true;
        ready
    }

    /// The last command has completed, or background work that began at `from` ends at `now`.
    pub fn rest(&mut self, from: u64, now: u64) {
        self.settle(from);
        self.busy = false;
        self.idle_since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Nanos;

    fn drowsy() -> Draw {
        let state = |after, entry, exit, mw| PowerState {
            after: Nanos(after),
            entry: Nanos(entry),
            exit: Nanos(exit),
            mw,
        };
        let config = EnergyConfig {
            idle_mw: 1000,
            active_mw: 500,
            states: vec![state(100, 10, 30, 50), state(200, 20, 80, 5)],
            ..EnergyConfig::default()
        };
        Draw::new(&config, 0)
    }

    #[test]
    fn a_command_pays_for_the_state_that_it_finds_and_for_an_entry_in_progress() {
        for (at, ready) in [
            (99, 99),
            (100, 140),
            (105, 140),
            (110, 140),
            (150, 180),
            (199, 229),
            (200, 300),
            (220, 300),
            (1000, 1080),
        ] {
            assert_eq!(drowsy().wake(at), ready, "command at {at}");
        }
    }

    #[test]
    fn the_draw_is_that_of_the_state_once_entered() {
        let mut draw = drowsy();
        assert_eq!(draw.total_pj(110), 110 * 1000);
        assert_eq!(draw.total_pj(220), 110 * 1000 + 110 * 50);
        let asleep = 110 * 1000 + 110 * 50 + 80 * 5;
        assert_eq!(draw.total_pj(300), asleep);
        assert_eq!((draw.asleep_ns(300), draw.wakes()), (190, 0));
        draw.wake(300);
        assert_eq!(draw.total_pj(310), asleep + 10 * 1500);
        draw.rest(310, 310);
        assert_eq!(draw.total_pj(410), asleep + 10 * 1500 + 100 * 1000);
        assert_eq!((draw.asleep_ns(430), draw.wakes()), (200, 1));
    }
}
