//! A page per test, with the headings and plots of the specification in its order.
//! Three-dimensional plots are drawn as lines by mix, with their numbers in a table.

use super::demand::{DEMANDS, last_round};
use super::load::size_name;
use super::parts::{chart, grouped, header, histograms, steady};
use super::result::{SniaPoint, SniaTest, SniaTestResult, Suite};
use super::stimulus::groups;
use maud::{Markup, html};
use ssdlab_view::chart::ChartAxis::{self, Rounds, Writes};
use ssdlab_view::chart::{ChartUnit, Charts};
use ssdlab_view::page::page as whole_page;
use ssdlab_view::{parts, units};

/// The page of one test of the suite.
pub fn page(suite: &Suite, tested: &SniaTestResult) -> String {
    let mut charts = Charts::default();
    let setup = setup(tested);
    let body = html! {
        (header(suite, tested, &setup))
        (sections(suite, tested, &mut charts))
        section {
            h2 { "What the figures rest on" }
            (parts::list(&suite.rests_on))
        }
    };
    let title = format!("SNIA PTS {} on {}", tested.test.title(), suite.facts.name);
    whole_page(&title, body, &charts)
}

fn setup(tested: &SniaTestResult) -> Vec<(&'static str, String)> {
    let (independent, dependent) = match tested.test {
        SniaTest::Iops | SniaTest::Throughput | SniaTest::Latency => {
            ("2 x capacity, SEQ 128K writes", "the test loop itself")
        }
        SniaTest::WriteSaturation => ("none", "none"),
        SniaTest::HostIdleRecovery => ("none", "RND 4K writes, rounds of 30 minutes"),
        SniaTest::CrossStimulusRecovery => ("none", "none"),
        SniaTest::Composite | SniaTest::DemandIntensity => {
            ("none", "RND writes T32 Q32, rounds of 30 minutes")
        }
    };
    let rounds = tested.rows.iter().map(|row| row.round).max().unwrap_or(0);
    vec![
        ("PC 1 (WIPC)", independent.to_owned()),
        ("PC 2 (WDPC)", dependent.to_owned()),
        ("Rounds or samples", rounds.to_string()),
        ("Points measured", units::count(tested.rows.len() as u64)),
    ]
}

fn sections(suite: &Suite, tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    match tested.test {
        SniaTest::Iops => iops(tested, charts),
        SniaTest::Throughput => throughput(tested, charts),
        SniaTest::Latency => latency(tested, charts),
        SniaTest::WriteSaturation => saturation(suite, tested, charts),
        SniaTest::HostIdleRecovery => idle(tested, charts),
        SniaTest::CrossStimulusRecovery => stimulus(tested, charts),
        SniaTest::Composite | SniaTest::DemandIntensity => demand(tested, charts),
    }
}

/// Name of a row's command size.
fn size(row: &SniaPoint) -> String {
    row.block_bytes
        .map_or_else(|| "composite".into(), size_name)
}

fn mix(row: &SniaPoint) -> String {
    format!("R/W {}/{}", row.read_pct, 100 - row.read_pct)
}

fn block(row: &SniaPoint) -> f64 {
    f64::from(row.block_bytes.unwrap_or(4096)).log2()
}

fn of<'a>(
    tested: &'a SniaTestResult,
    part: &'a str,
) -> impl Iterator<Item = &'a SniaPoint> + Clone {
    tested.rows.iter().filter(move |row| row.part == part)
}

/// Means of the rows over the steady-state window, or over the last five rounds: one row per load.
fn window_means(tested: &SniaTestResult, part: &str) -> Vec<SniaPoint> {
    let last = of(tested, part).map(|row| row.round).max().unwrap_or(0);
    let mut all: Vec<(SniaPoint, f64)> = Vec::new();
    for row in of(tested, part).filter(|row| row.round + 5 > last) {
        let same = |(known, _): &&mut (SniaPoint, f64)| {
            (
                known.threads,
                known.depth,
                known.read_pct,
                known.block_bytes,
            ) == (row.threads, row.depth, row.read_pct, row.block_bytes)
        };
        match all.iter_mut().find(same) {
            None => all.push((row.clone(), 1.0)),
            Some((sum, count)) => {
                *count += 1.0;
                sum.iops += row.iops;
                sum.bytes_per_second += row.bytes_per_second;
                sum.mean_ns += row.mean_ns;
                sum.p99999_ns = sum.p99999_ns.max(row.p99999_ns);
                sum.max_ns = sum.max_ns.max(row.max_ns);
            }
        }
    }
    let mean = |(mut row, count): (SniaPoint, f64)| {
        row.iops /= count;
        row.bytes_per_second /= count;
        row.mean_ns /= count;
        row
    };
    all.into_iter().map(mean).collect()
}

