//! The values of a drive file as a list.

use super::file::DriveFile;
use super::reader::QuantityReader;
use super::sourced::{CatalogueParameter, Provenance, SourcedValue};
use serde::Serialize;
use ssdlab_base::LabError;

/// Every value has a source; calibrated ones name the figures fitted to, derived ones may.
pub(super) fn check_sources(file: &DriveFile, source: &str) -> Result<(), LabError> {
    let r = QuantityReader { source };
    for p in parameters(file) {
        if p.source.trim().is_empty() {
            return Err(r.bad(&p.key, &p.value, "its source must not be empty".into()));
        }
        let fitted = !p.fitted_to.is_empty();
        let wrong = match p.kind {
            Provenance::Calibrated => !fitted,
            Provenance::Derived => false,
            _ => fitted,
        };
        if wrong {
            let allowed = "calibrated values have fitted_to = [figure ids], derived ones may";
            return Err(r.bad(&p.key, &p.value, allowed.into()));
        }
    }
    Ok(())
}

/// Every sourced value, found through serde so that none can be forgotten.
pub(super) fn parameters(file: &DriveFile) -> Vec<CatalogueParameter> {
    let mut values = Vec::new();
    add("documented", &file.documented, &mut values);
    add("capacity", &file.capacity, &mut values);
    add("nand", &file.nand, &mut values);
    add("ftl", &file.ftl, &mut values);
    add("buffer", &file.buffer, &mut values);
    add("host", &file.host, &mut values);
    if let Some(energy) = &file.energy {
        add("energy", energy, &mut values);
    }
    if let Some(heat) = &file.heat {
        add("heat", heat, &mut values);
    }
    if let Some(smart) = &file.smart {
        add("smart", smart, &mut values);
    }
    if let Some(wear) = &file.wear {
        add("wear", wear, &mut values);
    }
    values
}

fn add(table: &str, values: &impl Serialize, parameters: &mut Vec<CatalogueParameter>) {
    let json = serde_json::to_value(values).unwrap_or_default();
    for (key, value) in json.as_object().into_iter().flatten() {
        let Ok(sourced) = serde_json::from_value::<SourcedValue<serde_json::Value>>(value.clone())
        else {
            continue;
        };
        parameters.push(CatalogueParameter {
            key: format!("{table}.{key}"),
            value: shown(&sourced.value),
            kind: sourced.kind,
            source: sourced.source,
            fitted_to: sourced.fitted_to,
        });
    }
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
