//! Skewed choices among `n` slots: Zipf, Pareto, normal, and zones with a share each.
//!
//! A sampler gives a slot number; [`super::stream`] makes an address of it. Zipf and Pareto draw
//! a *rank* (0 is the likeliest) and scatter ranks over the slots with a seeded permutation, so
//! the hot blocks are not neighbours and every block can be reached.
//!
//! Floating point is used here (logarithms and powers of the platform's C library): two builds
//! against different C libraries may differ in a rare draw.

use super::permutation::Permutation;
use ssdlab_ssd::rng::Rng;

/// A number in `[0, 1)` with 53 random bits.
#[inline]
fn unit(rng: &mut Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Zipf over `n` ranks: P(rank k) is proportional to 1 / (k + 1)^theta, exactly.
///
/// fio uses the approximation of Gray et al. (1994), which is exact for the first two ranks
/// only and sums a series over all blocks before it starts. This is rejection-inversion
/// (W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996): exact, constant memory, no start-up cost, about 1.1
/// draws per number at worst.
#[derive(Clone, Debug)]
pub struct Zipf {
    n: f64,
    theta: f64,
    integral_first: f64,
    integral_last: f64,
    squeeze: f64,
    scatter: Permutation,
}

impl Zipf {
    /// Over `n` slots (at least 1) with exponent `theta` > 0; `rng` selects the scattering.
    pub fn new(n: u64, theta: f64, rng: &mut Rng) -> Zipf {
        let mut zipf = Zipf {
            n: n.max(1) as f64,
            theta,
            integral_first: 0.0,
            integral_last: 0.0,
            squeeze: 0.0,
            scatter: Permutation::new(n, rng),
        };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(zipf.n + 0.5);
        zipf.squeeze = 2.0 - zipf.integral_inverse(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// The next slot.
    #[inline]
    pub fn slot(&self, rng: &mut Rng) -> u64 {
        self.scatter.at(self.rank(rng))
    }

    /// The next rank, from 0.
    #[inline]
    pub fn rank(&self, rng: &mut Rng) -> u64 {
        loop {
            let span = self.integral_first - self.integral_last;
            let u = self.integral_last + unit(rng) * span;
            let x = self.integral_inverse(u);
            let k = (x + 0.5).floor().clamp(1.0, self.n);
            if k - x <= self.squeeze || u >= self.integral(k + 0.5) - self.density(k) {
                return k as u64 - 1;
            }
        }
    }

    /// x^-theta.
    fn density(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// The integral of x^-theta from 1 to x, written so that theta near 1 loses no digits.
    fn integral(&self, x: f64) -> f64 {
        let log = x.ln();
        expm1_over((1.0 - self.theta) * log) * log
    }

    fn integral_inverse(&self, y: f64) -> f64 {
        // Rounding may carry the argument below the pole of ln(1 + t).
        let t = (y * (1.0 - self.theta)).max(-1.0);
        (ln1p_over(t) * y).exp()
    }
}

/// (e^x - 1) / x, 1 at 0.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.exp_m1() / x
    } else {
        1.0 + x * 0.5 * (1.0 + x / 3.0)
    }
}

/// ln(1 + x) / x, 1 at 0.
fn ln1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        x.ln_1p() / x
    } else {
        1.0 - x * (0.5 - x / 3.0)
    }
}

/// Pareto as fio defines it (lib/zipf.c): rank = floor((n - 1) u^p), p = ln h / ln(1 - h), so
/// that a share `h` of the blocks receives a share 1 - `h` of the accesses. As in fio the last
/// rank is reached only when u is 1, that is, never.
#[derive(Clone, Debug)]
pub struct Pareto {
    last: f64,
    power: f64,
    scatter: Permutation,
}

impl Pareto {
    /// Over `n` slots (at least 1) with 0 < `h` < 1; `rng` selects the scattering.
    pub fn new(n: u64, h: f64, rng: &mut Rng) -> Pareto {
        Pareto {
            last: (n.max(1) - 1) as f64,
            power: h.ln() / (1.0 - h).ln(),
            scatter: Permutation::new(n, rng),
        }
    }

