//! `ssdlab simulate`: a modelled drive's life under a load, or a grid of them.

use crate::args::OutputArgs;
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, print, print_json, run_dir, say, write_file};
use crate::progress::stop_on_signal;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::keep::saved;
use ssdlab_drives::keep::saved::{About, Over};
use ssdlab_drives::settings::Setting;
use ssdlab_drives::{catalogue, settings};
use ssdlab_life::age::left;
use ssdlab_life::simulate::life::{Lived, Phase, Progress, Watch, live};
use ssdlab_life::simulate::page::simulation_page;
use ssdlab_life::simulate::sweep::{Dimension, Sweep};
use ssdlab_life::simulate::{Fill, Gear, Plan, Until, sample, summary, sweep};
use ssdlab_load::synthetic::{Load, Pattern};
use ssdlab_ssd::{Bytes, Drive};
use ssdlab_view::units;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// `ssdlab simulate`.
#[derive(Args, Debug)]
#[command(after_help = "\
Gears: counting knows no time and is the fastest way to WAF and wear; timed
gives IOPS, latency and where the NAND time goes. It is chosen by --until TIME,
--save and --from, or by --gear.

Examples:
  ssdlab simulate --drive consumer-sata-1tb --until 2x
  ssdlab simulate --drive examples/drives/ssd-300gb.toml --load hotcold:80/20 \\
      --set ftl.victim=d-choices:10 --set op=28%
  ssdlab simulate --drive examples/drives/small.toml --until 30s --save aged.ssd
  ssdlab simulate --from aged.ssd --until 10s --read-pct 70
  ssdlab simulate --drive examples/drives/small.toml \\
      --sweep ftl.victim=greedy,fifo,d-choices:4 --sweep op=7%,12%,28%

`ssdlab policies` lists what ftl.victim and ftl.separation can be.")]
pub struct Simulate {
    /// A drive of the catalogue, or a .toml file of your own.
    #[arg(long, short, value_name = "NAME|FILE.toml")]
    pub drive: Option<String>,
    /// Change a parameter of the drive: op=28%, ftl.victim=d-choices:10 (repeatable).
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// List every KEY that --set knows, with an example, and end.
    #[arg(long)]
    pub list_settings: bool,
    /// counting or timed.
    #[arg(long, value_name = "GEAR")]
    pub gear: Option<String>,
    /// uniform, sequential, hotcold:80/20 (per cent of commands / of blocks), zipf:0.99.
    #[arg(long, value_name = "LOAD", default_value = "uniform")]
    pub load: String,
    /// Of 100 commands, so many are reads.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    pub read_pct: u32,
    /// Of 100 commands, so many are trims.
    #[arg(long, value_name = "PERCENT", default_value_t = 0)]
    pub trim_pct: u32,
    /// Bytes of each command.
    #[arg(long, value_name = "SIZE", default_value = "4k")]
    pub block: String,
    /// Commands outstanding, in the timed gear.
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub iodepth: u32,
    /// Before the load: none, sequential or random.
    /// [default: sequential; none with --from]
    #[arg(long, value_name = "HOW")]
    pub fill: Option<String>,
    /// How long: user capacities written (10x), bytes written (100GB), virtual time (30m).
    #[arg(long, value_name = "END", default_value = "4x")]
    pub until: String,
    /// Seed of the load.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Save the drive afterwards, in the timed gear.
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Begin with a saved drive.
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// Live every combination of values (repeatable); also load, block, iodepth, read_pct,
    /// trim_pct, fill, until, seed.
    #[arg(long, value_name = "KEY=V,V,...")]
    pub sweep: Vec<String>,
    /// Lives of a sweep at once.
    /// [default: all cores]
    #[arg(long, value_name = "N", requires = "sweep")]
    pub jobs: Option<usize>,
    /// Directory for the results; must be new or empty.
    /// [default: ssdlab-runs/DATE-NAME]
    #[arg(long, short, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write over the results of an earlier run in --out, and over the file of --save.
    #[arg(long)]
    pub replace: bool,
    /// Print the result as JSON on standard output.
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error.
    #[arg(long, short)]
    pub quiet: bool,
}

