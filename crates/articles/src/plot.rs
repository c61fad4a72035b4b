//! Lines, charts and bars of the articles' plots.

use crate::keys::ExperimentKey;
use crate::number::number;
use crate::outcome::{Experiment, ExperimentRecords};
use maud::{Markup, html};
use ssdlab_view::bars::swatch;
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartUnit, Charts};
use ssdlab_view::line::ChartPoints;

/// No plot.
pub(crate) fn none(_: &ExperimentRecords, _: &mut Charts) -> Markup {
    html! {}
}

/// A line whose dash pattern says the same as its colour.
pub(crate) fn line(
    label: impl Into<String>,
    colour: usize,
    points: impl IntoIterator<Item = (f64, f64)>,
) -> ChartLine {
    let (x, y) = points.into_iter().map(|(x, y)| (x, Some(y))).unzip();
    ChartLine {
        label: label.into(),
        colour,
        dash: colour,
        hidden: false,
        line: ChartPoints { x, y },
    }
}

/// A level from time 0 to `to_s`.
pub(crate) fn level(label: &str, colour: usize, to_s: f64, value: f64) -> ChartLine {
    line(label, colour, [0.0, to_s / 2.0, to_s].map(|x| (x, value)))
}

/// A chart of rates over time; `group` names the charts that share its scale.
pub(crate) fn chart(title: impl Into<String>, group: &str, lines: Vec<ChartLine>) -> Chart {
    Chart {
        title: title.into(),
        unit: ChartUnit::Rate,
        axis: ChartAxis::Time,
        lines,
        notes: Vec::new(),
        group: group.to_owned(),
        same_scale: false,
    }
}

/// Curves of an experiment, each with its label, over `axis`; a curve that is not there is left
/// out.
pub(crate) fn curves<M, L: ExperimentKey>(
    records: &ExperimentRecords,
    experiment: &Experiment<M, L>,
    title: &str,
    axis: ChartAxis,
    unit: ChartUnit,
    labels: &[(L, &str)],
) -> Chart {
    // Charts write throughput from bytes a second; curves have MB/s.
    let scale = if unit == ChartUnit::Throughput {
        1e6
    } else {
        1.0
    };
    let lines = labels.iter().enumerate().map(|(i, (curve, label))| {
        let points = records.curve(experiment, *curve);
        line(*label, i, points.into_iter().map(|(x, y)| (x, y * scale)))
    });
    let lines = lines.filter(|line| !line.line.x.is_empty()).collect();
    Chart {
        axis,
        unit,
        ..chart(title, title, lines)
    }
}

/// Values under common headings, as bars to one scale from zero.
pub(crate) fn bars(title: &str, unit: &str, groups: &[(&str, Vec<(&str, f64)>)]) -> Markup {
    let values = groups
        .iter()
        .flat_map(|(_, bars)| bars.iter().map(|bar| bar.1));
    let top = values.fold(0.0, f64::max);
    if top <= 0.0 {
        return html! {};
    }
    html! {
        figure .bars {
            figcaption { (title) span .quiet { " All to one scale from zero." } }
            @for (name, bars) in groups.iter().filter(|group| !group.1.is_empty()) {
                h4 { (name) }
                @for (i, (label, value)) in bars.iter().enumerate() {
                    div .bar {
                        span .name { (swatch(i)) (label) }
                        span .track {
                            span .fill .{ "c" (i % 6) }
                                style={ "width:" (format!("{:.2}%", value / top * 100.0)) } {}
                        }
                        span .value { (number(*value)) " " (unit) }
                    }
                }
            }
        }
    }
}
