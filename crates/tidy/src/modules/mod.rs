//! The arrows between the files of a crate.
//!
//! A module here is a file: an inline `mod x {}` belongs to its file, test code is left out. A
//! file has an arrow to another when it names an item that the other defines, in a `use`, a type,
//! an expression or a macro's arguments; a re-export is followed to the definition. No arrows:
//! `mod child;`, a re-export of an item defined below the re-exporting module (a facade), and a
//! method call.
//!
//! `tree` reads the files into modules with their names, `resolve` looks up a path in them, and
//! `visit` finds the paths in the code.

mod resolve;
mod tree;
mod visit;

use crate::circles;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate and the arrows between them.
pub struct Modules {
    /// Paths below `src`, in order.
    pub files: Vec<String>,
    /// Names that tie one file (number in `files`) to another.
    pub arrows: BTreeMap<(usize, usize), BTreeSet<String>>,
    /// Paths that enter this crate and name nothing found there, with their files.
    pub unresolved: Vec<(usize, String)>,
}

impl Modules {
    /// Reads a crate: its package name, and its files as (path below `src`, text without test
    /// code).
    pub fn read(package: &str, texts: &BTreeMap<String, String>) -> Result<Modules, String> {
        let tree = tree::Tree::read(package, texts)?;
        let (arrows, unresolved) = visit::arrows(&tree);
        Ok(Modules {
            files: tree.files.into_iter().map(|file| file.path).collect(),
            arrows,
            unresolved,
        })
    }

    /// The files that each file uses.
    pub fn graph(&self) -> circles::Graph {
        let mut graph = vec![Vec::new(); self.files.len()];
        for (from, to) in self.arrows.keys() {
            graph[*from].push(*to);
        }
        graph
    }

    /// The groups of files that use each other in a circle.
    pub fn circles(&self) -> Vec<Vec<usize>> {
        let groups = circles::groups(&self.graph());
        groups.into_iter().filter(|group| group.len() > 1).collect()
    }

    /// The floor of every file.
    pub fn floors(&self) -> Vec<usize> {
        circles::floors(&self.graph())
    }

    /// An arrow with its names: `a.rs -> b.rs: X, Y`.
    pub fn arrow(&self, from: usize, to: usize) -> String {
        let names = self.arrows.get(&(from, to)).into_iter().flatten();
        let names: Vec<&str> = names.map(String::as_str).collect();
        format!(
            "{} -> {}: {}",
            self.files[from],
            self.files[to],
            names.join(", ")
        )
    }
}
