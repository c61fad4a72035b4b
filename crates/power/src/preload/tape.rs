//! The calls of a program in their one order, and the marks between them.

use super::wire::Deed;
use serde::{Deserialize, Serialize};
use ssdlab_base::LabError;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that are compared at once.
const PAGE: usize = 4096;

/// A call, by the file's number on this tape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "kebab-case")]
pub enum TapeCall {
    /// A new file with a name.
    Create {
        /// Number of the file.
        file: usize,
        /// Path below the prefix.
        path: String,
    },
    /// A new directory.
    MakeDirectory {
        /// Path below the prefix.
        path: String,
    },
    /// A name removed.
    Unlink {
        /// Path below the prefix.
        path: String,
    },
    /// A directory removed.
    RemoveDirectory {
        /// Path below the prefix.
        path: String,
    },
    /// Another name.
    Rename {
        /// Former path.
        from: String,
        /// New path.
        to: String,
    },
    /// One more name.
    Link {
        /// Former path.
        from: String,
        /// New path.
        to: String,
    },
    /// Bytes written.
    Write {
        /// Number of the file.
        file: usize,
        /// Where, bytes.
        offset: u64,
        /// What.
        #[serde(skip, default = "no_bytes")]
        bytes: Arc<[u8]>,
        /// How many bytes.
        len: u64,
    },
    /// Another length.
    SetLength {
        /// Number of the file.
        file: usize,
        /// New length, bytes.
        len: u64,
    },
    /// fsync of a file.
    Sync {
        /// Number of the file.
        file: usize,
    },
    /// fdatasync of a file.
    SyncData {
        /// Number of the file.
        file: usize,
    },
    /// fsync of a directory.
    SyncDirectory {
        /// Path below the prefix.
        path: String,
    },
    /// sync of everything.
    SyncAll,
}

fn no_bytes() -> Arc<[u8]> {
    Arc::from([])
}

/// What was acknowledged, and how many calls had been made by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapeMark {
    /// The program's words.
    pub text: String,
    /// Calls made before it.
    pub after: usize,
}

/// All of a program's calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTape {
    /// In order.
    pub calls: Vec<TapeCall>,
    /// In order.
    pub marks: Vec<TapeMark>,
    /// The last name of each file.
    pub names: Vec<String>,
    /// Mode, user and group of what was there at the end, by path.
    pub owners: BTreeMap<String, (u32, u32, u32)>,
}

/// What a tape begins with in its file.
#[derive(Serialize, Deserialize)]
struct TapeHead {
    marks: Vec<TapeMark>,
    names: Vec<String>,
    owners: BTreeMap<String, (u32, u32, u32)>,
}

/// The calls, a line each behind the head.
const CALLS: &str = "calls.jsonl";
/// Bytes of all writes, one after another.
const DATA: &str = "calls.data";

impl CallTape {
    /// Whether a directory has one.
    pub fn is_in(out: &Path) -> bool {
        out.join(CALLS).exists()
    }

    /// Keeps it.
    ///
    /// # Errors
    /// When files cannot be written.
    pub fn keep(&self, out: &Path) -> Result<(), LabError> {
        let head = TapeHead {
            marks: self.marks.clone(),
            names: self.names.clone(),
            owners: self.owners.clone(),
        };
        let mut text = serde_json::to_string(&head).map_err(refused)? + "\n";
        let mut data = Vec::new();
        for call in &self.calls {
            text += &serde_json::to_string(call).map_err(refused)?;
            text.push('\n');
            if let TapeCall::Write { bytes, .. } = call {
                data.extend_from_slice(bytes);
            }
        }
        for (name, bytes) in [(DATA, data.as_slice()), (CALLS, text.as_bytes())] {
            let path = out.join(name);
            std::fs::write(&path, bytes)
                .map_err(|error| LabError::file("writing", &path, error))?;
        }
        Ok(())
    }

