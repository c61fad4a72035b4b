//! Reading JSON that may lack anything.

use serde_json::Value;

/// A document; every question has "not there" as an answer.
#[derive(Clone, Copy)]
pub(super) struct Doc<'a>(&'a Value);

impl<'a> Doc<'a> {
    pub fn new(value: &'a Value) -> Doc<'a> {
        Doc(value)
    }

    pub fn has(&self, pointer: &str) -> bool {
        self.0.pointer(pointer).is_some_and(|v| !v.is_null())
    }

    /// Text that is not blank.
    pub fn text(&self, pointer: &str) -> Option<String> {
        let text = self.0.pointer(pointer)?.as_str()?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub fn flag(&self, pointer: &str) -> Option<bool> {
        self.0.pointer(pointer)?.as_bool()
    }

    /// A finite number. smartctl writes counters beyond 2^53 twice, the second time as text under
    /// the name with `_s`; nvme-cli writes wide ones as text.
    pub fn number(&self, pointer: &str) -> Option<f64> {
        let value = self.0.pointer(&format!("{pointer}_s"));
        let value = value.or_else(|| self.0.pointer(pointer))?;
        let number = match value {
            Value::String(text) => text.replace(',', "").parse().ok()?,
            other => other.as_f64()?,
        };
        number.is_finite().then_some(number)
    }

    /// A whole number from 0.
    pub fn whole(&self, pointer: &str) -> Option<u64> {
        match self.0.pointer(pointer)? {
            Value::String(text) => text.parse().ok(),
            other => other.as_u64(),
        }
    }

    /// The elements of an array; none when it is something else.
    pub fn rows(&self, pointer: &str) -> impl Iterator<Item = Doc<'a>> + use<'a> {
        let rows = self.0.pointer(pointer).and_then(Value::as_array);
        rows.into_iter().flatten().map(Doc)
    }

    /// What smartctl said in words.
    pub fn messages(&self) -> Vec<String> {
        self.rows("/smartctl/messages")
            .filter_map(|message| message.text("/string"))
            .collect()
    }
}