/// A table of command sizes down and mixes across.
fn matrix(rows: &[SniaPoint], value: fn(&SniaPoint) -> String) -> Markup {
    let mut mixes: Vec<u8> = rows.iter().map(|row| row.read_pct).collect();
    mixes.dedup();
    mixes.sort_unstable_by(|a, b| b.cmp(a));
    mixes.dedup();
    let mut sizes: Vec<Option<u32>> = rows.iter().map(|row| row.block_bytes).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let head = std::iter::once(html! { "Block size" })
        .chain(mixes.iter().map(|mix| html! { (mix) "/" (100 - mix) }));
    let line = |bytes: &Option<u32>| {
        let cell = |mix: &u8| {
            let found = rows
                .iter()
                .find(|r| r.block_bytes == *bytes && r.read_pct == *mix);
            parts::unbroken(&found.map(value).unwrap_or_default())
        };
        let name = html! { (bytes.map_or_else(|| "composite".into(), size_name)) };
        std::iter::once(name)
            .chain(mixes.iter().map(cell))
            .collect()
    };
    let lines: Vec<Vec<Markup>> = sizes.iter().map(line).collect();
    parts::table(&head.collect::<Vec<_>>(), &lines)
}

fn iops(tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let round = |row: &SniaPoint| row.round as f64;
    let writes = of(tested, "round").filter(|row| row.read_pct == 0);
    let convergence = grouped(writes, size, round, |row| row.iops);
    let means = window_means(tested, "round");
    let by_size = grouped(means.iter(), mix, block, |row| row.iops);
    let title = "Steady State Convergence Plot - write IOPS, all block sizes";
    let two = "IOPS by block size - 2D plot, every R/W mix";
    html! {
        section {
            h2 { "Steady State Convergence" }
            (chart(charts, title, ChartUnit::Rate, Rounds, convergence))
        }
        (steady(&tested.tracked, charts))
        section {
            h2 { "IOPS - Averages over the Measurement Window, Tabular" }
            (matrix(&means, |row| units::rate(row.iops)))
        }
        section {
            h2 { "IOPS - Block Size and R/W Mix" }
            (chart(charts, two, ChartUnit::Rate, ChartAxis::Block, by_size))
        }
    }
}

fn throughput(tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let round = |row: &SniaPoint| row.round as f64;
    let name = |row: &SniaPoint| format!("{} {}", size(row), mix(row));
    let all = grouped(tested.rows.iter(), name, round, |r| r.bytes_per_second);
    let title = "Steady State Convergence Plot - reads and writes";
    let mut means = window_means(tested, "round-1024k");
    means.extend(window_means(tested, "round-128k"));
    html! {
        section {
            h2 { "Steady State Convergence" }
            (chart(charts, title, ChartUnit::Throughput, Rounds, all))
        }
        (steady(&tested.tracked, charts))
        section {
            h2 { "Throughput - Averages over the Measurement Window, Tabular" }
            (matrix(&means, |row| units::throughput(row.bytes_per_second)))
        }
    }
}

fn latency(tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let round = |row: &SniaPoint| row.round as f64;
    let writes = of(tested, "round").filter(|row| row.read_pct == 0);
    let mean = grouped(writes.clone(), size, round, |row| row.mean_ns);
    let longest = grouped(writes, size, round, |row| row.max_ns as f64);
    let means = window_means(tested, "round");
    let by_mean = grouped(means.iter(), mix, block, |row| row.mean_ns);
    let by_max = grouped(means.iter(), mix, block, |row| row.max_ns as f64);
    html! {
        section {
            h2 { "Steady State Convergence" }
            (chart(charts, "Average response time of writes", ChartUnit::Time, Rounds, mean))
            (chart(charts, "Maximum response time of writes", ChartUnit::Time, Rounds, longest))
        }
        (steady(&tested.tracked, charts))
        section {
            h2 { "Latency - Averages over the Measurement Window, Tabular" }
            h3 { "Average response time (ART)" }
            (matrix(&means, |row| units::time_mean(row.mean_ns)))
            h3 { "99.999 % response time, the largest of the rounds" }
            (matrix(&means, |row| units::time(row.p99999_ns)))
            h3 { "Maximum response time (MRT)" }
            (matrix(&means, |row| units::time(row.max_ns)))
        }
        section {
            h2 { "Latency - Block Size and R/W Mix" }
            (chart(charts, "Average response time", ChartUnit::Time, ChartAxis::Block, by_mean))
            (chart(charts, "Maximum response time", ChartUnit::Time, ChartAxis::Block, by_max))
        }
        (histograms(&tested.histograms))
    }
}

