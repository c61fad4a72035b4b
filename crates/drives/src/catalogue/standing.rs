//! Whether the drives of the catalogue meet their own data sheets: `drives/validated.csv`, which
//! `ssdlab drives validate --write` makes, so that nothing that shows a drive has to measure it.

/// The table, with a header: drive, figure, sheet, model, null model, fitted, holds.
pub const TABLE: &str = include_str!("../../../../drives/validated.csv");
/// Its header.
pub const HEADER: &str = "drive,figure,sheet,model,null,fitted,holds";

/// How a drive stands to its own data sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DatasheetStanding {
    /// Its model meets every figure of the sheet.
    Validated,
    /// It meets some, or none.
    Off {
        /// Figures that it meets.
        held: usize,
        /// Figures that the sheet gives.
        figures: usize,
        /// The model's worst figure over the sheet's, or the reverse: at least 1.
        worst: f64,
    },
    /// Its file gives no figure that could be held against it.
    Unknown,
}

impl DatasheetStanding {
    /// How the drive of this name stands; a drive that is not in the catalogue is unknown.
    pub fn of(name: &str) -> DatasheetStanding {
        let rows = TABLE.lines().skip(1).filter(|row| {
            let drive = row.split(',').next();
            drive == Some(name)
        });
        let rows: Vec<&str> = rows.collect();
        let missed = rows.iter().filter(|row| !row.ends_with(",yes"));
        let ratios: Vec<f64> = missed.map(|row| ratio(row)).collect();
        let figures = rows.len();
        match (figures, ratios.len()) {
            (0, _) => DatasheetStanding::Unknown,
            (_, 0) => DatasheetStanding::Validated,
            (_, missed) => DatasheetStanding::Off {
                held: figures - missed,
                figures,
                worst: ratios.into_iter().fold(1.0, f64::max),
            },
        }
    }

    /// How far a rate or a time of the model may be from the drive's, as a factor, by what its own
    /// data sheet shows of it: 1 where the sheet shows no miss.
    pub fn margin(self) -> f64 {
        match self {
            DatasheetStanding::Off { worst, .. } => worst,
            DatasheetStanding::Validated | DatasheetStanding::Unknown => 1.0,
        }
    }

    /// Follows the drive's name in lists.
    pub fn mark(self) -> &'static str {
        match self {
            DatasheetStanding::Validated => "",
            DatasheetStanding::Off { .. } => "*",
            DatasheetStanding::Unknown => "~",
        }
    }

    /// What the marks mean.
    pub const MARKS: &'static str = "* not validated: the model misses figures of the drive's own \
        data sheet\n~ no figure of a sheet to hold the model to\n";

    /// For a cell of a table.
    pub fn cell(self) -> String {
        match self {
            DatasheetStanding::Validated => "yes".to_owned(),
            DatasheetStanding::Off { held, figures, .. } => format!("{held} of {figures} figures"),
            DatasheetStanding::Unknown => "no figures".to_owned(),
        }
    }

    /// A premise of every figure of a drive that is not validated.
    pub fn premise(self) -> Option<String> {
        match self {
            DatasheetStanding::Validated | DatasheetStanding::Unknown => None,
            DatasheetStanding::Off { held, figures, .. } => Some(format!(
                "the drive is not validated: its model meets {held} of the {figures} figures of \
                 its data sheet, so its rates are not those of the real drive \
                 (`ssdlab drives validate`)"
            )),
        }
    }
}

/// The model's figure of a row over the sheet's, or the reverse, whichever is at least 1.
fn ratio(row: &str) -> f64 {
    let mut figures = row.split(',').skip(2).map(str::parse::<f64>);
    match (figures.next(), figures.next()) {
        (Some(Ok(sheet)), Some(Ok(model))) if sheet > 0.0 && model > 0.0 => {
            (sheet / model).max(model / sheet)
        }
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_the_worst_miss_of_the_drives_own_sheet() {
        assert_eq!(DatasheetStanding::of("no-such-drive").margin(), 1.0);
        assert_eq!(ratio("a,b,200,100,0,no,no"), 2.0);
        assert_eq!(ratio("a,b,100,200,0,no,no"), 2.0);
        assert_eq!(ratio("a,b,100,,0,no,no"), f64::INFINITY);
        for row in TABLE.lines().skip(1) {
            let drive = row.split(',').next().expect("a drive");
            let standing = DatasheetStanding::of(drive);
            let margin = standing.margin();
            assert!(margin.is_finite() && margin >= 1.0, "{row}: {margin}");
            if row.ends_with(",no") {
                assert!(margin >= ratio(row), "{row}: {margin}");
            }
        }
    }
}
