//! Does the command fail on a planted offence, and only then? A workspace written to a folder.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A workspace that keeps the rules: files with their texts.
const WORKSPACE: [(&str, &str); 7] = [
    (
        "Cargo.toml",
        "[workspace]\nmembers = [\"crates/*\"]\n[workspace.dependencies]\n\
         ssdlab-base = { path = \"crates/base\" }\n",
    ),
    (
        "crates/base/Cargo.toml",
        "[package]\nname = \"ssdlab-base\"\n",
    ),
    (
        "crates/base/src/lib.rs",
        "mod size;\npub use size::Bytes;\n",
    ),
    ("crates/base/src/size.rs", "pub struct Bytes(u64);\n"),
    (
        "crates/view/Cargo.toml",
        "[package]\nname = \"ssdlab-view\"\n[dependencies]\nssdlab-base.workspace = true\n",
    ),
    ("crates/view/src/lib.rs", "mod page;\nmod table;\n"),
    ("crates/view/src/table.rs", "pub struct Table;\n"),
];

/// Runs a command in the workspace with `changes`.
fn run(changes: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let page = ("crates/view/src/page.rs", "use crate::table::Table;\n");
    for (path, text) in WORKSPACE.iter().chain([&page]).chain(changes) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }
    command(folder.path(), arguments)
}

fn command(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdlab-tidy"));
    command.current_dir(folder).args(arguments);
    command.output().expect("the command runs")
}

fn outcome(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

#[test]
fn a_tidy_workspace_passes() {
    let (code, out, err) = outcome(&run(&[], &["graph"]));
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(
        out.contains("view     -> base") && out.contains("no circles"),
        "{out}"
    );
    let (_, out, _) = outcome(&run(&[], &["graph", "--modules", "view", "--unresolved"]));
    assert!(out.contains("page.rs -> table.rs: Table"), "{out}");
    assert!(
        out.contains("Paths of base that were not found: 0"),
        "{out}"
    );
}

#[test]
fn an_import_that_points_up_fails() {
    for kind in ["dependencies", "dev-dependencies"] {
        let manifest = format!(
            "[package]\nname = \"ssdlab-base\"\n[{kind}]\nssdlab-view = {{ path = \"../view\" }}\n"
        );
        let (code, _, err) = outcome(&run(&[("crates/base/Cargo.toml", &manifest)], &["graph"]));
        assert_eq!(code, Some(1));
        assert_eq!(err, "wrong: base -> view: points up\n");
    }
}

#[test]
fn a_circle_of_modules_fails_and_is_named() {
    let table = "pub struct Table;\nfn show(page: super::page::Page) {}\n";
    let page = "use crate::table::Table;\npub struct Page;\n";
    let changes = [
        ("crates/view/src/table.rs", table),
        ("crates/view/src/page.rs", page),
    ];
    let (code, out, err) = outcome(&run(&changes, &["graph"]));
    assert_eq!(code, Some(1));
    assert_eq!(err, "wrong: view: a circle of page.rs, table.rs\n");
    assert!(out.contains("table.rs -> page.rs: Page"), "{out}");
    assert!(out.contains("page.rs -> table.rs: Table"), "{out}");
}

#[test]
fn a_crate_without_a_place_fails() {
    let changes = [(
        "crates/new/Cargo.toml",
        "[package]\nname = \"ssdlab-new\"\n",
    )];
    let (code, _, err) = outcome(&run(&changes, &["graph"]));
    assert_eq!(code, Some(1));
    assert!(err.starts_with("wrong: new has no place"), "{err}");
}

#[test]
fn words_to_avoid_are_listed_with_file_and_line() {
    let text = concat!("# A\n\nAfter so ", "many bytes.\n");
    let changes = [("docs/a.md", text)];
    let (code, out, _) = outcome(&run(&changes, &["words"]));
    assert_eq!(code, Some(1));
    assert!(out.starts_with("docs/a.md:3: "), "{out}");
    assert_eq!(outcome(&run(&changes, &["words", "crates"])).0, Some(0));
    assert_eq!(outcome(&run(&changes, &["words", "no/such"])).0, Some(2));
}

#[test]
fn lines_are_counted_by_crate() {
    let changes = [("crates/view/tests/a.rs", "\n\n\n")];
    let (code, out, _) = outcome(&run(&changes, &["lines"]));
    let row = |name: &str| {
        out.lines()
            .find(|line| line.starts_with(name))
            .map(str::to_owned)
    };
    assert_eq!(code, Some(0));
    assert_eq!(
        row("crates/view"),
        Some(format!("{:<20}{:>10}{:>10}", "crates/view", 4, 3))
    );
    assert_eq!(row("all"), Some(format!("{:<20}{:>10}{:>10}", "all", 7, 3)));
}

#[test]
fn a_wrong_command_is_an_error() {
    for arguments in [&["grahp"][..], &[], &["graph", "--all"], &["lines", "x"]] {
        assert_eq!(outcome(&run(&[], arguments)).0, Some(2), "{arguments:?}");
    }
    let (code, out, _) = outcome(&run(&[], &["--help"]));
    assert!(
        code == Some(0) && out.lines().all(|line| line.len() <= 80),
        "{out}"
    );
}
