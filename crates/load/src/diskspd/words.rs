//! The words of a command line.

use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;

/// Options people do use, with what to do about each.
static REFUSED: &[(&str, &str)] = &[
    ("Sr", "use -Su or -Sh: there is no remote cache"),
    (
        "Rs",
        "it runs nothing: `ssdlab inspect` describes the drives of this machine",
    ),
    (
        "y",
        "there are no named events of Windows here: start and stop the program itself",
    ),
    (
        "?",
        "`ssdlab list options diskspd` lists the supported options",
    ),
];

/// A word of the command line.
pub(super) struct CommandLineWord<'a> {
    /// As written.
    pub text: &'a str,
    /// After dash and letter.
    pub rest: &'a str,
    /// From 1.
    pub number: usize,
}

impl CommandLineWord<'_> {
    pub fn place(&self) -> InputLocation {
        InputLocation {
            source: format!("DISKSPD command line, word {}", self.number),
            line: None,
        }
    }

    pub fn bad(&self, allowed: &str, hint: &str) -> LabError {
        LabError::BadValue {
            option: self.text.chars().take(2).collect(),
            given: self.rest.to_owned(),
            allowed: allowed.to_owned(),
            place: self.place(),
            hint: hint.to_owned(),
        }
    }

    pub fn unsupported(&self) -> LabError {
        let name = self.text.get(1..).unwrap_or_default();
        let known = REFUSED.iter().find(|(known, _)| name.starts_with(known));
        let hint = known.map_or("leave it out; see the list of supported options", |k| k.1);
        LabError::UnknownOption {
            language: "DISKSPD",
            option: self.text.to_owned(),
            place: self.place(),
            hint: hint.to_owned(),
        }
    }

    pub fn count(&self, low: u32, high: u32) -> Result<u32, LabError> {
        let digits = self.rest.bytes().all(|b| b.is_ascii_digit());
        match self.rest.parse() {
            Ok(n) if digits && (low..=high).contains(&n) => Ok(n),
            _ => Err(self.bad(
                &format!("it is a whole number from {low} to {high}"),
                self.spaced(),
            )),
        }
    }

    /// A hint for `-b 4K`.
    pub fn spaced(&self) -> &'static str {
        if self.rest.is_empty() {
            "write the value without a blank before it"
        } else {
            ""
        }
    }

    pub fn size(&self, text: &str, block: Option<u32>) -> Result<u64, LabError> {
        let allowed = "a size is a number with K, M, G, T or b (blocks), such as 4K";
        let bad = || self.bad(allowed, self.spaced());
        let end = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let scale = match (suffix.to_ascii_uppercase().as_str(), block) {
            ("", _) => 1,
            ("K", _) => 1 << 10,
            ("M", _) => 1 << 20,
            ("G", _) => 1 << 30,
            ("T", _) => 1 << 40,
            ("B", Some(block)) => u64::from(block),
            _ => return Err(bad()),
        };
        let bytes = digits
            .parse()
            .ok()
            .and_then(|n: u64| n.checked_mul(scale))
            .ok_or_else(bad)?;
        if bytes == 0 || !bytes.is_multiple_of(512) {
            return Err(self.bad("it is a multiple of 512 bytes", ""));
        }
        Ok(bytes)
    }
}
