//! `ssdlab qualify`: is this a good choice, and if it is slow, what gives?

use crate::args::{OutputArgs, TargetArgs};
use crate::clock::Utc;
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, print, print_json, run_dir, say, write_file};
use crate::progress::{Steps, stop_on_signal};
use crate::target::{Name, Open};
use clap::{Args, ValueEnum};
use ssdlab_bench::run_dir::{FORMAT_VERSION, RunHeader, RunWriter, write_json};
use ssdlab_judge::inspect::{Inspection, drive_of, enrich};
use ssdlab_judge::qualify::terminal;
use ssdlab_judge::qualify::{
    Assessed, Evidence, Outcome, Precondition, Profile, Qualification, Settings, judge, role,
};

use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_bench::device::open::Needs;
use ssdlab_bench::device::{TargetFacts, TargetKind};
use ssdlab_drives::catalogue;
use ssdlab_ssd::Bytes;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// `ssdlab qualify`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab qualify --role slog                     the drive under this directory
  ssdlab qualify drive:consumer-sata-1tb --role slog --out slog
  ssdlab qualify --role db-wal --profile standard --size 10GiB
  ssdlab qualify /dev/nvme0n1 --role s2d-cache --serial S4NENX0T123456

Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, 2 an error or a failed self-check.")]
pub struct Qualify {
    /// What to measure; without it a file is created in the current directory, measured and
    /// removed.
    pub target: Option<String>,
    /// What the drive is to be used for.
    #[arg(
        long,
        short,
        value_name = "ROLE",
        default_value = "general",
        help = "What the drive is to be used for: slog, s2d-cache, ceph-wal, db-wal or general"
    )]
    pub role: String,
    /// How thoroughly: quick (a minute), standard (a quarter of an hour), full (hours).
    #[arg(long, short, value_enum, default_value = "quick")]
    pub profile: ProfileName,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Do not put modelled drives beside a real target.
    #[arg(long)]
    pub no_reference: bool,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `--profile`.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileName {
    /// About a minute.
    Quick,
    /// About a quarter of an hour.
    Standard,
    /// Hours.
    Full,
}

/// The file made in the current directory when no target is named.
const DEFAULT_FILE: &str = "ssdlab-qualify.tmp";
/// Most commands that any step keeps outstanding.
const DEPTH: u32 = 64;
/// Largest command of any step, in bytes.
const BLOCK_MAX: u32 = 1 << 20;
/// The result within the run directory.
pub const RESULT_FILE: &str = "qualification.json";

/// Measures, judges, reports.
///
/// # Errors
/// When the role or target cannot be used, nothing could be measured, or results cannot be written.
pub fn qualify(args: &Qualify) -> Result<Exit, Failure> {
    let role = role(&args.role)?;
    let name = match &args.target {
        Some(target) => Name::parse(target)?,
        None => Name::Path(PathBuf::from(DEFAULT_FILE)),
    };
    args.on.size.as_deref().map(parse_size).transpose()?;
    let now = Utc::now();
    let stop = stop_on_signal()?;
    let quiet = args.output.quiet;
    let kind = match name {
        Name::Path(_) => TargetKind::File,
        _ => TargetKind::Modelled,
    };
    let mut settings = Settings::usual(profile(args.profile), kind);
    settings.seed = args.seed;
    say(quiet, &opening(args, &name, &settings));
    let (path, existing) = run_dir(&args.output, &format!("qualify-{}", role.name), now);
    let _reserved = Reserved::new(&path, existing)?;
    let existed = matches!(&name, Name::Path(path) if path.exists());
    let mut target = Open::named(&name, &args.on, &needs(settings.region), quiet, &stop)?;
    adapt(&mut settings, args, target.facts(), existed);
    let header = header(args, &target, now);
    let mut writer = RunWriter::create(&path, &header, existing)?;
    let mut steps = Steps::new("", quiet, Some(&mut writer));
    let drive = drive_under(&name);
    let mut evidence = target.measure(&settings, &mut steps, &stop)?;
    note_drive(&mut evidence.facts, drive);
    steps.finish();
    drop(target);
    settings.region = Some(evidence.region_bytes);
    let judged = |evidence: Evidence| Assessed {
        verdict: judge(role, &evidence),
        evidence,
    };
    let mut qualification = Qualification {
        version: FORMAT_VERSION,
        role: role.name.clone(),
        profile: format!("{:?}", args.profile).to_lowercase(),
        seed: args.seed,
        incomplete: evidence.incomplete.clone(),
        target: judged(evidence),
        references: Vec::new(),
    };
    // What was measured on the target survives whatever happens to the rest.
    write_json(&path.join(RESULT_FILE), &qualification)?;
    let left_out = &mut qualification.incomplete;
    let references = references(args, &name, &settings, &stop, left_out)?;
    qualification.references = references.into_iter().map(judged).collect();
    write_json(&path.join(RESULT_FILE), &qualification)?;
    write_file(
        &path.join("report.html"),
        &ssdlab_judge::page::qualification_page(&qualification),
    )?;
    if args.output.json {
        print_json(&qualification)?;
    } else {
        print(&terminal::comparison_table(&qualification))?;
        print("")?;
        print(&terminal::verdict_summary(&qualification))?;
    }
    say(
        quiet,
        &format!("\nresults: {0}/  page: {0}/report.html", path.display()),
    );
    Ok(exit(qualification.target.verdict.outcome))
}

