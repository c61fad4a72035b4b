//! Failure and replacement of blocks.

use super::{Erased, Failure, NEVER, NOWHERE, Reliability};
use crate::config::UNITY;
use crate::rng::{Rng, SplitMix64};

impl Reliability {
    /// Draws the factor and the last cycle of every block.
    pub(super) fn draw(&mut self, blocks: usize) {
        let mut rng = Rng::named(self.config.seed, "wear: blocks");
        let mut draw = |table: &[u32]| table[rng.below(table.len() as u64) as usize];
        for block in 0..blocks {
            let factor = draw(&self.config.block_spread);
            let fails = draw(&self.config.failure_cycles);
            self.factor[block] = factor;
            // Typical RBER at which this block, better or worse than the typical one, is retired.
            let limit = u128::from(self.config.retire_above) * u128::from(UNITY)
                / u128::from(factor.max(1));
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            let margin = self.config.rber_cycles.first_above(limit, u32::MAX.into());
            let margin = margin.map_or(u32::MAX, |cycles| cycles as u32);
            self.lasts[block] = fails.min(margin).max(1);
        }
    }

    /// Kind of failure of a block when its cycles are used up.
    fn failure_of(&self, block: u32) -> Failure {
        let limit = self.config.retire_above;
        let factor = u128::from(self.factor[block as usize]);
        let next = u64::from(self.cycles[block as usize]) + 1;
        let rber = u128::from(self.config.rber_cycles.at(next)) * factor / u128::from(UNITY);
        if rber > u128::from(limit) {
            return Failure::Margin;
        }
        let drawn = SplitMix64(self.config.seed ^ u64::from(block)).next_u64() % UNITY;
        if drawn < u64::from(self.config.program_failures) {
            Failure::Program
        } else {
            Failure::Erase
        }
    }

    /// Prepares a superblock's blocks for the erase before their next use: those that have failed
    /// and those whose erase fails now are replaced. When a die has no reserve left, the superblock
    /// is retired if `may_retire`.
    pub fn renew(&mut self, superblock: u32, may_retire: bool) -> Erased {
        let mut outcome = Erased::Usable;
        for die in 0..self.dies {
            let place = self.place(superblock, die);
            self.forget_failing(place);
            loop {
                let block = self.backing[place];
                let b = block as usize;
                if !self.failed[place] && self.cycles[b] + 1 < self.lasts[b] {
                    break;
                }
                if !self.failed[place] && self.fails_later(place, block) {
                    break;
                }
                if !self.replace(place, die) {
                    outcome = Erased::Retired;
                    break;
                }
            }
        }
        match outcome {
            Erased::Retired if may_retire => self.give_up(superblock),
            Erased::Retired => outcome = Erased::Overdue,
            _ => {}
        }
        outcome
    }

    /// Whether a superblock that is freed after `erases` more erases may lose a block, because one
    /// has failed or used up its cycles. Only then may the superblock be retired.
    pub fn may_lose(&self, superblock: u32, erases: u32) -> bool {
        let first = self.place(superblock, 0);
        (first..first + self.dies as usize).any(|place| {
            let block = self.backing[place] as usize;
            self.failed[place] || self.cycles[block] + erases + 1 >= self.lasts[block]
        })
    }

    fn forget_failing(&mut self, place: usize) {
        if self.failing_row[place] != NEVER {
            // The superblock was freed before the row was reached.
            self.failing_row[place] = NEVER;
            self.failing_count -= 1;
        }
    }

    /// Begins the last cycle of a block. True when part of it can be used because a later program
    /// fails.
    fn fails_later(&mut self, place: usize, block: u32) -> bool {
        let last = self.cycles[block as usize] + 1 == self.lasts[block as usize];
        match self.failure_of(block) {
            // Beyond the last cycle when its row was not reached, as in SLC mode.
            Failure::Program if last => {
                let mut mix = SplitMix64(self.config.seed.rotate_left(17) ^ u64::from(block));
                let row = mix.next_u64() % u64::from(self.pages_per_block);
                self.failing_row[place] = row as u16;
                self.failing_count += 1;
                return true;
            }
            Failure::Erase | Failure::Program => self.counters.erase_failures += 1,
            Failure::Margin => self.counters.margin_failures += 1,
        }
        self.failed[place] = true;
        false
    }

    /// Replaces a failed block from the reserve; false when there is no reserve block, and the
    /// failed one stays.
    fn replace(&mut self, place: usize, die: u32) -> bool {
        let Some(block) = self.reserve[die as usize].pop() else {
            return false;
        };
        let old = std::mem::replace(&mut self.backing[place], block);
        self.lasts[old as usize] = 0;
        self.failed[place] = false;
        self.counters.blocks_retired += 1;
        true
    }

    /// Retires a superblock: its good blocks become reserve, its failed ones are retired.
    fn give_up(&mut self, superblock: u32) {
        for die in 0..self.dies {
            let place = self.place(superblock, die);
            self.forget_failing(place);
            let block = self.backing[place];
            if self.failed[place] {
                self.lasts[block as usize] = 0;
                self.counters.blocks_retired += 1;
                self.failed[place] = false;
            } else {
                self.reserve[die as usize].push(block);
            }
            self.backing[place] = NOWHERE;
        }
        self.counters.superblocks_retired += 1;
    }

    /// Undoes the retirements and replacements since `before`. Cycles stay counted.
    pub fn go_back(&mut self, before: Reliability) {
        let cycles = std::mem::take(&mut self.cycles);
        *self = Reliability { cycles, ..before };
    }

