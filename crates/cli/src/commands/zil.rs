//! `ssdlab zil`: the intent log of ZFS as a load.

use crate::args::TargetArgs;
use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say, wrap};
use crate::target;
use clap::Args;
use serde_json::json;
use ssdlab_base::LabError;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_bench::device::named::{Name, Opened};
use ssdlab_bench::device::open::Needs;
use ssdlab_bench::with_target;
use ssdlab_drives::rests_on::RestsOn;
use ssdlab_hosts::zil::preset::Parameter;
use ssdlab_hosts::zil::{FixedTarget, HostCounts, LogHost, Pattern, Preset, RunOptions, run};
use ssdlab_load::trace::files::whole_or_none;
use ssdlab_load::trace::write::Writer;
use ssdlab_load::trace::{Event, Format, PatternRow};
use ssdlab_ssd::Nanos;
use ssdlab_view::units;
use std::fmt::Write as _;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes and flushes of the device without a target.
const FIXED: Nanos = Nanos::from_micros(50);
/// Log device without a target: that of the slides.
const DEVICE: u64 = 4 << 30;
/// More commands than this a host never has outstanding on a real target.
const DEPTH: u32 = 64;
const BAR: usize = 40;

/// `ssdlab zil`.
#[derive(Args, Debug)]
#[command(after_help = "\
Without --target the log device takes 50 us for every write and flush: enough to
see the access pattern, which is what the published tables show. With --target
the host waits for that device: a modelled drive in virtual time, or a file or a
block device in real time (what it holds is overwritten).

Examples:
  ssdlab zil                 one writer on one dataset, code of 2010
  ssdlab zil --writers 5     five writers, each on a dataset of its own
  ssdlab zil --preset 2.1 --writers 5 --trace log.csv
  ssdlab zil --writers 5 --target drive:consumer-sata-1tb --duration 1m
  ssdlab zil --parameters    every value of the preset, with its reason")]
pub struct Zil {
    /// Age of the code, with the writers it was measured with: 2010 or 2.1.
    #[arg(long, default_value = "2010", value_name = "AGE")]
    pub preset: String,
    /// Synchronous writers, spread over the datasets.
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub writers: usize,
    /// Datasets (file systems), each with a log of its own [default: one per writer]
    #[arg(long, value_name = "N")]
    pub datasets: Option<usize>,
    /// For how long; virtual time unless the target is real.
    #[arg(long, default_value = "20s", value_name = "TIME")]
    pub duration: String,
    /// Length of an interval of the pattern.
    #[arg(long, default_value = "1s", value_name = "TIME")]
    pub interval: String,
    /// Size of the log device [default: 4GiB, or all of the target]
    #[arg(long, value_name = "SIZE")]
    pub device: Option<String>,
    /// The log device: drive:NAME, null:SIZE, a file or a block device.
    #[arg(long, value_name = "NAME")]
    pub target: Option<String>,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write every command to this file, as CSV; must not exist.
    #[arg(long, value_name = "OUT.csv")]
    pub trace: Option<PathBuf>,
    /// Print the preset's values and their reasons, and run nothing.
    #[arg(long)]
    pub parameters: bool,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// No talk on standard error.
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub target_args: TargetArgs,
}

/// A run with all that was asked for.
struct Outcome {
    device: String,
    capacity: u64,
    datasets: usize,
    found: Pattern,
    counts: HostCounts,
    rests_on: Vec<RestsOn>,
}

/// Carries out `ssdlab zil`.
///
/// # Errors
/// When the request is wrong or the target fails.
pub fn zil(args: &Zil) -> Result<Exit, Failure> {
    let preset = Preset::named(&args.preset)?;
    if args.parameters {
        parameters(preset, args.json)?;
        return Ok(Exit::Good);
    }
    let outcome = measure(args, preset)?;
    if args.json {
        print_json(&as_json(args, &outcome))?;
    } else {
        print(&as_text(args, &outcome))?;
    }
    Ok(Exit::Good)
}

