//! How wide a prediction is: the 80 % interval.
//!
//! The figures of `docs/catalogue.md` ("How far a draft is off") say how far a figure is off that
//! was withheld from a sheet: a mean ratio m of figures of its kind. With ratios distributed
//! log-normally, sigma = 1.2533 ln m, and 80 % lie within exp(1.2816 sigma). To that come, as
//! independent factors:
//!
//! * of a draft from the class alone, the spread of sheets in a class: a factor of 2 (assumed);
//! * of the slowest one in a hundred and beyond, a factor of 3 (assumed: never tested);
//! * of a steady rate that a protected drive's own sheet states, how far such sheets are off;
//! * of durable writes to a volatile buffer of a catalogue drive, what a flush programs, which no
//!   sheet says: the range over [`FlushVariant::ALL`], each run on the model.
//!
//! Where the prior speaks (`ledger/prior.toml`), the interval is that of the draws instead, with a
//! margin for the rest of the model beside it; and the spread of a class stands for that of wear
//! and of write amplification in service.

use crate::load::{AddressOrder, ClosedLoad, Durability, Figure, StateBefore};
use crate::model::Basis;
use ssdlab_ssd::DriveConfig;

/// Quantile of a normal distribution that 10 % lie above.
const TENTH: f64 = 1.2816;
/// Sigma of a normal distribution for a mean of absolute values of one.
const SIGMA_OF_MEAN: f64 = 1.2533;
/// Mean ratios of withheld figures, the worse of both columns: random reads and writes, reads and
/// writes in order, single reads and writes.
const RANDOM_READ: f64 = 1.74;
const RANDOM_WRITE: f64 = 1.87;
const READ_IN_ORDER: f64 = 1.33;
const WRITE_IN_ORDER: f64 = 1.99;
const SINGLE_READ: f64 = 1.74;
const SINGLE_WRITE: f64 = 1.34;
/// Mean ratio of a steady rate that the sheet of a protected drive states: drafts from such sheets
/// against what others measured, 18 drives (the sheets themselves: 1.17). Random writes; of writes
/// in order the same is assumed.
const STATED: f64 = 1.25;
/// Factors that are assumed: of a class, of slow commands, of what years of service do.
const OF_CLASS: f64 = 2.0;
const OF_TAIL: f64 = 3.0;
/// Mean ratio of rated cycles: makers rate the same cells for 1,000 to 10,000 (assumed).
const OF_CYCLES: f64 = 2.0;
/// Mean ratio of a figure of a fill that the drive's sheet gives: reviewers read them off plots
/// within 10 % (assumed).
const OF_READ: f64 = 1.1;
/// Commands outstanding up to which latency decides, not throughput.
const SINGLE_DEPTH: u32 = 2;

/// What a flush of a volatile buffer may program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FlushVariant {
    /// As the model has it.
    Model,
    /// The data goes to cells in SLC mode.
    Slc,
    /// One map program a flush, where the model has two.
    OneMapProgram,
    /// Both.
    SlcOneMapProgram,
}

impl FlushVariant {
    /// All.
    pub const ALL: [FlushVariant; 4] = [
        FlushVariant::Model,
        FlushVariant::Slc,
        FlushVariant::OneMapProgram,
        FlushVariant::SlcOneMapProgram,
    ];

    /// The drive with it.
    pub fn of(self, config: &DriveConfig) -> DriveConfig {
        let mut config = config.clone();
        if matches!(self, FlushVariant::Slc | FlushVariant::SlcOneMapProgram) {
            let slc = config.nand.timing.slc_program;
            for time in &mut config.nand.timing.program {
                *time = slc.min(*time);
            }
        }
        if matches!(
            self,
            FlushVariant::OneMapProgram | FlushVariant::SlcOneMapProgram
        ) {
            let programs = &mut config.ftl.journal.commit_map_programs;
            *programs = (*programs).min(1);
        }
        config
    }
}

/// Natural logarithm of the factor on either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin(f64);

impl Margin {
    /// Of several independent mean ratios.
    fn of(ratios: &[f64]) -> Margin {
        let square: f64 = ratios.iter().map(|ratio| ratio.ln() * ratio.ln()).sum();
        Margin(TENTH * SIGMA_OF_MEAN * square.sqrt())
    }

