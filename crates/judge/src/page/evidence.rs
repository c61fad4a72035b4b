//! What was measured, drawn: the target and the modelled drives together in every chart.

use crate::qualify::{Evidence, Qualification, SustainedRun, WriteProbe, compare};
use maud::{Markup, html};
use ssdlab_bench::record::{OpSecond, Second};
use ssdlab_bench::report::series::RunTimeline;
use ssdlab_bench::report::{series, words};
use ssdlab_ssd::Op;
use ssdlab_view::bars::{LatencyBar, grouped, swatch};
use ssdlab_view::chart::{Chart, ChartAxis, ChartLine, ChartMark, ChartUnit, Charts, LINES_MAX};
use ssdlab_view::line::ChartPoints;
use ssdlab_view::{parts, units};

/// The mixed load with buffered writes and with durable ones: shown side by side.
const MIXED: [(&str, &str); 2] = [
    ("mixed_70_30_4k_qd8", "Buffered: "),
    ("mixed_70_30_4k_qd8_durable", "Written through: "),
];

pub(super) fn section(q: &Qualification, charts: &mut Charts) -> Markup {
    let drives: Vec<&Evidence> = compare::drives(q).iter().map(|d| &d.evidence).collect();
    let charted = drives[..drives.len().min(LINES_MAX)].to_vec();
    html! {
        section {
            h2 { "Evidence" }
            (parts::about_charts())
            @if drives.len() > charted.len() {
                p {
                    "The charts draw the target and the first " (charted.len() - 1) " of "
                    (drives.len() - 1) " drives beside it; the tables have all."
                }
            }
            @if q.kept.is_some() {
                p .quiet { "Charts over time draw what was measured in this run." }
            }
            h3 { "One 4 KiB write, one writer" }
            (durable_bars(&charted))
            h3 { "Flush time against dirty bytes" }
            (flush_chart(&charted, charts))
            (parts::folded("Flush times in numbers", flush_table(&drives)))
            (overwrite_chart(&charted, charts))
            (writers_charts(&charted, charts))
            (mixed_charts(&charted, charts))
            @for (name, title) in compare::sustained_names(&charted) {
                @if !(both_mixed(&charted) && MIXED.iter().any(|(m, _)| *m == name)) {
                    h3 { (title) }
                    div .stack { (over_time(&charted, &name, "", false, charts)) }
                }
            }
            h3 { "Sustained loads in numbers" }
            (sustained_table(&drives))
        }
    }
}

fn durable_bars(all: &[&Evidence]) -> Markup {
    let bar = |(colour, e): (usize, &&Evidence), method: &str| {
        let probe = compare::one_writer(e, method)?;
        Some(LatencyBar {
            label: e.facts.name.clone(),
            colour,
            p50_ns: probe.p50_ns,
            p99_ns: probe.p99_ns,
        })
    };
    let group = |(method, title): (String, String)| {
        let drives = all.iter().enumerate();
        let bars = drives.filter_map(|drive| bar(drive, &method)).collect();
        (compare::capital(&title), bars)
    };
    let groups: Vec<_> = compare::methods(all).into_iter().map(group).collect();
    grouped("Time of one write.", &groups)
}

/// A line per drive; the colour and the dash are the drive's everywhere on the page.
fn line_per_drive(all: &[&Evidence], line: impl Fn(&Evidence) -> ChartPoints) -> Vec<ChartLine> {
    let drives = all.iter().enumerate();
    drives
        .map(|(i, e)| ChartLine {
            label: e.facts.name.clone(),
            colour: i,
            dash: i,
            hidden: false,
            line: line(e),
        })
        .collect()
}

fn flush_chart(all: &[&Evidence], charts: &mut Charts) -> Markup {
    let line = |e: &Evidence| {
        let mut points: Vec<(u64, u64)> = e
            .flush_by_dirty
            .iter()
            .filter(|p| p.dirty_bytes > 0)
            .map(|p| (p.dirty_bytes, p.p50_ns))
            .collect();
        points.sort_unstable();
        ChartPoints {
            x: points.iter().map(|&(x, _)| (x as f64).log2()).collect(),
            y: points.iter().map(|&(_, y)| Some(y as f64)).collect(),
        }
    };
    charts.add(Chart {
        title: "Median time of a flush by bytes written since the last one".into(),
        unit: ChartUnit::Time,
        axis: ChartAxis::Size,
        lines: line_per_drive(all, line),
        notes: vec![],
        group: "flush".into(),
        same_scale: false,
    })
}