fn measure(args: &Zil, preset: Preset) -> Result<Outcome, Failure> {
    let duration = positive("--duration", &args.duration)?;
    let interval = positive("--interval", &args.interval)?;
    let device = args.device.as_deref().map(parse_size).transpose()?;
    let datasets = args.datasets.unwrap_or(args.writers);
    // Wrong numbers are found before anything is opened or written.
    preset.host(args.writers, datasets, device.unwrap_or(DEVICE), args.seed)?;
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    // A second handler cannot be set; there is none before.
    let _ = ctrlc::set_handler(move || seen.store(true, Ordering::Relaxed));
    let mut log = open(args, &stop)?;
    let facts = log.as_ref().map(|target| target.facts().clone());
    let most = facts.as_ref().map_or(u64::MAX, |facts| facts.capacity);
    let capacity = device.unwrap_or(most.min(match log {
        Some(_) => u64::MAX,
        None => DEVICE,
    }));
    if capacity > most {
        return Err(too_large(capacity, most).into());
    }
    let mut host = LogHost::new(preset.host(args.writers, datasets, capacity, args.seed)?);
    let mut trace = args.trace.as_deref().map(create).transpose()?;
    let options = RunOptions {
        duration,
        interval,
        stop: &stop,
    };
    let mut events: Vec<Event> = Vec::new();
    let keep = trace.is_some();
    let mut sink = |event: &Event| {
        if keep {
            events.push(*event);
        }
        Ok(())
    };
    let found = match &mut log {
        Some(target) => with_target!(target, it => run(&mut host, &mut **it, &options, &mut sink))?,
        None => {
            let mut fixed = FixedTarget::new(capacity, FIXED, FIXED);
            run(&mut host, &mut fixed, &options, &mut sink)?
        }
    };
    if let (Some(writer), Some(to)) = (trace.take(), &args.trace) {
        whole_or_none(to, write_trace(writer, events))?;
    }
    if found.interrupted {
        say(
            args.quiet,
            "interrupted: what follows is what was measured until then",
        );
    }
    Ok(Outcome {
        device: facts.map_or_else(|| String::from("fixed, 50 us"), |facts| facts.name),
        capacity,
        datasets,
        found,
        counts: host.counts().clone(),
        rests_on: log
            .map(|target| target.rests_on().to_vec())
            .unwrap_or_default(),
    })
}

fn positive(option: &str, text: &str) -> Result<Nanos, LabError> {
    let time = parse_duration(text)?;
    if time == Nanos::ZERO {
        return Err(LabError::refused(
            format!("{option} {text}: some time is needed"),
            "try 20s",
        ));
    }
    Ok(time)
}

fn too_large(capacity: u64, most: u64) -> LabError {
    LabError::refused(
        format!("a log device of {capacity} bytes on a target of {most}"),
        "choose a smaller --device, or leave it out to use all",
    )
}

fn open(args: &Zil, stop: &AtomicBool) -> Result<Option<Opened>, LabError> {
    let Some(name) = args.target.as_deref() else {
        return Ok(None);
    };
    let needs = Needs {
        depth: DEPTH,
        read_bytes: 0,
        write_bytes: 128 << 10,
        changes: true,
        data_only: false,
        refill: false,
        direct: true,
        granule: 4096,
        extent: args.device.as_deref().map(parse_size).transpose()?,
    };
    let mut target_args = args.target_args.clone();
    // A file that is made for this is as large as the log device.
    if target_args.size.is_none() {
        target_args.size.clone_from(&args.device);
    }
    target::open(&Name::parse(name)?, &target_args, &needs, args.quiet, stop).map(Some)
}

fn create(path: &std::path::Path) -> Result<Writer<BufWriter<File>>, LabError> {
    let file = File::create_new(path).map_err(|error| LabError::file("creating", path, error))?;
    Writer::new(Format::Csv, BufWriter::new(file))
}

fn write_trace(mut out: Writer<BufWriter<File>>, mut events: Vec<Event>) -> Result<(), LabError> {
    events.sort_by_key(|event| event.issued_ns);
    for event in &events {
        out.event(event)?;
    }
    out.finish().map(|_| ())
}

fn parameters(preset: Preset, json: bool) -> Result<(), Failure> {
    if json {
        let row =
            |p: &Parameter| json!({"name": p.name, "value": p.value, "kind": p.kind, "why": p.why});
        let rows: Vec<_> = preset.parameters().iter().map(row).collect();
        return print_json(&json!({"preset": preset.name(), "parameters": rows}));
    }
    for p in preset.parameters() {
        print(&format!("{} = {}  [{}]", p.name, p.value, p.kind))?;
        for line in wrap(p.why, 74) {
            print(&format!("      {line}"))?;
        }
    }
    Ok(())
}

/// The latency that `per_mille` of the writes were at most.
fn quantile(sorted: &[Nanos], per_mille: usize) -> u64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * per_mille / 1000).map_or(0, |t| t.0)
}

const QUANTILES: [(&str, usize); 5] = [
    ("50%", 500),
    ("90%", 900),
    ("99%", 990),
    ("99.9%", 999),
    ("max", 1000),
];

