//! A virtio disk for virtual machines: the device side of vhost-user-blk.
//!
//! The hypervisor connects to a unix socket and hands over the guest's memory and queues; requests
//! then come from the guest itself. [`server`] accepts one hypervisor after another, [`backend`]
//! takes requests from queues, each a [`vring`], [`request`] runs them on the drive, [`device`] is
//! what is announced.
//!
//! Requests of one queue are carried out in order, so a guest finds after a reconnection that what
//! was not answered is asked again, and nothing twice that was. A drive without power answers with
//! an I/O error; the connection stays.
//!
//! Left out: migration, and discards that are secure erases.

mod backend;
mod device;
mod request;
mod server;
mod vring;

pub use server::VhostUserServer;
