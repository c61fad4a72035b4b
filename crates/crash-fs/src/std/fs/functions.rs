//! The functions of `std::fs`.

use super::metadata::no_modes_of_directories;
use super::{DirBuilder, DirEntry, File, FileType, Metadata, Permissions, ReadDir};
use crate::error::{system, unsupported};
use crate::paths::{DiskPath, place};
use std::io::{ErrorKind, Read, Result, Write};
use std::path::{Path, PathBuf};

/// A path that ends with a slash must be a directory.
fn file_place(path: &Path) -> Result<DiskPath> {
    let place = place(path)?;
    if place.is_directory {
        let is_directory = place.machine.call(|state| state.is_directory(&place.path));
        if !is_directory? {
            return Err(system(ErrorKind::NotADirectory));
        }
    }
    Ok(place)
}

/// As [`std::fs::canonicalize`].
///
/// # Errors
/// When there is no such file, and when power is off.
pub fn canonicalize<P: AsRef<Path>>(path: P) -> Result<PathBuf> {
    let place = file_place(path.as_ref())?;
    let machine = place.machine;
    machine.call(|state| state.is_directory(&place.path))?;
    Ok(match place.path.as_str() {
        "" => machine.root().to_owned(),
        path => machine.root().join(path),
    })
}

/// As [`std::fs::copy`].
///
/// # Errors
/// As `std`; and when a path is on no crash disk, or its power is off.
pub fn copy<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> Result<u64> {
    let mut source = File::open(from)?;
    let metadata = source.metadata()?;
    if metadata.is_dir() {
        return Err(system(ErrorKind::InvalidInput));
    }
    let mut target = File::create(to)?;
    let count = std::io::copy(&mut source, &mut target)?;
    target.set_permissions(metadata.permissions())?;
    Ok(count)
}

/// As [`std::fs::create_dir`].
///
/// # Errors
/// As `std`; and when the path is on no crash disk, or its power is off.
pub fn create_dir<P: AsRef<Path>>(path: P) -> Result<()> {
    DirBuilder::new().create(path)
}

/// As [`std::fs::create_dir_all`].
///
/// # Errors
/// As [`create_dir`].
pub fn create_dir_all<P: AsRef<Path>>(path: P) -> Result<()> {
    DirBuilder::new().recursive(true).create(path)
}

