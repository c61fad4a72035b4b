//! A drive file being written.

use super::facts::DatasheetFacts;
use super::prior::EstimatedConstants;

pub(super) const SHEET: &str = "datasheet";
pub(super) const DERIVED: &str = "derived";
pub(super) const ASSUMED: &str = "assumed";

/// A file being written.
pub(super) struct DraftWriter<'a> {
    pub(super) facts: &'a DatasheetFacts,
    pub(super) constants: &'a EstimatedConstants,
    pub(super) text: String,
}

impl DraftWriter<'_> {
    pub(super) fn table(&mut self, name: &str) {
        self.text += &format!("\n[{name}]\n");
    }

    /// `value` as TOML has it.
    pub(super) fn line(&mut self, key: &str, value: &str, kind: &str, source: &str) {
        self.fitted(key, value, kind, "", source);
    }

    /// A value that follows from the figure `from` of the sheet.
    pub(super) fn fitted(&mut self, key: &str, value: &str, kind: &str, from: &str, source: &str) {
        let fitted = match from {
            "" => String::new(),
            from => format!("fitted_to = [\"sheet.{}.{from}\"], ", self.facts.name),
        };
        let source = quoted(source);
        self.text += &format!(
            "{key} = {{ value = {value}, kind = \"{kind}\", {fitted}source = {source} }}\n"
        );
    }

    /// A value that is the fact `fact` itself, if that is given.
    pub(super) fn sheet(&mut self, key: &str, fact: &str, value: Option<String>) {
        if let Some(value) = value {
            let (kind, source) = self.facts.known(fact);
            self.line(key, &value, kind.name(), source);
        }
    }
}

pub(super) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}