fn saturation(suite: &Suite, tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let minute = |row: &SniaPoint| row.round as f64;
    let name = |row: &SniaPoint| format!("{} {}", size(row), mix(row));
    let rows = || tested.rows.iter();
    let by_time = grouped(rows(), name, minute, |row| row.iops);
    let capacity = suite.facts.capacity as f64;
    let mut written = 0.0;
    let mut by_bytes = Vec::new();
    for row in rows() {
        written += row.bytes as f64;
        by_bytes.push((written / capacity, row.iops));
    }
    let latency = vec![
        (
            "average".to_owned(),
            rows().map(|r| (minute(r), r.mean_ns)).collect(),
        ),
        (
            "maximum".to_owned(),
            rows().map(|r| (minute(r), r.max_ns as f64)).collect(),
        ),
    ];
    let by_bytes = vec![("RND 4K writes".to_owned(), by_bytes)];
    html! {
        section {
            h2 { "Write Saturation - IOPS over Time" }
            (chart(charts, "IOPS by minute", ChartUnit::Rate, Rounds, by_time))
        }
        section {
            h2 { "Write Saturation - IOPS over Total Bytes Written (TGBW)" }
            (chart(charts, "IOPS by capacities written", ChartUnit::Rate, Writes, by_bytes))
        }
        section {
            h2 { "Write Saturation - Response Time over Time" }
            (chart(charts, "Response time by minute", ChartUnit::Time, Rounds, latency))
        }
        (steady(&tested.tracked, charts))
    }
}

fn idle(tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let round = |row: &SniaPoint| row.round as f64;
    let first = of(tested, "precondition");
    let before = grouped(first, |_| "RND 4K writes".into(), round, |row| row.iops);
    let wait = |row: &&SniaPoint| row.part.starts_with("wait-");
    let waits = tested.rows.iter().filter(wait);
    let baselines = tested
        .rows
        .iter()
        .filter(|row| row.part.starts_with("baseline"));
    let name = |row: &SniaPoint| row.part.clone();
    let after = grouped(waits, name, round, |row| row.iops);
    let base = grouped(baselines, name, round, |row| row.iops);
    let mean = |points: &[(f64, f64)]| {
        points.iter().map(|(_, y)| y).sum::<f64>() / points.len().max(1) as f64
    };
    let rows: Vec<Vec<Markup>> = after
        .iter()
        .zip(&base)
        .map(|((name, waits), (_, base))| {
            let (with, without) = (mean(waits), mean(base));
            let ratio = units::ratio(with / without.max(f64::MIN_POSITIVE));
            let cells = [units::rate(with), units::rate(without), ratio];
            std::iter::once(html! { (name) })
                .chain(cells.iter().map(|text| parts::unbroken(text)))
                .collect()
        })
        .collect();
    let head = [
        "Wait state",
        "IOPS after waits",
        "Baseline after it",
        "Ratio",
    ];
    let title = "IOPS of each 5 s of writes, by wait state";
    html! {
        section {
            h2 { "Pre-conditioning - IOPS by Round" }
            (chart(charts, "Rounds of 30 minutes", ChartUnit::Rate, Rounds, before))
        }
        (steady(&tested.tracked, charts))
        section {
            h2 { "Host Idle Recovery - IOPS over Time, All Wait States" }
            (chart(charts, title, ChartUnit::Rate, Rounds, after))
            (chart(charts, "Baseline: the same without waits", ChartUnit::Rate, Rounds, base))
            (parts::table(&parts::heads(&head), &rows))
        }
    }
}