    /// Remaining cycles of a block before its last one.
    fn left(&self, block: u32) -> u32 {
        let b = block as usize;
        self.lasts[b].saturating_sub(self.cycles[b] + 1)
    }

    /// Simulated cycles of each superblock; zero for a retired one. A replacement block has fewer,
    /// so the oldest block of a superblock counts.
    pub fn played(&self) -> Vec<u32> {
        let superblocks = self.backing.chunks(self.dies as usize);
        let simulated = |block: u32| self.cycles[block as usize] - self.leapt[block as usize];
        superblocks
            .map(|blocks| {
                let used = blocks.iter().filter(|&&block| block != NOWHERE);
                used.map(|&block| simulated(block)).max().unwrap_or(0)
            })
            .collect()
    }

    /// Blocks in use, each weighted by the simulated cycles of its superblock, or equally when
    /// nothing was simulated.
    fn weighted(&self) -> Vec<(u32, u64)> {
        let played = self.played();
        let none = played.iter().all(|&n| n == 0);
        let places = self.backing.iter().enumerate();
        let used = places.filter(|(_, block)| **block != NOWHERE);
        used.map(|(place, &block)| {
            let weight = played[place / self.dies as usize];
            (block, u64::from(weight) + u64::from(none))
        })
        .collect()
    }

    /// Adds `cycles` that are not simulated, spread over the blocks in use in proportion to the
    /// simulated ones, but none beyond a block's last cycle: blocks fail only when simulated. The
    /// cycles that such blocks cannot take go to the others.
    pub fn add_cycles(&mut self, cycles: u64) {
        let mut used = self.weighted();
        let mut remaining = cycles;
        while remaining > 0 {
            used.retain(|&(block, weight)| weight > 0 && self.left(block) > 0);
            let total_weight: u64 = used.iter().map(|&(_, weight)| weight).sum();
            if used.is_empty() {
                break;
            }
            let (now, few) = (remaining, remaining < used.len() as u64);
            for &(block, weight) in &used {
                let share = u128::from(now) * u128::from(weight) / u128::from(total_weight);
                let portion = if few { 1 } else { share as u64 };
                let added = portion.min(remaining).min(self.left(block).into());
                self.add(block, added);
                remaining -= added;
            }
            if remaining == now {
                // Every share is less than one: the first takes the rest.
                let added = remaining.min(self.left(used[0].0).into());
                self.add(used[0].0, added);
                remaining -= added;
            }
        }
        // All are in their last cycle: the total is kept nevertheless.
        let first = self.backing.iter().find(|&&block| block != NOWHERE);
        if let Some(&block) = first {
            self.add(block, remaining);
        }
    }

    fn add(&mut self, block: u32, cycles: u64) {
        self.cycles[block as usize] += cycles as u32;
        self.leapt[block as usize] += cycles as u32;
    }

    /// Mean number of further cycles until `count` more blocks in use are in their last one, if
    /// wear goes on in the same proportions. Blocks already in their last cycle do not count: those
    /// that are freed fail at once, and the others hold cold data, which may stay for a long time.
    pub fn cycles_until_failures(&self, count: usize) -> u32 {
        let used = self.weighted();
        let total_weight: u64 = used.iter().map(|&(_, weight)| weight).sum();
        let blocks = used.len() as u64;
        let estimates = used.iter().filter_map(|&(block, weight)| {
            let unused = u64::from(self.left(block));
            // left / (its share of the mean)
            let mean = (unused * total_weight).checked_div(weight * blocks)?;
            (unused > 0).then_some(mean.min(u32::MAX.into()) as u32)
        });
        let mut cycles_left: Vec<u32> = estimates.collect();
        match count.saturating_sub(1) {
            at if at < cycles_left.len() => *cycles_left.select_nth_unstable(at).1,
            _ => u32::MAX,
        }
    }

    /// Spare blocks left on all dies.
    pub fn reserve_left(&self) -> u32 {
        self.reserve.iter().map(|die| die.len() as u32).sum()
    }

    /// Cycles of every block in use.
    pub fn cycles_in_use(&self) -> impl Iterator<Item = u32> + '_ {
        let used = self.backing.iter().filter(|&&block| block != NOWHERE);
        used.map(|&block| self.cycles[block as usize])
    }

    /// Erases of all blocks, retired ones included.
    pub fn cycles_total(&self) -> u64 {
        self.cycles.iter().map(|&c| u64::from(c)).sum()
    }

    /// Checks that each block is in use once, in reserve, or retired, and that no retired one is
    /// used.
    ///
    /// # Errors
    /// The first contradiction.
    pub fn check(&self) -> Result<(), String> {
        let mut placed = vec![false; self.cycles.len()];
        let used = self.backing.iter().filter(|&&block| block != NOWHERE);
        for &block in used.chain(self.reserve.iter().flatten()) {
            if std::mem::replace(&mut placed[block as usize], true) {
                return Err(format!("block {block} is in two places"));
            }
            if self.lasts[block as usize] == 0 {
                return Err(format!("block {block} is retired and in use"));
            }
        }
        let gone = placed.iter().filter(|seen| !**seen).count() as u64;
        if gone != self.counters.blocks_retired {
            let counted = self.counters.blocks_retired;
            return Err(format!(
                "{gone} blocks are gone, {counted} counted as retired"
            ));
        }
        let failing = self.failing_row.iter().filter(|&&row| row != NEVER).count();
        if failing != self.failing_count as usize {
            return Err(format!(
                "{failing} blocks will fail, {} counted",
                self.failing_count
            ));
        }
        Ok(())
    }
}
