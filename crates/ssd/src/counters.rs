//! Counters of a drive, and the ratios derived from them.

use crate::command::Command;
use crate::image::{Image, ImageError, Reader, Writer};

/// Counters of a drive since it was created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveCounters {
    /// Read commands completed.
    pub host_reads: u64,
    /// Write commands completed (FUA included).
    pub host_writes: u64,
    /// Write commands with FUA.
    pub host_fua_writes: u64,
    /// FLUSH commands completed.
    pub host_flushes: u64,
    /// TRIM and write-zeroes commands completed.
    pub host_trims: u64,
    /// Bytes read by the host.
    pub host_bytes_read: u64,
    /// Bytes written by the host.
    pub host_bytes_written: u64,
    /// Host slots overwritten while still in the write buffer, and so never programmed.
    pub slots_coalesced: u64,
    /// Slots programmed with host data.
    pub slots_host: u64,
    /// Slots programmed with data relocated by reclaim.
    pub slots_relocated: u64,
    /// Slots programmed with data folded out of the pSLC cache.
    pub slots_folded: u64,
    /// Slots programmed with data rewritten before it fades.
    pub slots_refreshed: u64,
    /// Slots programmed with data moved for wear levelling.
    pub slots_levelled: u64,
    /// Always zero: no map merges any more (decision 065). Results and directories keep its place.
    pub slots_merged: u64,
    /// Slots programmed with map: journal, checkpoints, map pages.
    pub slots_map: u64,
    /// Slots programmed with parity over dies.
    pub slots_parity: u64,
    /// Slots programmed without data: the rest of a unit that could not wait, or of a word line.
    pub slots_padding: u64,
    /// Of all programmed slots, those written in SLC mode.
    pub slots_slc_mode: u64,
    /// Unit programs.
    pub nand_programs: u64,
    /// Unit reads for the host.
    pub nand_reads_host: u64,
    /// Unit reads for reclaim, folding and read-modify-write.
    pub nand_reads_internal: u64,
    /// Unit reads of patrols, which look for data that has faded.
    pub nand_reads_patrol: u64,
    /// Block erases (one per die and superblock).
    pub nand_erases: u64,
    /// Superblocks reclaimed.
    pub superblocks_reclaimed: u64,
    /// Superblocks folded out of the pSLC cache.
    pub superblocks_folded: u64,
    /// Superblocks refreshed.
    pub superblocks_refreshed: u64,
    /// Superblocks emptied for wear levelling.
    pub superblocks_levelled: u64,
    /// Victims looked through, by reclaim, folding and refresh.
    pub victims: u64,
    /// Always zero, as `slots_merged`.
    pub merges: u64,
    /// Lookups and changes of parts of the map that were not in DRAM.
    pub map_misses: u64,
    /// Commits: FLUSH or FUA that had to reach media.
    pub commits: u64,
}

/// The most that a loaded counter may say: sums of all of them fit into 64 bits.
const LOADED_MAX: u64 = 1 << 58;

/// Code that must cover every counter, generated from one list: saving, and leaping.
macro_rules! every_counter {
    ($($field:ident),*) => {
        impl Image for DriveCounters {
            fn save(&self, out: &mut Writer<'_>) -> Result<(), ImageError> {
                let DriveCounters { $($field),* } = self;
                $($field.save(out)?;)*
                Ok(())
            }

            fn load(from: &mut Reader<'_>) -> Result<DriveCounters, ImageError> {
                $(let $field = u64::load(from)?;)*
                match [$($field),*].into_iter().find(|count| *count > LOADED_MAX) {
                    Some(count) => Err(ImageError::Unknown(format!("a counter at {count}"))),
                    None => Ok(DriveCounters { $($field),* }),
                }
            }
        }

        impl DriveCounters {
            /// Adds to every counter `times` its growth since `then`.
            pub(crate) fn leap(&mut self, then: &DriveCounters, times: u64) {
                // Named one by one, so that a counter missing from the list does not compile.
                let DriveCounters { $($field),* } = self;
                $(*$field += times * (*$field - then.$field);)*
            }
        }
    };
}

