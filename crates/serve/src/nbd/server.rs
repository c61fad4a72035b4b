//! Sockets and threads: one thread for each client.

use super::budget::PayloadBudget;
use super::conversation::{Conversation, HandshakeResult};
use super::handshake::{Encryption, Export};
use super::polled::PollingStream;
#[cfg(feature = "tls")]
use super::tls::Tls;
use super::wire::*;
use crate::clients::{ClientLimits, ClientListener, ConnectedClient};
use crate::lint::Lint;
use crate::log::ServerLog;
use crate::sectors::SharedDrive;
use crate::socket::Address;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Send buffer of a socket in bytes, so that the next request runs while the client receives.
const SEND_BUFFER_BYTES: usize = 1 << 20;
/// Silence of a client after which the memory of its buffers is given back.
const SILENCE: Duration = Duration::from_secs(30);

/// How the drive is offered.
#[derive(Debug, Clone)]
pub struct NbdOptions {
    /// Name of the export; the empty name selects it too.
    pub name: String,
    /// Description, one line.
    pub description: String,
    /// Whether FUA is offered.
    pub fua: bool,
    /// Maximum number of clients at once; further ones are refused. An eighth of them is for peers
    /// (users of a unix socket, hosts over TCP) that have few.
    pub clients_max: usize,
    /// Maximum number of clients in the handshake; the oldest is disconnected for a further one.
    pub handshakes_max: usize,
    /// Maximum time of a handshake.
    pub handshake_timeout: Duration,
    /// Encryption; `None` offers none.
    #[cfg(feature = "tls")]
    pub tls: Option<Tls>,
    /// Receives what was done to clients that were turned away.
    pub log: ServerLog,
}

impl Default for NbdOptions {
    fn default() -> Self {
        Self {
            name: "drive".to_string(),
            description: "a modelled SSD".to_string(),
            fua: true,
            clients_max: 2048,
            handshakes_max: 512,
            handshake_timeout: Duration::from_secs(30),
            #[cfg(feature = "tls")]
            tls: None,
            log: ServerLog::default(),
        }
    }
}

impl NbdOptions {
    /// The properties of `drive` that the handshake sends.
    pub fn export(&self, drive: &SharedDrive) -> Export {
        let mut flags = HAS_FLAGS | SEND_FLUSH | CAN_MULTI_CONN | SEND_CACHE;
        if drive.is_read_only() {
            flags |= READ_ONLY;
        } else {
            flags |= SEND_TRIM | SEND_WRITE_ZEROES | SEND_FAST_ZERO;
            flags |= if self.fua { SEND_FUA } else { 0 };
        }
        Export {
            name: self.name.clone(),
            description: self.description.clone(),
            size: drive.size(),
            flags,
            block_min: 512,
            block_preferred: drive.sector_size().clamp(4096, 32 << 20) as u32,
        }
    }
}

impl NbdOptions {
    fn encryption(&self) -> Encryption {
        #[cfg(feature = "tls")]
        if let Some(tls) = &self.tls {
            return tls.encryption();
        }
        Encryption::Off
    }

    fn limits(&self) -> ClientLimits {
        ClientLimits {
            clients: self.clients_max,
            reserve: self.clients_max / 8,
            waiting: self.handshakes_max,
            begin_within: Some(self.handshake_timeout),
        }
    }
}

struct NbdServerState {
    drive: Arc<SharedDrive>,
    lint: Arc<Lint>,
    budget: PayloadBudget,
    options: NbdOptions,
}

/// An NBD server that runs until it is stopped or dropped.
pub struct NbdServer {
    listening: ClientListener,
}

impl NbdServer {
    /// Serves `drive` at `address`; notes of each client go to `lint`.
    ///
    /// # Errors
    /// When the server cannot listen at the address.
    pub fn start(
        drive: Arc<SharedDrive>,
        lint: Arc<Lint>,
        address: &Address,
        options: NbdOptions,
    ) -> io::Result<Self> {
        let (limits, log) = (options.limits(), options.log.clone());
        let shared = NbdServerState {
            drive,
            lint,
            budget: PayloadBudget::default(),
            options,
        };
        let client = move |guest: ConnectedClient| {
            let _ = serve(&shared, &guest);
        };
        let listening = ClientListener::start(address, "nbd", limits, log, client)?;
        Ok(Self { listening })
    }

    /// The address at which the server listens.
    pub fn address(&self) -> &Address {
        self.listening.address()
    }

    /// Number of connected clients.
    pub fn client_count(&self) -> usize {
        self.listening.client_count()
    }

    /// Disconnects all clients and waits for their threads.
    pub fn stop(&mut self) {
        self.listening.stop();
    }
}

fn serve(shared: &NbdServerState, guest: &ConnectedClient) -> io::Result<()> {
    let mut stream = guest.stream();
    // A smaller buffer is slower and just as correct.
    let _ = stream.set_send_buffer(SEND_BUFFER_BYTES);
    let options = &shared.options;
    let export = options.export(&shared.drive);
    let (drive, lint, budget) = (&shared.drive, &shared.lint, &shared.budget);
    let mut conversation = Conversation::new(drive, lint, budget, export, options.encryption());
    match conversation.shake_hands(&mut stream, || guest.admit())? {
        HandshakeResult::Transmit(session) => {
            let name = begin(guest)?;
            let conversation = conversation.over(stream);
            conversation.transmit(session, name, &mut PollingStream::new(stream))
        }
        #[cfg(feature = "tls")]
        HandshakeResult::Encrypt => match &options.tls {
            Some(tls) => encrypted(tls, guest, conversation),
            None => Ok(()),
        },
        _ => Ok(()),
    }
}

/// The handshake is complete; returns the name of the session.
fn begin(guest: &ConnectedClient) -> io::Result<String> {
    guest.stream().set_read_timeout(Some(SILENCE))?;
    guest.begin();
    Ok(format!("nbd {}", guest.number()))
}

/// Continues a conversation inside TLS.
#[cfg(feature = "tls")]
fn encrypted(
    tls: &Tls,
    guest: &ConnectedClient,
    mut conversation: Conversation<'_>,
) -> io::Result<()> {
    let accepted = tls.accept(PollingStream::new(guest.stream()));
    let mut stream = accepted.inspect_err(|error| {
        guest.note(crate::log::ServerEvent::Unencrypted(&error.to_string()));
    })?;
    if let HandshakeResult::Transmit(session) =
        conversation.shake_hands(&mut stream, || guest.admit())?
    {
        conversation.transmit(session, begin(guest)?, &mut stream)?;
    }
    stream.close();
    Ok(())
}
