//! Article myth: how a drive slows down in production, and what keeps it from doing so.
//!
//! ```text
//! in_place    one erase block rewritten per update; the same flash with a log   .inplace, .log
//! production  a server's file system ages drives that differ in one thing each  .degrade,
//!             from the same bad start                                .full70, .trim, .op, .map
//! trim        reads beside a TRIM that is not queued                            .trim
//! whole_disk  4 KiB over every block of the DC S3700                            .s3700
//! database    the OLTP host on the earlier drive                                .tps
//! ```

pub(crate) mod database;
mod files;
mod in_place;
mod production;
pub(crate) mod run;
mod settings;
#[cfg(test)]
mod tests;
mod trim;
mod whole_disk;
