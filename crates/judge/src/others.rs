//! What others measured of a drive: the ledger, beside one's own measurement.
//!
//! ```text
//! name or reported model -> family of the ledger -> figures by kind -> sentences
//! ```
//! It stands below one's own measurement, because state, firmware and host differ, and above a
//! model.

use ssdlab_ledger::names::FamilyNames;
use ssdlab_ledger::row::{LoadKind, SyncMethod};
use ssdlab_ledger::{Ledger, LedgerRow, Metric};
use ssdlab_view::units::decimal_bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Largest block of a write that stands for a small one.
const SMALL: u64 = 16 << 10;
/// How far a capacity may be from a drive's, as a share.
const CAPACITY_SHARE: f64 = 0.03;

/// What the ledger has of one family.
#[derive(Clone, Debug)]
pub struct OthersFigures {
    /// The family, as the ledger names it.
    pub family: String,
    /// Every row that is a figure of such a drive, of whatever capacity.
    pub rows: Vec<&'static LedgerRow>,
}

/// Least and most of figures of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct OthersRange {
    /// What it is.
    pub title: &'static str,
    /// Unit, with a space before it where one is needed.
    pub unit: &'static str,
    /// Least.
    pub least: f64,
    /// Most.
    pub most: f64,
    /// Figures.
    pub figures: usize,
    /// Sources.
    pub sources: usize,
    /// Methods, states and capacities.
    pub how: String,
    /// What misleads about them, and about how many.
    pub traps: BTreeMap<String, usize>,
}

impl OthersFigures {
    /// Of the drive that a name means, as typed or as the drive reports it.
    pub fn of(name: &str) -> Option<OthersFigures> {
        let family = FamilyNames::open().family(name)?;
        let rows = Ledger::open().drive_rows();
        Some(OthersFigures {
            family: family.to_owned(),
            rows: rows.filter(|row| row.drive.family == family).collect(),
        })
    }

    /// The figures of drives of this capacity, where there are any; else of all.
    pub fn of_capacity(mut self, bytes: Option<u64>) -> OthersFigures {
        let Some(bytes) = bytes else {
            return self;
        };
        let near = |row: &&'static LedgerRow| {
            let own = row.drive.capacity_gb;
            own.is_some_and(|gb| (gb * 1e9 / bytes as f64 - 1.0).abs() < CAPACITY_SHARE)
        };
        let same: Vec<&LedgerRow> = self.rows.iter().copied().filter(near).collect();
        if same.iter().any(|row| row.is_measured()) {
            self.rows = same;
        }
        self
    }

    fn range(
        &self,
        title: &'static str,
        unit: &'static str,
        fits: impl Fn(&LedgerRow) -> bool,
    ) -> Option<OthersRange> {
        let rows = self
            .rows
            .iter()
            .filter(|row| row.is_measured() && fits(row));
        let rows: Vec<&&LedgerRow> = rows.collect();
        let values = || rows.iter().map(|row| row.figure.value);
        let low = rows.iter().filter_map(|row| row.figure.low);
        let high = rows.iter().filter_map(|row| row.figure.high);
        let sources: BTreeSet<&str> = rows.iter().map(|row| row.source.as_str()).collect();
        let methods = rows.iter().filter_map(|row| row.load.sync);
        let methods = methods.filter(|sync| *sync != SyncMethod::None);
        let methods: BTreeSet<String> = methods.map(|sync| sync.word().to_owned()).collect();
        let sizes = rows.iter().filter_map(|row| row.drive.capacity_gb);
        let sizes: BTreeSet<u64> = sizes.map(|gb| gb as u64).collect();
        let sizes = sizes.iter().map(|gb| decimal_bytes(*gb as f64 * 1e9));
        let how: Vec<String> = methods.into_iter().chain(sizes).collect();
        let mut traps = BTreeMap::new();
        for trap in rows.iter().flat_map(|row| row.trap.split("; ")) {
            if !trap.is_empty() {
                *traps.entry(trap.to_owned()).or_insert(0) += 1;
            }
        }
        (!rows.is_empty()).then(|| OthersRange {
            title,
            unit,
            least: values().chain(low).fold(f64::MAX, f64::min),
            most: values().chain(high).fold(0.0, f64::max),
            figures: rows.len(),
            sources: sources.len(),
            how: how.join(", "),
            traps,
        })
    }

    /// Durable writes a second by one writer.
    pub fn durable(&self) -> Option<OthersRange> {
        self.range("durable writes, one writer", "/s", |row| {
            let load = &row.load;
            row.figure.metric == Metric::WriteIops
                && load.is_durable()
                && load.rw != Some(LoadKind::RandRw)
                && load.outstanding().unwrap_or(1) == 1
                && load.block_bytes.is_some_and(|bytes| bytes <= SMALL)
        })
    }

    /// Every kind of rate that the ledger has of it.
    pub fn rates(&self) -> Vec<OthersRange> {
        let small = |row: &LedgerRow| row.load.block_bytes.is_some_and(|bytes| bytes <= SMALL);
        let is_plain = |row: &LedgerRow| !row.load.is_durable() && small(row);
        let metric = |metric: Metric| move |row: &LedgerRow| row.figure.metric == metric;
        let kinds = [
            self.durable(),
            self.range("random writes", "/s", |row| {
                metric(Metric::WriteIops)(row)
                    && is_plain(row)
                    && row.load.rw == Some(LoadKind::RandWrite)
            }),
            self.range("random reads", "/s", |row| {
                metric(Metric::ReadIops)(row)
                    && is_plain(row)
                    && row.load.rw == Some(LoadKind::RandRead)
            }),
            self.range("fill, at first", " MB/s", metric(Metric::SeqFillPhase1Rate)),
            self.range("past the cache", " MB/s", |row| {
                matches!(
                    row.figure.metric,
                    Metric::SeqFillPhase2Rate | Metric::SeqFillPhase3Rate
                )
            }),
            self.range(
                "filled whole, mean",
                " MB/s",
                metric(Metric::SeqFillMeanRate),
            ),
        ];
        kinds.into_iter().flatten().collect()
    }

    /// Every kind of figure that the ledger has of it: rates, and wear of drives in service.
    pub fn ranges(&self) -> Vec<OthersRange> {
        let metric = |metric: Metric| move |row: &LedgerRow| row.figure.metric == metric;
        let wear = [
            self.range("NAND per host write", "", metric(Metric::FleetWafMedian)),
            self.range("host writes for 1 % of wear", " TB", |row| {
                matches!(
                    row.figure.metric,
                    Metric::FleetHostTbPerPctMedian | Metric::HostTbPerPct
                )
            }),
        ];
        let mut ranges = self.rates();
        ranges.extend(wear.into_iter().flatten());
        ranges
    }

    /// The durable rate beside one's own, in a sentence without its full stop; `None`: nobody has
    /// measured it.
    pub fn beside_own(&self, own: Option<f64>) -> Option<String> {
        let range = self.durable()?;
        let own = own.map_or(String::new(), |rate| format!("; yours: {}", number(rate)));
        Some(format!("{}; state decides{own}", range.sentence()))
    }
}

