//! Sockets and threads: one thread for each client.

use super::conversation::Conversation;
use super::handshake::Export;
use super::polled::Polled;
use super::wire::*;
use crate::clients::{Clients, Listening};
use crate::lint::Lint;
use crate::sectors::Sectors;
use crate::socket::{Address, Stream};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Send buffer of a socket in bytes, so that the next request runs while the client receives.
const SEND_BUFFER_BYTES: usize = 1 << 20;

/// How the drive is offered.
#[derive(Debug, Clone)]
pub struct NbdOptions {
    /// Name of the export; the empty name selects it too.
    pub name: String,
    /// Description, one line.
    pub description: String,
    /// Whether FUA is offered.
    pub fua: bool,
    /// Maximum number of clients at once; further ones are disconnected.
    pub clients_max: usize,
    /// Longest silence of a client during the handshake.
    pub handshake_timeout: Duration,
}

impl Default for NbdOptions {
    fn default() -> Self {
        Self {
            name: "drive".to_string(),
            description: "a modelled SSD".to_string(),
            fua: true,
            clients_max: 32,
            handshake_timeout: Duration::from_secs(30),
        }
    }
}

impl NbdOptions {
    /// The properties of `drive` that the handshake sends.
    pub fn export(&self, drive: &Sectors) -> Export {
        let mut flags = HAS_FLAGS | SEND_FLUSH | SEND_TRIM | SEND_WRITE_ZEROES;
        flags |= CAN_MULTI_CONN | SEND_CACHE | SEND_FAST_ZERO;
        if drive.is_read_only() {
            flags |= READ_ONLY;
        }
        if self.fua {
            flags |= SEND_FUA;
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

struct Shared {
    drive: Arc<Sectors>,
    lint: Arc<Lint>,
    options: NbdOptions,
}

/// An NBD server that runs until it is stopped or dropped.
pub struct NbdServer {
    listening: Listening,
}

impl NbdServer {
    /// Serves `drive` at `address`; notes of each client go to `lint`.
    ///
    /// # Errors
    /// When the server cannot listen at the address.
    pub fn start(
        drive: Arc<Sectors>,
        lint: Arc<Lint>,
        address: &Address,
        options: NbdOptions,
    ) -> io::Result<Self> {
        let most = options.clients_max;
        let shared = Shared {
            drive,
            lint,
            options,
        };
        let client = move |_: &Clients, stream: Stream, number| {
            let _ = serve(&shared, stream, number);
        };
        let listening = Listening::start(address, "nbd", most, client)?;
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

fn serve(shared: &Shared, mut stream: Stream, number: u64) -> io::Result<()> {
    // A smaller buffer is slower and just as correct.
    let _ = stream.set_send_buffer(SEND_BUFFER_BYTES);
    stream.set_read_timeout(Some(shared.options.handshake_timeout))?;
    let export = shared.options.export(&shared.drive);
    let mut conversation = Conversation::new(&shared.drive, &shared.lint, export);
    let Some(session) = conversation.shake_hands(&mut stream)? else {
        return Ok(());
    };
    stream.set_read_timeout(None)?;
    let name = format!("nbd {number}");
    conversation.transmit(session, name, &mut Polled::new(&mut stream))
}
