//! fio's generator of random numbers, by which it finds offsets and seeds again.
//!
//! P. L'Ecuyer's taus88 (Maximally equidistributed combined Tausworthe generators, 1996) with the
//! seeding of fio's lib/rand.c. Left out: the 64-bit generator, which fio takes for more than 2^32
//! blocks or when asked.

/// `randseed` unless it is given.
pub const SEED_DEFAULT: u64 = 0x89;
/// From which 3.33 seeds the offsets, with `randrepeat`.
pub const OFFSET_SEED: u64 = 0xb189_9bed;
const STEP: u64 = 0x9e37_0001;
/// Which of a job's seeds gives the contents.
pub const CONTENT_STREAM: u64 = 3;
/// Which of a job's seeds gives the offsets.
pub const OFFSET_STREAM: u64 = 6;

/// State of a generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taus88 {
    /// The three components.
    pub parts: [u32; 3],
}

impl Taus88 {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Taus88 {
        let seed = seed as u32;
        let next = |part: u32, least: u32| {
            let mixed = part.wrapping_mul(69_069) ^ seed;
            if mixed < least {
                mixed.wrapping_add(least)
            } else {
                mixed
            }
        };
        // In C, 2^31 is the number 29.
        let first = next((2 ^ 31) + (2 ^ 17) + (2 ^ 7), 1);
        let second = next(first, 7);
        let third = next(second, 15);
        let mut generator = Taus88 {
            parts: [first, second, third],
        };
        for _ in 0..6 {
            generator.draw();
        }
        generator
    }

    /// The next number.
    pub fn draw(&mut self) -> u32 {
        let step = |part: u32, a: u32, b: u32, mask: u32, d: u32| {
            ((part & mask) << d) ^ (((part << a) ^ part) >> b)
        };
        let [first, second, third] = self.parts;
        self.parts = [
            step(first, 13, 19, 0xffff_fffe, 12),
            step(second, 2, 25, 0xffff_fff8, 4),
            step(third, 3, 11, 0xffff_fff0, 17),
        ];
        self.parts[0] ^ self.parts[1] ^ self.parts[2]
    }

    /// The seed of a block's contents.
    pub fn draw_seed(&mut self) -> u64 {
        u64::from(self.draw()).wrapping_mul(u64::from(self.draw()))
    }
}

/// The seed of one stream of the job that is number `thread`, from 1.
pub fn stream_seed(seed: u64, thread: u64, stream: u64) -> u64 {
    let mixed = (0..4 + stream).fold(seed, |seed, _| seed.wrapping_mul(STEP));
    mixed.wrapping_mul(thread).wrapping_add(stream)
}

/// Fills `bytes`, a multiple of 32, as fio does from a seed.
pub fn fill(bytes: &mut [u8], seed: u64) {
    const GOLDEN_RATIO: u64 = 0x61C8_8646_80B5_83EB;
    let mut lanes = [1, 2, 3, 5].map(|prime| seed.wrapping_mul(prime));
    for row in bytes.chunks_exact_mut(32) {
        for (lane, word) in lanes.iter_mut().zip(row.chunks_exact_mut(8)) {
            word.copy_from_slice(&lane.to_le_bytes());
            *lane = lane.wrapping_mul(GOLDEN_RATIO);
        }
    }
}
