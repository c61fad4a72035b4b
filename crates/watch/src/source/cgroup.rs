//! Limits of control groups for a disk: `io.max` of version 2, `blkio.throttle.*` of version 1.

use super::settings::{CgroupLimit, LimitedRate};
use ssdlab_bench::device::system::{DevId, SystemPaths};
use std::fs;
use std::path::{Path, PathBuf};

/// Groups that are looked at, at most.
const GROUPS_MAX: usize = 20_000;

/// Mounted roots of control groups that can limit I/O.
pub(super) fn roots(system: &SystemPaths) -> Vec<PathBuf> {
    let mounts = system.mounts().into_iter();
    let groups = mounts.filter(|mount| {
        mount.kind == "cgroup2" || mount.kind == "cgroup" && mount.point.contains("blkio")
    });
    groups.map(|mount| PathBuf::from(mount.point)).collect()
}

/// The limits of all groups for the disk `id`.
pub fn limits(system: &SystemPaths, id: DevId) -> Vec<CgroupLimit> {
    let mut limits = Vec::new();
    for root in roots(system) {
        limits_below(&root, id, &mut limits);
    }
    limits
}

fn limits_below(root: &Path, id: DevId, limits: &mut Vec<CgroupLimit>) {
    let mut folders = vec![root.to_owned()];
    let mut visited = 0;
    while let Some(folder) = folders.pop() {
        visited += 1;
        if visited > GROUPS_MAX {
            return;
        }
        let group = folder.strip_prefix(root).unwrap_or(&folder);
        let group = format!("/{}", group.display());
        limits.extend(
            of_group(&folder, id)
                .into_iter()
                .map(|(rate, limit)| CgroupLimit {
                    group: group.clone(),
                    rate,
                    limit,
                }),
        );
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        folders.extend(entries.filter(is_folder).map(|entry| entry.path()));
    }
}

fn of_group(folder: &Path, id: DevId) -> Vec<(LimitedRate, u64)> {
    /// Keys of version 2 and files of version 1.
    const RATES: [(&str, &str, LimitedRate); 4] = [
        ("rbps=", "read_bps_device", LimitedRate::ReadBytes),
        ("wbps=", "write_bps_device", LimitedRate::WriteBytes),
        ("riops=", "read_iops_device", LimitedRate::Reads),
        ("wiops=", "write_iops_device", LimitedRate::Writes),
    ];
    let line = |file: &str| -> Option<String> {
        let text = fs::read_to_string(folder.join(file)).ok()?;
        let device = format!("{id} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&device))?;
        Some(line.to_owned())
    };
    let version_2 = line("io.max");
    let rates = RATES.into_iter().filter_map(|(key, file, rate)| {
        let limit = match &version_2 {
            Some(line) => line
                .split(' ')
                .find_map(|word| word.strip_prefix(key))?
                .to_owned(),
            None => line(&format!("blkio.throttle.{file}"))?,
        };
        Some((rate, limit.trim().parse().ok()?))
    });
    rates.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: DevId = DevId {
        major: 259,
        minor: 0,
    };

    #[test]
    fn limits_of_both_versions_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        };
        write("io.max", "8:0 rbps=1 wbps=2 riops=3 wiops=4\n");
        write(
            "data/a/io.max",
            "259:0 rbps=max wbps=1048576 riops=max wiops=120\n",
        );
        write(
            "old/blkio.throttle.read_bps_device",
            "259:0 5000\n259:1 7\n",
        );
        let mut limits = Vec::new();
        limits_below(folder.path(), DISK, &mut limits);
        limits.sort_by_key(|limit| (limit.group.clone(), limit.limit));
        let rows: Vec<_> = limits
            .iter()
            .map(|row| (row.group.as_str(), row.rate, row.limit))
            .collect();
        assert_eq!(
            rows,
            [
                ("/data/a", LimitedRate::Writes, 120),
                ("/data/a", LimitedRate::WriteBytes, 1_048_576),
                ("/old", LimitedRate::ReadBytes, 5000),
            ]
        );
    }
}
