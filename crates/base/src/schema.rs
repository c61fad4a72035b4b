//! JSON Schemas of what is printed and written, derived from its types.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The schema of one document: an output of a command, or a file that it writes.
#[derive(Clone, Copy, Debug)]
pub struct DocumentSchema {
    /// Its name in `ssdlab list schemas`.
    pub name: &'static str,
    /// The documents that it describes.
    pub title: &'static str,
    derive: fn() -> Schema,
}

impl DocumentSchema {
    /// The schema of documents that a `T` is written as.
    pub const fn of<T: JsonSchema>(name: &'static str, title: &'static str) -> DocumentSchema {
        DocumentSchema {
            name,
            title,
            derive: derive::<T>,
        }
    }

    /// Derives the schema. It allows no key that a type does not have, and null only for keys that
    /// are always written.
    pub fn schema(&self) -> Schema {
        let mut schema = (self.derive)();
        schema.insert("title".into(), self.title.into());
        schema
    }
}

fn derive<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(RecursiveTransform(as_written));
    settings.into_generator().into_root_schema_for::<T>()
}

/// Forbids keys that an object does not list, and null where a key may be absent.
fn as_written(schema: &mut Schema) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let required = required.as_array().map_or(&[][..], Vec::as_slice);
    let Some(Value::Object(properties)) = schema.get_mut("properties") else {
        return;
    };
    for (name, value) in properties {
        if !required.iter().any(|needed| needed == name) {
            without_null(value);
        }
    }
    if schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".into(), false.into());
    }
}

fn without_null(schema: &mut Value) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
    }
    if let Some(Value::Array(alternatives)) = schema.get_mut("anyOf") {
        alternatives.retain(|alternative| alternative["type"] != "null");
    }
}
