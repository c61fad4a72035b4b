//! Fuzz targets for every parser of bytes that come from outside: sockets, traces, saved drives,
//! SMART reports, job files.
//!
//! A target takes any bytes and asserts a property: accepted input survives being written and
//! read back, a refusal says where, memory stays bounded. Its corpus is the union of the seeds
//! that it makes from our own samples and of the files in `corpus/NAME`.
//!
//! Two engines run the same targets:
//!
//! - `bash tests/fuzz.sh` replays the corpus and mutates it for some seconds on stable Rust alone.
//!   Continuous integration runs it.
//! - `bash tests/fuzz.sh --hours 8 NAME` drives libFuzzer, which is guided by coverage. It needs a
//!   C++ compiler and no nightly Rust.
//!
//! A new target is one file in `targets/` and one line in [`targets::TARGETS`].

pub mod mutate;
pub mod run;
pub mod targets;

use std::path::{Path, PathBuf};

/// A parser under test.
pub struct Target {
    /// Name on the command line and of its folder in `corpus`.
    pub name: &'static str,
    /// Parses the bytes and panics if the property of the target does not hold.
    pub run: fn(&[u8]),
    /// Inputs from which mutation starts, beside those in `corpus`.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, which mutation inserts.
    pub words: &'static [&'static str],
}

impl Target {
    /// Folder of the inputs that are kept with the source.
    pub fn corpus_folder(&self) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(self.name)
    }

    /// All inputs to replay: the seeds, then the kept ones by name.
    ///
    /// # Panics
    /// When the corpus cannot be read.
    pub fn corpus(&self) -> Vec<Vec<u8>> {
        let mut inputs = (self.seeds)();
        let folder = self.corpus_folder();
        if folder.exists() {
            inputs.extend(files(&folder).iter().map(|path| read(path)));
        }
        inputs
    }
}

/// The contents of all files of a folder of the repository, to serve as seeds.
///
/// # Panics
/// When the folder cannot be read or has no file.
pub fn samples(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let files = files(&folder);
    assert!(!files.is_empty(), "no sample in {}", folder.display());
    files.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    paths
}
