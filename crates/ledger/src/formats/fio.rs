//! fio's JSON, as version 2 writes it (microseconds, KiB/s) and version 3 (nanoseconds).
//!
//! Messages around the documents, which people post with them, are passed over. A job without its
//! options is left out: from totals alone nobody can tell random from sequential. What ran beside
//! other jobs, was held to a rate, or went to no single drive of the host only gives context.

use super::results::{ReadResults, ReportedDrive, ReportedFigure};
use crate::metric::Metric;
use crate::row::{LoadKind, RowLoad, RowPath, SyncMethod, Through};
use serde_json::{Map, Value};

/// Commands of a run that is long enough for a steady state to be thought of, s.
const SHORT_S: f64 = 60.0;

/// Documents that are looked for in a text: people post several runs in one file.
const DOCUMENTS_MAX: usize = 64;

pub(super) fn read(text: &str) -> Option<ReadResults> {
    let documents = documents(text);
    if documents.is_empty() {
        return None;
    }
    let mut results = ReadResults {
        drive: ReportedDrive::default(),
        figures: Vec::new(),
        left_out: Vec::new(),
    };
    let is_one = documents.len() == 1;
    for (index, document) in documents.iter().enumerate() {
        let run = if is_one {
            String::new()
        } else {
            format!("run {}, ", index + 1)
        };
        read_document(document, &run, &mut results);
    }
    Some(results)
}

/// Whether a text is fio's without being a document: the line that begins a job, or a terse line.
pub(super) fn is_text(text: &str) -> bool {
    text.lines().any(|line| {
        let is_head = line.contains(": (g=") && line.contains("ioengine=");
        let is_result = line.contains("IOPS=") && line.contains("BW=");
        let is_terse = line
            .split(';')
            .nth(1)
            .is_some_and(|word| word.starts_with("fio-"));
        is_head || is_result || is_terse
    })
}

/// The jobs of a document; those of a run over several hosts stand under another key.
fn jobs(document: &Value) -> Option<&Vec<Value>> {
    let jobs = document
        .get("jobs")
        .or_else(|| document.get("client_stats"));
    jobs?.as_array()
}

/// The documents of fio in a text, with whatever stands before, between and after them.
fn documents(text: &str) -> Vec<Value> {
    let mut documents = Vec::new();
    let mut remainder = text;
    while let Some(start) = remainder.find('{')
        && documents.len() < DOCUMENTS_MAX
    {
        let candidate = &remainder[start..];
        let mut values = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
        let value = values.next().and_then(Result::ok);
        match value.filter(|value| value.get("fio version").is_some() && jobs(value).is_some()) {
            Some(document) => {
                documents.push(document);
                remainder = &candidate[values.byte_offset()..];
            }
            // A brace of a message: the next line may begin a document.
            None => {
                remainder = candidate
                    .split_once('\n')
                    .map_or("", |(_, remainder)| remainder)
            }
        }
    }
    documents
}

fn read_document(document: &Value, run: &str, results: &mut ReadResults) {
    let is_over_hosts = document.get("jobs").is_none();
    let jobs = jobs(document).map(Vec::as_slice).unwrap_or_default();
    let globals = options(document.get("global options"));
    let version = version(document);
    let mut index = 0;
    while index < jobs.len() {
        let clones = clones(&jobs[index..]);
        let entries = &jobs[index..index + clones];
        let together = jobs.iter().enumerate().any(|(other, job)| {
            !(index..index + clones).contains(&other)
                && job.get("groupid") == jobs[index].get("groupid")
        });
        let job = FioJob {
            entries,
            options: merged(&globals, &options(jobs[index].get("job options"))),
            version,
            is_together: together,
        };
        let read = if is_over_hosts {
            Err("it ran on several hosts: such a figure is not one drive's")
        } else {
            job.read(&mut results.figures)
        };
        if let Err(reason) = read {
            let number = index + 1;
            results
                .left_out
                .push(format!("{run}job {number}: {reason}"));
        }
        index += clones;
    }
}

/// `3` of `fio-3.28`.
fn version(document: &Value) -> Option<u32> {
    let text = document.get("fio version")?.as_str()?;
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.split('.').next()?.parse().ok()
}

