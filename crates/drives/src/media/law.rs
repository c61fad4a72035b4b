//! From the laws of wear to the tables by which a modelled drive wears.
//!
//! What is published is used as published: the power law and its coefficients for 72-layer TLC
//! (see [`super::error_model`]), the codes that data sheets ask for, JESD218's retention. What is
//! not is assumed, and [`Media::rests_on`] says so; `[wear]` of a drive file overrides any of it:
//!
//! - MLC: a law fitted to measurements of planar cells rated for 3,000 cycles; on cells with
//!   another rating cycles count by their share of it (assumed).
//! - SLC: the same, lowered by how much lower its error rates are in the field.
//! - Each retry corrects 1.2 times as much as the try before: ten or so at the end of a TLC
//!   drive's life, as in Park et al. (ASPLOS 2021, remembered).
//! - Programs get 10 % faster and erases 50 % slower by the rated cycles.
//! - Blocks fail at three times the rated cycles (log-normal, sigma 0.25), one in a hundred within
//!   them; 2 % are in reserve: data sheets promise 98 % of the blocks over life (NVB).
//! - Patrols read four pages of each full block, once a week.

use super::error_model::{MLC_PLANAR_CYCLES, SLC_OVER_MLC};
use super::jesd218::ApplicationClass;
use super::{Codeword, PowerLaw, Stress, retention};
use crate::rests_on::RestsOn;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::nand::reliability::{Curve, RBER_UNITY, UNITY};
use ssdlab_ssd::nand::{EndOfLife, WearConfig};

/// Celsius at which the tables' hours are.
pub const REFERENCE_C: f64 = 40.0;
/// Entries of tables of quantiles.
const QUANTILES: usize = 1000;
/// Cycles that kinds of cell are rated for when a drive's papers do not say.
const CYCLES_USUAL: [u32; 4] = [100_000, 3_000, 3_000, 1_000];

/// [`EndOfLife`] in files, by its name.
mod by_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use ssdlab_ssd::nand::EndOfLife;

    pub fn serialize<S: Serializer>(end: &EndOfLife, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(end.name())
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<EndOfLife, D::Error> {
        let name = String::deserialize(from)?;
        let end_of_life = EndOfLife::ALL.into_iter().find(|end| end.name() == name);
        end_of_life.ok_or_else(|| D::Error::custom(format!("unknown end of life `{name}`")))
    }
}

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
    /// How much more each retry corrects.
    pub retry_gain: f64,
    /// Time of a retry besides sensing again, ns.
    pub retry_ns: u64,
    /// Class that the rating is for.
    pub class: ApplicationClass,
    /// Sigma of ln RBER between blocks.
    pub block_spread: f64,
    /// The same between the pages of a block.
    pub page_spread: f64,
    /// Median of the cycles at which blocks fail, in rated cycles.
    pub failure_median: f64,
    /// Sigma of its logarithm.
    pub failure_spread: f64,
    /// Share of the blocks that fail evenly within the rated cycles.
    pub failure_early: f64,
    /// Share of the failures that are failed programs.
    pub failure_programs: f64,
    /// Reserve blocks, as a share of a die's.
    pub reserve: f64,
    /// Share by which programs are faster at the rated cycles.
    pub program_faster: f64,
    /// Share by which erases are slower then.
    pub erase_slower: f64,
    /// Share of the tries from which data is rewritten; `None`: it never is.
    pub refresh_above: Option<f64>,
    /// Pages of each full block that a patrol reads; 0: no patrol.
    pub patrol_pages: u32,
    /// Hours between two patrols; 0: none begins by itself.
    pub patrol_hours: u32,
    /// Share of what the last try corrects from which a block with fresh data is retired.
    pub retire_above: f64,
    /// Dynamic wear levelling.
    pub level_dynamic: bool,
    /// Erases that static levelling allows between superblocks; 0: no static levelling.
    pub level_gap: u32,
    /// Superblocks freed between two looks.
    pub level_every: u32,
    /// When the reserve is used up.
    #[serde(with = "by_name")]
    pub end_of_life: EndOfLife,
    /// Premises of these values.
    pub rests_on: Vec<RestsOn>,
}

impl Media {
    /// The code that data sheets ask for on cells of `bits` bits.
    pub fn usual_code(bits: u32) -> Codeword {
        match bits {
            1 => Codeword::bch(512, 8, 13),
            2 => Codeword::bch(1024, 24, 14),
            _ => Codeword::bch(1024, 72, 14),
        }
    }