fn stimulus(tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let mut from = 0.0;
    let mut rate = Vec::new();
    let (mut mean, mut longest) = (Vec::new(), Vec::new());
    let mut table = Vec::new();
    for (part, load) in groups() {
        let rows: Vec<&SniaPoint> = of(tested, part).collect();
        let at = |row: &SniaPoint| from + row.round as f64;
        rate.push((
            load.what(),
            rows.iter().map(|r| (at(r), r.bytes_per_second)).collect(),
        ));
        mean.extend(rows.iter().map(|r| (at(r), r.mean_ns)));
        longest.extend(rows.iter().map(|r| (at(r), r.max_ns as f64)));
        from += rows.len() as f64;
        let rates = rows.iter().map(|row| row.bytes_per_second);
        let average = rates.clone().sum::<f64>() / rows.len().max(1) as f64;
        let lowest = rates.fold(f64::INFINITY, f64::min);
        let first = rows.first().map_or(f64::NAN, |row| row.bytes_per_second);
        let cells = [first, lowest, average].map(units::throughput);
        table.push(
            std::iter::once(html! { (part) })
                .chain(cells.iter().map(|text| parts::unbroken(text)))
                .collect::<Vec<Markup>>(),
        );
    }
    let times = vec![
        ("average".to_owned(), mean),
        ("maximum".to_owned(), longest),
    ];
    let head = ["Group", "First sample", "Lowest", "Average"];
    html! {
        section {
            h2 { "Cross Stimulus Recovery - Throughput over Time" }
            (chart(charts, "Throughput by sample", ChartUnit::Throughput, Rounds, rate))
        }
        section {
            h2 { "Cross Stimulus Recovery - Response Time over Time" }
            (chart(charts, "Average and maximum", ChartUnit::Time, Rounds, times))
        }
        section {
            h2 { "Cross Stimulus Recovery - Recovery" }
            (parts::table(&parts::heads(&head), &table))
        }
    }
}

fn demand(tested: &SniaTestResult, charts: &mut Charts) -> Markup {
    let round = |row: &SniaPoint| row.round as f64;
    let name = |_: &SniaPoint| "RND writes T32 Q32".to_owned();
    let before = grouped(of(tested, "precondition"), name, round, |row| row.iops);
    let last = last_round(&tested.rows);
    let threads = |row: &SniaPoint| format!("T{}", row.threads);
    let depth = |row: &SniaPoint| f64::from(row.depth).log2();
    let total = |row: &SniaPoint| f64::from(row.outstanding()).log2();
    let variation = grouped(last.iter(), threads, depth, |row| row.iops);
    let rising = rising(&last);
    let intensity = grouped(rising, threads, |row| row.iops, |row| row.mean_ns);
    let outstanding = grouped(last.iter(), threads, total, |row| row.iops);
    let title = "IOPS by queue depth, a line per number of threads";
    let second = "Average response time by IOPS, each number of threads up to its most IOPS";
    let third = "IOPS by commands outstanding, a line per number of threads";
    html! {
        section {
            h2 { "Pre-conditioning - IOPS by Round" }
            (chart(charts, "Rounds of 30 minutes", ChartUnit::Rate, Rounds, before))
        }
        (steady(&tested.tracked, charts))
        section {
            h2 { "Demand Variation" }
            (chart(charts, title, ChartUnit::Rate, ChartAxis::Depth, variation))
            h3 { "IOPS" }
            (demands(&last, |row| units::rate(row.iops)))
            h3 { "Average response time (ART)" }
            (demands(&last, |row| units::time_mean(row.mean_ns)))
        }
        section {
            h2 { "Demand Intensity" }
            (chart(charts, second, ChartUnit::Time, ChartAxis::Rate, intensity))
        }
        section {
            h2 { "Demand Variation - IOPS by Outstanding I/O" }
            (chart(charts, third, ChartUnit::Rate, ChartAxis::Depth, outstanding))
        }
        (histograms(&tested.histograms))
    }
}

/// The rows of each number of threads, by depth, as long as IOPS rise with it: beyond the most IOPS
/// a line would turn back on itself. The tables have all rows.
fn rising(rows: &[SniaPoint]) -> impl Iterator<Item = &SniaPoint> {
    let mut sorted: Vec<&SniaPoint> = rows.iter().collect();
    sorted.sort_by_key(|row| (std::cmp::Reverse(row.threads), row.depth));
    let mut most: Option<(u32, f64)> = None;
    sorted.into_iter().filter(move |row| {
        let above = most.is_none_or(|(threads, iops)| threads != row.threads || iops < row.iops);
        if above {
            most = Some((row.threads, row.iops));
        }
        above
    })
}

/// A table of threads down and depths across.
fn demands(rows: &[SniaPoint], value: fn(&SniaPoint) -> String) -> Markup {
    let head = std::iter::once(html! { "Threads" })
        .chain(DEMANDS.iter().map(|depth| html! { "Q" (depth) }));
    let line = |threads: &u32| {
        let cell = |depth: &u32| {
            let same = |row: &&SniaPoint| (row.threads, row.depth) == (*threads, *depth);
            parts::unbroken(&rows.iter().find(same).map(value).unwrap_or_default())
        };
        std::iter::once(html! { "T" (threads) })
            .chain(DEMANDS.iter().map(cell))
            .collect()
    };
    let lines: Vec<Vec<Markup>> = DEMANDS.iter().map(line).collect();
    parts::table(&head.collect::<Vec<_>>(), &lines)
}
