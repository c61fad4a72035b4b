//! What the pages share.

use crate::predict::FrozenPrediction;
use maud::{Markup, PreEscaped, html};
use ssdlab_ledger::LedgerRow;
use ssdlab_ledger::row::LedgerDrive;
use ssdlab_view::page::plain_page;
use ssdlab_view::units::count;
use std::collections::BTreeMap;

const STYLE: &str = include_str!("../../assets/ledger.css");
const LABELS_SCRIPT: &str = include_str!("../../assets/labels.js");

/// A drive: a family at a capacity, with everything the ledger has of it.
pub struct SiteDrive<'a> {
    /// Facts of the first row.
    pub drive: &'a LedgerDrive,
    /// Every row that is a figure of it.
    pub rows: Vec<&'a LedgerRow>,
    /// File name.
    pub file: String,
}

/// The first prediction of each row, by the row's id.
pub type FirstPredictions<'a> = BTreeMap<&'a str, &'a FrozenPrediction>;

/// A page in the house's style.
pub fn page(title: &str, body: Markup) -> String {
    let body = html! {
        style { (PreEscaped(STYLE)) }
        (body)
        script { (PreEscaped(LABELS_SCRIPT)) }
    };
    plain_page(title, body)
}

/// A table that one sorts by its heads; where it is wider than its place, the cells of a row stand
/// below each other. A row begins with a head of its own. Heads stand above their figures: a script
/// moves those of columns of numbers to the right.
pub fn table(id: Option<&str>, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div .sortable { div .scroll.wide tabindex="0" {
            table id=[id] {
                thead { tr { @for head in heads { th scope="col" { (head) } } } }
                tbody { (rows) }
            }
        } }
    }
}

/// A number with as many digits as matter.
pub fn number(value: f64) -> String {
    match value {
        _ if value >= 1e15 => format!("{value:.2e}"),
        _ if value >= 100.0 => count(value.round() as u64),
        _ if value >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
