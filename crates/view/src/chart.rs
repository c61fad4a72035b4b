//! Charts as data: what uPlot draws, as JSON small enough to keep pages small.

use crate::line::{self, ChartPoints};
use maud::{Markup, html};
use serde_json::{Map, Value, json};

/// Most lines of a chart, and most drives or runs that have a colour. Further ones are in tables.
pub const LINES_MAX: usize = 5;
/// Most points of one line; longer ones are thinned for display.
const POINTS_PER_LINE: usize = 2_000;
/// Most points of all lines of a page: about 6 bytes each, 8 when thinned.
const POINTS_PER_PAGE: usize = 44_000;
/// A line is never thinned below this.
const POINTS_PER_LINE_MIN: usize = 400;
/// Significant places kept for display: finer than a pixel and than the histograms.
const PLACES: usize = 4;

/// What the y axis counts, from zero.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChartUnit {
    /// Per second; also counts and ratios.
    Rate,
    /// Nanoseconds.
    Time,
    /// Bytes per second.
    Throughput,
    /// Watts.
    Power,
    /// Per cent.
    Percent,
}

/// What the x axis is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChartAxis {
    /// Seconds.
    Time,
    /// Writers at the same time, linear.
    Writers,
    /// Bytes, logarithmic to base 2.
    Size,
    /// Written by the host, in user capacities.
    Writes,
    /// Per cent of something, which the title names.
    Percent,
    /// Months.
    Months,
    /// Commands outstanding, as logarithms to base 2.
    Depth,
    /// Rounds or samples, counted from 1.
    Rounds,
    /// Bytes of a command, logarithmic to base 2.
    Block,
    /// Commands per second.
    Rate,
}

/// One line with its look: the colour says which drive, run or kind; the dash says it again.
pub struct ChartLine {
    /// Name in the legend.
    pub label: String,
    /// Index of the colour, below six.
    pub colour: usize,
    /// Index of the dash pattern, below six.
    pub dash: usize,
    /// Drawn only when the reader asks for it.
    pub hidden: bool,
    /// Its points.
    pub line: ChartPoints,
}

/// Something to point out on the time axis.
pub enum ChartMark {
    /// A span of steady state.
    Steady {
        /// Start, in the unit of the axis.
        from: f64,
        /// End.
        to: f64,
        /// Colour of the line it belongs to.
        colour: usize,
    },
    /// A moment, with a few words.
    Cliff {
        /// Position, in the unit of the axis.
        at: f64,
        /// Label.
        text: String,
        /// Colour of the line it belongs to.
        colour: usize,
    },
    /// Where a later phase begins.
    Phase {
        /// Position, in the unit of the axis.
        at: f64,
    },
}

/// A chart with everything drawn on it.
pub struct Chart {
    /// Caption.
    pub title: String,
    /// What the y axis counts.
    pub unit: ChartUnit,
    /// What the x axis is.
    pub axis: ChartAxis,
    /// Its lines; a line without a value is left out.
    pub lines: Vec<ChartLine>,
    /// Marks on the x axis.
    pub notes: Vec<ChartMark>,
    /// Charts of one group share the cursor, and those of one unit the top of the y axis.
    pub group: String,
    /// The group's charts are drawn to the same scale.
    pub same_scale: bool,
}

/// The charts of a page, in order.
#[derive(Default)]
pub struct Charts {
    charts: Vec<Chart>,
}

impl Charts {
    /// Keeps `chart` and returns the place where it is drawn; nothing when it has no point.
    pub fn add(&mut self, mut chart: Chart) -> Markup {
        chart
            .lines
            .retain(|line| line.line.y.iter().any(Option::is_some));
        if chart.lines.is_empty() {
            return html! {};
        }
        let title = chart.title.clone();
        self.charts.push(chart);
        html! {
            figure .chart data-chart=(self.charts.len() - 1) {
                figcaption { span { (title) } }
                noscript { p .quiet { "Drawn by a script; its numbers are in the tables." } }
            }
        }
    }

    /// Whether the page has no chart.
    pub fn is_empty(&self) -> bool {
        self.charts.is_empty()
    }

    fn lines(&self) -> impl Iterator<Item = &ChartLine> {
        self.charts.iter().flat_map(|chart| &chart.lines)
    }

    /// Points that a line of this page may have.
    fn points_max(&self) -> usize {
        let points = |l: &ChartLine| l.line.x.len().min(POINTS_PER_LINE);
        let total: usize = self.lines().map(points).sum();
        if total <= POINTS_PER_PAGE {
            return POINTS_PER_LINE;
        }
        let share = POINTS_PER_PAGE / self.lines().count();
        share.clamp(POINTS_PER_LINE_MIN, POINTS_PER_LINE)
    }

