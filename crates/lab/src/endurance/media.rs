//! From the laws of wear to the tables that a modelled drive lives by.
//!
//! What is published is used as published: the power law and its coefficients for 72-layer TLC
//! (see [`super::error_model`]), the codes that data sheets ask for, JESD218's retention. What is
//! not is assumed, and [`Media::rests_on`] says so:
//!
//! - SLC, MLC: the published law's shape over cycles / rated cycles, scaled so that at the
//!   rating, after the retention that JESD218 asks for, the code just holds at its first
//!   try. That is what a rating means; it is no measurement of such cells.
//! - Each retry corrects 1.2 times as much as the try before: ten or so at the end of a TLC
//!   drive's life, as in Park et al. (ASPLOS 2021, remembered).
//! - Programs get 10 % faster and erases 50 % slower by the rated cycles.
//! - Blocks fail at three times the rated cycles (log-normal, sigma 0.25), one in a hundred within
//!   them; 2 % are in reserve: data sheets promise 98 % of the blocks over life (NVB).

use super::jesd218::Class;
use super::{Codeword, PowerLaw, Stress, retention};
use crate::LabError;
use crate::catalogue::CatalogueDrive;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::nand::reliability::{Curve, LevellingConfig, RBER_UNITY, UNITY};
use ssdlab_ssd::nand::{EndOfLife, WearConfig};

/// Celsius at which the tables' hours are.
pub const REFERENCE_C: f64 = 40.0;
/// How much more each retry corrects.
const RETRY_GAIN: f64 = 1.2;
/// Sigma of ln RBER between blocks, and between pages of a block.
const BLOCK_SIGMA: f64 = 0.15;
const PAGE_SIGMA: f64 = 0.08;
/// Median of the cycles at which blocks fail, in rated cycles, and sigma of its logarithm.
const FAILURE_MEDIAN: f64 = 3.0;
const FAILURE_SIGMA: f64 = 0.25;
/// Entries of tables of quantiles; of those of failures, one in a hundred is early.
const QUANTILES: usize = 1000;
/// Cycles that kinds of cell are rated for when a drive's papers do not say.
const CYCLES_USUAL: [u32; 4] = [100_000, 3_000, 3_000, 1_000];

/// What a drive's media is taken to be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// Bits of a cell.
    pub bits_per_cell: u32,
    /// Rated program and erase cycles.
    pub cycles_rated: u32,
    /// The law of raw bit errors.
    pub law: PowerLaw,
    /// What corrects them.
    pub code: Codeword,
    /// Tries beyond the first.
    pub retries: u32,
    /// Class that the rating is for.
    pub class: Class,
    /// What of this was assumed, a sentence each.
    pub rests_on: Vec<String>,
}

impl Media {
    /// Of a drive of the catalogue. Protected drives count as enterprise.
    ///
    /// # Errors
    /// When no law can be made for it.
    pub fn of(drive: &CatalogueDrive) -> Result<Media, LabError> {
        let bits = drive.config.shape.bits_per_cell;
        let documented = &drive.file.documented;
        let class = if documented.power_loss_protection.value {
            Class::Enterprise
        } else {
            Class::Client
        };
        let given = documented.program_erase_cycles.as_ref().map(|c| c.value);
        let mut media = Media::new(bits, given, class)?;
        if given.is_none() {
            let cycles = media.cycles_rated;
            media.rests_on.push(format!(
                "rated cycles {cycles} (assumed): usual for {bits} bits a cell"
            ));
        }
        Ok(media)
    }

    /// Of cells of so many bits, rated for `cycles` or what is usual.
    ///
    /// # Errors
    /// When `cycles` is zero.
    pub fn new(bits: u32, cycles: Option<u32>, class: Class) -> Result<Media, LabError> {
        let usual = CYCLES_USUAL[(bits.clamp(1, 4) - 1) as usize];
        let cycles_rated = cycles.unwrap_or(usual);
        if cycles_rated == 0 {
            return Err(LabError::refused(
                "media rated for 0 cycles cannot be written",
                "documented.program_erase_cycles is 1 or more",
            ));
        }
        let (code, retries) = match bits {
            1 => (Codeword::bch(512, 8, 13), 4),
            2 => (Codeword::bch(1024, 24, 14), 8),
            _ => (Codeword::bch(1024, 72, 14), 20),
        };
        let mut media = Media {
            bits_per_cell: bits,
            cycles_rated,
            law: PowerLaw::TLC_72_LAYERS,
            code,
            retries,
            class,
            rests_on: vec![
                format!("read retries correct {RETRY_GAIN} times more each (assumed)"),
                "programs 10 % faster, erases 50 % slower at rated cycles (assumed)".into(),
                "blocks fail at 3 times the rated cycles, 1 % of them before; 2 % in reserve \
                 (assumed)"
                    .into(),
            ],
        };
        if bits < 3 {
            media.law = media.scaled_to_rating()?;
            media.rests_on.push(format!(
                "bit errors of {bits}-bit cells: the law of 72-layer TLC, scaled so that the code \
                 just holds at the rating (assumed)"
            ));
        } else {
            media
                .rests_on
                .push("bit errors as published for 72-layer TLC (FAST 2019)".into());
        }
        Ok(media)
    }

