//! Arguments of `ssdlab qualify`.

use crate::args::{OutputArgs, TargetArgs};
use clap::{Args, ValueEnum};
use ssdlab_judge::qualify::{QualifyProfile, roles};
use std::path::PathBuf;

/// `ssdlab qualify`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ssdlab qualify --role slog                     the drive under this directory
  ssdlab qualify drive:consumer-sata-1tb --role slog --out slog
  ssdlab qualify --role db-wal --profile standard --size 10GiB
  ssdlab qualify /dev/nvme0n1 --role s2d-cache --serial S4NENX0T123456

Exit codes: 0 PASS, 1 FAIL, 3 UNKNOWN, 2 an error or a failed self-check, 130
stopped by a second Ctrl-C; after the first one, what was measured is judged.")]
pub struct Qualify {
    /// The target; without one, a file is created in the current directory, measured and removed.
    pub target: Option<String>,
    /// What the drive is to be used for.
    #[arg(
        long,
        short,
        value_name = "ROLE",
        default_value = "general",
        help = role_help()
    )]
    pub role: String,
    /// How long to measure: quick (about a minute), standard (a quarter of an hour), full (hours).
    #[arg(long, short, value_enum, default_value = "quick")]
    pub profile: ProfileName,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Modelled drives to measure beside the target: families (one drive of each), all, or names.
    /// Without it, stored figures are shown of the nearest drives and of the role's best and
    /// worst.
    #[arg(long, value_name = "WHICH", value_delimiter = ',')]
    pub reference: Vec<String>,
    /// Measure every modelled drive beside the target (minutes).
    #[arg(long, conflicts_with = "reference")]
    pub all_references: bool,
    /// Put no modelled drives beside the target.
    #[arg(long, conflicts_with_all = ["reference", "all_references"])]
    pub no_reference: bool,
    /// Judge a drive file of your own by the constants that it assumes, without nine draws of
    /// them: in a tenth of the time.
    #[arg(long)]
    pub no_draws: bool,
    /// The ledger of `ssdlab pull` for this very drive: what real power cuts have shown.
    #[arg(long, value_name = "FILE")]
    pub pull_record: Option<PathBuf>,
    /// Print every requirement with its reason, and the table of drives.
    #[arg(long, short)]
    pub verbose: bool,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn role_help() -> String {
    let names: Vec<&str> = roles().iter().map(|role| role.name.as_str()).collect();
    let (last, others) = names.split_last().expect("a role");
    let others = others.join(", ");
    format!("What the drive is to be used for: {others} or {last}")
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

impl From<ProfileName> for QualifyProfile {
    fn from(name: ProfileName) -> QualifyProfile {
        match name {
            ProfileName::Quick => QualifyProfile::Quick,
            ProfileName::Standard => QualifyProfile::Standard,
            ProfileName::Full => QualifyProfile::Full,
        }
    }
}
