//! The page of a simulated life.

use crate::simulate::result::{Simulation, SuperblockErases};
use crate::simulate::sample::LifeSample;
use crate::simulate::summary;
use maud::{Markup, PreEscaped, html};
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartMark, ChartUnit, Charts};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::page::page;
use ssdlab_view::{parts, units};

/// The page of a simulated life.
pub fn simulation_page(simulation: &Simulation, samples: &[LifeSample]) -> String {
    let mut charts = Charts::default();
    let body = body(simulation, samples, &mut charts);
    let name = &simulation.drive.name;
    page(&format!("{name}: {}", simulation.load), body, &charts)
}

/// The style of what only this page has.
const STYLE: &str = "\
.histogram svg { display: block; width: 100%; height: auto; }
.histogram text { fill: var(--quiet); font-size: 11px; }
.histogram rect { fill: var(--c0); }
.histogram .axis { stroke: var(--quiet); stroke-width: 1; }
.wear { display: grid; grid-template-columns: repeat(auto-fill, minmax(11px, 1fr)); gap: 1px; }
.wear i { height: 11px; background: var(--c1); border-radius: 1px;
  print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.shares .bar { grid-template-columns: 110px 1fr 240px; }
.lead { font-size: 17px; }
";

fn body(s: &Simulation, samples: &[LifeSample], charts: &mut Charts) -> Markup {
    html! {
        style { (PreEscaped(STYLE)) }
        (header(s))
        (over_life(s, samples, charts))
        (inside(s))
        (latencies(s))
        (drive(s))
    }
}

fn header(s: &Simulation) -> Markup {
    let failures = s.failures();
    html! {
        header .answer .fail[!failures.is_empty()] {
            p .kicker { (s.drive.name) span .quiet { " - ssdlab simulate, " (s.gear) " gear" } }
            h1 { "WAF " (summary::waf(s.waf_last_quarter.or(s.waf)))
                @if let Some(iops) = s.iops_last_quarter.or(s.iops) {
                    ", " (units::rate(iops)) " IOPS"
                }
                " under " (s.load) " load"
            }
            p .lead { (summary::extent(s)) "." }
            p .quiet {
                (summary::load_text(s)) ". The headline is of the last quarter of the load; over \
                 all of it WAF is " (summary::waf(s.waf))
                @if let Some(iops) = s.iops { ", IOPS " (units::rate(iops)) }
                "."
            }
            @if s.stopped { p .alarm { "Stopped early; what was measured stands." } }
            @for failure in &failures { p .alarm { "✗ Self-check failed: " (failure) } }
        }
    }
}

/// Share of the drive over whose writes WAF is averaged in its chart.
const WAF_WINDOW: f64 = 0.125;

/// A line's name, and its value at a sample.
type SampleCurve<'a> = (&'a str, &'a dyn Fn(&LifeSample) -> Option<f64>);

/// One chart over host bytes written or over time.
struct LifeChart<'a> {
    samples: &'a [LifeSample],
    user_bytes: f64,
    /// x where the load begins.
    load_begins: Option<f64>,
    axis: ChartAxis,
}

