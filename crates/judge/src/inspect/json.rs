//! Reading JSON that may lack anything.

use serde_json::Value;

/// Longer than anything smartctl prints in one field.
const TEXT_MAX: usize = 300;

/// Beyond every counter, 128 bits of them that are used included.
const NUMBER_MAX: f64 = 1e30;

/// A document; every question has "not there" as an answer.
#[derive(Clone, Copy)]
pub(super) struct Doc<'a>(&'a Value);

impl<'a> Doc<'a> {
    pub fn new(value: &'a Value) -> Doc<'a> {
        Doc(value)
    }

    /// What lies at `a.b.c`.
    fn at(&self, path: &str) -> Option<&'a Value> {
        path.split('.')
            .try_fold(self.0, |value, key| value.get(key))
    }

    pub fn has(&self, path: &str) -> bool {
        self.at(path).is_some_and(|v| !v.is_null())
    }

    /// Text that is not blank. What a drive calls itself must not drive a terminal, so control
    /// characters and those that turn the direction of text become question marks.
    pub fn text(&self, path: &str) -> Option<String> {
        let text = self.at(path)?.as_str()?.trim();
        let turns = |c| {
            let overrides = '\u{202a}'..='\u{202e}';
            let isolates = '\u{2066}'..='\u{2069}';
            overrides.contains(&c) || isolates.contains(&c)
        };
        let plain = |c: char| if c.is_control() || turns(c) { '?' } else { c };
        (!text.is_empty()).then(|| text.chars().take(TEXT_MAX).map(plain).collect())
    }

    pub fn flag(&self, path: &str) -> Option<bool> {
        self.at(path)?.as_bool()
    }

    /// A number that a counter could hold. smartctl writes those beyond 2^53 twice, the second
    /// time as text under the name with `_s`; nvme-cli writes wide ones as text.
    pub fn number(&self, path: &str) -> Option<f64> {
        let value = self.at(&format!("{path}_s"));
        let value = value.or_else(|| self.at(path))?;
        let number = match value {
            Value::String(text) => text.replace(',', "").parse().ok()?,
            other => other.as_f64()?,
        };
        (number.abs() < NUMBER_MAX).then_some(number)
    }

    /// A whole number from 0.
    pub fn whole(&self, path: &str) -> Option<u64> {
        match self.at(path)? {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        }
    }

    /// The elements of an array; none when it is something else.
    pub fn rows(&self, path: &str) -> impl Iterator<Item = Doc<'a>> + use<'a> {
        let rows = self.at(path).and_then(Value::as_array);
        rows.into_iter().flatten().map(Doc)
    }

    /// What smartctl said in words.
    pub fn messages(&self) -> Vec<String> {
        self.rows("smartctl.messages")
            .filter_map(|message| message.text("string"))
            .collect()
    }
}
