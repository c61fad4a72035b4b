//! Can a string from outside drive the terminal? Every string of files that people send each other
//! (drives, reports, runs, directories, traces, jobs) in turn ends in an escape sequence; what
//! commands print of it, and the pages that they write, hold no control character.

use crate::run::{Outcome, small, ssdlab};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Sets a window's title, clears the screen (also by C1's one character), turns the text round.
const EVIL: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{8}\r\u{202e}";

fn has_controls(text: &str) -> bool {
    let is_harmless = |c: char| matches!(c, '\n' | '\t');
    text.chars()
        .any(|c| (c.is_control() && !is_harmless(c)) || c == '\u{202e}')
}

fn assert_clean(what: &str, outcome: &Outcome) {
    for text in [&outcome.stdout, &outcome.stderr] {
        assert!(!has_controls(text), "{what}: {text:?}");
    }
}

/// Runs each command in `dir`; a part `{}` is a file or directory whose name is as bad as its
/// contents.
fn run_all(what: &str, dir: &Path, commands: &[&[&str]]) {
    for command in commands {
        let outcome = ssdlab(dir, command);
        assert_clean(&format!("{what}: {command:?}"), &outcome);
    }
}

fn assert_pages_clean(dir: &Path) {
    let mut count = 0;
    for entry in walk(dir) {
        let is_page = entry.extension().is_some_and(|end| end == "html");
        if is_page {
            count += 1;
            let text = fs::read_to_string(&entry).expect("a page");
            assert!(!has_controls(&text), "{}", entry.display());
        }
    }
    assert!(count > 0, "no page was written");
}

fn walk(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Copies of `value`, one for each string in it, which ends in the sequence; and one with all.
fn poisoned(value: &Value) -> Vec<Value> {
    let mut count = 0;
    poison(&mut value.clone(), &mut |_| count += 1);
    let one = |chosen: usize| {
        let (mut copy, mut index) = (value.clone(), 0);
        poison(&mut copy, &mut |text| {
            if index == chosen || chosen == count {
                text.push_str(EVIL);
            }
            index += 1;
        });
        copy
    };
    // Every third and all: a report has a hundred strings.
    (0..count).step_by(3).chain([count]).map(one).collect()
}

fn poison(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| poison(item, change)),
        Value::Object(fields) => fields.values_mut().for_each(|field| poison(field, change)),
        _ => {}
    }
}

/// A TOML file with the sequence in every string, or in each alone.
fn poisoned_toml(text: &str) -> Vec<String> {
    let escaped: String = EVIL
        .chars()
        .map(|c| format!("\\u{:04x}", u32::from(c)))
        .collect();
    let parts: Vec<&str> = text.split('"').collect();
    let with = |chosen: &dyn Fn(usize) -> bool| {
        let mut out = String::new();
        for (index, part) in parts.iter().enumerate() {
            out.push_str(part);
            if index % 2 == 1 && chosen(index) {
                out.push_str(&escaped);
            }
            if index + 1 < parts.len() {
                out.push('"');
            }
        }
        out
    };
    let strings = (1..parts.len()).step_by(2);
    let mut copies: Vec<String> = strings
        .map(|chosen| with(&|index| index == chosen))
        .collect();
    copies.push(with(&|_| true));
    copies
}

#[test]
fn drive_files_do_not_drive_the_terminal() {
    let dir = tempfile::tempdir().expect("a directory");
    let text = fs::read_to_string(small()).expect("the example");
    let commands: &[&[&str]] = &[
        &["drives", "check", "d.toml"],
        &["drives", "show", "drive:d.toml"],
        &["inspect", "drive:d.toml"],
    ];
    for copy in poisoned_toml(&text) {
        fs::write(dir.path().join("d.toml"), copy).expect("written");
        run_all("drive file", dir.path(), commands);
    }
    // As the drive's title is shown on pages, too.
    let title = text.replace("an example of", "an \\u001b[2Jexample\\u009b of");
    fs::write(dir.path().join("d.toml"), title).expect("written");
    let job = "[evil\u{1b}[2J]\nrw=write\nsize=4m\ndescription=x\u{1b}]0;owned\u{7}\u{9b}2J\n";
    fs::write(dir.path().join("j.fio"), job).expect("written");
    run_all(
        "titles",
        dir.path(),
        &[
            &[
                "run",
                "j.fio",
                "--target",
                "drive:d.toml",
                "--out",
                "r",
                "--quiet",
            ],
            &[
                "simulate",
                "--drive",
                "drive:d.toml",
                "--until",
                "64MiB",
                "--out",
                "s",
            ],
            &["report", "r"],
            &["compare", "r", "r", "--out", "c"],
        ],
    );
    assert_pages_clean(dir.path());
}

