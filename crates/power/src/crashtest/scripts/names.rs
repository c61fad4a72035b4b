//! The names that a workload made, and when it synced their directories: what POSIX lets a cut
//! take of them.
//!
//! A file system such as ext4 makes a new file's name durable with the fsync of the file. POSIX
//! asks for an fsync of the directory. What a program leaves to its file system is seen from its
//! system calls; under POSIX's rules a check finds the folder without the names whose directory was
//! not synced before the cut.

use super::trace::{NameCall, TraceEvent, events};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A name of a file or directory, from when it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct TracedName {
    /// Path from the top of the file system.
    pub path: PathBuf,
    /// The name that it had before a rename, if that one is durable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<PathBuf>,
    /// Marks made before it.
    pub made_after: usize,
    /// Marks made before the sync of its directory began; `None`: there was no sync.
    pub synced_after: Option<usize>,
    /// Marks made before it was removed or renamed; `None`: it stayed.
    pub gone_after: Option<usize>,
}

/// What a workload did about its names; `names.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct NameHistory {
    /// Why its system calls were not seen; `None`: they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_seen: Option<String>,
    /// Syncs of files.
    pub file_syncs: usize,
    /// Syncs of directories in which it had made names.
    pub directory_syncs: usize,
    /// Syncs of the whole file system.
    pub whole_syncs: usize,
    /// Renames over a file and removals that no sync of the directory followed.
    pub loose_changes: usize,
    /// The names that it made.
    pub names: Vec<TracedName>,
}

/// The file of a campaign with what its workload did about its names.
pub(super) const NAMES: &str = "names.json";

/// What a trace begins with that could not be made, before the reason.
pub const NOT_SEEN: &str = "not seen: ";

/// What a workload left to its file system.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct NameSummary {
    /// What the program was held to.
    pub rules: NameRules,
    /// Why its system calls were not seen; null: they were.
    pub not_seen: Option<String>,
    /// Names that it made.
    pub made: usize,
    /// Of those that stayed, those whose directory was never synced.
    pub never_synced: usize,
    /// Syncs of files.
    pub file_syncs: usize,
    /// Syncs of directories in which it had made names.
    pub directory_syncs: usize,
    /// Syncs of the whole file system.
    pub whole_syncs: usize,
}

/// Names that a message lists.
const NAMES_SHOWN: usize = 3;

/// A workload's names while its calls are gone through.
struct NameReader<'a> {
    root: &'a Path,
    /// When each mark was made, in seconds of the wall clock, in order.
    marks: &'a [f64],
    history: NameHistory,
    /// Where each name that is there stands in the history.
    present: BTreeMap<PathBuf, usize>,
    /// Directories with changes that no sync followed.
    loose: BTreeMap<PathBuf, usize>,
    /// Where processes are, of those that have moved.
    places: BTreeMap<u64, PathBuf>,
}

