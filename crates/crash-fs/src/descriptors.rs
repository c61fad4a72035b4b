//! Descriptors of crash files.
//!
//! The descriptor of a crash file is a number that the kernel never gives: its own calls refuse it
//! with `EBADF`.

use crate::std::fs::{File, OpenDescription};
use std::collections::BTreeMap;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The first descriptor: above any limit that a kernel has.
const FIRST: RawFd = 1 << 30;

/// Who closes an open file.
enum Owner {
    /// A [`File`]; its descriptor was asked for.
    File(Weak<OpenDescription>),
    /// Whoever has the number.
    Number(Arc<OpenDescription>),
}

impl Owner {
    fn description(&self) -> Option<Arc<OpenDescription>> {
        match self {
            Owner::File(description) => description.upgrade(),
            Owner::Number(description) => Some(Arc::clone(description)),
        }
    }

    fn is_gone(&self) -> bool {
        matches!(self, Owner::File(description) if description.strong_count() == 0)
    }
}

/// Open files by descriptor.
static OWNERS: Mutex<BTreeMap<RawFd, Owner>> = Mutex::new(BTreeMap::new());

fn owners() -> MutexGuard<'static, BTreeMap<RawFd, Owner>> {
    OWNERS.lock().unwrap_or_else(|error| error.into_inner())
}

/// The open file of a descriptor.
pub(crate) fn file_of(descriptor: RawFd) -> Option<File> {
    let description = owners().get(&descriptor)?.description()?;
    Some(File::from(description))
}

/// Closes a descriptor; false if nothing is open under it.
#[cfg(feature = "io-uring")]
pub(crate) fn close(descriptor: RawFd) -> bool {
    // Not inside of the lock: the last holder of a file closes it.
    let owner = owners().remove(&descriptor);
    owner.is_some_and(|owner| !owner.is_gone())
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        static COUNT: AtomicI32 = AtomicI32::new(FIRST);
        let description = self.description();
        *description.descriptor.get_or_init(|| {
            let descriptor = COUNT.fetch_add(1, Ordering::Relaxed);
            let mut owners = owners();
            owners.retain(|_, owner| !owner.is_gone());
            owners.insert(descriptor, Owner::File(Arc::downgrade(description)));
            descriptor
        })
    }
}

impl IntoRawFd for File {
    fn into_raw_fd(self) -> RawFd {
        let descriptor = self.as_raw_fd();
        let owner = Owner::Number(Arc::clone(self.description()));
        let file_owner = owners().insert(descriptor, owner);
        drop(file_owner);
        descriptor
    }
}

impl FromRawFd for File {
    /// # Panics
    /// When it is no descriptor of a crash file.
    #[allow(unsafe_code)]
    unsafe fn from_raw_fd(descriptor: RawFd) -> File {
        let file = file_of(descriptor);
        let file = file.unwrap_or_else(|| panic!("{descriptor} is no descriptor of a crash file"));
        let owner = Owner::File(Arc::downgrade(file.description()));
        let number_owner = owners().insert(descriptor, owner);
        drop(number_owner);
        file
    }
}
