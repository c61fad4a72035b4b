//! A real directory with the names and sizes of the crash disk's files, and none of their bytes.
//!
//! `Path::exists`, `Path::metadata` and their like ask the kernel, and no import changes that. So
//! the root of a crash disk is a directory of the kernel that answers them rightly. What a program
//! reads and writes never comes from it.

use crate::error::from_crash;
use ssdlab_crash::{CrashFiles, FileId};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug)]
pub(crate) struct Shadow {
    root: PathBuf,
}

impl Shadow {
    /// A new directory below the system's folder for temporary files.
    pub fn new() -> Result<Shadow> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let parent = fs::canonicalize(std::env::temp_dir())?;
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let root = parent.join(format!("crash-fs-{}-{number}", std::process::id()));
            match fs::create_dir(&root) {
                Ok(()) => return Ok(Shadow { root }),
                // Of an earlier process with this number, which was killed.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn create(&self, path: &str) -> Result<()> {
        File::create_new(self.root.join(path)).map(drop)
    }

    /// The file whose length is kept like that of the file on the crash disk.
    pub fn open(&self, path: &str) -> Result<File> {
        File::options().write(true).open(self.root.join(path))
    }

    pub fn make_dir(&self, path: &str) -> Result<()> {
        fs::create_dir(self.root.join(path))
    }

    pub fn remove_dir(&self, path: &str) -> Result<()> {
        fs::remove_dir(self.root.join(path))
    }

    pub fn remove(&self, path: &str) -> Result<()> {
        fs::remove_file(self.root.join(path))
    }

    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        fs::rename(self.root.join(from), self.root.join(to))
    }

    pub fn hard_link(&self, file: &str, name: &str) -> Result<()> {
        fs::hard_link(self.root.join(file), self.root.join(name))
    }

    /// After a recovery: what the files have, and nothing else.
    pub fn rebuild(&self, files: &mut CrashFiles) -> Result<()> {
        for entry in fs::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        let mut directories = vec![String::new()];
        let mut first_paths: BTreeMap<FileId, String> = BTreeMap::new();
        while let Some(directory) = directories.pop() {
            for path in files.list(&directory) {
                if files.is_dir(&path) {
                    self.make_dir(&path)?;
                    directories.push(path);
                    continue;
                }
                let file = files.open(&path).map_err(from_crash)?;
                if let Some(first) = first_paths.get(&file) {
                    self.hard_link(first, &path)?;
                    continue;
                }
                self.create(&path)?;
                let size = files.size(file).map_err(from_crash)?;
                self.open(&path)?.set_len(size)?;
                first_paths.insert(file, path);
            }
        }
        Ok(())
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        // Nothing can be done about a failure, and names are never used twice.
        let _ = fs::remove_dir_all(&self.root);
    }
}
