//! A seeded permutation of `0..n` in constant memory.
//!
//! Used where fio keeps a bitmap (each block once) and where it hashes (scattering the ranks of
//! a skewed distribution over the region; a hash modulo `n` makes some blocks unreachable).
//!
//! Model: rounds of "multiply by an odd number, add, fold the high half onto the low half" on
//! the smallest power of two that holds `n`. Each step is invertible, so the whole is a
//! permutation of that power of two; values at or above `n` are sent through again until they
//! fall below it (cycle walking: Black and Rogaway, "Ciphers with Arbitrary Finite Domains",
//! 2002), which takes under two turns on average. It shuffles; it does not encrypt.

use ssdlab_ssd::rng::Rng;

const ROUNDS: usize = 4;

/// A permutation of `0..len`.
#[derive(Clone, Debug)]
pub struct Permutation {
    len: u64,
    mask: u64,
    fold: u32,
    keys: [(u64, u64); ROUNDS],
}

impl Permutation {
    /// The permutation of `0..len` that the next numbers of `rng` select; `len` 0 counts as 1.
    pub fn new(len: u64, rng: &mut Rng) -> Permutation {
        let len = len.max(1);
        let bits = u64::BITS - (len - 1).leading_zeros();
        Permutation {
            len,
            mask: u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0),
            fold: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| (rng.next_u64() | 1, rng.next_u64())),
        }
    }

    /// Where `index` goes. `index` must be below the length; a larger one is taken modulo 2^k.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let mut x = index & self.mask;
        loop {
            for (multiply, add) in self.keys {
                x = x.wrapping_mul(multiply).wrapping_add(add) & self.mask;
                x ^= x >> self.fold;
            }
            if x < self.len {
                return x;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Permutation, Rng};
    use proptest::{prop_assert, proptest};

    proptest! {
        #[test]
        fn every_value_comes_exactly_once(len in 1u64..5000, seed: u64) {
            let permutation = Permutation::new(len, &mut Rng::new(seed));
            let mut seen = vec![false; len as usize];
            for index in 0..len {
                let value = permutation.at(index) as usize;
                prop_assert!(!std::mem::replace(&mut seen[value], true), "{value} twice");
            }
        }
    }

    #[test]
    fn powers_of_two_and_their_neighbours_are_permuted() {
        for len in (0..13).flat_map(|k| [(1u64 << k) - 1, 1 << k, (1 << k) + 1]) {
            let permutation = Permutation::new(len, &mut Rng::new(len));
            let mut values: Vec<u64> = (0..len).map(|i| permutation.at(i)).collect();
            values.sort_unstable();
            assert!(values.into_iter().eq(0..len), "length {len}");
        }
    }

    #[test]
    fn the_largest_length_neither_overflows_nor_hangs() {
        let permutation = Permutation::new(u64::MAX, &mut Rng::new(1));
        assert!(permutation.at(u64::MAX - 1) < u64::MAX);
    }

    #[test]
    fn steps_between_neighbours_are_spread_evenly() {
        // Differences of successive values modulo n are uniform for a random permutation:
        // 16 classes, chi-square with 15 degrees of freedom exceeds 44.3 once in 10,000.
        let len = 1 << 16;
        let permutation = Permutation::new(len, &mut Rng::new(7));
        let mut classes = [0u64; 16];
        for i in 0..len - 1 {
            let step = (permutation.at(i + 1) + len - permutation.at(i)) % len;
            classes[(step * 16 / len) as usize] += 1;
        }
        let expected = (len - 1) as f64 / 16.0;
        let chi: f64 = classes
            .iter()
            .map(|&c| (c as f64 - expected).powi(2) / expected)
            .sum();
        assert!(chi < 44.3, "chi-square {chi}, classes {classes:?}");
    }
}
