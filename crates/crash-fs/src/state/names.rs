//! Calls on names.

use super::DiskState;
use crate::error::{from_crash, system};
use crate::shadow::Shadow;
use ssdlab_crash::FileId;
use std::io::{ErrorKind, Result};

impl DiskState {
    pub fn create_dir(&mut self, shadow: &Shadow, path: &str) -> Result<()> {
        self.free(path)?;
        self.change(
            || format!("creation of the directory `{path}`"),
            |files| files.mkdir(path),
        )?;
        shadow.make_dir(path)
    }

    pub fn remove_dir(&mut self, shadow: &Shadow, path: &str) -> Result<()> {
        if !self.is_directory(path)? {
            return Err(system(ErrorKind::NotADirectory));
        }
        if path.is_empty() {
            return Err(system(ErrorKind::PermissionDenied));
        }
        if !self.files.list(path).is_empty() {
            return Err(system(ErrorKind::DirectoryNotEmpty));
        }
        self.change(
            || format!("removal of the directory `{path}`"),
            |files| files.rmdir(path),
        )?;
        let open = self.directories.values_mut();
        for directory in open.filter(|open| open.as_deref() == Some(path)) {
            *directory = None;
        }
        shadow.remove_dir(path)
    }

    pub fn remove_file(&mut self, shadow: &Shadow, path: &str) -> Result<()> {
        let file = self.file_of(path)?;
        let bytes = self.last_bytes(file)?;
        self.change(
            || format!("removal of `{path}`"),
            |files| files.unlink(path),
        )?;
        self.abandon(file, bytes);
        shadow.remove(path)
    }

    /// The bytes of a file that is open, before it loses its last name.
    fn last_bytes(&mut self, file: FileId) -> Result<Option<Vec<u8>>> {
        if !self.open.contains_key(&file) || self.files.links(file) != 1 {
            return Ok(None);
        }
        let size = self.files.size(file).map_err(from_crash)?;
        let bytes = self.files.read_at(file, 0, size as usize);
        bytes.map(Some).map_err(from_crash)
    }

    fn abandon(&mut self, file: FileId, bytes: Option<Vec<u8>>) {
        if let Some(open) = self.open.get_mut(&file)
            && bytes.is_some()
        {
            open.orphan = bytes;
        }
    }

    pub fn rename(&mut self, shadow: &Shadow, from: &str, to: &str) -> Result<()> {
        let moves_directory = self.is_directory(from)?;
        let replaced = match self.is_directory(to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.above(to)?;
                None
            }
            Err(error) => return Err(error),
            Ok(is_directory) => Some(is_directory),
        };
        match (moves_directory, replaced) {
            (true, Some(false)) => return Err(system(ErrorKind::NotADirectory)),
            (false, Some(true)) => return Err(system(ErrorKind::IsADirectory)),
            (true, Some(true)) if from != to && !self.files.list(to).is_empty() => {
                return Err(system(ErrorKind::DirectoryNotEmpty));
            }
            _ => {}
        }
        let into_itself = to
            .strip_prefix(from)
            .is_some_and(|rest| rest.starts_with('/'));
        if moves_directory && into_itself || from.is_empty() {
            return Err(system(ErrorKind::InvalidInput));
        }
        let mut lost = None;
        if replaced == Some(false) && from != to {
            let (source, target) = (self.file_of(from)?, self.file_of(to)?);
            if source != target {
                lost = Some((target, self.last_bytes(target)?));
            }
        }
        self.change(
            || format!("rename of `{from}` to `{to}`"),
            |files| files.rename(from, to),
        )?;
        if let Some((target, bytes)) = lost {
            self.abandon(target, bytes);
        }
        if moves_directory {
            self.moved(from, to);
        }
        shadow.rename(from, to)
    }

    /// Open directories below a directory that was moved.
    fn moved(&mut self, from: &str, to: &str) {
        for open in self.directories.values_mut() {
            let Some(path) = open else { continue };
            let Some(rest) = path.strip_prefix(from) else {
                continue;
            };
            if rest.is_empty() || rest.starts_with('/') {
                *path = format!("{to}{rest}");
            }
        }
    }

    pub fn hard_link(&mut self, shadow: &Shadow, file: &str, name: &str) -> Result<()> {
        if self.is_directory(file)? {
            return Err(system(ErrorKind::PermissionDenied));
        }
        self.free(name)?;
        self.change(
            || format!("link of `{name}` to `{file}`"),
            |files| files.hard_link(file, name),
        )?;
        shadow.hard_link(file, name)
    }

    pub fn list(&self, path: &str) -> Result<Vec<String>> {
        if !self.is_directory(path)? {
            return Err(system(ErrorKind::NotADirectory));
        }
        Ok(self.files.list(path))
    }
}
