//! Front ends of a drive that holds data: an NBD server, a file under FUSE, a disk for virtual
//! machines, a power switch, and a lint for clients that do not flush what they rely on.
//!
//! The drive is anything that implements [`Store`]; every front end works on one shared
//! [`SharedDrive`], so that a flush on one connection covers a write on another. [`MemoryStore`] is
//! the smallest such drive: sparse, in memory, with a volatile cache whose content is lost when the
//! power is cut.
//!
//! ```
//! use ssdlab_serve::{MemoryStore, Sectors, Store};
//! use std::sync::Arc;
//!
//! let drive = Arc::new(MemoryStore::new(1 << 20, 4096));
//! let shared = Sectors::new(drive.clone());
//! shared.write(512, &[7; 512], false).unwrap();
//! drive.cut();
//! drive.restore();
//! let mut sector = [1; 512];
//! shared.read(512, &mut sector).unwrap();
//! assert_eq!(sector, [0; 512], "acknowledged, never flushed, lost");
//! ```
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
