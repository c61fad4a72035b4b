//! What a rating means: TBW, drive writes per day, bytes a day, and years.

use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;

/// Days of a year, as the industry counts them in DWPD.
pub const DAYS_A_YEAR: f64 = 365.0;

/// Rated endurance of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Host bytes that may be written.
    pub bytes_written: f64,
    /// Bytes the host may address.
    pub capacity: f64,
    /// Years of warranty.
    pub years: f64,
}

fn positive(name: &str, value: f64) -> Result<f64, LabError> {
    if value > 0.0 && value.is_finite() {
        return Ok(value);
    }
    Err(LabError::refused(
        format!("{name} of {value} gives no rating"),
        "bytes, capacity and years are above 0",
    ))
}

impl Rating {
    /// From rated bytes, capacity in bytes and years.
    ///
    /// # Errors
    /// When one of them is not above 0.
    pub fn new(bytes_written: f64, capacity: f64, years: f64) -> Result<Rating, LabError> {
        Ok(Rating {
            bytes_written: positive("rated writes", bytes_written)?,
            capacity: positive("a capacity", capacity)?,
            years: positive("a warranty", years)?,
        })
    }

    /// Host bytes a day that use it up in the warranty.
    pub fn bytes_a_day(&self) -> f64 {
        self.bytes_written / (DAYS_A_YEAR * self.years)
    }

    /// Drive writes per day.
    pub fn dwpd(&self) -> f64 {
        self.bytes_a_day() / self.capacity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TB: f64 = 1e12;
    const GB: f64 = 1e9;

    /// s2d.endurance.gb_day ("about 100 GB a day", "just over"), s2d.endurance.dwpd (0.10).
    #[test]
    fn the_consumer_drive_of_article_s2d() {
        let rating = Rating::new(185.0 * TB, TB, 5.0).unwrap();
        assert_eq!(format!("{:.1}", rating.bytes_a_day() / GB), "101.4");
        assert_eq!(format!("{:.2}", rating.dwpd()), "0.10");
    }

    /// worn.day: 270 TB over 5 years is "about 150 GB a day".
    #[test]
    fn the_drive_of_article_worn() {
        let rating = Rating::new(270.0 * TB, 120.0 * GB, 5.0).unwrap();
        assert_eq!(format!("{:.0}", rating.bytes_a_day() / GB), "148");
    }

    /// zil.endurance.320 (20 GB a day, 5 years = 36.5 TB) and the press release's "more than 30
    /// times" for the 710: true of the 300 GB drive at 4 KiB (1.1 PB), not of the smaller ones.
    #[test]
    fn the_710_has_more_than_thirty_times_the_endurance_of_the_320() {
        let client = 20.0 * GB * DAYS_A_YEAR * 5.0;
        assert_eq!(client, 36.5 * TB);
        let times = |tb: f64| tb * TB / client;
        assert_eq!(format!("{:.1}", times(1100.0)), "30.1");
        assert_eq!(format!("{:.1}", times(1000.0)), "27.4");
        assert_eq!(format!("{:.1}", times(500.0)), "13.7");
    }

    #[test]
    fn a_rating_turns_into_dwpd() {
        let s3700 = Rating::new(7300.0 * TB, 400.0 * GB, 5.0).unwrap();
        assert_eq!(format!("{:.1}", s3700.dwpd()), "10.0");
    }

    #[test]
    fn nothing_written_is_refused_not_infinite() {
        assert!(Rating::new(0.0, TB, 5.0).is_err());
        assert!(Rating::new(TB, TB, f64::INFINITY).is_err());
    }
}
