//! Bars in plain HTML: they reflow, print, and need no script. Lengths are to scale from zero, or
//! logarithmic where values span more than two decades.

use crate::chart::LINES_MAX;
use crate::units;
use maud::{Markup, html};

/// Values of a chart that span more than this are drawn on a logarithmic scale.
const LINEAR_MAX: f64 = 100.0;

/// One bar: the median, with a tick at the 99th percentile.
pub struct LatencyBar {
    /// Name beside the bar.
    pub label: String,
    /// Index of the colour.
    pub colour: usize,
    /// Median, ns.
    pub p50_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
}

/// Length of a bar as a share of the longest: linear from zero, or logarithmic from a power of ten.
struct BarScale {
    from: Option<f64>,
    top: f64,
}

impl BarScale {
    fn of(values: &[u64]) -> Option<BarScale> {
        let seen = || values.iter().copied().filter(|ns| *ns > 0);
        let (low, top) = (seen().min()? as f64, seen().max()? as f64);
        let from = (top > LINEAR_MAX * low).then(|| 10f64.powf((low * 0.999).log10().floor()));
        Some(BarScale { from, top })
    }

    fn share(&self, ns: u64) -> String {
        let share = match self.from {
            Some(from) => (ns as f64 / from).max(1.0).ln() / (self.top / from).ln(),
            None => ns as f64 / self.top,
        };
        format!("{:.2}%", 100.0 * share)
    }

    fn description(&self) -> String {
        match self.from {
            Some(from) => format!(
                "All to one logarithmic scale, from {} on.",
                units::time_mean(from)
            ),
            None => "All to one scale from zero.".to_owned(),
        }
    }
}

/// Bars under common headings, all to one scale.
pub fn grouped(title: &str, groups: &[(String, Vec<LatencyBar>)]) -> Markup {
    let bars = groups.iter().flat_map(|(_, bars)| bars);
    let values: Vec<u64> = bars.flat_map(|bar| [bar.p50_ns, bar.p99_ns]).collect();
    let Some(scale) = BarScale::of(&values) else {
        return html! {};
    };
    html! {
        figure .bars {
            figcaption {
                (title)
                span .quiet { " Bar: median. Tick: 99th percentile. " (scale.description()) }
            }
            @for (name, bars) in groups {
                h4 { (name) }
                @for bar in bars {
                    div .bar {
                        span .name { (swatch(bar.colour)) (bar.label) }
                        span .track {
                            span .fill .{ "c" (bar.colour) }
                                style={ "width:" (scale.share(bar.p50_ns)) } {}
                            span .tick style={ "left:" (scale.share(bar.p99_ns)) } {}
                        }
                        span .value {
                            (units::time(bar.p50_ns))
                            span .quiet { " p99 " (units::time(bar.p99_ns)) }
                        }
                    }
                }
            }
        }
    }
}

/// The colour and dash of a drive, for tables and bars; nothing for one that charts do not draw.
pub fn swatch(colour: usize) -> Markup {
    html! {
        @if colour < LINES_MAX {
            span .swatch .{ "c" (colour) } .{ "d" (colour) } aria-hidden="true" {}
        }
    }
}
