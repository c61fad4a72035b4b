//! `ssdlab qualify`: is this a good choice, and if it is slow, what gives?

use crate::args::{OutputArgs, TargetArgs};
use crate::failure::{Exit, Failure};
use crate::output::{Reserved, arguments, print, print_json, run_dir, say};
use crate::progress::{Steps, stop_on_signal};
use crate::target::kept;
use clap::{Args, ValueEnum};
use ssdlab_base::LabError;
use ssdlab_base::clock::Utc;
use ssdlab_bench::device::named::Name;
use ssdlab_judge::qualify::files::Recorder;
use ssdlab_judge::qualify::{Profile, QualifyPlan, references, role, terminal};

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
    /// The target; without one, a file is created in the current directory, measured and removed.
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
    /// How long to measure: quick (some minutes), standard (a quarter of an hour), full (hours).
    #[arg(long, short, value_enum, default_value = "quick")]
    pub profile: ProfileName,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Modelled drives to put beside the target: families (one drive of each), all, or names.
    #[arg(
        long,
        value_name = "WHICH",
        value_delimiter = ',',
        default_value = "families"
    )]
    pub reference: Vec<String>,
    /// Do not put modelled drives beside the target.
    #[arg(long, conflicts_with = "reference")]
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

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Profile {
        match name {
            ProfileName::Quick => Profile::Quick,
            ProfileName::Standard => Profile::Standard,
            ProfileName::Full => Profile::Full,
        }
    }
}

fn plan(args: &Qualify) -> Result<QualifyPlan, LabError> {
    let references = match args.no_reference {
        true => Vec::new(),
        false => references(&args.reference)?,
    };
    Ok(QualifyPlan {
        target: args.target.as_deref().map(Name::parse).transpose()?,
        role: role(&args.role)?,
        profile: args.profile.into(),
        seed: args.seed,
        references,
        open: args.on.options()?,
        kept,
    })
}

/// Measures, judges, reports.
///
/// # Errors
/// When the role or target cannot be used, nothing could be measured, or results cannot be written.
pub fn qualify(args: &Qualify) -> Result<Exit, Failure> {
    let plan = plan(args)?;
    let now = Utc::now();
    let stop = stop_on_signal()?;
    let quiet = args.output.quiet;
    let target = || format!("Measuring {}.", args.target.as_deref().unwrap_or_default());
    say(quiet, &plan.own_file().unwrap_or_else(target));
    let (path, existing) = run_dir(&args.output, &format!("qualify-{}", plan.role.name), now);
    let _reserved = Reserved::new(&path, existing)?;
    let mut steps = Steps::new(quiet);
    let place = (path.clone(), existing);
    let mut recorder = Recorder::new(&plan, place, &now.rfc3339(), &arguments(), &mut steps);
    let found = ssdlab_judge::qualify(&plan, &mut recorder, &stop)?;
    recorder.finish(&found)?;
    drop(steps);
    if args.output.json {
        print_json(&found)?;
    } else {
        print(&terminal::text(&found))?;
    }
    let results = format!("\nresults: {0}/  page: {0}/report.html", path.display());
    say(quiet, &results);
    Ok(found.target.verdict.outcome.into())
}
