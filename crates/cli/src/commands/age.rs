//! `ssdlab age`: a modelled drive's whole life.

use crate::Exit;
use crate::args::OutputArgs;
use crate::clock::Utc;
use crate::failure::Failure;
use crate::output::{Reserved, print, print_json, run_dir, say, write_file};
use crate::progress::stop_on_signal;
use clap::Args;
use ssdlab_lab::LabError;
use ssdlab_lab::catalogue;
use ssdlab_lab::life::live::{Ageing, Keep, Lived};
use ssdlab_lab::life::result::{Row, csv, summary};
use ssdlab_lab::life::{Manner, Plan, Until, checkpoint};
use ssdlab_lab::report::units;
use ssdlab_lab::saved::{About, Over, Place};
use ssdlab_lab::simulate::settings::{self, Setting};
use ssdlab_lab::workload::quantity::parse_size;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// `ssdlab age`.
#[derive(Args, Debug)]
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
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Host bytes between two checkpoints.
    #[arg(
        long,
        default_value = "10TB",
        value_name = "SIZE",
        requires = "checkpoint"
    )]
    every: String,
    /// Go on from a checkpoint.
    #[arg(long, value_name = "FILE")]
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
    let keep = keep(args)?;
    let (plan, begun) = match &args.resume {
        None => (fresh(args, until)?, None),
        Some(path) => {
            let (drive, standing) = checkpoint::load(path)?;
            let plan = resumed(&standing.manner, drive.config(), until)?;
            (plan, Some((drive, standing)))
        }
    };
    let (dir, existing) = run_dir(&args.output, &plan.manner.name, Utc::now());
    let _reserved = Reserved::new(&dir, existing)?;
    let over = if args.output.replace {
        Over::Replace
    } else {
        Over::Refuse
    };
    let path = args.save.clone().unwrap_or_else(|| dir.join("drive.ssd"));
    let place = Place::reserve(&path, over)?;
    let stop = stop_on_signal()?;
    let start = Instant::now();
    let ageing = match begun {
        None => Ageing::begin(&plan)?,
        Some((drive, standing)) => Ageing::resume(&plan, drive, standing)?,
    };
    let mut seen = Instant::now();
    let quiet = args.output.quiet;
    let mut watch = |row: &Row| {
        if seen.elapsed() > Duration::from_secs(5) {
            seen = Instant::now();
            say(quiet, &progress(row));
        }
    };
    let lived = ageing.live(keep.as_ref(), &mut watch, &stop)?;
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
    finish(lived, &plan, place, quiet)
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

fn keep(args: &Age) -> Result<Option<Keep>, LabError> {
    let path = args.checkpoint.clone().or_else(|| args.resume.clone());
    let every = parse_size(&args.every)?.max(1);
    Ok(path.map(|path| Keep { path, every }))
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
    Plan::new(&drive, manner, until)
}

/// The plan that a checkpoint was made with: its drive anew, with the same settings.
fn resumed(
    manner: &Manner,
    config: &ssdlab_ssd::DriveConfig,
    until: Until,
) -> Result<Plan, LabError> {
    let drive = catalogue::open(&manner.name)?;
    let plan = Plan {
        config: config.clone(),
        manner: manner.clone(),
        ..Plan::new(&drive, manner.clone(), until)?
    };
    plan.validate()?;
    Ok(plan)
}

/// Saves the drive and says how it went.
fn finish(lived: Lived, plan: &Plan, place: Place, quiet: bool) -> Result<Exit, Failure> {
    let (life, manner) = (&lived.life, &plan.manner);
    if let Some(contradiction) = &life.contradiction {
        eprintln!("error: self-check failed: {contradiction}");
        return Ok(Exit::Error);
    }
    let about = About {
        name: manner.name.clone(),
        title: manner.title.clone(),
        settings: manner.settings.clone(),
        rests_on: manner.rests_on.clone(),
        history: vec![format!(
            "aged by {} {} B, {} written, {}, seed {}",
            manner.pattern,
            manner.block,
            units::decimal_bytes(life.end.host_bytes as f64),
            if manner.fast { "fast" } else { "exact" },
            manner.seed
        )],
        powered_minutes: (life.end.days * 1440.0) as u64,
        celsius: Some(manner.temperature_c.clamp(0.0, 99.0) as u8),
    };
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