fn options(value: Option<&Value>) -> Map<String, Value> {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn merged(globals: &Map<String, Value>, own: &Map<String, Value>) -> Map<String, Value> {
    let mut options = globals.clone();
    options.extend(own.clone());
    options
}

/// How many entries are of the first one's job: fio without `group_reporting` gives each clone of
/// a job an entry of its own.
fn clones(jobs: &[Value]) -> usize {
    let key = |job: &Value| {
        let field = |name: &str| job.get(name).cloned().unwrap_or_default();
        (field("jobname"), field("groupid"), field("job options"))
    };
    let first = key(&jobs[0]);
    jobs.iter().take_while(|job| key(job) == first).count()
}

/// Commands that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FioDirection {
    Read,
    Write,
    /// Reads and writes, of which fio was asked for one count.
    Both,
}

/// Where the latencies of [`FioDirection::metrics`] stand: the kind of latency, and the key.
const STATISTICS: [(&str, &str); 6] = [
    ("lat", "mean"),
    ("clat", "50.000000"),
    ("clat", "99.000000"),
    ("clat", "99.900000"),
    ("clat", "99.990000"),
    ("clat", "max"),
];

impl FioDirection {
    /// The metric of its rate, and those of its latencies.
    fn metrics(self) -> (Metric, &'static [Metric]) {
        match self {
            FioDirection::Read => (
                Metric::ReadIops,
                &[
                    Metric::ReadLatencyMean,
                    Metric::ReadLatencyP50,
                    Metric::ReadLatencyP99,
                    Metric::ReadLatencyP999,
                    Metric::ReadLatencyP9999,
                    Metric::ReadLatencyMax,
                ],
            ),
            FioDirection::Write => (
                Metric::WriteIops,
                &[
                    Metric::WriteLatencyMean,
                    Metric::WriteLatencyP50,
                    Metric::WriteLatencyP99,
                    Metric::WriteLatencyP999,
                    Metric::WriteLatencyP9999,
                    Metric::WriteLatencyMax,
                ],
            ),
            FioDirection::Both => (Metric::MixedIops, &[]),
        }
    }
}

struct FioJob<'a> {
    entries: &'a [Value],
    options: Map<String, Value>,
    version: Option<u32>,
    /// Whether other jobs ran at the same time.
    is_together: bool,
}

