//! Random numbers: xoshiro256** seeded by SplitMix64, forked by name.
//!
//! Implemented here and not taken from a crate because a run must give the same bytes in every
//! release of every dependency. Streams are forked by *name*, never by order, so adding a component
//! changes no other component's numbers. This file has no floating point (a test checks it).
//!
//! Source: D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators" (2021).

use crate::image::image_of;

/// SplitMix64: spreads a seed over the state of a larger generator.
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(pub u64);

impl SplitMix64 {
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

image_of! {
    /// xoshiro256**, a named stream of random numbers.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Rng {
        s: [u64; 4],
    }
}

impl Rng {
    /// The stream of `seed`.
    pub fn new(seed: u64) -> Rng {
        let mut mix = SplitMix64(seed);
        Rng {
            s: [
                mix.next_u64(),
                mix.next_u64(),
                mix.next_u64(),
                mix.next_u64(),
            ],
        }
    }

    /// The stream called `name` of `seed`: independent of every other name's.
    pub fn named(seed: u64, name: &str) -> Rng {
        // FNV-1a over the name, then mixed with the seed: stable across releases.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut mix = SplitMix64(hash);
        Rng::new(seed ^ mix.next_u64())
    }

    /// The whole state, for [`Rng::from_state`].
    pub fn state(&self) -> [u64; 4] {
        self.s
    }

    /// Continues from a state.
    pub fn from_state(s: [u64; 4]) -> Rng {
        Rng { s }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `0..bound`, exactly uniform (Lemire's multiply with rejection).
    ///
    /// # Panics
    /// When `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "below(0)");
        let mut m = u128::from(self.next_u64()) * u128::from(bound);
        if (m as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (m as u64) < threshold {
                m = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (m >> 64) as u64
    }

    /// True in `percent` of 100 draws.
    #[inline]
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }
}
