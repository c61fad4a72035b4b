//! JSON Schemas of what is printed and written, derived from its types.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};

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

    /// Derives the schema. It allows no key that a type does not have.
    pub fn schema(&self) -> Schema {
        let mut schema = (self.derive)();
        schema.insert("title".into(), self.title.into());
        schema
    }
}

fn derive<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(NoOtherKeys);
    settings.into_generator().into_root_schema_for::<T>()
}

/// Forbids keys that an object does not list.
#[derive(Clone, Debug)]
struct NoOtherKeys;

impl Transform for NoOtherKeys {
    fn transform(&mut self, schema: &mut Schema) {
        let lists_keys = schema.get("properties").is_some();
        if lists_keys && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
        transform_subschemas(self, schema);
    }
}
