//! Reads counters of the host's layers from `/proc` and `/sys`, or from folders in their place.
//!
//! Sources of the formats: Linux `Documentation/accounting/psi.rst`, `fs/jbd2/journal.c`
//! (`jbd2_seq_info_show`, 2.6.28 and later; `average transaction commit time` since 2.6.31),
//! `fs/xfs/xfs_stats.h`, `Documentation/admin-guide/md.rst`,
//! `Documentation/admin-guide/bcache.rst`, `Documentation/hwmon/sysfs-interface.rst`; OpenZFS
//! `zil.c`, `spa_stats.c`.

use super::host_counters::{
    ArrayState, BcacheState, HostCounters, IoPressure, JournalCounters, QueueState, ThermalState,
    XfsLogCounters, ZfsCounters, ZfsPoolCounters,
};
use super::settings::HostSettings;
use ssdlab_bench::device::system::SystemPaths;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn text(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.parse().ok()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Microseconds of `some` and `full` in a file of PSI.
fn pressure(path: &Path) -> Option<[u64; 2]> {
    let text = text(path)?;
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        line.split_whitespace()
            .find_map(|word| word.strip_prefix("total="))?
            .parse()
            .ok()
    };
    Some([total("some")?, total("full").unwrap_or(0)])
}

/// What a journal says of itself.
fn journal(text: &str) -> Option<JournalCounters> {
    let leading = |line: &str| -> Option<u64> {
        let digits: String = line
            .trim()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        digits.parse().ok()
    };
    let line = |end: &str| {
        let line = text.lines().find(|line| line.ends_with(end));
        line.and_then(leading).unwrap_or(0)
    };
    let first = text.lines().next()?;
    let (_, requested) = first.split_once('(')?;
    Some(JournalCounters {
        transactions: leading(first)?,
        requested: leading(requested)?,
        commit_ns: line("us average transaction commit time") * 1000,
        waiting_ms: line("ms waiting for transaction"),
        flushing_ms: line("ms flushing data (in ordered mode)"),
        logging_ms: line("ms logging transaction"),
        logged_blocks: line("logged blocks per transaction"),
        ..JournalCounters::default()
    })
}

/// The numbers behind a word at a line's beginning.
fn row(text: &str, name: &str) -> Vec<u64> {
    let line = text.lines().find_map(|line| {
        let tail = line.strip_prefix(name)?;
        tail.starts_with(' ').then_some(tail)
    });
    let words = line.unwrap_or_default().split_whitespace();
    words.map(|word| word.parse().unwrap_or(0)).collect()
}

fn xfs_log(text: &str) -> XfsLogCounters {
    let (log, push) = (row(text, "log"), row(text, "push_ail"));
    let value = |row: &[u64], place: usize| row.get(place).copied().unwrap_or(0);
    XfsLogCounters {
        device: String::new(),
        log_writes: value(&log, 0),
        no_buffer: value(&log, 2),
        log_forces: value(&log, 3),
        log_force_sleeps: value(&log, 4),
        space_sleeps: value(&push, 1),
    }
}

/// Committed transaction groups of a pool.
fn zfs_pool(pool: &str, text: &str) -> Option<ZfsPoolCounters> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("txg"));
    let header: Vec<&str> = lines.next()?.split_whitespace().collect();
    let column = |name: &str| header.iter().position(|title| *title == name);
    let (state, written, sync) = (column("state")?, column("nwritten")?, column("stime")?);
    let mut counters = ZfsPoolCounters {
        pool: pool.to_owned(),
        ..ZfsPoolCounters::default()
    };
    let (mut sync_sum, mut written_sum) = (0_u64, 0_u64);
    for line in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |column: usize| words.get(column).and_then(|word| word.parse::<u64>().ok());
        if words.get(state) != Some(&"C") {
            continue;
        }
        let (Some(sync_ns), Some(bytes)) = (number(sync), number(written)) else {
            continue;
        };
        counters.groups += 1;
        sync_sum += sync_ns;
        written_sum += bytes;
        counters.sync_ns_max = counters.sync_ns_max.max(sync_ns);
    }
    counters.sync_ns = sync_sum / counters.groups.max(1);
    counters.written = written_sum / counters.groups.max(1);
    Some(counters)
}

/// A number of a named kstat: `zil_commit_count 4 123`.
fn kstat(text: &str, name: &str) -> Option<u64> {
    let mut rows = text.lines().map(str::split_whitespace);
    let mut row = rows.find(|row| row.clone().next() == Some(name))?;
    row.nth(2)?.parse().ok()
}

/// Counters that only grow, when the watch began.
#[derive(Clone, Debug, Default)]
struct FirstCounts {
    pressure: Option<[u64; 2]>,
    group_pressure: Option<[u64; 2]>,
    journals: BTreeMap<String, JournalCounters>,
    xfs: BTreeMap<String, XfsLogCounters>,
    zil_commits: Option<u64>,
}

