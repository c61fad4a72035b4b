//! Whole hosts as loads: what a drive has to endure under a cache tier, a file system, a database.
//!
//! * [`tier`]: a write-back cache in front of slow disks, every write durable before it is
//!   acknowledged.
//! * [`months`]: files created and deleted for months, with TRIM at once, in batches or never.
//! * [`oltp`]: transactions of a database, month after month.
//!
//! Each has a spec with units and defaults, `run(&spec, drive)` and a result; [`devices`] keeps
//! several drives in one virtual time, [`scale`] makes a drive small enough to age in seconds.
//! All are functions of their spec and seed.

/// Writes a time as a number of ns.
pub(crate) fn as_ns<S: serde::Serializer>(
    time: &ssdlab_ssd::Nanos,
    to: S,
) -> Result<S::Ok, S::Error> {
    to.serialize_u64(time.0)
}