fn as_json(args: &Zil, outcome: &Outcome) -> serde_json::Value {
    let Outcome { found, counts, .. } = outcome;
    let mut sorted = counts.latencies.clone();
    sorted.sort_unstable();
    let latency: serde_json::Map<_, _> = QUANTILES
        .iter()
        .map(|(name, at)| ((*name).to_owned(), json!(quantile(&sorted, *at))))
        .collect();
    let rows: Vec<_> = found.rows.iter().map(row_json).collect();
    json!({
        "preset": args.preset,
        "writers": args.writers,
        "datasets": outcome.datasets,
        "seed": args.seed,
        "device": outcome.device,
        "device_bytes": outcome.capacity,
        "elapsed_ns": found.elapsed.0,
        "interrupted": found.interrupted,
        "sync_writes": counts.writes,
        "sync_bytes": counts.bytes,
        "sync_latency_ns": latency,
        "log_blocks": counts.blocks,
        "flushes": counts.flushes,
        "groups": counts.groups,
        "log_full": counts.full,
        "pattern": rows,
        "pattern_total": row_json(&found.total),
        "seeks": found.seeks.buckets(),
        "rests_on": outcome.rests_on,
    })
}

fn row_json(row: &PatternRow) -> serde_json::Value {
    json!({
        "interval": row.interval,
        "random_pct": row.random_pct(),
        "sequential_pct": row.sequential_pct(),
        "count": row.count,
        "random": row.random,
        "min": row.min,
        "max": row.max,
        "mean": row.mean(),
        "kib_read": row.kib_read(),
        "kib_written": row.kib_written(),
    })
}

fn as_text(args: &Zil, outcome: &Outcome) -> String {
    let Outcome { found, counts, .. } = outcome;
    let seconds = found.elapsed.as_secs_f64().max(1e-9);
    let mut out = format!(
        "ZFS intent log, code of {}: {} on {}\nlog device: {}, {}; {}\n\n",
        args.preset,
        counted(args.writers, "writer"),
        counted(outcome.datasets, "dataset"),
        outcome.device,
        units::bytes(outcome.capacity),
        units::time(found.elapsed.0),
    );
    pattern_text(&mut out, found);
    seeks_text(&mut out, found);
    let mut sorted = counts.latencies.clone();
    sorted.sort_unstable();
    let _ = writeln!(
        out,
        "\nSynchronous writes: {} ({}/s), {} ({}/s)",
        units::count(counts.writes),
        units::rate(counts.writes as f64 / seconds),
        units::bytes(counts.bytes),
        units::bytes((counts.bytes as f64 / seconds) as u64),
    );
    let _ = write!(out, "Latency:");
    for (name, at) in QUANTILES {
        let _ = write!(out, "  {name} {}", units::time(quantile(&sorted, at)));
    }
    let _ = writeln!(
        out,
        "\nLog: {} blocks, {} written, {} flushes, {} groups synced{}",
        units::count(counts.blocks),
        units::bytes(found.total.bytes_written),
        units::count(counts.flushes),
        counts.groups,
        match counts.full {
            0 => String::new(),
            times => format!("; full {times} times"),
        },
    );
    for line in &outcome.rests_on {
        for (number, part) in wrap(line.as_ref(), 68).iter().enumerate() {
            let head = if number == 0 {
                "rests on: "
            } else {
                "          "
            };
            let _ = writeln!(out, "{head}{part}");
        }
    }
    out
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn pattern_text(out: &mut String, found: &Pattern) {
    let _ = writeln!(
        out,
        "{:>8} {:>5} {:>5} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9}",
        "interval", "%RAN", "%SEQ", "COUNT", "MIN", "MAX", "AVG", "KR", "KW"
    );
    for row in found.rows.iter().take(20) {
        row_text(out, &row.interval.to_string(), row);
    }
    if found.rows.len() > 20 {
        let _ = writeln!(
            out,
            "{:>8} {} more (--json has all)",
            "...",
            found.rows.len() - 20
        );
    }
    row_text(out, "all", &found.total);
}

fn row_text(out: &mut String, first: &str, row: &PatternRow) {
    let _ = writeln!(
        out,
        "{first:>8} {:>5} {:>5} {:>7} {:>7} {:>7} {:>7} {:>6} {:>9}",
        row.random_pct(),
        row.sequential_pct(),
        row.count,
        row.min,
        row.max,
        row.mean(),
        row.kib_read(),
        row.kib_written(),
    );
}

fn seeks_text(out: &mut String, found: &Pattern) {
    let total = found.seeks.count().max(1);
    let _ = writeln!(
        out,
        "\nSeek distance, sectors of 512 B (0: follows the write before)"
    );
    for (bucket, count) in found.seeks.buckets() {
        let bar = (count as usize * BAR).div_ceil(total as usize);
        let _ = writeln!(
            out,
            "{bucket:>9} |{:<BAR$} {count:>9} {:>6.2} %",
            "@".repeat(bar),
            100.0 * count as f64 / total as f64
        );
    }
}
