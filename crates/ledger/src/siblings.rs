//! A drive of a model whose population is not known, among the drives of the same product at
//! another capacity: the maker's codes are the same but for the capacity that they hold.

use crate::field::FieldPopulation;
use std::ops::Range;

/// How far the capacity in a code may be from the drive's, as a share of it.
const MARK_SHARE: f64 = 0.1;
/// Letters of a code that have to agree, before and after the capacity.
const AGREE_MIN: usize = 6;
/// Letters after the capacity that tell products apart: `G7` of `SSDSC2BB480G7`.
const SUFFIX_LETTERS: usize = 2;

/// The part of a code that may be a capacity.
struct CapacityMark {
    range: Range<usize>,
    gb: f64,
    /// Whether the unit is written, so that nothing else needs to follow.
    has_unit: bool,
}

/// Every part of a code that may be a capacity: `480`, `012` for 1.2 TB, `3T8`, `1TB`.
fn marks(code: &str) -> Vec<CapacityMark> {
    let bytes = code.as_bytes();
    let mut marks = Vec::new();
    let mut start = 0;
    while start < bytes.len() {
        let digits = bytes[start..].iter().take_while(|b| b.is_ascii_digit());
        let end = start + digits.count();
        if end > start {
            marks.extend(mark(code, start..end));
        }
        start = end.max(start + 1);
    }
    marks
}

/// What a run of digits may mean: of `038T1`, 3.8 TB before a `T1`, or 8.1 TB.
fn mark(code: &str, run: Range<usize>) -> Vec<CapacityMark> {
    let digits = &code[run.clone()];
    let Ok(value) = digits.parse::<f64>() else {
        return Vec::new();
    };
    let follows = &code[run.end..];
    let written = [("GB", 1.0), ("TB", 1000.0)]
        .into_iter()
        .find(|(unit, _)| follows.starts_with(unit));
    if let Some((unit, gb)) = written {
        return vec![CapacityMark {
            range: run.start..run.end + unit.len(),
            gb: value * gb,
            has_unit: true,
        }];
    }
    let tenths = follows.strip_prefix('T').and_then(|rest| {
        let tenths = rest.chars().next()?.to_digit(10)?;
        let whole = digits.chars().last()?.to_digit(10)?;
        let gb = f64::from(10 * whole + tenths) * 100.0;
        Some((run.end - 1..run.end + 2, gb))
    });
    let whole = match digits.len() {
        3 if digits.starts_with('0') => Some((run, value * 100.0)),
        3 | 4 => Some((run, value)),
        _ => None,
    };
    let unwritten = |(range, gb)| CapacityMark {
        range,
        gb,
        has_unit: false,
    };
    tenths.into_iter().chain(whole).map(unwritten).collect()
}

/// A code without what a maker adds for a customer: `-00003`.
fn uncustomized(code: &str) -> &str {
    code.split_once('-').map_or(code, |(product, _)| product)
}

/// The first letters after a capacity.
fn first_letters(text: &str) -> &str {
    text.get(..SUFFIX_LETTERS).unwrap_or(text)
}

/// Whether two codes, in capitals and without the maker, name one product at two capacities. `gb`
/// is the capacity of the drives that report `known`.
pub(crate) fn are_siblings(reported: &str, known: &str, gb: f64) -> bool {
    let (reported, known) = (uncustomized(reported), uncustomized(known));
    let of_known = marks(known).into_iter().find(|mark| {
        let share = mark.gb / gb;
        (share - 1.0).abs() < MARK_SHARE
    });
    let Some(of_known) = of_known else {
        return false;
    };
    let stem = &known[..of_known.range.start];
    let suffix = first_letters(&known[of_known.range.end..]);
    let is_named = of_known.has_unit || suffix.len() == SUFFIX_LETTERS;
    is_named
        && stem.len() + suffix.len() >= AGREE_MIN
        && marks(reported).iter().any(|mark| {
            mark.has_unit == of_known.has_unit
                && reported[..mark.range.start] == *stem
                && first_letters(&reported[mark.range.end..]) == suffix
        })
}

/// Of the siblings, the one with most drives; the first of several.
pub(crate) fn largest<'a>(
    siblings: impl Iterator<Item = &'a FieldPopulation>,
) -> Option<&'a FieldPopulation> {
    siblings.fold(None, |largest, population| match largest {
        Some(known) if known.drives >= population.drives => Some(known),
        _ => Some(population),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_one_product_differ_by_the_capacity_alone() {
        for (reported, known, gb) in [
            ("SSDSC2BB800G7", "SSDSC2BB480G7", 480.0),
            ("SSDPF2KX038T1", "SSDPF2KX076T1", 7682.0),
            ("SSDPE2KX020T7", "SSDPE2KX040T7", 4001.0),
            ("7300_MTFDHBE1T9TDF", "7300_MTFDHBE3T8TDF", 3841.0),
            ("5210_MTFDDAK960QDE", "5210_MTFDDAK3T8QDE", 3841.0),
            ("MZQL23T8HCJR-00A07", "MZQL21T9HCJR-00A07", 1920.0),
            ("860 EVO 500GB", "860 EVO 1TB", 1000.0),
        ] {
            assert!(are_siblings(reported, known, gb), "{reported} {known}");
        }
        for (reported, known, gb) in [
            // Another generation, another endurance class, another series.
            ("SSDSC2BB800G7", "SSDSC2BB480G6", 480.0),
            ("7400_MTFDKCB1T6TFC", "7400_MTFDKCB7T6TDZ", 7682.0),
            ("MZWLL3T2HAJQ-00005", "MZWLL1T6HEHP-00003", 1600.0),
            ("CT250MX200SSD1", "CT250MX500SSD1", 250.0),
            ("870 EVO 1TB", "860 EVO 1TB", 1000.0),
            ("860 EVO 1TB", "860 EVO MSATA 1TB", 1000.0),
            // No capacity is in the code.
            ("ROCKET", "ROCKET", 1000.0),
        ] {
            assert!(!are_siblings(reported, known, gb), "{reported} {known}");
        }
    }
}
