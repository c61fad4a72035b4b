//! The part that all servers here share: accept clients up to a limit, run a thread for each,
//! disconnect them at the end and join all threads.
//!
//! A client waits until it *begins*: with NBD when its handshake is complete, at the power switch
//! with its first request. One that does not begin in time is disconnected, and where too many
//! wait, the newest replaces the oldest, so that new clients are heard. A client that has
//! begun keeps its place for as long as it likes. See `docs/decisions/032`.

use crate::log::{ServerEvent, ServerLog};
use crate::socket::{Address, Listener, Peer, SocketStream, descriptor_limit, wait_readable};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Pause after a failed accept, which most likely means that descriptors have run out.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// Clients that one peer may have in the places reserved for peers with few.
const FEW: usize = 8;
/// Descriptors that clients leave to the drive's files.
const DESCRIPTORS_LEFT: u64 = 64;
/// Stack of a client's thread in bytes: less than a huge page, of which it would get a whole one.
const STACK_BYTES: usize = 1 << 20;

/// How many clients a listening socket takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientLimits {
    /// Maximum number of clients that have begun.
    pub clients: usize,
    /// Places among these that are kept from a peer with [`FEW`] clients and more.
    pub reserve: usize,
    /// Maximum number of clients that have not begun.
    pub waiting: usize,
    /// Time that a client has to begin.
    pub begin_within: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientStage {
    /// It has not begun.
    Waiting,
    /// It has a place, and has yet to receive the answer that says so.
    Admitted,
    /// It has begun.
    Begun,
    /// It was disconnected; its thread is about to end.
    Leaving,
}

struct ClientEntry {
    stream: Arc<SocketStream>,
    peer: Peer,
    since: Instant,
    stage: ClientStage,
}

/// The connected clients, by number: the lowest is the oldest.
pub(crate) struct Clients {
    is_stopping: AtomicBool,
    connected: Mutex<BTreeMap<u64, ClientEntry>>,
    limits: ClientLimits,
    descriptors: u64,
    address: Address,
    log: ServerLog,
}

impl Clients {
    fn note(&self, event: ServerEvent<'_>) {
        self.log.note(&self.address, event);
    }

    fn connected(&self) -> MutexGuard<'_, BTreeMap<u64, ClientEntry>> {
        self.connected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Disconnects clients whose time to begin is over; returns the time until the next is due.
    fn hang_up_late(&self) -> Option<Duration> {
        let within = self.limits.begin_within?;
        let (mut next, mut late) = (None, 0);
        for client in self.connected().values_mut() {
            if !matches!(client.stage, ClientStage::Waiting | ClientStage::Admitted) {
                continue;
            }
            let remaining = within.saturating_sub(client.since.elapsed());
            if !remaining.is_zero() {
                next = Some(next.map_or(remaining, |next: Duration| next.min(remaining)));
                continue;
            }
            client.stage = ClientStage::Leaving;
            client.stream.hang_up();
            late += 1;
        }
        (0..late).for_each(|_| self.note(ServerEvent::Late(within)));
        next
    }

    /// Disconnects the oldest client that waits, when more than `keep` do.
    fn hang_up_oldest(&self, keep: usize) {
        if self.hung_up_oldest(keep) {
            self.note(ServerEvent::Displaced(self.limits.waiting));
        }
    }

    fn hung_up_oldest(&self, keep: usize) -> bool {
        let mut connected = self.connected();
        let is_waiting = |client: &&mut ClientEntry| client.stage == ClientStage::Waiting;
        if connected.values_mut().filter(is_waiting).count() <= keep {
            return false;
        }
        let Some(oldest) = connected.values_mut().find(is_waiting) else {
            return false;
        };
        oldest.stage = ClientStage::Leaving;
        oldest.stream.hang_up();
        true
    }

    /// Gives a waiting client a place.
    fn admit(&self, number: u64) -> Result<(), String> {
        let mut connected = self.connected();
        let has_place = |client: &&ClientEntry| {
            matches!(client.stage, ClientStage::Admitted | ClientStage::Begun)
        };
        let Some(me) = connected.get(&number) else {
            return Err("the connection has ended".to_string());
        };
        if me.stage != ClientStage::Waiting {
            return Ok(());
        }
        let (peer, descriptor) = (me.peer, me.stream.as_raw_fd());
        let placed = connected.values().filter(has_place);
        let placed_count = placed.clone().count();
        let own = placed.filter(|client| client.peer == peer).count();
        let ClientLimits {
            clients, reserve, ..
        } = self.limits;
        if placed_count >= clients {
            return Err(format!("all {clients} connections are in use"));
        }
        if own >= FEW && placed_count >= clients - reserve {
            return Err(format!(
                "{own} connections are {peer}'s, and the last {reserve} of {clients} are for others"
            ));
        }
        if descriptor as u64 >= self.descriptors.saturating_sub(DESCRIPTORS_LEFT) {
            let limit = self.descriptors;
            return Err(format!("all {limit} file descriptors are in use"));
        }
        if let Some(me) = connected.get_mut(&number) {
            me.stage = ClientStage::Admitted;
        }
        Ok(())
    }
}