impl NameReader<'_> {
    fn marks_before(&self, seconds: f64) -> usize {
        self.marks.partition_point(|&mark| mark <= seconds)
    }

    /// A path of a call, from the top of the file system; `None`: it is not in it.
    fn inside(&self, process: u64, base: Option<&Path>, path: &Path) -> Option<PathBuf> {
        let place = self
            .places
            .get(&process)
            .map_or(self.root, PathBuf::as_path);
        let whole = base.unwrap_or(place).join(path);
        let mut plain = PathBuf::new();
        for part in whole.components() {
            match part {
                std::path::Component::ParentDir => drop(plain.pop()),
                std::path::Component::CurDir => {}
                part => plain.push(part),
            }
        }
        plain.strip_prefix(self.root).ok().map(Path::to_owned)
    }

    fn make(&mut self, path: PathBuf, renamed_from: Option<PathBuf>, after: usize) {
        self.present.insert(path.clone(), self.history.names.len());
        self.history.names.push(TracedName {
            path,
            renamed_from,
            made_after: after,
            synced_after: None,
            gone_after: None,
        });
    }

    /// A name goes; those below it are left, as only an empty directory is removed.
    fn remove(&mut self, path: &Path, after: usize) -> Option<usize> {
        let index = self.present.remove(path)?;
        self.history.names[index].gone_after = Some(after);
        Some(index)
    }

    fn loosen(&mut self, path: &Path) {
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        *self.loose.entry(directory).or_default() += 1;
    }

    fn rename(&mut self, from: &Path, to: PathBuf, after: usize) {
        let inner: Vec<PathBuf> = self
            .present
            .keys()
            .filter(|path| path.starts_with(from) && path.as_path() != from)
            .cloned()
            .collect();
        let old = self.remove(from, after);
        if self.present.contains_key(&to) {
            self.loosen(&to);
            return;
        }
        let is_durable = |index: usize| self.history.names[index].synced_after.is_some();
        let durable = old.is_some_and(is_durable).then(|| from.to_owned());
        self.make(to.clone(), durable, after);
        // What is in a directory goes with it, as durable in it as before.
        for path in inner {
            let moved = path.strip_prefix(from).map(|rest| to.join(rest));
            if let (Ok(moved), Some(index)) = (moved, self.remove(&path, after)) {
                let synced = self.history.names[index].synced_after;
                self.make(moved, None, after);
                if let Some(name) = self.history.names.last_mut() {
                    name.synced_after = synced;
                }
            }
        }
    }

    /// A sync of one directory, or of all; began when `after` marks had been made.
    fn sync(&mut self, directory: Option<&Path>, after: usize) {
        for (path, &index) in &self.present {
            let name = &mut self.history.names[index];
            let is_of_it = directory.is_none_or(|directory| path.parent() == Some(directory));
            if is_of_it && name.synced_after.is_none() {
                name.synced_after = Some(after);
            }
        }
        match directory {
            Some(directory) => drop(self.loose.remove(directory)),
            None => self.loose.clear(),
        }
    }

    fn is_directory(&self, path: &Path) -> bool {
        let below = |name: &TracedName| name.path.parent() == Some(path);
        path == Path::new("") || self.history.names.iter().any(below)
    }

    fn take(&mut self, event: &TraceEvent) {
        let (process, after) = (event.process, self.marks_before(event.begun_s));
        let inside = |reader: &Self, at: &(Option<PathBuf>, PathBuf)| {
            reader.inside(process, at.0.as_deref(), &at.1)
        };
        match &event.call {
            NameCall::Make(at) => {
                let path = inside(self, at).filter(|path| !self.present.contains_key(path));
                if let Some(path) = path {
                    self.make(path, None, after);
                }
            }
            NameCall::Remove(at) => {
                if let Some(path) = inside(self, at)
                    && self.remove(&path, after).is_some()
                {
                    self.loosen(&path);
                }
            }
            NameCall::Rename(from, to) => {
                if let (Some(from), Some(to)) = (inside(self, from), inside(self, to)) {
                    self.rename(&from, to, after);
                }
            }
            NameCall::Sync(path) => match self.inside(process, None, path) {
                Some(path) if self.is_directory(&path) => {
                    self.history.directory_syncs += 1;
                    self.sync(Some(&path), after);
                }
                Some(_) => self.history.file_syncs += 1,
                None => {}
            },
            NameCall::SyncAll(path) => {
                let path = path.as_deref();
                if path.is_none_or(|path| self.inside(process, None, path).is_some()) {
                    self.history.whole_syncs += 1;
                    self.sync(None, after);
                }
            }
            NameCall::Enter(at) => {
                let place = self
                    .places
                    .get(&process)
                    .map_or(self.root, PathBuf::as_path);
                let place = at.0.as_deref().unwrap_or(place).join(&at.1);
                self.places.insert(process, place);
            }
            NameCall::Fork(child) => {
                if let Some(place) = self.places.get(&process).cloned() {
                    self.places.insert(*child, place);
                }
            }
        }
    }
}

