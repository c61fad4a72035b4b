//! The files of the repository that the rules look at.

use crate::source::SourceFile;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Kinds of files that are read.
const KINDS: [&str; 8] = ["rs", "toml", "md", "py", "pyi", "sh", "yml", "yaml"];

/// Folders of the repository's root that are built or measured rather than written.
const MADE_AT_ROOT: [&str; 3] = ["target", "runs", "ssdlab-runs"];

/// Folders that are built or downloaded wherever they stand.
const MADE_ANYWHERE: [&str; 2] = ["node_modules", "__pycache__"];

/// Hidden folders that are written by hand.
const HIDDEN_BUT_WRITTEN: [&str; 2] = [".ci", ".github"];

/// All files that the rules look at.
pub struct Repository {
    /// Folder of the workspace's manifest.
    pub root: PathBuf,
    /// In order of path.
    pub sources: Vec<SourceFile>,
}

impl Repository {
    /// Reads the repository at `root`.
    pub fn read(root: &Path) -> io::Result<Repository> {
        let mut sources = Vec::new();
        collect(root, "", &mut sources)?;
        Ok(Repository {
            root: root.to_owned(),
            sources,
        })
    }

    /// The folder that holds the workspace's manifest: `from` or the nearest folder above it.
    pub fn find(from: &Path) -> Option<PathBuf> {
        let is_root = |folder: &&Path| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml"));
            manifest.is_ok_and(|text| text.contains("[workspace]"))
        };
        from.ancestors().find(is_root).map(Path::to_owned)
    }

    /// The file at `path`, counted from the root.
    pub fn source(&self, path: &str) -> Option<&SourceFile> {
        self.sources.iter().find(|source| source.path == path)
    }

    /// The files of Rust.
    pub fn rust(&self) -> impl Iterator<Item = &SourceFile> {
        self.sources.iter().filter(|source| source.is_rust())
    }

    /// The files whose path begins with `prefix`.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a SourceFile> {
        let inside = move |source: &&SourceFile| source.path.starts_with(prefix);
        self.sources.iter().filter(inside)
    }
}

fn collect(folder: &Path, path: &str, files: &mut Vec<SourceFile>) -> io::Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    for name in names {
        let below = folder.join(&name);
        let path = match path {
            "" => name.clone(),
            _ => format!("{path}/{name}"),
        };
        if below.is_dir() {
            if !is_made(&path, &name) {
                collect(&below, &path, files)?;
            }
        } else if KINDS.iter().any(|kind| name.ends_with(&format!(".{kind}"))) {
            // A file that is not text has no lines to judge.
            let text = fs::read_to_string(&below).unwrap_or_default();
            files.push(SourceFile::new(&path, &text));
        }
    }
    Ok(())
}

/// Folders that are built, measured or downloaded rather than written.
fn is_made(path: &str, name: &str) -> bool {
    let hidden = name.starts_with('.') && !HIDDEN_BUT_WRITTEN.contains(&name);
    hidden || MADE_AT_ROOT.contains(&path) || MADE_ANYWHERE.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_output_is_skipped_at_the_root_only() {
        assert!(is_made("target", "target"));
        assert!(!is_made("crates/lab/src/target", "target"));
        assert!(is_made(".git", ".git") && !is_made(".ci", ".ci"));
        assert!(is_made("python/__pycache__", "__pycache__"));
    }
}
