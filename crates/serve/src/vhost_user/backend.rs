//! Takes requests from the queues of a guest, one thread for each queue.

use super::device::{
    CONFIG_BYTES, F_CONFIG_WCE, QUEUE_SIZE, QUEUES, WRITEBACK_AT, config, features, is_writethrough,
};
use super::request::{VirtioBlkDisk, VirtioStatus};
use super::vring::{NotifyingVring, SharedGuestMemory};
use crate::lint::{Lint, SessionNotes};
use crate::sectors::SharedDrive;
use std::io::{self, Write};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use vhost::vhost_user::message::VhostUserProtocolFeatures;
use vhost_user_backend::{VhostUserBackend, VringT};
use virtio_queue::{DescriptorChain, QueueOwnedT, Writer};
use vm_memory::{GuestAddressSpace, GuestMemoryLoadGuard, GuestMemoryMmap};
use vmm_sys_util::epoll::EventSet;
use vmm_sys_util::event::{
    EventConsumer, EventFlag, EventNotifier, new_event_consumer_and_notifier,
};

type GuestChain = DescriptorChain<GuestMemoryLoadGuard<GuestMemoryMmap>>;

/// Requests carried out before their answers are published together.
const BATCH_REQUESTS: usize = 64;

/// What outlasts connections.
pub struct VhostDisk {
    /// The shared drive.
    pub drive: Arc<SharedDrive>,
    /// Where notes of ended connections are kept.
    pub lint: Arc<Lint>,
    /// Serial number that the guest sees.
    pub id: String,
    /// Whether the write cache is on. A hypervisor that comes again takes it for what it was.
    pub writeback: AtomicBool,
    /// Whether a hypervisor has read or written that state here. One that has not is going on with
    /// a guest of an earlier server, and that guest may have turned the cache off there.
    pub is_writeback_known: AtomicBool,
}

/// The device of one connection.
pub struct Backend {
    served: Arc<VhostDisk>,
    notes: Mutex<SessionNotes>,
    memory: SharedGuestMemory,
    accepted: AtomicU64,
    event_idx: AtomicBool,
    turns: BatchGate,
    /// Events that end the queues' threads. Their loop registers each and never closes it
    /// (vhost-user-backend 0.24, `VringEpollHandler::new`): 16 descriptors a session.
    exit_events: Mutex<Vec<OwnedFd>>,
}

/// Batches of requests under way. A hypervisor asks again for what has no answer once the
/// connection ends, or a queue is stopped; an answer after that would be a second one.
#[derive(Default)]
struct BatchGate(RwLock<bool>);

