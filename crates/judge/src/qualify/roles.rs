//! Roles and their requirements, read from `roles/`: a file for each.
//!
//! `measure` names a variant of [`QualifyMeasure`]; `unit` repeats that measure's unit so that a
//! limit is never read in another. A requirement has `at_least` or `at_most`, or neither when it
//! must simply hold. `source` says where the limit comes from; a limit of our own begins with
//! "ssdlab's own judgement:" and says which numbers it rests on. "The table of durable writes" is
//! docs/methods.md, section 2.3: 4 KiB durable writes of 19 drives gathered from public posts, md
//! and file system overhead included.

use super::loads;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::sync::LazyLock;

/// What a drive may be asked to be, and what that needs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Role {
    /// As on the command line: `slog`.
    pub name: String,
    /// What a person calls it.
    pub title: String,
    /// The same inside a sentence, with its article: `a ZFS log device`.
    pub as_a: String,
    /// What the device does there, in one sentence.
    pub purpose: String,
    /// What a durable write is to it, before its rate: `a pool commits`.
    pub commits: String,
    /// How this role makes a write durable; durable measures are taken from that probe.
    pub durable_method: DurableMethod,
    /// What it needs, in the order shown.
    #[serde(rename = "requirement")]
    pub requirements: Vec<Requirement>,
}

impl Role {
    /// Its loads on a used drive, in the order of its requirements.
    pub fn loads(&self) -> Vec<&'static loads::RoleLoad> {
        let names = self.requirements.iter().filter_map(|r| r.measure.load());
        let mut loads: Vec<_> = names.filter_map(loads::load).collect();
        loads.dedup_by_key(|load| load.name);
        loads
    }
}

/// A way to make a write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurableMethod {
    /// Force unit access, or written through.
    Fua,
    /// A flush after the write.
    WriteFlush,
}

/// One requirement of a role.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Stable name within the role.
    pub id: String,
    /// What is required, in a few words.
    pub title: String,
    /// What is looked at.
    pub measure: QualifyMeasure,
    /// Smallest value that meets it, in `unit`.
    pub at_least: Option<f64>,
    /// Largest value that meets it, in `unit`.
    pub at_most: Option<f64>,
    /// The measure's unit, repeated.
    pub unit: MeasureUnit,
    /// Another measure that meets it as well.
    pub or: Option<Alternative>,
    /// Whether the role cannot do without it.
    pub hard: bool,
    /// What begins beyond the limit, as a sentence.
    pub harm: String,
    /// Of a relative limit: another requirement whose surplus makes it pointless.
    pub moot: Option<MootLimit>,
    /// Where the requirement and its limit come from.
    pub source: String,
}

/// A second way to meet a requirement.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alternative {
    /// What is looked at.
    pub measure: QualifyMeasure,
    /// Smallest value that meets it, in `unit`.
    pub at_least: Option<f64>,
    /// Largest value that meets it, in `unit`.
    pub at_most: Option<f64>,
    /// The measure's unit, repeated.
    pub unit: MeasureUnit,
}

/// A relative limit does not apply to a drive that has several times what is required of the
/// absolute figure: half of ten times enough is enough.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MootLimit {
    /// The requirement of the absolute figure.
    pub requirement: String,
    /// Times its limit.
    pub times: f64,
}

