//! Does `ssdlab reproduce` print rows, write its files, and do the same twice?

use assert_cmd::Command;
use std::path::Path;
use std::process::Output;

fn reproduce(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("ssdlab").unwrap();
    command.arg("reproduce").args(args).output().unwrap()
}

fn to(dir: &Path, jobs: &str) -> Output {
    let out = dir.to_str().unwrap();
    let figures = ["zil.pattern.one", "zil.seek.one", "s2d.endurance.dwpd"];
    reproduce(&[&figures[..], &["--quiet", "--jobs", jobs, "--out", out]].concat())
}

#[test]
fn the_same_bytes_twice_in_80_columns_and_four_kinds_of_files() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    let (first, second) = (to(&one, "1"), to(&two, "2"));
    assert!(first.status.success(), "{first:?}");
    assert_eq!(first.stdout, second.stdout);
    let text = String::from_utf8(first.stdout).unwrap();
    assert!(text.lines().all(|l| l.chars().count() <= 80), "{text}");
    assert!(text.contains("self-checks passed"), "{text}");
    for file in [
        "index.html",
        "s2d.html",
        "zil.html",
        "table.csv",
        "result.json",
    ] {
        let [a, b] = [&one, &two].map(|dir| std::fs::read_to_string(dir.join(file)).unwrap());
        assert!(a == b, "{file}");
        assert!(!a.contains("NaN"), "{file}");
    }
    assert!(
        !one.join("worn.html").exists(),
        "nothing of worn was asked for"
    );
    let page = std::fs::read_to_string(one.join("index.html")).unwrap();
    assert!(page.contains("zil.html#seek"));
}

#[test]
fn every_figure_is_listed() {
    let out = reproduce(&["--list", "--json"]);
    let list: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert!(list.as_array().unwrap().len() > 100);
    assert!(reproduce(&["--list", "worn"]).status.success());
}

#[test]
fn an_unknown_figure_is_an_error_with_a_hint() {
    for name in ["zil.rw80.710_400", "zli", ""] {
        let out = reproduce(&[name]);
        assert_eq!(out.status.code(), Some(2), "{name}");
        let text = String::from_utf8(out.stderr).unwrap();
        assert!(text.contains("hint:") && text.contains("--list"), "{text}");
    }
}
