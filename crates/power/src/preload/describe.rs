//! A tape in words: what was called, where a cut was, and what was not durable then.

use super::tape::{CallTape, TapeCall};
use crate::crashtest::scripts::PreloadSettings;
use ssdlab_view::units::plural;

/// Files that a message names.
const NAMED: usize = 3;

impl CallTape {
    /// In a line.
    pub fn summary(&self, preload: &PreloadSettings) -> String {
        let count = |is: fn(&TapeCall) -> bool| self.calls.iter().filter(|call| is(call)).count();
        let bytes: u64 = self.calls.iter().map(written).sum();
        format!(
            "{}: {} ({}), {} of files, {} of directories, {}; {}; by a library, rules of {}",
            plural(self.calls.len() as u64, "call"),
            plural(count(|call| written(call) > 0) as u64, "write"),
            ssdlab_ssd::Bytes(bytes),
            plural(count(|call| synced(call).is_some()) as u64, "sync"),
            count(|call| matches!(call, TapeCall::SyncDirectory { .. })),
            plural(
                count(|call| matches!(call, TapeCall::Create { .. })) as u64,
                "new file"
            ),
            plural(self.marks.len() as u64, "mark"),
            preload.rules,
        )
    }

    /// Where a cut was.
    pub fn place(&self, call: usize) -> String {
        match self.calls.get(call) {
            Some(known) => format!("in call {}, {}", call + 1, self.words(known)),
            None => "after the last call".into(),
        }
    }

    fn words(&self, call: &TapeCall) -> String {
        let name = |file: &usize| self.names[*file].as_str();
        match call {
            TapeCall::Create { path, .. } => format!("create {path}"),
            TapeCall::MakeDirectory { path } => format!("mkdir {path}"),
            TapeCall::Unlink { path } => format!("unlink {path}"),
            TapeCall::RemoveDirectory { path } => format!("rmdir {path}"),
            TapeCall::Rename { from, to } => format!("rename {from} to {to}"),
            TapeCall::Link { from, to } => format!("link {from} as {to}"),
            TapeCall::Write {
                file, offset, len, ..
            } => {
                format!("write {len} bytes at {offset} of {}", name(file))
            }
            TapeCall::SetLength { file, len } => format!("truncate {} to {len}", name(file)),
            TapeCall::Sync { file } => format!("fsync {}", name(file)),
            TapeCall::SyncData { file } => format!("fdatasync {}", name(file)),
            TapeCall::SyncDirectory { path } if path.is_empty() => "fsync of the folder".into(),
            TapeCall::SyncDirectory { path } => format!("fsync of the directory {path}"),
            TapeCall::SyncAll => "sync".into(),
        }
    }

    /// Marks made before a call begins.
    pub fn marks_before(&self, call: usize) -> Vec<String> {
        let earlier = self.marks.iter().take_while(|mark| mark.after <= call);
        earlier.map(|mark| mark.text.clone()).collect()
    }

    /// What no sync had made durable before a call, of what came before the last mark; empty: all
    /// was. Names count where an fsync of the file does not take them along.
    pub fn not_durable(&self, call: usize, names_need_directory: bool) -> String {
        let last_mark = self.marks.iter().rfind(|mark| mark.after <= call);
        let until = last_mark.map_or(0, |mark| mark.after);
        let calls = &self.calls[..call.min(self.calls.len())];
        let mut open = Vec::new();
        for (file, name) in self.names.iter().enumerate() {
            let syncs =
                |call: &TapeCall| synced(call) == Some(file) || matches!(call, TapeCall::SyncAll);
            let last = calls.iter().rposition(syncs);
            let later = last.map_or(0, |index| index + 1)..until;
            let writes = calls.get(later).unwrap_or_default().iter();
            let writes = writes.filter(|call| changes(call) == Some(file)).count();
            if writes > 0 {
                let since = last.map_or("never synced".into(), |index| {
                    format!("last synced in call {}", index + 1)
                });
                let count = plural(writes as u64, "write");
                open.push(format!("{count} of {name} ({since})"));
            }
        }
        open.extend(self.open_names(
            &calls[..until.min(calls.len())],
            calls,
            names_need_directory,
        ));
        let more = open.len().saturating_sub(NAMED);
        open.truncate(NAMED);
        let mut text = open.join("; ");
        if more > 0 {
            text.push_str(&format!("; and {more} more"));
        }
        text
    }

    /// Changes of names that no sync took along.
    fn open_names(
        &self,
        before: &[TapeCall],
        calls: &[TapeCall],
        needs_directory: bool,
    ) -> Vec<String> {
        let mut open = Vec::new();
        for (index, call) in before.iter().enumerate() {
            let (path, what) = match call {
                TapeCall::Create { path, .. } | TapeCall::MakeDirectory { path } => (path, "name"),
                TapeCall::Rename { to, .. } | TapeCall::Link { to, .. } => (to, "name"),
                TapeCall::Unlink { path } | TapeCall::RemoveDirectory { path } => (path, "removal"),
                _ => continue,
            };
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            let is_synced = calls[index..].iter().any(|call| match call {
                TapeCall::SyncAll => true,
                TapeCall::SyncDirectory { path } => !needs_directory || path == parent,
                call => !needs_directory && synced(call).is_some(),
            });
            if !is_synced {
                open.push(format!("the {what} of {path}"));
            }
        }
        open
    }
}

fn written(call: &TapeCall) -> u64 {
    match call {
        TapeCall::Write { len, .. } => *len,
        _ => 0,
    }
}

/// The file whose bytes or length a call changes.
fn changes(call: &TapeCall) -> Option<usize> {
    match call {
        TapeCall::Write { file, .. } | TapeCall::SetLength { file, .. } => Some(*file),
        _ => None,
    }
}

fn synced(call: &TapeCall) -> Option<usize> {
    match call {
        TapeCall::Sync { file } | TapeCall::SyncData { file } => Some(*file),
        _ => None,
    }
}
