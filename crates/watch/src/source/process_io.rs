//! Bytes that each process moved to and from block devices, from `/proc/*/io`.
//!
//! The kernel counts them over all devices, reads when they are sent to a device and writes when
//! a page becomes dirty. Source: Linux `Documentation/filesystems/proc.rst`, 3.3.

use super::host_counters::ProcessBytes;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// How many processes are reported.
const REPORTED: usize = 8;

/// Bytes of a process so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MovedBytes {
    read: u64,
    written: u64,
}

/// Reads what processes moved since it was made.
pub struct ProcessIoReader {
    proc: PathBuf,
    begun: HashMap<u32, MovedBytes>,
}

fn parse(text: &str) -> Option<MovedBytes> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some(MovedBytes {
        read: value("read_bytes:")?,
        written: value("write_bytes:")?,
    })
}

/// Processes whose counters this one may read.
fn moved(proc: &Path) -> HashMap<u32, MovedBytes> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read_to_string(entry.path().join("io")).ok()?;
        Some((pid, parse(&text)?))
    });
    processes.collect()
}

impl ProcessIoReader {
    /// Begins to count; `None` where other processes' counters cannot be read.
    pub fn begin(proc: &Path) -> Option<ProcessIoReader> {
        let begun = moved(proc);
        let is_other = |pid: &u32| *pid != std::process::id();
        begun.keys().any(is_other).then(|| ProcessIoReader {
            proc: proc.to_owned(),
            begun,
        })
    }

    /// What was moved since the beginning by processes that `is_here`, most first. A process that
    /// began since counts whole.
    pub fn read(&self, is_here: impl Fn(u32) -> bool) -> Vec<ProcessBytes> {
        let mut processes: Vec<ProcessBytes> = moved(&self.proc)
            .into_iter()
            .filter_map(|(pid, moved)| {
                let begun = self.begun.get(&pid).copied().unwrap_or_default();
                // A number that is used again belongs to another process.
                let since = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
                let (read, written) = (
                    since(moved.read, begun.read),
                    since(moved.written, begun.written),
                );
                let name = fs::read_to_string(self.proc.join(pid.to_string()).join("comm")).ok()?;
                (read + written > 0).then(|| ProcessBytes {
                    name: name.trim_end().to_owned(),
                    pid,
                    read,
                    written,
                })
            })
            .collect();
        processes.sort_by_key(|process| (std::cmp::Reverse(process.bytes()), process.pid));
        let movers = processes.into_iter().filter(|process| is_here(process.pid));
        movers.take(REPORTED).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(proc: &Path, pid: u32, name: &str, read: u64, written: u64) {
        let folder = proc.join(pid.to_string());
        fs::create_dir_all(&folder).expect("a folder");
        let io = format!("rchar: 9\nsyscr: 9\nread_bytes: {read}\nwrite_bytes: {written}\n");
        fs::write(folder.join("io"), io).expect("a file");
        fs::write(folder.join("comm"), format!("{name}\n")).expect("a file");
    }

    #[test]
    fn what_was_moved_before_does_not_count() {
        let proc = tempfile::tempdir().expect("a folder");
        let proc = proc.path();
        assert!(ProcessIoReader::begin(proc).is_none());
        put(proc, 1, "init", 0, 0);
        put(proc, 7, "etcd", 1 << 30, 1 << 30);
        put(proc, 8, "old", 5000, 0);
        let reader = ProcessIoReader::begin(proc).expect("counters");
        put(proc, 7, "etcd", 1 << 30, (1 << 30) + 4096);
        put(proc, 8, "again", 100, 0);
        put(proc, 9, "backup", 1 << 20, 0);
        put(proc, 10, "elsewhere", 1 << 30, 0);
        let names: Vec<_> = reader
            .read(|pid| pid != 10)
            .into_iter()
            .map(|process| (process.name.clone(), process.bytes()))
            .collect();
        let expected = [("backup", 1 << 20), ("etcd", 4096), ("again", 100)];
        assert_eq!(
            names,
            expected.map(|(name, bytes)| (name.to_owned(), bytes))
        );
    }
}
