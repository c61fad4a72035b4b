//! The host side of a drive.

use crate::image::{Image, ImageError, Reader, Writer};
use crate::units::Nanos;

/// The host side.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostConfig {
    /// Maximum number of commands in progress; further ones are queued.
    pub queue_depth: u32,
    /// Payload bytes per second of the link.
    pub link_bytes_per_second: u64,
    /// Bytes of writes per second that the firmware lets in, over a millisecond and more, whatever
    /// the media could take; 0 = as many as come.
    pub write_bytes_per_second: u64,
    /// Whether reads and writes use the link at the same time (PCIe) or share it (SATA).
    pub full_duplex: bool,
    /// Controller time that each command other than a write occupies; bounds the command rate.
    pub command_overhead: Nanos,
    /// The same of each write.
    pub write_overhead: Nanos,
    /// Controller time for each slot that the drive moves (reclaim, folding, refresh,
    /// levelling): the firmware's read, change of the map and program; 0 = the controller is
    /// never busy with it.
    pub moved_slot: Nanos,
    /// Latency that each command adds without occupying anything (host stack, firmware
    /// pipeline).
    pub latency: Nanos,
    /// What each write adds to that.
    pub write_latency: Nanos,
    /// Slots that are kept read ahead behind reads in order; 0 = none.
    pub read_ahead: u32,
}

/// Bit beside `full_duplex` where it is saved: the firmware's limit of writes follows.
const HAS_WRITE_LIMIT: u8 = 0x80;
/// Another: the latency of writes follows.
const HAS_WRITE_LATENCY: u8 = 0x40;

impl Image for HostConfig {
    /// The limit of writes and their latency are saved last and where they are not 0: directories
    /// of drives made before they were there are read as they are.
    fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
        let limit = self.write_bytes_per_second;
        let write_latency = self.write_latency;
        let mut flag = if limit > 0 { HAS_WRITE_LIMIT } else { 0 };
        if write_latency > Nanos::ZERO {
            flag |= HAS_WRITE_LATENCY;
        }
        (self.queue_depth, self.link_bytes_per_second).save(out)?;
        (u8::from(self.full_duplex) | flag).save(out)?;
        (self.command_overhead, self.write_overhead).save(out)?;
        (self.moved_slot, self.latency).save(out)?;
        self.read_ahead.save(out)?;
        if limit > 0 {
            limit.save(out)?;
        }
        match write_latency {
            Nanos::ZERO => Ok(()),
            time => time.save(out),
        }
    }

    fn load(from: &mut Reader<'_>) -> Result<HostConfig, ImageError> {
        let (queue_depth, link_bytes_per_second) = Image::load(from)?;
        let full_duplex = u8::load(from)?;
        let (command_overhead, write_overhead) = Image::load(from)?;
        let (moved_slot, latency) = Image::load(from)?;
        Ok(HostConfig {
            queue_depth,
            link_bytes_per_second,
            full_duplex: full_duplex & 1 == 1,
            command_overhead,
            write_overhead,
            moved_slot,
            latency,
            read_ahead: Image::load(from)?,
            write_bytes_per_second: match full_duplex & HAS_WRITE_LIMIT {
                0 => 0,
                _ => Image::load(from)?,
            },
            write_latency: match full_duplex & HAS_WRITE_LATENCY {
                0 => Nanos::ZERO,
                _ => Image::load(from)?,
            },
        })
    }
}

impl std::fmt::Debug for HostConfig {
    /// As derived; a limit and a latency of writes of 0 are left out: kept references are found by
    /// a hash of this text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = f.debug_struct("HostConfig");
        text.field("queue_depth", &self.queue_depth)
            .field("link_bytes_per_second", &self.link_bytes_per_second);
        if self.write_bytes_per_second > 0 {
            text.field("write_bytes_per_second", &self.write_bytes_per_second);
        }
        text.field("full_duplex", &self.full_duplex)
            .field("command_overhead", &self.command_overhead)
            .field("write_overhead", &self.write_overhead)
            .field("moved_slot", &self.moved_slot)
            .field("latency", &self.latency);
        if self.write_latency > Nanos::ZERO {
            text.field("write_latency", &self.write_latency);
        }
        text.field("read_ahead", &self.read_ahead).finish()
    }
}

impl Default for HostConfig {
    /// A SATA link at 550 MB/s with 32 commands, and a controller that takes no time.
    fn default() -> HostConfig {
        HostConfig {
            queue_depth: 32,
            link_bytes_per_second: 550_000_000,
            write_bytes_per_second: 0,
            full_duplex: false,
            command_overhead: Nanos::ZERO,
            write_overhead: Nanos::ZERO,
            moved_slot: Nanos::ZERO,
            latency: Nanos::ZERO,
            write_latency: Nanos::ZERO,
            read_ahead: 0,
        }
    }
}
