//! Histograms that the kernel counts: eBPF programs at the block layer's tracepoints.
//!
//! No event comes to this program: a row of cells for each kind and size is read each second, so
//! the reader's cost does not depend on the rate. The instructions are made here, from the running
//! kernel's own description of its types (`/sys/kernel/btf/vmlinux`), so nothing is compiled by
//! another toolchain. Needs Linux 5.12 with BTF, and root or `CAP_BPF` and `CAP_PERFMON`.

mod btf;
mod instruction;
mod layout;
mod program;
mod syscall;

use super::histogram::{BUCKETS, HistogramRow, LatencyHistograms, ROWS, TimeCells};
use layout::KernelLayout;
use program::{
    BIO_BITS, BIO_BYTES, FLUSH_STATE_BYTES, MISSED_BYTES, Missed, ProgramMaker, ProgramMaps,
    REQUEST_BYTES, ROW_BYTES,
};
use ssdlab_bench::device::system::DevId;
use std::fs;
use std::path::Path;
use syscall::{AttachedProgram, BpfMap, MapKind, MapShape};

/// What the programs could not put together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelMisses {
    /// Completions of requests that were not seen issued, among them those that were in the device
    /// when the programs were attached.
    pub completions: u64,
    /// Requests whose time in the queue is from their allocation on: their bio was not found.
    pub without_bio: u64,
    /// Requests without a place.
    pub without_place: u64,
    /// Events at which a program was not run, because it ran already on that processor.
    pub not_run: u64,
}

impl KernelMisses {
    /// Requests that are in no histogram, at most.
    pub fn uncounted(&self) -> u64 {
        self.completions + self.without_place + self.not_run
    }
}

/// Time that the kernel spent in the programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramTimes {
    /// All of them together, ns.
    pub run_ns: u64,
    /// Runs.
    pub runs: u64,
}

/// Programs at work for one disk.
#[derive(Debug)]
pub struct KernelHistograms {
    programs: Vec<AttachedProgram>,
    rows: BpfMap,
    missed: BpfMap,
    words: Vec<u64>,
    /// The last reading.
    last: LatencyHistograms,
    _bios: BpfMap,
    _requests: BpfMap,
    _flush_state: BpfMap,
}

/// The hardware queues of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HardwareQueues {
    queues: u32,
    tags: u32,
}

impl HardwareQueues {
    fn read(disk: &Path) -> Option<HardwareQueues> {
        let folders: Vec<_> = fs::read_dir(disk.join("mq")).ok()?.flatten().collect();
        let tags = folders.iter().filter_map(|queue| {
            let text = fs::read_to_string(queue.path().join("nr_tags")).ok()?;
            text.trim().parse().ok()
        });
        Some(HardwareQueues {
            queues: u32::try_from(folders.len()).ok()?,
            tags: tags.max()?,
        })
    }
}

/// Processors that there may ever be, as the kernel sizes its maps.
fn possible_processors() -> Option<usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible").ok()?;
    let last = text.trim().rsplit([',', '-']).next()?;
    Some(last.parse::<usize>().ok()? + 1)
}

/// Kernels before 5.11 count maps as locked memory.
fn raise_locked_memory() {
    let unlimited = rustix::process::Rlimit {
        current: None,
        maximum: None,
    };
    // Where it is not allowed, making a map says so.
    let _ = rustix::process::setrlimit(rustix::process::Resource::Memlock, unlimited);
}

