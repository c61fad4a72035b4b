//! The loads under which a drive is taken apart, and their figure: time per command.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_bench::engine::devices::{CommandSource, DeviceCompletion, Devices};
use ssdlab_ssd::drive::Relief;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, Drive, Nanos, Op};
use ssdlab_view::units;

/// A load and its figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AblationLoad {
    /// 4 KiB random FUA writes, one outstanding.
    DurableWrite,
    /// 4 KiB random writes, 32 outstanding.
    RandomWrite,
    /// 4 KiB random reads, 32 outstanding.
    RandomRead,
    /// 4 KiB random reads, one outstanding.
    ReadLatency,
    /// 4 KiB random, 70 % reads, 8 outstanding.
    Mixed,
    /// The same; 99 % of its reads take no longer.
    ReadTail,
    /// 128 KiB writes in order, 32 outstanding.
    SequentialWrite,
    /// 128 KiB reads in order, 32 outstanding.
    SequentialRead,
    /// [`AblationLoad::DurableWrite`]; 99.9 % take no longer.
    DurableSlowest,
    /// [`AblationLoad::RandomWrite`]; 99.9 % take no longer.
    WriteSlowest,
    /// [`AblationLoad::Mixed`]; 99.9 % of its reads take no longer.
    ReadSlowest,
    /// The commands of a host, its pauses included: see [`super::HostStream`].
    Trace,
}

/// Bytes of a random command.
const RANDOM: u32 = 4096;
/// Bytes of a sequential command.
const SEQUENTIAL: u32 = 128 << 10;
/// Share of reads in a mix, in percent.
const READ_PCT: u64 = 70;

impl AblationLoad {
    /// Those whose faults are looked for.
    pub const ALL: [AblationLoad; 8] = [
        AblationLoad::DurableWrite,
        AblationLoad::RandomWrite,
        AblationLoad::RandomRead,
        AblationLoad::ReadLatency,
        AblationLoad::Mixed,
        AblationLoad::ReadTail,
        AblationLoad::SequentialWrite,
        AblationLoad::SequentialRead,
    ];
    /// Where the time of the slowest commands goes.
    pub const SLOWEST: [AblationLoad; 3] = [
        AblationLoad::DurableSlowest,
        AblationLoad::WriteSlowest,
        AblationLoad::ReadSlowest,
    ];

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            AblationLoad::DurableWrite => "durable writes, QD1",
            AblationLoad::RandomWrite => "random writes, QD32",
            AblationLoad::RandomRead => "random reads, QD32",
            AblationLoad::ReadLatency => "random reads, QD1",
            AblationLoad::Mixed => "70/30 mix, QD8",
            AblationLoad::ReadTail => "its reads, p99",
            AblationLoad::SequentialWrite => "writes in order",
            AblationLoad::SequentialRead => "reads in order",
            AblationLoad::DurableSlowest => "durable writes, p99.9",
            AblationLoad::WriteSlowest => "random writes, p99.9",
            AblationLoad::ReadSlowest => "reads of the mix, p99.9",
            AblationLoad::Trace => "the trace",
        }
    }

    /// In full, for sentences.
    pub fn title(self) -> &'static str {
        match self {
            AblationLoad::DurableWrite => "durable 4 KiB writes, one at a time",
            AblationLoad::RandomWrite => "random 4 KiB writes, 32 at a time",
            AblationLoad::RandomRead => "random 4 KiB reads, 32 at a time",
            AblationLoad::ReadLatency => "random 4 KiB reads, one at a time",
            AblationLoad::Mixed => "random, 70 % reads, 8 at a time",
            AblationLoad::ReadTail => "reads beside writes, 99th percentile",
            AblationLoad::SequentialWrite => "writes in order",
            AblationLoad::SequentialRead => "reads in order",
            AblationLoad::DurableSlowest => "durable writes, 99.9th percentile",
            AblationLoad::WriteSlowest => "random writes, 99.9th percentile",
            AblationLoad::ReadSlowest => "reads beside writes, 99.9th percentile",
            AblationLoad::Trace => "the trace, time per command",
        }
    }

    /// A time per command or percentile as the figure that people know of such a load.
    pub fn figure(self, ns: f64) -> String {
        let rate = || units::count((1e9 / ns).round() as u64);
        match self {
            AblationLoad::DurableWrite => {
                format!("{} ({} a second)", units::time_mean(ns), rate())
            }
            AblationLoad::RandomWrite | AblationLoad::RandomRead | AblationLoad::Mixed => {
                format!("{} a second", rate())
            }
            AblationLoad::SequentialWrite | AblationLoad::SequentialRead => {
                units::throughput(f64::from(SEQUENTIAL) * 1e9 / ns)
            }
            _ => units::time_mean(ns),
        }
    }

    /// Of a percentile, the load whose mean it stands out from.
    pub fn typical(self) -> Option<AblationLoad> {
        match self {
            AblationLoad::ReadTail | AblationLoad::ReadSlowest => Some(AblationLoad::Mixed),
            AblationLoad::WriteSlowest => Some(AblationLoad::RandomWrite),
            AblationLoad::DurableSlowest => Some(AblationLoad::DurableWrite),
            _ => None,
        }
    }

    pub(crate) fn depth(self) -> u32 {
        match self {
            AblationLoad::DurableWrite
            | AblationLoad::ReadLatency
            | AblationLoad::DurableSlowest => 1,
            AblationLoad::Mixed | AblationLoad::ReadTail | AblationLoad::ReadSlowest => 8,
            _ => 32,
        }
    }

    /// The kind of command and the percentile, in tenths of a percent, that is the figure; the
    /// mean of all otherwise.
    fn percentile(self) -> Option<(Op, usize)> {
        match self {
            AblationLoad::ReadTail => Some((Op::Read, 990)),
            AblationLoad::DurableSlowest | AblationLoad::WriteSlowest => Some((Op::Write, 999)),
            AblationLoad::ReadSlowest => Some((Op::Read, 999)),
            _ => None,
        }
    }

    /// Commands that are measured, after half as many that are not.
    fn count(self) -> u64 {
        match self {
            AblationLoad::DurableWrite | AblationLoad::ReadLatency => 1_000,
            AblationLoad::SequentialWrite | AblationLoad::SequentialRead => 1_000,
            // Twenty commands or more are beyond the percentile.
            AblationLoad::DurableSlowest | AblationLoad::WriteSlowest => 20_000,
            AblationLoad::ReadSlowest => 30_000,
            _ => 8_000,
        }
    }

    fn command(self, number: u64, rng: &mut Rng, user: u64) -> Command {
        let in_order = number % (user / u64::from(SEQUENTIAL)) * u64::from(SEQUENTIAL);
        let offset = rng.below(user / u64::from(RANDOM)) * u64::from(RANDOM);
        match self {
            AblationLoad::DurableWrite | AblationLoad::DurableSlowest => {
                Command::write_fua(offset, RANDOM)
            }
            AblationLoad::RandomWrite | AblationLoad::WriteSlowest => {
                Command::write(offset, RANDOM)
            }
            AblationLoad::Trace => unreachable!("a trace has its own commands"),
            AblationLoad::RandomRead | AblationLoad::ReadLatency => Command::read(offset, RANDOM),
            AblationLoad::Mixed | AblationLoad::ReadTail | AblationLoad::ReadSlowest => {
                if rng.below(100) < READ_PCT {
                    Command::read(offset, RANDOM)
                } else {
                    Command::write(offset, RANDOM)
                }
            }
            AblationLoad::SequentialWrite => Command::write(in_order, SEQUENTIAL),
            AblationLoad::SequentialRead => Command::read(in_order, SEQUENTIAL),
        }
    }
}

