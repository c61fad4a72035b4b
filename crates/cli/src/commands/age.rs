//! `ssdlab age`: a modelled drive's whole life.

use crate::args::OutputArgs;
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, print, print_json, run_dir, say, write_file};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::keep::manner::Manner;
use ssdlab_drives::keep::saved::{Over, Place};
use ssdlab_drives::settings::Setting;
use ssdlab_drives::{catalogue, settings};
use ssdlab_life::age::live::{Ageing, Keep, Lived};
use ssdlab_life::age::result::{Row, csv, csv_line, summary};
use ssdlab_life::age::{Plan, Until, checkpoint, left};
use ssdlab_view::units;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `ssdlab age`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab age examples/drives/small.toml --out old
  ssdlab age patriot-wildfire-120gb --until 270TB --per-day 10TB --fast
  ssdlab age consumer-sata-1tb --workload zipf:0.99 --block 4k --until 50%
  ssdlab smart old                    what it tells of itself afterwards
  ssdlab create DRIVE_DIR --from old  the same drive, empty, to serve")]
pub struct Age {
    /// A drive of the catalogue, or a drive file ending in .toml.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    drive: Option<String>,
    /// uniform, sequential, hotcold:80/20 or zipf:0.99.
    #[arg(long, default_value = "sequential", value_name = "PATTERN")]
    workload: String,
    /// Bytes of each command.
    #[arg(long, default_value = "1MiB", value_name = "SIZE")]
    block: String,
    /// Of 100 commands, so many read.
    #[arg(long = "read", default_value_t = 0, value_name = "PERCENT")]
    read_pct: u32,
    /// Of 100 commands, so many trim.
    #[arg(long = "trim", default_value_t = 0, value_name = "PERCENT")]
    trim_pct: u32,
    /// Bytes written by the host (270TB), life left (10%), or dead.
    #[arg(long, default_value = "dead")]
    until: String,
    /// What the host writes a day. [default: the drive's capacity]
    #[arg(long, value_name = "SIZE")]
    per_day: Option<String>,
    /// Celsius, in use and at rest.
    #[arg(long, default_value_t = 40.0, allow_negative_numbers = true)]
    temperature: f64,
    /// Extrapolate between exactly played spans; the error is stated.
    #[arg(long)]
    fast: bool,
    /// Of the load's random numbers, and of how blocks differ.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Change a parameter of the drive: ftl.victim=d-choices:10, op=28%.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Leave checkpoints here, to go on from with --resume.
    /// [default: life.ckpt in the results, when stopped]
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Host bytes between two checkpoints.
    /// [default: 10TB with --checkpoint or --resume; without them only when stopped]
    #[arg(long, value_name = "SIZE")]
    every: Option<String>,
    /// Go on from a checkpoint: everything but --until is as it was.
    #[arg(long, value_name = "FILE", conflicts_with_all = [
        "workload", "block", "read_pct", "trim_pct", "per_day", "temperature", "fast", "seed",
        "set",
    ])]
    resume: Option<PathBuf>,
    /// Save the drive it leaves behind here: `simulate --from` and `smart` read it.
    /// [default: drive.ssd in the results]
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// Lives a drive's life.
///
/// # Errors
/// When it cannot be lived, or results cannot be written.
pub fn age(args: &Age) -> Result<Exit, Failure> {
    let until = Until::parse(&args.until)?;
    let (plan, begun) = match &args.resume {
        None => (fresh(args, until)?, None),
        Some(path) => {
            let (drive, standing) = checkpoint::load(path)?;
            let plan = Plan::resumed(drive.config(), &standing, until)?;
            (plan, Some((drive, standing)))
        }
    };
    let (dir, existing) = run_dir(&args.output, &plan.manner.name, Utc::now());
    let _reserved = Reserved::new(&dir, existing)?;
    let keep = keep(args, &dir)?;
    let over = if args.output.replace {
        Over::Replace
    } else {
        Over::Refuse
    };
    let path = args
        .save
        .clone()
        .unwrap_or_else(|| dir.join(left::DRIVE_FILE));
    let place = Place::reserve(&path, over)?;
    let stop = stop_on_signal()?;
    let start = Instant::now();
    let ageing = match begun {
        None => Ageing::begin(&plan)?,
        Some((drive, standing)) => Ageing::resume(&plan, drive, standing)?,
    };
    let mut seen = Instant::now();
    let quiet = args.output.quiet;
    let mut series = series(&dir.join("series.csv"), ageing.rows())?;
    let mut watch = |row: &Row| {
        // For whoever looks before the end; in the end it is written anew, and errors are seen.
        let _ = series.write_all(csv_line(row).as_bytes());
        if seen.elapsed() > Duration::from_secs(5) {
            seen = Instant::now();
            say(quiet, &progress(row));
        }
    };
    let lived = ageing.live(Some(&keep), &mut watch, &stop)?;
    let wall = start.elapsed().as_secs_f64();
    write_file(&dir.join("series.csv"), &csv(&lived.rows))?;
    let json = serde_json::to_string_pretty(&lived.life)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    write_file(&dir.join("result.json"), &(json + "\n"))?;
    if args.output.json {
        print_json(&lived.life)?;
    } else {
        print(&summary(&lived.life))?;
    }
    let programs = lived.drive.counters().nand_programs;
    say(
        quiet,
        &format!(
            "\n{} unit programs in {wall:.1} s of wall time; results: {}/",
            units::count(programs),
            dir.display()
        ),
    );
    if lived.life.stopped {
        let path = keep.path.display();
        say(
            quiet,
            &format!("stopped; go on with `ssdlab age --resume {path} --until ...`"),
        );
    }
    finish(lived, &plan, place, quiet)
}

