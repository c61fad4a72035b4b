//! Which crash disk a path is on, and its path there.

use crate::CrashFs;
use crate::error::{CrashFsError, system};
use crate::roots::machine_of;
use std::ffi::OsStr;
use std::io::{ErrorKind, Result};
use std::path::{Component, Path};

/// A path on a crash disk.
pub(crate) struct DiskPath {
    pub machine: CrashFs,
    /// Names joined by slashes; empty for the root.
    pub path: String,
    /// It ended with a slash, or a dot: what it names must be a directory.
    pub is_directory: bool,
}

/// Where a path leads.
pub(crate) fn place(path: &Path) -> Result<DiskPath> {
    if path.as_os_str().is_empty() {
        return Err(system(ErrorKind::NotFound));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(system(ErrorKind::InvalidInput));
    }
    let last = path.as_os_str().as_encoded_bytes();
    let is_directory = last.ends_with(b"/") || last.ends_with(b"/.") || last == b".";
    let Some((machine, path)) = machine_of(path) else {
        return Err(CrashFsError::Elsewhere(path.display().to_string()).into());
    };
    let machine = CrashFs::of(machine);
    let path = names(path)?;
    Ok(DiskPath {
        machine,
        path,
        is_directory,
    })
}

/// The names of a path. There are no symbolic links, so that `..` is the directory before.
fn names(path: &Path) -> Result<String> {
    let mut names: Vec<&str> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(text(name)?),
            Component::ParentDir => {
                names.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    Ok(names.join("/"))
}

fn text(name: &OsStr) -> Result<&str> {
    let Some(name) = name.to_str() else {
        let hint = "give names in UTF-8";
        return crate::error::unsupported("a name that is not UTF-8", hint);
    };
    if name.len() > 255 {
        return Err(std::io::Error::from(ErrorKind::InvalidFilename));
    }
    Ok(name)
}