    /// What the rating asks data to stand: rated cycles, and JESD218's retention at
    /// [`REFERENCE_C`].
    ///
    /// # Errors
    /// Never for the temperatures of the standard.
    pub fn at_rating(&self) -> Result<Stress, LabError> {
        let limits = self.class.limits();
        let ev = retention::CHARGE_LOSS_EV;
        let hours = limits.retention_h;
        Ok(Stress {
            cycles: f64::from(self.cycles_rated),
            retention_h: retention::equivalent_hours(ev, hours, limits.retention_c, REFERENCE_C)?,
            reads_per_page: 0.0,
        })
    }

    fn scaled_to_rating(&self) -> Result<PowerLaw, LabError> {
        let limit = self.code.rber_max(self.class.limits().uber_max)?;
        // Cycles count as shares of the rating: those of TLC for which the law was published.
        let share = f64::from(CYCLES_USUAL[2]) / f64::from(self.cycles_rated);
        let published = self.law;
        let law = PowerLaw {
            alpha: published.alpha * share.powf(published.k),
            beta: published.beta * share.powf(published.m),
            gamma: published.gamma * share.powf(published.p),
            ..published
        };
        let by = limit / law.rber(self.at_rating()?)?;
        Ok(PowerLaw {
            eps: law.eps * by,
            alpha: law.alpha * by,
            beta: law.beta * by,
            gamma: law.gamma * by,
            ..law
        })
    }

    /// UBER of reads at `stress`: of the try that corrects them, or the last.
    ///
    /// # Errors
    /// When `stress` is nonsense.
    pub fn uber(&self, stress: Stress) -> Result<f64, LabError> {
        self.uber_of_rber(self.law.rber(stress)?)
    }

    /// The same of a raw bit error rate.
    ///
    /// # Errors
    /// When it is not between 0 and 1.
    pub fn uber_of_rber(&self, rber: f64) -> Result<f64, LabError> {
        let limit = self.code.rber_max(self.class.limits().uber_max)?;
        let tries = (rber / limit).ln() / RETRY_GAIN.ln();
        let tries = tries.ceil().clamp(0.0, f64::from(self.retries));
        self.code.uber(rber / RETRY_GAIN.powf(tries))
    }

    /// The tables.
    ///
    /// # Errors
    /// When the law has no value somewhere: never for one made here.
    pub fn tables(&self, blocks_per_plane: u32, seed: u64) -> Result<WearConfig, LabError> {
        let law = self.law;
        let rated = f64::from(self.cycles_rated);
        let last = u64::from(self.cycles_rated).saturating_mul(20);
        let parts = |rber: f64| (rber.min(0.5) * RBER_UNITY as f64).round() as u64;
        let factor = |f: f64| (f * UNITY as f64).round() as u64;
        let x = |n: u64| n as f64;
        let limit = self.code.rber_max(self.class.limits().uber_max)?;
        let tries = (0..=self.retries).map(|n| parts(limit * RETRY_GAIN.powi(n as i32)));
        let correctable: Vec<u64> = tries.collect();
        let worn = |n: u64| (x(n) / rated).min(2.0);
        Ok(WearConfig {
            cycles_rated: self.cycles_rated,
            rber_cycles: Curve::new(last, |c| parts(law.eps + law.alpha * x(c).powf(law.k))),
            rber_retention: Curve::new(last, |c| parts(law.beta * x(c).powf(law.m))),
            retention_hours: Curve::new(1 << 20, |h| factor(x(h).powf(law.n))),
            rber_disturb: Curve::new(last, |c| parts(law.gamma * x(c).powf(law.p))),
            disturb_reads: Curve::new(1 << 24, |r| factor(x(r).powf(law.q))),
            block_spread: log_normal(1.0, BLOCK_SIGMA, UNITY as f64),
            page_spread: log_normal(1.0, PAGE_SIGMA, UNITY as f64),
            refresh_above: correctable[correctable.len() / 2],
            retire_above: correctable[correctable.len() - 1] / 2,
            correctable,
            retry: Nanos::from_micros(20),
            failure_cycles: self.failures(),
            program_failures: UNITY as u32 / 2,
            reserve_blocks: (blocks_per_plane / 50).max(1),
            program_time: Curve::new(last, |c| factor(1.0 - 0.1 * worn(c))),
            erase_time: Curve::new(last, |c| factor(1.0 + 0.5 * worn(c))),
            levelling: LevellingConfig {
                dynamic: true,
                static_gap: (self.cycles_rated / 50).max(4),
                static_every: 16,
            },
            end_of_life: EndOfLife::ReadOnly,
            seed,
        })
    }

