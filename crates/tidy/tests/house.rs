//! Does the repository keep its own rules? Crates, modules, sizes, `unsafe`, leftovers, documents,
//! words.
//!
//! `canaries` and the unit tests show each rule a sample that breaks it: a check that cannot fail
//! proves nothing.

use ssdlab_tidy::crates;
use ssdlab_tidy::lines::test_files;
use ssdlab_tidy::print::{self, GraphOptions};
use ssdlab_tidy::repository::Repository;
use ssdlab_tidy::rules;
use ssdlab_tidy::source::SourceFile;
use ssdlab_tidy::words::AvoidedWords;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

/// Every file of the repository that the rules look at, read once.
fn repository() -> &'static Repository {
    static FOUND: LazyLock<Repository> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Repository::read(&root).expect("a readable repository")
    });
    assert!(FOUND.sources.len() > 100, "the repository was not found");
    &FOUND
}

fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

/// Offences against a rule in all files of Rust.
fn in_rust(rule: impl Fn(&SourceFile) -> Vec<String>) -> Vec<String> {
    repository().rust().flat_map(rule).collect()
}

#[test]
fn crates_and_modules_have_floors_and_no_circles() {
    let (text, wrong) = print::graph(repository(), &GraphOptions::default()).expect("a graph");
    assert!(wrong.is_empty(), "\n{text}\n{}\n", wrong.join("\n"));
    for row in text.lines() {
        assert!(row.chars().count() <= 80, "{row}");
    }
}

#[test]
fn paths_lead_to_files() {
    let repository = repository();
    for one in crates::read(repository).expect("manifests") {
        let modules = print::modules(repository, &one).expect("modules");
        assert!(
            modules.files.len() < 3 || !modules.arrows.is_empty(),
            "{}: no arrows",
            one.name
        );
        assert!(
            modules.unresolved.is_empty(),
            "{}: {:?}",
            one.name,
            modules.unresolved
        );
    }
}

#[test]
fn words_to_avoid_are_avoided() {
    let list = AvoidedWords::of_the_house();
    let repository = repository();
    none(
        repository
            .sources
            .iter()
            .flat_map(|source| list.offences(source))
            .collect(),
    );
}

#[test]
fn the_software_ssd_reaches_nothing_outside() {
    none(in_rust(rules::outside_of_ssd));
}

#[test]
fn the_software_ssd_depends_on_nothing() {
    let repository = repository();
    let manifest = repository.source("crates/ssd/Cargo.toml");
    none(rules::no_dependencies(manifest.expect("a manifest")));
}

#[test]
fn whole_numbers_decide_in_the_model() {
    none(in_rust(rules::no_floats));
}

#[test]
fn unsafe_stays_where_it_is_named() {
    none(in_rust(rules::unsafe_where_allowed));
}

#[test]
fn paths_that_rules_name_are_there() {
    for path in rules::UNSAFE.iter().chain(&rules::WHOLE_NUMBERS) {
        assert!(
            repository().below(path).next().is_some(),
            "{path} has moved"
        );
    }
}

#[test]
fn lines_are_at_most_100_columns() {
    none(in_rust(rules::columns));
}

#[test]
fn functions_are_at_most_70_lines_and_files_600() {
    none(in_rust(rules::too_long));
}

#[test]
fn shipped_code_gives_errors_and_reasons_not_unwraps() {
    let repository = repository();
    let tests = test_files(repository);
    let ships = |source: &&SourceFile| {
        let parts: Vec<&str> = source.path.split('/').collect();
        parts.first() == Some(&"crates")
            && parts.get(2) == Some(&"src")
            && !tests.contains(&source.path)
    };
    let shipped = repository.rust().filter(ships);
    none(shipped.flat_map(rules::unwraps).collect());
}

#[test]
fn nothing_is_left_unfinished() {
    none(
        repository()
            .sources
            .iter()
            .flat_map(rules::unfinished)
            .collect(),
    );
}

#[test]
fn no_path_of_a_machine() {
    none(
        repository()
            .sources
            .iter()
            .flat_map(rules::machine_paths)
            .collect(),
    );
}

#[test]
fn every_decision_says_context_choice_and_what_would_change_it() {
    let repository = repository();
    let decisions: Vec<&SourceFile> = repository.below("docs/decisions/").collect();
    assert!(!decisions.is_empty(), "no decisions");
    none(decisions.iter().flat_map(|d| rules::decision(d)).collect());
    let numbers: BTreeSet<&str> = decisions.iter().map(|d| &d.path[15..18]).collect();
    assert_eq!(numbers.len(), decisions.len(), "a number stands twice");
}

#[test]
fn every_term_is_explained_once() {
    let repository = repository();
    let glossary = repository.source("docs/glossary.md");
    none(rules::glossary(glossary.expect("a glossary")));
}

#[test]
fn links_between_documents_lead_somewhere() {
    let repository = repository();
    let root = &repository.root;
    let documents = repository
        .sources
        .iter()
        .filter(|s| s.path.ends_with(".md"));
    none(
        documents
            .flat_map(|s| rules::broken_links(s, |path| root.join(path).exists()))
            .collect(),
    );
}

#[test]
fn readers_find_every_page() {
    let repository = repository();
    let pages: Vec<&str> = repository
        .below("docs/")
        .filter_map(|page| page.path.strip_prefix("docs/"))
        .filter(|name| name.ends_with(".md") && !name.contains('/') && *name != "README.md")
        .collect();
    assert!(pages.len() <= 17, "18 pages with the map: {pages:?}");
    let map = repository.source("docs/README.md").expect("a map of pages");
    none(rules::unmapped(map, &pages));
    let readme = repository.source("README.md").expect("a README");
    assert!(
        readme.text.lines().count() <= 120,
        "a README ends where the guides begin"
    );
}
