//! A queue of a guest, which is notified when the hypervisor has said how.
//!
//! The guest of a server that was killed may wait for an answer that is in its memory already: the
//! server had not come to the notification. If it asks nothing else of this queue, no later
//! notification wakes it. One too many does no harm.

use std::fs::File;
use std::io;
use vhost_user_backend::{VringRwLock, VringStateGuard, VringStateMutGuard, VringT};
use virtio_queue::Error;
use vm_memory::{GuestMemoryAtomic, GuestMemoryMmap};

/// The guest's memory.
pub type SharedGuestMemory = GuestMemoryAtomic<GuestMemoryMmap>;

/// See the header of this module. Everything but `set_call` is that of [`VringRwLock`].
#[derive(Clone)]
pub struct NotifyingVring(VringRwLock);

impl<'a> VringStateGuard<'a, SharedGuestMemory> for NotifyingVring {
    type G = <VringRwLock as VringStateGuard<'a, SharedGuestMemory>>::G;
}

impl<'a> VringStateMutGuard<'a, SharedGuestMemory> for NotifyingVring {
    type G = <VringRwLock as VringStateMutGuard<'a, SharedGuestMemory>>::G;
}

impl VringT<SharedGuestMemory> for NotifyingVring {
    fn new(memory: SharedGuestMemory, size_max: u16) -> Result<Self, Error> {
        VringRwLock::new(memory, size_max).map(NotifyingVring)
    }

    fn set_call(&self, file: Option<File>) {
        self.0.set_call(file);
        // A hypervisor that hands over nonsense has a guest that is not notified.
        let _ = self.0.signal_used_queue();
    }

    fn get_ref(&self) -> <Self as VringStateGuard<'_, SharedGuestMemory>>::G {
        self.0.get_ref()
    }

    fn get_mut(&self) -> <Self as VringStateMutGuard<'_, SharedGuestMemory>>::G {
        self.0.get_mut()
    }

    fn add_used(&self, head: u16, written: u32) -> Result<(), Error> {
        self.0.add_used(head, written)
    }

    fn signal_used_queue(&self) -> io::Result<()> {
        self.0.signal_used_queue()
    }

    fn enable_notification(&self) -> Result<bool, Error> {
        self.0.enable_notification()
    }

    fn disable_notification(&self) -> Result<(), Error> {
        self.0.disable_notification()
    }

    fn needs_notification(&self) -> Result<bool, Error> {
        self.0.needs_notification()
    }

    fn set_enabled(&self, enabled: bool) {
        self.0.set_enabled(enabled);
    }

    fn set_queue_info(&self, descriptors: u64, available: u64, used: u64) -> Result<(), Error> {
        self.0.set_queue_info(descriptors, available, used)
    }

    fn queue_next_avail(&self) -> u16 {
        self.0.queue_next_avail()
    }

    fn set_queue_next_avail(&self, base: u16) {
        self.0.set_queue_next_avail(base);
    }

    fn set_queue_next_used(&self, at: u16) {
        self.0.set_queue_next_used(at);
    }

    fn queue_used_idx(&self) -> Result<u16, Error> {
        self.0.queue_used_idx()
    }

    fn set_queue_size(&self, size: u16) {
        self.0.set_queue_size(size);
    }

    fn set_queue_event_idx(&self, enabled: bool) {
        self.0.set_queue_event_idx(enabled);
    }

    fn set_queue_ready(&self, ready: bool) {
        self.0.set_queue_ready(ready);
    }

    fn set_kick(&self, file: Option<File>) {
        self.0.set_kick(file);
    }

    fn read_kick(&self) -> io::Result<bool> {
        self.0.read_kick()
    }

    fn set_err(&self, file: Option<File>) {
        self.0.set_err(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::OwnedFd;

    /// The issue behind it: the server was killed between an answer and its notification, and the
    /// guest waited for ever.
    #[test]
    fn the_guest_is_notified_at_each_descriptor_that_is_handed_over() {
        let vring = NotifyingVring::new(SharedGuestMemory::new(GuestMemoryMmap::new()), 16)
            .expect("a queue");
        for _ in 0..2 {
            let (mut seen, call) = io::pipe().expect("a pipe");
            vring.set_call(Some(File::from(OwnedFd::from(call))));
            vring.set_call(None);
            let mut notifications = Vec::new();
            seen.read_to_end(&mut notifications).expect("read");
            assert_eq!(notifications.len(), 8, "one of 8 bytes");
        }
    }
}