    /// Opens one that was kept.
    ///
    /// # Errors
    /// When the file is missing or unreadable.
    pub fn open(out: &Path) -> Result<CallTape, LabError> {
        let (calls, data) = (out.join(CALLS), out.join(DATA));
        let text = std::fs::read_to_string(&calls);
        let text = text.map_err(|error| LabError::file("reading", &calls, error))?;
        let data = std::fs::read(&data).map_err(|error| LabError::file("reading", &data, error))?;
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let head: TapeHead = serde_json::from_str(head).map_err(refused)?;
        let mut tape = CallTape {
            calls: Vec::new(),
            marks: head.marks,
            names: head.names,
            owners: head.owners,
        };
        let mut position = 0;
        for line in lines {
            let mut call: TapeCall = serde_json::from_str(line).map_err(refused)?;
            if let TapeCall::Write { bytes, len, .. } = &mut call {
                let end = position + *len as usize;
                let piece = data.get(position..end).ok_or_else(|| {
                    LabError::refused(format!("{DATA} is shorter than {CALLS} says"), "")
                })?;
                *bytes = piece.into();
                position = end;
            }
            tape.calls.push(call);
        }
        Ok(tape)
    }
}

fn refused(error: serde_json::Error) -> LabError {
    LabError::refused(format!("{CALLS}: {error}"), "")
}

/// A file while the program runs.
struct LiveFile {
    number: usize,
    /// To read the written bytes.
    reader: Option<File>,
    image: Vec<u8>,
    links: usize,
    streamed: Option<(u64, i64, i64)>,
    is_mapped: bool,
}

/// A tape while the program runs.
pub struct TapeMaker {
    root: PathBuf,
    tape: CallTape,
    /// Files by their inode.
    files: BTreeMap<u64, LiveFile>,
    /// Inodes by path.
    paths: BTreeMap<String, u64>,
    directories: BTreeSet<String>,
    /// What cannot be replayed.
    unsupported: Vec<String>,
}

impl TapeMaker {
    pub fn new(root: &Path) -> TapeMaker {
        TapeMaker {
            root: root.to_owned(),
            tape: CallTape::default(),
            files: BTreeMap::new(),
            paths: BTreeMap::new(),
            directories: BTreeSet::new(),
            unsupported: Vec::new(),
        }
    }

    pub fn mark(&mut self, text: &str) {
        self.look_at_streams();
        let after = self.tape.calls.len();
        self.tape.marks.push(TapeMark {
            text: text.to_owned(),
            after,
        });
    }

    /// Adds what a turn did.
    pub fn add(&mut self, deed: Deed) {
        match deed {
            Deed::Create { inode, path } => self.create(inode, path),
            Deed::MakeDirectory { path } => {
                self.directories.insert(path.clone());
                self.tape.calls.push(TapeCall::MakeDirectory { path });
            }
            Deed::Unlink { path } => {
                if self.forget(&path) {
                    self.tape.calls.push(TapeCall::Unlink { path });
                }
            }
            Deed::RemoveDirectory { path } => {
                if self.directories.remove(&path) {
                    self.tape.calls.push(TapeCall::RemoveDirectory { path });
                }
            }
            Deed::Rename { from, to } => self.rename(from, to),
            Deed::Link { inode, path } => self.link(inode, path),
            Deed::Write { inode, offset, len } => self.content(inode, offset, len, true),
            Deed::SetLength { inode, len } => self.set_length(inode, len),
            Deed::Sync { inode } => self.sync(inode, |file| TapeCall::Sync { file }, true),
            Deed::SyncData { inode, of_mapping } => {
                self.sync(inode, |file| TapeCall::SyncData { file }, !of_mapping);
            }
            Deed::SyncDirectory { path } => {
                if path.is_empty() || self.directories.contains(&path) {
                    self.tape.calls.push(TapeCall::SyncDirectory { path });
                }
            }
            Deed::SyncAll => {
                let mapped: Vec<u64> = self.live(|file| file.is_mapped);
                mapped
                    .iter()
                    .for_each(|&inode| self.content(inode, 0, u64::MAX, false));
                self.tape.calls.push(TapeCall::SyncAll);
            }
            Deed::Content { inode, offset, len } => self.content(inode, offset, len, false),
            Deed::Streamed { inode } => {
                if let Some(file) = self.files.get_mut(&inode) {
                    file.streamed.get_or_insert((0, 0, 0));
                }
            }
            Deed::Mapped { inode } => {
                if let Some(file) = self.files.get_mut(&inode) {
                    file.is_mapped = true;
                }
            }
            Deed::Unsupported { what } => self.unsupported.push(what),
        }
    }

