//! Names of probes and runs: what procedures write into [`Evidence`](super::Evidence), and
//! verdicts and reports look up.

/// Probe: writes that are not made durable.
pub const PLAIN: &str = "plain";
/// Probe: writes with FUA (`RWF_DSYNC`), durable when they complete.
pub const FUA: &str = "fua";
/// Probe: each write followed by a flush (fdatasync on a file).
pub const WRITE_FLUSH: &str = "write_flush";

/// 4 KiB random FUA writes, one outstanding: the `fua` probe as a series.
pub const DURABLE_WRITE: &str = "durable_write_4k_qd1";
/// 4 KiB random writes, 32 outstanding.
pub const RANDOM_WRITE: &str = "random_write_4k_qd32";
/// 4 KiB random, 70 % reads, 8 outstanding, writes buffered.
pub const MIXED: &str = "mixed_70_30_4k_qd8";
/// The same with every write durable (written through).
pub const MIXED_DURABLE: &str = "mixed_70_30_4k_qd8_durable";
/// 4 KiB random reads, one outstanding.
pub const READ_QD1: &str = "random_read_4k_qd1";
/// 4 KiB random reads, 32 outstanding.
pub const READ_QD32: &str = "random_read_4k_qd32";
/// 4 KiB random writes over the region in one-minute rounds after SNIA preconditioning.
pub const SNIA_ROUNDS: &str = "snia_rounds_write_4k_qd32";
/// 4 KiB random writes over the whole drive, 32 outstanding.
pub const WHOLE_DRIVE: &str = "whole_drive_write_4k_qd32";