/// Reads them for one disk.
#[derive(Debug)]
pub struct LayerReader {
    system: SystemPaths,
    disk: PathBuf,
    /// Names of the disk, its partitions and what stands on them.
    devices: Vec<String>,
    group: Option<PathBuf>,
    first: FirstCounts,
}

/// The group of a process in the second version's tree.
fn group_of(system: &SystemPaths, pid: u32) -> Option<PathBuf> {
    let text = text(&system.proc.join(pid.to_string()).join("cgroup"))?;
    let group = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = system.mounts().into_iter();
    let root = mounts
        .filter(|mount| mount.kind == "cgroup2")
        .map(|mount| mount.point)
        .next()?;
    Some(Path::new(&root).join(group))
}

impl LayerReader {
    /// For the disk whose folder of sysfs is `disk`, and a process if one is watched.
    pub fn new(
        system: &SystemPaths,
        disk: &Path,
        settings: &HostSettings,
        pid: Option<u32>,
    ) -> LayerReader {
        let name = |folder: &Path| {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().into_owned()
        };
        let parts = names(disk).into_iter();
        let parts = parts.filter(|part| disk.join(part).join("partition").exists());
        let stack = settings.stack.iter().map(|layer| layer.name.clone());
        let mut reader = LayerReader {
            system: system.clone(),
            disk: disk.to_owned(),
            devices: [name(disk)].into_iter().chain(parts).chain(stack).collect(),
            group: pid.and_then(|pid| group_of(system, pid)),
            first: FirstCounts::default(),
        };
        reader.first = reader.counts();
        reader
    }

    fn counts(&self) -> FirstCounts {
        let proc = &self.system.proc;
        let zil = text(&proc.join("spl/kstat/zfs/zil"));
        let group = self.group.as_ref();
        FirstCounts {
            pressure: pressure(&proc.join("pressure/io")),
            group_pressure: group.and_then(|group| pressure(&group.join("io.pressure"))),
            journals: self.journals(),
            xfs: self.xfs(),
            zil_commits: zil.and_then(|zil| kstat(&zil, "zil_commit_count")),
        }
    }

    /// Folders of jbd2 are named by device and the journal's inode: `sda1-8`.
    fn journals(&self) -> BTreeMap<String, JournalCounters> {
        let folder = self.system.proc.join("fs/jbd2");
        let journals = names(&folder).into_iter().filter_map(|name| {
            let (device, _) = name.rsplit_once('-')?;
            let is_here = self.devices.iter().any(|known| known == device);
            let counters = is_here.then(|| text(&folder.join(&name).join("info")))?;
            let counters = journal(&counters?)?;
            let device = device.to_owned();
            Some((device.clone(), JournalCounters { device, ..counters }))
        });
        journals.collect()
    }

    fn xfs(&self) -> BTreeMap<String, XfsLogCounters> {
        let logs = self.devices.iter().filter_map(|device| {
            let folder = self.system.sys.join("fs/xfs").join(device);
            let log = xfs_log(&text(&folder.join("stats/stats"))?);
            let device = device.clone();
            Some((device.clone(), XfsLogCounters { device, ..log }))
        });
        logs.collect()
    }

    fn zfs(&self, current: &FirstCounts) -> Option<ZfsCounters> {
        let zil_commits = current.zil_commits?;
        let folder = self.system.proc.join("spl/kstat/zfs");
        let pools = names(&folder).into_iter().filter_map(|pool| {
            let text = text(&folder.join(&pool).join("txgs"))?;
            zfs_pool(&pool, &text)
        });
        Some(ZfsCounters {
            zil_commits: zil_commits.saturating_sub(self.first.zil_commits.unwrap_or(0)),
            pools: pools.collect(),
        })
    }

    fn arrays(&self) -> Vec<ArrayState> {
        let arrays = self.devices.iter().filter_map(|name| {
            let folder = self.system.sys.join("block").join(name).join("md");
            Some(ArrayState {
                name: name.clone(),
                level: text(&folder.join("level"))?,
                action: text(&folder.join("sync_action")).unwrap_or_else(|| "idle".to_owned()),
                action_rate: number(&folder.join("sync_speed")).map(|rate| rate * 1024),
                degraded: number(&folder.join("degraded")).unwrap_or(0),
            })
        });
        arrays.collect()
    }

    fn caches(&self) -> Vec<BcacheState> {
        /// The mode in use stands in brackets.
        fn active(line: &str) -> &str {
            let tail = line.split_once('[').map_or(line, |(_, tail)| tail);
            tail.split_once(']').map_or(tail, |(name, _)| name)
        }
        let caches = self.devices.iter().filter_map(|name| {
            let folder = self.system.sys.join("block").join(name).join("bcache");
            Some(BcacheState {
                name: name.clone(),
                mode: active(&text(&folder.join("cache_mode"))?).to_owned(),
                state: text(&folder.join("state")).unwrap_or_default(),
                hit_percent: number(&folder.join("stats_five_minute/cache_hit_ratio")),
            })
        });
        caches.collect()
    }