    /// Of a figure of a run.
    pub fn of_run(load: &ClosedLoad, state: StateBefore, figure: Figure, basis: &Basis) -> Margin {
        let is_single = load.outstanding <= SINGLE_DEPTH || load.sync != Durability::None;
        let reads = match figure {
            Figure::Reads(_) | Figure::Read(_) => true,
            Figure::All => load.read_pct >= 50,
            _ => false,
        };
        let mean = match (reads, is_single && state != StateBefore::Steady, load.order) {
            (true, true, _) => SINGLE_READ,
            (false, true, _) => SINGLE_WRITE,
            (true, false, AddressOrder::Sequential) => READ_IN_ORDER,
            (false, false, AddressOrder::Sequential) => WRITE_IN_ORDER,
            (true, false, _) => RANDOM_READ,
            (false, false, _) => RANDOM_WRITE,
        };
        let share = match figure {
            Figure::Read(share)
            | Figure::Write(share)
            | Figure::SyncOnly(share)
            | Figure::Durable(share) => share,
            Figure::Writes(_) | Figure::Reads(_) | Figure::All => None,
        };
        let mut ratios = vec![mean];
        if share.is_some_and(|share| share > 0.9) {
            ratios.push(OF_TAIL);
        }
        Margin::with_class(ratios, basis)
    }

    /// Of a steady rate that the sheet of a protected drive states.
    pub fn of_stated() -> Margin {
        Margin::of(&[STATED])
    }

    /// Of writes in order over the whole drive.
    pub fn of_fill(basis: &Basis) -> Margin {
        Margin::with_class(vec![WRITE_IN_ORDER], basis)
    }

    /// Of the rated cycles of the media.
    pub fn of_cycles() -> Margin {
        Margin::of(&[OF_CYCLES])
    }

    /// Of a rate over draws of constants that were fitted to such rates of other drives: their
    /// spread is that of the rates, reviewers' reading and the rest of the model included.
    pub fn of_fitted() -> Margin {
        Margin(0.0)
    }

    /// Of a figure of a fill that the drive's own sheet gives.
    pub fn of_read() -> Margin {
        Margin::of(&[OF_READ])
    }

    /// Of a figure over draws of the constants that decide it: what the rest of the model is off.
    pub fn of_drawn(figure: Figure) -> Margin {
        if is_of_tail(figure) {
            Margin::of(&[SINGLE_WRITE, OF_TAIL])
        } else {
            Margin::of(&[SINGLE_WRITE])
        }
    }

    /// The same of durable writes, whose spread is measured as a whole.
    pub fn of_durable(figure: Figure) -> Margin {
        if is_of_tail(figure) {
            Margin::of(&[OF_TAIL])
        } else {
            Margin(0.0)
        }
    }

    /// The interval of a value whose draws lie between `low` and `high`, with this margin beside
    /// it as an independent factor.
    pub fn beside(self, value: f64, low: f64, high: f64) -> (f64, f64) {
        let both = |ratio: f64| ratio.ln().hypot(self.0).exp();
        (value / both(value / low), value * both(high / value))
    }

    fn with_class(mut ratios: Vec<f64>, basis: &Basis) -> Margin {
        if *basis == Basis::Class {
            ratios.push(OF_CLASS);
        }
        Margin::of(&ratios)
    }

    /// The interval about a range of values.
    pub fn about(self, low: f64, high: f64) -> (f64, f64) {
        (low * (-self.0).exp(), high * self.0.exp())
    }
}

/// Whether a figure is of the slowest commands.
fn is_of_tail(figure: Figure) -> bool {
    match figure {
        Figure::Read(share)
        | Figure::Write(share)
        | Figure::SyncOnly(share)
        | Figure::Durable(share) => share.is_some_and(|share| share > 0.9),
        Figure::Writes(_) | Figure::Reads(_) | Figure::All => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_five_log_normal_ratios_with_that_mean_lie_within() {
        // Quantiles of |z| stand for a sample: 80 % below 1.2816, mean 0.7979.
        let margin = Margin::of(&[1.5]);
        let sigma = 1.5_f64.ln() / 0.7979;
        assert!((margin.0 / (1.2816 * sigma) - 1.0).abs() < 1e-3);
        let (low, high) = margin.about(90.0, 110.0);
        assert!(low < 60.0 && high > 165.0, "{low} {high}");
        assert!(Margin::of(&[1.5, 2.0]).0 > margin.0);
    }
}
