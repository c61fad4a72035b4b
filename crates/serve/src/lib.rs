#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod busy_poll;
mod clients;
pub mod control;
#[cfg(feature = "fuse")]
pub mod fuse;
mod landing;
mod lint;
mod log;
mod memory;
pub mod nbd;
mod power;
mod sectors;
mod socket;
mod store;
#[cfg(feature = "vhost-user")]
pub mod vhost_user;

pub use landing::Landing;
pub use lint::{Coverage, Lint, SessionNotes};
pub use log::Log;
pub use memory::MemoryStore;
pub use power::{
    CutAt, CutNote, CutTrigger, FlushSide, FoundNote, Power, PowerError, PowerStatus, StepNote,
};
pub use sectors::Sectors;
pub use socket::{Address, Stream, raise_descriptor_limit};
pub use store::{Durability, Extent, Piece, Store, StoreError, ZeroFlags};
