//! Values of the media that a drive file gives in place of the usual ones.

use super::{ApplicationClass, Codeword, Media, PowerLaw};
use crate::rests_on::RestsOn;
use ssdlab_base::LabError;
use ssdlab_ssd::nand::EndOfLife;

/// Values of a drive file; `None`: usual for the cells. Shares are parts of 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MediaOverrides {
    /// Rated cycles.
    pub cycles: Option<u32>,
    /// Class of the rating.
    pub class: Option<ApplicationClass>,
    /// eps, alpha, k, beta, m, n, gamma, p, q of the law: in place of the published ones (TLC, QLC)
    /// or of those fitted (SLC, MLC).
    pub law: [Option<f64>; 9],
    /// Bits of a code word that are corrected.
    pub ecc_bits: Option<u32>,
    /// User data of a code word, bytes.
    pub ecc_data_bytes: Option<u32>,
    /// Tries beyond the first.
    pub retries: Option<u32>,
    /// How much more each corrects.
    pub retry_gain: Option<f64>,
    /// Time of each besides sensing, ns.
    pub retry_ns: Option<u64>,
    /// Sigma of ln RBER between blocks.
    pub block_spread: Option<f64>,
    /// The same between pages.
    pub page_spread: Option<f64>,
    /// Median of the cycles at which blocks fail, in rated cycles.
    pub failure_median: Option<f64>,
    /// Sigma of its logarithm.
    pub failure_spread: Option<f64>,
    /// Share of early failures.
    pub failure_early: Option<f64>,
    /// Share of failures that are programs.
    pub failure_programs: Option<f64>,
    /// Share of a die's blocks in reserve.
    pub reserve: Option<f64>,
    /// Share by which programs get faster.
    pub program_faster: Option<f64>,
    /// Share by which erases get slower.
    pub erase_slower: Option<f64>,
    /// Whether there is refresh.
    pub refresh: Option<bool>,
    /// Share of the tries from which data has faded.
    pub refresh_above: Option<f64>,
    /// Pages of each full block that a patrol reads.
    pub patrol_pages: Option<u32>,
    /// Hours between two patrols.
    pub patrol_hours: Option<u32>,
    /// Share of the last try's RBER from which blocks are retired.
    pub retire_above: Option<f64>,
    /// Dynamic levelling.
    pub level_dynamic: Option<bool>,
    /// Erases allowed between superblocks.
    pub level_gap: Option<u32>,
    /// Superblocks freed between looks.
    pub level_every: Option<u32>,
    /// At the end of the reserve.
    pub end_of_life: Option<EndOfLife>,
}

impl Media {
    /// Media of cells of `bits` bits, rated for `cycles` or as is usual; all else as is usual.
    ///
    /// # Errors
    /// When `cycles` is zero.
    pub fn new(bits: u32, cycles: Option<u32>, class: ApplicationClass) -> Result<Media, LabError> {
        let overrides = MediaOverrides {
            cycles,
            ..MediaOverrides::default()
        };
        Media::given(bits, class, &overrides)
    }

    /// Media of cells of `bits` bits; `class` holds unless the file gives one.
    ///
    /// # Errors
    /// When it is rated for no cycles.
    pub(crate) fn given(
        bits: u32,
        class: ApplicationClass,
        overrides: &MediaOverrides,
    ) -> Result<Media, LabError> {
        let mut media = Media::usual(bits, overrides.class.unwrap_or(class));
        media.put_cycles(overrides)?;
        media.put(overrides);
        media.rests_on = assumed(overrides);
        if overrides.cycles.is_none() {
            media.rests_on.push(RestsOn::stated(format!(
                "rated cycles {} (assumed): usual for {bits} bits a cell",
                media.cycles_rated
            )));
        }
        media.put_law(overrides);
        Ok(media)
    }

    fn put_cycles(&mut self, overrides: &MediaOverrides) -> Result<(), LabError> {
        let Some(cycles) = overrides.cycles else {
            return Ok(());
        };
        if cycles == 0 {
            return Err(LabError::refused(
                "media rated for 0 cycles cannot be written",
                "documented.program_erase_cycles is 1 or more",
            ));
        }
        self.cycles_rated = cycles;
        self.level_gap = (cycles / 50).max(4);
        Ok(())
    }

