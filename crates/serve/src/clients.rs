//! What every server here does with its clients: accept them, a thread each, up to a limit; know
//! them, so as to hang up on them; and end with all threads joined.

use crate::socket::{Address, Listener, Stream};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// How long accepting pauses when it fails: out of descriptors, most likely.
const PAUSE: Duration = Duration::from_millis(20);

/// Clients at this moment, by number.
#[derive(Default)]
pub(crate) struct Clients {
    is_stopping: AtomicBool,
    streams: Mutex<BTreeMap<u64, Stream>>,
}

impl Clients {
    fn streams(&self) -> MutexGuard<'_, BTreeMap<u64, Stream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.streams().len()
    }

    /// Whether the server is about to end.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::SeqCst)
    }
}

/// A socket that is listened to until it is stopped or dropped.
pub(crate) struct Listening {
    clients: Arc<Clients>,
    address: Address,
    accepting: Option<JoinHandle<()>>,
}

impl Listening {
    /// Listens at `address`. `serve` gets each client with its number, in a thread called after
    /// `name`; more than `most` at once are hung up on.
    ///
    /// # Errors
    /// When the address cannot be bound, or no thread be had.
    pub fn start<F>(
        address: &Address,
        name: &'static str,
        most: usize,
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
                .spawn(move || accept(&clients, &listener, name, most, &serve))?
        };
        Ok(Listening {
            clients,
            address,
            accepting: Some(accepting),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Clients at this moment.
    pub fn client_count(&self) -> usize {
        self.clients.count()
    }

    /// Hangs up on all clients and waits for their threads.
    pub fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.clients.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for clients.
        let _ = Stream::connect(&self.address);
        let _ = accepting.join();
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept<F>(clients: &Arc<Clients>, listener: &Listener, name: &str, most: usize, serve: &Arc<F>)
where
    F: Fn(&Clients, Stream, u64) + Send + Sync + 'static,
{
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let mut number = 0;
    while !clients.is_stopping() {
        let Ok(stream) = listener.accept() else {
            std::thread::sleep(PAUSE);
            continue;
        };
        threads.retain(|thread| !thread.is_finished());
        if clients.count() >= most {
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
