//! Bytes that each control group moved to and from a disk: `io.stat` of version 2,
//! `blkio.throttle.io_service_bytes` of version 1.

use super::cgroup::roots;
use super::host_counters::GroupBytes;
use ssdlab_bench::device::system::{DevId, SystemPaths};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Groups that are looked at, at most; with more there are none.
const GROUPS_MAX: usize = 5000;
/// How many groups are reported.
const REPORTED: usize = 8;

/// Reads what groups moved since it was made.
pub struct GroupIoReader {
    roots: Vec<PathBuf>,
    id: DevId,
    begun: BTreeMap<String, u64>,
}

/// Bytes in a group's file; of version 2 those of the groups in it too.
enum CountedBytes {
    WithInner(u64),
    Own(u64),
}

fn counted(folder: &Path, id: DevId) -> Option<CountedBytes> {
    let device = format!("{id} ");
    if let Ok(text) = fs::read_to_string(folder.join("io.stat")) {
        let line = text.lines().find_map(|line| line.strip_prefix(&device));
        let words = line.unwrap_or_default().split(' ');
        let values = words.filter_map(|word| {
            let value = word
                .strip_prefix("rbytes=")
                .or_else(|| word.strip_prefix("wbytes="))?;
            value.parse::<u64>().ok()
        });
        return Some(CountedBytes::WithInner(values.sum()));
    }
    let text = fs::read_to_string(folder.join("blkio.throttle.io_service_bytes")).ok()?;
    let lines = text.lines().filter_map(|line| line.strip_prefix(&device));
    let values = lines.filter_map(|line| {
        let value = line
            .strip_prefix("Read ")
            .or_else(|| line.strip_prefix("Write "))?;
        value.parse::<u64>().ok()
    });
    Some(CountedBytes::Own(values.sum()))
}

/// What is walked through.
struct GroupWalk<'a> {
    root: &'a Path,
    id: DevId,
    moved: BTreeMap<String, u64>,
    visited: usize,
}

impl GroupWalk<'_> {
    /// Bytes of this group and those in it.
    fn visit(&mut self, folder: &Path) -> u64 {
        self.visited += 1;
        if self.visited > GROUPS_MAX {
            return 0;
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let inner: Vec<PathBuf> = entries
            .filter(is_folder)
            .map(|entry| entry.path())
            .collect();
        let inner: u64 = inner.iter().map(|folder| self.visit(folder)).sum();
        let (own, all) = match counted(folder, self.id) {
            Some(CountedBytes::WithInner(all)) => (all.saturating_sub(inner), all.max(inner)),
            Some(CountedBytes::Own(own)) => (own, own + inner),
            None => (0, inner),
        };
        if own > 0 {
            let group = folder.strip_prefix(self.root).unwrap_or(folder);
            self.moved.insert(format!("/{}", group.display()), own);
        }
        all
    }
}

fn moved(roots: &[PathBuf], id: DevId) -> Option<BTreeMap<String, u64>> {
    let mut moved = BTreeMap::new();
    for root in roots {
        let mut walk = GroupWalk {
            root,
            id,
            moved: BTreeMap::new(),
            visited: 0,
        };
        walk.visit(root);
        if walk.visited > GROUPS_MAX {
            return None;
        }
        moved.append(&mut walk.moved);
    }
    Some(moved)
}

impl GroupIoReader {
    /// Begins to count; `None` where groups do not count I/O, or are too many.
    pub fn begin(system: &SystemPaths, id: DevId) -> Option<GroupIoReader> {
        let roots: Vec<PathBuf> = roots(system)
            .into_iter()
            .filter(|root| counted(root, id).is_some())
            .collect();
        if roots.is_empty() {
            return None;
        }
        Some(GroupIoReader {
            begun: moved(&roots, id)?,
            roots,
            id,
        })
    }

    /// What was moved since the beginning, most first.
    pub fn read(&self) -> Vec<GroupBytes> {
        let mut groups: Vec<GroupBytes> = moved(&self.roots, self.id)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(group, bytes)| {
                let begun = self.begun.get(&group).copied().unwrap_or(0);
                let bytes = bytes.saturating_sub(begun);
                (bytes > 0).then_some(GroupBytes { group, bytes })
            })
            .collect();
        groups.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.group.cmp(&b.group)));
        groups.truncate(REPORTED);
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: DevId = DevId {
        major: 259,
        minor: 0,
    };

    fn put(folder: &Path, file: &str, text: &str) {
        fs::create_dir_all(folder).expect("made");
        fs::write(folder.join(file), text).expect("written");
    }

    fn begin(root: &Path) -> GroupIoReader {
        let roots = vec![root.to_owned()];
        GroupIoReader {
            begun: moved(&roots, DISK).expect("few groups"),
            roots,
            id: DISK,
        }
    }

    fn rows(reader: &GroupIoReader) -> Vec<(String, u64)> {
        let groups = reader.read().into_iter();
        groups.map(|group| (group.group, group.bytes)).collect()
    }

    /// Of version 2 a group's counters have those of the groups in it in them.
    #[test]
    fn inner_groups_are_not_counted_twice() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let (slice, service) = (root.join("a.slice"), root.join("a.slice/b.service"));
        let stat = |read: u64, written: u64| {
            format!("8:0 rbytes=9 wbytes=9\n259:0 rbytes={read} wbytes={written} rios=1 wios=1\n")
        };
        put(root, "io.stat", &stat(500, 0));
        put(&slice, "io.stat", &stat(400, 0));
        put(&service, "io.stat", &stat(300, 0));
        let reader = begin(root);
        put(&service, "io.stat", &stat(300, 7000));
        put(&slice, "io.stat", &stat(450, 7000));
        put(root, "io.stat", &stat(550, 7000));
        let inner = format!(
            "/{}",
            service.strip_prefix(root).expect("below it").display()
        );
        let expected = [(inner.as_str(), 7000), ("/a.slice", 50)];
        assert_eq!(
            rows(&reader),
            expected.map(|(group, bytes)| (group.to_owned(), bytes))
        );
    }

    #[test]
    fn version_1_counts_each_group_alone() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let file = "blkio.throttle.io_service_bytes";
        put(
            root,
            file,
            "259:0 Read 10\n259:0 Write 20\n259:0 Total 30\n",
        );
        put(&root.join("a"), file, "259:0 Read 5\n259:0 Write 0\n");
        let reader = begin(root);
        put(&root.join("a"), file, "259:0 Read 5\n259:0 Write 99\n");
        assert_eq!(rows(&reader), [("/a".to_owned(), 99)]);
    }
}