    fn put(&mut self, overrides: &MediaOverrides) {
        if overrides.ecc_bits.is_some() || overrides.ecc_data_bytes.is_some() {
            let data = overrides.ecc_data_bytes.unwrap_or(self.code.data_bytes);
            self.code = Codeword::bch_of(data, overrides.ecc_bits.unwrap_or(self.code.t));
        }
        set(&mut self.retries, overrides.retries);
        set(&mut self.retry_gain, overrides.retry_gain);
        set(&mut self.retry_ns, overrides.retry_ns);
        set(&mut self.block_spread, overrides.block_spread);
        set(&mut self.page_spread, overrides.page_spread);
        set(&mut self.failure_median, overrides.failure_median);
        set(&mut self.failure_spread, overrides.failure_spread);
        set(&mut self.failure_early, overrides.failure_early);
        set(&mut self.failure_programs, overrides.failure_programs);
        set(&mut self.reserve, overrides.reserve);
        set(&mut self.program_faster, overrides.program_faster);
        set(&mut self.erase_slower, overrides.erase_slower);
        set(&mut self.patrol_pages, overrides.patrol_pages);
        set(&mut self.patrol_hours, overrides.patrol_hours);
        set(&mut self.retire_above, overrides.retire_above);
        set(&mut self.level_dynamic, overrides.level_dynamic);
        set(&mut self.level_gap, overrides.level_gap);
        set(&mut self.level_every, overrides.level_every);
        set(&mut self.end_of_life, overrides.end_of_life);
        self.refresh_above = overrides.refresh_above.or(self.refresh_above);
        if overrides.refresh == Some(false) {
            self.refresh_above = None;
        }
    }

    /// The law: published or fitted, with the file's values in its place.
    fn put_law(&mut self, overrides: &MediaOverrides) {
        let is_complete = overrides.law.iter().all(Option::is_some);
        if is_complete {
            // Every coefficient is the file's own.
        } else if self.bits_per_cell < 3 {
            self.law = self.planar();
            self.rests_on
                .push(RestsOn::stated(match self.bits_per_cell {
                    1 => {
                        "bit errors of SLC: those of planar MLC at the same share of the rating, \
                         lowered by the ratio of field medians (FAST 2016, remembered)"
                    }
                    _ => {
                        "bit errors of MLC: fitted to measurements of 30 to 40 nm cells within a \
                         factor of 3.5; cycles count by their share of the rating (assumed)"
                    }
                }));
        } else {
            let published = "bit errors as published for 72-layer TLC (FAST 2019)";
            self.rests_on.push(RestsOn::stated(published));
        }
        let PowerLaw {
            eps,
            alpha,
            k,
            beta,
            m,
            n,
            gamma,
            p,
            q,
        } = &mut self.law;
        for (value, value_override) in [eps, alpha, k, beta, m, n, gamma, p, q]
            .into_iter()
            .zip(overrides.law)
        {
            set(value, value_override);
        }
    }
}

fn set<T>(value: &mut T, override_value: Option<T>) {
    if let Some(override_value) = override_value {
        *value = override_value;
    }
}

/// Values assumed because the file does not give them, a sentence each.
fn assumed(overrides: &MediaOverrides) -> Vec<RestsOn> {
    let assumptions = [
        (
            overrides.retry_gain,
            "read retries correct 1.2 times more each",
        ),
        (
            overrides.program_faster,
            "programs 10 % faster at rated cycles",
        ),
        (overrides.erase_slower, "erases 50 % slower at rated cycles"),
        (
            overrides.failure_median,
            "blocks fail at 3 times the rated cycles (median)",
        ),
        (
            overrides.failure_early,
            "1 % of the blocks fail within the rated cycles",
        ),
        (overrides.reserve, "2 % of the blocks in reserve"),
        (
            overrides.patrol_pages.map(f64::from),
            "patrols read 4 pages of each full block",
        ),
        (overrides.patrol_hours.map(f64::from), "a patrol each week"),
    ];
    let missing = assumptions.into_iter().filter(|(given, _)| given.is_none());
    missing
        .map(|(_, text)| RestsOn::stated(format!("{text} (assumed)")))
        .collect()
}