/// One connected client, as its thread sees it. Dropping it disconnects the client and gives back
/// its place.
pub(crate) struct ConnectedClient {
    clients: Arc<Clients>,
    stream: Arc<SocketStream>,
    number: u64,
}

impl ConnectedClient {
    /// Its connection.
    pub fn stream(&self) -> &SocketStream {
        &self.stream
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes a place for a client that is about to begin.
    ///
    /// # Errors
    /// When all places are taken, with the reason in words.
    pub fn admit(&self) -> Result<(), String> {
        let admitted = self.clients.admit(self.number);
        admitted.inspect_err(|why| self.note(ServerEvent::Refused(why)))
    }

    /// The client has begun: it may stay.
    pub fn begin(&self) {
        if let Some(me) = self.clients.connected().get_mut(&self.number)
            && me.stage == ClientStage::Admitted
        {
            me.stage = ClientStage::Begun;
        }
    }

    /// Whether the server is stopping.
    pub fn is_stopping(&self) -> bool {
        self.clients.is_stopping.load(Ordering::SeqCst)
    }

    /// Writes to the server's log.
    pub fn note(&self, event: ServerEvent<'_>) {
        self.clients.note(event);
    }
}

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.clients.connected().remove(&self.number);
        self.stream.hang_up();
    }
}

/// A listening socket and its clients, served until it is stopped or dropped.
pub(crate) struct ClientListener {
    clients: Arc<Clients>,
    /// The accepting thread, and the end of a socket pair that wakes it.
    accepting: Option<(JoinHandle<()>, UnixStream)>,
}

impl ClientListener {
    /// Listens at `address` and runs `serve` for each client in a thread named after `name`.
    ///
    /// # Errors
    /// When the address cannot be bound, or no thread can be started.
    pub fn start<F>(
        address: &Address,
        name: &'static str,
        limits: ClientLimits,
        log: ServerLog,
        serve: F,
    ) -> io::Result<ClientListener>
    where
        F: Fn(ConnectedClient) + Send + Sync + 'static,
    {
        let listener = Listener::bind(address)?;
        let clients = Arc::new(Clients {
            is_stopping: AtomicBool::new(false),
            connected: Mutex::default(),
            limits,
            descriptors: descriptor_limit(),
            address: listener.address()?,
            log,
        });
        let (wake, woken) = UnixStream::pair()?;
        let accepting = {
            let clients = clients.clone();
            let serve = Arc::new(serve);
            let run = move || accept_all(&clients, &listener, &woken, name, &serve);
            Builder::new().name(name.to_string()).spawn(run)?
        };
        Ok(ClientListener {
            clients,
            accepting: Some((accepting, wake)),
        })
    }

    /// The address at which it listens.
    pub fn address(&self) -> &Address {
        &self.clients.address
    }

    /// Number of connected clients.
    pub fn client_count(&self) -> usize {
        self.clients.connected().len()
    }

    /// Disconnects all clients and waits for their threads.
    pub fn stop(&mut self) {
        let Some((accepting, wake)) = self.accepting.take() else {
            return;
        };
        self.clients.is_stopping.store(true, Ordering::SeqCst);
        drop(wake);
        let _ = accepting.join();
    }
}

impl Drop for ClientListener {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept_all<F>(
    clients: &Arc<Clients>,
    listener: &Listener,
    woken: &UnixStream,
    name: &str,
    serve: &Arc<F>,
) where
    F: Fn(ConnectedClient) + Send + Sync + 'static,
{
    let mut threads: Vec<JoinHandle<()>> = Vec::new();
    let mut number = 0;
    loop {
        let next = clients.hang_up_late();
        wait_readable(&[listener.as_fd(), woken.as_fd()], next);
        if clients.is_stopping.load(Ordering::SeqCst) {
            break;
        }
        let stream = match listener.accept() {
            Ok(Some(stream)) => Arc::new(stream),
            Ok(None) => continue,
            Err(_) => {
                clients.hang_up_oldest(0);
                std::thread::sleep(ACCEPT_PAUSE);
                continue;
            }
        };
        threads.retain(|thread| !thread.is_finished());
        number += 1;
        let client = ClientEntry {
            peer: stream.peer(),
            stream: stream.clone(),
            since: Instant::now(),
            stage: ClientStage::Waiting,
        };
        clients.connected().insert(number, client);
        clients.hang_up_oldest(clients.limits.waiting);
        let guest = ConnectedClient {
            clients: clients.clone(),
            stream,
            number,
        };
        let serve = serve.clone();
        let thread = Builder::new()
            .name(format!("{name} {number}"))
            .stack_size(STACK_BYTES)
            .spawn(move || serve(guest));
        match thread {
            Ok(thread) => threads.push(thread),
            Err(error) => clients.note(ServerEvent::Refused(&error.to_string())),
        }
    }
    for client in clients.connected().values() {
        client.stream.hang_up();
    }
    for thread in threads {
        let _ = thread.join();
    }
}
