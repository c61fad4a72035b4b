//! A fingerprint as one call: open the target, carry out the probes that the budget allows.

use super::host::{LARGE, ProbedTarget};
use super::probes::{DEPTH_NEEDED, Probe, ProbeReadings, carry_out};
use super::values::{FingerprintValue, values};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_bench::device::named::{KeptDriveLoader, OpenTarget, TargetName};
use ssdlab_bench::device::{ModelledTarget, Target, TargetFacts, TargetKind};
use ssdlab_bench::device::{Needs, OpenOptions};
use ssdlab_bench::engine::devices::new_drive;
use ssdlab_bench::with_target;
use ssdlab_drives::catalogue;
use ssdlab_drives::scaling::scaled;
use ssdlab_ssd::{Bytes, Command, Nanos};
use std::sync::atomic::AtomicBool;

/// Bytes of a file that is made for it.
pub const FILE_BYTES: u64 = 1 << 30;
/// Probes by what they decide for what they cost, best first; each needs those before it that need
/// an emptied drive.
const BEST_FIRST: [Probe; 7] = [
    Probe::Flush,
    Probe::Reads,
    Probe::Buffer,
    Probe::Spans,
    Probe::Fill,
    Probe::Rewrite,
    Probe::Trimmed,
];
/// Bytes written to estimate a rate, before anything is announced.
const FIRST: u64 = 64 << 20;

/// What may be spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ProbeBudget {
    /// Bytes written; `None`: no limit.
    pub bytes: Option<u64>,
    /// Seconds of the target's time.
    pub seconds: Option<f64>,
}

/// What a probe costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProbeCost {
    /// Bytes written.
    pub bytes: u64,
    /// Seconds of the target's time.
    pub seconds: f64,
}

/// What to look at.
#[derive(Clone, Debug)]
pub struct FingerprintRequest {
    /// The target.
    pub target: TargetName,
    /// Size of the target and permission to write.
    pub open: OpenOptions,
    /// Loads `drive:PATH` of a kept drive.
    pub kept: KeptDriveLoader,
    /// Size of the model of a new drive, bytes.
    pub capacity: u64,
    /// What may be spent.
    pub budget: ProbeBudget,
    /// Seed of every random stream.
    pub seed: u64,
}

/// Sees a fingerprint as it is taken.
pub trait FingerprintProgress {
    /// A new file is being filled: bytes written, and their total.
    fn filling(&mut self, written: u64, total: u64);

    /// What will be done, and what it costs at most.
    fn announced(&mut self, plan: &[(Probe, ProbeCost)], left_out: &[(Probe, String)]);

    /// A probe begins.
    fn begins(&mut self, probe: Probe);
}

/// A probe that was carried out.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct CompletedProbe {
    /// The probe.
    pub probe: Probe,
    /// What was announced.
    pub announced: ProbeCost,
    /// What it cost.
    pub cost: ProbeCost,
}

/// A drive looked at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Fingerprint {
    /// `ssdlab-fingerprint`.
    pub format: &'static str,
    /// Version of this structure.
    pub version: u32,
    /// The target.
    pub target: TargetFacts,
    /// Bytes of it that were used.
    pub bytes: u64,
    /// Seed.
    pub seed: u64,
    /// What was allowed.
    pub budget: ProbeBudget,
    /// Probes carried out.
    pub done: Vec<CompletedProbe>,
    /// Probes that were not, and why.
    pub left_out: Vec<(Probe, String)>,
    /// Every value, known or UNKNOWN.
    pub values: Vec<FingerprintValue>,
    /// What was measured, for plots.
    #[serde(skip)]
    pub readings: ProbeReadings,
}

impl Fingerprint {
    /// The value of a key, where it is known.
    pub fn known(&self, key: &str) -> Option<&FingerprintValue> {
        let value = self.values.iter().find(|value| value.key == key)?;
        value.value.is_some().then_some(value)
    }
}