    /// Says so when a line has more points than are drawn.
    pub fn thinned(&self) -> Option<String> {
        let points_max = self.points_max();
        let longest = self.lines().map(|l| l.line.x.len()).max()?;
        (longest > points_max).then(|| {
            format!(
                "Lines of more than {points_max} points are thinned for display: of each span \
                 the lowest and the highest value are drawn. Tables use every point."
            )
        })
    }

    /// All charts as JSON that is safe inside a script element.
    pub fn json(&self) -> String {
        let points_max = self.points_max();
        let charts = self.charts.iter().map(|chart| chart.json(points_max));
        Value::Array(charts.collect())
            .to_string()
            .replace('<', "\\u003c")
    }
}

impl Chart {
    fn json(&self, points_max: usize) -> Value {
        let unit = match self.unit {
            ChartUnit::Rate => "rate",
            ChartUnit::Time => "time",
            ChartUnit::Throughput => "throughput",
            ChartUnit::Power => "power",
            ChartUnit::Percent => "percent",
        };
        let axis = match self.axis {
            ChartAxis::Time => "time",
            ChartAxis::Writers => "writers",
            ChartAxis::Size => "size",
            ChartAxis::Writes => "writes",
            ChartAxis::Percent => "percent",
            ChartAxis::Months => "months",
            ChartAxis::Depth => "depth",
            ChartAxis::Rounds => "rounds",
            ChartAxis::Block => "block",
            ChartAxis::Rate => "rate",
        };
        let lines = self.lines.iter().map(|l| self.line_json(l, points_max));
        json!({
            "title": self.title,
            "unit": unit,
            "axis": axis,
            "group": self.group,
            "same_scale": self.same_scale,
            "lines": lines.collect::<Vec<_>>(),
            "notes": self.notes.iter().map(ChartMark::json).collect::<Vec<_>>(),
        })
    }

    fn line_json(&self, line: &ChartLine, points_max: usize) -> Value {
        let thinned = line::thin(&line.line, points_max);
        let y = thinned.y.iter().map(|y| y.map_or(Value::Null, short));
        let mut object = Map::new();
        object.insert("label".into(), json!(line.label));
        object.insert("colour".into(), json!(line.colour));
        object.insert("dash".into(), json!(line.dash));
        object.insert("hidden".into(), json!(line.hidden));
        let steps: Vec<f64> = thinned.x.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let from = thinned.x.first().copied().unwrap_or(0.0);
        object.insert("from".into(), number(from));
        if steps.iter().any(|step| *step != 1.0) {
            object.insert("steps".into(), steps.into_iter().map(number).collect());
        }
        object.insert("y".into(), y.collect());
        Value::Object(object)
    }
}

impl ChartMark {
    fn json(&self) -> Value {
        match self {
            ChartMark::Steady { from, to, colour } => {
                json!({"kind": "steady", "from": from, "to": to, "colour": colour})
            }
            ChartMark::Cliff { at, text, colour } => {
                json!({"kind": "cliff", "at": at, "text": text, "colour": colour})
            }
            ChartMark::Phase { at } => json!({"kind": "phase", "at": at}),
        }
    }
}

/// Rounded to [`PLACES`] significant places.
fn short(value: f64) -> Value {
    // By its digits: powers of ten differ in the last bit from one system's library to the next.
    let digits = format!("{value:.*e}", PLACES - 1);
    number(digits.parse().unwrap_or(value))
}

/// As an integer where it is one; null when not finite.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(label: &str, points: usize) -> Chart {
        Chart {
            title: "t".into(),
            unit: ChartUnit::Rate,
            axis: ChartAxis::Time,
            lines: vec![ChartLine {
                label: label.into(),
                colour: 0,
                dash: 0,
                hidden: false,
                line: ChartPoints {
                    x: (0..points).map(|i| i as f64).collect(),
                    y: (0..points).map(|i| Some(12_345.678 + i as f64)).collect(),
                },
            }],
            notes: vec![],
            group: "g".into(),
            same_scale: false,
        }
    }

    #[test]
    fn json_cannot_end_its_script() {
        let mut charts = Charts::default();
        charts.add(chart("</script><!--", 3));
        let json = charts.json();
        assert!(!json.contains('<'), "{json}");
        let back: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(back[0]["lines"][0]["label"], "</script><!--");
        assert_eq!(back[0]["lines"][0]["y"], json!([12350, 12350, 12350]));
    }

    #[test]
    fn many_long_lines_are_thinned_and_the_page_says_so() {
        let mut charts = Charts::default();
        charts.add(chart("a", 1_800));
        assert_eq!(charts.thinned(), None);
        for _ in 0..60 {
            charts.add(chart("b", 1_800));
        }
        assert!(charts.thinned().is_some());
        assert!(charts.json().len() < 400_000);
    }

    #[test]
    fn no_value_becomes_nan() {
        for value in [f64::NAN, f64::INFINITY, f64::MAX, f64::MIN_POSITIVE, 0.0] {
            let text = short(value).to_string();
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
    }
}