    fn live(&self, is: impl Fn(&LiveFile) -> bool) -> Vec<u64> {
        let files = self.files.iter().filter(|(_, file)| is(file));
        files.map(|(&inode, _)| inode).collect()
    }

    fn create(&mut self, inode: u64, path: String) {
        self.forget(&path);
        let number = self.tape.names.len();
        self.tape.names.push(path.clone());
        let reader = File::open(self.root.join(&path)).ok();
        if reader.is_none() {
            self.unsupported
                .push(format!("`{path}`, which cannot be read"));
        }
        self.files.insert(
            inode,
            LiveFile {
                number,
                reader,
                image: Vec::new(),
                links: 1,
                streamed: None,
                is_mapped: false,
            },
        );
        self.paths.insert(path.clone(), inode);
        self.tape
            .calls
            .push(TapeCall::Create { file: number, path });
    }

    /// Takes a name from a file; false: there was none.
    fn forget(&mut self, path: &str) -> bool {
        let Some(inode) = self.paths.remove(path) else {
            return false;
        };
        if let Some(file) = self.files.get_mut(&inode) {
            file.links -= 1;
            if file.links == 0 {
                self.files.remove(&inode);
            }
        }
        true
    }

    fn rename(&mut self, from: String, to: String) {
        if self.directories.remove(&from) {
            let prefix = format!("{from}/");
            let moved = |path: &String| format!("{to}/{}", &path[prefix.len()..]);
            let inner = |path: &&String| path.starts_with(&prefix);
            let folders: Vec<String> = self.directories.iter().filter(inner).cloned().collect();
            for folder in folders {
                self.directories.remove(&folder);
                self.directories.insert(moved(&folder));
            }
            let files: Vec<String> = self.paths.keys().filter(inner).cloned().collect();
            for path in files {
                if let Some(inode) = self.paths.remove(&path) {
                    self.paths.insert(moved(&path), inode);
                }
            }
            self.directories.insert(to.clone());
        } else {
            let Some(&inode) = self.paths.get(&from) else {
                return;
            };
            if self.paths.get(&to) == Some(&inode) {
                return;
            }
            self.forget(&to);
            self.paths.remove(&from);
            self.paths.insert(to.clone(), inode);
            if let Some(file) = self.files.get(&inode) {
                self.tape.names[file.number].clone_from(&to);
            }
        }
        self.tape.calls.push(TapeCall::Rename { from, to });
    }

    fn link(&mut self, inode: u64, path: String) {
        let known = self.paths.iter().find(|(_, other)| **other == inode);
        let Some(from) = known.map(|(from, _)| from.clone()) else {
            // A file that had no name.
            self.create(inode, path);
            return self.content(inode, 0, u64::MAX, false);
        };
        if let Some(file) = self.files.get_mut(&inode) {
            file.links += 1;
        }
        self.paths.insert(path.clone(), inode);
        self.tape.calls.push(TapeCall::Link { from, to: path });
    }

    fn set_length(&mut self, inode: u64, len: u64) {
        if let Some(file) = self.files.get_mut(&inode) {
            file.image.resize(len as usize, 0);
            let file = file.number;
            self.tape.calls.push(TapeCall::SetLength { file, len });
        }
    }

    fn sync(&mut self, inode: u64, call: impl Fn(usize) -> TapeCall, takes_mapped: bool) {
        let Some(file) = self.files.get(&inode) else {
            return;
        };
        let (number, is_mapped) = (file.number, file.is_mapped);
        if takes_mapped && is_mapped {
            self.content(inode, 0, u64::MAX, false);
        }
        self.tape.calls.push(call(number));
    }