    /// The same media with fewer or more rated cycles, each of which counts for as much more or
    /// less: bit errors, failures and levelling are what they were at the same share of the rating.
    ///
    /// # Errors
    /// When `cycles` is zero.
    pub fn with_cycles(&self, cycles: u32) -> Result<Media, LabError> {
        if cycles == 0 {
            return Err(LabError::refused(
                "media rated for 0 cycles cannot be written",
                "1 or more",
            ));
        }
        let share = f64::from(self.cycles_rated) / f64::from(cycles);
        let gap = f64::from(self.level_gap) / share;
        Ok(Media {
            cycles_rated: cycles,
            law: self.law.stretched(share),
            // No levelling stays none; a gap of a few cycles is the least that can be seen.
            level_gap: match self.level_gap {
                0 => 0,
                _ => (gap.min(f64::from(u32::MAX)) as u32).max(4),
            },
            ..self.clone()
        })
    }

    /// Before anything is given of it, and before the law is scaled.
    pub(super) fn usual(bits: u32, class: ApplicationClass) -> Media {
        let cycles_rated = CYCLES_USUAL[(bits.clamp(1, 4) - 1) as usize];
        let retries = match bits {
            1 => 4,
            2 => 8,
            _ => 20,
        };
        Media {
            bits_per_cell: bits,
            cycles_rated,
            law: PowerLaw::TLC_72_LAYERS,
            code: Media::usual_code(bits),
            retries,
            retry_gain: 1.2,
            retry_ns: 20_000,
            class,
            block_spread: 0.15,
            page_spread: 0.08,
            failure_median: 3.0,
            failure_spread: 0.25,
            failure_early: 0.01,
            failure_programs: 0.5,
            reserve: 0.02,
            program_faster: 0.1,
            erase_slower: 0.5,
            refresh_above: Some(0.5),
            patrol_pages: 4,
            patrol_hours: 168,
            retire_above: 0.5,
            level_dynamic: true,
            level_gap: (cycles_rated / 50).max(4),
            level_every: 16,
            end_of_life: EndOfLife::ReadOnly,
            rests_on: Vec::new(),
        }
    }

    /// What the rating asks data to stand: rated cycles, and JESD218's retention at
    /// [`REFERENCE_C`].
    ///
    /// # Errors
    /// Never for the temperatures of the standard.
    pub fn at_rating(&self) -> Result<Stress, LabError> {
        self.kept_after(f64::from(self.cycles_rated))
    }

    /// Stress of data written after `cycles` and kept as JESD218 asks.
    ///
    /// # Errors
    /// Never for the temperatures of the standard.
    pub fn kept_after(&self, cycles: f64) -> Result<Stress, LabError> {
        let limits = self.class.limits();
        let ev = retention::CHARGE_LOSS_EV;
        let hours = limits.retention_h;
        Ok(Stress {
            cycles,
            retention_h: retention::equivalent_hours(ev, hours, limits.retention_c, REFERENCE_C)?,
            reads_per_page: 0.0,
        })
    }

    /// The law of planar SLC or MLC: fitted, its cycles counted by their share of the rating.
    pub(super) fn planar(&self) -> PowerLaw {
        let share = f64::from(MLC_PLANAR_CYCLES) / f64::from(self.cycles_rated);
        let law = PowerLaw::MLC_PLANAR.stretched(share);
        match self.bits_per_cell {
            1 => law.times(SLC_OVER_MLC),
            _ => law,
        }
    }