/// Unit programs and reads after which a measurement ends early: a drive that works that
/// hard for each command shows it in few.
const WORK_MAX: u64 = 40_000;
/// The same where the figure is that of the slowest commands.
const WORK_SLOWEST_MAX: u64 = 400_000;
/// Fewest commands of a measurement: as many as were outstanding when it began must have ended.
const COUNT_MIN: u64 = 40;

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub struct AblationMeasurement {
    /// The load's figure, ns.
    pub ns: f64,
    /// Slots moved by reclaim for each slot of the host.
    pub moved: f64,
}

struct AblationCommands {
    load: AblationLoad,
    given: u64,
    count: u64,
    count_min: u64,
    /// Work of the drive at which no further command is given.
    work_max: u64,
    rng: Rng,
    user: u64,
    /// Of the commands whose percentile is the figure, ns.
    latencies: Vec<u64>,
}

fn work(drive: &Drive) -> u64 {
    let counters = drive.counters();
    counters.nand_programs + counters.nand_reads_host + counters.nand_reads_internal
}

impl CommandSource for AblationCommands {
    fn next(&mut self, drive: &Drive) -> Option<Command> {
        let enough = self.given >= self.count_min && work(drive) >= self.work_max;
        (self.given < self.count && !enough).then(|| {
            self.given += 1;
            self.load.command(self.given, &mut self.rng, self.user)
        })
    }

    fn done(&mut self, _: &Drive, done: &DeviceCompletion) {
        let percentile = self.load.percentile();
        if percentile.is_some_and(|(op, _)| op == done.op) {
            self.latencies.push((done.done - done.submitted).0);
        }
    }
}

/// Measures `load` on a fork of `drive` that `reliefs` are applied to.
pub fn measure(
    drive: &Drive,
    load: AblationLoad,
    reliefs: &[Relief],
    seed: u64,
) -> AblationMeasurement {
    let mut drive = drive.clone();
    reliefs.iter().for_each(|relief| drive.relieve(*relief));
    let work_most = if AblationLoad::SLOWEST.contains(&load) {
        WORK_SLOWEST_MAX
    } else {
        WORK_MAX
    };
    let mut commands = AblationCommands {
        load,
        given: 0,
        count: load.count() / 2,
        count_min: COUNT_MIN,
        work_max: work(&drive) + work_most / 2,
        rng: Rng::named(seed, load.name()),
        user: drive.config().user_bytes / u64::from(SEQUENTIAL) * u64::from(SEQUENTIAL),
        latencies: Vec::new(),
    };
    let mut host = Devices::one(drive);
    host.keep(load.depth(), Nanos::MAX, &mut commands);
    commands.latencies.clear();
    let (began, before) = (host.now(), host.drive(0).counters().clone());
    let warm = commands.given;
    commands.count_min = warm + COUNT_MIN;
    commands.count = warm + load.count();
    commands.work_max = work(host.drive(0)) + work_most;
    host.keep(load.depth(), Nanos::MAX, &mut commands);
    let count = (commands.given - warm).max(1);
    let per_command = (host.now() - began).0 as f64 / count as f64;
    let after = host.drive(0).counters();
    let written = after.slots_host - before.slots_host;
    let moved = after.slots_relocated - before.slots_relocated;
    commands.latencies.sort_unstable();
    let at_percentile = |(_, tenths)| {
        commands
            .latencies
            .get(commands.latencies.len() * tenths / 1000)
    };
    let slowest = load.percentile().and_then(at_percentile);
    AblationMeasurement {
        ns: slowest.map_or(per_command, |ns| *ns as f64),
        moved: moved as f64 / written.max(1) as f64,
    }
}