    /// Takes bytes of a file as they are: all of a call's, or those pages that are others.
    fn content(&mut self, inode: u64, offset: u64, len: u64, is_call: bool) {
        let Some(file) = self.files.get_mut(&inode) else {
            return;
        };
        let Some(reader) = &file.reader else {
            return;
        };
        let size = reader.metadata().map_or(0, |status| status.len());
        let end = offset.saturating_add(len).min(size);
        let mut bytes = vec![0; end.saturating_sub(offset) as usize];
        if reader.read_exact_at(&mut bytes, offset).is_err() {
            self.unsupported.push(self.tape.names[file.number].clone());
            return;
        }
        let number = file.number;
        let mut pieces: Vec<(u64, &[u8])> = Vec::new();
        if is_call {
            pieces.push((offset, &bytes));
        } else {
            let mut position = 0;
            while position < bytes.len() {
                let place = offset as usize + position;
                let until = bytes.len().min((place / PAGE + 1) * PAGE - offset as usize);
                let page = &bytes[position..until];
                let old = file.image.get(place..place + page.len());
                if old != Some(page) {
                    pieces.push((place as u64, page));
                }
                position = until;
            }
        }
        for (place, page) in pieces.into_iter().filter(|piece| !piece.1.is_empty()) {
            let end = place as usize + page.len();
            if file.image.len() < end {
                file.image.resize(end, 0);
            }
            file.image[place as usize..end].copy_from_slice(page);
            self.tape.calls.push(TapeCall::Write {
                file: number,
                offset: place,
                bytes: page.into(),
                len: page.len() as u64,
            });
        }
        if len == u64::MAX && (file.image.len() as u64) > size {
            self.set_length(inode, size);
        }
    }

    /// Looks for what streams have written since the last look.
    pub fn look_at_streams(&mut self) {
        let mut changed = Vec::new();
        for (&inode, file) in &mut self.files {
            let (Some(seen), Some(reader)) = (file.streamed, &file.reader) else {
                continue;
            };
            let Ok(status) = reader.metadata() else {
                continue;
            };
            let now_seen = (status.len(), status.mtime(), status.mtime_nsec());
            // A clock of the kernel has ticks: two writes may have one time.
            if seen != now_seen || status.len() <= PAGE as u64 {
                file.streamed = Some(now_seen);
                changed.push(inode);
            }
        }
        for inode in changed {
            self.content(inode, 0, u64::MAX, false);
        }
    }

    /// The tape, and what makes it useless: calls that cannot be replayed, and files whose bytes
    /// the program changed in a way that was not seen.
    pub fn finish(mut self) -> (CallTape, Vec<String>) {
        self.look_at_streams();
        let mut problems = std::mem::take(&mut self.unsupported);
        let mut present = BTreeSet::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(self.root.join(&folder));
            for entry in entries.into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = match folder.as_str() {
                    "" => name,
                    folder => format!("{folder}/{name}"),
                };
                let kind = entry.file_type();
                if kind.as_ref().is_ok_and(std::fs::FileType::is_dir) {
                    folders.push(path.clone());
                } else if !kind.is_ok_and(|kind| kind.is_file()) {
                    continue;
                }
                if let Ok(status) = entry.metadata() {
                    let owner = (status.mode(), status.uid(), status.gid());
                    self.tape.owners.insert(path.clone(), owner);
                }
                present.insert(path);
            }
        }
        let known = self
            .paths
            .keys()
            .chain(&self.directories)
            .cloned()
            .collect();
        for path in present.symmetric_difference(&known) {
            problems.push(format!("the name `{path}`"));
        }
        for (path, inode) in &self.paths {
            let file = self.files.get(inode);
            let bytes = std::fs::read(self.root.join(path)).unwrap_or_default();
            if file.is_some_and(|file| !file.is_mapped && file.image != bytes) {
                problems.push(format!("the bytes of `{path}`"));
            }
        }
        (self.tape, problems)
    }
}