    fn queue(&self) -> QueueState {
        let queue = |file: &str| self.disk.join("queue").join(file);
        let hardware = self.disk.join("mq");
        let controller = self.disk.join("device");
        let policy = [
            controller.join("iopolicy"),
            controller.join("device/iopolicy"),
        ];
        QueueState {
            hardware_queues: names(&hardware).len() as u64,
            tags: number(&hardware.join("0/nr_tags")),
            wbt_us: number(&queue("wbt_lat_usec")),
            nomerges: number(&queue("nomerges")),
            request_bytes: number(&queue("max_sectors_kb")).map(|kib| kib << 10),
            request_bytes_max: number(&queue("max_hw_sectors_kb")).map(|kib| kib << 10),
            controller: text(&controller.join("state")),
            transport: text(&controller.join("transport")),
            path_policy: policy.iter().find_map(|path| text(path)),
        }
    }

    fn thermal(&self) -> Option<ThermalState> {
        let device = self.disk.join("device");
        let mut folders = Vec::new();
        for folder in [
            device.join("hwmon"),
            device.join("device/hwmon"),
            device.clone(),
        ] {
            let monitors = names(&folder).into_iter();
            let monitors = monitors.filter(|name| name.starts_with("hwmon") && name.len() > 5);
            folders.extend(monitors.map(|name| folder.join(name)));
        }
        let monitor = folders.first()?;
        let celsius = |file: &str| {
            let millidegrees: i64 = text(&monitor.join(file))?.parse().ok()?;
            Some(millidegrees as f64 / 1000.0)
        };
        let flag = |file: &str| number(&monitor.join(file)) == Some(1);
        Some(ThermalState {
            celsius: celsius("temp1_input"),
            warning: celsius("temp1_max"),
            critical: celsius("temp1_crit"),
            alarm: flag("temp1_alarm") || flag("temp1_max_alarm") || flag("temp1_crit_alarm"),
        })
    }

    /// What was counted since the beginning, `seconds` ago.
    pub fn read(&self, seconds: f64) -> HostCounters {
        let current = self.counts();
        let share = |current: Option<[u64; 2]>, first: Option<[u64; 2]>| {
            let (current, first) = (current?, first?);
            let share = |place: usize| {
                current[place].saturating_sub(first[place]) as f64 / 1e6 / seconds.max(1e-3)
            };
            Some(IoPressure {
                some: share(0).min(1.0),
                full: share(1).min(1.0),
            })
        };
        let journals = current.journals.values().map(|journal| {
            let mut since = journal.clone();
            if let Some(first) = self.first.journals.get(&journal.device) {
                since.transactions = since.transactions.saturating_sub(first.transactions);
                since.requested = since.requested.saturating_sub(first.requested);
            }
            since
        });
        let xfs = current
            .xfs
            .values()
            .map(|log| match self.first.xfs.get(&log.device) {
                Some(first) => XfsLogCounters {
                    device: log.device.clone(),
                    log_writes: log.log_writes.saturating_sub(first.log_writes),
                    log_forces: log.log_forces.saturating_sub(first.log_forces),
                    log_force_sleeps: log.log_force_sleeps.saturating_sub(first.log_force_sleeps),
                    no_buffer: log.no_buffer.saturating_sub(first.no_buffer),
                    space_sleeps: log.space_sleeps.saturating_sub(first.space_sleeps),
                },
                None => log.clone(),
            });
        HostCounters {
            pressure: share(current.pressure, self.first.pressure),
            group_pressure: share(current.group_pressure, self.first.group_pressure),
            journals: journals.collect(),
            xfs: xfs.collect(),
            zfs: self.zfs(&current),
            arrays: self.arrays(),
            caches: self.caches(),
            queue: self.queue(),
            thermal: self.thermal(),
            drive: None,
            groups: Vec::new(),
            processes: Vec::new(),
        }
    }

    /// Names of these sources, each with why it is not there.
    pub fn states(&self, counters: &HostCounters) -> Vec<(&'static str, Option<String>)> {
        let unless = |is_here: bool, missing: &str| (!is_here).then(|| missing.to_owned());
        let not_here = "not on this disk";
        vec![
            (
                "pressure (PSI)",
                unless(
                    counters.pressure.is_some(),
                    "this kernel does not count it (psi=1)",
                ),
            ),
            (
                "ext4 journal (jbd2)",
                unless(!counters.journals.is_empty(), not_here),
            ),
            ("XFS log", unless(!counters.xfs.is_empty(), not_here)),
            ("ZFS", unless(counters.zfs.is_some(), "not loaded")),
            ("md", unless(!counters.arrays.is_empty(), not_here)),
            ("bcache", unless(!counters.caches.is_empty(), not_here)),
            (
                "hwmon",
                unless(counters.thermal.is_some(), "this drive has no sensor there"),
            ),
        ]
    }
}

#[cfg(test)]
mod tests;
