//! Drives against their data sheets, as a page: the table, and each family's rates by capacity.

use super::{DatasheetFigure, Validation, ValidationRow};
use crate::validate::show;
use maud::{Markup, html};
use ssdlab_base::LabError;
use ssdlab_drives::catalogue;
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartUnit, Charts};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::page as whole;
use std::collections::BTreeMap;

/// Figures that are drawn over capacity.
const DRAWN: [DatasheetFigure; 3] = [
    DatasheetFigure::RandomWrite,
    DatasheetFigure::RandomRead,
    DatasheetFigure::SequentialWrite,
];

/// A point: user capacity in bytes, the sheet's figure, the model's.
type SheetPoint = (f64, f64, f64);

/// The page of `all`.
///
/// # Errors
/// When a drive is not in the catalogue any more.
pub fn page(validations: &[Validation]) -> Result<String, LabError> {
    let mut families: BTreeMap<(String, &str), Vec<SheetPoint>> = BTreeMap::new();
    for validation in validations {
        let drive = catalogue::open(&validation.drive)?;
        let bytes = drive.config.user_bytes as f64;
        for row in &validation.rows {
            let figure = row.documented.figure;
            if DRAWN.contains(&figure) {
                let key = (drive.family().to_owned(), figure.name());
                let point = (bytes, row.documented.value, row.ours);
                families.entry(key).or_default().push(point);
            }
        }
    }
    let mut charts = Charts::default();
    let drawn: Vec<Markup> = families
        .into_iter()
        .filter(|(_, points)| points.len() > 1)
        .map(|((family, figure), points)| charts.add(chart(&family, figure, points)))
        .collect();
    let body = html! {
        header .answer {
            p .kicker { "ssdlab drives validate" }
            h1 { "Modelled drives against their own data sheets" }
            pre { (show::totals(validations)) }
        }
        section {
            h2 { "Rates by capacity, published and ours" }
            p .quiet { "Families of which the sheets give more than one capacity." }
            @for chart in drawn { (chart) }
        }
        section {
            h2 { "Every figure" }
            @for drive in validations.iter().filter(|drive| !drive.rows.is_empty()) {
                (table(drive))
            }
        }
    };
    let title = "Modelled drives against their data sheets";
    Ok(whole::page(title, body, &charts))
}

fn chart(family: &str, figure: &str, mut points: Vec<SheetPoint>) -> Chart {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let line = |label: &str, colour: usize, of: fn(&SheetPoint) -> f64| ChartLine {
        label: label.into(),
        colour,
        dash: colour,
        hidden: false,
        line: ChartPoints {
            x: points.iter().map(|point| point.0).collect(),
            y: points.iter().map(|point| Some(of(point))).collect(),
        },
    };
    let is_bytes = figure == DatasheetFigure::SequentialWrite.name();
    Chart {
        title: format!("{family}: {figure} over user capacity"),
        unit: if is_bytes {
            ChartUnit::Throughput
        } else {
            ChartUnit::Rate
        },
        axis: ChartAxis::Size,
        lines: vec![
            line("sheet", 1, |point| point.1),
            line("model", 0, |point| point.2),
        ],
        notes: Vec::new(),
        group: format!("{family} {figure}"),
        same_scale: false,
    }
}

fn table(drive: &Validation) -> Markup {
    let row = |row: &ValidationRow| {
        html! {
            tr {
                td { (row.documented.figure.name()) }
                td { (show::shown(row.documented.figure, row.documented.value)) }
                td { (show::shown(row.documented.figure, row.ours)) }
                td { (format!("{:+.0} %", 100.0 * row.error())) }
                td { (show::factor(row)) }
                td { (show::verdict(row)) }
                td { (show::known_by(row)) }
            }
        }
    };
    html! {
        h3 { (drive.drive) }
        table {
            tr {
                th {} th { "sheet" } th { "model" } th { "error" } th { "90 %" } th {}
                th { "known by" }
            }
            @for one in &drive.rows { (row(one)) }
        }
    }
}
