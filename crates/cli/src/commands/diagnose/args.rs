//! Arguments of `ssdlab diagnose`.

use crate::args::{OutputArgs, TargetArgs};
use clap::Args;
use ssdlab_base::quantity::parse_size;
use ssdlab_judge::symptom::Symptom;
use std::path::PathBuf;

/// `ssdlab diagnose`.
#[derive(Args, Debug)]
#[command(after_help = "\
Symptoms: slow-durable-writes, slows-down, slow-reads, spikes,
slower-than-sheet, slower-than-before. A terminal asks for the symptom. A model
is forked and run without one of its costs at a time. A file or a device is
written to and timed for a minute or two; its contents are lost.

Examples:
  ssdlab diagnose drive:consumer-sata-1tb --symptom slow-durable-writes
  ssdlab diagnose ./new-file --size 4GiB --symptom spikes
  ssdlab diagnose /dev/nvme0n1 --serial S4NENX0T123456 --symptom slows-down
  ssdlab diagnose drive:consumer-sata-1tb --trace host.blkparse
  ssdlab diagnose drive:tlc-client-nvme-1tb --all-loads

Exit codes: 0 normal for this kind, 1 not normal, 3 UNKNOWN (several causes, or
some not tried), 2 an error, or no symptom.")]
pub struct Diagnose {
    /// drive:NAME, drive:FILE.toml, drive:PATH of a drive that was aged or saved, a file or a
    /// block device.
    pub target: Option<String>,
    /// What you noticed.
    #[arg(long, short, value_name = "SYMPTOM", value_parser = symptom)]
    pub symptom: Option<Symptom>,
    /// Every load taken apart, or every hypothesis, whatever the symptom.
    #[arg(long, conflicts_with = "symptom")]
    pub all_loads: bool,
    /// Size of the model of a new drive.
    #[arg(long, default_value = "1GiB", value_parser = parse_size)]
    pub capacity: u64,
    /// Take a modelled drive apart under the commands of a host, recorded with their completions
    /// (blktrace, blkparse, csv, msr, biosnoop): the first 20,000.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["black_box", "symptom"])]
    pub trace: Option<PathBuf>,
    /// The device whose commands are meant, where the trace has several.
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub device: Option<String>,
    /// Look into a model through the block interface, as into a real drive.
    #[arg(long)]
    pub black_box: bool,
    /// Bytes that one experiment may write: rewriting everything in order takes 1.25 times the
    /// size.
    #[arg(long, value_name = "SIZE", default_value = "64GiB", value_parser = parse_size)]
    pub writes: u64,
    /// Seed of every random stream.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub on: TargetArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

fn symptom(name: &str) -> Result<Symptom, String> {
    Symptom::parse(name).map_err(|error| format!("{error}: {}", error.advice()))
}
