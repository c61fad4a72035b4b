//! The rules of this repository: which crate and which module may use which, sizes, `unsafe`,
//! leftovers, documents, words.
//!
//! For development only: no other crate uses this one. `repository` reads the files, `source`
//! splits a file into code, comments and strings, `rules` and `words` judge single files,
//! `crates` judges the crate graph, `modules` finds the arrows between the files of a crate, and
//! `walls` judges those inside a crate that has floors of its own. `recipes` judges the recipes of
//! CONTRIBUTING and their examples.
//! The commands (`cargo run -q -p ssdlab-tidy -- graph|words|lines`) print what the tests
//! check.

pub mod census;
pub mod circles;
pub mod crates;
pub mod lines;
pub mod modules;
pub mod mutants;
pub mod print;
pub mod recipes;
pub mod repository;
pub mod rules;
pub mod source;
pub mod walls;
pub mod words;
