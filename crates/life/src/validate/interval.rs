//! How far a figure of a model may be off, by the other families of the catalogue.
//!
//! Of figures of the same kind, fitted or not, 90 % of those of other families are within the
//! factor; of kinds with fewer than [`FIGURES_MIN`] such figures, those of all kinds stand for
//! them. A family counts once. A promise of a sheet has no such factor: a model that keeps it says
//! no more.

use super::{DatasheetFigure, Validation};
use ssdlab_drives::catalogue::VALIDATED;

/// Share of the figures that are to lie within.
const SHARE: f64 = 0.9;
/// Figures of one kind from which on they stand alone.
const FIGURES_MIN: usize = 12;

/// A figure that is in the table of validated drives.
struct KnownFigure<'a> {
    family: &'a str,
    figure: DatasheetFigure,
    fitted: bool,
    /// How many times the sheet's, or the reverse: at least 1.
    ratio: f64,
}

/// The factor on either side of a model's figure within which 90 % of such figures are, by the
/// families other than that of the drive of this name; `None` where nothing can be said.
pub fn factor(drive: &str, figure: DatasheetFigure, fitted: bool) -> Option<f64> {
    let family = family_of(drive);
    let others: Vec<KnownFigure<'_>> = VALIDATED
        .lines()
        .skip(1)
        .filter_map(known)
        .filter(|known| known.family != family && known.fitted == fitted)
        .collect();
    let same: Vec<&KnownFigure<'_>> = others.iter().filter(|o| o.figure == figure).collect();
    match (figure.is_promise(), same.len()) {
        (true, _) => None,
        (false, count) if count < FIGURES_MIN => quantile(&others.iter().collect::<Vec<_>>()),
        (false, _) => quantile(&same),
    }
}

/// Figures whose sheet is within the factor of the model, all that have one, and the median of the
/// widest over the narrowest; of those for which `fitted` holds.
pub fn coverage(validations: &[Validation], fitted: &[bool]) -> Option<(usize, usize, f64)> {
    let rows = validations.iter().flat_map(|drive| &drive.rows);
    let judged = rows.filter(|row| fitted.contains(&row.documented.fitted));
    let mut widths = Vec::new();
    let mut within = 0;
    for row in judged {
        let Some(factor) = row.factor else { continue };
        widths.push(factor * factor);
        let ratio = row.ours / row.documented.value;
        within += usize::from(ratio.max(1.0 / ratio) <= factor);
    }
    widths.sort_by(f64::total_cmp);
    let median = widths.get(widths.len() / 2)?;
    Some((within, widths.len(), *median))
}

/// The ratio that [`SHARE`] of one figure more than there are do not exceed, families alike.
fn quantile(figures: &[&KnownFigure<'_>]) -> Option<f64> {
    let count_of = |family: &str| figures.iter().filter(|f| f.family == family).count() as f64;
    let mut weighed: Vec<(f64, f64)> = figures
        .iter()
        .map(|figure| (figure.ratio, 1.0 / count_of(figure.family)))
        .collect();
    weighed.sort_by(|one, other| one.0.total_cmp(&other.0));
    let families: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let reached = weighed.iter().find(|(_, weight)| {
        below += weight;
        below >= SHARE * (families + 1.0)
    });
    reached.or(weighed.last()).map(|(ratio, _)| *ratio)
}

fn known(line: &str) -> Option<KnownFigure<'_>> {
    let cells: Vec<&str> = line.split(',').collect();
    let [drive, key, sheet, model, _, fitted, _] = cells[..] else {
        return None;
    };
    let mut figures = DatasheetFigure::ALL.into_iter();
    let figure = figures.find(|figure| figure.key() == key)?;
    let ratio = sheet.parse::<f64>().ok()? / model.parse::<f64>().ok()?;
    (!figure.is_promise()).then_some(KnownFigure {
        family: family_of(drive),
        figure,
        fitted: fitted == "yes",
        ratio: ratio.max(1.0 / ratio),
    })
}

/// The name without its capacity.
fn family_of(drive: &str) -> &str {
    match drive.rsplit_once('-') {
        Some((family, last)) if last.ends_with("gb") || last.ends_with("tb") => family,
        _ => drive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each family's figures are held to the factor that the others give, which is its claim.
    #[test]
    fn nine_of_ten_figures_of_a_family_are_within_what_the_others_say() {
        let (mut within, mut all) = (0, 0);
        for line in VALIDATED.lines().skip(1) {
            let drive = line.split(',').next().unwrap();
            let Some(figure) = known(line) else { continue };
            let factor = factor(drive, figure.figure, figure.fitted).unwrap();
            assert!((1.0..4.0).contains(&factor), "{line}: {factor}");
            all += 1;
            within += usize::from(figure.ratio <= factor);
        }
        assert!(all > 150 && within * 10 >= all * 9, "{within} of {all}");
    }

    #[test]
    fn a_family_counts_once_and_a_promise_not_at_all() {
        let figure = |family, ratio| KnownFigure {
            family,
            figure: DatasheetFigure::RandomRead,
            fitted: false,
            ratio,
        };
        let many: Vec<KnownFigure<'_>> = (0..90)
            .map(|_| figure("one", 9.0))
            .chain((0..30).map(|n| figure(["a", "b", "c"][n % 3], 1.1)))
            .collect();
        let many: Vec<&KnownFigure<'_>> = many.iter().collect();
        assert_eq!(quantile(&many[90..]), Some(1.1));
        assert_eq!(quantile(&many), Some(9.0), "one family of four");
        let promise = DatasheetFigure::Read999;
        assert_eq!(factor("intel-710-100gb", promise, false), None);
    }
}
