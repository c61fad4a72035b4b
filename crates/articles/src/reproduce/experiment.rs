//! What can be run, and what a run gives.

use super::{contract, facts, hosts, mirror, myth, pattern, rw80, s2d, spare, worn};
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_drives::rests_on::RestsOn;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// One of the articles' experiments on one modelled drive or host.
#[derive(Clone, Copy, Debug)]
pub struct Experiment {
    /// Its name in figures.
    pub name: &'static str,
    /// What is run, in a sentence.
    pub what: &'static str,
    /// Roughly how many seconds it takes: the longest are begun first.
    pub weight: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Facts,
    S2d(&'static str),
    Pattern(usize),
    Rw80(&'static str),
    X1Patterns,
    Contract,
    Spare,
    Myth,
    Database,
    Tiers,
    HalfAYear,
    Mirror,
    Endurance,
    WornNew,
    WornAged,
}

/// What an experiment needs besides its name.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// Seed of every random stream.
    pub seed: u64,
    /// Set to end early; what is not complete is then not a result.
    pub stop: &'a AtomicBool,
    /// A drive that `ssdlab age` saved, in the place of the life of article worn.
    pub aged: Option<&'a Path>,
}

/// A line to plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// Name within the experiment.
    pub name: String,
    /// Seconds between points.
    pub step_s: f64,
    /// Values, from time 0.
    pub y: Vec<f64>,
}

/// What an experiment gave.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Outcome {
    /// Measures by name.
    pub values: BTreeMap<String, f64>,
    /// Measures that are better said in words.
    pub texts: BTreeMap<String, String>,
    /// Lines to plot.
    pub series: Vec<Series>,
    /// Curves to plot, (x, y), by name.
    pub curves: BTreeMap<String, Vec<(f64, f64)>>,
    /// Histogram of seek distances: lower bound of the bucket in sectors, count.
    pub seeks: Vec<(i64, u64)>,
    /// Random share of each interval, %.
    pub random_pct: Vec<u64>,
    /// Self-checks: name, and what is wrong.
    pub checks: Vec<(String, Option<String>)>,
    /// Calibrated and assumed values that the drives rest on.
    pub rests_on: Vec<RestsOn>,
}

impl Outcome {
    /// Keeps a measure.
    pub fn value(&mut self, name: impl Into<String>, value: f64) {
        self.values.insert(name.into(), value);
    }

    /// Keeps a self-check.
    pub fn check(&mut self, name: impl Into<String>, result: Result<(), String>) {
        self.checks.push((name.into(), result.err()));
    }
}

const fn experiment(name: &'static str, what: &'static str, weight: u32, kind: Kind) -> Experiment {
    Experiment {
        name,
        what,
        weight,
        kind,
    }
}

const RW80: &str = "secure erase, 4 KiB random writes over the whole drive, 32 outstanding, 80 \
                    minutes; ten idle minutes; two minutes more";

