//! From a drive file to the model's configuration.

mod energy;
mod ftl;
mod wear;

use super::{DriveFile, Kind, NandTable, Parameter, Sourced};
use crate::media::law::Given;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_base::error::Place;
use ssdlab_base::quantity::{parse_duration, parse_size};
use ssdlab_ssd::config::{BufferConfig, DriveConfig, EnergyConfig, HostConfig};
use ssdlab_ssd::geometry::Shape;
use ssdlab_ssd::nand::{NandConfig, NandTiming, Suspend};
use ssdlab_ssd::{Bytes, Nanos};

pub(super) struct Reader<'a> {
    pub(super) source: &'a str,
}

impl Reader<'_> {
    pub(super) fn bad(&self, key: &str, given: &str, allowed: String) -> LabError {
        LabError::BadValue {
            option: key.into(),
            given: given.into(),
            allowed,
            place: Place {
                source: self.source.into(),
                line: None,
            },
            hint: "sizes: 16 KiB, 185 TB; times: 75 us, 3 ms; rates: 400 MB/s".into(),
        }
    }

    pub(super) fn size(&self, key: &str, value: &Sourced<String>) -> Result<u64, LabError> {
        let allowed = "a number and a unit, such as 16 KiB or 185 TB, is allowed";
        parse_size(&value.value).map_err(|_| self.bad(key, &value.value, allowed.into()))
    }

    fn size_u32(&self, key: &str, value: &Sourced<String>) -> Result<u32, LabError> {
        let bytes = self.size(key, value)?;
        u32::try_from(bytes)
            .map_err(|_| self.bad(key, &value.value, "less than 4 GiB is allowed".into()))
    }

    fn time(&self, key: &str, text: &str) -> Result<Nanos, LabError> {
        let fraction = decimal_microseconds(text);
        match fraction {
            Some(time) => Ok(time),
            None => parse_duration(text).map_err(|_| {
                let allowed = "a number and a unit, such as 75 us or 3 ms, is allowed";
                self.bad(key, text, allowed.into())
            }),
        }
    }

    fn times(&self, key: &str, value: &Sourced<Vec<String>>) -> Result<Vec<Nanos>, LabError> {
        value
            .value
            .iter()
            .map(|text| self.time(key, text))
            .collect()
    }

    pub(super) fn rate(&self, key: &str, value: &Sourced<String>) -> Result<u64, LabError> {
        let allowed = || "a size per second, such as 400 MB/s, is allowed".to_string();
        let size = value.value.strip_suffix("/s");
        let size = size.ok_or_else(|| self.bad(key, &value.value, allowed()))?;
        parse_size(size.trim()).map_err(|_| self.bad(key, &value.value, allowed()))
    }
}

