//! Mutation of an input: small damage that keeps most of it valid.

use ssdlab_ssd::rng::Rng;

/// Maximum length of a mutated input in bytes.
const LENGTH_MAX: usize = 1 << 18;
/// Maximum length in bytes of a part that is removed, repeated or copied.
const PART_MAX: u64 = 64;
/// Values near which parsers tend to break.
const LIMITS: [u64; 12] = [
    0,
    1,
    127,
    255,
    512,
    4096,
    1 << 16,
    1 << 20,
    1 << 31,
    1 << 32,
    1 << 53,
    1 << 63,
];

/// Mutates inputs, from one random stream.
pub struct Mutator {
    rng: Rng,
    words: &'static [&'static str],
}

impl Mutator {
    /// Begins the stream of `seed`; `words` are inserted now and then.
    pub fn new(seed: u64, words: &'static [&'static str]) -> Self {
        let rng = Rng::named(seed, "mutate");
        Self { rng, words }
    }

    /// Picks an index below `count`.
    pub fn pick(&mut self, count: usize) -> usize {
        self.rng.below(count as u64) as usize
    }

    /// Applies one to six changes to `bytes`; `other` is another input of the corpus.
    pub fn mutate(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        for _ in 0..=self.rng.below(6) {
            self.change(bytes, other);
        }
        bytes.truncate(LENGTH_MAX);
    }

    fn change(&mut self, bytes: &mut Vec<u8>, other: &[u8]) {
        if bytes.is_empty() {
            bytes.extend_from_slice(other);
        }
        let (start, end) = self.part(bytes.len());
        match self.rng.below(11) {
            0 | 1 if start < end => bytes[start] ^= 1 << self.rng.below(8),
            2 if start < end => bytes[start] = self.rng.next_u64() as u8,
            3 => drop(bytes.drain(start..end)),
            4 => bytes.insert(start, self.rng.next_u64() as u8),
            5 => self.overwrite_number(bytes, start),
            6 => self.replace_digits(bytes, start),
            7 => {
                let part = bytes[start..end].to_vec();
                let at = self.pick(bytes.len() + 1);
                bytes.splice(at..at, part);
            }
            8 => {
                let (from, to) = self.part(other.len());
                bytes.splice(start..end, other[from..to].iter().copied());
            }
            9 if !self.words.is_empty() => {
                let word = self.words[self.pick(self.words.len())];
                let at = if self.rng.percent(50) { start } else { end };
                bytes.splice(start..at, word.bytes());
            }
            10 if self.rng.percent(25) => bytes.truncate(start),
            _ => {}
        }
    }

    /// A part of `length` bytes: start and end.
    fn part(&mut self, length: usize) -> (usize, usize) {
        let start = self.pick(length + 1);
        let most = PART_MAX.min((length - start) as u64);
        (start, start + self.rng.below(most + 1) as usize)
    }

    fn near_limit(&mut self) -> u64 {
        let limit = LIMITS[self.pick(LIMITS.len())];
        limit.wrapping_add(self.rng.below(5)).wrapping_sub(2)
    }

    /// Overwrites 1, 2, 4 or 8 bytes by a number near a limit, in either byte order.
    fn overwrite_number(&mut self, bytes: &mut [u8], start: usize) {
        let width = 1 << self.rng.below(4);
        let number = self.near_limit();
        let little = number.to_le_bytes();
        let big = number.to_be_bytes();
        let digits = if self.rng.percent(50) {
            &little[..width]
        } else {
            &big[8 - width..]
        };
        for (to, from) in bytes[start..].iter_mut().zip(digits) {
            *to = *from;
        }
    }

    /// Replaces the first run of decimal digits behind `start` by another number.
    fn replace_digits(&mut self, bytes: &mut Vec<u8>, start: usize) {
        let Some(from) = bytes[start..].iter().position(u8::is_ascii_digit) else {
            return;
        };
        let from = start + from;
        let digits = bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let to = from + digits.count();
        let number = self.near_limit().to_string();
        bytes.splice(from..to, number.into_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_mutations_and_every_kind_of_change() {
        let stream = |seed| {
            let mut mutator = Mutator::new(seed, &["word"]);
            let mut results = Vec::new();
            for _ in 0..2000 {
                let mut bytes = b"offset=4096 length=512".to_vec();
                mutator.mutate(&mut bytes, b"other");
                results.push(bytes);
            }
            results
        };
        let results = stream(1);
        assert_eq!(results, stream(1));
        assert_ne!(results, stream(2));
        let has = |part: &[u8]| {
            let holds = |bytes: &Vec<u8>| bytes.windows(part.len()).any(|at| at == part);
            results.iter().any(holds)
        };
        assert!(has(b"word") && has(b"other") && has(b"length=4294967"));
        assert!(results.iter().any(|bytes| bytes.len() < 10));
    }

    #[test]
    fn an_empty_input_grows_and_no_input_grows_without_bound() {
        let mut mutator = Mutator::new(3, &[]);
        let mut bytes = Vec::new();
        for _ in 0..200 {
            mutator.mutate(&mut bytes, &[7; LENGTH_MAX]);
            assert!(bytes.len() <= LENGTH_MAX);
        }
        assert!(!bytes.is_empty());
        mutator.mutate(&mut Vec::new(), &[]);
    }
}