/// Everything that can be run.
pub const ALL: [Experiment; 23] = [
    experiment(
        "facts",
        "arithmetic on published numbers and on the catalogue's; nothing is run",
        0,
        Kind::Facts,
    ),
    experiment(
        "s2d.drive",
        "1 TB consumer drive: 100 GiB written a little over twice, then the article's two DISKSPD \
         commands, buffered and written through, 30 minutes each",
        19,
        Kind::S2d("consumer-sata-1tb"),
    ),
    experiment(
        "s2d.twin",
        "the same on the twin with a protected buffer",
        36,
        Kind::S2d("consumer-sata-1tb-plp"),
    ),
    experiment(
        "zil.one",
        "one synchronous writer, one file system, code of 2010, on a log device of 4 GiB, 116 s",
        1,
        Kind::Pattern(1),
    ),
    experiment(
        "zil.five",
        "five synchronous writers, five file systems, the code of 2010, on a log device of 4 GiB, \
         300 s",
        2,
        Kind::Pattern(5),
    ),
    experiment("rw80.710_100", RW80, 26, Kind::Rw80("intel-710-100gb")),
    experiment("rw80.710_200", RW80, 34, Kind::Rw80("intel-710-200gb")),
    experiment("rw80.710_300", RW80, 44, Kind::Rw80("intel-710-300gb")),
    experiment("rw80.320_40", RW80, 4, Kind::Rw80("intel-320-40gb")),
    experiment("rw80.320_160", RW80, 14, Kind::Rw80("intel-320-160gb")),
    experiment("rw80.320_300", RW80, 22, Kind::Rw80("intel-320-300gb")),
    experiment("rw80.x1", RW80, 60, Kind::Rw80("ddrdrive-x1")),
    experiment(
        "x1.patterns",
        "4 KiB writes, 32 outstanding, a minute each: random, sequential, unaligned, random \
         between TRIMs",
        3,
        Kind::X1Patterns,
    ),
    experiment(
        "zil.contract",
        "three synchronous writers on log devices of 64 MiB whose power is cut at random; after \
         each recovery every log is replayed",
        6,
        Kind::Contract,
    ),
    experiment(
        "myth",
        "updates in place and in a log; a server's file system on drives of a 128th of their size \
         that differ in one thing each; reads beside TRIMs; 4 KiB over every block of the S3700",
        18,
        Kind::Myth,
    ),
    experiment(
        "myth.database",
        "a database that is offered 15,000 transactions a second, for six months, on the earlier \
         drive",
        10,
        Kind::Database,
    ),
    experiment(
        "s2d.tier",
        "a cache tier of two copies on the drive and on its twin, each write durable on both \
         cache devices (FUA), and buffered; drives scaled to 4 GiB, 20 s of the article's load",
        3,
        Kind::Tiers,
    ),
    experiment(
        "myth.months",
        "half a year of files, created, updated and deleted, 70 % used, on the X25-M scaled to \
         2 GiB: never trimmed, and trimmed at once",
        13,
        Kind::HalfAYear,
    ),
    experiment(
        "spare",
        "traces of desktop use in bursts with pauses, light and heavy, on drives of a 32nd of \
         their size: secure erased, full of random data, full after a second pass with some \
         random writes, and after random writes alone",
        28,
        Kind::Spare,
    ),
    experiment(
        "mirror",
        "mirrors of two drives, made smaller in size and rated cycles, 4 KiB random writes over \
         the smaller side until both are dead, every page write played; each drive's blocks \
         drawn from a seed of its own",
        20,
        Kind::Mirror,
    ),
    experiment(
        "endurance",
        "JESD219's enterprise writes on drives made smaller: filled, two drive writes, and the \
         write amplification of the third; life = rated cycles x raw capacity over that",
        16,
        Kind::Endurance,
    ),
    experiment(
        "worn.new",
        "the new drive's benchmark: a test file of 8 GiB, 2 MB and 4 KiB, four server profiles, \
         CrystalDiskMark, three client traces; and six loads that the 270 TB may have been, on \
         the drive scaled to 4 GiB",
        5,
        Kind::WornNew,
    ),
    experiment(
        "worn.aged",
        "270 TB written to the drive in order, 1 MiB each, incompressible, in 27 days at 40 C, \
         every page write played; secure erase; the same benchmark as on the new drive",
        1000,
        Kind::WornAged,
    ),
];

impl Experiment {
    /// By name.
    pub fn named(name: &str) -> Option<&'static Experiment> {
        ALL.iter().find(|experiment| experiment.name == name)
    }

    /// Whether it takes minutes: it is run only when a figure of it is asked for by name.
    pub fn is_long(&self) -> bool {
        matches!(self.kind, Kind::WornAged)
    }

    /// Runs it.
    ///
    /// # Errors
    /// When the drive does not fit in memory, or the run was stopped.
    pub fn run(&self, setup: &Setup<'_>) -> Result<Outcome, LabError> {
        match self.kind {
            Kind::Facts => facts::facts(),
            Kind::S2d(drive) => s2d::run(drive, setup),
            Kind::Pattern(streams) => pattern::run(streams, setup),
            Kind::Rw80(drive) => rw80::run(drive, setup),
            Kind::Myth => myth::run(setup),
            Kind::Database => myth::database(setup),
            Kind::Spare => spare::run(setup),
            Kind::Contract => contract::run(setup),
            Kind::Tiers => hosts::tiers(setup),
            Kind::HalfAYear => hosts::half_a_year(setup),
            Kind::Mirror => mirror::run(setup),
            Kind::Endurance => mirror::endurance(setup),
            Kind::WornNew => worn::new(setup),
            Kind::WornAged => worn::aged(setup),
            Kind::X1Patterns => rw80::x1_patterns(setup),
        }
    }
}

/// The error of an experiment that was told to stop.
pub fn stopped() -> LabError {
    LabError::refused("stopped", "")
}