impl NameHistory {
    /// From what strace wrote of a workload whose file system is mounted at `root`.
    pub(super) fn read(trace: &str, root: &Path, marks: &[f64]) -> NameHistory {
        if let Some(reason) = trace.strip_prefix(NOT_SEEN) {
            return NameHistory {
                not_seen: Some(reason.trim().to_owned()),
                ..NameHistory::default()
            };
        }
        let mut reader = NameReader {
            root,
            marks,
            history: NameHistory::default(),
            present: BTreeMap::new(),
            loose: BTreeMap::new(),
            places: BTreeMap::new(),
        };
        for event in events(trace) {
            reader.take(&event);
        }
        let mut history = reader.history;
        history.loose_changes = reader.loose.values().sum();
        history
    }

    /// One that was kept.
    ///
    /// # Errors
    /// When the file does not exist, or is not one.
    pub fn open(path: &Path) -> Result<NameHistory, LabError> {
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| LabError::file("reading", path, error))?;
        serde_json::from_str(&text)
            .map_err(|error| LabError::refused(format!("{}: {error}", path.display()), ""))
    }

    /// The names that POSIX lets a cut take which came when `marks` marks had been made, without
    /// the marks of a sync that may have begun by then: deepest first.
    pub fn loose(&self, marks: usize) -> Vec<&TracedName> {
        let is_firm = |name: &TracedName| name.synced_after.is_some_and(|after| after <= marks);
        let firm: BTreeSet<&Path> = self
            .names
            .iter()
            .filter(|name| is_firm(name))
            .map(|name| name.path.as_path())
            .collect();
        let is_loose = |name: &&TracedName| {
            name.made_after <= marks && !is_firm(name) && !firm.contains(name.path.as_path())
        };
        let mut loose: Vec<&TracedName> = self.names.iter().filter(is_loose).collect();
        loose.sort_by_key(|name| std::cmp::Reverse(name.path.components().count()));
        loose
    }

    /// Names that stayed and whose directory was never synced. Whether a sync came before or after
    /// an acknowledgement is not asked here: a mark is heard a moment after it was printed.
    fn forgiven(&self) -> Vec<&TracedName> {
        let is_forgiven =
            |name: &&TracedName| name.gone_after.is_none() && name.synced_after.is_none();
        self.names.iter().filter(is_forgiven).collect()
    }

    fn syncs(&self) -> String {
        let files = times(self.file_syncs);
        match (self.directory_syncs, self.whole_syncs) {
            (0, 0) => format!("it synced no directory, and files {files}"),
            (directories, 0) => format!("it synced directories {}", times(directories)),
            (directories, whole) => format!(
                "it synced directories {}, the whole file system {}",
                times(directories),
                times(whole)
            ),
        }
    }

    /// In numbers.
    pub(super) fn summary(&self, rules: NameRules) -> NameSummary {
        NameSummary {
            rules,
            not_seen: self.not_seen.clone(),
            made: self.names.len(),
            never_synced: self.forgiven().len(),
            file_syncs: self.file_syncs,
            directory_syncs: self.directory_syncs,
            whole_syncs: self.whole_syncs,
        }
    }

    /// In words, for the result: what the file system forgave. `by` says how the program is tried
    /// under POSIX's rules.
    pub(super) fn describe(&self, rules: NameRules, by: Option<&str>) -> String {
        if let Some(reason) = &self.not_seen {
            return format!(
                "directories: not seen whether the program syncs them: {reason}. A file system \
                 may keep new names that POSIX does not promise\n"
            );
        }
        if self.names.is_empty() {
            return "directories: the program made no names\n".into();
        }
        let (made, syncs) = (counted(self.names.len()), self.syncs());
        let never = self.forgiven();
        let shown = never.iter().take(NAMES_SHOWN);
        let shown: Vec<String> = shown
            .map(|name| format!("`{}`", name.path.display()))
            .collect();
        let more = if never.len() > NAMES_SHOWN {
            ", ..."
        } else {
            ""
        };
        let never = match never.len() {
            0 => format!("{made} made, the directory of each synced"),
            count => format!(
                "{} whose directory was never synced ({}{more})",
                counted(count),
                shown.join(", ")
            ),
        };
        match (rules, shown.is_empty()) {
            (NameRules::Posix, _) => format!(
                "rules: POSIX's: after each cut, names that were not synced by then were gone, all \
                 or a part. {never}; {syncs}. Renames over a file and removals stayed ({} without \
                 a sync)\n",
                self.loose_changes
            ),
            (NameRules::FileSystem, true) => format!("directories: {never}; {syncs}\n"),
            (NameRules::FileSystem, false) => {
                let by = by.map_or(String::new(), |by| format!(". To try it:\n  {by}"));
                format!(
                    "forgiven by this file system: {never}; {syncs}. POSIX promises a name only \
                     after an fsync of its directory{by}\n"
                )
            }
        }
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".into(),
        count => format!("{count} times"),
    }
}

