//! What a drive file gives of its media, over what is usual.

use super::Media;
use crate::media::{Class, Codeword, PowerLaw};
use ssdlab_base::LabError;
use ssdlab_ssd::nand::EndOfLife;

/// What is given; `None` is as usual for the cells. Shares are parts of 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Given {
    /// Rated cycles.
    pub cycles: Option<u32>,
    /// Class of the rating.
    pub class: Option<Class>,
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
    /// Of cells of so many bits; `class` is what is taken when none is given.
    ///
    /// # Errors
    /// When it is rated for no cycles.
    pub(super) fn given(bits: u32, class: Class, given: &Given) -> Result<Media, LabError> {
        let mut media = Media::usual(bits, given.class.unwrap_or(class));
        media.put_cycles(given)?;
        media.put(given);
        media.rests_on = assumed(given);
        if given.cycles.is_none() {
            media.rests_on.push(format!(
                "rated cycles {} (assumed): usual for {bits} bits a cell",
                media.cycles_rated
            ));
        }
        media.put_law(given);
        Ok(media)
    }

    fn put_cycles(&mut self, given: &Given) -> Result<(), LabError> {
        let Some(cycles) = given.cycles else {
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

    fn put(&mut self, given: &Given) {
        if given.ecc_bits.is_some() || given.ecc_data_bytes.is_some() {
            let data = given.ecc_data_bytes.unwrap_or(self.code.data_bytes);
            self.code = Codeword::bch_of(data, given.ecc_bits.unwrap_or(self.code.t));
        }
        set(&mut self.retries, given.retries);
        set(&mut self.retry_gain, given.retry_gain);
        set(&mut self.retry_ns, given.retry_ns);
        set(&mut self.block_spread, given.block_spread);
        set(&mut self.page_spread, given.page_spread);
        set(&mut self.failure_median, given.failure_median);
        set(&mut self.failure_spread, given.failure_spread);
        set(&mut self.failure_early, given.failure_early);
        set(&mut self.failure_programs, given.failure_programs);
        set(&mut self.reserve, given.reserve);
        set(&mut self.program_faster, given.program_faster);
        set(&mut self.erase_slower, given.erase_slower);
        set(&mut self.patrol_pages, given.patrol_pages);
        set(&mut self.patrol_hours, given.patrol_hours);
        set(&mut self.retire_above, given.retire_above);
        set(&mut self.level_dynamic, given.level_dynamic);
        set(&mut self.level_gap, given.level_gap);
        set(&mut self.level_every, given.level_every);
        set(&mut self.end_of_life, given.end_of_life);
        self.refresh_above = given.refresh_above.or(self.refresh_above);
        if given.refresh == Some(false) {
            self.refresh_above = None;
        }
    }

    /// The law: published, or fitted, and what is given in its place.
    fn put_law(&mut self, given: &Given) {
        let all = given.law.iter().all(Option::is_some);
        if all {
            // Nothing is left of what would be taken.
        } else if self.bits_per_cell < 3 {
            self.law = self.planar();
            self.rests_on.push(
                match self.bits_per_cell {
                    1 => {
                        "bit errors of SLC: those of planar MLC at the same share of the rating, \
                         lowered by the ratio of field medians (FAST 2016, remembered)"
                    }
                    _ => {
                        "bit errors of MLC: fitted to measurements of 30 to 40 nm cells within a \
                         factor of 3.5; cycles count by their share of the rating (assumed)"
                    }
                }
                .into(),
            );
        } else {
            self.rests_on
                .push("bit errors as published for 72-layer TLC (FAST 2019)".into());
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
        for (value, given) in [eps, alpha, k, beta, m, n, gamma, p, q]
            .into_iter()
            .zip(given.law)
        {
            set(value, given);
        }
    }
}

fn set<T>(value: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *value = given;
    }
}

/// What is assumed because it is not given: a sentence of each value.
fn assumed(given: &Given) -> Vec<String> {
    let each = [
        (given.retry_gain, "read retries correct 1.2 times more each"),
        (given.program_faster, "programs 10 % faster at rated cycles"),
        (given.erase_slower, "erases 50 % slower at rated cycles"),
        (
            given.failure_median,
            "blocks fail at 3 times the rated cycles (median)",
        ),
        (
            given.failure_early,
            "1 % of the blocks fail within the rated cycles",
        ),
        (given.reserve, "2 % of the blocks in reserve"),
        (
            given.patrol_pages.map(f64::from),
            "patrols read 4 pages of each full block",
        ),
        (given.patrol_hours.map(f64::from), "a patrol each week"),
    ];
    let missing = each.into_iter().filter(|(given, _)| given.is_none());
    missing
        .map(|(_, text)| format!("{text} (assumed)"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{self, CatalogueDrive};
    use crate::settings::{Setting, apply};

    fn drive(set: &[&str]) -> Result<CatalogueDrive, LabError> {
        let set: Result<Vec<_>, _> = set.iter().map(|s| Setting::parse(s)).collect();
        apply(&catalogue::drive("tlc-client-nvme-1tb").unwrap(), &set?)
    }

    /// Each key reaches the tables that the drive lives by.
    #[test]
    fn every_key_changes_what_the_drive_lives_by() {
        let tables = |set: &[&str]| {
            let media = Media::of(&drive(set).unwrap()).unwrap();
            (media.tables(1000, 0).unwrap(), media.class)
        };
        let usual = tables(&[]);
        for set in [
            "wear.cycles=1234",
            "wear.class=enterprise",
            "wear.rber_eps=1e-4",
            "wear.rber_alpha=1e-9",
            "wear.rber_k=1.9",
            "wear.rber_beta=1e-4",
            "wear.rber_m=0.2",
            "wear.rber_n=0.4",
            "wear.rber_gamma=1e-8",
            "wear.rber_p=0.4",
            "wear.rber_q=1.5",
            "wear.ecc_bits=100",
            "wear.ecc_data=2KiB",
            "wear.retries=7",
            "wear.retry_gain=1.3",
            "wear.retry_time=45us",
            "wear.block_spread=0.3",
            "wear.page_spread=0.2",
            "wear.failure_median=2",
            "wear.failure_spread=0.4",
            "wear.failure_early_pct=3",
            "wear.failure_programs_pct=20",
            "wear.reserve_pct=5",
            "wear.program_faster_pct=20",
            "wear.erase_slower_pct=80",
            "wear.refresh=false",
            "wear.refresh_above_pct=20",
            "wear.patrol_pages=9",
            "wear.patrol_hours=24",
            "wear.retire_above_pct=90",
            "wear.level_dynamic=false",
            "wear.level_gap=0",
            "wear.level_every=3",
            "wear.end_of_life=slow",
        ] {
            assert_ne!(tables(&[set]), usual, "{set}");
        }
    }

    #[test]
    fn values_that_cannot_be_are_refused_with_key_and_range() {
        for (set, said) in [
            ("wear.cycles=0", "`wear.cycles`"),
            ("wear.class=home", "client or enterprise"),
            ("wear.rber_eps=0.7", "0 to 0.1"),
            ("wear.rber_k=-1", "0 to 10"),
            ("wear.rber_k=NaN", "a number"),
            ("wear.ecc_bits=0", "1 to 1000"),
            ("wear.ecc_bits=999", "fewer bits of 1024 B"),
            ("wear.ecc_data=1 banana", "1 banana"),
            ("wear.ecc_data=1MiB", "256 B to 16 KiB"),
            ("wear.retries=64", "0 to 63"),
            ("wear.retry_gain=0.9", "1 to 10"),
            ("wear.retry_time=2s", "at most 1 s"),
            ("wear.reserve_pct=60", "0 to 50"),
            ("wear.reserve_pct=lots", "a number"),
            ("wear.refresh=perhaps", "true or false"),
            ("wear.patrol_pages=70000", "0 to 65536"),
            ("wear.patrol_hours=87601", "0 to 87600"),
            ("wear.level_every=0", "1 to 1000000"),
            ("wear.end_of_life=explode", "read-only or failed or slow"),
        ] {
            let error = drive(&[set]).unwrap_err().to_string();
            assert!(error.contains(said), "{set}: {error}");
        }
    }

    /// The code word of SLC is 512 bytes unless told otherwise, and the limit is that of it.
    #[test]
    fn the_limit_of_a_code_is_that_of_the_cells_own_word() {
        let mut slc = catalogue::drive("intel-x25e-64gb").unwrap();
        let wear = slc.file.wear.as_mut().unwrap();
        wear.ecc_data = None;
        wear.ecc_bits.as_mut().unwrap().value = 300;
        assert!(slc.wear_given().is_ok());
        slc.file
            .wear
            .as_mut()
            .unwrap()
            .ecc_bits
            .as_mut()
            .unwrap()
            .value = 400;
        let error = slc.wear_given().unwrap_err().to_string();
        assert!(error.contains("fewer bits of 512 B"), "{error}");
    }

    #[test]
    fn what_is_given_is_not_called_assumed_by_default() {
        let rests_on = |set: &[&str]| Media::of(&drive(set).unwrap()).unwrap().rests_on;
        let has = |list: &[String], text: &str| list.iter().any(|line| line.contains(text));
        assert!(has(&rests_on(&[]), "read retries correct 1.2"));
        let changed = rests_on(&["wear.retry_gain=1.1"]);
        assert!(!has(&changed, "read retries correct 1.2"));
        assert!(has(&changed, "wear.retry_gain = 1.1"), "{changed:?}");
        // Half of a pair that is given leaves the other half assumed, and only that.
        let half = rests_on(&["wear.erase_slower_pct=80"]);
        assert!(has(&half, "programs 10 % faster"), "{half:?}");
        assert!(!has(&half, "erases 50 % slower"), "{half:?}");
        let factory = drive(&["wear.retry_gain=1.1"]).unwrap().rests_on();
        assert!(!has(&factory, "wear."), "a new drive does not rest on it");
    }
}
