//! Puts every frozen prediction of `ledger/predictions/` into the library.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = env::var("CARGO_MANIFEST_DIR").expect("set by cargo");
    let folder = Path::new(&root).join("../../ledger/predictions");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("ledger/predictions is part of the source")
        .map(|entry| entry.expect("ledger/predictions can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "csv" || e == "txt"))
        .collect();
    // The second file of a day has a longer stem than the first: it comes after it.
    files.sort_by_key(|path| path.with_extension(""));
    let mut code = String::from("[\n");
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.display().to_string();
        println!("cargo::rerun-if-changed={path}");
        writeln!(code, "({name:?}, include_str!({path:?})),").expect("to a string");
    }
    code.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("frozen.rs");
    fs::write(out, code).expect("the build directory can be written");
}
