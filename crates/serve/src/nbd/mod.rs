//! A network block device server: fixed newstyle handshake, structured replies.
//!
//! [`wire`] has the numbers of the protocol, [`handshake`] and [`reply`] are bytes in and bytes
//! out without any socket, [`execute`] runs one request on the drive, [`server`] owns sockets
//! and threads. Source: the NBD project's `doc/proto.md`. Left out: TLS, extended headers,
//! resize, and the old style without options.

mod eager;
pub mod execute;
pub mod handshake;
pub mod reply;
pub mod server;
pub mod wire;

pub use handshake::{Export, Handshake, Session, Step};
pub use server::{NbdOptions, NbdServer};
