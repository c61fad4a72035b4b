//! Causes of slowness, in one place: their names, what each means, and what to do about it.
//!
//! `diagnose` names them of models and of real drives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_ssd::DriveConfig;
use ssdlab_ssd::config::MappingKind;
use ssdlab_ssd::units::Nanos;

/// Why a drive may be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The write buffer is volatile, and durable writes wait for the media.
    VolatileBuffer,
    /// The host has switched the write cache off, so every write waits for the media.
    WriteCacheOff,
    /// Reclaim moves much data for each page that the host writes.
    Reclaim,
    /// The pSLC cache is full.
    SlcFull,
    /// Parts of the map are not in DRAM.
    Map,
    /// The link is slow.
    Link,
    /// The controller takes long for each command.
    Controller,
    /// Something adds latency to each command.
    Latency,
    /// Few commands are in progress at a time.
    QueueDepth,
    /// Worn media: reads are retried, operations slow down, data is refreshed.
    Wear,
    /// Reads wait behind all programs of their die.
    ReadsInOrder,
    /// Pages take long to read or program.
    SlowCells,
    /// One die of each row holds parity.
    Parity,
    /// Few dies may program at once.
    Power,
    /// It is too warm, and slows down.
    Throttling,
    /// The host lets time pass before it issues its next command.
    HostPauses,
    /// The host flushes twice for what one flush makes durable.
    DoubledFlushes,
}

impl Cause {
    /// All of them.
    pub const ALL: [Cause; 17] = [
        Cause::VolatileBuffer,
        Cause::WriteCacheOff,
        Cause::Reclaim,
        Cause::SlcFull,
        Cause::Map,
        Cause::Link,
        Cause::Controller,
        Cause::Latency,
        Cause::QueueDepth,
        Cause::Wear,
        Cause::ReadsInOrder,
        Cause::SlowCells,
        Cause::Parity,
        Cause::Power,
        Cause::Throttling,
        Cause::HostPauses,
        Cause::DoubledFlushes,
    ];

    /// Whether the host is the cause, not the drive.
    pub fn is_of_host(self) -> bool {
        matches!(self, Cause::HostPauses | Cause::DoubledFlushes)
    }

