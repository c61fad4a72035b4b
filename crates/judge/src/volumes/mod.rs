//! What volume to buy for a recorded load: from a trace or a run directory and a role to settings.

pub mod show;

use crate::qualify::{MeasureUnit, QualifyMeasure, Role};
use ssdlab_base::LabError;
use ssdlab_bench::run_dir::RunDir;
use ssdlab_load::trace::{ReadOptions, TraceReader};
use ssdlab_ssd::{Command, Nanos, Op};
use ssdlab_volume::catalogue::{self, VolumeFile};
use ssdlab_volume::fit::{FitLimit, FitLoad, FitPlan, VolumeFit, VolumePrices, VolumeRequest, fit};
use std::path::Path;

/// Commands of a load that are replayed at most.
const REQUESTS_MAX: usize = 4_000_000;
/// A block of a recorded run lies somewhere in this.
const RUN_BYTES: u64 = 8 << 30;
const GIB: u64 = 1 << 30;

/// What to fit.
#[derive(Clone, Debug)]
pub struct FitRequest {
    /// The load.
    pub load: FitLoad,
    /// How fast it must be.
    pub limit: FitLimit,
    /// Types by name; empty: all.
    pub kinds: Vec<String>,
    /// The least size in GiB; `None`: what the load addresses.
    pub gib: Option<u64>,
    /// An instance, of the types of its provider.
    pub instance: Option<String>,
    /// Share of the credit at the beginning, in thousandths.
    pub credit_permille: u32,
    /// The user's prices.
    pub prices: VolumePrices,
}

/// The limit on latency that a role sets: its first requirement of a tail.
pub fn limit_of(role: &Role) -> Option<FitLimit> {
    let limits = role.requirements.iter().filter_map(|requirement| {
        let share = match requirement.measure {
            QualifyMeasure::EtcdAppendP99
            | QualifyMeasure::FlushP99
            | QualifyMeasure::DurableWriteP99
            | QualifyMeasure::RandomReadP99 => 0.99,
            QualifyMeasure::DurableWriteP999 => 0.999,
            _ => return None,
        };
        let at_most = requirement
            .at_most
            .filter(|_| requirement.unit == MeasureUnit::Milliseconds);
        at_most.map(|ms| FitLimit {
            latency_ns: (ms * 1e6) as u64,
            share,
        })
    });
    limits.into_iter().next()
}

/// The load of a trace or of a run directory.
///
/// # Errors
/// When it cannot be read or holds no command.
pub fn load(path: &Path, options: &ReadOptions) -> Result<FitLoad, LabError> {
    let requests = if path.is_dir() {
        of_run(path)?
    } else {
        of_trace(path, options)?
    };
    if requests.is_empty() {
        return Err(LabError::refused(
            format!("{}: no command in it", path.display()),
            "name a trace (see `ssdlab trace show`) or a directory that `ssdlab run` wrote",
        ));
    }
    Ok(FitLoad::new(requests))
}

fn of_trace(path: &Path, options: &ReadOptions) -> Result<Vec<VolumeRequest>, LabError> {
    let mut reader = TraceReader::open(path, options)?;
    let mut requests = Vec::new();
    while let Some(event) = reader.next_event()? {
        let time = Nanos(event.issued_ns);
        if event.preflush && event.op != Op::Flush {
            requests.push(VolumeRequest {
                time,
                command: Command::flush(),
            });
        }
        let command = Command {
            op: event.op,
            fua: event.fua,
            ..Command::write(event.offset, u32::try_from(event.len).unwrap_or(u32::MAX))
        };
        requests.push(VolumeRequest { time, command });
        if requests.len() > REQUESTS_MAX {
            return Err(LabError::refused(
                format!("{}: more than {REQUESTS_MAX} commands", path.display()),
                "cut the trace: `ssdlab trace convert` into CSV, then its busiest hour",
            ));
        }
    }
    Ok(requests)
}

/// The commands of each second, evenly in it, somewhere on the volume.
fn of_run(path: &Path) -> Result<Vec<VolumeRequest>, LabError> {
    let run = RunDir::open(path)?;
    let mut requests = Vec::new();
    let mut offset = 0_u64;
    for second in run.seconds.iter().filter(|second| second.t_s >= 0) {
        let start = u64::try_from(second.t_s).unwrap_or(0) * 1_000_000_000;
        for op in Op::ALL {
            let stats = second.ops[op as usize];
            let len = stats.bytes.checked_div(stats.count).unwrap_or(0) / 512 * 512;
            for number in 0..stats.count {
                offset = (offset + 0x1fff_f000 + len) % RUN_BYTES / 4096 * 4096;
                let command = Command {
                    op,
                    ..Command::write(offset, u32::try_from(len).unwrap_or(u32::MAX))
                };
                let within = 1_000_000_000 * number / stats.count;
                let time = Nanos(start + within);
                let command = if op == Op::Flush {
                    Command::flush()
                } else {
                    command
                };
                requests.push(VolumeRequest { time, command });
            }
        }
        if requests.len() > REQUESTS_MAX {
            let problem = format!("{}: more than {REQUESTS_MAX} commands", path.display());
            return Err(LabError::refused(problem, "a shorter run will do"));
        }
    }
    Ok(requests)
}

fn kinds(request: &FitRequest) -> Result<Vec<VolumeFile>, LabError> {
    if request.kinds.is_empty() {
        return catalogue::volumes();
    }
    let kinds = request.kinds.iter();
    kinds.map(|kind| catalogue::volume(kind)).collect()
}

/// The cheapest setting of each type, those that serve the load first, cheapest first where prices
/// are known.
///
/// # Errors
/// When a type or an instance is not known.
pub fn fit_all(request: &FitRequest) -> Result<Vec<VolumeFit>, LabError> {
    let addressed = request.load.end.div_ceil(GIB);
    let mut fits = Vec::new();
    for file in kinds(request)? {
        let instance = match &request.instance {
            None => None,
            Some(name) => match catalogue::instance(&file.provider, &file.name, name) {
                Ok(limits) => Some((name.clone(), limits)),
                // An instance of another provider.
                Err(_) if request.kinds.is_empty() => continue,
                Err(error) => return Err(error),
            },
        };
        let plan = FitPlan {
            load: &request.load,
            limit: request.limit,
            gib_min: request.gib.unwrap_or(addressed).max(1),
            instance,
            credit_permille: request.credit_permille,
            prices: &request.prices,
        };
        fits.extend(fit(&file, &plan));
    }
    if fits.is_empty() {
        let name = request.instance.as_deref().unwrap_or_default();
        return Err(LabError::refused(
            format!("the limits of instance `{name}` are not known"),
            "`ssdlab volumes list` has those that are",
        ));
    }
    let price = |fit: &VolumeFit| fit.cost.price.unwrap_or(f64::INFINITY);
    fits.sort_by(|a, b| b.serves.cmp(&a.serves).then(price(a).total_cmp(&price(b))));
    Ok(fits)
}

/// The user's prices; none without a file.
///
/// # Errors
/// When the file cannot be read or is no such file.
pub fn read_prices(path: Option<&Path>) -> Result<VolumePrices, LabError> {
    let Some(path) = path else {
        return Ok(VolumePrices::default());
    };
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| LabError::file("reading", path, error))?;
    VolumePrices::parse(&text, &path.display().to_string())
}