impl Simulate {
    /// Where results go, as other subcommands have it.
    pub fn output(&self) -> OutputArgs {
        OutputArgs {
            out: self.out.clone(),
            replace: self.replace,
            json: self.json,
            quiet: self.quiet,
        }
    }
}

/// Lives a drive's life, or lists what can be set.
///
/// # Errors
/// When the life is impossible, or results cannot be written.
pub fn simulate(args: &Simulate) -> Result<Exit, Failure> {
    if args.list_settings {
        print(&settings::help())?;
        return Ok(Exit::Good);
    }
    let settings = args.set.iter().map(|text| Setting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    if !args.sweep.is_empty() {
        return grid(args, &settings);
    }
    let (plan, from) = plan(args, &settings)?;
    let (from, before) = from.unzip();
    plan.validate()?;
    let place = match &args.save {
        Some(path) => Some(saved::Place::reserve(path, over(args))?),
        None => None,
    };
    let (dir, existing) = run_dir(&args.output(), &plan.name, Utc::now());
    let _reserved = Reserved::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let began = Instant::now();
    let mut bar = LifeBar::new(&plan.name, args.quiet);
    let lived = live(&plan, from, &mut bar, &stop)?;
    let commands = bar.commands;
    bar.bar.finish_and_clear();
    let wall = began.elapsed().as_secs_f64();
    write(&dir, &lived)?;
    if args.json {
        print_json(&lived.simulation)?;
    } else {
        print(&summary::summary(&lived.simulation))?;
    }
    let quiet = args.quiet;
    say(
        quiet,
        &format!(
            "\n{} commands in {wall:.1} s of wall time, {} a second",
            units::count(commands),
            units::rate(commands as f64 / wall.max(1e-9))
        ),
    );
    if let (Some(place), Some(drive)) = (place, &lived.drive) {
        keep(place, drive, &plan, &lived, args, before)?;
    }
    say(
        quiet,
        &format!("results: {0}/  page: {0}/report.html", dir.display()),
    );
    Ok(exit(&lived.simulation.failures()))
}

fn exit(failures: &[String]) -> Exit {
    for failure in failures {
        tell!("error: self-check failed: {failure}");
    }
    if failures.is_empty() {
        Exit::Good
    } else {
        Exit::Error
    }
}

fn over(args: &Simulate) -> Over {
    if args.replace {
        Over::Replace
    } else {
        Over::Refuse
    }
}

fn write(dir: &Path, lived: &Lived) -> Result<(), Failure> {
    write_json(&dir.join("result.json"), &lived.simulation)?;
    write_file(&dir.join("series.csv"), &sample::csv(&lived.samples))?;
    let page = simulation_page(&lived.simulation, &lived.samples);
    write_file(&dir.join("report.html"), &page)
}

fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(value)
        .map_err(|error| LabError::refused(format!("writing JSON: {error}"), ""))?;
    write_file(path, &(json + "\n"))
}

/// Saves the drive, with what it has lived through.
fn keep(
    place: saved::Place,
    drive: &Drive,
    plan: &Plan,
    lived: &Lived,
    args: &Simulate,
    before: Option<About>,
) -> Result<(), Failure> {
    if lived.simulation.stopped || !lived.simulation.failures().is_empty() {
        say(args.quiet, "the drive was not saved");
        return Ok(());
    }
    let s = &lived.simulation;
    let mut history = plan.history.clone();
    history.push(format!(
        "fill {}; {} of {} QD{}, {} written, seed {}",
        s.fill,
        s.load,
        Bytes(s.block.into()),
        plan.depth,
        units::decimal_bytes(s.host_bytes as f64),
        s.seed
    ));
    let about = About {
        name: plan.name.clone(),
        title: plan.title.clone(),
        settings: plan.settings.clone(),
        rests_on: plan.rests_on.clone(),
        attributes: plan.attributes,
        history,
        // A life that something else followed is not that life any more.
        lived: None,
        // Its age and interface are those that it had.
        ..before.unwrap_or_default()
    };
    let began = Instant::now();
    let bytes = place.save(drive, &about)?;
    say(args.quiet, &timing("saved", bytes, began));
    Ok(())
}

