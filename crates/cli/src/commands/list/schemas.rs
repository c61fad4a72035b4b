//! `ssdlab list schemas`: the JSON Schemas of what is printed and written.

use crate::failure::CliFailure;
use crate::output::{print, print_json};
use crate::schemas::documents;
use ssdlab_base::LabError;
use std::fmt::Write as _;

/// Lists the schemas, or prints the one called `name`.
///
/// # Errors
/// When there is no such schema, or standard output cannot be written.
pub fn schemas(name: Option<&str>) -> Result<(), CliFailure> {
    let documents = documents();
    if let Some(name) = name {
        let document = documents.iter().find(|document| document.name == name);
        let document = document.ok_or_else(|| {
            LabError::refused(
                format!("`{name}` is not a schema"),
                "`ssdlab list schemas` lists them",
            )
        })?;
        return print_json(&document.schema());
    }
    let mut out = String::new();
    for document in documents {
        let _ = writeln!(out, "{:18} {}", document.name, document.title);
    }
    out += "\nPrint one: ssdlab list schemas NAME\n";
    print(&out)
}
