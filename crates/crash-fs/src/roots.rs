//! The crash disks of this process: by root, and those that a thread is in.

use crate::hooks::Hooks;
use crate::shadow::Shadow;
use crate::state::DiskState;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

pub(crate) struct Machine {
    pub state: Mutex<DiskState>,
    pub shadow: Shadow,
    pub hooks: Hooks,
}

impl Machine {
    pub fn root(&self) -> &Path {
        self.shadow.root()
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Machine").field(&self.root()).finish()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        roots().remove(self.root());
    }
}

/// The crash disks of this process, by root.
static ROOTS: Mutex<BTreeMap<PathBuf, Weak<Machine>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The disks that this thread is in; the last one counts.
    static ENTERED: RefCell<Vec<Arc<Machine>>> = const { RefCell::new(Vec::new()) };
}

fn roots() -> MutexGuard<'static, BTreeMap<PathBuf, Weak<Machine>>> {
    ROOTS.lock().unwrap_or_else(|error| error.into_inner())
}

pub(crate) fn register(machine: &Arc<Machine>) {
    roots().insert(machine.root().to_owned(), Arc::downgrade(machine));
}

/// Inside it, paths that are below no crash disk's root are on this disk: absolute ones as in a
/// chroot(2), others from its root. See [`CrashFs::enter`](crate::CrashFs::enter).
#[derive(Debug)]
pub struct Entered {
    /// Not to be sent to another thread.
    _thread: std::marker::PhantomData<*const ()>,
}

impl Entered {
    pub(crate) fn new(machine: Arc<Machine>) -> Entered {
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

/// The disk of a path, and the path there; none if it is on no crash disk.
pub(crate) fn machine_of(path: &Path) -> Option<(Arc<Machine>, &Path)> {
    {
        let roots = roots();
        for ancestor in path.ancestors() {
            let Some(machine) = roots.get(ancestor).and_then(Weak::upgrade) else {
                continue;
            };
            return Some((machine, path.strip_prefix(ancestor).unwrap_or(path)));
        }
    }
    let machine = ENTERED.with_borrow(|entered| entered.last().cloned());
    machine.map(|machine| (machine, path))
}
