//! The block layer's tracepoints, by perf's ring buffers.
//!
//! One ring for each processor takes the events of one device: the kernel filters by its number.
//! Nothing is left behind when this program is killed: the kernel closes what it had opened. What
//! does not fit into a ring is counted by the kernel and reported here.

use super::event::{BioOrigin, BlockEvent, BlockStep, ProcessName, RequestFlags};
use super::ioctl;
use perf_event::data::Record as ParsedRecord;
use perf_event::events::Tracepoint;
use perf_event::{Builder, Clock, SampleFlag, Sampler};
use ssdlab_base::LabError;
use ssdlab_bench::device::system::{DevId, SysfsDevice};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Bytes of all rings together, at most.
const RINGS_BYTES_MAX: usize = 32 << 20;
/// Bytes of one ring: at least and at most. Powers of two.
const RING_BYTES: (usize, usize) = (64 << 10, 4 << 20);
/// A processor of a virtual machine may stand still between an event's time and its place in the
/// ring; an event that comes after a later one of another processor would leave a request without
/// its end.
const HELD_BACK_NS: u64 = 50_000_000;
/// Where tracefs is mounted, by custom.
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// What is needed, where it is not there.
const RIGHTS: &str = "run it by sudo, or with CAP_PERFMON and read access to tracefs";

/// Where a field lies in a tracepoint's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldPlace {
    offset: usize,
    size: usize,
}

/// What a tracepoint's data hold, by its `format` file.
#[derive(Debug)]
struct EventLayout {
    id: u64,
    fields: HashMap<String, FieldPlace>,
}

impl EventLayout {
    fn read(events: &Path, name: &str) -> Result<EventLayout, String> {
        let path = events.join(name).join("format");
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()));
        EventLayout::parse(&text?).ok_or_else(|| format!("{}: not understood", path.display()))
    }

    fn parse(text: &str) -> Option<EventLayout> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID: "))?;
        let fields = text.lines().filter_map(|line| {
            let parts: Vec<&str> = line.trim().strip_prefix("field:")?.split(';').collect();
            let declared = parts.first()?.split('[').next()?.trim();
            let number = |part: Option<&&str>, key: &str| {
                let value = part?.trim().strip_prefix(key)?;
                value.parse().ok()
            };
            Some((
                declared.rsplit(' ').next()?.to_owned(),
                FieldPlace {
                    offset: number(parts.get(1), "offset:")?,
                    size: number(parts.get(2), "size:")?,
                },
            ))
        });
        Some(EventLayout {
            id: id.trim().parse().ok()?,
            fields: fields.collect(),
        })
    }

    fn bytes<'a>(&self, data: &'a [u8], field: &str) -> Option<&'a [u8]> {
        let place = self.fields.get(field)?;
        data.get(place.offset..place.offset + place.size)
    }

    fn number(&self, data: &[u8], field: &str) -> Option<u64> {
        let bytes = self.bytes(data, field)?;
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }
}

/// Whether processors of this kind have the lowest byte first, as the fields are read.
const LITTLE_ENDIAN: bool = cfg!(target_endian = "little");

/// The tracepoints that are watched, in this order.
const NAMES: [&str; 4] = [
    "block_bio_queue",
    "block_rq_issue",
    "block_rq_requeue",
    "block_rq_complete",
];

/// Open rings of one device.
pub struct BlockTracepoints {
    layouts: Vec<EventLayout>,
    /// The first event of each processor, whose ring takes all of them.
    rings: Vec<Sampler>,
    /// The other events.
    others: Vec<perf_event::Counter>,
    lost: u64,
    batch: Vec<BlockEvent>,
}

fn events_folder() -> Result<PathBuf, String> {
    let folders = TRACEFS.map(|folder| Path::new(folder).join("events/block"));
    for folder in &folders {
        match fs::read_dir(folder) {
            Ok(_) => return Ok(folder.clone()),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(format!("{}: {error}: {RIGHTS}", folder.display()));
            }
            Err(_) => {}
        }
    }
    Err("tracefs is not mounted (mount -t tracefs tracefs /sys/kernel/tracing)".to_owned())
}

