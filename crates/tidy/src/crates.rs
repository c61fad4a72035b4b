//! The crate graph: which crate may use which.

use crate::repository::Repository;
use crate::source::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// Where a crate stands.
pub struct CratePlacement {
    /// Package name without `ssdlab-`; the package `ssdlab` is `cli`.
    pub name: &'static str,
    /// A crate may use the crates of lower floors. Crates of one floor never use each other.
    pub floor: u32,
    /// The only crates that may use this one; empty for every crate above.
    pub only_for: &'static [&'static str],
    /// The only crates that this one may use, or every crate below.
    pub only_uses: Option<&'static [&'static str]>,
}

const fn on(floor: u32, name: &'static str) -> CratePlacement {
    CratePlacement {
        name,
        floor,
        only_for: &[],
        only_uses: None,
    }
}

/// The layout. A crate that is not in it is an error; a crate in it need not exist yet.
pub const PLACES: &[CratePlacement] = &[
    on(9, "cli"),
    on(9, "python"),
    CratePlacement {
        only_for: &["none: it is for development"],
        ..on(9, "fuzz")
    },
    on(8, "articles"),
    on(7, "hosts"),
    on(7, "predict"),
    on(7, "twin"),
    on(7, "watch"),
    on(6, "judge"),
    on(6, "life"),
    on(6, "power"),
    on(6, "conform"),
    on(5, "bench"),
    on(4, "drives"),
    on(4, "ledger"),
    on(4, "load"),
    on(4, "volume"),
    on(3, "view"),
    CratePlacement {
        only_for: &["power", "conform", "cli", "python", "fuzz"],
        only_uses: Some(&["base"]),
        ..on(3, "serve")
    },
    CratePlacement {
        only_uses: Some(&["base", "fio"]),
        ..on(3, "verify")
    },
    CratePlacement {
        only_uses: Some(&["crash"]),
        ..on(3, "crash-fs")
    },
    on(2, "base"),
    CratePlacement {
        only_uses: Some(&["ssd"]),
        ..on(2, "crash")
    },
    CratePlacement {
        only_for: &["none: it is for programs in C"],
        only_uses: Some(&["crash"]),
        ..on(3, "crash-c")
    },
    CratePlacement {
        only_for: &["none: programs load it"],
        only_uses: Some(&[]),
        ..on(1, "preload")
    },
    on(1, "ssd"),
    CratePlacement {
        only_uses: Some(&[]),
        ..on(1, "fio")
    },
    CratePlacement {
        only_for: &["none: it is for development"],
        only_uses: Some(&[]),
        ..on(1, "tidy")
    },
    CratePlacement {
        only_for: &["none: it is for tests"],
        only_uses: Some(&[]),
        ..on(1, "skips")
    },
];

/// Crates that any other may use in its tests.
const FOR_TESTS: &[&str] = &["skips", "tidy"];

/// A crate and the crates of this repository that it uses.
#[derive(Debug, PartialEq, Eq)]
pub struct Crate {
    /// As in [`CratePlacement::name`].
    pub name: String,
    /// Folder, counted from the root: `crates/ssd`.
    pub folder: String,
    /// Crates that it needs to build or to be tested.
    pub uses: BTreeSet<String>,
}

/// The place of a crate.
pub fn place(name: &str) -> Option<&'static CratePlacement> {
    PLACES.iter().find(|place| place.name == name)
}

/// The crates below `crates/`, highest floor first.
pub fn read(repository: &Repository) -> Result<Vec<Crate>, String> {
    let shared = match repository.source("Cargo.toml") {
        Some(manifest) => parsed(manifest)?,
        None => return Err("no manifest at the root".to_owned()),
    };
    let is_manifest = |source: &&SourceFile| {
        source.path.ends_with("/Cargo.toml") && source.path.matches('/').count() == 2
    };
    let manifests: Vec<(&SourceFile, Table)> = repository
        .below("crates/")
        .filter(is_manifest)
        .map(|source| Ok((source, parsed(source)?)))
        .collect::<Result<_, String>>()?;
    let ours: BTreeSet<&str> = manifests.iter().filter_map(|m| package(&m.1)).collect();
    let mut crates = Vec::new();
    for (source, manifest) in &manifests {
        let own = package(manifest).ok_or_else(|| format!("{}: no package", source.path))?;
        let used = dependencies(manifest, &shared);
        // A crate that is its own dev-dependency tests its features.
        let others = |name: &&String| ours.contains(name.as_str()) && name.as_str() != own;
        let uses = used.iter().filter(others);
        crates.push(Crate {
            name: short(own).to_owned(),
            folder: source.path.trim_end_matches("/Cargo.toml").to_owned(),
            uses: uses.map(|name| short(name).to_owned()).collect(),
        });
    }
    let floor = |c: &Crate| place(&c.name).map_or(0, |place| place.floor);
    crates.sort_by_key(|c| (u32::MAX - floor(c), c.name.clone()));
    Ok(crates)
}

fn parsed(manifest: &SourceFile) -> Result<Table, String> {
    let table = manifest.text.parse::<Table>();
    table.map_err(|error| format!("{}: {error}", manifest.path))
}

fn package(manifest: &Table) -> Option<&str> {
    manifest.get("package")?.get("name")?.as_str()
}

