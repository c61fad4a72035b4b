//! What error correction leaves of raw bit errors.
//!
//! A code word of n bits with independent errors at rate p is lost when more than t of them are
//! wrong: the upper tail of the binomial distribution. Bits within a real page are not quite
//! independent; soft decoding and read retry correct more than t. So this is the bounded-distance
//! (BCH) figure.

use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;

/// A code word and what it corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codeword {
    /// User data in it, bytes.
    pub data_bytes: u32,
    /// Check bytes stored with it.
    pub parity_bytes: u32,
    /// Bits it corrects at most.
    pub t: u32,
}

/// Codes that data sheets asked for (NAND vendors' data sheets; 24 and 40 bits from memory of
/// them). Parity is t x the bits of the Galois field, rounded up to bytes.
pub const CODES: [(&str, Codeword); 3] = [
    ("50 nm MLC, 8 bits in 512 bytes", Codeword::bch(512, 8, 13)),
    ("25 nm MLC, 24 bits in 1 KiB", Codeword::bch(1024, 24, 14)),
    ("20 nm MLC, 40 bits in 1 KiB", Codeword::bch(1024, 40, 14)),
];

impl Codeword {
    /// A binary BCH code over GF(2^m): m check bits for each corrected one.
    pub const fn bch(data_bytes: u32, t: u32, m: u32) -> Codeword {
        Codeword {
            data_bytes,
            parity_bytes: (t * m).div_ceil(8),
            t,
        }
    }

    /// A binary BCH code over the smallest field that holds it.
    pub const fn bch_of(data_bytes: u32, t: u32) -> Codeword {
        let mut m = 4;
        while (1_u64 << m) - 1 < 8 * data_bytes as u64 + t as u64 * m {
            m += 1;
        }
        Codeword::bch(data_bytes, t, m as u32)
    }

    /// Bits in all.
    pub fn bits(&self) -> u32 {
        8 * (self.data_bytes + self.parity_bytes)
    }

    /// Probability that a code word cannot be corrected, at raw bit error rate `rber`.
    ///
    /// # Errors
    /// When `rber` is not between 0 and 1.
    pub fn uncorrectable(&self, rber: f64) -> Result<f64, LabError> {
        binomial_tail(self.bits(), self.t, rber)
    }

    /// Uncorrectable bit error rate: lost code words per user bit read (JESD218's definition
    /// counts errors per bit read in the same way, one per lost sector).
    ///
    /// # Errors
    /// When `rber` is not between 0 and 1.
    pub fn uber(&self, rber: f64) -> Result<f64, LabError> {
        Ok(self.uncorrectable(rber)? / (8.0 * f64::from(self.data_bytes)))
    }

    /// The highest raw bit error rate at which UBER is at most `limit`.
    ///
    /// # Errors
    /// When `limit` is not between 0 and 1.
    pub fn rber_max(&self, limit: f64) -> Result<f64, LabError> {
        if !(limit > 0.0 && limit < 1.0) {
            return Err(not_a_share("an UBER limit", limit));
        }
        // The tail rises with the rate, so halving the interval of its logarithm finds it.
        let (mut low, mut high) = (-80.0_f64, 0.5_f64.ln());
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.uber(middle.exp())? <= limit {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(low.exp())
    }
}

fn not_a_share(name: &str, value: f64) -> LabError {
    LabError::refused(
        format!("{name} of {value} cannot be"),
        "rates of errors lie between 0 and 1",
    )
}

/// P(X > t) for X binomial(n, p), without cancellation: the terms are summed on the smaller side
/// of the mean, starting from the largest, each from the one before.
///
/// # Errors
/// When `p` is not between 0 and 1.
pub fn binomial_tail(n: u32, t: u32, p: f64) -> Result<f64, LabError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(not_a_share("a bit error rate", p));
    }
    if t >= n || p == 0.0 {
        return Ok(0.0);
    }
    if p == 1.0 {
        return Ok(1.0);
    }
    let odds = p / (1.0 - p);
    if f64::from(t) + 1.0 > f64::from(n) * p {
        let up = |k: u32| f64::from(n - k) / f64::from(k + 1) * odds;
        return Ok(sum(term(n, t + 1, p), (t + 1..n).map(up)));
    }
    let down = |k: u32| f64::from(k) / f64::from(n - k + 1) / odds;
    Ok(1.0 - sum(term(n, t, p), (1..=t).rev().map(down)))
}

/// C(n, k) p^k (1 - p)^(n - k), through logarithms.
fn term(n: u32, k: u32, p: f64) -> f64 {
    let choices: f64 = (1..=k)
        .map(|i| (f64::from(n - k + i) / f64::from(i)).ln())
        .sum();
    (choices + f64::from(k) * p.ln() + f64::from(n - k) * (-p).ln_1p()).exp()
}

/// The first term and those that follow by `ratios`, until they no longer count.
fn sum(first: f64, ratios: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut last) = (first, first);
    for ratio in ratios {
        last *= ratio;
        total += last;
        if last < total * 1e-18 {
            break;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, expected: f64) {
        let off = (value / expected - 1.0).abs();
        assert!(off < 1e-9, "{value:e} is not {expected:e}");
    }

    /// Small enough to count by hand.
    #[test]
    fn small_tails_are_exact() {
        close(binomial_tail(4, 1, 0.5).unwrap(), 11.0 / 16.0);
        close(binomial_tail(4, 3, 0.5).unwrap(), 1.0 / 16.0);
        assert_eq!(binomial_tail(4, 4, 0.5).unwrap(), 0.0);
        assert_eq!(binomial_tail(4, 1, 0.0).unwrap(), 0.0);
        assert_eq!(binomial_tail(4, 1, 1.0).unwrap(), 1.0);
    }

    /// Sums of exact integers in 40-digit decimal arithmetic (Python's `decimal` and `math.comb`).
    #[test]
    fn tails_of_real_codes_agree_with_exact_arithmetic() {
        for (n, t, p, expected) in [
            (4200, 8, 1e-4, 7.625258727879e-10),
            (8528, 24, 1e-3, 3.461705113848e-6),
            (8528, 24, 1e-4, 5.132941752392e-28),
            (8752, 40, 2e-3, 1.143391497874e-6),
            (9200, 72, 0.005, 1.394569748883e-4),
            (9200, 72, 0.012, 9.999418876120e-1),
        ] {
            close(binomial_tail(n, t, p).unwrap(), expected);
        }
    }

    #[test]
    fn the_limit_is_the_inverse_of_the_rate() {
        for (name, code) in CODES {
            let rber = code.rber_max(1e-15).unwrap();
            close(code.uber(rber).unwrap(), 1e-15);
            assert!(code.uber(rber * 1.01).unwrap() > 1e-15, "{name}");
        }
    }

    #[test]
    fn parity_is_what_the_data_sheets_reserve() {
        // 24 bits in 1,080 bytes on 25 nm, 40 bits in 1,117 on 20 nm: parity must fit.
        assert!(Codeword::bch(1024, 24, 14).parity_bytes <= 1080 - 1024);
        assert!(Codeword::bch(1024, 40, 14).parity_bytes <= 1117 - 1024);
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(binomial_tail(10, 1, -0.1).is_err());
        assert!(binomial_tail(10, 1, f64::NAN).is_err());
        assert!(CODES[0].1.rber_max(0.0).is_err());
    }
}
