//! What was measured of a target, and what was concluded from it.

use super::later::LaterStates;
use super::loads::UsedRun;
use super::overwrite::{DurableRun, Overwrite};
use crate::account::AccountEvidence;
use crate::pull::PullRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_bench::analysis::{SteadyState, WriteCliff};
use ssdlab_bench::device::TargetFacts;
use ssdlab_bench::device::health::EvidenceGrade;
use ssdlab_bench::record::Second;
use ssdlab_drives::rests_on::RestsOn;

impl Evidence {
    /// Evidence of a target on which nothing has been measured yet.
    pub fn none(facts: TargetFacts) -> Evidence {
        Evidence {
            facts,
            probes: Vec::new(),
            flush_by_dirty: Vec::new(),
            sustained: Vec::new(),
            overwrite: None,
            later: None,
            pulls: None,
            account: None,
            ensemble: None,
            rests_on: Vec::new(),
            region_bytes: 0,
            precondition: String::new(),
            incomplete: Vec::new(),
        }
    }

    /// The probe of this method with this number of writers.
    pub fn probe(&self, method: &str, writers: u32) -> Option<&WriteProbe> {
        self.probes
            .iter()
            .find(|p| p.method == method && p.writers == writers)
    }

    /// A role's load on the used drive, modelled or real.
    pub fn used(&self, load: &str) -> Option<&UsedRun> {
        let of_model = self.overwrite.as_ref().and_then(|o| o.used(load));
        of_model.or_else(|| self.later.as_ref()?.used(load))
    }

    /// Durable writes by this method in the worst case, of a model or a real drive.
    pub fn worst_case(&self, method: &str) -> Option<&DurableRun> {
        let of_model = self.overwrite.as_ref().and_then(|o| o.durable(method));
        of_model.or_else(|| self.later.as_ref()?.worst_case(method))
    }

    /// The sustained run of this name (see [`names`]).
    pub fn run(&self, name: &str) -> Option<&SustainedRun> {
        self.sustained.iter().find(|s| s.name == name)
    }
}

/// The outcome of one requirement, and of a whole verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum QualifyOutcome {
    /// Met.
    Pass,
    /// Not met.
    Fail,
    /// The evidence does not decide.
    Unknown,
}

/// Latency and rate of one small experiment.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct WriteProbe {
    /// `plain`, `fua`, `write_flush`.
    #[schemars(extend("enum" = ["plain", "fua", "write_flush"]))]
    pub method: String,
    /// Bytes per write.
    pub block_size: u32,
    /// Writers at the same time, one outstanding command each.
    pub writers: u32,
    /// Durable (or plain) writes completed per second, all writers together.
    pub per_second: f64,
    /// Time from submission until durable, ns. For `write_flush` that is write and flush
    /// together: the mean is exact, the percentiles combine the two histograms as if they were
    /// independent, and the longest is the sum of both longest.
    pub mean_ns: f64,
    /// Median, ns.
    pub p50_ns: u64,
    /// 99th percentile, ns.
    pub p99_ns: u64,
    /// 99.9th percentile, ns.
    pub p999_ns: u64,
    /// 99.99th percentile, ns.
    #[serde(default)]
    pub p9999_ns: u64,
    /// Longest, ns.
    pub max_ns: u64,
    /// 99th percentile of the flush alone, ns: what fdatasync takes. `None` unless `write_flush`.
    #[serde(default)]
    pub flush_p99_ns: Option<u64>,
    /// Writes measured.
    pub count: u64,
    /// Writes, FUA writes and flushes that reached the device per durable write; `None` =
    /// unknown.
    pub device_writes: Option<f64>,
    /// See `device_writes`.
    pub device_fua: Option<f64>,
    /// See `device_writes`.
    pub device_flushes: Option<f64>,
    /// NAND bytes programmed per host byte written, when the target reports it.
    pub waf: Option<f64>,
}

/// Time of a flush, by the bytes written since the last one.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct FlushPoint {
    /// Bytes written since the last flush.
    pub dirty_bytes: u64,
    /// Median flush time, ns.
    pub p50_ns: u64,
    /// Longest flush time, ns.
    pub max_ns: u64,
    /// Flushes measured.
    pub count: u64,
}

/// A load kept up for a while.
#[derive(Clone, Debug, Default, Serialize, JsonSchema, Deserialize, PartialEq)]
pub struct SustainedRun {
    /// One of [`names`]: `random_write_4k_qd32`, `durable_write_4k_qd1`, `mixed_70_30_4k_qd8`...
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// Per second.
    pub seconds: Vec<Second>,
    /// Steady state of write (or all) IOPS, over rounds; `None` = too short to say.
    pub steady: Option<SteadyState>,
    /// The write cliff, if there is one.
    pub cliff: Option<WriteCliff>,
    /// Mean IOPS over the last fifth of the run, all kinds.
    pub iops_end: f64,
    /// 99th percentile of write latency over the whole run, ns; 0 without writes.
    pub write_p99_ns: u64,
    /// Median of read latency over the whole run, ns; 0 without reads.
    #[serde(default)]
    pub read_p50_ns: u64,
    /// 99th percentile of read latency over the whole run, ns; 0 without reads.
    #[serde(default)]
    pub read_p99_ns: u64,
    /// NAND bytes per host byte written, when the target reports it.
    pub waf: Option<f64>,
}