impl OthersRange {
    /// Who measured what.
    pub fn sentence(&self) -> String {
        format!("{}: {}", self.title, self.figures())
    }

    /// The figures, without what they are.
    pub fn figures(&self) -> String {
        let (least, most) = (number(self.least), number(self.most));
        let range = if least == most {
            least
        } else {
            format!("{least} to {most}")
        };
        let plural = |count: usize, word: &str| match count {
            1 => format!("1 {word}"),
            _ => format!("{count} {word}s"),
        };
        let how = match self.how.as_str() {
            "" => String::new(),
            how => format!(" ({how})"),
        };
        format!(
            "{range}{}, {} of {}{how}",
            self.unit,
            plural(self.figures, "figure"),
            plural(self.sources, "source")
        )
    }
}

/// With commas, and as many digits as matter.
fn number(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.2}");
    }
    if value < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Rates that others measured of the drive that reports this model, in a sentence without its full
/// stop; wear stands where a drive is placed among its like in service.
pub fn said(model: Option<&str>, capacity: Option<u64>, own: Option<f64>) -> Option<String> {
    let figures = OthersFigures::of(model?)?.of_capacity(capacity);
    let beside_own = figures.beside_own(own);
    let others = beside_own.or_else(|| Some(figures.rates().first()?.sentence()));
    Some(format!(
        "{} (`ssdlab qualify ledger:{}`)",
        others?, figures.family
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_stand_beside_ones_own_figure() {
        let said = said(
            Some("CT2000T500SSD8"),
            Some(2_000_398_934_016),
            Some(1442.0),
        );
        let said = said.expect("the ledger has the T500");
        assert!(said.starts_with("durable writes, one writer: "), "{said}");
        assert!(said.contains("state decides; yours: 1,442"), "{said}");
        assert_eq!(super::said(Some("no such drive"), None, None), None);
        assert_eq!(super::said(None, None, None), None);
    }

    /// They once stood in the order of their letters: 1.92 TB, 240 GB.
    #[test]
    fn capacities_stand_by_size() {
        let figures = OthersFigures::of("Samsung PM883").expect("the ledger has it");
        let many = figures
            .ranges()
            .into_iter()
            .find(|range| range.how.matches(',').count() > 2);
        let how = many.expect("several capacities").how;
        let place = |capacity: &str| how.find(capacity).unwrap_or_else(|| panic!("{how}"));
        assert!(
            place("240 GB") < place("960 GB") && place("960 GB") < place("1.92 TB"),
            "{how}"
        );
    }

    #[test]
    fn numbers_have_commas() {
        assert_eq!(
            [1.5, 12.34, 1442.0, 2e6].map(number),
            ["1.50", "12.3", "1,442", "2,000,000"]
        );
    }
}
