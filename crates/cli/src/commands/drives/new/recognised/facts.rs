//! Facts of the table of known drives, as `drives new` takes them.

use ssdlab_drives::known::{ModelFamily, SourceClass, UNSOURCED};

/// A fact of the table: its key, value, and the class and text of its source.
pub(super) struct TableFact {
    pub key: &'static str,
    pub value: String,
    pub class: Option<SourceClass>,
    pub source: String,
}

/// What the table says of a drive of this capacity.
pub(super) fn table_facts(family: &ModelFamily, capacity: u64) -> Vec<TableFact> {
    let unsourced = |key, value: &str| TableFact {
        key,
        value: value.to_owned(),
        class: None,
        source: UNSOURCED.into(),
    };
    let mut facts = Vec::new();
    let link = ["SATA", "SAS"].contains(&family.interface.as_str());
    let link = link.then(|| family.interface.to_lowercase());
    facts.extend(link.map(|link| unsourced("interface", &link)));
    if let Some(plp) = family.plp {
        facts.push(TableFact {
            key: "protected",
            value: if plp { "yes" } else { "no" }.into(),
            class: family.plp_class,
            source: family.plp_source.clone(),
        });
    }
    let cells = family.cells.as_deref().map(str::to_lowercase);
    let cells = cells.filter(|cells| ["slc", "mlc", "tlc", "qlc"].contains(&cells.as_str()));
    facts.extend(cells.map(|value| unsourced("cells", &value)));
    if let Some(rating) = family.rating(capacity) {
        let fact = |key, value| TableFact {
            key,
            value,
            class: rating.class,
            source: rating.source.clone(),
        };
        let terabytes = rating.bytes_written as f64 / 1e12;
        facts.push(fact("rated-writes", format!("{terabytes:.1}TB")));
        let whole_years = rating.years.filter(|years| years.fract() == 0.0);
        facts.extend(whole_years.map(|years| fact("years", format!("{years}"))));
    }
    facts
}