impl BatchGate {
    /// A batch is taken and answered while this is held; `None`: no more.
    fn begin(&self) -> Option<RwLockReadGuard<'_, bool>> {
        let turn = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (!*turn).then_some(turn)
    }

    /// Waits for batches under way.
    fn wait(&self) {
        drop(self.0.write());
    }

    /// The same, and none is begun after that.
    fn end(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

/// The descriptor of `consumer`, and another consumer of it, which must not be closed.
#[allow(unsafe_code)]
fn lend(consumer: EventConsumer) -> (OwnedFd, EventConsumer) {
    let descriptor = consumer.into_raw_fd();
    // SAFETY: the descriptor is open and nothing else's. The loop that gets the second owner turns
    // it into a number without closing it, and has ended when the first owner is dropped.
    unsafe {
        (
            OwnedFd::from_raw_fd(descriptor),
            EventConsumer::from_raw_fd(descriptor),
        )
    }
}

/// A request that was carried out and not answered yet.
struct UnansweredRequest {
    head: u16,
    written: u32,
    status: VirtioStatus,
    /// Where the status goes; nowhere in a malformed request.
    answer: Option<GuestChain>,
}

impl Backend {
    /// The device of a new connection named `name`.
    pub fn new(served: Arc<VhostDisk>, memory: SharedGuestMemory, name: String) -> Backend {
        Backend {
            served,
            notes: Mutex::new(SessionNotes::new(name, false)),
            memory,
            accepted: AtomicU64::new(0),
            event_idx: AtomicBool::new(false),
            turns: BatchGate::default(),
            exit_events: Mutex::default(),
        }
    }

    /// Answers what was taken, and takes nothing more.
    pub fn finish(&self) {
        self.turns.end();
    }

    /// Ends the session and keeps its notes.
    pub fn end(&self, said_goodbye: bool) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.said_goodbye = said_goodbye;
        let notes = std::mem::take(&mut *notes);
        self.served.lint.keep(notes);
    }

    fn is_writeback(&self) -> bool {
        self.served.writeback.load(Ordering::SeqCst)
    }

    fn disk(&self) -> VirtioBlkDisk<'_> {
        let accepted = self.accepted.load(Ordering::SeqCst);
        let is_known = self.served.is_writeback_known.load(Ordering::SeqCst);
        VirtioBlkDisk {
            drive: &self.served.drive,
            notes: &self.notes,
            lint: &self.served.lint,
            writethrough: is_writethrough(accepted, is_known && self.is_writeback()),
            id: &self.served.id,
        }
    }

    /// Carries out what is in a queue. False: nothing more is taken from it.
    fn serve_queue(&self, vring: &NotifyingVring) -> io::Result<bool> {
        loop {
            let Some(_turn) = self.turns.begin() else {
                return Ok(false);
            };
            let chains = self.take(vring)?;
            if chains.is_empty() {
                return Ok(true);
            }
            let disk = self.disk();
            let mut unanswered: Vec<UnansweredRequest> =
                chains.into_iter().map(|c| run(&disk, c)).collect();
            if self.served.drive.settle().is_err() {
                // Nothing of it may be acknowledged: what one read may be what another wrote.
                disk.lost(unanswered.len() as u64);
                for request in &mut unanswered {
                    (request.written, request.status) = (0, VirtioStatus::Error);
                }
            }
            self.answer(vring, unanswered)?;
        }
    }

    fn take(&self, vring: &NotifyingVring) -> io::Result<Vec<GuestChain>> {
        let memory = self.memory.memory();
        let mut state = vring.get_mut();
        let chains = state.get_queue_mut().iter(memory);
        let chains = chains.map_err(io::Error::other)?;
        Ok(chains.take(BATCH_REQUESTS).collect())
    }

    fn answer(&self, vring: &NotifyingVring, done: Vec<UnansweredRequest>) -> io::Result<()> {
        for request in done {
            let mut written = request.written;
            if let Some(chain) = request.answer {
                written += put_status(chain, request.status)?;
            }
            let added = vring.add_used(request.head, written);
            added.map_err(io::Error::other)?;
        }
        // A guest whose memory cannot be read gets one notification too many.
        if vring.needs_notification().unwrap_or(true) {
            vring.signal_used_queue()?;
        }
        Ok(())
    }

    /// Serves a queue until it is empty, and then has the guest notify again.
    fn drain(&self, vring: &NotifyingVring) -> io::Result<()> {
        if !self.event_idx.load(Ordering::SeqCst) {
            return self.serve_queue(vring).map(|_| ());
        }
        loop {
            vring.disable_notification().map_err(io::Error::other)?;
            let is_open = self.serve_queue(vring)?;
            // What came before notifications were on again is taken now.
            if !vring.enable_notification().map_err(io::Error::other)? || !is_open {
                return Ok(());
            }
        }
    }
}

/// Carries out one request.
fn run(disk: &VirtioBlkDisk<'_>, chain: GuestChain) -> UnansweredRequest {
    let head = chain.head_index();
    let memory = chain.memory().clone();
    let parts = chain.clone().reader(&memory);
    let parts = parts.and_then(|reader| Ok((reader, chain.clone().writer(&memory)?)));
    let (written, status, has_answer) = match parts {
        Ok((mut reader, mut writer)) if writer.available_bytes() > 0 => {
            let (from, into) = (reader.available_bytes(), writer.available_bytes() - 1);
            if from < 16 {
                (0, VirtioStatus::Error, true)
            } else {
                let (written, status) =
                    disk.run(&mut reader, from as u64, &mut writer, into as u64);
                (written, status, true)
            }
        }
        _ => (0, VirtioStatus::Error, false),
    };
    UnansweredRequest {
        head,
        written,
        status,
        answer: has_answer.then_some(chain),
    }
}

/// Writes the status of a request, the last byte that the device may write.
fn put_status(chain: GuestChain, status: VirtioStatus) -> io::Result<u32> {
    let memory = chain.memory().clone();
    let mut writer: Writer<'_> = chain.writer(&memory).map_err(io::Error::other)?;
    let last = writer.available_bytes() - 1;
    let mut status_writer = writer.split_at(last).map_err(io::Error::other)?;
    status_writer.write_all(&[status as u8])?;
    Ok(1)
}

impl VhostUserBackend for Backend {
    type Bitmap = ();
    type Vring = NotifyingVring;

    fn num_queues(&self) -> usize {
        QUEUES
    }

    fn max_queue_size(&self) -> usize {
        QUEUE_SIZE
    }

    fn features(&self) -> u64 {
        features(&self.served.drive)
    }

    fn acked_features(&self, features: u64) {
        self.accepted.store(features, Ordering::SeqCst);
    }

    fn protocol_features(&self) -> VhostUserProtocolFeatures {
        VhostUserProtocolFeatures::CONFIG
            | VhostUserProtocolFeatures::MQ
            | VhostUserProtocolFeatures::REPLY_ACK
            | VhostUserProtocolFeatures::CONFIGURE_MEM_SLOTS
    }