/// What a requirement looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QualifyMeasure {
    /// Acknowledged, flushed writes survive a power cut.
    Durability,
    /// The whole write buffer survives a power cut.
    PowerLossProtection,
    /// Median time of a durable 4 KiB write, one writer, ms.
    DurableWriteP50,
    /// 99th percentile of the same, ms.
    DurableWriteP99,
    /// 99.9th percentile of the same once the drive is overwritten, ms.
    DurableWriteP999,
    /// 99.99th percentile.
    DurableWriteP9999,
    /// Longest of all, ms.
    LongestStall,
    /// 99th percentile of the flush after a 4 KiB write, ms.
    FlushP99,
    /// Durable 4 KiB writes per second, one writer.
    DurableWritesPerSecond,
    /// Scaling of durable writes: the rate of most writers divided by that of one.
    DurableWritesScaling,
    /// Durable 4 KiB writes per second, one writer, once the drive is overwritten.
    SustainedDurableIops,
    /// Loss from the fresh durable rate to the worst case, per cent of the fresh one.
    DurableFall,
    /// Commits per second of the load `zil` on a used drive.
    OneDatasetPerSecond,
    /// Commits per second of the load `zil-5` on a used drive.
    FiveDatasetsPerSecond,
    /// Writes per second of the load `tier` on a used drive.
    TierWritesPerSecond,
    /// Commits per second of the load `log-8k` on a used drive.
    LogRecordsPerSecond,
    /// Commits per second of the load `etcd` on a used drive.
    EtcdAppendsPerSecond,
    /// 99th percentile of a commit of the load `etcd` on a used drive, ms.
    EtcdAppendP99,
    /// Writes per second of the load `desktop` on a used drive.
    DesktopWritesPerSecond,
    /// Life used, uncorrectable reads, reserve, read-only, temperature.
    Health,
    /// Flush time: most dirty data divided by least.
    FlushGrowth,
    /// IOPS of the 70/30 mix: buffered divided by written-through.
    WriteThroughPenalty,
    /// IOPS of the written-through 70/30 mix in the last fifth of the run.
    WriteThroughMixedIops,
    /// IOPS of 4 KiB random writes, 32 outstanding, in the last fifth of the run.
    SustainedWriteIops,
    /// Drop of the write rate at the deepest cliff, per cent of the rate before.
    WriteCliffDepth,
    /// Steady state by SNIA PTS 2.1.24.
    SteadyState,
    /// IOPS of 4 KiB random reads, 32 outstanding.
    RandomReadIops,
    /// 99th percentile of a 4 KiB random read, one outstanding, ms.
    RandomReadP99,
    /// 99th percentile of reads in the buffered 70/30 mix, ms.
    ReadP99UnderWrites,
    /// Rated drive writes per day.
    EnduranceDwpd,
    /// Rated terabytes (10^12 bytes) written per day.
    EnduranceTbPerDay,
}

impl QualifyMeasure {
    /// Every measure.
    pub const ALL: [QualifyMeasure; 31] = [
        QualifyMeasure::Durability,
        QualifyMeasure::PowerLossProtection,
        QualifyMeasure::DurableWriteP50,
        QualifyMeasure::DurableWriteP99,
        QualifyMeasure::DurableWriteP999,
        QualifyMeasure::DurableWriteP9999,
        QualifyMeasure::LongestStall,
        QualifyMeasure::FlushP99,
        QualifyMeasure::DurableWritesPerSecond,
        QualifyMeasure::DurableWritesScaling,
        QualifyMeasure::SustainedDurableIops,
        QualifyMeasure::DurableFall,
        QualifyMeasure::OneDatasetPerSecond,
        QualifyMeasure::FiveDatasetsPerSecond,
        QualifyMeasure::TierWritesPerSecond,
        QualifyMeasure::LogRecordsPerSecond,
        QualifyMeasure::EtcdAppendsPerSecond,
        QualifyMeasure::EtcdAppendP99,
        QualifyMeasure::DesktopWritesPerSecond,
        QualifyMeasure::Health,
        QualifyMeasure::FlushGrowth,
        QualifyMeasure::WriteThroughPenalty,
        QualifyMeasure::WriteThroughMixedIops,
        QualifyMeasure::SustainedWriteIops,
        QualifyMeasure::WriteCliffDepth,
        QualifyMeasure::SteadyState,
        QualifyMeasure::RandomReadIops,
        QualifyMeasure::RandomReadP99,
        QualifyMeasure::ReadP99UnderWrites,
        QualifyMeasure::EnduranceDwpd,
        QualifyMeasure::EnduranceTbPerDay,
    ];

