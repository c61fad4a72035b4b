//! A network block device server: fixed newstyle handshake, structured replies.
//!
//! [`wire`] has the numbers of the protocol, `handshake` and `reply` turn bytes into bytes,
//! `execute` runs one request on the drive, `conversation` runs handshake and requests over any
//! byte stream, and `server` owns sockets and threads. Source: the NBD project's `doc/proto.md`.
//! Left out: TLS, extended headers, resize, and oldstyle negotiation.

mod conversation;
mod execute;
mod handshake;
mod input;
mod polled;
mod reply;
mod server;
pub mod wire;

pub use conversation::Conversation;
pub use execute::Executor;
pub use handshake::{Export, Handshake, Session, Step};
pub use server::{NbdOptions, NbdServer};