    /// Cycles after which data kept as JESD218 asks is beyond the last try of a read; infinite when
    /// it is not within a hundred times the rating.
    ///
    /// # Errors
    /// Never for a law made here.
    pub fn cycles_to_uber(&self) -> Result<f64, LabError> {
        let first = self.code.rber_max(self.class.limits().uber_max)?;
        let last = first * self.retry_gain.powf(f64::from(self.retries));
        let lost = |cycles: f64| Ok(self.law.rber(self.kept_after(cycles)?)? > last * (1.0 + 1e-9));
        let (mut low, mut high) = (0.0, 100.0 * f64::from(self.cycles_rated));
        if !lost(high)? {
            return Ok(f64::INFINITY);
        }
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if lost(middle)? {
                high = middle
            } else {
                low = middle
            }
        }
        Ok(low)
    }

    /// Cycles after which as many blocks have failed as are in reserve; without a reserve, those at
    /// which the first fails.
    pub fn cycles_to_reserve(&self) -> f64 {
        let mut failures = self.failures();
        failures.sort_unstable();
        let spare = (failures.len() as f64 * self.reserve).round() as usize;
        f64::from(failures[spare.clamp(1, failures.len()) - 1])
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
        let tries = if self.retry_gain > 1.0 {
            (rber / limit).ln() / self.retry_gain.ln()
        } else {
            0.0
        };
        let tries = tries.ceil().clamp(0.0, f64::from(self.retries));
        self.code.uber(rber / self.retry_gain.powf(tries))
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
        let tries = (0..=self.retries).map(|n| parts(limit * self.retry_gain.powf(f64::from(n))));
        let correctable: Vec<u64> = tries.collect();
        let worn = |n: u64| (x(n) / rated).min(2.0);
        let highest = correctable[correctable.len() - 1];
        let mut wear = WearConfig::default();
        wear.cycles_rated = self.cycles_rated;
        wear.rber_cycles = Curve::new(last, |c| parts(law.eps + law.alpha * x(c).powf(law.k)));
        wear.rber_retention = Curve::new(last, |c| parts(law.beta * x(c).powf(law.m)));
        wear.retention_hours = Curve::new(1 << 20, |h| factor(x(h).powf(law.n)));
        wear.rber_disturb = Curve::new(last, |c| parts(law.gamma * x(c).powf(law.p)));
        wear.disturb_reads = Curve::new(1 << 24, |r| factor(x(r).powf(law.q)));
        wear.block_spread = log_normal(1.0, self.block_spread, UNITY as f64);
        wear.page_spread = log_normal(1.0, self.page_spread, UNITY as f64);
        wear.refresh_above = self.faded(&correctable);
        wear.patrol_pages = self.patrol_pages;
        wear.patrol_hours = self.patrol_hours;
        wear.retire_above = (highest as f64 * self.retire_above) as u64;
        wear.correctable = correctable;
        wear.retry = Nanos(self.retry_ns);
        wear.failure_cycles = self.failures();
        wear.program_failures = factor(self.failure_programs) as u32;
        wear.reserve_blocks = self.reserve_blocks(blocks_per_plane);
        wear.program_time = Curve::new(last, |c| factor(1.0 - self.program_faster * worn(c)));
        wear.erase_time = Curve::new(last, |c| factor(1.0 + self.erase_slower * worn(c)));
        wear.levelling.dynamic = self.level_dynamic;
        wear.levelling.static_gap = self.level_gap;
        wear.levelling.static_every = self.level_every;
        wear.end_of_life = self.end_of_life;
        wear.seed = seed;
        Ok(wear)
    }

    /// Spare blocks of a die; at least one when there is a reserve.
    pub fn reserve_blocks(&self, blocks_per_plane: u32) -> u32 {
        let blocks = (f64::from(blocks_per_plane) * self.reserve) as u32;
        blocks.max(u32::from(self.reserve > 0.0))
    }

    /// RBER above which data is rewritten: that of a try.
    fn faded(&self, correctable: &[u64]) -> u64 {
        let last = correctable.len() - 1;
        let index_of = |share: f64| ((correctable.len() as f64 * share) as usize).min(last);
        self.refresh_above
            .map_or(u64::MAX, |share| correctable[index_of(share)])
    }

    /// Cycles at which blocks fail, as a table of quantiles: of the early ones, evenly spread, and
    /// of the others.
    pub fn failures(&self) -> Vec<u32> {
        let rated = f64::from(self.cycles_rated);
        let early = (QUANTILES as f64 * self.failure_early).round() as usize;
        let mut table = log_normal(self.failure_median, self.failure_spread, rated);
        for (n, entry) in table.iter_mut().take(early).enumerate() {
            *entry = (rated * (n as f64 + 0.5) / early as f64).ceil() as u32;
        }
        table.iter().map(|&cycles| cycles.max(1)).collect()
    }
}

