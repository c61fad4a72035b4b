//! A network block device server: fixed newstyle handshake, structured replies.
//!
//! [`wire`] has the numbers of the protocol, `handshake` and `reply` turn bytes into bytes,
//! `execute` runs one request on the drive, `conversation` runs handshake and requests over any
//! byte stream, `overlapped` requests side by side, `tls` encrypts such a stream, and `server` owns
//! sockets and threads. Source: the NBD project's `doc/proto.md`. Left out: resize, and oldstyle
//! negotiation.

mod budget;
mod conversation;
mod direct;
mod execute;
mod handshake;
mod head;
mod input;
mod overlapped;
mod polled;
mod reply;
mod server;
#[cfg(feature = "tls")]
mod tls;
pub mod wire;

pub use budget::PayloadBudget;
pub use conversation::{Conversation, HandshakeResult};
pub use execute::Executor;
pub use handshake::{Encryption, Export, Handshake, HandshakeStep, NbdSession};
pub use reply::{Reply, ReplyForm};
pub use server::{NbdOptions, NbdServer};
#[cfg(feature = "tls")]
pub use tls::{Tls, TlsError};