#[test]
fn reports_of_drives_do_not_drive_the_terminal() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../judge/tests/samples/smart");
    let dir = tempfile::tempdir().expect("a directory");
    let mut reports = 0;
    for entry in fs::read_dir(samples).expect("samples").flatten() {
        let text = fs::read_to_string(entry.path()).unwrap_or_default();
        let Ok(report) = serde_json::from_str::<Value>(&text) else {
            continue;
        };
        reports += 1;
        for copy in poisoned(&report).into_iter().rev().take(5) {
            fs::write(dir.path().join("r.json"), copy.to_string()).expect("written");
            let commands: &[&[&str]] = &[&["inspect", "r.json"], &["inspect", "--json", "r.json"]];
            run_all("report", dir.path(), commands);
        }
    }
    assert!(reports > 5, "{reports} samples");
}

#[test]
fn results_and_directories_of_others_do_not_drive_the_terminal() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path();
    let made: &[&[&str]] = &[
        &["create", "made", "--drive", &small()],
        &[
            "run",
            "--target",
            "null:1GiB",
            "--out",
            "ran",
            "--quiet",
            "--",
            "diskspd",
            "-d1",
            "x",
        ],
    ];
    for command in made {
        let outcome = ssdlab(path, command);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    }
    let about = fs::read_to_string(path.join("made/about.json")).expect("about.json");
    let about: Value = serde_json::from_str(&about).expect("JSON");
    for copy in poisoned(&about) {
        fs::write(path.join("made/about.json"), copy.to_string()).expect("written");
        run_all(
            "about.json",
            path,
            &[&["check", "made"], &["inspect", "made"]],
        );
    }
    let results: Vec<_> = walk(&path.join("ran"))
        .into_iter()
        .filter(|file| file.extension().is_some_and(|end| end == "json"))
        .collect();
    assert!(!results.is_empty());
    for file in results {
        let text = fs::read_to_string(&file).expect("a result");
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let mut copies = poisoned(&value);
        let last = copies.pop().into_iter();
        for copy in last.chain(copies.into_iter().take(12)) {
            fs::write(&file, copy.to_string()).expect("written");
            run_all(
                "result",
                path,
                &[&["report", "ran"], &["compare", "ran", "ran"]],
            );
        }
        fs::write(&file, text).expect("written");
    }
}

#[test]
fn names_and_lines_do_not_drive_the_terminal() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path();
    let evil = EVIL.replace('\u{7}', "");
    let trace = format!("time,op,offset,len\n1,{evil},0,4096\n{evil},write,0,x{evil}\n");
    fs::write(path.join("t.csv"), &trace).expect("written");
    fs::write(path.join("t.txt"), format!("{evil}\n{trace}")).expect("written");
    fs::write(
        path.join("j.fio"),
        format!("[{evil}]\n{evil}=1\nrw={evil}\n"),
    )
    .expect("written");
    fs::write(path.join(&evil), "x").expect("a file of this name");
    let drive = format!("drive:{evil}");
    run_all(
        "names",
        path,
        &[
            &["trace", "show", "t.csv"],
            &["trace", "show", "t.txt"],
            &["run", "j.fio", "--target", "null:1GiB"],
            &["run", &evil, "--target", "null:1GiB"],
            &[
                "run", "--target", &evil, "--", "diskspd", "-w100", "-d1", "x",
            ],
            &["run", "--target", "null:1GiB", "--", "diskspd", &evil],
            &["run", "--target", "null:1GiB", "--", "fio", &evil],
            &["run", "--target", "null:1GiB", "--", &evil],
            &["inspect", &evil],
            &["check", &evil],
            &["report", &evil],
            &["compare", &evil, &evil],
            &["qualify", &drive],
            &["diagnose", &drive],
            &["drives", "show", &evil],
            &["drives", "known", &evil],
            &["drives", "check", &evil],
            &["simulate", "--set", &evil],
            &["list", "schemas", &evil],
            &["power", "cut", &evil],
            &["serve", &evil],
            &["pull", "run", &evil],
            &[&evil],
            &["run", "--profile", &evil],
            &["qualify", "--role", &evil],
            &["twin", "fit", &evil],
            &["crashtest", &evil],
        ],
    );
}
