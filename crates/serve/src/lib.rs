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

pub use landing::StoreLanding;
pub use lint::{Coverage, Lint, SessionNotes};
pub use log::ServerLog;
pub use memory::MemoryStore;
pub use power::{
    CutMoment, CutNote, CutTrigger, FlushSide, PowerControl, PowerError, PowerStatus,
    SectorDiffNote, StepNote,
};
pub use sectors::SharedDrive;
pub use socket::{Address, SocketStream, raise_descriptor_limit};
pub use store::{ReadPiece, SectorDurability, Store, StoreError, StoreExtent, ZeroFlags};
