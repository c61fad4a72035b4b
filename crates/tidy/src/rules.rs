//! Rules for single files: each returns its offences as `path:line: text`.

use crate::source::{SourceFile, line_of, words};
use std::collections::BTreeMap;

/// Most columns of a line of Rust.
const COLUMNS_MAX: usize = 100;
/// Most lines of a function.
const FUNCTION_MAX: usize = 70;
/// Most lines of a file of Rust.
const FILE_MAX: usize = 600;
/// The same for a command: arguments, one call into a library, an exit code.
const COMMAND_MAX: usize = 120;
const COMMANDS: &str = "crates/cli/src/commands/";

/// Identifiers that the software SSD may not contain: it has no clock, no I/O, no threads, no
/// dependency, no unordered map.
const NOT_IN_SSD: [&str; 12] = [
    "fs",
    "net",
    "thread",
    "process",
    "env",
    "Instant",
    "SystemTime",
    "Duration",
    "HashMap",
    "HashSet",
    "rand",
    "proptest",
];

/// Files of `crates/ssd/src` that decide in whole numbers only.
pub const WHOLE_NUMBERS: [&str; 5] = [
    "crates/ssd/src/rng.rs",
    "crates/ssd/src/geometry.rs",
    "crates/ssd/src/nand/",
    "crates/ssd/src/ftl/",
    "crates/ssd/src/drive/",
];

/// The files that may use `unsafe`.
pub const UNSAFE: [&str; 33] = [
    "crates/ssd/src/caches.rs",
    "crates/base/src/huge_pages.rs",
    "crates/bench/src/device/claim/blkid.rs",
    "crates/bench/src/device/claim/users.rs",
    "crates/bench/src/device/slab.rs",
    "crates/bench/src/device/nvme/calls.rs",
    "crates/bench/src/device/uring.rs",
    "crates/conform/src/guest/raw.rs",
    "crates/crash-c/src/disk.rs",
    "crates/crash-c/src/files.rs",
    "crates/crash-c/src/lib.rs",
    "crates/crash-fs/src/compat/libc.rs",
    "crates/crash-fs/src/descriptors.rs",
    "crates/crash-fs/src/io_uring/memory.rs",
    "crates/crash-fs/src/io_uring/mod.rs",
    "crates/crash-fs/src/io_uring/squeue.rs",
    "crates/crash-fs/src/io_uring/submit.rs",
    "crates/crash-fs/tests/ring/log.rs",
    "crates/crash-fs/tests/ring/program.rs",
    "crates/crash/examples/sqlite.rs",
    "crates/drives/src/keep/directory/map.rs",
    "crates/drives/src/keep/directory/places.rs",
    "crates/preload/src/data.rs",
    "crates/preload/src/files.rs",
    "crates/preload/src/kernel.rs",
    "crates/preload/src/maps.rs",
    "crates/preload/src/names.rs",
    "crates/preload/src/streams.rs",
    "crates/preload/src/sync.rs",
    "crates/preload/src/turn.rs",
    "crates/serve/src/vhost_user/backend.rs",
    "crates/watch/src/source/bpf/syscall.rs",
    "crates/watch/src/source/ioctl.rs",
];

/// First parts of absolute paths that are the same on every machine, or made up.
const PATHS: [&str; 11] = [
    "dev", "proc", "sys", "run", "etc", "usr", "var", "srv", "data", "no", "path",
];

fn at(source: &SourceFile, byte: usize, what: &str) -> String {
    format!("{}:{}: {what}", source.path, line_of(&source.code, byte))
}

/// Names in the software SSD of anything outside it.
pub fn outside_of_ssd(source: &SourceFile) -> Vec<String> {
    if !source.path.starts_with("crates/ssd/src/") {
        return Vec::new();
    }
    let code = source.shipped_code();
    let mut offences = Vec::new();
    for word in NOT_IN_SSD {
        let hits = words(&code, word);
        offences
            .extend(hits.map(|byte| at(source, byte, &format!("`{word}` in the software SSD"))));
    }
    let hits = code.match_indices("time::");
    offences.extend(hits.map(|(byte, _)| at(source, byte, "`time::`: virtual time is passed in")));
    offences
}

/// A manifest that must name no dependency to build.
pub fn no_dependencies(manifest: &SourceFile) -> Vec<String> {
    let mut section = "";
    let mut offences = Vec::new();
    for (number, line) in manifest.text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
        let built = section.ends_with("dependencies") && !section.ends_with("dev-dependencies");
        let names = line.contains('=') && !line.starts_with('#');
        let dotted = line.starts_with('[') && section.contains("dependencies.");
        if (built && names) || (dotted && !section.contains("dev-dependencies.")) {
            offences.push(format!(
                "{}:{}: `{line}`: no dependencies",
                manifest.path,
                number + 1
            ));
        }
    }
    offences
}

/// Floating point where whole numbers decide.
pub fn no_floats(source: &SourceFile) -> Vec<String> {
    if !WHOLE_NUMBERS.iter().any(|p| source.path.starts_with(p)) {
        return Vec::new();
    }
    let floats = ["f64", "f32"];
    let hits = floats.iter().flat_map(|float| words(&source.code, float));
    hits.map(|byte| at(source, byte, "floating point where whole numbers decide"))
        .collect()
}

/// `unsafe` in a file that is not named above.
pub fn unsafe_where_allowed(source: &SourceFile) -> Vec<String> {
    if UNSAFE.contains(&source.path.as_str()) {
        return Vec::new();
    }
    let hits = words(&source.code, "unsafe");
    hits.map(|byte| at(source, byte, "`unsafe` outside the files named for it"))
        .collect()
}