    /// The next slot.
    #[inline]
    pub fn slot(&self, rng: &mut Rng) -> u64 {
        self.scatter.at(self.rank(rng))
    }

    /// The next rank, from 0.
    #[inline]
    pub fn rank(&self, rng: &mut Rng) -> u64 {
        (self.last * unit(rng).powf(self.power)) as u64
    }
}

/// Normal as fio defines it (lib/gauss.c): the mean of twelve even numbers, and an even deviation
/// around it. As there, neighbours in rank are no neighbours in address.
#[derive(Clone, Debug)]
pub struct Normal {
    n: u64,
    deviation: u64,
    scatter: Permutation,
}

/// Even numbers in a mean (fio's GAUSS_ITERS).
const SUMMED: u64 = 12;

impl Normal {
    /// Over `n` slots (at least 1); `deviation` in per cent of them; `rng` selects the scattering.
    pub fn new(n: u64, deviation: f64, rng: &mut Rng) -> Normal {
        let n = n.max(1);
        let slots = (n as f64 * deviation / 100.0).ceil() as u64;
        Normal {
            n,
            deviation: slots.min(n / 2),
            scatter: Permutation::new(n, rng),
        }
    }

    /// The next slot.
    #[inline]
    pub fn slot(&self, rng: &mut Rng) -> u64 {
        self.scatter.at(self.rank(rng))
    }

    /// The next rank: near the middle of the ranks.
    pub fn rank(&self, rng: &mut Rng) -> u64 {
        let sum: u128 = (0..SUMMED).map(|_| u128::from(rng.below(self.n))).sum();
        let mean = (sum.div_ceil(u128::from(SUMMED))) as u64;
        if self.deviation == 0 {
            return mean.min(self.n - 1);
        }
        let moved = (mean + rng.below(self.deviation)).saturating_sub(self.deviation / 2);
        moved.min(self.n - 1)
    }
}

/// Zones in order of address, each with a share of the accesses and of the slots.
#[derive(Clone, Debug)]
pub struct Zoned {
    /// The zone of each of 100 equally likely draws.
    draw: Box<[u8; 100]>,
    /// First slot and number of slots of each zone.
    zones: Box<[(u64, u64)]>,
}

impl Zoned {
    /// Over `n` slots; `zones` are (share of accesses, share of slots) in per cent, at most 100
    /// in sum each, the rest going to the last. `None` when they are more, or when there are
    /// none, or more than 100.
    ///
    /// A zone too small for a slot of its own takes the slot at its start.
    pub fn new(n: u64, zones: &[(u8, u8)]) -> Option<Zoned> {
        let n = n.max(1);
        let sum = |column: fn(&(u8, u8)) -> u8| zones.iter().map(|z| u32::from(column(z))).sum();
        let (accesses, sizes): (u32, u32) = (sum(|z| z.0), sum(|z| z.1));
        if zones.is_empty() || zones.len() > 100 || accesses > 100 || sizes > 100 {
            return None;
        }
        let mut draw = Box::new([zones.len() as u8 - 1; 100]);
        let mut drawn = 0;
        let mut share = 0;
        let mut ranges = Vec::with_capacity(zones.len());
        for (index, &(access, size)) in zones.iter().enumerate() {
            draw[drawn..drawn + usize::from(access)].fill(index as u8);
            drawn += usize::from(access);
            let first = slots_below(n, share);
            share += u64::from(size);
            let end = if index + 1 == zones.len() {
                n
            } else {
                slots_below(n, share)
            };
            ranges.push((first.min(n - 1), (end - first).max(1)));
        }
        draw[drawn..].fill(zones.len() as u8 - 1);
        Some(Zoned {
            draw,
            zones: ranges.into(),
        })
    }