/// Random writes over the whole drive until nothing moves, by what was overwritten.
fn overwrite_chart(all: &[&Evidence], charts: &mut Charts) -> Markup {
    let line = |e: &Evidence| {
        let run = e.overwrite.as_ref();
        let points = run.into_iter().flat_map(|o| {
            let share = o.point_bytes as f64 / o.capacity.max(1) as f64;
            let rates = o.rates.iter().enumerate();
            rates.map(move |(i, rate)| ((i + 1) as f64 * share, Some(*rate)))
        });
        let (x, y) = points.unzip();
        ChartPoints { x, y }
    };
    let chart = Chart {
        title: "4 KiB random writes per second, 32 outstanding, by capacities overwritten".into(),
        unit: ChartUnit::Rate,
        axis: ChartAxis::Writes,
        lines: line_per_drive(all, line),
        notes: vec![],
        group: "overwrite".into(),
        same_scale: false,
    };
    let drawn = charts.add(chart);
    html! {
        @if !drawn.0.is_empty() { h3 { "Overwritten until nothing moves" } }
        (drawn)
    }
}

fn flush_table(all: &[&Evidence]) -> Markup {
    let points = all.iter().flat_map(|e| &e.flush_by_dirty);
    let mut sizes: Vec<u64> = points.map(|p| p.dirty_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.is_empty() {
        return html! { p .quiet { "Not measured." } };
    }
    let mut head = vec![html! { "Drive" }];
    head.extend(sizes.iter().map(|&size| html! { (units::bytes(size)) }));
    let cell = |e: &Evidence, size: u64| {
        let point = e.flush_by_dirty.iter().find(|p| p.dirty_bytes == size);
        let text = point.map(|p| {
            let (p50, max) = (units::time(p.p50_ns), units::time(p.max_ns));
            format!("{p50} (longest {max} of {})", p.count)
        });
        parts::cell(text.as_deref())
    };
    let row = |(i, e): (usize, &&Evidence)| {
        let label = html! { (swatch(i)) (e.facts.name) };
        let cells = sizes.iter().map(|&size| cell(e, size));
        std::iter::once(label).chain(cells).collect()
    };
    let rows: Vec<Vec<Markup>> = all.iter().enumerate().map(row).collect();
    parts::sortable(&head, &rows)
}

/// One chart per method that some drive was probed with at several numbers of writers.
fn writers_charts(all: &[&Evidence], charts: &mut Charts) -> Markup {
    let several = |method: &str| {
        let has_many = |p: &WriteProbe| p.method == method && p.writers > 1;
        all.iter().any(|e| e.probes.iter().any(has_many))
    };
    let line = |e: &Evidence, method: &str| {
        let probes = e.probes.iter().filter(|p| p.method == method);
        let mut points: Vec<(u32, f64)> = probes.map(|p| (p.writers, p.per_second)).collect();
        points.sort_by_key(|&(writers, _)| writers);
        ChartPoints {
            x: points.iter().map(|&(x, _)| f64::from(x)).collect(),
            y: points.iter().map(|&(_, y)| Some(y)).collect(),
        }
    };
    let shown = compare::methods(all)
        .into_iter()
        .filter(|(m, _)| several(m));
    let drawn: Vec<Markup> = shown
        .map(|(method, title)| {
            charts.add(Chart {
                title: format!(
                    "{} per second, by number of writers",
                    compare::capital(&title)
                ),
                unit: ChartUnit::Rate,
                axis: ChartAxis::Writers,
                lines: line_per_drive(all, |e| line(e, &method)),
                notes: vec![],
                group: "writers".into(),
                same_scale: false,
            })
        })
        .collect();
    html! {
        @if !drawn.is_empty() { h3 { "Several writers at once" } }
        div .pair { @for chart in drawn { (chart) } }
    }
}

fn both_mixed(all: &[&Evidence]) -> bool {
    let has = |name: &str| all.iter().any(|e| compare::sustained(e, name).is_some());
    MIXED.iter().all(|(name, _)| has(name))
}

fn mixed_charts(all: &[&Evidence], charts: &mut Charts) -> Markup {
    if !both_mixed(all) {
        return html! {};
    }
    html! {
        h3 { "The same mixed load, buffered and written through" }
        p .quiet { "Side by side, to one scale." }
        div .pair {
            @for (name, title) in MIXED {
                div .stack { (over_time(all, name, title, true, charts)) }
            }
        }
    }
}

/// Commands per second of one sustained load, and the latency of each kind of its commands: the
/// target's quantiles.
fn over_time(
    all: &[&Evidence],
    name: &str,
    title: &str,
    same_scale: bool,
    charts: &mut Charts,
) -> Markup {
    let runs: Vec<Option<&SustainedRun>> =
        all.iter().map(|e| compare::sustained(e, name)).collect();
    let group = if same_scale { "mixed" } else { name };
    let line = |e: &Evidence, value: &dyn Fn(&Second) -> Option<f64>| {
        let run = compare::sustained(e, name).filter(|run| run.seconds.len() > 1);
        run.map_or(ChartPoints::default(), |r| {
            RunTimeline::new(&r.seconds).line(value)
        })
    };
    let over = |title: String, unit: ChartUnit, lines: Vec<ChartLine>| Chart {
        title: compare::capital(&title),
        unit,
        axis: ChartAxis::Time,
        lines,
        notes: vec![],
        group: group.to_owned(),
        same_scale,
    };
    let rates = line_per_drive(all, |e| line(e, &series::iops_all));
    let rates = Chart {
        notes: run_notes(&runs),
        ..over(
            format!("{title}commands per second"),
            ChartUnit::Rate,
            rates,
        )
    };
    let target = all[0];
    let occurs = |op: &Op| {
        let run = compare::sustained(target, name);
        run.is_some_and(|run| run.seconds.iter().any(|s| s.ops[*op as usize].count > 0))
    };
    let quantile = |op: Op, (k, (label, pick)): (usize, (&str, EvidenceLatencyField))| {
        let latency_ns = |s: &Second| {
            let ns = series::latency(s, op, |s| pick(&s.ops[op as usize]));
            ns.filter(|ns| *ns > 0.0)
        };
        ChartLine {
            label: label.to_owned(),
            colour: k,
            dash: k,
            hidden: false,
            line: line(target, &latency_ns),
        }
    };
    let latency = |op: Op| {
        let lines = QUANTILES.into_iter().enumerate().map(|q| quantile(op, q));
        let title = format!(
            "{title}{} latency of each second, {}",
            op.name(),
            target.facts.name
        );
        over(title, ChartUnit::Time, lines.collect())
    };
    html! {
        (charts.add(rates))
        @for op in Op::ALL.into_iter().filter(occurs) { (charts.add(latency(op))) }
    }
}

type EvidenceLatencyField = fn(&OpSecond) -> u64;
const QUANTILES: [(&str, EvidenceLatencyField); 3] = [
    ("p50", |o| o.p50_ns),
    ("p99", |o| o.p99_ns),
    ("p99.9", |o| o.p999_ns),
];

fn writes(run: &SustainedRun) -> bool {
    run.seconds
        .iter()
        .any(|s| s.ops[Op::Write as usize].count > 0)
}

fn run_notes(runs: &[Option<&SustainedRun>]) -> Vec<ChartMark> {
    let mut notes = Vec::new();
    for (colour, run) in runs.iter().enumerate() {
        let Some(run) = run else { continue };
        let attained = run.steady.as_ref().filter(|s| s.attained);
        let span = attained.and_then(|s| series::steady_span(&run.seconds, s));
        notes.extend(span.map(|(from, to)| ChartMark::Steady { from, to, colour }));
        notes.extend(run.cliff.as_ref().map(|c| ChartMark::Cliff {
            at: c.at_s,
            text: format!("{} to {}", units::rate(c.before), units::rate(c.after)),
            colour,
        }));
    }
    notes
}

fn sustained_table(all: &[&Evidence]) -> Markup {
    let head = parts::heads(&[
        "Drive",
        "Load",
        "IOPS at the end",
        "Write p99",
        "Write cliff",
        "Steady state",
        "WAF",
    ]);
    let mut rows = Vec::new();
    for (name, title) in compare::sustained_names(all) {
        for (i, e) in all.iter().enumerate() {
            let Some(run) = compare::sustained(e, &name) else {
                continue;
            };
            let p99 = writes(run).then(|| units::time(run.write_p99_ns));
            let waf = run.waf.filter(|w| w.is_finite()).map(|w| format!("{w:.2}"));
            rows.push(vec![
                html! { (swatch(i)) (e.facts.name) },
                html! { (title) },
                html! { (units::rate(run.iops_end)) },
                parts::cell(p99.as_deref()),
                html! { (words::cliff(run.cliff.as_ref())) },
                html! { (words::steady(run.steady.as_ref())) },
                parts::cell(waf.as_deref()),
            ]);
        }
    }
    if rows.is_empty() {
        return html! { p .quiet { "Not measured." } };
    }
    parts::sortable(&head, &rows)
}
