//! A fork of a drive with one of its costs taken away: what makes it slow is what makes it fast
//! when it is gone.

use super::engine::Engine;
use super::{ByLayer, Drive};
use crate::ftl::Translation;
use crate::nand::{NandRelief, Purpose};
use crate::units::Nanos;

/// A cost that is taken away or reduced. One that the drive does not have changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relief {
    /// The write buffer survives power cuts: flushes and FUA wait for nothing.
    ProtectedBuffer,
    /// The host switches the write cache on.
    WriteCacheOn,
    /// Minimum of bytes per second of the link, and no limit of the firmware on writes.
    Link(u64),
    /// A command occupies the controller for so long at most.
    Overhead(Nanos),
    /// A slot that the drive moves occupies the controller for so long at most.
    MovedSlot(Nanos),
    /// A command waits for so long at most without occupying anything.
    Latency(Nanos),
    /// A minimum of commands in progress.
    QueueDepth(u32),
    /// The whole map is in DRAM, and changes of it are not written out.
    MapInDram,
    /// The pSLC cache is never full, and folding costs nothing.
    EndlessSlc,
    /// Heat does not slow the drive down.
    Heat,
    /// A cost of the array.
    Nand(NandRelief),
}

impl Drive {
    /// Takes a cost away from all later commands. The state stays as it is, so this is for forks
    /// that are thrown away: a drive that was relieved is not one that could be built.
    pub fn relieve(&mut self, relief: Relief) {
        each_mut!(self, engine => engine.relieve(relief));
    }
}

impl<F: Translation> Engine<F> {
    fn relieve(&mut self, relief: Relief) {
        let host = &mut self.config.host;
        match relief {
            Relief::ProtectedBuffer => self.config.buffer.protected = true,
            Relief::WriteCacheOn => self.config.buffer.write_cache = true,
            Relief::Link(rate) => {
                let rate = rate.max(host.link_bytes_per_second);
                self.set_link(rate);
                self.limit = None;
            }
            Relief::Overhead(most) => {
                host.command_overhead = host.command_overhead.min(most);
                host.write_overhead = host.write_overhead.min(most);
            }
            Relief::Latency(most) => {
                host.latency = host.latency.min(most);
                let most_of_writes = Nanos(most.0 - host.latency.0);
                host.write_latency = host.write_latency.min(most_of_writes);
            }
            Relief::QueueDepth(least) => host.queue_depth = host.queue_depth.max(least),
            Relief::MapInDram => {
                self.ftl.hold_whole_map();
                self.relieve_nand(NandRelief::Work(Purpose::Map, 0));
            }
            Relief::EndlessSlc => {
                let slc = &self.config.ftl.slc;
                if slc.static_superblocks() > 0 || slc.dynamic_above_free > 0 {
                    self.relieve_nand(NandRelief::SlcSpeed);
                    self.relieve_nand(NandRelief::Work(Purpose::Fold, 0));
                }
            }
            Relief::MovedSlot(most) => host.moved_slot = host.moved_slot.min(most),
            Relief::Heat => {
                if let Some(thermal) = &mut self.thermal {
                    thermal.relieve();
                }
                self.throttle();
            }
            Relief::Nand(relief) => self.relieve_nand(relief),
        }
    }

    fn relieve_nand(&mut self, relief: NandRelief) {
        self.ftl.nand_mut().relieve(relief);
    }
}