fn counted(names: usize) -> String {
    match names {
        1 => "1 name".into(),
        count => format!("{count} names"),
    }
}

/// Which promises a campaign holds a program to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameRules {
    /// Those that the mounted file system keeps.
    #[default]
    FileSystem,
    /// POSIX's: a name is durable when its directory was synced.
    Posix,
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "/data";

    fn history(calls: &[&str], marks: &[f64]) -> NameHistory {
        let lines = calls.iter().zip(1..);
        let text: String = lines.map(|(call, n)| format!("7 {n}.0 {call}\n")).collect();
        NameHistory::read(&text, Path::new(ROOT), marks)
    }

    fn loose(history: &NameHistory, marks: usize) -> Vec<String> {
        let names = history.loose(marks);
        names
            .iter()
            .map(|name| name.path.display().to_string())
            .collect()
    }

    #[test]
    fn a_name_is_firm_once_a_sync_of_its_directory_may_have_begun() {
        let calls = [
            r#"openat(AT_FDCWD</data>, "a", O_WRONLY|O_CREAT, 0644) = 3</data/a>"#,
            "fsync(3</data/a>) = 0",
            "fsync(4</data>) = 0",
            r#"mkdir("sub", 0777) = 0"#,
            r#"openat(AT_FDCWD</data>, "sub/b", O_WRONLY|O_CREAT, 0644) = 3</data/sub/b>"#,
            "fsync(5</data/sub>) = 0",
        ];
        let history = history(&calls, &[1.5, 2.5, 3.5, 6.5]);
        assert_eq!((history.file_syncs, history.directory_syncs), (1, 2));
        // With one mark the file is there without its sync; with two the sync may have begun.
        assert_eq!(loose(&history, 1), ["a"]);
        assert!(loose(&history, 2).is_empty());
        assert_eq!(loose(&history, 3), ["sub"]);
        assert_eq!(loose(&history, 4), ["sub"]);
    }

    #[test]
    fn a_rename_goes_back_to_a_durable_name_and_nothing_outside_counts() {
        let calls = [
            r#"openat(AT_FDCWD</data>, "t", O_WRONLY|O_CREAT, 0644) = 3</data/t>"#,
            "sync() = 0",
            r#"rename("t", "conf") = 0"#,
            r#"openat(AT_FDCWD</data>, "/elsewhere", O_WRONLY|O_CREAT, 0644) = 3</elsewhere>"#,
            "fsync(3</elsewhere>) = 0",
        ];
        let history = history(&calls, &[]);
        let [name] = history.loose(0)[..] else {
            panic!("{history:?}");
        };
        assert_eq!(name.path, Path::new("conf"));
        assert_eq!(name.renamed_from.as_deref(), Some(Path::new("t")));
        assert_eq!((history.file_syncs, history.whole_syncs), (0, 1));
    }

    #[test]
    fn the_result_names_what_was_forgiven_and_the_command_or_why_it_was_not_seen() {
        let calls = [r#"openat(AT_FDCWD</data>, "a", O_WRONLY|O_CREAT, 0644) = 3</data/a>"#];
        let words = history(&calls, &[]).describe(NameRules::FileSystem, Some("again"));
        assert!(
            words.contains("`a`") && words.ends_with("  again\n"),
            "{words}"
        );
        let unseen = NameHistory::read("not seen: no strace", Path::new(ROOT), &[]);
        let words = unseen.describe(NameRules::FileSystem, Some("again"));
        assert!(
            words.contains("no strace") && !words.contains("again"),
            "{words}"
        );
        assert_eq!(unseen.summary(NameRules::FileSystem).made, 0);
    }
}
