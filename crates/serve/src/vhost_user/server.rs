//! Accepts one hypervisor after another.

use super::backend::{Backend, VhostDisk};
use super::vring::SharedGuestMemory;
use crate::lint::Lint;
use crate::sectors::SharedDrive;
use crate::socket::{Address, Listener, has_client};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;
use vhost_user_backend::{ShutdownHandle, VhostUserDaemon};
use vm_memory::GuestMemoryMmap;

/// How often the thread that accepts looks whether it is to stop.
const STOP_CHECK: Duration = Duration::from_millis(100);

struct VhostServerState {
    disk: Arc<VhostDisk>,
    is_stopping: AtomicBool,
    connected: Mutex<Option<VhostConnection>>,
}

/// What ends a connection.
struct VhostConnection(Arc<Backend>, ShutdownHandle);

impl VhostConnection {
    fn end(&self) {
        self.0.finish();
        self.1.shutdown();
    }
}

impl VhostServerState {
    fn connected(&self) -> MutexGuard<'_, Option<VhostConnection>> {
        self.connected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// A vhost-user-blk device that is there until it is stopped or dropped. One hypervisor is
/// connected at a time; the next waits until it has gone.
pub struct VhostUserServer {
    shared: Arc<VhostServerState>,
    path: PathBuf,
    thread: Option<JoinHandle<()>>,
}

impl VhostUserServer {
    /// Offers `drive` at the unix socket `path`; notes of each connection go to `lint`. The guest
    /// sees `id`, up to 20 bytes, as the serial number.
    ///
    /// # Errors
    /// When the server cannot listen there.
    pub fn start(
        drive: Arc<SharedDrive>,
        lint: Arc<Lint>,
        path: &Path,
        id: &str,
    ) -> io::Result<VhostUserServer> {
        let listener = Listener::bind(&Address::Unix(path.to_owned()))?;
        let disk = Arc::new(VhostDisk {
            drive,
            lint,
            id: id.to_owned(),
            writeback: AtomicBool::new(true),
            is_writeback_known: AtomicBool::new(false),
        });
        let shared = Arc::new(VhostServerState {
            disk,
            is_stopping: AtomicBool::new(false),
            connected: Mutex::new(None),
        });
        let to_thread = shared.clone();
        let thread = Builder::new()
            .name("vhost-user".to_owned())
            .spawn(move || accept(&to_thread, &listener))?;
        Ok(VhostUserServer {
            shared,
            path: path.to_owned(),
            thread: Some(thread),
        })
    }

    /// The socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Disconnects the hypervisor and waits for the threads.
    pub fn stop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        self.hang_up();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }

    /// Disconnects the hypervisor. One with `reconnect` comes again, and asks again for what was
    /// not answered.
    pub fn hang_up(&self) {
        if let Some(connected) = &*self.shared.connected() {
            connected.end();
        }
    }
}

impl Drop for VhostUserServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept(shared: &VhostServerState, listener: &Listener) {
    let mut number = 0;
    while !shared.is_stopping.load(Ordering::SeqCst) {
        if !has_client(listener, STOP_CHECK) {
            continue;
        }
        number += 1;
        if serve(shared, listener, number).is_err() {
            // Most likely descriptors have run out: what waits can wait a little.
            std::thread::sleep(STOP_CHECK);
        }
    }
}

/// Serves the hypervisor that waits at `listener` until it disconnects.
fn serve(shared: &VhostServerState, listener: &Listener, number: u64) -> io::Result<()> {
    let memory = SharedGuestMemory::new(GuestMemoryMmap::new());
    let name = format!("vhost-user {number}");
    let backend = Arc::new(Backend::new(shared.disk.clone(), memory.clone(), name));
    let daemon = VhostUserDaemon::new("vhost-user".to_owned(), backend.clone(), memory);
    let mut daemon = daemon.map_err(as_io)?;
    daemon
        .start(&mut listener.try_clone_unix()?.into())
        .map_err(as_io)?;
    let handle = daemon.shutdown_handle();
    *shared.connected() = handle.map(|handle| VhostConnection(backend.clone(), handle));
    if shared.is_stopping.load(Ordering::SeqCst) {
        backend.finish();
        daemon.request_shutdown();
    }
    // How it ends says nothing of the drive: a hypervisor closes its socket or is killed.
    let _ = daemon.wait();
    *shared.connected() = None;
    // Its threads end first, so that the notes are complete.
    drop(daemon);
    backend.end(true);
    Ok(())
}

fn as_io(error: vhost_user_backend::Error) -> io::Error {
    io::Error::other(error.to_string())
}