/// The series, written as it comes.
fn series(path: &Path, rows: &[Row]) -> Result<File, LabError> {
    let failed = |error| LabError::file("writing", path, error);
    let mut file = File::create(path).map_err(failed)?;
    file.write_all(csv(rows).as_bytes()).map_err(failed)?;
    Ok(file)
}

fn progress(row: &Row) -> String {
    format!(
        "{} written, WAF {:.2}, {:.0} cycles, {:.1} % left, {} blocks retired",
        units::decimal_bytes(row.host_bytes as f64),
        row.waf,
        row.cycles_average,
        row.life_left_pct,
        row.blocks_retired
    )
}

fn keep(args: &Age, dir: &Path) -> Result<Keep, LabError> {
    let named = args.checkpoint.clone().or_else(|| args.resume.clone());
    let usual = named.as_ref().map(|_| "10TB".to_owned());
    let every = match args.every.clone().or(usual) {
        Some(size) => parse_size(&size)?.max(1),
        None => u64::MAX,
    };
    Ok(Keep {
        at_the_end: named.is_some(),
        path: named.unwrap_or_else(|| dir.join("life.ckpt")),
        every,
    })
}

fn fresh(args: &Age, until: Until) -> Result<Plan, LabError> {
    let name = args.drive.as_deref().unwrap_or_default();
    let name = name.strip_prefix("drive:").unwrap_or(name);
    let settings = args.set.iter().map(|text| Setting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let drive = settings::apply(&catalogue::open(name)?, &settings)?;
    let block = parse_size(&args.block)?;
    let block = u32::try_from(block).map_err(|_| {
        LabError::refused(
            format!("a block of {}: up to 16 MiB is allowed", args.block),
            "choose a smaller --block",
        )
    })?;
    let manner = Manner {
        name: String::new(),
        title: String::new(),
        settings: settings.iter().map(Setting::to_string).collect(),
        rests_on: Vec::new(),
        pattern: args.workload.clone(),
        block,
        read_pct: args.read_pct,
        trim_pct: args.trim_pct,
        seed: args.seed,
        per_day: match &args.per_day {
            Some(size) => parse_size(size)?,
            None => drive.config.user_bytes,
        },
        temperature_c: args.temperature,
        fast: args.fast,
    };
    Plan::new(&drive, manner, until).map_err(|mut error| {
        // Patterns are called loads elsewhere.
        if let LabError::BadValue { option, .. } = &mut error
            && option == "--load"
        {
            *option = "--workload".into();
        }
        error
    })
}

/// Saves the drive and says how it went.
fn finish(lived: Lived, plan: &Plan, place: Place, quiet: bool) -> Result<Exit, Failure> {
    let life = &lived.life;
    if let Some(contradiction) = &life.contradiction {
        tell!("error: self-check failed: {contradiction}");
        return Ok(Exit::Error);
    }
    let about = life.about(&plan.interface, plan.attributes);
    let stopped = life.stopped;
    let timed = lived.drive.into_timed();
    let timed = timed.map_err(|error| LabError::refused(error.to_string(), ""))?;
    let bytes = place.save(&timed, &about)?;
    say(
        quiet,
        &format!("saved the drive: {}", units::decimal_bytes(bytes as f64)),
    );
    Ok(if stopped { Exit::Unknown } else { Exit::Good })
}
