//! The formats of fio that are known here.

/// Whose header, state file and seeds: fio changed all three in 2025.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioFormat {
    /// fio 3.33, as Debian 12 has it, to 3.38: states of version 3.
    V3_33,
    /// fio's source of 2026: states of version 7.
    Current,
}

impl FioFormat {
    /// All, by the name that a command line has.
    pub const ALL: [(&'static str, FioFormat); 2] =
        [("3.33", FioFormat::V3_33), ("current", FioFormat::Current)];

    /// The format of a fio by what it prints as its version, such as `fio-3.33`; `None` for one
    /// between the two, and for a later one.
    pub fn of_version(version: &str) -> Option<FioFormat> {
        let version = version.trim().strip_prefix("fio-3.")?;
        let digits = version
            .split(|digit: char| !digit.is_ascii_digit())
            .next()?;
        match digits.parse().ok()? {
            33..=38u32 => Some(FioFormat::V3_33),
            _ => None,
        }
    }

    /// The format of that name.
    pub fn named(name: &str) -> Option<FioFormat> {
        let entry = Self::ALL.iter().find(|entry| entry.0 == name);
        entry.map(|entry| entry.1)
    }
}
