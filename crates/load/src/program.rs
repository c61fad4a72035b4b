//! Programs whose command lines are read.

/// The program whose command line it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// fio.
    Fio,
    /// DISKSPD.
    Diskspd,
}

impl Program {
    /// As its users write it.
    pub fn name(self) -> &'static str {
        match self {
            Program::Fio => "fio",
            Program::Diskspd => "DISKSPD",
        }
    }

    /// The program that a first word names.
    pub fn named(word: &str) -> Option<Program> {
        let file = word.rsplit(['/', '\\']).next().unwrap_or(word);
        let file = file.to_ascii_lowercase();
        match file.strip_suffix(".exe").unwrap_or(&file) {
            "fio" => Some(Program::Fio),
            "diskspd" => Some(Program::Diskspd),
            _ => None,
        }
    }
}