/// Package name without the prefix that all share.
fn short(package: &str) -> &str {
    match package {
        "ssdlab" => "cli",
        _ => package.strip_prefix("ssdlab-").unwrap_or(package),
    }
}

/// Packages that a manifest names: to build, for tests, for its build script, for one system.
fn dependencies(manifest: &Table, shared: &Table) -> BTreeSet<String> {
    let systems = manifest.get("target").and_then(Value::as_table);
    let systems = systems.into_iter().flat_map(Table::values);
    let parts = std::iter::once(manifest).chain(systems.filter_map(Value::as_table));
    let shared = shared
        .get("workspace")
        .and_then(|w| w.get("dependencies")?.as_table());
    let mut names = BTreeSet::new();
    for part in parts {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let listed = part.get(kind).and_then(Value::as_table);
            for (key, value) in listed.into_iter().flatten() {
                let renamed = |value: &Value| Some(value.get("package")?.as_str()?.to_owned());
                let in_shared = || renamed(shared?.get(key)?);
                let name = renamed(value).or_else(in_shared);
                names.insert(name.unwrap_or_else(|| key.clone()));
            }
        }
    }
    names
}

/// Crates without a place, and arrows that the layout does not allow.
pub fn offences(crates: &[Crate]) -> Vec<String> {
    let mut offences = Vec::new();
    for user in crates {
        let Some(from) = place(&user.name) else {
            let table = "give it a floor in crates/tidy/src/crates.rs";
            offences.push(format!("{} has no place: {table}", user.name));
            continue;
        };
        for name in user
            .uses
            .iter()
            .filter(|n| !FOR_TESTS.contains(&n.as_str()))
        {
            if let Some(why) = place(name).and_then(|to| forbidden(from, to)) {
                offences.push(format!("{} -> {name}: {why}", user.name));
            }
        }
    }
    offences
}

/// Why `from` may not use `to`.
fn forbidden(from: &CratePlacement, to: &CratePlacement) -> Option<String> {
    if let Some(few) = from.only_uses.filter(|few| !few.contains(&to.name)) {
        let may = if few.is_empty() {
            "nothing".to_owned()
        } else {
            few.join(", ")
        };
        return Some(format!("{} may use {may}", from.name));
    }
    if !to.only_for.is_empty() && !to.only_for.contains(&from.name) {
        return Some(format!(
            "{} is only for {}",
            to.name,
            to.only_for.join(", ")
        ));
    }
    match from.floor.cmp(&to.floor) {
        std::cmp::Ordering::Greater => None,
        std::cmp::Ordering::Equal => Some("crates of one floor never use each other".to_owned()),
        std::cmp::Ordering::Less => Some("points up".to_owned()),
    }
}

/// The crates by floor, highest first.
pub fn by_floor(crates: &[Crate]) -> BTreeMap<u32, Vec<&Crate>> {
    let mut floors: BTreeMap<u32, Vec<&Crate>> = BTreeMap::new();
    for package in crates {
        let floor = place(&package.name).map_or(0, |place| place.floor);
        floors.entry(u32::MAX - floor).or_default().push(package);
    }
    floors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(name: &str, used: &[&str]) -> Crate {
        Crate {
            name: name.to_owned(),
            folder: format!("crates/{name}"),
            uses: used.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    #[test]
    fn arrows_point_down_and_never_to_a_neighbour() {
        let good = [
            uses("cli", &["articles", "base", "ssd", "tidy"]),
            uses("python", &["judge", "crash", "serve"]),
            uses("power", &["bench", "serve", "drives"]),
            uses("bench", &["view"]),
            uses("serve", &["base"]),
            uses("base", &["ssd"]),
            uses("crash", &["ssd"]),
            uses("power", &["crash"]),
        ];
        assert_eq!(offences(&good), Vec::<String>::new());
        let bad = [
            ("ssd", "base"),
            ("base", "view"),
            ("crash", "base"),
            ("ssd", "crash"),
            ("view", "drives"),
            ("drives", "load"),
            ("load", "drives"),
            ("judge", "life"),
            ("life", "power"),
            ("bench", "judge"),
            ("bench", "serve"),
            ("serve", "ssd"),
            ("tidy", "ssd"),
            ("articles", "cli"),
            ("python", "cli"),
            ("power", "python"),
        ];
        for (from, to) in bad {
            assert_eq!(offences(&[uses(from, &[to])]).len(), 1, "{from} -> {to}");
        }
        assert_eq!(offences(&[uses("stranger", &[])]).len(), 1);
    }

    #[test]
    fn a_dependency_is_seen_in_every_form() {
        let shared: Table = "workspace.dependencies.two = { path = \"b\", package = \"second\" }"
            .parse()
            .expect("a table");
        let manifest: Table = "[dependencies]\none = \"1\"\ntwo.workspace = true\n\
            [dev-dependencies.three]\npath = \"c\"\n[build-dependencies]\nfour = \"1\"\n\
            [target.'cfg(unix)'.dependencies]\nfive = { path = \"d\", package = \"fifth\" }"
            .parse()
            .expect("a table");
        let found = dependencies(&manifest, &shared);
        let names = ["fifth", "four", "one", "second", "three"];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), names);
    }
}