/// Lines that are too long.
pub fn columns(source: &SourceFile) -> Vec<String> {
    let lines = source.text.lines().enumerate();
    let long = lines.filter(|(_, line)| line.chars().count() > COLUMNS_MAX);
    long.map(|(n, _)| format!("{}:{}: over {COLUMNS_MAX} columns", source.path, n + 1))
        .collect()
}

/// Functions and files that are too long.
pub fn too_long(source: &SourceFile) -> Vec<String> {
    let mut offences = Vec::new();
    let lines = source.text.lines().count();
    let most = if source.path.starts_with(COMMANDS) {
        COMMAND_MAX
    } else {
        FILE_MAX
    };
    if lines > most {
        offences.push(format!(
            "{}: {lines} lines, {most} are allowed",
            source.path
        ));
    }
    for function in source.functions() {
        let (line, name, length) = (function.line, function.name, function.length);
        if length > FUNCTION_MAX {
            let message = format!("{name} has {length} lines, {FUNCTION_MAX} are allowed");
            offences.push(format!("{}:{line}: {message}", source.path));
        }
    }
    offences
}

/// `.unwrap()`, and `expect` without a reason, in code that ships.
pub fn unwraps(source: &SourceFile) -> Vec<String> {
    let code = source.shipped_code();
    let bare = code.match_indices(".unwrap()");
    let silent = code.match_indices(".expect(\"\")");
    bare.chain(silent)
        .map(|(byte, call)| {
            at(
                source,
                byte,
                &format!("`{call}`: give an error or a reason"),
            )
        })
        .collect()
}

/// Work left over.
pub fn unfinished(source: &SourceFile) -> Vec<String> {
    let mut offences = Vec::new();
    for word in ["dbg", "todo", "unimplemented"] {
        let calls =
            words(&source.code, word).filter(|b| source.code[b + word.len()..].starts_with('!'));
        offences.extend(calls.map(|byte| at(source, byte, &format!("`{word}!`"))));
    }
    for word in ["TODO", "FIXME", "XXX"] {
        let notes = words(&source.comments, word);
        offences.extend(notes.map(|byte| at(source, byte, &format!("`{word}`"))));
    }
    offences
}

/// Absolute paths that exist on somebody's machine only.
pub fn machine_paths(source: &SourceFile) -> Vec<String> {
    let mut offences = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        for (byte, _) in line.match_indices('/') {
            let begins = line[..byte]
                .chars()
                .next_back()
                .is_none_or(|c| c.is_whitespace() || "\"'`(=<".contains(c));
            let name = line[byte + 1..].split('/').next().unwrap_or_default();
            let goes_on = line[byte + 1 + name.len()..].starts_with('/');
            let word = |c: char| c.is_alphanumeric() || "._-".contains(c);
            let is_name = !name.is_empty() && name.chars().all(word);
            if begins && goes_on && is_name && !PATHS.contains(&name) {
                offences.push(format!("{}:{}: path `/{name}/`", source.path, number + 1));
            }
        }
    }
    offences
}

/// A decision record: its number in the title, and its three parts.
pub fn decision(source: &SourceFile) -> Vec<String> {
    let file = source.path.rsplit('/').next().unwrap_or_default();
    let number = file.split('-').next().unwrap_or_default();
    let mut offences = Vec::new();
    if number.len() != 3 || number.parse::<u16>().is_err() {
        offences.push(format!("{}: the name must be NNN-title.md", source.path));
    }
    let title = format!("# {number}. ");
    if !source.text.starts_with(&title) {
        offences.push(format!(
            "{}: the first line must begin `{title}`",
            source.path
        ));
    }
    for heading in ["## Context", "## Choice", "## What would change it"] {
        let count = source.text.lines().filter(|line| *line == heading).count();
        if count != 1 {
            offences.push(format!("{}: needs one `{heading}`", source.path));
        }
    }
    offences
}

/// Terms explained twice. A term stands in bold, with its other names behind commas.
pub fn glossary(source: &SourceFile) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let mut offences = Vec::new();
    let mut line = 1;
    for (part, text) in source.text.split("**").enumerate() {
        let names = text.split(',').filter(|_| part % 2 == 1);
        for name in names {
            let words: Vec<&str> = name.split_whitespace().collect();
            let name = words.join(" ").to_lowercase();
            if let Some(first) = seen.insert(name.clone(), line) {
                let path = &source.path;
                offences.push(format!(
                    "{path}:{line}: `{name}` is already on line {first}"
                ));
            }
        }
        line += text.matches('\n').count();
    }
    if seen.is_empty() {
        offences.push(format!("{}: no terms", source.path));
    }
    offences
}

/// Pages beside `map` to which no link of it leads.
pub fn unmapped(map: &SourceFile, pages: &[&str]) -> Vec<String> {
    let links: Vec<&str> = map
        .text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .collect();
    let unlinked = pages.iter().filter(|page| !links.contains(page));
    unlinked
        .map(|page| format!("{}: no link to `{page}`", map.path))
        .collect()
}

/// Links of a text to files of the repository that are not there.
pub fn broken_links(source: &SourceFile, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = source
        .path
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let links = source.text.split("](").skip(1);
    let targets = links.filter_map(|rest| rest.split([')', '#']).next());
    let local = targets.filter(|target| !target.is_empty() && !target.contains("://"));
    let missing = local.filter(|target| !exists(&joined(folder, target)));
    missing
        .map(|target| format!("{}: links to `{target}`, which does not exist", source.path))
        .collect()
}

fn joined(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}
