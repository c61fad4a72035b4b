//! A job with `verify=`: which writes it makes and what makes them durable.

use crate::checksum::BlockChecksum;
use crate::format::FioFormat;
use crate::pattern::VerifyPattern;
use crate::random::SEED_DEFAULT;
use std::path::PathBuf;

/// Which writes fio holds a drive to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyPolicy {
    /// Each that completed: right without a power cut, or behind a protected buffer.
    Completed,
    /// Each that a completed fsync covers.
    Fsynced,
}

impl VerifyPolicy {
    /// All, by fio's names.
    pub const ALL: [(&'static str, VerifyPolicy); 2] = [
        ("completed", VerifyPolicy::Completed),
        ("fsynced", VerifyPolicy::Fsynced),
    ];

    /// The policy of that name.
    pub fn named(name: &str) -> Option<VerifyPolicy> {
        let entry = Self::ALL.iter().find(|entry| entry.0 == name);
        entry.map(|entry| entry.1)
    }
}

/// A job with `verify=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedJob {
    /// Its section.
    pub name: String,
    /// Its file or device, if it names one.
    pub filename: Option<PathBuf>,
    /// Whose header, state and seeds.
    pub format: FioFormat,
    /// What follows each header.
    pub checksum: BlockChecksum,
    /// What the data is made of, in place of random bytes.
    pub pattern: Option<VerifyPattern>,
    /// Bytes between the beginnings of two headers of a block.
    pub interval_bytes: u32,
    /// Where in its interval a header stands.
    pub header_offset: u32,
    /// Bytes of each write.
    pub block_bytes: u32,
    /// First byte of its range.
    pub offset: u64,
    /// Bytes of its range, and bytes that it writes.
    pub size: u64,
    /// Offsets in random order.
    pub is_random: bool,
    /// Each block once.
    pub has_random_map: bool,
    /// Commands at once, as far as fio is concerned.
    pub depth: u32,
    /// Number of writes after each of which a sync comes.
    pub sync_every: Option<u64>,
    /// Each write is durable when it completes.
    pub has_durable_writes: bool,
    /// A sync at the end.
    pub syncs_at_end: bool,
    /// Which writes fio is to check.
    pub policy: VerifyPolicy,
    /// fio's seed.
    pub seed: u64,
    /// Offsets repeat from run to run whatever the seed.
    pub repeats: bool,
    /// Number of the job in its file, from 1.
    pub thread: u16,
    /// Write nothing: only look at what is there.
    pub verifies_only: bool,
    /// Look at what the state says, not at all of the job.
    pub loads_state: bool,
    /// Leave a state behind.
    pub saves_state: bool,
}

impl VerifiedJob {
    /// The job file by which fio verifies `filename` by a state beside it, and leaves the state as
    /// it is.
    pub fn to_verify_only(&self, filename: &str) -> String {
        let mut lines = vec![format!("[{}]", self.name), format!("filename={filename}")];
        let order = if self.is_random { "randwrite" } else { "write" };
        lines.extend([
            format!("rw={order}"),
            format!("bs={}", self.block_bytes),
            format!("offset={}", self.offset),
            format!("size={}", self.size),
            format!("iodepth={}", self.depth),
            format!("verify={}", self.checksum.name()),
            format!("verify_interval={}", self.interval_bytes),
        ]);
        if self.header_offset > 0 {
            lines.push(format!("verify_offset={}", self.header_offset));
        }
        if let Some(pattern) = &self.pattern {
            lines.push(format!("verify_pattern={}", pattern.text()));
        }
        if !self.has_random_map {
            lines.push("norandommap=1".to_owned());
        }
        if self.seed != SEED_DEFAULT {
            lines.push(format!("randseed={}", self.seed));
        }
        if !self.repeats {
            lines.push("randrepeat=0".to_owned());
        }
        if self.format == FioFormat::Current {
            // Otherwise fio takes an older write of a block for its newest.
            lines.push("verify_write_sequence=1".to_owned());
            let has_seeds = u8::from(!self.is_sorted());
            lines.push(format!("verify_header_seed={has_seeds}"));
            if self.policy == VerifyPolicy::Fsynced {
                lines.push("verify_policy=fsynced".to_owned());
            }
        }
        lines.extend(
            [
                "verify_only=1",
                "verify_state_load=1",
                "verify_state_save=0",
                "",
            ]
            .map(Into::into),
        );
        lines.join("\n")
    }

    /// In a line: `64 random writes of 4096 bytes from byte 65536, fsync after 8`.
    pub fn describe(&self) -> String {
        let order = if self.is_random {
            "random writes"
        } else {
            "writes in order"
        };
        let sync = match (self.has_durable_writes, self.sync_every) {
            (true, _) => "each durable by itself".to_owned(),
            (false, Some(1)) => "fsync after each".to_owned(),
            (false, Some(every)) => format!("fsync after every {every}"),
            (false, None) if self.syncs_at_end => "fsync at the end".to_owned(),
            (false, None) => "no fsync".to_owned(),
        };
        format!(
            "{} {order} of {} bytes from byte {}, {sync}",
            self.count(),
            self.block_bytes,
            self.offset
        )
    }

    /// Number of writes.
    pub fn count(&self) -> u64 {
        self.size / u64::from(self.block_bytes)
    }

    /// Whether fio goes over the blocks by their offsets.
    pub(crate) fn is_sorted(&self) -> bool {
        self.is_random && !self.has_random_map
    }

    /// First byte after its range.
    pub fn end(&self) -> u64 {
        self.offset + self.size
    }
}
