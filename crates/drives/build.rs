//! Puts every file of `drives/` into the library: a drive added there is in the catalogue.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let drives =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../drives");
    println!("cargo::rerun-if-changed={}", drives.display());
    let mut files: Vec<_> = fs::read_dir(&drives)
        .expect("drives/ is part of the source")
        .map(|entry| entry.expect("drives/ can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        // The table of real drives, no drive of its own.
        .filter(|path| path.file_name().is_some_and(|name| name != "known.toml"))
        .collect();
    files.sort();
    let mut code = String::from("[\n");
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.display().to_string();
        writeln!(code, "({name:?}, include_str!({path:?})),").expect("to a string");
    }
    code.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("built_in.rs");
    fs::write(out, code).expect("the build directory can be written");
}