impl KernelHistograms {
    /// Attaches programs for the disk `id`, whose folder of sysfs is `disk`.
    ///
    /// # Errors
    /// Why it is not to be had: no rights, no BTF, a device without requests.
    pub fn open(id: DevId, disk: &Path) -> Result<KernelHistograms, String> {
        if cfg!(not(all(
            target_endian = "little",
            target_pointer_width = "64"
        ))) {
            return Err("only on processors of 64 bits with the lowest byte first".to_owned());
        }
        let queues = HardwareQueues::read(disk)
            .ok_or("this device has no requests of its own: its driver takes bios")?;
        let layout = KernelLayout::live()?;
        let processors = possible_processors().ok_or("processors could not be counted")?;
        raise_locked_memory();
        let map = |name: &str, kind, value_bytes, elements| {
            let shape = MapShape {
                kind,
                value_bytes,
                elements,
            };
            BpfMap::create(name, shape, processors).map_err(|error| match error.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    format!("bpf: {error}: run it by sudo, or with CAP_BPF and CAP_PERFMON")
                }
                _ => format!("bpf: map {name}: {error}"),
            })
        };
        let bios = map("ssdlab_bios", MapKind::Array, BIO_BYTES, 1 << BIO_BITS)?;
        let places = queues.queues * queues.tags;
        let requests = map("ssdlab_requests", MapKind::Array, REQUEST_BYTES, places)?;
        let flush_state = map("ssdlab_flush", MapKind::Array, FLUSH_STATE_BYTES, 1)?;
        let per_processor = MapKind::PerProcessorArray;
        let missed = map("ssdlab_missed", per_processor, MISSED_BYTES, 1)?;
        let rows = map("ssdlab_rows", per_processor, ROW_BYTES, ROWS as u32)?;
        let maker = ProgramMaker {
            layout: &layout,
            maps: ProgramMaps {
                bios: bios.descriptor(),
                requests: requests.descriptor(),
                flush_state: flush_state.descriptor(),
                missed: missed.descriptor(),
                rows: rows.descriptor(),
            },
            disk: id,
            tags: queues.tags,
        };
        let programs = maker.programs().into_iter().map(|program| {
            AttachedProgram::load(program.name, &program.code, program.attach_btf_id)
        });
        Ok(KernelHistograms {
            programs: programs.collect::<Result<_, _>>()?,
            rows,
            missed,
            words: Vec::new(),
            last: LatencyHistograms::default(),
            _bios: bios,
            _requests: requests,
            _flush_state: flush_state,
        })
    }

    /// What was counted since the programs were attached.
    pub fn read(&mut self) -> LatencyHistograms {
        for row in 0..ROWS {
            if self.rows.read(row as u32, &mut self.words).is_err() {
                continue;
            }
            let mut sum = HistogramRow::default();
            for words in self.words.chunks_exact(ROW_BYTES as usize / 8) {
                // A processor that counted nothing.
                if words[0] > 0 {
                    sum.merge(&row_of_words(words));
                }
            }
            self.last.rows[row] = sum;
        }
        self.last.clone()
    }

    /// What could not be put together since then.
    pub fn misses(&mut self) -> KernelMisses {
        let mut misses = KernelMisses::default();
        if self.missed.read(0, &mut self.words).is_ok() {
            for words in self.words.chunks_exact(Missed::COUNT) {
                misses.completions += words[Missed::Completion as usize];
                misses.without_bio += words[Missed::Bio as usize];
                misses.without_place += words[Missed::Place as usize];
            }
        }
        let programs = self.programs.iter();
        misses.not_run = programs.map(|program| program.counters().misses).sum();
        misses
    }

    /// Time in the programs, where the kernel counts it (`sysctl kernel.bpf_stats_enabled=1`).
    pub fn times(&self) -> ProgramTimes {
        let mut times = ProgramTimes::default();
        for program in &self.programs {
            let counters = program.counters();
            times.run_ns += counters.run_ns;
            times.runs += counters.runs;
        }
        times
    }
}

/// A row as the programs write it.
fn row_of_words(words: &[u64]) -> HistogramRow {
    let times = |begin: usize| TimeCells {
        sum_ns: words[begin],
        max_ns: words[begin + 1],
        cells: words[begin + 2..begin + 2 + BUCKETS].to_vec(),
    };
    HistogramRow {
        count: words[0],
        bytes: words[1],
        failed: words[2],
        queue: times(3),
        device: times(3 + 2 + BUCKETS),
    }
}
