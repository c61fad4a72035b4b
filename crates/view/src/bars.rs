//! Bars in plain HTML: they reflow, print, and need no script. Lengths are to scale from zero.

use crate::units;
use maud::{Markup, html};

/// One bar: the median, with a tick at the 99th percentile.
pub struct Bar {
    /// Name beside the bar.
    pub label: String,
    /// Index of the colour; six repeat.
    pub colour: usize,
    /// Median, ns.
    pub p50_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
}

/// Bars under common headings, all to one scale.
pub fn grouped(title: &str, groups: &[(String, Vec<Bar>)]) -> Markup {
    let bars = groups.iter().flat_map(|(_, bars)| bars);
    let top = bars.map(|bar| bar.p50_ns.max(bar.p99_ns)).max();
    let Some(top) = top.filter(|top| *top > 0) else {
        return html! {};
    };
    let share = |ns: u64| format!("{:.2}%", ns as f64 / top as f64 * 100.0);
    html! {
        figure .bars {
            figcaption {
                (title)
                span .quiet { " Bar: median. Tick: 99th percentile. All to one scale from zero." }
            }
            @for (name, bars) in groups {
                h4 { (name) }
                @for bar in bars {
                    div .bar {
                        span .name { (swatch(bar.colour)) (bar.label) }
                        span .track {
                            span .fill .{ "c" (bar.colour % 6) }
                                style={ "width:" (share(bar.p50_ns)) } {}
                            span .tick style={ "left:" (share(bar.p99_ns)) } {}
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

/// The colour and dash of a drive, for tables and bars.
pub fn swatch(colour: usize) -> Markup {
    html! { span .swatch .{ "c" (colour % 6) } .{ "d" (colour % 6) } aria-hidden="true" {} }
}
