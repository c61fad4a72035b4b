//! Does the repository keep its own rules? Module walls, sizes, `unsafe`, leftovers, documents.
//!
//! `source` splits a file into code and comments, `rules` holds the rules, and `canaries` shows
//! each rule a sample that breaks it: a check that cannot fail proves nothing.

mod canaries;
mod rules;
mod source;

use rules::Allowed;
use source::Source;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Functions and files over the limit. May only become shorter and fewer.
const LONG: [Allowed; 1] = [(
    "crates/lab/src/analysis/change/tests.rs",
    "cliffs_in_company",
    116,
)];

/// Kinds of files that are read.
const KINDS: [&str; 8] = ["rs", "toml", "md", "py", "pyi", "sh", "yml", "yaml"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every file of the repository that the rules look at, in order of path.
fn sources() -> Vec<Source> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found);
    assert!(found.len() > 100, "the repository was not found");
    found
}

fn collect(folder: &Path, path: &str, found: &mut Vec<Source>) {
    let entries = fs::read_dir(folder).expect("a readable folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable entry").file_name())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let below = folder.join(&name);
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}/{name}")
        };
        if below.is_dir() && !is_made(&name) {
            collect(&below, &path, found);
        } else if KINDS.iter().any(|kind| name.ends_with(&format!(".{kind}"))) {
            // A file that is not text is somebody else's business.
            let text = fs::read_to_string(&below).unwrap_or_default();
            found.push(Source::new(&path, &text));
        }
    }
}

/// Folders that are built, measured or downloaded rather than written.
fn is_made(name: &str) -> bool {
    let hidden = name.starts_with('.') && name != ".ci" && name != ".github";
    let made = [
        "target",
        "runs",
        "ssdlab-runs",
        "node_modules",
        "__pycache__",
    ];
    hidden || made.contains(&name)
}

fn rust(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.is_rust())
}

fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn imports_point_down_and_never_back() {
    none(rust(&sources()).flat_map(rules::walls).collect());
}

#[test]
fn the_software_ssd_depends_on_nothing() {
    let sources = sources();
    let manifest = sources.iter().find(|s| s.path == "crates/ssd/Cargo.toml");
    none(rules::no_dependencies(manifest.expect("a manifest")));
}

#[test]
fn whole_numbers_decide_in_the_model() {
    none(rust(&sources()).flat_map(rules::no_floats).collect());
}

#[test]
fn unsafe_stays_where_it_is_named() {
    none(
        rust(&sources())
            .flat_map(rules::unsafe_where_allowed)
            .collect(),
    );
}

#[test]
fn lines_are_at_most_100_columns() {
    none(rust(&sources()).flat_map(rules::columns).collect());
}

#[test]
fn functions_are_at_most_70_lines_and_files_600() {
    let long: BTreeMap<_, _> = rust(&sources()).flat_map(rules::too_long).collect();
    none(rules::ratchet(&long, &LONG));
}

#[test]
fn what_ships_gives_errors_and_reasons_not_unwraps() {
    let sources = sources();
    let tests: BTreeSet<String> = rust(&sources).flat_map(Source::test_modules).collect();
    let ships = |source: &&Source| {
        let module = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let is_test = tests
            .iter()
            .any(|test| module == test || module.starts_with(&format!("{test}/")));
        let in_src = ["crates/lab/src/", "crates/cli/src/"];
        in_src.iter().any(|folder| source.path.starts_with(folder)) && !is_test
    };
    none(
        rust(&sources)
            .filter(ships)
            .flat_map(rules::unwraps)
            .collect(),
    );
}

#[test]
fn nothing_is_left_unfinished() {
    none(sources().iter().flat_map(rules::unfinished).collect());
}

#[test]
fn no_path_of_a_machine() {
    none(sources().iter().flat_map(rules::machine_paths).collect());
}

#[test]
fn every_decision_says_context_choice_and_what_would_change_it() {
    let sources = sources();
    let decisions: Vec<&Source> = sources
        .iter()
        .filter(|source| source.path.starts_with("docs/decisions/"))
        .collect();
    assert!(!decisions.is_empty(), "no decisions");
    none(decisions.iter().flat_map(|d| rules::decision(d)).collect());
    let numbers: BTreeSet<&str> = decisions.iter().map(|d| &d.path[15..18]).collect();
    assert_eq!(numbers.len(), decisions.len(), "a number stands twice");
}

#[test]
fn every_term_is_explained_once() {
    let sources = sources();
    let glossary = sources.iter().find(|s| s.path == "docs/glossary.md");
    none(rules::glossary(glossary.expect("a glossary")));
}

#[test]
fn links_between_documents_lead_somewhere() {
    let sources = sources();
    let root = root();
    let documents = sources.iter().filter(|s| s.path.ends_with(".md"));
    none(
        documents
            .flat_map(|s| rules::broken_links(s, |path| root.join(path).exists()))
            .collect(),
    );
}