    fn failures(&self) -> Vec<u32> {
        let rated = f64::from(self.cycles_rated);
        let early = QUANTILES / 100;
        let mut table = log_normal(FAILURE_MEDIAN, FAILURE_SIGMA, rated);
        for (n, entry) in table.iter_mut().take(early).enumerate() {
            *entry = (rated * (n as f64 + 0.5) / early as f64).ceil() as u32;
        }
        table.iter().map(|&cycles| cycles.max(1)).collect()
    }
}

/// Quantiles of median x e^(sigma z), z normal, in `unit`s.
fn log_normal(median: f64, sigma: f64, unit: f64) -> Vec<u32> {
    let at = |n: usize| (n as f64 + 0.5) / QUANTILES as f64;
    let each = (0..QUANTILES).map(|n| unit * median * (sigma * normal_quantile(at(n))).exp());
    each.map(|value| value.round().min(f64::from(u32::MAX)) as u32)
        .collect()
}

/// The normal distribution's quantile, within 4.5e-4 (Abramowitz and Stegun, 26.2.23).
fn normal_quantile(p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    let t = (-2.0 * tail.ln()).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let z = t - above / below;
    if p < 0.5 { -z } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;
    use ssdlab_ssd::nand::Reliability;

    fn close(value: f64, expected: f64, within: f64) {
        assert!(
            (value / expected - 1.0).abs() < within,
            "{value} {expected}"
        );
    }

    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (p, z) in [
            (0.5, 0.0),
            (0.841_345, 1.0),
            (0.977_250, 2.0),
            (0.001_350, -3.0),
        ] {
            assert!((normal_quantile(p) - z).abs() < 5e-4, "{p}");
        }
    }

    /// The drive's whole-number tables give what the published law gives.
    #[test]
    fn tables_and_law_agree_and_print_the_published_check_values() {
        let media = Media::new(3, None, Class::Client).unwrap();
        let config = media.tables(1000, 0).unwrap();
        let mut tiny = ssdlab_ssd::DriveConfig::tiny();
        tiny.wear = Some(config.clone());
        let drive = Reliability::new(&tiny.geometry(), &config);
        let rber = |c, h, r| drive.rber(c, h, r) as f64 / RBER_UNITY as f64;
        assert_eq!(format!("{:.3e}", rber(0, 0, 0)), "1.480e-3");
        assert_eq!(format!("{:.4e}", rber(1000, 0, 0)), "2.0309e-3");
        for (c, h, r) in [
            (1, 1, 1),
            (300, 24, 100),
            (3000, 2190, 390),
            (6500, 8760, 10_000),
        ] {
            let stress = Stress {
                cycles: c.into(),
                retention_h: h.into(),
                reads_per_page: r.into(),
            };
            close(rber(c, h, r), media.law.rber(stress).unwrap(), 0.01);
        }
    }

    #[test]
    fn a_rating_is_where_the_first_try_just_holds() {
        for bits in [1, 2] {
            let media = Media::new(bits, None, Class::Enterprise).unwrap();
            let uber = media
                .code
                .uber(media.law.rber(media.at_rating().unwrap()).unwrap());
            close(uber.unwrap(), 1e-16, 1e-6);
        }
    }

    /// 40 C x 2190 h is what an enterprise rating asks, and as many hours at the reference.
    #[test]
    fn retention_of_a_rating_is_taken_to_the_reference_temperature() {
        let hours = |class| {
            Media::new(2, None, class)
                .unwrap()
                .at_rating()
                .unwrap()
                .retention_h
        };
        assert_eq!(hours(Class::Enterprise), 2190.0);
        close(hours(Class::Client), 8760.0 / 3.8, 0.01);
    }

    /// Every drive of the catalogue, at its rated cycles and JESD218's retention.
    #[test]
    fn uber_at_the_rating_is_within_the_limit_on_every_drive() {
        for name in catalogue::names().unwrap() {
            let drive = catalogue::drive(&name).unwrap();
            let media = Media::of(&drive).unwrap();
            let uber = media.uber(media.at_rating().unwrap()).unwrap();
            assert!(media.class.allows(uber * (1.0 - 1e-9)), "{name}: {uber:e}");
            let mut config = drive.config.clone();
            let tables = media.tables(config.shape.blocks_per_plane, 0).unwrap();
            config.wear = Some(tables);
            config.ftl.reclaim.free_superblocks_low += 1;
            if !config.ftl.mapping.kind.is_block_mapped() {
                config.validate().unwrap_or_else(|e| panic!("{name}: {e}"));
            }
        }
    }

    #[test]
    fn media_without_cycles_is_refused() {
        assert!(Media::new(2, Some(0), Class::Client).is_err());
    }
}