/// Everything measured and known about one target.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct Evidence {
    /// What it is.
    pub facts: TargetFacts,
    /// Durable-write behaviour, 4 KiB, one writer and several.
    pub probes: Vec<WriteProbe>,
    /// Flush time against dirty bytes.
    pub flush_by_dirty: Vec<FlushPoint>,
    /// Longer runs.
    pub sustained: Vec<SustainedRun>,
    /// A modelled drive overwritten until nothing moves any more; `None`: a real drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overwrite: Option<Overwrite>,
    /// A real drive in its later states; `None`: a model, or the run was stopped before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub later: Option<LaterStates>,
    /// A test of real power cuts of this target, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pulls: Option<PullRecord>,
    /// Whether its speed is an account, where the loads suggest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AccountEvidence>,
    /// Of a model that assumes what decides: what drives with drawn constants say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<EnsembleEvidence>,
    /// Calibrated or assumed values of the model that these numbers rest on; empty for a real
    /// target.
    pub rests_on: Vec<RestsOn>,
    /// Bytes of the region that was measured (whole-drive steps say so in their titles).
    #[serde(default)]
    pub region_bytes: u64,
    /// What was done to the region before measuring, in a sentence.
    #[serde(default)]
    pub precondition: String,
    /// Steps that were left out or cut short, and why.
    #[serde(default)]
    pub incomplete: Vec<String>,
}

/// One requirement held against the evidence.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct RoleFinding {
    /// Stable name, e.g. `durable_write_latency`.
    pub id: String,
    /// What is required, in a few words.
    pub title: String,
    /// Whether the role cannot do without it (a hard requirement) or should have it.
    pub hard: bool,
    /// Met or not.
    pub outcome: QualifyOutcome,
    /// The number, with its unit, as shown: `0.21 ms`, `66 /s`, `unknown`.
    pub value: String,
    /// The limit, as shown: `<= 1 ms`.
    pub limit: String,
    /// Grade of the evidence.
    pub grade: EvidenceGrade,
    /// One sentence: why.
    pub why: String,
    /// Where the requirement and its limit come from.
    pub source: String,
    /// What begins beyond the limit, as a sentence.
    #[serde(default)]
    pub harm: String,
    /// Times by which a number is better than its limit: below 1 it misses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<f64>,
    /// Where it depends on constants that are assumed: the share of drawn drives that meets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<FindingEnsemble>,
}

/// What an ensemble of drives says of each requirement that its draws move.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct EnsembleEvidence {
    /// Drives in it.
    pub members: u32,
    /// Keys of the constants that were drawn.
    pub constants: Vec<String>,
    /// Hash of the figures that the constants are estimated from.
    pub prior: String,
    /// By role and requirement.
    pub shares: Vec<RequirementShare>,
}

/// How many of the draws meet a requirement.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct RequirementShare {
    /// Name of the role.
    pub role: String,
    /// The requirement's stable name.
    pub requirement: String,
    /// Draws that meet it.
    pub met: u32,
    /// Draws that miss it; of the rest it is unknown.
    pub missed: u32,
    /// Value that a tenth of the draws are below, in the requirement's unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Value that a tenth of the draws are above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The same beside a finding, with the drive itself.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema, Deserialize)]
pub struct FindingEnsemble {
    /// The draws, and the drive as its file has it.
    pub drives: u32,
    /// Drives that meet the requirement.
    pub met: u32,
    /// Drives that miss it; of the rest it is unknown.
    pub missed: u32,
    /// The interval that holds 80 % of the draws, as shown: `210 to 1,900 /s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// The value of the file's own constants is outside of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_is_outside: bool,
}

/// A mechanism that explains slowness.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct Mechanism {
    /// Stable name, e.g. `volatile_buffer_forced_to_media`.
    pub id: String,
    /// What a person calls it.
    pub title: String,
    /// One or two sentences with the numbers that show it.
    pub sentence: String,
}

/// The answer.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct RoleVerdict {
    /// The role's name.
    pub role: String,
    /// Fail if a hard requirement fails; unknown if one is unknown; else pass.
    pub outcome: QualifyOutcome,
    /// "Is this a good choice?" in one sentence.
    pub answer: String,
    /// What that means for the role, in its own terms.
    #[serde(default)]
    pub consequence: String,
    /// Per requirement.
    pub findings: Vec<RoleFinding>,
    /// "What gives?": empty when nothing is slow.
    pub mechanisms: Vec<Mechanism>,
}

/// A finished qualification: `result.json` of a `qualify` run.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct Qualification {
    /// Format of this file.
    #[schemars(extend("enum" = [1, 2]))]
    pub version: u32,
    /// The role's name.
    pub role: String,
    /// `quick`, `standard` or `full`.
    #[schemars(extend("enum" = ["quick", "standard", "full"]))]
    pub profile: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// The target's evidence and verdict.
    pub target: Assessment,
    /// Modelled drives put beside it, each with its own verdict.
    pub references: Vec<Assessment>,
    /// That the drives beside it were measured beforehand, and which they are, in a sentence
    /// without its full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// Steps and drives left out or cut short, and why.
    pub incomplete: Vec<String>,
}

/// Evidence with its verdict.
#[derive(Clone, Debug, Serialize, JsonSchema, Deserialize)]
pub struct Assessment {
    /// What was measured.
    pub evidence: Evidence,
    /// What follows from it.
    pub verdict: RoleVerdict,
}
