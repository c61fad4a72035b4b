//! Points in a plane as SVG: no script, scales with the page, prints.

use maud::{Markup, html};

/// Size of the drawing, in its own units.
const WIDTH: f64 = 540.0;
const HEIGHT: f64 = 340.0;
/// Room for labels at the left, right, top and bottom.
const MARGIN: (f64, f64, f64, f64) = (52.0, 14.0, 10.0, 42.0);
/// Where a logarithmic axis may have ticks.
const TICKS: [f64; 15] = [
    1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0,
];

/// One point. The kind says which colour and shape it has.
pub(super) struct ScatterPoint {
    pub x: f64,
    pub y: f64,
    /// Half the length of its upright bar, in units of y.
    pub bar: f64,
    pub kind: usize,
    /// Drawn larger, and in the colour of a failure.
    pub alarm: bool,
    /// Shown when pointed at.
    pub text: String,
}

/// How y is drawn.
pub(super) enum ScatterY {
    /// Logarithmic like x and over the same range, with the diagonal.
    SameAsX,
    /// Linear in per cent, as far up as down; dashed lines at plus and minus these.
    PerCent(Vec<f64>),
}

/// An axis: from where to where in the data, and in the drawing.
struct ScatterAxis {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    log: bool,
}

impl ScatterAxis {
    fn at(&self, value: f64) -> f64 {
        let f = |v: f64| if self.log { v.ln() } else { v };
        let share = (f(value) - f(self.low)) / (f(self.high) - f(self.low));
        self.from + share.clamp(-0.02, 1.02) * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        if self.log {
            let inside = |t: &f64| (self.low..=self.high).contains(t);
            let inside_ticks: Vec<f64> = TICKS.into_iter().filter(inside).collect();
            // Labels need some room.
            let apart = |t: &f64| inside_ticks.len() <= 9 || ![1.2, 2.5, 4.0, 7.0].contains(t);
            let ticks = inside_ticks.iter().copied().filter(apart);
            return ticks.map(|t| (t, t.to_string())).collect();
        }
        let step = nice_step(self.high / 2.5);
        let count = (self.high / step).floor() as i32;
        let text = |v: f64| {
            if v == 0.0 {
                "0".into()
            } else {
                format!("{v:+.3}")
            }
        };
        let tick = |i: i32| (f64::from(i) * step, trimmed(&text(f64::from(i) * step)));
        (-count..=count).map(tick).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `size`.
fn nice_step(size: f64) -> f64 {
    let power = 10_f64.powf(size.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0];
    power
        * steps
            .into_iter()
            .find(|s| s * power >= size)
            .unwrap_or(10.0)
}

/// Without the zeros at the end.
fn trimmed(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

/// Draws `points`; nothing when none has a finite, positive x.
pub(super) fn scatter(
    title: &str,
    labels: (&str, &str),
    y: &ScatterY,
    points: &[ScatterPoint],
) -> Markup {
    let drawn: Vec<&ScatterPoint> = points
        .iter()
        .filter(|p| p.x.is_finite() && p.x > 0.0 && p.y.is_finite() && p.bar.is_finite())
        .collect();
    if drawn.is_empty() {
        return html! {};
    }
    let (across, up) = axes(y, &drawn);
    html! {
        figure .scatter {
            figcaption { (title) }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title) {
                (grid(&across, &up))
                (guides(y, &across, &up))
                text .label x=(px(f64::midpoint(across.from, across.to))) y=(px(HEIGHT - 6.0))
                    text-anchor="middle" { (labels.0) }
                text .label x="12" y=(px(f64::midpoint(up.from, up.to))) text-anchor="middle"
                    transform={ "rotate(-90 12 " (px(f64::midpoint(up.from, up.to))) ")" } {
                    (labels.1)
                }
                @for point in drawn { (mark(point, &across, &up)) }
            }
        }
    }
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn axes(y: &ScatterY, points: &[&ScatterPoint]) -> (ScatterAxis, ScatterAxis) {
    let (left, right, top, bottom) = MARGIN;
    let largest =
        |f: &dyn Fn(&ScatterPoint) -> f64| points.iter().map(|p| f(p)).fold(0.0, f64::max);
    let same_axes = matches!(y, ScatterY::SameAsX);
    let least = |p: &&ScatterPoint| if same_axes { p.x.min(p.y) } else { p.x };
    let smallest = points.iter().map(least).fold(f64::INFINITY, f64::min);
    let high = largest(&|p| if same_axes { p.x.max(p.y) } else { p.x });
    let across = ScatterAxis {
        low: (smallest * 0.92).min(high / 1.3),
        high: high * 1.08,
        from: left,
        to: WIDTH - right,
        log: true,
    };
    let (from, to) = (HEIGHT - bottom, top);
    let up = match y {
        ScatterY::SameAsX => ScatterAxis { from, to, ..across },
        ScatterY::PerCent(lines) => {
            let lines = lines.iter().copied().fold(0.05, f64::max);
            let high = largest(&|p| p.y.abs() + p.bar).max(lines) * 1.15;
            ScatterAxis {
                low: -high,
                high,
                from,
                to,
                log: false,
            }
        }
    };
    (across, up)
}

fn grid(across: &ScatterAxis, up: &ScatterAxis) -> Markup {
    let (x0, x1) = (px(across.from), px(across.to));
    let (y0, y1) = (px(up.from), px(up.to));
    html! {
        @for (value, text) in across.ticks() {
            @let x = px(across.at(value));
            line .grid x1=(x) x2=(x) y1=(y0) y2=(y1) {}
            text x=(x) y=(px(up.from + 16.0)) text-anchor="middle" { (text) }
        }
        @for (value, text) in up.ticks() {
            @let y = up.at(value);
            line .grid x1=(x0) x2=(x1) y1=(px(y)) y2=(px(y)) {}
            text x=(px(across.from - 6.0)) y=(px(y + 4.0)) text-anchor="end" { (text) }
        }
        path .axis d={ "M" (x0) " " (y1) "V" (y0) "H" (x1) } {}
    }
}

/// Where points should lie.
fn guides(y: &ScatterY, across: &ScatterAxis, up: &ScatterAxis) -> Markup {
    let (x0, x1) = (px(across.from), px(across.to));
    html! {
        @match y {
            ScatterY::SameAsX => {
                line .axis x1=(x0) y1=(px(up.from)) x2=(x1) y2=(px(up.to)) {}
            }
            ScatterY::PerCent(lines) => {
                line .axis x1=(x0) x2=(x1) y1=(px(up.at(0.0))) y2=(px(up.at(0.0))) {}
                @for value in lines.iter().flat_map(|v| [*v, -v]) {
                    line .limit x1=(x0) x2=(x1) y1=(px(up.at(value))) y2=(px(up.at(value))) {}
                }
            }
        }
    }
}

fn mark(point: &ScatterPoint, across: &ScatterAxis, up: &ScatterAxis) -> Markup {
    let (x, y) = (across.at(point.x), up.at(point.y));
    let (top, bottom) = (up.at(point.y + point.bar), up.at(point.y - point.bar));
    let size = if point.alarm { 6.0 } else { 3.6 };
    html! {
        g .{ "c" (point.kind % 6) } .alarm[point.alarm] {
            title { (point.text) }
            @if point.bar > 0.0 {
                line .bar-ci x1=(px(x)) x2=(px(x)) y1=(px(top)) y2=(px(bottom)) {}
            }
            path .mark d=(shape(point.kind, x, y, size)) {}
        }
    }
}

/// A shape of its own for each of six kinds: colour is not all that tells them apart.
fn shape(kind: usize, x: f64, y: f64, s: f64) -> String {
    let corners: &[(f64, f64)] = match kind % 6 {
        0 => {
            let (left, d) = (px(x - s), 2.0 * s);
            let y = px(y);
            return format!("M{left} {y}a{s} {s} 0 1 0 {d} 0a{s} {s} 0 1 0 -{d} 0Z");
        }
        1 => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        2 => &[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        3 => &[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)],
        4 => &[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        _ => &[(-1.4, -0.5), (1.4, -0.5), (1.4, 0.5), (-1.4, 0.5)],
    };
    let point = |(dx, dy): &(f64, f64)| format!("{} {}", px(x + dx * s), px(y + dy * s));
    let path: Vec<String> = corners.iter().map(point).collect();
    format!("M{}Z", path.join("L"))
}

/// What the colours and shapes of `all` kinds mean, those that are `used`.
pub(super) fn legend(names: &[&str], used: &[&str]) -> Markup {
    html! {
        p .scatter-legend {
            @for (i, name) in names.iter().enumerate().filter(|(_, name)| used.contains(name)) {
                span .{ "c" (i % 6) } {
                    svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" {
                        path .mark d=(shape(i, 7.0, 7.0, 4.5)) {}
                    }
                    (name)
                }
            }
        }
    }
}

/// The style of all this.
pub(super) const STYLE: &str = "\
.scatter svg { display: block; width: 100%; height: auto; }
.scatter text { fill: var(--quiet); font-size: 12px; }
.scatter .label { fill: var(--ink); }
.scatter .grid { stroke: var(--grid); stroke-width: 1; }
.scatter .axis { stroke: var(--quiet); stroke-width: 1; fill: none; }
.scatter .limit { stroke: var(--unknown); stroke-dasharray: 5 4; stroke-width: 1.2; }
.mark { fill: var(--c); stroke: var(--page); stroke-width: 0.6; }
.bar-ci { stroke: var(--c); stroke-width: 1; opacity: 0.55; }
.scatter .alarm .mark { fill: var(--fail); stroke: var(--ink); stroke-width: 1.5; }
.scatter-legend { display: flex; flex-wrap: wrap; gap: 2px 18px; font-size: 13px; }
.theory td, .theory th { white-space: nowrap; padding-right: 14px; }
.scatter-legend span { display: inline-flex; align-items: center; gap: 5px; }
";
