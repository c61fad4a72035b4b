//! What the figures of a modelled drive rest on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A calibrated or assumed value that figures of a modelled drive rest on. In files it is its
/// text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct RestsOn {
    text: String,
    calibrated: bool,
}

impl RestsOn {
    /// A parameter fitted to the published figures of these ids.
    pub fn calibrated(key: &str, value: &str, fitted_to: &[String]) -> RestsOn {
        RestsOn {
            text: format!("{key} = {value}{CALIBRATED} to {}", fitted_to.join(", ")),
            calibrated: true,
        }
    }

    /// A parameter chosen here, with the reason.
    pub fn assumed(key: &str, value: &str, source: &str) -> RestsOn {
        RestsOn::stated(format!("{key} = {value}: assumed ({source})"))
    }

    /// A premise that is not a parameter of a drive's file: a sentence.
    pub fn stated(text: impl Into<String>) -> RestsOn {
        RestsOn {
            text: text.into(),
            calibrated: false,
        }
    }

    /// Whether the value was fitted to published figures; otherwise it is assumed.
    pub fn is_calibrated(&self) -> bool {
        self.calibrated
    }

    /// The parameter's key, such as `nand.program`; the whole text of other premises.
    pub fn key(&self) -> &str {
        self.text
            .split_once(" = ")
            .map_or(&self.text, |(key, _)| key)
    }
}

/// Follows key and value in the text of a calibrated parameter.
const CALIBRATED: &str = ": calibrated";

impl From<String> for RestsOn {
    fn from(text: String) -> RestsOn {
        RestsOn {
            calibrated: text.contains(CALIBRATED),
            text,
        }
    }
}

impl From<RestsOn> for String {
    fn from(rests_on: RestsOn) -> String {
        rests_on.text
    }
}

impl AsRef<str> for RestsOn {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for RestsOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_premise_is_its_text_in_files_and_stays_what_it_was() {
        let drive = crate::catalogue::drive("consumer-sata-1tb").unwrap();
        let all = drive.rests_on();
        assert!(all.iter().any(RestsOn::is_calibrated));
        assert!(!all.iter().all(RestsOn::is_calibrated));
        for premise in &all {
            let json = serde_json::to_string(premise).unwrap();
            assert_eq!(json, format!("{:?}", premise.to_string()));
            assert_eq!(&serde_json::from_str::<RestsOn>(&json).unwrap(), premise);
            assert!(drive.parameters().iter().any(|p| p.key == premise.key()));
        }
    }
}
