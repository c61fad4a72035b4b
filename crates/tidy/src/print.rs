//! The structure of the repository as text of at most 80 columns.

use crate::crates::{self, Crate};
use crate::lines;
use crate::modules::Modules;
use crate::repository::Repository;
use crate::walls;
use std::collections::{BTreeMap, BTreeSet};

const COLUMNS: usize = 80;

/// Optional parts of the output of `graph`.
#[derive(Default)]
pub struct GraphOptions {
    /// Floors and arrows of this crate's modules, or with an empty name of every crate.
    pub modules: Option<String>,
    /// Paths that begin in a crate and were not found.
    pub unresolved: bool,
}

/// The crate graph and the module graphs as text, and the breaches of the rules in them.
pub fn graph(
    repository: &Repository,
    options: &GraphOptions,
) -> Result<(String, Vec<String>), String> {
    let crates = crates::read(repository)?;
    let mut text = String::from("Crates, highest floor first\n");
    for package in crates::by_floor(&crates).values().flatten() {
        let uses: Vec<&str> = package.uses.iter().map(String::as_str).collect();
        let uses = if uses.is_empty() {
            "nothing".to_owned()
        } else {
            uses.join(", ")
        };
        text += &wrapped(&format!("  {:<9}-> ", package.name), &uses);
    }
    let mut wrong = crates::offences(&crates);
    text += "\nModules (a module is a file; `graph --modules CRATE` prints them all)\n";
    text += "  crate     modules  floors  arrows  circles\n";
    let mut details = String::new();
    for package in &crates {
        let modules = modules(repository, package)?;
        text += &summary(package, &modules);
        let circles = modules.circles();
        let files = |circle: &Vec<usize>| {
            let files: Vec<&str> = circle.iter().map(|&f| modules.files[f].as_str()).collect();
            format!("{}: a circle of {}", package.name, files.join(", "))
        };
        wrong.extend(circles.iter().map(files));
        wrong.extend(walls::offences(&package.name, &modules));
        let shows_floors = options
            .modules
            .as_deref()
            .is_some_and(|n| n.is_empty() || n == package.name);
        if shows_floors {
            details += &floors(package, &modules);
        }
        details += &self::circles(package, &modules);
        if options.unresolved {
            let count = modules.unresolved.len();
            details += &format!("\nPaths of {} that were not found: {count}\n", package.name);
            for (file, path) in &modules.unresolved {
                details += &format!("  {}: {path}\n", modules.files[*file]);
            }
        }
    }
    Ok((text + &details, wrong))
}

/// The files of a crate and their arrows.
pub fn modules(repository: &Repository, package: &Crate) -> Result<Modules, String> {
    let folder = format!("{}/src/", package.folder);
    let rust = repository.below(&folder).filter(|source| source.is_rust());
    let texts: BTreeMap<String, String> = rust
        .map(|source| {
            (
                source.path[folder.len()..].to_owned(),
                source.shipped_text(),
            )
        })
        .collect();
    let package = format!("ssdlab-{}", package.name);
    Modules::read(&package, &texts).map_err(|error| format!("{folder}{error}"))
}

fn summary(package: &Crate, modules: &Modules) -> String {
    let circles = modules.circles();
    let tied: usize = circles.iter().map(Vec::len).sum();
    let circle_summary = match circles.len() {
        0 => "no circles".to_owned(),
        1 => format!("1 circle of {tied} modules"),
        count => format!("{count} circles of {tied} modules"),
    };
    let floors = modules.floors().into_iter().max().unwrap_or(0);
    format!(
        "  {:<9} {:>7} {:>7} {:>7}  {circle_summary}\n",
        package.name,
        modules.files.len(),
        floors,
        modules.arrows.len(),
    )
}

/// The modules by floor, then every arrow.
fn floors(package: &Crate, modules: &Modules) -> String {
    let mut text = format!(
        "\nFloors of {} (floor 1 uses nothing of the crate)\n",
        package.name
    );
    let floors = modules.floors();
    for floor in (1..=floors.iter().copied().max().unwrap_or(0)).rev() {
        let on = (0..floors.len()).filter(|&file| floors[file] == floor);
        let names: Vec<&str> = on.map(|file| modules.files[file].as_str()).collect();
        text += &wrapped(&format!("  {floor:>3}  "), &names.join(", "));
    }
    text += &format!("\nArrows of {}\n", package.name);
    for (from, to) in modules.arrows.keys() {
        text += &wrapped("  ", &modules.arrow(*from, *to));
    }
    text
}

/// The circles: the names that each file provides to the others of the circle, then the arrows.
fn circles(package: &Crate, modules: &Modules) -> String {
    let mut text = String::new();
    for circle in modules.circles() {
        let legend = "(file to number of users: names, then arrows)";
        text += &format!(
            "\nCircle of {} modules in {} {legend}\n",
            circle.len(),
            package.name
        );
        let inside = |(from, to): &&(usize, usize)| circle.contains(from) && circle.contains(to);
        let arrows: Vec<_> = modules.arrows.keys().filter(inside).collect();
        let provided = |file: usize| {
            let users: Vec<_> = arrows.iter().filter(|arrow| arrow.1 == file).collect();
            let names = users.iter().flat_map(|arrow| &modules.arrows[**arrow]);
            let names: BTreeSet<&str> = names.map(String::as_str).collect();
            (file, users.len(), names.into_iter().collect::<Vec<_>>())
        };
        let mut files: Vec<_> = circle.iter().map(|&file| provided(file)).collect();
        files.sort_by_key(|(file, _, names)| (names.len(), *file));
        for (file, users, names) in files {
            let head = format!("  {} to {users}: ", modules.files[file]);
            text += &wrapped(&head, &names.join(", "));
        }
        for arrow in arrows {
            text += &wrapped("    ", &modules.arrow(arrow.0, arrow.1));
        }
    }
    text
}

/// `text` behind `head`, broken at spaces, further lines indented as far as the head is long.
fn wrapped(head: &str, text: &str) -> String {
    let indent = head.chars().count().clamp(6, 14);
    let mut lines = vec![head.to_owned()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("the head");
        let is_fresh = line.ends_with(' ') || line.is_empty();
        if line.chars().count() + 1 + word.chars().count() > COLUMNS && !line.trim().is_empty() {
            lines.push(format!("{}{word}", " ".repeat(indent)));
        } else {
            line.push_str(if is_fresh { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

/// Lines of Rust by crate, and their sum.
pub fn line_counts(repository: &Repository) -> String {
    let mut text = format!("{:<20}{:>10}{:>10}\n", "Lines of Rust", "shipped", "tests");
    let mut row = |name: &str, lines: lines::LineCount| {
        text += &format!("{name:<20}{:>10}{:>10}\n", lines.shipped, lines.tests);
    };
    let (mut sum, mut own) = (lines::LineCount::default(), lines::LineCount::default());
    for (name, lines) in lines::by_crate(repository) {
        row(&name, lines);
        sum += lines;
        if name != "crates/tidy" {
            own += lines;
        }
    }
    row("all", sum);
    // This crate is a test of the others, though it stands in no folder of tests.
    row("all but crates/tidy", own);
    text
}