/// Engines that have one command outstanding, whatever `iodepth` says. fio's own choice is one of
/// them, but on Windows.
const SYNCHRONOUS: [&str; 6] = ["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Engines that speak to a drive without the kernel's block layer.
const PAST_THE_KERNEL: [&str; 4] = ["spdk", "io_uring_cmd", "xnvme", "libblkio"];
/// Engines behind which no drive of this host lies.
const REMOTE: [&str; 9] = [
    "rbd", "rados", "http", "nfs", "libiscsi", "nbd", "net", "null", "libhdfs",
];

impl FioJob<'_> {
    fn option(&self, names: &[&str]) -> Option<&str> {
        names
            .iter()
            .find_map(|name| self.options.get(*name)?.as_str())
    }

    fn number(&self, names: &[&str]) -> Option<u32> {
        self.option(names)?.trim().parse().ok()
    }

    fn is_on(&self, name: &str) -> bool {
        self.option(&[name])
            .is_some_and(|value| !matches!(value.trim(), "0" | "none"))
    }

    /// Adds the figures of the job, or says why there are none.
    fn read(&self, figures: &mut Vec<ReportedFigure>) -> Result<(), &'static str> {
        if self
            .entries
            .iter()
            .any(|entry| entry.get("error").and_then(Value::as_i64) > Some(0))
        {
            return Err("it ended with an error");
        }
        let kind = self.option(&["rw", "readwrite"]).ok_or(
            "its options are not in the file (fio 2 leaves them out), so its load is unknown",
        )?;
        let (word, offset) = kind.split_once(':').unwrap_or((kind, ""));
        let kind = LoadKind::of_word(match word {
            "readwrite" => "rw",
            word => word,
        });
        let kind = kind.ok_or("no load of reads or writes")?;
        self.is_even(kind, offset)?;
        let sync = if kind.writes() {
            self.sync()?
        } else {
            SyncMethod::None
        };
        let is_mixed = matches!(kind, LoadKind::RandRw | LoadKind::Rw);
        let load = |block_bytes| RowLoad {
            rw: Some(kind),
            read_pct: is_mixed.then(|| self.read_share()),
            block_bytes: Some(block_bytes),
            queue_depth: Some(self.queue_depth()),
            jobs: Some(self.jobs()),
            sync: Some(sync),
        };
        let several = "its commands are of several sizes";
        let before = figures.len();
        for direction in self.directions(kind) {
            let block_bytes = self.block_bytes(direction).ok_or(several)?;
            self.direction(direction, &load(block_bytes), figures);
        }
        if let Some(block_bytes) = self.block_bytes(FioDirection::Write) {
            self.syncs(&load(block_bytes), figures);
        }
        if figures.len() == before {
            Err("no command completed")
        } else {
            Ok(())
        }
    }

    /// The parts of the document that hold figures of this load. With `unified_rw_reporting` there
    /// is one for both directions.
    fn directions(&self, kind: LoadKind) -> Vec<FioDirection> {
        let has_reads = kind != LoadKind::Write && kind != LoadKind::RandWrite;
        let is_unified = !self.entries.iter().any(|entry| entry.get("read").is_some());
        match (is_unified, has_reads, kind.writes()) {
            (true, true, true) => vec![FioDirection::Both],
            (_, true, true) => vec![FioDirection::Read, FioDirection::Write],
            (_, true, false) => vec![FioDirection::Read],
            (_, false, _) => vec![FioDirection::Write],
        }
    }

    /// Whether addresses are all at random, or all in order: `rw=randwrite:8` puts eight after
    /// each other, `rw=write:4k` leaves gaps.
    fn is_even(&self, kind: LoadKind, offset: &str) -> Result<(), &'static str> {
        let is_random = matches!(
            kind,
            LoadKind::RandRead | LoadKind::RandWrite | LoadKind::RandRw
        );
        let random = self.number(&["percentage_random"]).unwrap_or(100);
        let each = offset.split(',').all(|count| matches!(count, "" | "1"));
        match is_random {
            true if random < 100 || !each => Err("only a part of its addresses is random"),
            false if !offset.is_empty() => Err("its addresses leave gaps"),
            _ => Ok(()),
        }
    }

    /// The size of the commands of a direction: as counted, where all are of one size, and as the
    /// options say; `None`: of several sizes.
    fn block_bytes(&self, direction: FioDirection) -> Option<u64> {
        let text = self.option(&["bs", "blocksize"]).unwrap_or("4k");
        let mut sizes = text.split(',').map(block_bytes);
        let reads = sizes.next()??;
        let writes = sizes.next().unwrap_or(Some(reads))?;
        let stated = match direction {
            FioDirection::Read => reads,
            FioDirection::Write => writes,
            FioDirection::Both if reads == writes => reads,
            FioDirection::Both => return None,
        };
        // A unit means what `kb_base` says, which may stand before or after it. Version 2 counts
        // KiB.
        let side = self.side(direction);
        let (bytes, commands) = (self.sum(side, "io_bytes"), self.sum(side, "total_ios"));
        let counted = bytes / commands;
        let is_whole = commands >= 1.0 && counted.fract() == 0.0 && counted >= 1.0;
        let is_counted = is_whole && self.version >= Some(3) && !self.has(&["bssplit"]);
        Some(if is_counted { counted as u64 } else { stated })
    }

    /// The key of a direction's part of the document.
    fn side(&self, direction: FioDirection) -> &'static str {
        let own = match direction {
            FioDirection::Read => "read",
            FioDirection::Write => "write",
            FioDirection::Both => "mixed",
        };
        let is_there = self.entries.iter().any(|entry| entry.get(own).is_some());
        if is_there { own } else { "mixed" }
    }

    fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.options.contains_key(*name))
    }

    fn read_share(&self) -> u8 {
        let by_reads = self.number(&["rwmixread"]);
        let by_writes = || Some(100 - self.number(&["rwmixwrite"])?.min(100));
        let share = by_reads.or_else(by_writes).unwrap_or(50).min(100);
        u8::try_from(share).unwrap_or(50)
    }

    /// The engine's name, without the path of one that is loaded from a file.
    fn engine(&self) -> &str {
        let place = self.option(&["filename", "directory"]);
        let own = match place {
            Some(name) if name.contains('\\') => "windowsaio",
            _ => "psync",
        };
        let engine = self.option(&["ioengine"]).unwrap_or(own);
        engine.split(':').next().unwrap_or_default()
    }

    fn queue_depth(&self) -> u32 {
        if SYNCHRONOUS.contains(&self.engine()) {
            1
        } else {
            self.number(&["iodepth"]).unwrap_or(1).max(1)
        }
    }

    fn jobs(&self) -> u32 {
        let entries = u32::try_from(self.entries.len()).unwrap_or(1);
        self.number(&["numjobs"]).unwrap_or(1).max(entries)
    }

    /// How each write is made durable.
    fn sync(&self) -> Result<SyncMethod, &'static str> {
        for (name, method) in [
            ("fsync", SyncMethod::Fsync),
            ("fdatasync", SyncMethod::Fdatasync),
        ] {
            match self.number(&[name]) {
                None | Some(0) => {}
                Some(1) => return Ok(method),
                Some(_) => return Err("it syncs after several writes, not after each"),
            }
        }
        Ok(match self.option(&["sync"]) {
            Some("1" | "sync") => SyncMethod::OpenSync,
            Some("dsync") => SyncMethod::OpenDatasync,
            _ => SyncMethod::None,
        })
    }

    /// The way to the drive, by what the file names look like; the names stay here.
    fn path(&self) -> RowPath {
        // A colon parts files; one of a name has a backslash before it.
        let name = self.option(&["filename"]).unwrap_or_default();
        let name = &name.replace("\\:", "");
        let is_windows_disk = name.contains("PhysicalDrive");
        let has_file = !name.is_empty() || self.options.contains_key("directory");
        let raid = [
            "/dev/md",
            "/dev/mapper",
            "/dev/dm-",
            "/dev/zd",
            "/dev/rbd",
            "/dev/drbd",
        ];
        let (through, how) = match () {
            () if raid.iter().any(|device| name.starts_with(device)) => {
                (Through::Raid, "a device of several, or a mapped one")
            }
            () if PAST_THE_KERNEL.contains(&self.engine()) => (Through::Raw, ""),
            () if name.split(':').count() > 1 => (Through::Raid, "several files at once"),
            () if name.starts_with("/dev/") || is_windows_disk => (Through::Raw, ""),
            () if has_file => (Through::FileSystem, ""),
            () => (Through::Unknown, ""),
        };
        RowPath {
            through,
            how: how.into(),
        }
    }

    fn sum(&self, side: &str, key: &str) -> f64 {
        let value = |entry: &Value| entry.get(side)?.get(key)?.as_f64();
        self.entries.iter().filter_map(value).sum()
    }

    /// A latency of one direction, us: mean, percentile or maximum. Clones of a job have no
    /// common percentiles.
    fn latency(&self, side: &str, kind: &str, key: &str) -> Option<f64> {
        let [entry] = self.entries else {
            return None;
        };
        let side = entry.get(side)?;
        let statistics = |kind: &str| match side.get(format!("{kind}_ns")) {
            Some(statistics) => Some((statistics, 1000.0)),
            None => Some((side.get(kind)?, 1.0)),
        };
        let (value, unit) = if key.contains('.') {
            // With `lat_percentiles` they are of the whole command.
            [kind, "lat"].into_iter().find_map(|kind| {
                let (statistics, unit) = statistics(kind)?;
                Some((statistics.get("percentile")?.get(key)?, unit))
            })?
        } else {
            let (statistics, unit) = statistics(kind)?;
            (statistics.get(key)?, unit)
        };
        value
            .as_f64()
            .map(|value| value / unit)
            .filter(|us| *us > 0.0)
    }

    fn direction(
        &self,
        direction: FioDirection,
        load: &RowLoad,
        figures: &mut Vec<ReportedFigure>,
    ) {
        let side = self.side(direction);
        let rate = self.sum(side, "iops");
        if !(rate.is_finite() && rate >= 0.1) {
            return;
        }
        let (count, latencies) = direction.metrics();
        figures.push(self.figure(count, rate, load));
        for (metric, (kind, key)) in latencies.iter().zip(STATISTICS) {
            if let Some(us) = self.latency(side, kind, key) {
                figures.push(self.figure(*metric, us, load));
            }
        }
    }

    /// Latencies of the syncs alone, which fio 3 counts for itself.
    fn syncs(&self, load: &RowLoad, figures: &mut Vec<ReportedFigure>) {
        let metrics = [
            (Metric::SyncLatencyMean, "mean"),
            (Metric::SyncLatencyP50, "50.000000"),
            (Metric::SyncLatencyP99, "99.000000"),
            (Metric::SyncLatencyP999, "99.900000"),
            (Metric::SyncLatencyP9999, "99.990000"),
            (Metric::SyncLatencyMax, "max"),
        ];
        if !matches!(load.sync, Some(SyncMethod::Fsync | SyncMethod::Fdatasync)) {
            return;
        }
        for (metric, key) in metrics {
            if let Some(us) = self.latency("sync", "lat", key) {
                figures.push(self.figure(metric, us, load));
            }
        }
    }

    /// What keeps a figure from being the drive's own.
    fn foreign(&self, path: &RowPath, is_direct: bool) -> Vec<&'static str> {
        let is_zoned = self.option(&["zonemode"]) == Some("zbd");
        let is_held = self.has(&["rate", "rate_iops", "thinktime", "rate_process"]);
        let spread = self.option(&["random_distribution"]).unwrap_or("random");
        let reasons = [
            (!is_direct, "through the page cache"),
            (path.through == Through::Raid, "not one drive"),
            (REMOTE.contains(&self.engine()), "no drive of this host"),
            (self.is_together, "other jobs ran at the same time"),
            (is_held, "held to a rate"),
            (is_zoned, "a zoned drive"),
            (
                spread != "random",
                "some places are used more often than others",
            ),
        ];
        let reasons = reasons.into_iter().filter(|(holds, _)| *holds);
        reasons.map(|(_, reason)| reason).collect()
    }

    fn figure(&self, metric: Metric, value: f64, load: &RowLoad) -> ReportedFigure {
        let path = self.path();
        let is_direct =
            self.is_on("direct") || load.is_durable() || PAST_THE_KERNEL.contains(&self.engine());
        let seconds = self.seconds();
        let mut traps = self.foreign(&path, is_direct);
        let is_of_drive = traps.is_empty();
        let writes = load.rw.is_some_and(LoadKind::writes);
        if writes && seconds.is_some_and(|s| s < SHORT_S) {
            traps.push("short: not steady state");
        }
        if writes
            && self.has(&[
                "zero_buffers",
                "buffer_pattern",
                "buffer_compress_percentage",
            ])
        {
            traps.push("data that compress");
        }
        if metric.name().starts_with("sync_latency") {
            traps.push("the flush alone, without the write");
        }
        let version = self
            .version
            .map_or(String::new(), |version| format!(" {version}"));
        let run = seconds.map_or(String::new(), |seconds| format!("; {seconds:.0} s"));
        ReportedFigure {
            metric,
            value,
            is_of_drive,
            path,
            load: load.clone(),
            trap: traps.join("; "),
            note: format!("fio{version}{run}"),
        }
    }

    fn seconds(&self) -> Option<f64> {
        let sides = ["read", "write"].map(|side| {
            let runtime = |entry: &Value| entry.get(side)?.get("runtime")?.as_f64();
            self.entries.iter().filter_map(runtime).fold(0.0, f64::max)
        });
        let ms = sides[0].max(sides[1]);
        (ms > 0.0).then_some(ms / 1000.0)
    }
}

/// Bytes of `4k`, `4096`, and of `4kib`, which to fio is 4,000; `None`: a range.
fn block_bytes(text: &str) -> Option<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &lower[digits.len()..] {
        "" | "b" => 1,
        "k" | "kb" | "ki" => 1 << 10,
        "m" | "mb" | "mi" => 1 << 20,
        "kib" => 1000,
        "mib" => 1_000_000,
        _ => return None,
    };
    digits
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)
        .filter(|bytes| *bytes > 0)
}
