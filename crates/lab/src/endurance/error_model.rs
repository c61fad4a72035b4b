//! Raw bit error rate of NAND as a power law of cycles, retention and reads.
//!
//! Kim, Choi, Min, "Design Tradeoffs for SSD Reliability", USENIX FAST 2019, equation and
//! coefficients for 72-layer TLC. The paper's coefficients for planar MLC were not at hand and are
//! not guessed here. Field studies (Schroeder, FAST 2016) see slower growth with wear than such a
//! law, and no link between this rate and uncorrectable errors: a law of chips on a bench.

use crate::LabError;
use serde::{Deserialize, Serialize};

/// What a block has been through.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stress {
    /// Program and erase cycles.
    pub cycles: f64,
    /// Hours since the data was programmed, at the temperature the law was fitted for.
    pub retention_h: f64,
    /// Reads of the block since then / pages in it.
    pub reads_per_page: f64,
}

/// RBER = eps + alpha c^k + beta c^m t^n + gamma c^p r^q.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerLaw {
    /// Of a new block, read at once.
    pub eps: f64,
    /// Factor of the wear term.
    pub alpha: f64,
    /// Exponent of cycles in it.
    pub k: f64,
    /// Factor of the retention term.
    pub beta: f64,
    /// Exponent of cycles in it.
    pub m: f64,
    /// Exponent of hours in it.
    pub n: f64,
    /// Factor of the read-disturb term.
    pub gamma: f64,
    /// Exponent of cycles in it.
    pub p: f64,
    /// Exponent of reads in it.
    pub q: f64,
}

impl PowerLaw {
    /// 72-layer TLC as published (see the module's head).
    pub const TLC_72_LAYERS: PowerLaw = PowerLaw {
        eps: 1.48e-3,
        alpha: 3.90e-10,
        k: 2.05,
        beta: 6.28e-5,
        m: 0.14,
        n: 0.54,
        gamma: 3.73e-9,
        p: 0.33,
        q: 1.71,
    };

    /// The law of media on which each cycle counts for `share` of these.
    pub fn stretched(self, share: f64) -> PowerLaw {
        PowerLaw {
            alpha: self.alpha * share.powf(self.k),
            beta: self.beta * share.powf(self.m),
            gamma: self.gamma * share.powf(self.p),
            ..self
        }
    }

    /// Raw bit error rate, at most 0.5 (a bit that is wrong more often than that is a coin).
    ///
    /// # Errors
    /// When a part of `stress` is negative or not a number.
    pub fn rber(&self, stress: Stress) -> Result<f64, LabError> {
        let Stress {
            cycles,
            retention_h,
            reads_per_page,
        } = stress;
        for (what, value) in [
            ("cycles", cycles),
            ("retention", retention_h),
            ("reads", reads_per_page),
        ] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(LabError::refused(
                    format!("{what} of {value} have no error rate"),
                    "cycles, hours and reads are numbers from 0",
                ));
            }
        }
        let wear = self.alpha * cycles.powf(self.k);
        let retention = self.beta * cycles.powf(self.m) * retention_h.powf(self.n);
        let disturb = self.gamma * cycles.powf(self.p) * reads_per_page.powf(self.q);
        Ok((self.eps + wear + retention + disturb).min(0.5))
    }
}

/// Linear read disturb of 2Y-nm MLC: added RBER per read of the block, by cycles.
///
/// Cai et al., DSN 2015, at nominal pass voltage. The digits were remembered when they were
/// noted, not read again: an anchor, not an acceptance value.
pub const MLC_2Y_DISTURB: [(u32, f64); 7] = [
    (2_000, 1.00e-9),
    (3_000, 1.63e-9),
    (4_000, 2.37e-9),
    (5_000, 3.74e-9),
    (8_000, 7.50e-9),
    (10_000, 9.10e-9),
    (15_000, 1.90e-8),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn worn(cycles: f64) -> Stress {
        Stress {
            cycles,
            ..Stress::default()
        }
    }

    #[test]
    fn the_published_check_values_come_out_as_printed() {
        let law = PowerLaw::TLC_72_LAYERS;
        let at = |cycles| law.rber(worn(cycles)).unwrap();
        assert_eq!(format!("{:.3e}", at(0.0)), "1.480e-3");
        assert_eq!(format!("{:.4e}", at(1000.0)), "2.0309e-3");
    }

    /// 100,000 reads of a block of 256 pages at 1,000 cycles add about 1e-3 (the reference's own
    /// arithmetic on the same coefficients).
    #[test]
    fn read_disturb_has_the_published_size() {
        let law = PowerLaw::TLC_72_LAYERS;
        let read = Stress {
            reads_per_page: 100_000.0 / 256.0,
            ..worn(1000.0)
        };
        let added = law.rber(read).unwrap() - law.rber(worn(1000.0)).unwrap();
        assert!((0.9e-3..1.1e-3).contains(&added), "{added}");
    }

    #[test]
    fn every_stress_makes_it_worse_and_nonsense_is_refused() {
        let law = PowerLaw::TLC_72_LAYERS;
        let base = law.rber(worn(1000.0)).unwrap();
        for more in [
            worn(1100.0),
            Stress {
                retention_h: 10.0,
                ..worn(1000.0)
            },
            Stress {
                reads_per_page: 10.0,
                ..worn(1000.0)
            },
        ] {
            assert!(law.rber(more).unwrap() > base);
        }
        assert_eq!(law.rber(worn(1e12)).unwrap(), 0.5);
        assert!(law.rber(worn(-1.0)).is_err());
        assert!(law.rber(worn(f64::NAN)).is_err());
    }
}