    /// As [`Zoned::new`], with sizes in bytes: slots start at multiples of `align`. Zones that lie
    /// behind the region are left out, and those that are left share their accesses in
    /// proportion; a last zone of 0 bytes goes to the end. `None` when nothing is left, or there
    /// are more than 100 zones.
    pub fn of_bytes(n: u64, align: u64, zones: &[(u8, u64)]) -> Option<Zoned> {
        let (n, align) = (n.max(1), align.max(1));
        if zones.len() > 100 {
            return None;
        }
        let mut inside: Vec<(u64, (u64, u64))> = Vec::new();
        let mut assigned = 0;
        let mut start = 0u64;
        for (index, &(access, size)) in zones.iter().enumerate() {
            let first = start.div_ceil(align);
            let last = index + 1 == zones.len();
            let end = match size {
                0 if last => n,
                _ => start.saturating_add(size).div_ceil(align).min(n),
            };
            assigned += u64::from(access);
            if first < n && access > 0 {
                inside.push((access.into(), (first, end.max(first + 1) - first)));
            }
            start = start.saturating_add(size);
        }
        let first = start.div_ceil(align);
        if assigned < 100 && first < n {
            // The other accesses go to the rest of the region.
            inside.push((100 - assigned, (first, n - first)));
        }
        let total: u64 = inside.iter().map(|zone| zone.0).sum();
        let last = inside.len().checked_sub(1)?;
        let mut draw = Box::new([last as u8; 100]);
        let (mut sum, mut drawn) = (0, 0);
        for (index, zone) in inside.iter().enumerate() {
            sum += zone.0;
            let end = (sum * 100 / total) as usize;
            draw[drawn..end].fill(index as u8);
            drawn = end;
        }
        let zones = inside.into_iter().map(|zone| zone.1).collect();
        Some(Zoned { draw, zones })
    }

    /// The next slot.
    #[inline]
    pub fn slot(&self, rng: &mut Rng) -> u64 {
        let (first, count) = self.zones[usize::from(self.draw[rng.below(100) as usize])];
        first + rng.below(count)
    }
}

