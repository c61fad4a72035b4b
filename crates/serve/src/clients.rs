//! The part that all servers here share: accept clients up to a limit, run a thread for each,
//! disconnect them at the end and join all threads.

use crate::socket::{Address, Listener, Stream};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// Pause after a failed accept, which most likely means that descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// The connected clients, by number.
#[derive(Default)]
pub(crate) struct Clients {
    is_stopping: AtomicBool,
    streams: Mutex<BTreeMap<u64, Stream>>,
}

impl Clients {
    fn streams(&self) -> MutexGuard<'_, BTreeMap<u64, Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of connected clients.
    pub fn count(&self) -> usize {
        self.streams().len()
    }

    /// Whether the server is stopping.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }
}

/// A listening socket and its clients, served until it is stopped or dropped.
pub(crate) struct Listening {
    clients: Arc<Clients>,
    address: Address,
    accepting: Option<JoinHandle<()>>,
}

impl Listening {
    /// Listens at `address` and runs `serve` for each client, with its number, in a thread named
    /// after `name`. Disconnects clients beyond `clients_max` at once.
    ///
    /// # Errors
    /// When the address cannot be bound, or no thread can be started.
    pub fn start<F>(
        address: &Address,
        name: &'static str,
        clients_max: usize,
        serve: F,
    ) -> io::Result<Listening>
    where
        F: Fn(&Clients, Stream, u64) + Send + Sync + 'static,
    {
        let listener = Listener::bind(address)?;
        let address = listener.address()?;
        let clients = Arc::new(Clients::default());
        let accepting = {
            let clients = clients.clone();
            let serve = Arc::new(serve);
            Builder::new()
                .name(name.to_string())
                .spawn(move || accept(&clients, &listener, name, clients_max, &serve))?
        };
        Ok(Listening {
            clients,
            address,
            accepting: Some(accepting),
        })
    }

    /// The address at which it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Number of connected clients.
    pub fn client_count(&self) -> usize {
        self.clients.count()
    }

    /// Disconnects all clients and waits for their threads.
    pub fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.clients.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = Stream::connect(&self.address);
        let _ = accepting.join();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept<F>(
    clients: &Arc<Clients>,
    listener: &Listener,
    name: &str,
    clients_max: usize,
    serve: &Arc<F>,
) where
    F: Fn(&Clients, Stream, u64) + Send + Sync + 'static,
{
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let mut number = 0;
    while !clients.is_stopping() {
        let Ok(stream) = listener.accept() else {
            std::thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        threads.retain(|thread| !thread.is_finished());
        if clients.count() >= clients_max {
            continue;
        }
        let Ok(handle) = stream.try_clone() else {
            continue;
        };
        number += 1;
        clients.streams().insert(number, handle);
        let thread = {
            let (clients, serve) = (clients.clone(), serve.clone());
            let run = move || {
                serve(&clients, stream, number);
                clients.streams().remove(&number);
            };
            Builder::new().name(format!("{name} {number}")).spawn(run)
        };
        match thread {
            Ok(thread) => threads.push(thread),
            Err(_) => drop(clients.streams().remove(&number)),
        }
    }
    clients.streams().values().for_each(Stream::hang_up);
    for thread in threads {
        let _ = thread.join();
    }
}
