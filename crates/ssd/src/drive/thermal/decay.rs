//! Exponential decay in fixed point: the same on every machine, which `exp` of a maths library is
//! not.

/// Fractions are in units of 2^-64.
const ONE: u128 = 1 << 64;
/// Powers of two of steps that are tabled: 2^40 steps of 10 ms are 348 years.
const POWERS: usize = 40;

/// What is left of a heat that decays with a time constant, step by step.
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
        let kept = lost * u128::from(constant) / u128::from(step);
        Decay {
            powers,
            kept: kept.min(ONE - 1) as u64,
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

    /// The closed form of the lumped model in floating point, which the model itself does not use.
    fn closed(from: f64, to: f64, steps: f64, constant: u64) -> f64 {
        to + (from - to) * (-steps * STEP as f64 / constant as f64).exp()
    }

    #[test]
    fn a_leap_and_single_steps_meet_the_closed_form() {
        for constant in [100 * STEP, 12_345 * STEP, 1_000_000 * STEP] {
            let decay = Decay::new(STEP, constant);
            let energy = 50_000_000_000;
            let end = decay.equilibrium(energy);
            for power in 0..14 {
                let steps = 1 << power;
                let by_steps = (0..steps).fold(0, |heat, _| decay.after_one(heat, energy));
                let leap = decay.after(0, energy, power);
                let wanted = closed(0.0, end as f64, f64::from(steps), constant);
                for found in [by_steps, leap] {
                    let off = (found as f64 / wanted - 1.0).abs();
                    assert!(off < 1e-6, "{constant} {steps}: {found} for {wanted}");
                }
                let cooled = decay.after(end, 0, power) as f64;
                let wanted = closed(end as f64, 0.0, f64::from(steps), constant);
                assert!(
                    (cooled - wanted).abs() <= 1e-6 * wanted + 2.0,
                    "{constant} {steps}"
                );
            }
        }
    }
}