    /// The role's load on a used drive that it is a figure of ([`super::loads`]).
    pub const fn load(self) -> Option<&'static str> {
        match self {
            QualifyMeasure::OneDatasetPerSecond => Some(loads::ZIL),
            QualifyMeasure::FiveDatasetsPerSecond => Some(loads::ZIL_FIVE),
            QualifyMeasure::TierWritesPerSecond => Some(loads::TIER),
            QualifyMeasure::LogRecordsPerSecond => Some(loads::LOG_8K),
            QualifyMeasure::EtcdAppendsPerSecond | QualifyMeasure::EtcdAppendP99 => {
                Some(loads::ETCD)
            }
            QualifyMeasure::DesktopWritesPerSecond => Some(loads::DESKTOP),
            _ => None,
        }
    }

    /// Its unit.
    pub const fn unit(self) -> MeasureUnit {
        use QualifyMeasure::*;
        match self {
            Durability | PowerLossProtection | SteadyState | Health => MeasureUnit::Fact,
            DurableWriteP50 | DurableWriteP99 | DurableWriteP999 | DurableWriteP9999
            | LongestStall | FlushP99 | EtcdAppendP99 | RandomReadP99 | ReadP99UnderWrites => {
                MeasureUnit::Milliseconds
            }
            DurableWritesPerSecond
            | OneDatasetPerSecond
            | FiveDatasetsPerSecond
            | TierWritesPerSecond
            | LogRecordsPerSecond
            | EtcdAppendsPerSecond
            | DesktopWritesPerSecond
            | SustainedDurableIops
            | WriteThroughMixedIops
            | SustainedWriteIops
            | RandomReadIops => MeasureUnit::PerSecond,
            DurableWritesScaling | FlushGrowth | WriteThroughPenalty => MeasureUnit::Ratio,
            WriteCliffDepth | DurableFall => MeasureUnit::Percent,
            EnduranceDwpd => MeasureUnit::DriveWritesPerDay,
            EnduranceTbPerDay => MeasureUnit::TerabytesPerDay,
        }
    }
}

/// The unit of a measure and of its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum MeasureUnit {
    /// It holds or does not.
    #[serde(rename = "yes")]
    Fact,
    /// ms.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Commands per second.
    #[serde(rename = "/s")]
    PerSecond,
    /// One value divided by another.
    #[serde(rename = "x")]
    Ratio,
    /// Per cent.
    #[serde(rename = "%")]
    Percent,
    /// Rated drive writes per day.
    #[serde(rename = "DWPD")]
    DriveWritesPerDay,
    /// Terabytes (10^12 bytes) per day.
    #[serde(rename = "TB/day")]
    TerabytesPerDay,
}

impl MeasureUnit {
    /// As it stands behind a number.
    pub const fn symbol(self) -> &'static str {
        match self {
            MeasureUnit::Fact => "",
            MeasureUnit::Milliseconds => "ms",
            MeasureUnit::PerSecond => "/s",
            MeasureUnit::Ratio => "x",
            MeasureUnit::Percent => "%",
            MeasureUnit::DriveWritesPerDay => "DWPD",
            MeasureUnit::TerabytesPerDay => "TB/day",
        }
    }
}

/// The files, in the order in which roles are listed.
const FILES: [&str; 6] = [
    include_str!("roles/slog.toml"),
    include_str!("roles/s2d-cache.toml"),
    include_str!("roles/ceph-wal.toml"),
    include_str!("roles/db-wal.toml"),
    include_str!("roles/etcd.toml"),
    include_str!("roles/general.toml"),
];

static ROLES: LazyLock<Vec<Role>> = LazyLock::new(|| {
    let role = |text| toml::from_str(text).expect("the embedded file of a role is valid");
    FILES.map(role).to_vec()
});