/// Numbers of the processors that are online, from `0-3,8`.
fn parse_processors(text: &str) -> Vec<usize> {
    let ranges = text.trim().split(',').filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

impl BlockTracepoints {
    /// Opens the tracepoints for a disk and its partitions.
    ///
    /// # Errors
    /// Why they are not to be had: no tracefs, no rights, an unknown format.
    pub fn open(disk: &SysfsDevice) -> Result<BlockTracepoints, String> {
        if !LITTLE_ENDIAN {
            return Err("this processor has the highest byte first".to_owned());
        }
        let events = events_folder()?;
        let layouts: Vec<EventLayout> = NAMES
            .iter()
            .map(|name| EventLayout::read(&events, name))
            .collect::<Result<_, _>>()?;
        let online = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
        let processors = parse_processors(&online);
        let share = RINGS_BYTES_MAX / processors.len().max(1);
        let ring_bytes = (share + 1).next_power_of_two() / 2;
        let ring_bytes = ring_bytes.clamp(RING_BYTES.0, RING_BYTES.1);
        let filter = filter(disk);
        let mut rings = Vec::new();
        let mut others = Vec::new();
        for &processor in &processors {
            let mut counters = Vec::new();
            for layout in &layouts {
                let counter =
                    counter(layout.id, processor).map_err(|error| match error.kind() {
                        std::io::ErrorKind::PermissionDenied => {
                            format!("perf_event_open: {error}: {RIGHTS}")
                        }
                        _ => format!("perf_event_open: {error}"),
                    })?;
                ioctl::set_filter(&counter, &filter).map_err(|error| format!("filter: {error}"))?;
                counters.push(counter);
            }
            let mut counters = counters.into_iter();
            let Some(first) = counters.next() else {
                continue;
            };
            let ring = first
                .sampled(ring_bytes)
                .map_err(|error| format!("ring: {error}"))?;
            for counter in counters {
                ioctl::set_output(&counter, ring.as_counter())
                    .map_err(|error| format!("one ring for all events: {error}"))?;
                others.push(counter);
            }
            rings.push(ring);
        }
        let mut tracepoints = BlockTracepoints {
            layouts,
            rings,
            others,
            lost: 0,
            batch: Vec::new(),
        };
        tracepoints
            .resume()
            .map_err(|error| format!("perf: {error}"))?;
        Ok(tracepoints)
    }

    /// Lets events come: ends first, on all processors, as a request whose beginning alone is seen
    /// would stay in the device for ever.
    ///
    /// # Errors
    /// The kernel's.
    pub fn resume(&mut self) -> std::io::Result<()> {
        // The other events of each processor are in the order of the names.
        let per_processor = NAMES.len() - 1;
        for place in (0..per_processor).rev() {
            let mut counters = self.others.iter_mut().skip(place).step_by(per_processor);
            counters.try_for_each(perf_event::Counter::enable)?;
        }
        let mut rings = self.rings.iter_mut().map(Sampler::as_counter_mut);
        rings.try_for_each(perf_event::Counter::enable)
    }

    /// Lets none come until [`BlockTracepoints::resume`], which costs the kernel nothing then.
    ///
    /// # Errors
    /// The kernel's.
    pub fn pause(&mut self) -> std::io::Result<()> {
        let rings = self.rings.iter_mut().map(|ring| ring.as_counter_mut());
        let mut counters = rings.chain(self.others.iter_mut());
        counters.try_for_each(perf_event::Counter::disable)
    }

    /// Events that the kernel could not put into a ring, so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// The events since the last call, by time, but for those younger than [`HELD_BACK_NS`]: they
    /// come with the next call.
    ///
    /// # Errors
    /// When the kernel's clock cannot be read.
    pub fn drain(&mut self) -> Result<Vec<BlockEvent>, LabError> {
        self.drain_until(monotonic_ns().saturating_sub(HELD_BACK_NS))
    }

    /// All events since the last call, by time: for when no more come.
    ///
    /// # Errors
    /// As of [`BlockTracepoints::drain`].
    pub fn drain_all(&mut self) -> Result<Vec<BlockEvent>, LabError> {
        self.drain_until(u64::MAX)
    }

    fn drain_until(&mut self, until_ns: u64) -> Result<Vec<BlockEvent>, LabError> {
        for ring in &mut self.rings {
            while let Some(record) = ring.next_record() {
                match record.parse_record() {
                    Ok(ParsedRecord::Sample(sample)) => {
                        let (time, data) = (sample.time(), sample.raw());
                        let pid = sample.pid().unwrap_or(0);
                        let event = time
                            .zip(data)
                            .and_then(|(time, data)| parse_event(&self.layouts, time, pid, data));
                        self.lost += u64::from(event.is_none());
                        self.batch.extend(event);
                    }
                    Ok(ParsedRecord::Lost(lost)) => self.lost += lost.lost,
                    Ok(_) => {}
                    Err(_) => self.lost += 1,
                }
            }
        }
        self.batch.sort_by_key(|event| event.time_ns);
        let split = self.batch.partition_point(|event| event.time_ns < until_ns);
        let rest = self.batch.split_off(split);
        Ok(std::mem::replace(&mut self.batch, rest))
    }
}

/// Events of the disk, and of its partitions: a bio has the number of the one it was handed to.
fn filter(disk: &SysfsDevice) -> String {
    let mut ids = vec![disk.id];
    let entries = fs::read_dir(&disk.disk).into_iter().flatten().flatten();
    let parts = entries.filter(|entry| entry.path().join("partition").exists());
    let numbers = parts.filter_map(|part| fs::read_to_string(part.path().join("dev")).ok());
    ids.extend(numbers.filter_map(|number| DevId::parse(&number)));
    // The kernel's own number of a device has 20 bits of minor (Linux kdev_t.h).
    let terms = ids
        .iter()
        .map(|id| (u64::from(id.major) << 20) | u64::from(id.minor))
        .map(|number| format!("dev == {number}"));
    terms.collect::<Vec<_>>().join(" || ")
}

fn counter(id: u64, processor: usize) -> std::io::Result<perf_event::Counter> {
    Builder::new(Tracepoint::with_id(id))
        .any_pid()
        .one_cpu(processor)
        .include_kernel()
        .enabled(false)
        .clockid(Clock::MONOTONIC)
        .sample_period(1)
        .sample(SampleFlag::TIME | SampleFlag::TID | SampleFlag::RAW)
        .build()
}

/// The monotonic clock, ns: the clock of the events.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn parse_event(layouts: &[EventLayout], time_ns: u64, pid: u32, data: &[u8]) -> Option<BlockEvent> {
    let id = u64::from(u16::from_le_bytes([*data.first()?, *data.get(1)?]));
    let place = layouts.iter().position(|layout| layout.id == id)?;
    let layout = &layouts[place];
    let step = match NAMES[place] {
        "block_bio_queue" => BlockStep::Queued,
        "block_rq_issue" => BlockStep::Issued,
        "block_rq_requeue" => BlockStep::Requeued,
        _ => BlockStep::Completed {
            failed: layout.number(data, "error")? != 0,
        },
    };
    let sectors = layout.number(data, "nr_sector")?;
    Some(BlockEvent {
        time_ns,
        step,
        sector: layout.number(data, "sector")?,
        bytes: sectors * 512,
        flags: RequestFlags::parse(layout.bytes(data, "rwbs")?),
        origin: BioOrigin {
            pid,
            name: ProcessName::new(layout.bytes(data, "comm").unwrap_or_default()),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Linux 6.18 prints it.
    const FORMAT: &str = "name: block_rq_complete\nID: 2107\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
        \tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";

    #[test]
    fn fields_are_where_the_format_says() {
        let layout = EventLayout::parse(FORMAT).expect("a format");
        assert_eq!(layout.id, 2107);
        assert_eq!(
            layout.fields["rwbs"],
            FieldPlace {
                offset: 34,
                size: 10
            }
        );
        let mut data = vec![0; 44];
        data[16..24].copy_from_slice(&77_u64.to_le_bytes());
        assert_eq!(layout.number(&data, "sector"), Some(77));
        assert_eq!(layout.number(&data, "absent"), None);
        assert_eq!(layout.number(&data[..20], "sector"), None, "cut data");
        assert!(EventLayout::parse("nothing of the kind").is_none());
    }

    #[test]
    fn processors_are_counted_by_ranges() {
        assert_eq!(parse_processors("0-2,5\n"), [0, 1, 2, 5]);
        assert_eq!(parse_processors("0"), [0]);
        assert!(parse_processors("").is_empty());
    }
}
