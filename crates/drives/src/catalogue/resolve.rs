//! From a drive file to the model's configuration.

mod energy;
mod ftl;
mod heat;
mod wear;

use super::file::DriveFile;
use super::reader::QuantityReader;
use super::sourced::SourcedValue;
use super::tables::{BufferTable, HostTable, NandTable};
use crate::media::MediaOverrides;
use ssdlab_base::LabError;
use ssdlab_ssd::config::{BufferConfig, DriveConfig, EnergyConfig, HostConfig};
use ssdlab_ssd::geometry::{Geometry, Shape};
use ssdlab_ssd::nand::{NandConfig, NandTiming, Suspend};
use ssdlab_ssd::{Bytes, Nanos};

/// The model's configuration. Units are checked here, possibility by `DriveConfig::validate`.
pub(super) fn config(file: &DriveFile, source: &str) -> Result<DriveConfig, LabError> {
    let r = QuantityReader { source };
    let n = &file.nand;
    let slot = r.size_u32("ftl.mapping_unit", &file.ftl.mapping_unit)?;
    let shape = shape(&r, n, slot)?;
    let nand = nand(&r, n)?;
    let user_bytes = r.size("capacity.user", &file.capacity.user)?;
    let mut config = DriveConfig::new(&file.name, shape, nand, user_bytes);
    config.ftl = ftl::config(&r, &file.ftl)?;
    config.buffer = buffer(&r, &file.buffer)?;
    config.host = host(&r, &file.host, slot)?;
    config.energy = match &file.energy {
        Some(table) => energy::config(&r, table)?,
        None => EnergyConfig::default(),
    };
    config.wear = None;
    config.heat = match &file.heat {
        Some(table) => Some(heat::config(&r, table)?),
        None => None,
    };
    Ok(config)
}

fn shape(r: &QuantityReader<'_>, n: &NandTable, slot: u32) -> Result<Shape, LabError> {
    let mut shape = Shape::default();
    shape.channel_count = n.channels.value;
    shape.dies_per_channel = n.dies_per_channel.value;
    shape.planes_per_die = n.planes_per_die.value;
    shape.blocks_per_plane = n.blocks_per_plane.value;
    shape.pages_per_block = n.pages_per_block.value;
    shape.page_bytes = r.size_u32("nand.page", &n.page)?;
    shape.slot_bytes = slot;
    shape.bits_per_cell = n.bits_per_cell.value;
    Ok(shape)
}

fn buffer(r: &QuantityReader<'_>, b: &BufferTable) -> Result<BufferConfig, LabError> {
    let mut buffer = BufferConfig::default();
    buffer.bytes = r.size("buffer.size", &b.size)?;
    buffer.hold_bytes = match &b.hold {
        Some(hold) => r.size("buffer.hold", hold)?,
        None => 0,
    };
    buffer.protected = b.protected.value;
    buffer.joined_flushes = b.joined_flushes.as_ref().is_some_and(|on| on.value);
    buffer.write_cache = b.write_cache.as_ref().is_none_or(|on| on.value);
    if let Some(time) = &b.flush_time {
        buffer.flush_time = r.time("buffer.flush_time", &time.value)?;
    }
    if let Some(time) = &b.fua_time {
        buffer.fua_time = r.time("buffer.fua_time", &time.value)?;
    }
    if let Some(count) = &b.fua_at_once {
        let given = count.value;
        buffer.fua_at_once = u8::try_from(given).map_err(|_| {
            r.bad(
                "buffer.fua_at_once",
                &given.to_string(),
                "at most 127".into(),
            )
        })?;
    }
    Ok(buffer)
}

/// What the file gives of its media's wear.
pub(super) fn wear(file: &DriveFile, source: &str) -> Result<MediaOverrides, LabError> {
    match &file.wear {
        Some(table) => wear::given(
            &QuantityReader { source },
            table,
            file.nand.bits_per_cell.value,
        ),
        None => Ok(MediaOverrides::default()),
    }
}