/// As [`std::fs::exists`].
///
/// # Errors
/// When the path is on no crash disk, or its power is off.
pub fn exists<P: AsRef<Path>>(path: P) -> Result<bool> {
    match metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// As [`std::fs::hard_link`].
///
/// # Errors
/// As `std`; and when a path is on no crash disk, or its power is off.
pub fn hard_link<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> Result<()> {
    let (from, to) = (file_place(original.as_ref())?, place(link.as_ref())?);
    let machine = &from.machine;
    if !machine.is_same(&to.machine) {
        return Err(system(ErrorKind::CrossesDevices));
    }
    machine.call(|state| state.hard_link(machine.shadow(), &from.path, &to.path))
}

/// As [`std::fs::metadata`].
///
/// # Errors
/// As `std`; and when the path is on no crash disk, or its power is off.
pub fn metadata<P: AsRef<Path>>(path: P) -> Result<Metadata> {
    let place = file_place(path.as_ref())?;
    let stat = place.machine.call(|state| state.stat_path(&place.path))?;
    Ok(Metadata { stat })
}

/// As [`std::fs::symlink_metadata`]: there are no symbolic links.
///
/// # Errors
/// As [`metadata()`].
pub fn symlink_metadata<P: AsRef<Path>>(path: P) -> Result<Metadata> {
    metadata(path)
}

/// As [`std::fs::read`].
///
/// # Errors
/// As [`File::open`].
pub fn read<P: AsRef<Path>>(path: P) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// As [`std::fs::read_dir`].
///
/// # Errors
/// As `std`; and when the path is on no crash disk, or its power is off.
pub fn read_dir<P: AsRef<Path>>(path: P) -> Result<ReadDir> {
    let place = place(path.as_ref())?;
    let machine = place.machine;
    let paths = machine.call(|state| {
        let paths = state.list(&place.path)?;
        let with_types = paths.into_iter().map(|path| {
            let is_directory = state.is_directory(&path)?;
            Ok((path, FileType { is_directory }))
        });
        with_types.collect::<Result<Vec<_>>>()
    })?;
    let entry = |(entry_path, file_type): (String, FileType)| DirEntry {
        machine: machine.clone(),
        folder: path.as_ref().to_owned(),
        path: entry_path,
        file_type,
    };
    Ok(ReadDir {
        entries: paths.into_iter().map(entry).collect(),
    })
}

/// As [`std::fs::read_link`].
///
/// # Errors
/// Always: there are no symbolic links.
pub fn read_link<P: AsRef<Path>>(path: P) -> Result<PathBuf> {
    metadata(path)?;
    Err(system(ErrorKind::InvalidInput))
}

/// As [`std::fs::read_to_string`].
///
/// # Errors
/// As [`read`], and when it is no text.
pub fn read_to_string<P: AsRef<Path>>(path: P) -> Result<String> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

/// As [`std::fs::remove_dir`].
///
/// # Errors
/// As `std`; and when the path is on no crash disk, or its power is off.
pub fn remove_dir<P: AsRef<Path>>(path: P) -> Result<()> {
    let place = place(path.as_ref())?;
    let machine = &place.machine;
    machine.call(|state| state.remove_dir(machine.shadow(), &place.path))
}

/// As [`std::fs::remove_dir_all`].
///
/// # Errors
/// As [`remove_dir`].
pub fn remove_dir_all<P: AsRef<Path>>(path: P) -> Result<()> {
    for entry in read_dir(path.as_ref())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_dir_all(entry.path())?;
        } else {
            remove_file(entry.path())?;
        }
    }
    remove_dir(path)
}

/// As [`std::fs::remove_file`].
///
/// # Errors
/// As `std`; and when the path is on no crash disk, or its power is off.
pub fn remove_file<P: AsRef<Path>>(path: P) -> Result<()> {
    let place = file_place(path.as_ref())?;
    let machine = &place.machine;
    machine.call(|state| state.remove_file(machine.shadow(), &place.path))
}

/// As [`std::fs::rename`].
///
/// # Errors
/// As `std`; and when a path is on no crash disk, or its power is off.
pub fn rename<P: AsRef<Path>, Q: AsRef<Path>>(from: P, to: Q) -> Result<()> {
    let (from, to) = (file_place(from.as_ref())?, place(to.as_ref())?);
    let machine = &from.machine;
    if !machine.is_same(&to.machine) {
        return Err(system(ErrorKind::CrossesDevices));
    }
    machine.call(|state| state.rename(machine.shadow(), &from.path, &to.path))
}

/// As [`std::fs::set_permissions`]; they are in memory only.
///
/// # Errors
/// When there is no such file. Of a directory: unsupported.
pub fn set_permissions<P: AsRef<Path>>(path: P, permissions: Permissions) -> Result<()> {
    let place = file_place(path.as_ref())?;
    if place
        .machine
        .call(|state| state.is_directory(&place.path))?
    {
        return no_modes_of_directories();
    }
    place.machine.call(|state| {
        let file = state.file_of(&place.path)?;
        state.attributes_mut(file).mode = permissions.mode;
        Ok(())
    })
}

/// As [`std::fs::soft_link`].
///
/// # Errors
/// Always: there are no symbolic links.
pub fn soft_link<P: AsRef<Path>, Q: AsRef<Path>>(original: P, link: Q) -> Result<()> {
    let _ = (original.as_ref(), link.as_ref());
    unsupported("a symbolic link", "use a file, or a hard link")
}

/// As [`std::fs::write`].
///
/// # Errors
/// As [`File::create`].
pub fn write<P: AsRef<Path>, C: AsRef<[u8]>>(path: P, contents: C) -> Result<()> {
    File::create(path)?.write_all(contents.as_ref())
}