/// What the drive underneath a real target tells of itself.
fn drive_under(name: &Name) -> Result<Option<Inspection>, LabError> {
    match name {
        Name::Path(path) => drive_of(path),
        Name::Drive(_) | Name::Null(_) => Ok(None),
    }
}

/// Enters it, or why it is missing.
fn note_drive(facts: &mut TargetFacts, drive: Result<Option<Inspection>, LabError>) {
    match drive {
        Ok(Some(found)) => enrich(facts, &found),
        Ok(None) => {}
        Err(error) => facts.notes.push(format!("SMART was not read: {error}")),
    }
}

fn exit(outcome: Outcome) -> Exit {
    match outcome {
        Outcome::Pass => Exit::Good,
        Outcome::Fail => Exit::Fails,
        Outcome::Unknown => Exit::Unknown,
    }
}

fn profile(name: ProfileName) -> Profile {
    match name {
        ProfileName::Quick => Profile::Quick,
        ProfileName::Standard => Profile::Standard,
        ProfileName::Full => Profile::Full,
    }
}

/// What the procedures ask of a target.
fn needs(extent: Option<u64>) -> Needs {
    Needs {
        depth: DEPTH,
        read_bytes: BLOCK_MAX,
        write_bytes: BLOCK_MAX,
        changes: true,
        data_only: true,
        refill: false,
        direct: true,
        granule: 4096,
        extent,
    }
}

/// Settings for what the target turned out to be.
fn adapt(settings: &mut Settings, args: &Qualify, facts: &TargetFacts, existed: bool) {
    let usual = Settings::usual(settings.profile, facts.kind);
    settings.precondition = usual.precondition;
    if facts.kind == TargetKind::File && existed {
        settings.precondition = Precondition::Fill(settings.region.unwrap_or(facts.capacity));
    }
    let asked = args
        .on
        .size
        .as_deref()
        .and_then(|size| parse_size(size).ok());
    if let (Some(size), true) = (asked, facts.kind != TargetKind::Modelled) {
        settings.region = Some(size.min(facts.capacity));
    }
}

/// What is about to happen, in a sentence or two.
fn opening(args: &Qualify, name: &Name, settings: &Settings) -> String {
    let region = settings
        .region
        .map_or("all".into(), |bytes| Bytes(bytes).to_string());
    match (name, &args.target) {
        (Name::Path(path), None) => format!(
            "Measuring the drive under the current directory on a file of {region}, made here\n\
             ({}) and removed afterwards: large enough that a flush has real\n\
             work to do, small enough to be written within a minute on a slow drive.",
            path.display()
        ),
        _ => format!(
            "Measuring {}.",
            args.target.as_deref().unwrap_or(DEFAULT_FILE)
        ),
    }
}

fn header(args: &Qualify, target: &Open, now: Utc) -> RunHeader {
    RunHeader {
        version: FORMAT_VERSION,
        ssdlab: env!("CARGO_PKG_VERSION").into(),
        started_at: now.rfc3339(),
        arguments: std::env::args().skip(1).collect(),
        seed: args.seed,
        target: target.facts().clone(),
        plan: serde_json::json!({
            "qualify": {
                "role": args.role,
                "profile": format!("{:?}", args.profile).to_lowercase(),
            }
        }),
    }
}

/// The catalogue's drives, measured by the same procedure in virtual time.
fn references(
    args: &Qualify,
    target: &Name,
    settings: &Settings,
    stop: &AtomicBool,
    incomplete: &mut Vec<String>,
) -> Result<Vec<Evidence>, LabError> {
    let mut found = Vec::new();
    if args.no_reference {
        return Ok(found);
    }
    for drive in catalogue::names()? {
        let name = Name::Drive(drive.clone());
        if name == *target {
            continue;
        }
        if stop.load(Ordering::Relaxed) {
            incomplete.push(format!("{drive}: not measured: stopped"));
            continue;
        }
        let plain = TargetArgs {
            size: None,
            overwrite: false,
            serial: None,
            buffered: false,
            keep: false,
        };
        let mut open = Open::named(&name, &plain, &needs(None), args.output.quiet, stop)?;
        let usual = Settings::usual(settings.profile, TargetKind::Modelled);
        let settings = Settings {
            precondition: usual.precondition,
            whole_drive: false,
            ..settings.clone()
        };
        let mut steps = Steps::new("beside it: ", args.output.quiet, None);
        match open.measure(&settings, &mut steps, stop) {
            Ok(evidence) => found.push(evidence),
            Err(error) => incomplete.push(format!("{drive}: not measured: {error}")),
        }
    }
    Ok(found)
}