    fn set_event_idx(&self, enabled: bool) {
        self.event_idx.store(enabled, Ordering::SeqCst);
    }

    fn get_config(&self, offset: u32, size: u32) -> Vec<u8> {
        self.served.is_writeback_known.store(true, Ordering::SeqCst);
        let config = config(&self.served.drive, self.is_writeback());
        let bytes = config.iter().copied().chain(std::iter::repeat(0));
        bytes.skip(offset as usize).take(size as usize).collect()
    }

    fn set_config(&self, offset: u32, bytes: &[u8]) -> io::Result<()> {
        // A hypervisor may write the whole configuration back to change this one byte.
        let writeback_index = WRITEBACK_AT.checked_sub(offset).map(|at| at as usize);
        let is_inside = offset as usize + bytes.len() <= CONFIG_BYTES;
        let Some(value) = writeback_index
            .and_then(|at| bytes.get(at))
            .filter(|_| is_inside)
        else {
            let problem = "only the state of the write cache can be changed";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        };
        let accepted = self.accepted.load(Ordering::SeqCst);
        if *value == 0 && accepted != 0 && accepted & F_CONFIG_WCE == 0 {
            let problem = "the guest has not accepted CONFIG_WCE";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        self.served.writeback.store(*value != 0, Ordering::SeqCst);
        self.served.is_writeback_known.store(true, Ordering::SeqCst);
        if *value == 0 {
            // What was acknowledged into the cache is the guest's to rely on from here.
            self.served.drive.flush().map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn update_memory(&self, _: SharedGuestMemory) -> io::Result<()> {
        // It is the memory that this device was made with.
        Ok(())
    }

    fn stop_vring(&self, _: u32) -> io::Result<()> {
        self.turns.wait();
        Ok(())
    }

    fn queues_per_thread(&self) -> Vec<u64> {
        (0..QUEUES).map(|queue| 1 << queue).collect()
    }

    fn exit_event(&self, _: usize) -> Option<(EventConsumer, EventNotifier)> {
        // Without one, threads would outlive their connection.
        let (consumer, notifier) = new_event_consumer_and_notifier(EventFlag::NONBLOCK).ok()?;
        let (kept, lent) = lend(consumer);
        let mut exit_events = self
            .exit_events
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        exit_events.push(kept);
        Some((lent, notifier))
    }

    fn handle_event(
        &self,
        event: u16,
        _: EventSet,
        vrings: &[NotifyingVring],
        _: usize,
    ) -> io::Result<()> {
        if let Some(vring) = vrings.get(usize::from(event)) {
            // An error here would end the queue's thread: a guest that hands over nonsense gets no
            // answer, and may do better with its next request.
            let _ = self.drain(vring);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryStore;
    use crate::vhost_user::device::F_FLUSH;

    /// A server that ended while a queue's thread was in the middle of a request answered it
    /// after the hypervisor had counted the answers; the next server answered it again, and the
    /// guest gave its disk up.
    #[test]
    fn what_is_under_way_ends_before_the_connection_and_nothing_follows() {
        let turns = BatchGate::default();
        let is_answered = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let turn = turns.begin();
            let ending = scope.spawn(|| {
                turns.end();
                assert!(
                    is_answered.load(Ordering::SeqCst),
                    "the connection ended first"
                );
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            is_answered.store(true, Ordering::SeqCst);
            drop(turn);
            ending.join().expect("in order");
        });
        assert!(turns.begin().is_none());
    }

    fn backend() -> Backend {
        let served = VhostDisk {
            drive: Arc::new(SharedDrive::new(Arc::new(MemoryStore::new(1 << 20, 4096)))),
            lint: Arc::new(Lint::default()),
            id: "id".to_owned(),
            writeback: AtomicBool::new(true),
            is_writeback_known: AtomicBool::new(false),
        };
        let memory = SharedGuestMemory::new(GuestMemoryMmap::new());
        let backend = Backend::new(Arc::new(served), memory, "guest".to_owned());
        backend.acked_features(F_FLUSH | F_CONFIG_WCE);
        backend
    }

    /// A guest had turned the write cache off, so its kernel sent no flushes. After a restart of
    /// the server, writes were acknowledged into the volatile cache: QEMU does not say again that
    /// it is off.
    #[test]
    fn a_guest_of_an_earlier_server_may_have_turned_the_cache_off() {
        let resumed = backend();
        assert!(resumed.disk().writethrough);
        resumed.set_config(WRITEBACK_AT, &[1]).expect("a cache");
        assert!(!resumed.disk().writethrough, "the guest has turned it on");
        let new = backend();
        new.get_config(0, CONFIG_BYTES as u32);
        assert!(
            !new.disk().writethrough,
            "a new guest has seen that it is on"
        );
    }
}
