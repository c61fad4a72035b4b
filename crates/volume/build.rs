//! Puts every file of `volumes/` into the library: a volume type added there is in the catalogue.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder =
        Path::new(&env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../../volumes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> = fs::read_dir(&folder)
        .expect("volumes/ is part of the source")
        .map(|entry| entry.expect("volumes/ can be listed").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    let mut code = String::from("[\n");
    for path in &files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let path = path.display().to_string();
        println!("cargo::rerun-if-changed={path}");
        writeln!(code, "({name:?}, include_str!({path:?})),").expect("to a string");
    }
    code.push_str("]\n");
    let out = Path::new(&env::var("OUT_DIR").expect("set by cargo")).join("built_in.rs");
    fs::write(out, code).expect("the build directory can be written");
}
