//! `ssdlab endurance`: what drives last for under JESD219 or your own work, against their ratings.

use crate::failure::{Exit, Failure};
use crate::output::{print, print_json, say};
use clap::Args;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::settings::Setting;
use ssdlab_drives::{catalogue, settings};
use ssdlab_life::endurance;
use ssdlab_life::endurance::money::Money;
use ssdlab_life::endurance::work::Work;
use ssdlab_life::endurance::{Asked, Endurance as Row, money, played};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// `ssdlab endurance`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab endurance consumer-sata-1tb intel-dc-s3700-200gb
  ssdlab endurance tlc-client-nvme-1tb --op 7%,28% --workload uniform
  ssdlab endurance intel-710-100gb --workload log.csv.gz --money --price 649")]
pub struct Endurance {
    /// Drives of the catalogue, or drive files ending in .toml.
    #[arg(required = true)]
    drives: Vec<String>,
    /// What wears them (repeatable): enterprise (JESD219), client (a stand-in), uniform,
    /// sequential, hotcold:80/20, zipf:0.99, or the path of a trace.
    /// [default: enterprise and client]
    #[arg(long, value_name = "WORK")]
    workload: Vec<String>,
    /// Bytes of each command of a pattern.
    #[arg(long, default_value = "4KiB", value_name = "SIZE")]
    block: String,
    /// Each drive with other over-provisioning, too: 7%,12%,28% (raw stays, user shrinks).
    #[arg(long, value_name = "PERCENT,...", value_delimiter = ',')]
    op: Vec<String>,
    /// Play a drive of about this size with the same effective over-provisioning, or the whole.
    #[arg(long, default_value = "8GiB", value_name = "SIZE|whole")]
    capacity: String,
    /// Drive writes before the one that is measured.
    #[arg(long, default_value_t = endurance::WARM_USUAL)]
    warm: u32,
    /// Of the stream's random numbers.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Change a parameter of every drive, such as wear.cycles=5000.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Also what a dollar buys: writes a second, durable ones, terabytes over the life.
    #[arg(long)]
    money: bool,
    /// US dollars of each drive; without it the catalogue's price, where it has one.
    #[arg(long, value_name = "USD", requires = "money")]
    price: Option<f64>,
    /// Drives at once.
    /// [default: all cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Print as JSON.
    #[arg(long)]
    json: bool,
}

/// Prints a table.
///
/// # Errors
/// When a drive is unknown or cannot be modelled.
pub fn endurance(args: &Endurance) -> Result<Exit, Failure> {
    let asked = asked(args)?;
    // Ctrl-C ends the process: there is nothing to keep.
    let stop = AtomicBool::new(false);
    let drives = drives(args)?;
    let works = works(args)?;
    let jobs: Vec<(&CatalogueDrive, &Work)> = drives
        .iter()
        .flat_map(|drive| works.iter().map(move |work| (drive, work)))
        .collect();
    let count = args.jobs.unwrap_or_else(cores).clamp(1, 64);
    let rows = all(&jobs, count, |(drive, work)| {
        endurance::worn_by(drive, work, &asked, &stop)
    })?;
    let money = if args.money {
        let found = all(&drives, count, |drive| bought(args, &asked, drive, &rows))?;
        found.into_iter().flatten().collect()
    } else {
        Vec::new()
    };
    if args.json {
        print_json(&serde_json::json!({ "endurance": rows, "money": money }))?;
        return Ok(Exit::Good);
    }
    print(&endurance::table(&rows))?;
    for remark in endurance::remarks(&rows) {
        print(&remark)?;
    }
    if args.money {
        print("")?;
        print(&money::table(&money))?;
        if money.len() < drives.len() {
            say(false, "drives without a price are left out: see --price");
        }
    }
    say(
        false,
        "\nTBW = cycles x raw capacity / WAF, cycles by JESD218; UBER at the rated bytes, or at\n\
         the rated cycles where there are none; details and what each rests on: --json",
    );
    Ok(Exit::Good)
}

fn asked(args: &Endurance) -> Result<Asked, LabError> {
    let capacity = match args.capacity.as_str() {
        "whole" => None,
        size => Some(parse_size(size)?),
    };
    if let Some(price) = args.price
        && !(price > 0.0 && price.is_finite())
    {
        return Err(LabError::refused(
            format!("a price of {price} buys nothing"),
            "US dollars above 0",
        ));
    }
    Ok(Asked {
        capacity,
        warm: args.warm,
        seed: args.seed,
    })
}

/// The drives as they are, and with other over-provisioning.
fn drives(args: &Endurance) -> Result<Vec<CatalogueDrive>, LabError> {
    let settings = args.set.iter().map(|text| Setting::parse(text));
    let settings = settings.collect::<Result<Vec<_>, _>>()?;
    let mut drives = Vec::new();
    for name in &args.drives {
        let drive = settings::apply(&catalogue::open(name)?, &settings)?;
        for op in &args.op {
            let op = Setting::parse(&format!("op={op}"))?;
            drives.push(settings::apply(&drive, &[op])?);
        }
        drives.insert(drives.len() - args.op.len(), drive);
    }
    Ok(drives)
}

fn works(args: &Endurance) -> Result<Vec<Work>, LabError> {
    let bytes = parse_size(&args.block)?;
    let block = u32::try_from(bytes).map_err(|_| {
        LabError::refused(
            format!("a block of {}: up to 16 MiB is allowed", args.block),
            "choose a smaller --block",
        )
    })?;
    if args.workload.is_empty() {
        return Ok(vec![Work::Enterprise, Work::Client]);
    }
    let each = args.workload.iter();
    each.map(|text| Work::parse(text, block, args.seed))
        .collect()
}

fn bought(
    args: &Endurance,
    asked: &Asked,
    drive: &CatalogueDrive,
    rows: &[Row],
) -> Result<Option<Money>, LabError> {
    let op = drive.config.nominal_op();
    let own = rows
        .iter()
        .filter(|row| row.name == drive.file.name && row.op == op);
    let own: Vec<&Row> = own.collect();
    let played = played(drive, asked.capacity)?;
    Money::of(drive, &played.config, args.price, &own, asked.seed)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Does every job, so many at once; results in the order of the jobs.
fn all<J: Sync, T: Send>(
    jobs: &[J],
    count: usize,
    each: impl Fn(&J) -> Result<T, LabError> + Sync,
) -> Result<Vec<T>, LabError> {
    let next = AtomicUsize::new(0);
    let done: Vec<Mutex<Option<Result<T, LabError>>>> =
        jobs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..count.min(jobs.len()) {
            scope.spawn(|| {
                while let Some(n) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < jobs.len())
                {
                    let result = each(&jobs[n]);
                    if let Ok(mut place) = done[n].lock() {
                        *place = Some(result);
                    }
                }
            });
        }
    });
    let lost = || Err(LabError::SelfCheck("a job was lost".into()));
    done.into_iter()
        .map(|place| place.into_inner().ok().flatten().unwrap_or_else(lost))
        .collect()
}
