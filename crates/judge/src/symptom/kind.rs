//! What kind of drive it is, and what is normal for it.

use super::Symptom;
use crate::ablate::AblationLoad;
use crate::cause::Cause;
use ssdlab_base::LabError;
use ssdlab_base::quantity::parse_size;
use ssdlab_drives::catalogue::{DocumentedTable, SourcedValue};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::MappingKind;

/// Effective spare area of drives without power-loss protection, at least: 1 TB sold as such of
/// 1 TiB of flash has 7 %, less what is bad or holds the drive's own data.
const SPARE_USUAL: f64 = 0.06;

/// Bytes of a command in order.
const SEQUENTIAL_BYTES: f64 = 131072.0;

/// A kind of drive: those with the same interface, cells, protection and place of the map.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveKind {
    /// In words: `SATA TLC drives without power-loss protection`.
    pub name: String,
    traits: Vec<Cause>,
}

/// What a data sheet says, times per command in ns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SheetFigures {
    /// Each load that the sheet has a figure for.
    pub loads: Vec<(AblationLoad, f64)>,
    /// Under what conditions they hold.
    pub condition: String,
}

/// Commands outstanding at which the loads that are held against a sheet are run.
const SHEET_DEPTH: u32 = 32;

impl SheetFigures {
    /// Those of a drive's file that one of the loads here can be held against.
    ///
    /// # Errors
    /// When a rate cannot be read.
    pub fn documented(table: &DocumentedTable) -> Result<SheetFigures, LabError> {
        let mut loads = Vec::new();
        let depth = table.random_depth.as_ref();
        if depth.is_none_or(|depth| depth.value == SHEET_DEPTH) {
            let rate = |load, iops: &SourcedValue<u32>| (load, 1e9 / f64::from(iops.value));
            let (reads, writes) = (&table.random_read_iops, &table.random_write_iops);
            loads.extend(
                reads
                    .as_ref()
                    .map(|iops| rate(AblationLoad::RandomRead, iops)),
            );
            loads.extend(
                writes
                    .as_ref()
                    .map(|iops| rate(AblationLoad::RandomWrite, iops)),
            );
        }
        for (load, value) in [
            (AblationLoad::SequentialRead, &table.sequential_read),
            (AblationLoad::SequentialWrite, &table.sequential_write),
        ] {
            if let Some(rate) = value {
                let bytes = parse_size(rate.value.trim_end_matches("/s"))?;
                loads.push((load, SEQUENTIAL_BYTES * 1e9 / bytes as f64));
            }
        }
        let span = table.random_span.as_ref();
        let condition = span.map_or_else(
            || "its sheet gives random rates for the whole drive in a steady state".to_owned(),
            |span| {
                format!(
                    "its sheet gives random rates over {} of the drive; here commands go all over \
                     it",
                    span.value
                )
            },
        );
        Ok(SheetFigures { loads, condition })
    }

    /// Time per command of a load, ns.
    pub fn of(&self, load: AblationLoad) -> Option<f64> {
        let found = self.loads.iter().find(|(known, _)| *known == load);
        found.map(|(_, ns)| *ns)
    }
}

impl DriveKind {
    /// Of a modelled drive.
    pub fn of(config: &DriveConfig) -> DriveKind {
        let interface = if config.host.full_duplex {
            "NVMe"
        } else {
            "SATA"
        };
        let cells = match config.shape.bits_per_cell {
            1 => "SLC",
            2 => "MLC",
            3 => "TLC",
            _ => "QLC",
        };
        let is_protected = config.buffer.protected;
        let slc = &config.ftl.slc;
        let has_slc = slc.superblocks > 0 || slc.dynamic_above_free > 0;
        let is_partial = matches!(
            config.ftl.mapping.kind,
            MappingKind::Cached | MappingKind::Tree
        );
        let protection = if is_protected { "with" } else { "without" };
        let mut traits = Vec::new();
        if !is_protected {
            traits.push(Cause::VolatileBuffer);
            traits.extend(has_slc.then_some(Cause::SlcFull));
            traits.extend(is_partial.then_some(Cause::Map));
            traits.extend((config.effective_op() >= SPARE_USUAL).then_some(Cause::Reclaim));
        }
        let map = if is_partial && !is_protected {
            " and without DRAM for the whole map"
        } else {
            ""
        };
        DriveKind {
            name: format!("{interface} {cells} drives {protection} power-loss protection{map}"),
            traits,
        }
    }

    /// Of a drive that was measured: what it is inside is not known. Without `protected` the kind
    /// is not known to have a buffer that is lost.
    pub fn seen(interface: Option<&str>, protected: Option<bool>) -> DriveKind {
        let interface = interface.map_or(String::new(), |name| format!("{} ", name.to_uppercase()));
        let (words, traits) = match protected {
            Some(true) => ("with power-loss protection", Vec::new()),
            Some(false) => (
                "without power-loss protection",
                vec![Cause::VolatileBuffer, Cause::SlcFull],
            ),
            None => ("whose power-loss protection is not known", Vec::new()),
        };
        DriveKind {
            name: format!("{interface}drives {words}"),
            traits,
        }
    }

    /// Whether drives of this kind have this cause by design.
    pub fn has(&self, cause: Cause) -> bool {
        self.traits.contains(&cause)
    }

    /// What is normal for drives of this kind, about a symptom.
    pub fn normal(&self, symptom: Symptom) -> String {
        let has = |cause| self.has(cause);
        let text = match symptom {
            Symptom::SlowDurableWrites if has(Cause::VolatileBuffer) => {
                "each durable write waits for the media, 1 ms and more"
            }
            Symptom::SlowDurableWrites => {
                "a durable write takes no longer than a plain one: tens of us"
            }
            Symptom::SlowsDown if has(Cause::SlcFull) => {
                "fast until the pSLC cache is full or the drive has been overwritten, then as \
                 slow as its cells and its reclaim"
            }
            Symptom::SlowsDown => {
                "random writes fall to a fifth of a new drive's at worst, once it has been \
                 overwritten; writes in order do not"
            }
            Symptom::SlowReads if has(Cause::Map) => {
                "random reads beyond the mapped part need a second read of the media"
            }
            Symptom::SlowReads => "a read takes one read of the cells, some 100 us with the way",
            Symptom::Spikes => {
                "a read waits for a program or an erase that has begun: some milliseconds"
            }
            Symptom::SlowerThanSheet if has(Cause::VolatileBuffer) => {
                "the sheet's writes are those of a drive that is nearly empty and at rest; one \
                 that is full and overwritten does a fraction of them"
            }
            Symptom::SlowerThanSheet => "the sheet's rates, steady, over the whole drive",
            Symptom::SlowerThanBefore => {
                "slower than new once it is full and overwritten, and the same from then on"
            }
        };
        format!("{}: {text}", self.name)
    }
}