fn host(r: &QuantityReader<'_>, h: &HostTable, slot: u32) -> Result<HostConfig, LabError> {
    let command_overhead = r.time("host.command_overhead", &h.command_overhead.value)?;
    let mut host = HostConfig::default();
    host.queue_depth = h.queue_depth.value;
    host.link_bytes_per_second = r.rate("host.link_rate", &h.link_rate)?;
    host.write_bytes_per_second = match &h.write_limit {
        Some(rate) => r.rate("host.write_limit", rate)?,
        None => 0,
    };
    host.full_duplex = h.full_duplex.value;
    host.command_overhead = command_overhead;
    host.write_overhead = match &h.write_overhead {
        Some(time) => r.time("host.write_overhead", &time.value)?,
        None => command_overhead,
    };
    host.moved_slot = match &h.moved_slot {
        Some(time) => r.time("host.moved_slot", &time.value)?,
        None => Nanos::ZERO,
    };
    host.latency = r.time("host.latency", &h.latency.value)?;
    host.write_latency = match &h.write_latency {
        Some(time) => r.time("host.write_latency", &time.value)?,
        None => Nanos::ZERO,
    };
    host.read_ahead = match &h.read_ahead {
        Some(size) => read_ahead(r, size, slot)?,
        None => 0,
    };
    Ok(host)
}

/// Slots; a size of less than one would turn reading ahead off unseen.
fn read_ahead(
    r: &QuantityReader<'_>,
    size: &SourcedValue<String>,
    slot: u32,
) -> Result<u32, LabError> {
    let bytes = r.size_u32("host.read_ahead", size)?;
    if bytes > 0 && bytes < slot {
        let allowed = format!("0 B, or at least a mapping unit ({slot} B) is allowed");
        return Err(r.bad("host.read_ahead", &size.value, allowed));
    }
    Ok(bytes / slot.max(1))
}

fn nand(r: &QuantityReader<'_>, n: &NandTable) -> Result<NandConfig, LabError> {
    let suspend = match &n.suspend {
        None => None,
        Some(time) => Some(suspend(r, n, &time.value)?),
    };
    let mut nand = NandConfig::new(timing(r, n)?);
    // Controllers have let reads go first since well before any drive of the catalogue.
    nand.read_first = n.read_first.as_ref().is_none_or(|first| first.value);
    nand.suspend = suspend;
    nand.cache_read = n.cache_read.as_ref().is_some_and(|on| on.value);
    nand.cache_program = n.cache_program.as_ref().is_some_and(|on| on.value);
    nand.programs_at_once = n.programs_at_once.as_ref().map_or(0, |most| most.value);
    Ok(nand)
}

fn suspend(r: &QuantityReader<'_>, n: &NandTable, time: &str) -> Result<Suspend, LabError> {
    let suspend = r.time("nand.suspend", time)?;
    let resume = match &n.resume {
        Some(resume) => r.time("nand.resume", &resume.value)?,
        None => Nanos::ZERO,
    };
    let most = match &n.suspends_max {
        Some(most) => u8::try_from(most.value).map_err(|_| {
            let given = most.value.to_string();
            r.bad("nand.suspends_max", &given, "at most 255".into())
        })?,
        None => 4,
    };
    Ok(Suspend::new(suspend, resume, most))
}

fn timing(r: &QuantityReader<'_>, n: &NandTable) -> Result<NandTiming, LabError> {
    let read = r.times("nand.read", &n.read)?;
    let program = r.times("nand.program", &n.program)?;
    let slc_read = r.time("nand.slc_read", &n.slc_read.value)?;
    let slc_program = r.time("nand.slc_program", &n.slc_program.value)?;
    let erase = r.time("nand.erase", &n.erase.value)?;
    let channel_rate = r.rate("nand.channel_rate", &n.channel_rate)?;
    let mut timing = NandTiming::new(read, program, erase, channel_rate);
    timing.slc_read = slc_read;
    timing.slc_program = slc_program;
    Ok(timing)
}

/// Raw capacity, over-provisioning OP = (raw - user) / user and the like: name and value, for
/// `drives show`.
pub fn derived(config: &DriveConfig) -> Vec<(&'static str, String)> {
    let geometry = Geometry::new(config.shape);
    let raw = geometry.raw_bytes();
    let slc_rows = config.shape.pages_per_block / config.shape.bits_per_cell;
    let slc = u64::from(config.ftl.slc.superblocks)
        * u64::from(slc_rows * geometry.die_count)
        * geometry.unit_bytes();
    let percent = |op: f64| format!("{:.1} %", op * 100.0);
    let mut derived = vec![
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
    ];
    derived.extend(heat::derived(config));
    derived
}
