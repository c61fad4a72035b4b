//! Claims that the articles make beside their measurements, each put to a test of its own.
//!
//! * [`sheet`]: the consumer drive in the state that its data sheet measures.
//! * [`pool_cuts`]: cache flushes switched off for a whole pool, and the power cut.
//! * [`pool_log`]: the intent log in the pool, or on a device of its own.
//! * [`align`]: writes that are not aligned.
//! * [`disk`]: a drive beside a hard disk, one random access at a time.
//! * [`joins`]: a normalised relational database on a disk, a SATA and a PCIe drive.

pub(crate) mod align;
pub(crate) mod disk;
pub(crate) mod joins;
pub(crate) mod pool_cuts;
pub(crate) mod pool_log;
pub(crate) mod sheet;
