//! Which crash disk a path is on, and its path there.

use crate::CrashFs;
use crate::error::{CrashFsError, system};
use crate::machine::Machine;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The crash disks of this process, by root.
static ROOTS: Mutex<BTreeMap<PathBuf, Weak<Machine>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The disks that this thread is in; the last one counts.
    static ENTERED: RefCell<Vec<CrashFs>> = const { RefCell::new(Vec::new()) };
}

fn roots() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<Machine>>> {
    ROOTS.lock().unwrap_or_else(|error| error.into_inner())
}

pub(crate) fn register(machine: &Arc<Machine>) {
    roots().insert(machine.root().to_owned(), Arc::downgrade(machine));
}

pub(crate) fn forget(root: &Path) {
    roots().remove(root);
}

/// Inside it, paths that are below no crash disk's root are on this disk: absolute ones as in a
/// chroot(2), others from its root. See [`CrashFs::enter`].
#[derive(Debug)]
pub struct Entered {
    /// Not to be sent to another thread.
    _thread: std::marker::PhantomData<*const ()>,
}

impl Entered {
    pub(crate) fn new(machine: CrashFs) -> Entered {
        ENTERED.with_borrow_mut(|entered| entered.push(machine));
        Entered {
            _thread: std::marker::PhantomData,
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        ENTERED.with_borrow_mut(|entered| entered.pop());
    }
}

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
    let (machine, path) = machine_of(path)?;
    let path = names(&path)?;
    Ok(DiskPath {
        machine,
        path,
        is_directory,
    })
}

fn machine_of(path: &Path) -> Result<(CrashFs, PathBuf)> {
    {
        let roots = roots();
        for ancestor in path.ancestors() {
            let Some(machine) = roots.get(ancestor).and_then(Weak::upgrade) else {
                continue;
            };
            let inner = path.strip_prefix(ancestor).unwrap_or(path).to_owned();
            return Ok((CrashFs::of(machine), inner));
        }
    }
    match ENTERED.with_borrow(|entered| entered.last().cloned()) {
        Some(machine) => Ok((machine, path.to_owned())),
        None => Err(CrashFsError::Elsewhere(path.display().to_string()).into()),
    }
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
