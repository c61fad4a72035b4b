//! A twin and its predictions in a terminal.

use crate::fit::{Twin, ValueGrade};
use crate::latency::ReadOrWrite;
use crate::predict::{self, LoadPrediction, PredictionQuery};
use ssdlab_view::text::{self, PLAIN, finish, new_table, paragraph};

/// MiB/s, as tables of rates have it.
pub(crate) fn mib(rate: f64) -> String {
    format!("{:.0}", rate / 1_048_576.0)
}

/// How well something is known, in a word.
pub(crate) fn word(grade: ValueGrade) -> &'static str {
    match grade {
        ValueGrade::Value => "decided",
        ValueGrade::Range => "narrowed",
        ValueGrade::Unknown => "UNKNOWN",
    }
}

/// Cells of every number and of the layout: what, value, 90 % interval, standing, decided by.
pub(crate) fn value_rows(twin: &Twin) -> Vec<[String; 5]> {
    let by = |label: &Option<String>| label.clone().unwrap_or_else(|| "no row".into());
    let mut rows: Vec<[String; 5]> = twin
        .knobs
        .iter()
        .map(|knob| {
            let value = knob.value.map_or("-".into(), |v| format!("{v:.3}"));
            let [low, high] = knob.interval;
            let interval = match knob.grade {
                ValueGrade::Unknown => "-".into(),
                _ => format!("{low:.3} to {high:.3}"),
            };
            let standing = word(knob.grade).into();
            [
                knob.name.clone(),
                value,
                interval,
                standing,
                by(&knob.decided_by),
            ]
        })
        .collect();
    if let Some(layout) = &twin.layout {
        let value = match layout.grade {
            ValueGrade::Unknown => "-".into(),
            _ => layout.text.clone(),
        };
        let probability = format!("probability {:.2}", layout.probability);
        let name = "victim policy and frontiers".into();
        rows.push([
            name,
            value,
            probability,
            word(layout.grade).into(),
            by(&layout.decided_by),
        ]);
    }
    rows
}

/// The twin as text.
pub fn twin(twin: &Twin) -> String {
    let mut out = String::new();
    if let Some(why) = &twin.unknown {
        out += &paragraph("UNKNOWN:", why);
    } else {
        let mut table = new_table(PLAIN);
        table.set_header(["Of the drive", "Value", "90 %", "", "Decided by"]);
        for row in value_rows(twin) {
            table.add_row(row);
        }
        out += &finish(&table);
        out.push('\n');
        let mut table = new_table(PLAIN);
        table.set_header(["Fitted to", "Measured MiB/s", "Models", "90 %"]);
        for figure in &twin.figures {
            let [low, middle, high] = figure.model.map(mib);
            let label = text::clean(&figure.load.label());
            table.add_row([label, mib(figure.rate), middle, format!("{low} to {high}")]);
        }
        out += &finish(&table);
    }
    let left_out: Vec<String> = twin
        .table
        .rows
        .iter()
        .filter_map(|row| {
            let why = row.left_out.as_ref()?;
            Some(format!("line {}, {}: {why}", row.line, row.load.label()))
        })
        .collect();
    if !left_out.is_empty() {
        out += &format!("\n{}", text::list("Left out:", &left_out));
    }
    out
}

/// Predictions as text, with what to measure next; lives in years of `per_day` host bytes a day.
pub fn predictions(
    predictions: &[LoadPrediction],
    question: &PredictionQuery,
    per_day: Option<u64>,
) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["Load", "MiB/s", "90 %", "WAF", "90 %", "", "Models apart"]);
    for prediction in predictions {
        let [low, middle, high] = prediction.rate.map(mib);
        let [waf_low, waf, waf_high] = prediction.waf;
        table.add_row([
            text::clean(&prediction.load.label()),
            middle,
            format!("{low} to {high}"),
            format!("{waf:.2}"),
            format!("{waf_low:.2} to {waf_high:.2}"),
            prediction.kind.into(),
            format!("{:.1} sigma", prediction.separation),
        ]);
    }
    let mut out = finish(&table);
    out += &lives(predictions, per_day);
    out += &latencies(predictions);
    if let Some(next) = predict::next(predictions, question) {
        let suggestion = format!(
            "{}: of these loads, it separates the models best ({:.1} sigma of model and \
             measurement)",
            next.load.label(),
            next.separation
        );
        out += &format!("\n{}", paragraph("Measure next:", &suggestion));
    }
    out
}

/// Host bytes until the rated cycles are used up.
fn lives(predictions: &[LoadPrediction], per_day: Option<u64>) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["Load", "Host TB until worn", "90 %", "Years", "90 %"]);
    for prediction in predictions {
        let Some(life) = prediction.life else {
            return String::new();
        };
        let columns = |scale: f64, digits: usize| {
            let [low, middle, high] = life.map(|bytes| format!("{:.digits$}", bytes / scale));
            [middle, format!("{low} to {high}")]
        };
        let [bytes, bytes_range] = columns(1e12, 0);
        let years = per_day.map(|day| columns(day as f64 * 365.25, 1));
        let [years, years_range] = years.unwrap_or_default();
        let label = text::clean(&prediction.load.label());
        table.add_row([label, bytes, bytes_range, years, years_range]);
    }
    format!("\n{}", finish(&table))
}

/// Latency in us, or ms from one on.
fn time(us: f64) -> String {
    match us {
        us if us >= 1000.0 => format!("{:.1} ms", us / 1000.0),
        us if us >= 10.0 => format!("{us:.0} us"),
        us => format!("{us:.1} us"),
    }
}

/// Latency at every rate that was asked for, with what is not known.
fn latencies(predictions: &[LoadPrediction]) -> String {
    let mut table = new_table(PLAIN);
    table.set_header(["Load", "Writes/s", "", "", "Latency", "90 %"]);
    let (mut rows, mut open) = (0, Vec::new());
    for prediction in predictions {
        for latency in &prediction.latency {
            let label = text::clean(&prediction.load.label());
            let rate = format!("{:.0} ({:.0} %)", latency.write_iops, latency.share * 100.0);
            if let Some(why) = &latency.unknown {
                open.push(format!("{label} at {rate}: {why}"));
            }
            for figure in &latency.figures {
                let kind = match figure.kind {
                    ReadOrWrite::Read => "read",
                    ReadOrWrite::Write => "write",
                };
                let [low, middle, high] = figure.us.map(time);
                table.add_row([
                    label.clone(),
                    rate.clone(),
                    kind.into(),
                    format!("p{}", figure.percent),
                    middle,
                    format!("{low} to {high}"),
                ]);
                rows += 1;
            }
        }
    }
    let mut out = String::new();
    if rows > 0 {
        out += &format!("\n{}", finish(&table));
    }
    if !open.is_empty() {
        out += &format!("\n{}", text::list("UNKNOWN:", &open));
    }
    out
}