    /// Whether a setting of the host takes it away: it is named before costs of the drive, which it
    /// may hide behind.
    pub fn is_setting(self) -> bool {
        self == Cause::WriteCacheOff
    }

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Cause::VolatileBuffer => "volatile buffer",
            Cause::WriteCacheOff => "write cache off",
            Cause::Reclaim => "reclaim",
            Cause::SlcFull => "pSLC cache full",
            Cause::Map => "map not in DRAM",
            Cause::Link => "link",
            Cause::Controller => "controller",
            Cause::Latency => "latency",
            Cause::QueueDepth => "queue depth",
            Cause::Wear => "wear",
            Cause::ReadsInOrder => "reads in order",
            Cause::SlowCells => "cells",
            Cause::Parity => "parity",
            Cause::Power => "power",
            Cause::Throttling => "throttling",
            Cause::HostPauses => "pauses of the host",
            Cause::DoubledFlushes => "doubled flushes",
        }
    }

    /// Why a drive is slow by it, as the rest of a sentence about any drive.
    pub fn reason(self) -> &'static str {
        match self {
            Cause::VolatileBuffer => {
                "a durable write waits for the media: its write buffer is volatile, or not trusted"
            }
            Cause::WriteCacheOff => {
                "even a plain write waits for the media: its write cache is switched off"
            }
            Cause::Reclaim => {
                "the drive moves much data for each page written: it has little spare area"
            }
            Cause::SlcFull => "its pSLC cache is full",
            Cause::Map => "its map is not in DRAM",
            Cause::Link => "its link is slow",
            Cause::Controller => {
                "each command takes long: the controller, the driver or a virtual machine's way \
                 to it"
            }
            Cause::Latency => "something adds latency to each command",
            Cause::QueueDepth => "few commands are in progress at a time",
            Cause::Wear => {
                "reads of the media take long and programs do not: worn media, with retries"
            }
            Cause::ReadsInOrder => "reads wait behind every program of their die",
            Cause::SlowCells => "its cells are slow to read and to program",
            Cause::Parity => "parity takes one die of each row",
            Cause::Power => "few dies may program at once",
            Cause::Throttling => "it is too warm and slows down",
            Cause::HostPauses => "the host waits before it issues its next command",
            Cause::DoubledFlushes => "the host flushes twice for what one flush makes durable",
        }
    }

    /// What to do about it.
    pub fn remedy(self) -> Remedy {
        let kind = match self {
            Cause::Reclaim => RemedyKind::AddSpare,
            Cause::WriteCacheOff
            | Cause::Link
            | Cause::Latency
            | Cause::QueueDepth
            | Cause::Power
            | Cause::Throttling
            | Cause::HostPauses
            | Cause::DoubledFlushes => RemedyKind::ChangeSetting,
            _ => RemedyKind::AnotherDrive,
        };
        Remedy {
            kind,
            sentence: self.what_to_do().to_owned(),
        }
    }

    fn what_to_do(self) -> &'static str {
        match self {
            Cause::VolatileBuffer => {
                "take a drive with power-loss protection for durable writes; no setting makes a \
                 volatile buffer safe"
            }
            Cause::WriteCacheOff => {
                "switch the write cache on (`hdparm -W1 /dev/sdX`, `nvme set-feature -f 6 -V 1 \
                 /dev/nvmeX`); the host's flushes keep data safe"
            }
            Cause::Reclaim => {
                "leave 20 % of the drive unused: discard all of it (`blkdiscard`, which erases \
                 it), then make a smaller partition; on a file system, delete files and run \
                 `fstrim`"
            }
            Cause::SlcFull => {
                "write less at a time and let it rest, and it is fast again; for writes that go \
                 on, take a drive without such a cache, or with a faster one behind it"
            }
            Cause::Map => {
                "work on less of the drive at a time, or take a drive with DRAM for its whole \
                 map (1 GB for each TB)"
            }
            Cause::Link => {
                "look at the speed that was negotiated (`smartctl -i`, `lspci -vv`: LnkSta), \
                 then at the cable, slot and port"
            }
            Cause::Controller => {
                "take a drive with a faster controller; of a virtual disk, try another driver \
                 first"
            }
            Cause::Latency => {
                "look at what is between host and drive: power saving of link and drive, an \
                 expander, a network or a virtual machine"
            }
            Cause::QueueDepth => {
                "raise the queue depth (`/sys/block/X/device/queue_depth`; AHCI, not IDE mode, \
                 in the firmware)"
            }
            Cause::Wear => {
                "copy the data off and replace the drive; `ssdlab inspect` gives its wear"
            }
            Cause::ReadsInOrder => {
                "take a drive that lets reads overtake writes, or write less beside reads"
            }
            Cause::SlowCells => "take a drive with faster cells: fewer bits per cell",
            Cause::Parity => "take a drive with more dies",
            Cause::Power => {
                "choose a power state that allows more (`nvme get-feature -f 2`), or a drive \
                 with more power"
            }
            Cause::Throttling => {
                "cool it: give it airflow or a heat sink; `ssdlab inspect` gives its temperature"
            }
            Cause::HostPauses => {
                "look at the program that issues the commands: the drive waits for it"
            }
            Cause::DoubledFlushes => {
                "let the host flush once for each commit (FUA without a flush before it)"
            }
        }
    }

    /// Whether it can develop while the drive is in use: by its state, its place or a setting. The
    /// others are the same from the first day on.
    pub fn can_develop(self) -> bool {
        matches!(
            self,
            Cause::WriteCacheOff
                | Cause::Reclaim
                | Cause::SlcFull
                | Cause::Map
                | Cause::Link
                | Cause::Latency
                | Cause::QueueDepth
                | Cause::Wear
                | Cause::Throttling
                | Cause::Power
        )
    }

    /// As a sentence about a drive of this configuration.
    pub fn sentence(self, config: &DriveConfig) -> String {
        let host = &config.host;
        match self {
            Cause::VolatileBuffer => {
                "its write buffer is volatile, so durable writes wait for the media".into()
            }
            Cause::WriteCacheOff => {
                "its write cache is switched off, so every write waits for the media".into()
            }
            Cause::Reclaim => format!(
                "reclaim moves much data for each page written (effective spare {:.0} %)",
                100.0 * config.effective_op()
            ),
            Cause::SlcFull => "its pSLC cache is full".into(),
            Cause::Map if config.ftl.mapping.kind == MappingKind::Tree => {
                "its map is fragmented and no longer fits into DRAM".into()
            }
            Cause::Map => "its map does not fit into DRAM".into(),
            Cause::Link if host.write_bytes_per_second > 0 => format!(
                "its firmware lets in {} MB/s of writes",
                host.write_bytes_per_second / 1_000_000
            ),
            Cause::Link => format!(
                "its link carries only {} MB/s",
                host.link_bytes_per_second / 1_000_000
            ),
            Cause::Controller => format!(
                "its controller needs {} for each command",
                host.command_overhead.max(host.write_overhead)
            ),
            Cause::Latency if host.write_latency > Nanos::ZERO => format!(
                "each write waits {} on its way, every other command {}",
                host.latency + host.write_latency,
                host.latency
            ),
            Cause::Latency => format!("each command waits {} on its way", host.latency),
            Cause::QueueDepth => format!(
                "it takes {} at a time",
                match host.queue_depth {
                    1 => "one command".to_owned(),
                    depth => format!("{depth} commands"),
                }
            ),
            Cause::Wear => "its media is worn: reads are retried and data is refreshed".into(),
            Cause::ReadsInOrder => "reads wait behind every program of their die".into(),
            Cause::SlowCells => "its cells are slow to read or program".into(),
            Cause::Parity => "parity takes one die of each row".into(),
            Cause::Power => format!(
                "only {} of its dies may program at once",
                config.nand.programs_at_once
            ),
            Cause::Throttling => throttling(config),
            Cause::HostPauses => "the host waits before it issues its next command".into(),
            Cause::DoubledFlushes => {
                "the host flushes twice for what one flush makes durable".into()
            }
        }
    }
}

fn throttling(config: &DriveConfig) -> String {
    let Some(heat) = &config.heat else {
        return "it is too warm and slows down".into();
    };
    let resistance = heat.resistance_mk_per_w as f64 / 1e3;
    format!(
        "it is too warm and slows down: from {} C on, in air of {} C, with {resistance} K/W to it",
        heat.light.at_c, heat.ambient_c
    )
}

/// What kind of thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RemedyKind {
    /// Change a setting of the host, or the place where the drive is.
    ChangeSetting,
    /// Give the drive more spare area.
    AddSpare,
    /// Take another drive.
    AnotherDrive,
    /// Nothing.
    Nothing,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
pub struct Remedy {
    /// Of what kind.
    pub kind: RemedyKind,
    /// As the rest of a sentence that begins with "what to do:".
    pub sentence: String,
}