impl<'a> LifeChart<'a> {
    /// Over time the load is alone: the fill's large commands would set every scale.
    fn new(s: &Simulation, samples: &'a [LifeSample], axis: ChartAxis) -> LifeChart<'a> {
        let fill_count = samples.iter().take_while(|s| s.phase == "fill").count();
        let samples = match axis {
            ChartAxis::Time => &samples[fill_count..],
            _ => samples,
        };
        let mut over = LifeChart {
            samples,
            user_bytes: s.drive.user_bytes as f64,
            load_begins: None,
            axis,
        };
        let fill = samples.iter().rev().find(|sample| sample.phase == "fill");
        over.load_begins = fill.map(|sample| over.x(sample));
        over
    }

    fn x(&self, sample: &LifeSample) -> f64 {
        match self.axis {
            ChartAxis::Writes => sample.host_bytes as f64 / self.user_bytes,
            _ => sample.t_s,
        }
    }

    /// WAF over the last [`WAF_WINDOW`] of the drive before each sample of the same phase: a sample
    /// of a small drive sees few superblocks being reclaimed. That of each sample is hidden.
    fn smoothed_waf(&self) -> Chart {
        let window = self.user_bytes * WAF_WINDOW;
        let mut means = Vec::new();
        for (last, sample) in self.samples.iter().enumerate() {
            let (mut host, mut nand) = (0.0, 0.0);
            for index in (0..=last).rev() {
                let part = &self.samples[index];
                if part.phase != sample.phase || host >= window {
                    break;
                }
                let before = index
                    .checked_sub(1)
                    .map_or(0, |i| self.samples[i].host_bytes);
                let bytes = part.host_bytes.saturating_sub(before) as f64;
                host += bytes;
                nand += bytes * part.waf.unwrap_or(0.0);
            }
            means.push((host > 0.0).then(|| nand / host));
        }
        let mut chart = self.chart(
            "WAF over host writes (in user capacities)",
            ChartUnit::Rate,
            &[
                ("WAF, mean of an eighth of the drive", &|_| None),
                ("each sample", &|s: &LifeSample| s.waf),
            ],
        );
        chart.lines[0].line.y = means;
        chart.lines[1].hidden = true;
        chart
    }

    fn chart(&self, title: &str, unit: ChartUnit, lines: &[SampleCurve<'_>]) -> Chart {
        let line = |(i, (label, value)): (usize, &SampleCurve<'_>)| {
            let points = self.samples.iter();
            ChartLine {
                label: (*label).to_owned(),
                colour: i,
                dash: i,
                hidden: false,
                line: ChartPoints {
                    x: points.clone().map(|sample| self.x(sample)).collect(),
                    y: points.map(value).collect(),
                },
            }
        };
        let phase = |at: f64| ChartMark::Phase { at };
        Chart {
            title: title.to_owned(),
            unit,
            axis: self.axis,
            lines: lines.iter().enumerate().map(line).collect(),
            notes: self.load_begins.map(phase).into_iter().collect(),
            group: if self.axis == ChartAxis::Writes {
                "writes"
            } else {
                "time"
            }
            .into(),
            same_scale: false,
        }
    }
}

fn over_life(s: &Simulation, samples: &[LifeSample], charts: &mut Charts) -> Markup {
    let writes = LifeChart::new(s, samples, ChartAxis::Writes);
    let time = LifeChart::new(s, samples, ChartAxis::Time);
    let waf = writes.smoothed_waf();
    let free = writes.chart(
        "Free superblocks over host writes (in user capacities)",
        ChartUnit::Rate,
        &[("free", &|s: &LifeSample| Some(s.free_superblocks as f64))],
    );
    let iops = time.chart(
        "IOPS over virtual time",
        ChartUnit::Rate,
        &[("IOPS", &|s: &LifeSample| s.iops)],
    );
    let quantile = |quantiles: Option<[u64; 3]>, i: usize| quantiles.map(|ns| ns[i] as f64);
    let write = time.chart(
        "Write latency over virtual time",
        ChartUnit::Time,
        &[
            ("p50", &|s: &LifeSample| quantile(s.write_ns, 0)),
            ("p99", &|s: &LifeSample| quantile(s.write_ns, 1)),
            ("p99.9", &|s: &LifeSample| quantile(s.write_ns, 2)),
        ],
    );
    let read = time.chart(
        "Read latency over virtual time",
        ChartUnit::Time,
        &[
            ("p50", &|s: &LifeSample| quantile(s.read_ns, 0)),
            ("p99", &|s: &LifeSample| quantile(s.read_ns, 1)),
            ("p99.9", &|s: &LifeSample| quantile(s.read_ns, 2)),
        ],
    );
    let watts = time.chart(
        "Power over virtual time",
        ChartUnit::Power,
        &[("W", &|s: &LifeSample| s.watts)],
    );
    html! {
        section {
            h2 { "Over the drive's life" }
            @if writes.load_begins.is_some() {
                p .quiet {
                    "The vertical line is where the fill ends and the load begins."
                    @if s.virtual_s.is_some() {
                        " Charts over time show the load alone; time counts from the fill's \
                         beginning."
                    }
                }
            }
            div .pair { (charts.add(waf)) (charts.add(free)) }
            @if s.virtual_s.is_some() {
                div .pair { (charts.add(iops)) (charts.add(watts)) }
                div .pair { (charts.add(write)) (charts.add(read)) }
            }
        }
    }
}

fn inside(s: &Simulation) -> Markup {
    let timed = s.work.iter().any(|w| w.busy_s.is_some());
    let rows = summary::shares(&s.work);
    html! {
        section {
            h2 { "Inside the drive" }
            figure .bars .shares {
                figcaption {
                    @if timed { "Where the NAND time went" }
                    @else { "What the NAND was programmed with" }
                    span .quiet {
                        @if timed {
                            " Busy time of dies under the load, reads and erases included."
                        } @else { " Mapping units programmed under the load." }
                    }
                }
                @for (i, (name, share, what)) in rows.iter().enumerate() {
                    div .bar {
                        span .name { (name) }
                        span .track {
                            span .fill .{ "c" (i % 6) }
                                style={ "width:" (format!("{:.2}%", share * 100.0)) } {}
                        }
                        span .value {
                            (format!("{:.1} %", share * 100.0)) span .quiet { " " (what) }
                        }
                    }
                }
            }
            div .pair {
                (histogram(&s.valid_shares))
                (wear(&s.erases))
            }
        }
    }
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// How full the superblocks that are not free are, at the end.
fn histogram(classes: &[u32]) -> Markup {
    const WIDTH: f64 = 520.0;
    const HEIGHT: f64 = 170.0;
    const LEFT: f64 = 44.0;
    const BASE: f64 = 142.0;
    const TOP: f64 = 12.0;
    let most = classes.iter().copied().max().unwrap_or(0).max(1);
    let step = (WIDTH - LEFT - 6.0) / classes.len().max(1) as f64;
    let high = |count: u32| f64::from(count) / f64::from(most) * (BASE - TOP);
    let title = "Valid share of superblocks that are not free, at the end";
    html! {
        figure .histogram {
            figcaption { (title) }
            svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" aria-label=(title) {
                @for (i, count) in classes.iter().enumerate().filter(|(_, count)| **count > 0) {
                    rect x=(px(LEFT + i as f64 * step)) width=(px(step - 1.0))
                        y=(px(BASE - high(*count))) height=(px(high(*count))) {
                        title { (count) " superblocks" }
                    }
                }
                line .axis x1=(LEFT) x2=(WIDTH - 6.0) y1=(BASE) y2=(BASE) {}
                text x=(LEFT - 6.0) y=(TOP + 4.0) text-anchor="end" {
                    (units::count(most.into()))
                }
                text x=(LEFT - 6.0) y=(BASE) text-anchor="end" { "0" }
                @for quarter in 0..=4 {
                    @let x = LEFT + (WIDTH - LEFT - 6.0) * f64::from(quarter) / 4.0;
                    @let anchor = match quarter { 0 => "start", 4 => "end", _ => "middle" };
                    text x=(x) y=(BASE + 16.0) text-anchor=(anchor) { (quarter * 25) " %" }
                }
            }
        }
    }
}

/// Erases, superblock by superblock: the darker the more.
fn wear(erases: &SuperblockErases) -> Markup {
    let (least, most) = (f64::from(erases.min), f64::from(erases.max));
    let shade = |mean: f64| {
        let share = if most > least {
            (mean - least) / (most - least)
        } else {
            0.5
        };
        format!("opacity:{:.2}", 0.08 + 0.92 * share.clamp(0.0, 1.0))
    };
    html! {
        figure {
            figcaption {
                "Erases of superblocks since the factory"
                span .quiet {
                    " Lightest: " (erases.min) ", darkest: " (erases.max) ", mean "
                    (format!("{:.1}", erases.mean)) "."
                    @if erases.per_cell > 1 { " A cell is the mean of " (erases.per_cell) "." }
                }
            }
            div .wear role="img" aria-label="Erases by superblock" {
                @for mean in &erases.map { i style=(shade(*mean)) title=(format!("{mean:.1}")) {} }
            }
        }
    }
}

fn latencies(s: &Simulation) -> Markup {
    let head = parts::heads(&[
        "Command", "Count", "Mean", "p50", "p99", "p99.9", "p99.99", "Longest",
    ]);
    let rows: Vec<Vec<Markup>> = s
        .latency
        .iter()
        .map(|l| l.cells().into_iter().map(|text| html! { (text) }).collect())
        .collect();
    html! {
        @if !rows.is_empty() {
            section { h2 { "Latency under the load" } (parts::table(&head, &rows)) }
        }
    }
}

fn drive(s: &Simulation) -> Markup {
    html! {
        section {
            h2 { "The drive" }
            p { (s.drive.title) }
            dl .facts {
                @for (name, value) in summary::drive_rows(s) { dt { (name) } dd { (value) } }
                dt { "memory of the model" } dd { (units::bytes(s.drive.memory_bytes)) }
                @if let Some([dies, channels]) = s.utilisation {
                    dt { "busy" }
                    dd {
                        (format!("dies {:.1} %, channels {:.1} %", dies * 100.0, channels * 100.0))
                        " of the drive's life"
                    }
                }
                @if let Some(watts) = s.watts { dt { "power" } dd { (format!("{watts:.2} W")) } }
            }
            details {
                summary { "Counters under the load" }
                dl .facts {
                    @for (name, count) in &s.counters {
                        dt { (name) }
                        dd { (units::count(*count)) }
                    }
                }
            }
            details {
                summary { (s.drive.rests_on.len()) " calibrated and assumed values" }
                ul { @for value in &s.drive.rests_on { li { (value.as_ref()) } } }
            }
            p .quiet {
                "Self-checks: "
                @for (i, check) in s.checks.iter().enumerate() {
                    @if i > 0 { ", " }
                    (check.name) @if check.failure.is_some() { " failed" } @else { " passed" }
                }
                "."
            }
        }
    }
}