/// Quantiles of median x e^(sigma z), z normal, in `unit`s.
fn log_normal(median: f64, sigma: f64, unit: f64) -> Vec<u32> {
    let quantile = |n: usize| (n as f64 + 0.5) / QUANTILES as f64;
    let values =
        (0..QUANTILES).map(|n| unit * median * (sigma * normal_quantile(quantile(n))).exp());
    values
        .map(|value| value.round().min(f64::from(u32::MAX)) as u32)
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
        let media = Media::new(3, None, ApplicationClass::Client).unwrap();
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

    /// Cells of any rating have at it what the measured ones have at theirs, SLC a twelfth of that.
    #[test]
    fn planar_cells_share_a_law_over_their_rating() {
        let at_rating = |bits, cycles| {
            let media = Media::new(bits, Some(cycles), ApplicationClass::Enterprise).unwrap();
            media.law.rber(media.at_rating().unwrap()).unwrap()
        };
        let measured = at_rating(2, 3_000);
        let of_law = PowerLaw::MLC_PLANAR.rber(Stress {
            cycles: 3_000.0,
            retention_h: 2_190.0,
            reads_per_page: 0.0,
        });
        close(measured, of_law.unwrap(), 1e-9);
        close(at_rating(2, 34_900), measured, 1e-9);
        close(at_rating(1, 100_000), measured * SLC_OVER_MLC, 1e-9);
    }

    /// The drive's whole numbers are fine enough for the small rates of planar cells.
    #[test]
    fn tables_and_law_of_planar_cells_agree() {
        for (bits, rated) in [(1, 100_000), (2, 3_000), (2, 34_900)] {
            let media = Media::new(bits, Some(rated), ApplicationClass::Client).unwrap();
            let config = media.tables(1000, 0).unwrap();
            let mut tiny = ssdlab_ssd::DriveConfig::tiny();
            tiny.wear = Some(config.clone());
            let drive = Reliability::new(&tiny.geometry(), &config);
            for (c, h, r) in [(0, 0, 0), (1, 24, 1), (700, 24, 10), (rated, 2190, 390)] {
                let stress = Stress {
                    cycles: c.into(),
                    retention_h: h.into(),
                    reads_per_page: r.into(),
                };
                let rber = drive.rber(c, h, r) as f64 / RBER_UNITY as f64;
                close(rber, media.law.rber(stress).unwrap(), 0.01);
            }
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
        assert_eq!(hours(ApplicationClass::Enterprise), 2190.0);
        close(hours(ApplicationClass::Client), 8760.0 / 3.8, 0.01);
    }

    /// Every drive of the catalogue, at its rated cycles and JESD218's retention.
    #[test]
    fn uber_at_the_rating_is_within_the_limit_on_every_drive() {
        for name in catalogue::names().unwrap() {
            let drive = catalogue::drive(&name).unwrap();
            let media = drive.media().unwrap();
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

    /// The law of planar cells is known within a factor of 3.5: that much higher, the drives are
    /// still within their limits at the rating, some after more retries.
    #[test]
    fn the_fits_residual_does_not_decide_about_the_rating() {
        for name in catalogue::names().unwrap() {
            let drive = catalogue::drive(&name).unwrap();
            let mut media = drive.media().unwrap();
            if media.bits_per_cell < 3 {
                media.law = media.law.times(3.5);
                let uber = media.uber(media.at_rating().unwrap()).unwrap();
                assert!(media.class.allows(uber), "{name}: {uber:e}");
            }
        }
    }

    /// Of 1000 blocks with 1 % early failures and 2 % in reserve, the 20th failure uses it up.
    #[test]
    fn the_reserve_is_used_up_by_as_many_failures_as_it_holds() {
        let given = |reserve| Media {
            reserve,
            ..Media::new(2, Some(3000), ApplicationClass::Client).unwrap()
        };
        let media = given(0.02);
        let mut failures = media.failures();
        failures.sort_unstable();
        let failed_by = |cycles: f64| failures.iter().filter(|f| f64::from(**f) <= cycles).count();
        let used_up = media.cycles_to_reserve();
        assert!(failed_by(used_up) >= 20 && failed_by(used_up - 1.0) < 20);
        assert_eq!(given(0.0).cycles_to_reserve(), f64::from(failures[0]));
        assert_eq!(given(1.0).cycles_to_reserve(), f64::from(failures[999]));
    }

    /// What a drive's own file gives stays, at the same share of the rating.
    #[test]
    fn fewer_cycles_count_for_more_each() {
        for bits in [1, 2, 3, 4] {
            let whole = Media::new(bits, None, ApplicationClass::Client).unwrap();
            let small = whole.with_cycles(100).unwrap();
            for share in [0.1, 0.5, 1.0, 3.0] {
                let rber = |media: &Media| {
                    let cycles = share * f64::from(media.cycles_rated);
                    media.law.rber(media.kept_after(cycles).unwrap()).unwrap()
                };
                close(rber(&small), rber(&whole), 1e-9);
            }
        }
        assert!(
            Media::new(2, None, ApplicationClass::Client)
                .unwrap()
                .with_cycles(0)
                .is_err()
        );
    }

    #[test]
    fn media_without_cycles_is_refused() {
        assert!(Media::new(2, Some(0), ApplicationClass::Client).is_err());
    }
}
