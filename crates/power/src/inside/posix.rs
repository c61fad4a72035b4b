//! A folder after a cut as POSIX allows it: without names whose directory was not synced.

use crate::crashtest::scripts::{NameHistory, TracedName};
use ssdlab_base::LabError;
use std::io::ErrorKind;
use std::path::Path;

/// Takes from the file system at `root` names that no sync of their directory had made durable when
/// `marks` marks had been made: all of them at half of the cuts, and at the others those that the
/// cut's token draws. A run without a cut keeps its names.
///
/// # Errors
/// When the list of names or the folder cannot be used.
pub fn take_names(names: &Path, marks: usize, cut: &str, root: &Path) -> Result<(), LabError> {
    if cut.starts_with("control") {
        return Ok(());
    }
    // Every smaller loss of one cut loses the same names.
    let draw = hash(cut.split('~').next().unwrap_or(cut).bytes());
    let history = NameHistory::open(names)?;
    for name in history.loose(marks) {
        let own = hash(draw.to_le_bytes().into_iter().chain(bytes_of(name)));
        if draw.is_multiple_of(2) || own.is_multiple_of(2) {
            take(name, root)?;
        }
    }
    Ok(())
}

fn bytes_of(name: &TracedName) -> Vec<u8> {
    name.path.as_os_str().as_encoded_bytes().to_vec()
}

/// Gives a file its durable name back, or removes it with all that is in it.
fn take(name: &TracedName, root: &Path) -> Result<(), LabError> {
    let path = root.join(&name.path);
    let Ok(found) = path.symlink_metadata() else {
        return Ok(());
    };
    let old = name.renamed_from.as_ref().map(|old| root.join(old));
    let taken = match old.filter(|old| old.symlink_metadata().is_err()) {
        Some(old) => std::fs::rename(&path, old),
        None if found.is_dir() => std::fs::remove_dir_all(&path),
        None => std::fs::remove_file(&path),
    };
    match taken {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(LabError::file("removing", &path, error))
        }
        _ => Ok(()),
    }
}

/// FNV-1a, with its bits mixed.
fn hash(bytes: impl Iterator<Item = u8>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = bytes.fold(0xcbf2_9ce4_8422_2325, step);
    sum ^ (sum >> 32) ^ (sum >> 47)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory keeps what was synced, a file gets its durable name back, and a run without a
    /// cut keeps everything.
    #[test]
    fn names_that_no_sync_followed_are_gone_after_a_cut() {
        let folder = tempfile::tempdir().expect("made");
        let root = folder.path();
        let history = serde_json::json!({
            "file_syncs": 3, "directory_syncs": 1, "whole_syncs": 0, "loose_changes": 0,
            "names": [
                {"path": "kept", "made_after": 1, "synced_after": 1, "gone_after": null},
                {"path": "late", "made_after": 1, "synced_after": 3, "gone_after": null},
                {"path": "sub", "made_after": 1, "synced_after": null, "gone_after": null},
                {"path": "sub/in", "made_after": 1, "synced_after": 1, "gone_after": null},
                {"path": "old", "made_after": 1, "synced_after": 1, "gone_after": 2},
                {"path": "new", "renamed_from": "old", "made_after": 2, "synced_after": null,
                 "gone_after": null},
            ],
        });
        let list = root.join("names.json");
        std::fs::write(&list, history.to_string()).expect("written");
        let top = root.join("mnt");
        let make = || {
            std::fs::create_dir_all(top.join("sub")).expect("made");
            for name in ["kept", "late", "sub/in", "new"] {
                std::fs::write(top.join(name), name).expect("written");
            }
        };
        let all = || {
            let names = std::fs::read_dir(&top).expect("read").flatten();
            let names = names.map(|entry| entry.file_name().into_string().expect("a name"));
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        make();
        take_names(&list, 2, "control-uncut", &top).expect("kept");
        assert_eq!(all(), ["kept", "late", "new", "sub"]);
        let draws = (0..64).map(|n| format!("{n}+1-a"));
        let even = |cut: &String| hash(cut.bytes()).is_multiple_of(2);
        let (whole, part): (Vec<_>, Vec<_>) = draws.partition(even);
        take_names(&list, 2, &whole[0], &top).expect("taken");
        assert_eq!(all(), ["kept", "old"]);
        std::fs::remove_file(top.join("old")).expect("removed");
        make();
        // A sync that had begun by then counts.
        take_names(&list, 3, &whole[0], &top).expect("taken");
        assert_eq!(all(), ["kept", "late", "old"]);
        let mut outcomes = std::collections::BTreeSet::new();
        for cut in &part {
            std::fs::remove_dir_all(&top).expect("removed");
            make();
            take_names(&list, 2, cut, &top).expect("taken");
            assert!(all().contains(&"kept".to_owned()));
            outcomes.insert(all());
        }
        assert!(outcomes.len() > 3, "{outcomes:?}");
    }
}