/// `56.5 us` and the like, exactly: data sheets give tenths of microseconds.
fn decimal_microseconds(text: &str) -> Option<Nanos> {
    let number = text.strip_suffix("us")?.trim();
    let (whole, fraction) = number.split_once('.')?;
    let digits = format!("{fraction:0<3}");
    if digits.len() != 3
        || !whole
            .chars()
            .chain(digits.chars())
            .all(|c| c.is_ascii_digit())
    {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    let fraction: u64 = digits.parse().ok()?;
    whole.checked_mul(1000)?.checked_add(fraction).map(Nanos)
}

/// The model's configuration. Units are checked here, possibility by `DriveConfig::validate`.
pub(super) fn config(file: &DriveFile, source: &str) -> Result<DriveConfig, LabError> {
    let r = Reader { source };
    let n = &file.nand;
    Ok(DriveConfig {
        name: file.name.clone(),
        shape: Shape {
            channel_count: n.channels.value,
            dies_per_channel: n.dies_per_channel.value,
            planes_per_die: n.planes_per_die.value,
            blocks_per_plane: n.blocks_per_plane.value,
            pages_per_block: n.pages_per_block.value,
            page_bytes: r.size_u32("nand.page", &n.page)?,
            slot_bytes: r.size_u32("ftl.mapping_unit", &file.ftl.mapping_unit)?,
            bits_per_cell: n.bits_per_cell.value,
        },
        nand: nand(&r, n)?,
        user_bytes: r.size("capacity.user", &file.capacity.user)?,
        ftl: ftl::config(&r, &file.ftl)?,
        buffer: BufferConfig {
            bytes: r.size("buffer.size", &file.buffer.size)?,
            hold_bytes: match &file.buffer.hold {
                Some(hold) => r.size("buffer.hold", hold)?,
                None => 0,
            },
            protected: file.buffer.protected.value,
        },
        host: HostConfig {
            queue_depth: file.host.queue_depth.value,
            link_bytes_per_second: r.rate("host.link_rate", &file.host.link_rate)?,
            full_duplex: file.host.full_duplex.value,
            command_overhead: r.time("host.command_overhead", &file.host.command_overhead.value)?,
            latency: r.time("host.latency", &file.host.latency.value)?,
        },
        energy: match &file.energy {
            Some(table) => energy::config(&r, table)?,
            None => EnergyConfig::default(),
        },
        wear: None,
    })
}

/// What the file gives of its media's wear.
pub(super) fn wear(file: &DriveFile, source: &str) -> Result<Given, LabError> {
    match &file.wear {
        Some(table) => wear::given(&Reader { source }, table, file.nand.bits_per_cell.value),
        None => Ok(Given::default()),
    }
}

fn nand(r: &Reader<'_>, n: &NandTable) -> Result<NandConfig, LabError> {
    let suspend = match &n.suspend {
        None => None,
        Some(suspend) => Some(Suspend {
            suspend: r.time("nand.suspend", &suspend.value)?,
            resume: match &n.resume {
                Some(resume) => r.time("nand.resume", &resume.value)?,
                None => Nanos::ZERO,
            },
            most: match &n.suspends_max {
                Some(most) => u8::try_from(most.value).map_err(|_| {
                    r.bad(
                        "nand.suspends_max",
                        &most.value.to_string(),
                        "at most 255".into(),
                    )
                })?,
                None => 4,
            },
        }),
    };
    Ok(NandConfig {
        timing: NandTiming {
            read: r.times("nand.read", &n.read)?,
            program: r.times("nand.program", &n.program)?,
            slc_read: r.time("nand.slc_read", &n.slc_read.value)?,
            slc_program: r.time("nand.slc_program", &n.slc_program.value)?,
            erase: r.time("nand.erase", &n.erase.value)?,
            channel_bytes_per_second: r.rate("nand.channel_rate", &n.channel_rate)?,
        },
        // Controllers have let reads go first since well before any drive of the catalogue.
        read_first: n.read_first.as_ref().is_none_or(|first| first.value),
        suspend,
        cache_read: n.cache_read.as_ref().is_some_and(|on| on.value),
        cache_program: n.cache_program.as_ref().is_some_and(|on| on.value),
    })
}

/// Every value has a source; calibrated ones, and only they, name the figures fitted to.
pub(super) fn check_sources(file: &DriveFile, source: &str) -> Result<(), LabError> {
    let r = Reader { source };
    for p in parameters(file) {
        if p.source.trim().is_empty() {
            return Err(r.bad(&p.key, &p.value, "its source must not be empty".into()));
        }
        if (p.kind == Kind::Calibrated) == p.fitted_to.is_empty() {
            let allowed = "calibrated values, and only they, have fitted_to = [figure ids]";
            return Err(r.bad(&p.key, &p.value, allowed.into()));
        }
    }
    Ok(())
}

/// Every sourced value, found through serde so that none can be forgotten.
pub(super) fn parameters(file: &DriveFile) -> Vec<Parameter> {
    let mut found = Vec::new();
    add("documented", &file.documented, &mut found);
    add("capacity", &file.capacity, &mut found);
    add("nand", &file.nand, &mut found);
    add("ftl", &file.ftl, &mut found);
    add("buffer", &file.buffer, &mut found);
    add("host", &file.host, &mut found);
    if let Some(energy) = &file.energy {
        add("energy", energy, &mut found);
    }
    if let Some(wear) = &file.wear {
        add("wear", wear, &mut found);
    }
    found
}

fn add(table: &str, values: &impl Serialize, found: &mut Vec<Parameter>) {
    let json = serde_json::to_value(values).unwrap_or_default();
    for (key, value) in json.as_object().into_iter().flatten() {
        let Ok(sourced) = serde_json::from_value::<Sourced<serde_json::Value>>(value.clone())
        else {
            continue;
        };
        found.push(Parameter {
            key: format!("{table}.{key}"),
            value: shown(&sourced.value),
            kind: sourced.kind,
            source: sourced.source,
            fitted_to: sourced.fitted_to,
        });
    }
}

fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// Raw capacity, over-provisioning OP = (raw - user) / user and the like: name and value, for
/// `drives show`.
pub fn derived(config: &DriveConfig) -> Vec<(&'static str, String)> {
    let geometry = ssdlab_ssd::geometry::Geometry::new(config.shape);
    let raw = geometry.raw_bytes();
    let slc_rows = config.shape.pages_per_block / config.shape.bits_per_cell;
    let slc = u64::from(config.ftl.slc.superblocks)
        * u64::from(slc_rows * geometry.die_count)
        * geometry.unit_bytes();
    let percent = |op: f64| format!("{:.1} %", op * 100.0);
    vec![
        ("raw capacity", Bytes(raw).to_string()),
        ("user capacity", Bytes(config.user_bytes).to_string()),
        ("pSLC cache", Bytes(slc).to_string()),
        ("nominal OP", percent(config.nominal_op())),
        ("effective OP", percent(config.effective_op())),
        ("superblock", Bytes(geometry.superblock_bytes()).to_string()),
        ("superblocks N", geometry.superblock_count.to_string()),
        (
            "kept free R",
            config.ftl.reclaim.free_superblocks_low.to_string(),
        ),
        ("dies", geometry.die_count.to_string()),
        ("program unit", Bytes(geometry.unit_bytes()).to_string()),
        (
            "memory of the model",
            Bytes(config.memory_bytes()).to_string(),
        ),
    ]
}