/// Every role, in the order of the command line.
///
/// # Panics
/// Never in a build whose tests passed: the files are embedded.
pub fn roles() -> &'static [Role] {
    &ROLES
}

/// The role called `name`.
///
/// # Errors
/// When no role has that name; the message lists all roles.
pub fn role(name: &str) -> Result<&'static Role, LabError> {
    roles().iter().find(|r| r.name == name).ok_or_else(|| {
        let known: Vec<&str> = roles().iter().map(|r| r.name.as_str()).collect();
        LabError::refused(
            format!("there is no role `{name}`"),
            format!("roles are {}", known.join(", ")),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_requirement_has_a_source_a_matching_unit_and_one_limit() {
        let names: Vec<&str> = roles().iter().map(|r| r.name.as_str()).collect();
        assert_eq!(
            names,
            ["slog", "s2d-cache", "ceph-wal", "db-wal", "etcd", "general"]
        );
        for role in roles() {
            assert!(role.as_a.starts_with("a "), "{}", role.name);
            assert!(role.purpose.ends_with('.'), "{}", role.name);
            assert!(role.requirements.iter().any(|r| r.hard), "{}", role.name);
            let mut ids = HashSet::new();
            for r in &role.requirements {
                let at = format!("{} {}", role.name, r.id);
                assert!(ids.insert(&r.id), "{at} twice");
                assert!(r.source.trim().len() > 40, "{at}: source");
                assert!(r.harm.len() > 30 && r.harm.ends_with('.'), "{at}: harm");
                if let Some(moot) = &r.moot {
                    let mut others = role.requirements.iter();
                    let absolute = others.find(|other| other.id == moot.requirement);
                    assert!(absolute.is_some_and(|a| a.at_least.is_some()), "{at}");
                    assert!(!r.hard && moot.times > 1.0, "{at}");
                }
                let relative = matches!(r.unit, MeasureUnit::Ratio | MeasureUnit::Percent);
                assert!(
                    !(relative && r.hard),
                    "{at}: a relative limit may not be a must"
                );
                assert!(!r.title.is_empty(), "{at}: title");
                assert_eq!(r.unit, r.measure.unit(), "{at}: unit");
                let limits = r.at_least.is_some() as u8 + r.at_most.is_some() as u8;
                assert_eq!(limits, (r.unit != MeasureUnit::Fact) as u8, "{at}: limits");
                if let Some(or) = &r.or {
                    assert_eq!(or.unit, or.measure.unit(), "{at}: unit of the alternative");
                    assert!(or.at_least.is_some() != or.at_most.is_some(), "{at}");
                }
            }
        }
    }

    #[test]
    fn every_role_has_its_table_in_the_guide() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let guide = std::fs::read_to_string(root.join("docs/roles.md")).expect("a guide");
        for role in roles() {
            let section = guide.split("\n## ").find(|section| {
                let heading = section.lines().next().unwrap_or_default();
                heading.contains(&format!("`{}`", role.name))
            });
            let section = section.unwrap_or_else(|| panic!("docs/roles.md lacks {}", role.name));
            assert!(section.contains("\n| requirement |"), "{}", role.name);
        }
    }

    #[test]
    fn every_measure_is_used_by_some_role() {
        let used: HashSet<QualifyMeasure> = roles()
            .iter()
            .flat_map(|r| &r.requirements)
            .flat_map(|r| std::iter::once(r.measure).chain(r.or.as_ref().map(|o| o.measure)))
            .collect();
        for measure in QualifyMeasure::ALL {
            assert!(used.contains(&measure), "{measure:?}");
        }
    }

    #[test]
    fn an_unknown_role_is_named_with_those_there_are() {
        let error = role("slogg").unwrap_err();
        assert!(error.to_string().contains("slogg"));
        assert!(error.hint().contains("s2d-cache"));
    }
}