/// `saved 712 MB in 0.9 s, 790 MB/s`.
fn timing(what: &str, bytes: u64, began: Instant) -> String {
    let seconds = began.elapsed().as_secs_f64().max(1e-9);
    format!(
        "{what} {} in {seconds:.2} s, {}",
        units::decimal_bytes(bytes as f64),
        units::throughput(bytes as f64 / seconds)
    )
}

/// The life asked for, without a drive: it is put in by [`Plan::on`].
fn bare(args: &Simulate, drive: &CatalogueDrive) -> Result<Plan, LabError> {
    let bytes = parse_size(&args.block)?;
    let block = u32::try_from(bytes).map_err(|_| {
        LabError::refused(
            format!("a block of {}: up to 16 MiB is allowed", Bytes(bytes)),
            "choose a smaller --block",
        )
    })?;
    let until = Until::parse(&args.until)?;
    let gear = match &args.gear {
        Some(gear) => Gear::parse(gear)?,
        None if matches!(until, Until::Time(_)) || args.save.is_some() || args.from.is_some() => {
            Gear::Timed
        }
        None => Gear::Counting,
    };
    let usual = if args.from.is_some() {
        "none"
    } else {
        "sequential"
    };
    Ok(Plan {
        name: String::new(),
        title: String::new(),
        config: drive.config.clone(),
        settings: Vec::new(),
        rests_on: Vec::new(),
        attributes: None,
        history: Vec::new(),
        gear,
        load: Load {
            pattern: Pattern::parse(&args.load)?,
            block,
            read_pct: args.read_pct,
            trim_pct: args.trim_pct,
            seed: args.seed,
        },
        depth: args.iodepth,
        fill: Fill::parse(args.fill.as_deref().unwrap_or(usual))?,
        until,
    }
    .on(drive))
}

type Begun = Option<(Drive, About)>;

fn plan(args: &Simulate, settings: &[Setting]) -> Result<(Plan, Begun), LabError> {
    let Some(path) = &args.from else {
        let drive = settings::apply(&catalogue::open(drive_name(args)?)?, settings)?;
        let plan = Plan {
            settings: settings.iter().map(Setting::to_string).collect(),
            ..bare(args, &drive)?
        };
        counting_is_not_saved(args, &plan)?;
        return Ok((plan, None));
    };
    if !settings.is_empty() || args.drive.is_some() {
        return Err(LabError::refused(
            "a saved drive is what it was saved as: neither --drive nor --set goes with --from",
            "make it anew with other parameters, and --save that",
        ));
    }
    let began = Instant::now();
    let (drive, about) = left::open(path)?;
    let bytes = path.metadata().map_or(0, |m| m.len());
    say(args.quiet, &timing("loaded", bytes, began));
    // Any drive of the catalogue: everything of it is replaced.
    let stand_in = catalogue::drive(&catalogue::names()?[0])?;
    let plan = Plan {
        name: about.name.clone(),
        title: about.title.clone(),
        config: drive.config().clone(),
        settings: about.settings.clone(),
        rests_on: about.rests_on.clone(),
        attributes: about.attributes,
        history: about.history.clone(),
        ..bare(args, &stand_in)?
    };
    counting_is_not_saved(args, &plan)?;
    Ok((plan, Some((drive, about))))
}

fn counting_is_not_saved(args: &Simulate, plan: &Plan) -> Result<(), LabError> {
    if plan.gear == Gear::Counting && (args.save.is_some() || args.from.is_some()) {
        return Err(LabError::refused(
            "only drives in the timed gear are saved and loaded",
            "leave --gear out, or --gear timed",
        ));
    }
    Ok(())
}

fn drive_name(args: &Simulate) -> Result<&str, LabError> {
    let name = args.drive.as_deref().ok_or_else(|| {
        LabError::refused(
            "no drive was given",
            "--drive NAME (see `ssdlab drives list`), --drive FILE.toml or --from FILE",
        )
    })?;
    Ok(name.strip_prefix("drive:").unwrap_or(name))
}

