//! What is in a directory, for people and programs.

use super::check::DirectoryCheck;
use super::report::{DamageReport, DirectoryReport, FrameFileReport};
use ssdlab_ssd::Bytes;
use ssdlab_view::units::count;
use std::fmt::Write as _;
use std::path::Path;

/// What was found in the directory at `path`, in lines.
pub fn text(path: &Path, checked: &DirectoryCheck) -> String {
    let mut text = format!("{}: ", path.display());
    let _ = match (&checked.config, &checked.format, &checked.title) {
        (Some(config), Some(format), Some(title)) => writeln!(
            text,
            "drive directory, format {format}: {}, {title}, {}; {}",
            config.name,
            Bytes(config.user_bytes),
            if checked.closed {
                "shut down in order"
            } else {
                "not shut down"
            }
        ),
        _ => writeln!(text, "drive directory without a whole checkpoint"),
    };
    for file in &checked.files {
        let name = file.file.file_name().unwrap_or_default().to_string_lossy();
        let (frames, bytes) = (count(file.frames), Bytes(file.bytes));
        let _ = write!(text, "  {name:24} {frames:>9} frames {bytes:>12}");
        let _ = match file.behind {
            0 => writeln!(text),
            behind => writeln!(text, ", then {} that are not", Bytes(behind)),
        };
    }
    for note in &checked.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for damage in &checked.damages {
        let _ = writeln!(text, "damage: {damage}");
    }
    if checked.lost.bytes > 0 {
        let (frames, bytes) = (count(checked.lost.frames), Bytes(checked.lost.bytes));
        let _ = writeln!(text, "lost: {frames} frames behind the damage, {bytes}");
    }
    if checked.damages.is_empty() {
        let _ = writeln!(text, "whole");
    }
    text
}

/// The same as JSON.
pub fn json(checked: &DirectoryCheck) -> DirectoryReport {
    let files = checked.files.iter().map(|file| FrameFileReport {
        file: file.file.clone(),
        frames: file.frames,
        bytes: file.bytes,
        bytes_behind: file.behind,
    });
    let damages = checked.damages.iter().map(|damage| DamageReport {
        file: damage.file.clone(),
        byte: damage.at,
        what: damage.what.clone(),
    });
    let config = checked.config.as_ref();
    DirectoryReport {
        format: checked.format,
        drive: config.map(|config| config.name.clone()),
        title: checked.title.clone(),
        user_bytes: config.map(|config| config.user_bytes),
        closed: checked.closed,
        files: files.collect(),
        notes: checked.notes.clone(),
        damages: damages.collect(),
        lost_frames: checked.lost.frames,
        lost_bytes: checked.lost.bytes,
        repaired: None,
    }
}