/// Slots in the first `percent` of `n`.
fn slots_below(n: u64, percent: u64) -> u64 {
    (u128::from(n) * u128::from(percent) / 100) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u64 = 200_000;

    /// Chi-square of counts against probabilities; classes expected fewer than 10 times are
    /// pooled. Returns the statistic and its degrees of freedom.
    pub(crate) fn chi_square(counts: &[u64], probability: impl Fn(usize) -> f64) -> (f64, f64) {
        let draws: u64 = counts.iter().sum();
        let (mut chi, mut classes) = (0.0, 0.0);
        let (mut seen, mut expected) = (0.0, 0.0);
        for (class, &count) in counts.iter().enumerate() {
            seen += count as f64;
            expected += probability(class) * draws as f64;
            if expected >= 10.0 {
                chi += (seen - expected) * (seen - expected) / expected;
                classes += 1.0;
                (seen, expected) = (0.0, 0.0);
            }
        }
        (chi, f64::max(classes - 1.0, 1.0))
    }

    /// Five standard deviations above the mean of chi-square.
    fn limit(freedom: f64) -> f64 {
        freedom + 5.0 * (2.0 * freedom).sqrt()
    }

    #[test]
    fn zipf_ranks_have_the_exact_probabilities() {
        for (n, theta) in [
            (1u64, 1.2),
            (2, 0.5),
            (10, 0.99),
            (1000, 1.2),
            (5000, 0.4),
            (300, 3.0),
        ] {
            let mut rng = Rng::new(n);
            let zipf = Zipf::new(n, theta, &mut rng);
            let mut counts = vec![0; n as usize];
            for _ in 0..DRAWS {
                counts[zipf.rank(&mut rng) as usize] += 1;
            }
            let zeta: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
            let (chi, freedom) = chi_square(&counts, |k| (k as f64 + 1.0).powf(-theta) / zeta);
            assert!(
                chi < limit(freedom),
                "n {n} theta {theta}: {chi} of {freedom}"
            );
        }
    }

    #[test]
    fn zipf_over_a_trillion_slots_keeps_its_head_and_its_range() {
        // zeta(1.5) = 2.6123753...: the first rank's share for n without end.
        let n = 1 << 40;
        let mut rng = Rng::new(3);
        let zipf = Zipf::new(n, 1.5, &mut rng);
        let mut first = 0u64;
        for _ in 0..DRAWS {
            let rank = zipf.rank(&mut rng);
            assert!(rank < n);
            first += u64::from(rank == 0);
        }
        let (share, expected) = (first as f64 / DRAWS as f64, 1.0 / 2.612_375);
        assert!(
            (share - expected).abs() < 0.006,
            "{share} against {expected}"
        );
    }

    #[test]
    fn zipf_ends_and_stays_in_range_at_the_ends_of_theta() {
        for theta in [f64::MIN_POSITIVE, 1e-9, 1.0, 1.0 + 1e-12, 1e3, f64::MAX] {
            for n in [1, 2, 1 << 40] {
                let mut rng = Rng::new(n);
                let zipf = Zipf::new(n, theta, &mut rng);
                assert!((0..1000).all(|_| zipf.slot(&mut rng) < n), "{theta} {n}");
            }
        }
    }

    #[test]
    fn pareto_follows_its_distribution_function() {
        // Kolmogorov-Smirnov against P(rank < k) = (k / (n - 1))^(1/p); 1.95/sqrt(draws) is
        // exceeded once in a thousand.
        let (n, h) = (10_000u64, 0.2);
        let mut rng = Rng::new(11);
        let pareto = Pareto::new(n, h, &mut rng);
        let mut counts = vec![0u64; n as usize];
        for _ in 0..DRAWS {
            counts[pareto.rank(&mut rng) as usize] += 1;
        }
        let inverse_power = (1.0f64 - h).ln() / h.ln();
        let (mut below, mut worst) = (0u64, 0.0f64);
        for (k, count) in counts.iter().enumerate().take(n as usize - 1) {
            below += count;
            let exact = ((k as f64 + 1.0) / (n as f64 - 1.0)).powf(inverse_power);
            worst = worst.max((below as f64 / DRAWS as f64 - exact).abs());
        }
        assert!(worst < 1.95 / (DRAWS as f64).sqrt(), "{worst}");
        // The 80/20 rule it is named for.
        let hot: u64 = counts[..n as usize / 5].iter().sum();
        assert!((hot as f64 / DRAWS as f64 - 0.8).abs() < 0.005, "{hot}");
    }

    #[test]
    fn zones_get_their_shares_and_are_even_inside() {
        let zones = [(50, 5), (30, 15), (20, 80)];
        let (n, mut rng) = (1000u64, Rng::new(5));
        let zoned = Zoned::new(n, &zones).unwrap();
        let mut counts = vec![0; n as usize];
        for _ in 0..DRAWS {
            counts[zoned.slot(&mut rng) as usize] += 1;
        }
        let (chi, freedom) = chi_square(&counts, |slot| match slot {
            0..50 => 0.5 / 50.0,
            50..200 => 0.3 / 150.0,
            _ => 0.2 / 800.0,
        });
        assert!(chi < limit(freedom), "{chi} of {freedom}");
    }

    #[test]
    fn the_last_zone_takes_what_is_left() {
        let zoned = Zoned::new(100, &[(50, 10), (20, 20)]).unwrap();
        assert_eq!(zoned.draw[49], 0);
        assert_eq!(zoned.draw[50..], [1; 50]);
        assert_eq!(*zoned.zones, [(0, 10), (10, 90)]);
    }

    #[test]
    fn zones_that_cannot_be_are_none() {
        assert!(Zoned::new(100, &[]).is_none());
        assert!(Zoned::new(100, &[(60, 50), (41, 50)]).is_none());
        assert!(Zoned::new(100, &[(50, 60), (50, 41)]).is_none());
    }

    #[test]
    fn zones_smaller_than_a_slot_stay_inside() {
        for n in 1..30 {
            let zoned = Zoned::new(n, &[(50, 5), (30, 15), (20, 80)]).unwrap();
            let mut rng = Rng::new(n);
            assert!((0..1000).all(|_| zoned.slot(&mut rng) < n), "n {n}");
        }
    }
}