/// Many lives.
fn grid(args: &Simulate, settings: &[Setting]) -> Result<Exit, Failure> {
    if args.from.is_some() || args.save.is_some() {
        return Err(LabError::refused(
            "a sweep makes its own drives: neither --from nor --save goes with --sweep",
            "",
        )
        .into());
    }
    let dimensions = args.sweep.iter().map(|text| Dimension::parse(text));
    let dimensions = dimensions.collect::<Result<Vec<_>, _>>()?;
    let drive = catalogue::open(drive_name(args)?)?;
    // The drive as it stands may be impossible without what the sweep sets.
    let sweep = Sweep::new(&drive, settings, &bare(args, &drive)?, &dimensions)?;
    let (dir, existing) = run_dir(&args.output(), "sweep", Utc::now());
    let _reserved = Reserved::new(&dir, existing)?;
    let stop = stop_on_signal()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bar = sweep_bar(sweep.points.len(), args.quiet);
    let began = Instant::now();
    let rows = sweep.run(args.jobs.unwrap_or(cores), &stop, |row| {
        bar.set_message(row.values.join(" "));
        bar.inc(1);
    })?;
    bar.finish_and_clear();
    write_file(&dir.join("sweep.csv"), &sweep::csv(&sweep.keys, &rows))?;
    write_json(&dir.join("result.json"), &rows)?;
    if args.json {
        print_json(&rows)?;
    } else {
        print(&sweep::table(&sweep.keys, &rows))?;
    }
    let lived = rows.iter().filter(|row| row.simulation.is_some()).count();
    let wall = began.elapsed().as_secs_f64();
    say(
        args.quiet,
        &format!(
            "\n{lived} of {} drives in {wall:.2} s; results: {}/",
            rows.len(),
            dir.display()
        ),
    );
    let all = rows.iter().filter_map(|row| row.simulation.as_ref());
    let failures: Vec<String> = all.flat_map(|s| s.failures()).collect();
    Ok(if stop.load(Ordering::Relaxed) && failures.is_empty() {
        Exit::Unknown
    } else {
        exit(&failures)
    })
}

fn target(quiet: bool) -> ProgressDrawTarget {
    if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    }
}

fn style(template: &str) -> ProgressStyle {
    // Constants, so they parse; were one wrong, the default bar is better than none.
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn sweep_bar(points: usize, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(points as u64), target(quiet));
    bar.set_style(style("{pos:>6} of {len} {bar:16} {msg:32!} {eta:>4} left"));
    bar
}

/// The line of progress.
struct LifeBar {
    bar: ProgressBar,
    name: String,
    phase: Option<Phase>,
    /// When it was last drawn, and the commands by then.
    drawn: (Instant, u64),
    commands: u64,
}

impl LifeBar {
    fn new(name: &str, quiet: bool) -> LifeBar {
        let bar = ProgressBar::with_draw_target(Some(1000), target(quiet));
        bar.set_style(style("{prefix:16!} {bar:10} {percent:>3}% {msg:44!}"));
        LifeBar {
            bar,
            name: name.to_owned(),
            phase: None,
            drawn: (Instant::now(), 0),
            commands: 0,
        }
    }
}

impl Watch for LifeBar {
    fn progress(&mut self, progress: &Progress) {
        self.commands = progress.commands;
        let passed = self.drawn.0.elapsed();
        if self.phase == Some(progress.phase) && passed < Duration::from_millis(120) {
            return;
        }
        let rate = (progress.commands - self.drawn.1) as f64 / passed.as_secs_f64().max(1e-9);
        self.drawn = (Instant::now(), progress.commands);
        self.phase = Some(progress.phase);
        let name: String = self.name.chars().take(11).collect();
        self.bar
            .set_prefix(format!("{} {name}", progress.phase.name()));
        self.bar.set_position((progress.done * 1000.0) as u64);
        let waf = progress.waf.map_or("-".into(), |waf| format!("{waf:.2}"));
        let now = if progress.now.0 > 0 {
            format!(" {}", units::clock(progress.now.as_secs_f64()))
        } else {
            String::new()
        };
        self.bar.set_message(format!(
            "{} WAF {waf}{now} {}/s",
            units::decimal_bytes(progress.host_bytes as f64),
            units::rate(rate)
        ));
    }
}
