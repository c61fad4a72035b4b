//! Conformance of hypervisors: does what a guest was promised reach the drive?
//!
//! A guest writes a block by every route that Linux and the device's own command set offer, and
//! asks for durability in the route's way. When the answer says that the block is durable, the host
//! looks into the drive behind the hypervisor: a block that is still in the drive's volatile cache,
//! or has not arrived, is a broken promise.
//!
//! ```text
//! guest   the program in the guest: Linux's first process, nothing else runs
//! host    boots it, answers it over the serial console, judges
//! drive   a drive with a volatile cache that knows where each block is
//! ```
//! [`route`] is what both sides know. The drive is [`ssdlab_serve::MemoryStore`]: strict, since
//! nothing becomes durable there by luck.

pub mod guest;
pub mod host;
pub mod route;
pub mod schemas;