/// Opens the target and takes its fingerprint.
///
/// # Errors
/// When the target cannot be opened or written, or fails.
pub fn take(
    request: &FingerprintRequest,
    progress: &mut dyn FingerprintProgress,
    stop: &AtomicBool,
) -> Result<Fingerprint, LabError> {
    let mut opened = open(request, progress, stop)?;
    let facts = opened.facts().clone();
    let bytes = request
        .open
        .size
        .map_or(facts.capacity, |size| size.min(facts.capacity));
    let bytes = bytes / u64::from(LARGE) * u64::from(LARGE);
    if bytes < 64 << 20 {
        let problem = format!("a target of {}: 64 MiB or more is allowed", Bytes(bytes));
        return Err(LabError::refused(
            problem,
            "give a larger --size, or --capacity of a model",
        ));
    }
    with_target!(&mut opened, target => {
        let mut host = ProbedTarget::new(&mut **target, bytes, stop);
        probed(request, facts, &mut host, progress)
    })
}

fn open(
    request: &FingerprintRequest,
    progress: &mut dyn FingerprintProgress,
    stop: &AtomicBool,
) -> Result<OpenTarget, LabError> {
    if let TargetName::Drive(name) = &request.target
        && (request.kept)(name)?.is_none()
    {
        let listed = catalogue::open(name)?;
        let small = scaled(&listed.config, request.capacity)?.config;
        // Nothing of the drive's file but what its host sees.
        let facts = TargetFacts {
            capacity: small.user_bytes,
            interface: Some(listed.file.interface.clone()),
            ..TargetFacts::unknown(format!("drive:{name}"), TargetKind::Modelled)
        };
        let target = ModelledTarget::around(new_drive(&small)?, facts);
        return Ok(OpenTarget::Modelled(Box::new(target), listed.rests_on()));
    }
    let mut options = request.open.clone();
    if matches!(&request.target, TargetName::Path(path) if !path.exists()) {
        options.size.get_or_insert(FILE_BYTES);
    }
    let needs = Needs {
        depth: DEPTH_NEEDED,
        read_bytes: LARGE,
        write_bytes: LARGE,
        changes: true,
        granule: 4096,
        extent: options.size,
        ..Needs::default()
    };
    let mut filling = |written, total| progress.filling(written, total);
    let (target, kept) = (&request.target, request.kept);
    OpenTarget::open(target, &needs, &options, kept, &mut filling, stop)
}

/// Bytes a second of large writes in order, for the announcement.
fn first_rate<T: Target>(host: &mut ProbedTarget<'_, T>) -> Result<f64, LabError> {
    let (began, len) = (host.now(), u64::from(LARGE));
    let mut starts = (0..FIRST / len).map(|n| n * len);
    host.keep(
        16,
        |_| starts.next().map(|offset| Command::write(offset, LARGE)),
        |_| {},
    )?;
    let time = host.now().saturating_sub(began).as_secs_f64();
    Ok(FIRST as f64 / time.max(1e-9))
}

/// Probes with what they cost at most.
type ProbePlan = Vec<(Probe, ProbeCost)>;
/// Probes that are not carried out, and why.
type OmittedProbes = Vec<(Probe, String)>;

/// Probes that fit into the budget, in the order of carrying out, and the others.
fn plan(
    facts: &TargetFacts,
    bytes: u64,
    rate: f64,
    budget: ProbeBudget,
) -> (ProbePlan, OmittedProbes) {
    let (mut chosen, mut left_out) = (Vec::new(), Vec::new());
    let mut sum = ProbeCost {
        bytes: FIRST,
        seconds: FIRST as f64 / rate,
    };
    for probe in BEST_FIRST {
        let cost = ProbeCost {
            bytes: probe.writes(bytes),
            seconds: probe.seconds(bytes, rate),
        };
        let total = ProbeCost {
            bytes: sum.bytes + cost.bytes,
            seconds: sum.seconds + cost.seconds,
        };
        let is_file = facts.kind == TargetKind::File;
        if probe.needs_drive() && is_file {
            left_out.push((
                probe,
                "needs a drive of its own: a file cannot be emptied".into(),
            ));
        } else if budget.bytes.is_some_and(|most| total.bytes > most) {
            let reason = format!("writes {}: more than the budget leaves", Bytes(cost.bytes));
            left_out.push((probe, reason));
        } else if budget.seconds.is_some_and(|most| total.seconds > most) {
            let reason = format!(
                "takes up to {:.0} s: more than the budget leaves",
                cost.seconds
            );
            left_out.push((probe, reason));
        } else if probe.needs_drive() && left_out.iter().any(|(omitted, _)| omitted.needs_drive()) {
            left_out.push((probe, "needs a probe that is left out".into()));
        } else {
            chosen.push((probe, cost));
            sum = total;
        }
    }
    chosen.sort_by_key(|(probe, _)| *probe);
    (chosen, left_out)
}

