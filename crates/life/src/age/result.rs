//! Result of a life: `result.json`.

use super::plan::AgeingPlan;
use super::row::AgeingSample;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::check::SelfCheck;
use ssdlab_drives::keep::manner::LifeConditions;
use ssdlab_drives::media::{Rating, Stress};
use ssdlab_ssd::CountingDrive;
use ssdlab_ssd::nand::EndOfLife;
use ssdlab_ssd::nand::reliability::{RBER_UNITY, rber_class_top};
use ssdlab_view::units::decimal_bytes;

/// Result of a life.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LifeResult {
    /// Load, rate and temperature.
    pub manner: LifeConditions,
    /// End that the plan asked for.
    pub until: String,
    /// The last sample.
    pub end: AgeingSample,
    /// Behaviour of the drive once its reserve is used up; `None` before that.
    pub ended: Option<&'static str>,
    /// It was interrupted.
    pub stopped: bool,
    /// Rated cycles.
    pub cycles_rated: u32,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
    /// Blocks retired because their margin was gone.
    pub margin_failures: u64,
    /// Unit reads of patrols.
    pub nand_reads_patrol: u64,
    /// Tries of reads beyond the first.
    pub read_retries: u64,
    /// Reads beyond the last try.
    pub reads_uncorrectable: u64,
    /// Lost code words per bit, as expected of the unit reads that were made; nothing: none was.
    pub uber_of_reads: Option<f64>,
    /// The same of data written now and kept as JESD218 asks.
    pub uber_kept: f64,
    /// What JESD218 allows.
    pub uber_max: f64,
    /// Host bytes at which the mean block has its rated cycles, at the WAF of this life.
    pub rated_bytes: f64,
    /// The same per day of the warranty as a share of the capacity, over five years.
    pub dwpd_5_years: f64,
    /// Of the bytes written, those extrapolated.
    pub leapt_bytes: u64,
    /// Largest change of WAF found after a leap: the error stated for `--fast`.
    pub leap_error: f64,
    /// Self-checks.
    pub checks: Vec<SelfCheck>,
}

impl LifeResult {
    pub(super) fn of(
        plan: &AgeingPlan,
        drive: &CountingDrive,
        end: AgeingSample,
        leapt: (u64, f64),
        stopped: bool,
    ) -> Result<LifeResult, LabError> {
        let wear = drive.reliability().map(|wear| wear.counters().clone());
        let wear = wear.unwrap_or_default();
        let rated = f64::from(plan.media.cycles_rated);
        let capacity = plan.config.user_bytes as f64;
        let rated_bytes = end.host_bytes as f64 * rated / end.cycles_average.max(1e-9);
        Ok(LifeResult {
            manner: plan.manner.clone(),
            until: plan.until.to_string(),
            ended: drive.ended().map(EndOfLife::name),
            stopped,
            cycles_rated: plan.media.cycles_rated,
            program_failures: wear.program_failures,
            erase_failures: wear.erase_failures,
            margin_failures: wear.margin_failures,
            nand_reads_patrol: drive.counters().nand_reads_patrol,
            read_retries: wear.read_retries,
            reads_uncorrectable: wear.reads_uncorrectable,
            uber_of_reads: uber_of_reads(plan, &wear.reads_by_rber)?,
            uber_kept: plan.media.uber(Stress {
                cycles: end.cycles_average,
                ..plan.media.at_rating()?
            })?,
            uber_max: plan.media.class.limits().uber_max,
            rated_bytes,
            dwpd_5_years: Rating::new(rated_bytes.max(1.0), capacity, 5.0)?.dwpd(),
            leapt_bytes: leapt.0,
            leap_error: leapt.1,
            checks: vec![SelfCheck::new("drive", drive.check())],
            end,
        })
    }
}

fn uber_of_reads(plan: &AgeingPlan, by_rber: &[u64]) -> Result<Option<f64>, LabError> {
    let (mut sum, mut count) = (0.0, 0_u64);
    for (class, &reads) in by_rber.iter().enumerate().filter(|(_, reads)| **reads > 0) {
        let rber = (rber_class_top(class) as f64 / RBER_UNITY as f64).min(0.5);
        sum += reads as f64 * plan.media.uber_of_rber(rber)?;
        count += reads;
    }
    Ok((count > 0).then(|| sum / count as f64))
}

/// A life for people.
pub fn summary(life: &LifeResult) -> String {
    let (m, e) = (&life.manner, &life.end);
    let ended = life.ended.unwrap_or("no");
    let exact = if life.leapt_bytes == 0 {
        "every page write was played".to_owned()
    } else {
        format!(
            "{} extrapolated; WAF changed by at most {:.2} % over a leap",
            decimal_bytes(life.leapt_bytes as f64),
            100.0 * life.leap_error
        )
    };
    let lines = [
        format!("{}: {} {} B, seed {}", m.title, m.pattern, m.block, m.seed),
        format!(
            "written     {} in {:.0} days at {} a day, {:.0} C ({exact})",
            decimal_bytes(e.host_bytes as f64),
            e.days,
            decimal_bytes(m.per_day as f64),
            m.temperature_c
        ),
        format!(
            "WAF         {:.3}; of NAND writes {:.2} % wear levelling, {:.2} % refresh",
            e.waf,
            100.0 * e.levelled_share,
            100.0 * e.refreshed_share
        ),
        format!(
            "cycles      {:.0} on average, {} to {}, rated {}: {:.1} % left",
            e.cycles_average, e.cycles_min, e.cycles_max, life.cycles_rated, e.life_left_pct
        ),
        format!(
            "blocks      {} retired ({} programs, {} erases, {} margins failed), {} in reserve; {} \
             superblocks given up",
            e.blocks_retired,
            life.program_failures,
            life.erase_failures,
            life.margin_failures,
            e.reserve_left,
            e.superblocks_retired
        ),
        format!("patrols     {} unit reads", life.nand_reads_patrol),
        format!(
            "UBER        {:.1e} kept as JESD218 asks, {:.0e} allowed",
            life.uber_kept, life.uber_max
        ),
        format!(
            "rated life  {}",
            rated_life(life.rated_bytes, life.dwpd_5_years)
        ),
        format!("at its end  {ended}"),
    ];
    lines.join("\n")
}

/// Drive writes a day beyond which nothing can be written for five years: a 4 GB drive at such a
/// rate takes 460 MB/s.
const DWPD_MAX: f64 = 10_000.0;

/// Host bytes until the rated cycles, unless no host could write them.
fn rated_life(bytes: f64, dwpd_5_years: f64) -> String {
    if !bytes.is_finite() || dwpd_5_years > DWPD_MAX {
        return "not reached: this load hardly wears the drive".to_owned();
    }
    format!(
        "{} at this WAF, {dwpd_5_years:.2} drive writes a day for 5 years",
        decimal_bytes(bytes)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a drive without wear, 3000614658 PB were printed.
    #[test]
    fn a_life_that_nobody_can_write_is_not_a_figure() {
        assert!(rated_life(185e12, 0.1).starts_with("185 TB at this WAF, 0.10 drive"));
        assert!(rated_life(3e24, 5e10).starts_with("not reached"));
        assert!(rated_life(f64::INFINITY, 0.0).starts_with("not reached"));
    }
}
