//! Do the recipes of CONTRIBUTING lead where there is room, and do their examples still fit?
//! `tests/recipes.sh` applies the examples and finds what they break.

use ssdlab_tidy::recipes::{self, EXAMPLES, Recipe};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> Option<String> {
    fs::read_to_string(root().join(path)).ok()
}

fn recipes_of_the_guide() -> Vec<Recipe> {
    recipes::read(&text("CONTRIBUTING.md").expect("a guide")).expect("recipes")
}

fn assert_none(offences: &[String]) {
    assert!(offences.is_empty(), "\n{}\n", offences.join("\n"));
}

#[test]
fn every_recipe_has_an_example_and_every_example_a_recipe() {
    let recipes = recipes_of_the_guide().into_iter();
    let mut titles: Vec<String> = recipes.map(|recipe| recipe.title).collect();
    let mut examples = EXAMPLES.map(|(_, title)| title);
    titles.sort_unstable();
    examples.sort_unstable();
    assert_eq!(titles, examples);
    for (name, _) in EXAMPLES {
        let path = format!("tests/recipes/{name}.patch");
        assert!(text(&path).is_some(), "{path} is missing");
    }
}

#[test]
fn recipes_lead_to_files_that_have_room() {
    for recipe in recipes_of_the_guide() {
        assert_none(&recipe.dead_ends(text));
    }
}

#[test]
fn examples_do_what_their_recipes_say() {
    let recipes = recipes_of_the_guide();
    for (name, title) in EXAMPLES {
        let patch = text(&format!("tests/recipes/{name}.patch")).expect("a patch");
        let patch = recipes::patch(&patch);
        let recipe = recipes.iter().find(|recipe| recipe.title == title);
        let recipe = recipe.expect("a recipe");
        assert_none(&recipe.breaches(&recipe.files(&patch)));
    }
}

#[test]
fn examples_fit_the_files_that_they_change() {
    for (name, _) in EXAMPLES {
        let path = format!("tests/recipes/{name}.patch");
        let misfits = recipes::misfits(&recipes::patch(&text(&path).expect("a patch")), text);
        assert!(
            misfits.is_empty(),
            "\n{path} no longer applies, or leads where no room is left:\n{}\n\
             Make it again: git apply --reject {path}; do by hand what is in the files *.rej; git \
             add -N .; git diff -U1 > {path}.\n",
            misfits.join("\n")
        );
    }
}

const GUIDE: &str = "# Guide\n\n## Recipes\n\nText.\n\n### A thing [2 or 3]\n\n\
    1. `crates/a/src/NAME.rs`: what\n   `IT` does.\n2. `crates/a/src/list.rs`, or `deep/`.\n\
    3. `docs/a.md`, when it shows.\n\nAfter that: `docs/no.md`.\n";

fn recipe_of_a_thing() -> Recipe {
    recipes::read(GUIDE).expect("recipes").remove(0)
}

#[test]
fn a_recipe_is_read_with_its_number_and_its_files() {
    let recipe = recipe_of_a_thing();
    assert_eq!((recipe.title.as_str(), recipe.counts), ("A thing", 2..=3));
    let paths: Vec<_> = recipe
        .steps
        .iter()
        .map(|step| step.paths.join(" "))
        .collect();
    let second = "crates/a/src/list.rs crates/a/src/deep/";
    assert_eq!(paths, ["crates/a/src/NAME.rs", second, "docs/a.md"]);
    assert!(recipes::read("\n## Recipes\n\n### A thing\n").is_err());
}

/// Canaries: each breach of a recipe is named.
#[test]
fn a_change_beside_its_recipe_is_noticed() {
    let whole = ["crates/a/src/new.rs", "crates/a/src/list.rs"];
    assert_eq!(recipe_of_a_thing().breaches(&whole), [""; 0]);
    let deep = ["crates/a/src/new.rs", "crates/a/src/deep/x.rs", "docs/a.md"];
    assert_eq!(recipe_of_a_thing().breaches(&deep), [""; 0]);
    for (files, part) in [
        (&["crates/a/src/new.rs", "docs/a.md"][..], "step 2"),
        (&["crates/a/src/deep/x.rs", "docs/a.md"], "step 1"),
        (
            &["crates/a/src/new.rs", "crates/a/src/list.rs", "docs/b.md"],
            "docs/b.md",
        ),
        (&["crates/a/src/list.rs"], "2 to 3 files"),
    ] {
        let breaches = recipe_of_a_thing().breaches(files).join("\n");
        assert!(breaches.contains(part), "{files:?}: {breaches}");
    }
}

#[test]
fn a_file_that_is_full_or_gone_is_noticed() {
    let lines = |count: usize| move |_: &str| Some("x\n".repeat(count));
    assert_eq!(recipe_of_a_thing().dead_ends(lines(500)), [""; 0]);
    assert!(recipe_of_a_thing().dead_ends(lines(501))[0].contains("501 lines"));
    assert_eq!(recipe_of_a_thing().dead_ends(|_| None).len(), 2);
}

#[test]
fn a_patch_that_no_longer_applies_is_noticed() {
    let patch = recipes::patch(
        "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\
         diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+b\n",
    );
    let files = |a: &'static str| move |path: &str| (path == "a").then(|| a.to_owned());
    assert_eq!(recipes::misfits(&patch, files("zero\none\ntwo\n")), [""; 0]);
    let moved = recipes::misfits(&patch, files("one\n2\n"));
    assert!(moved.len() == 1 && moved[0].starts_with("a has changed"));
    assert_eq!(recipes::misfits(&patch, |_| None), ["a has moved"]);
    let both = |_: &str| Some("one\ntwo\n".to_owned());
    assert_eq!(recipes::misfits(&patch, both), ["b exists already"]);
}