every_counter!(
    host_reads,
    host_writes,
    host_fua_writes,
    host_flushes,
    host_trims,
    host_bytes_read,
    host_bytes_written,
    slots_coalesced,
    slots_host,
    slots_relocated,
    slots_folded,
    slots_refreshed,
    slots_levelled,
    slots_merged,
    slots_map,
    slots_parity,
    slots_padding,
    slots_slc_mode,
    nand_programs,
    nand_reads_host,
    nand_reads_internal,
    nand_reads_patrol,
    nand_erases,
    superblocks_reclaimed,
    superblocks_folded,
    superblocks_refreshed,
    superblocks_levelled,
    victims,
    merges,
    map_misses,
    commits
);

impl DriveCounters {
    /// Slots of data that the drive itself moved.
    #[inline]
    pub fn slots_moved(&self) -> u64 {
        self.slots_relocated + self.slots_folded + self.slots_refreshed + self.slots_levelled
    }

    /// Slots programmed for any purpose.
    pub fn slots_programmed(&self) -> u64 {
        self.slots_host
            + self.slots_relocated
            + self.slots_folded
            + self.slots_refreshed
            + self.slots_levelled
            + self.slots_map
            + self.slots_parity
            + self.slots_padding
    }

    /// Checks that every slot programmed in units of `unit` slots is counted under one purpose.
    pub(crate) fn check_conservation(&self, unit: u32) -> Result<(), String> {
        let (slots, units) = (self.slots_programmed(), self.nand_programs);
        if slots == units * u64::from(unit) {
            return Ok(());
        }
        Err(format!(
            "{slots} slots programmed in {units} units of {unit}"
        ))
    }

    /// Counts a write command.
    #[inline(always)]
    pub(crate) fn count_write(&mut self, command: &Command) {
        self.host_writes += 1;
        self.host_bytes_written += u64::from(command.len);
        self.host_fua_writes += u64::from(command.fua);
    }

    /// Counts a read command.
    #[inline(always)]
    pub(crate) fn count_read(&mut self, command: &Command) {
        self.host_reads += 1;
        self.host_bytes_read += u64::from(command.len);
    }

    /// Write amplification factor = NAND bytes programmed / host bytes written, over the span
    /// from `earlier` to `self`; `None` when the host wrote nothing.
    pub fn waf_since(&self, earlier: &DriveCounters, slot_bytes: u32) -> Option<f64> {
        let host = self.host_bytes_written - earlier.host_bytes_written;
        let nand = (self.slots_programmed() - earlier.slots_programmed()) * u64::from(slot_bytes);
        (host > 0).then(|| nand as f64 / host as f64)
    }

    /// Counters by their glossary names, for reports; those that only wearing media have are left
    /// out.
    pub fn named(&self) -> [(&'static str, u64); 28] {
        [
            ("host_reads", self.host_reads),
            ("host_writes", self.host_writes),
            ("host_fua_writes", self.host_fua_writes),
            ("host_flushes", self.host_flushes),
            ("host_trims", self.host_trims),
            ("host_bytes_read", self.host_bytes_read),
            ("host_bytes_written", self.host_bytes_written),
            ("slots_coalesced", self.slots_coalesced),
            ("slots_host", self.slots_host),
            ("slots_relocated", self.slots_relocated),
            ("slots_folded", self.slots_folded),
            ("slots_refreshed", self.slots_refreshed),
            ("slots_merged", self.slots_merged),
            ("slots_map", self.slots_map),
            ("slots_parity", self.slots_parity),
            ("slots_padding", self.slots_padding),
            ("slots_slc_mode", self.slots_slc_mode),
            ("nand_programs", self.nand_programs),
            ("nand_reads_host", self.nand_reads_host),
            ("nand_reads_internal", self.nand_reads_internal),
            ("nand_erases", self.nand_erases),
            ("superblocks_reclaimed", self.superblocks_reclaimed),
            ("superblocks_folded", self.superblocks_folded),
            ("superblocks_refreshed", self.superblocks_refreshed),
            ("victims", self.victims),
            ("merges", self.merges),
            ("map_misses", self.map_misses),
            ("commits", self.commits),
        ]
    }
}