fn probed<T: Target>(
    request: &FingerprintRequest,
    facts: TargetFacts,
    host: &mut ProbedTarget<'_, T>,
    progress: &mut dyn FingerprintProgress,
) -> Result<Fingerprint, LabError> {
    let rate = first_rate(host)?;
    let (planned, mut left_out) = plan(&facts, host.bytes, rate, request.budget);
    progress.announced(&planned, &left_out);
    if let Some(seconds) = request.budget.seconds {
        host.limit(Nanos((seconds * 1e9) as u64));
    }
    let mut readings = ProbeReadings::default();
    let mut completed = Vec::new();
    for (probe, announced) in planned {
        if host.is_stopped() {
            left_out.push((probe, "stopped, or the time was up".into()));
            continue;
        }
        progress.begins(probe);
        let before = (host.written, host.elapsed());
        let mut updated = readings.clone();
        let carried = carry_out(probe, host, request.seed, &mut updated);
        match carried {
            // A device without TRIM.
            Err(error) if probe == Probe::Fill && host.written == before.0 => {
                left_out.push((probe, error.to_string()));
                continue;
            }
            other => other?,
        }
        if host.is_stopped() {
            left_out.push((
                probe,
                "stopped, or the time was up, before it was complete".into(),
            ));
            continue;
        }
        readings = updated;
        let cost = ProbeCost {
            bytes: host.written - before.0,
            seconds: host.elapsed().saturating_sub(before.1).as_secs_f64(),
        };
        completed.push(CompletedProbe {
            probe,
            announced,
            cost,
        });
    }
    readings.bytes = host.bytes;
    Ok(Fingerprint {
        format: "ssdlab-fingerprint",
        version: 1,
        target: facts,
        bytes: host.bytes,
        seed: request.seed,
        budget: request.budget,
        done: completed,
        left_out,
        values: values(&readings),
        readings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_takes_the_cheap_probes_first_and_a_file_is_never_emptied() {
        let facts = |kind| TargetFacts::unknown("t".into(), kind);
        let plan = |kind, seconds, bytes| {
            let budget = ProbeBudget { bytes, seconds };
            let (chosen, left) = plan(&facts(kind), 1 << 40, 4e8, budget);
            assert_eq!(chosen.len() + left.len(), Probe::ALL.len());
            chosen
                .into_iter()
                .map(|(probe, _)| probe)
                .collect::<Vec<_>>()
        };
        let all = plan(TargetKind::BlockDevice, None, None);
        assert_eq!(all, Probe::ALL);
        let short = plan(TargetKind::BlockDevice, Some(300.0), None);
        let cheap = [Probe::Flush, Probe::Reads, Probe::Spans, Probe::Buffer];
        assert_eq!(short, cheap);
        let filled = plan(TargetKind::BlockDevice, None, Some(1_200_000_000_000));
        assert_eq!(filled[0], Probe::Fill);
        assert!(!filled.contains(&Probe::Rewrite) && !filled.contains(&Probe::Trimmed));
        assert_eq!(plan(TargetKind::File, None, None), cheap);
        assert_eq!(plan(TargetKind::File, Some(1.0), None), []);
    }
}
