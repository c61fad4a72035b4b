//! Whether the drives of the catalogue meet their own data sheets: `drives/validated.csv`, which
//! `ssdlab drives validate --write` makes, so that nothing that shows a drive has to measure it.

/// The table, with a header: drive, figure, sheet, model, null model, fitted, holds.
pub const TABLE: &str = include_str!("../../../../drives/validated.csv");
/// Its header.
pub const HEADER: &str = "drive,figure,sheet,model,null,fitted,holds";

/// How a drive stands to its own data sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Its model meets every figure of the sheet.
    Validated,
    /// It meets some, or none.
    Off {
        /// Figures that it meets.
        held: usize,
        /// Figures that the sheet gives.
        figures: usize,
    },
    /// Its file gives no figure that could be held against it.
    Unknown,
}

impl Standing {
    /// How the drive of this name stands; a drive that is not in the catalogue is unknown.
    pub fn of(name: &str) -> Standing {
        let rows = TABLE.lines().skip(1).filter(|row| {
            let drive = row.split(',').next();
            drive == Some(name)
        });
        let holds: Vec<bool> = rows.map(|row| row.ends_with(",yes")).collect();
        let held = holds.iter().filter(|holds| **holds).count();
        match holds.len() {
            0 => Standing::Unknown,
            figures if figures == held => Standing::Validated,
            figures => Standing::Off { held, figures },
        }
    }

    /// Follows the drive's name in lists.
    pub fn mark(self) -> &'static str {
        match self {
            Standing::Validated => "",
            Standing::Off { .. } => "*",
            Standing::Unknown => "~",
        }
    }

    /// What the marks mean.
    pub const MARKS: &'static str = "* not validated: the model misses figures of the drive's own \
        data sheet\n~ no figure of a sheet to hold the model to\n";

    /// For a cell of a table.
    pub fn cell(self) -> String {
        match self {
            Standing::Validated => "yes".to_owned(),
            Standing::Off { held, figures } => format!("{held} of {figures} figures"),
            Standing::Unknown => "no figures".to_owned(),
        }
    }

    /// A premise of every figure of a drive that is not validated.
    pub fn premise(self) -> Option<String> {
        match self {
            Standing::Validated | Standing::Unknown => None,
            Standing::Off { held, figures } => Some(format!(
                "the drive is not validated: its model meets {held} of the {figures} figures of \
                 its data sheet, so its rates are not those of the real drive \
                 (`ssdlab drives validate`)"
            )),
        }
    }
}
