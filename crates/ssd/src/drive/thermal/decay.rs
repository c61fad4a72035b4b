//! Exponential decay in fixed point: the same on every machine, which `exp` of a maths library is
//! not.

/// Fractions are in units of 2^-64.
const ONE: u128 = 1 << 64;
/// Powers of two of steps that are tabled: 2^40 steps of 10 ms are 348 years.
const POWERS: usize = 40;

/// Remaining heat of a body that cools with a time constant, step by step.
#[derive(Clone, Debug)]
pub(super) struct Decay {
    /// exp(-2^i step / constant).
    powers: [u64; POWERS],
    /// Share of the energy of a step that is still stored at its end, at constant power:
    /// (1 - exp(-step / constant)) constant / step.
    kept: u64,
    step: u64,
    constant: u64,
}

/// a x b, b a fraction, rounded down.
fn times(a: u128, b: u64) -> u128 {
    let b = u128::from(b);
    ((a >> 64) * b) + (((a & (ONE - 1)) * b) >> 64)
}

/// exp(-x) for a fraction x below 1/16, by its series.
fn exp_minus(x: u128) -> u64 {
    let (mut sum, mut term) = (ONE, ONE);
    for n in 1..=20 {
        term = ((term * x) >> 64) / n;
        sum = if n % 2 == 1 { sum - term } else { sum + term };
    }
    (sum.min(ONE - 1)) as u64
}

impl Decay {
    /// Steps of `step` ns under a time constant of at least 100 steps, ns.
    pub fn new(step: u64, constant: u64) -> Decay {
        assert!(constant >= 100 * step, "constant of {constant} ns");
        let first = exp_minus((u128::from(step) << 64) / u128::from(constant));
        let mut powers = [first; POWERS];
        for i in 1..POWERS {
            powers[i] = times(powers[i - 1].into(), powers[i - 1]) as u64;
        }
        let lost = ONE - u128::from(first);
        let remaining = lost * u128::from(constant) / u128::from(step);
        Decay {
            powers,
            kept: remaining.min(ONE - 1) as u64,
            step,
            constant,
        }
    }

    /// Heat after a step that adds `energy` at constant power.
    pub fn after_one(&self, heat: u128, energy: u128) -> u128 {
        times(heat, self.powers[0]) + times(energy, self.kept)
    }

    /// Heat that is never exceeded or fallen below when each step adds `energy`.
    pub fn equilibrium(&self, energy: u128) -> u128 {
        energy * u128::from(self.constant) / u128::from(self.step)
    }

    /// Heat after 2^`power` steps that each add `energy`.
    pub fn after(&self, heat: u128, energy: u128, power: usize) -> u128 {
        let end = self.equilibrium(energy);
        match heat.checked_sub(end) {
            Some(above) => end + times(above, self.powers[power]),
            None => end - times(end - heat, self.powers[power]),
        }
    }

    /// Heat lost in a step from `heat` to `after`: its mean over the time constant.
    pub fn lost_in_one(&self, heat: u128, after: u128) -> u128 {
        (heat + after) * u128::from(self.step) / (2 * u128::from(self.constant))
    }

    /// Heat lost in 2^`power` steps that each add `energy`: the integral of the heat over the time
    /// constant.
    pub fn lost(&self, heat: u128, energy: u128, power: usize) -> u128 {
        let end = self.equilibrium(energy);
        let in_equilibrium = energy << power;
        let gone = |all: u128| all - times(all, self.powers[power]);
        match heat.checked_sub(end) {
            Some(above) => in_equilibrium + gone(above),
            None => in_equilibrium.saturating_sub(gone(end - heat)),
        }
    }

    /// Largest power of two of steps that is tabled and at most `steps`.
    pub fn power_below(steps: u64) -> usize {
        (steps.ilog2() as usize).min(POWERS - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: u64 = 10_000_000;
    const HEAT: u128 = 1_000_000_000_000;
    /// HEAT / e.
    const AFTER_A_CONSTANT: u128 = 367_879_441_171;

    #[track_caller]
    fn about(found: u128, wanted: u128) {
        let off = found.abs_diff(wanted);
        assert!(off <= HEAT / 1_000_000, "{found}, not {wanted}");
    }

    #[test]
    fn one_time_constant_leaves_one_part_in_e_by_leap_and_by_steps() {
        for power in 7..16 {
            let (steps, constant) = (1_u64 << power, STEP << power);
            let decay = Decay::new(STEP, constant);
            about(decay.after(HEAT, 0, power), AFTER_A_CONSTANT);
            let energy = HEAT >> power;
            assert!(decay.equilibrium(energy).abs_diff(HEAT) <= HEAT / 1_000_000);
            about(decay.after(0, energy, power), HEAT - AFTER_A_CONSTANT);
            let by_steps =
                |from, energy| (0..steps).fold(from, |heat, _| decay.after_one(heat, energy));
            about(by_steps(HEAT, 0), AFTER_A_CONSTANT);
            about(by_steps(0, energy), HEAT - AFTER_A_CONSTANT);
        }
    }

    #[test]
    fn the_loss_is_what_came_in_and_is_not_stored() {
        let (power, energy) = (9, HEAT / 300);
        let decay = Decay::new(STEP, 700 * STEP);
        for heat in [0, HEAT, 5 * HEAT] {
            let lost = decay.lost(heat, energy, power);
            about(
                heat + (energy << power),
                lost + decay.after(heat, energy, power),
            );
            let after = decay.after_one(heat, energy);
            about(heat + energy, decay.lost_in_one(heat, after) + after);
        }
    }
}
