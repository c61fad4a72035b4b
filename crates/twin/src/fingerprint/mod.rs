//! A drive's values probed through the block interface alone (`ssdlab fingerprint`).
//!
//! ```text
//! host     keeps commands outstanding on a target, takes the times
//! series   acknowledged bytes over time: drops of the rate, stalls at equal distances
//! burst    what a rested drive takes before it waits for media
//! probes   what is done to the target: readings
//! value, outside, inside, values               from readings to values, or UNKNOWN
//! course   opens the target; probes in order, within a budget
//! file     fingerprint.toml                             show, page   the same for a person
//! ```
//!
//! The order of writing is chosen so that each value has one place in a series: the emptied drive
//! is filled with two halves in turns, so that every superblock holds as much of both, and then one
//! half is rewritten in order. Reclaim begins to move data when the spare area is used up, and from
//! then on moves as much as it frees; in the second pass it moves nothing, unless moved data went
//! where the host's data goes. Deliberately left out: heat, wear, compression, streams.

pub mod burst;
pub mod course;
pub mod file;
pub mod host;
mod inside;
mod outside;
pub mod page;
pub mod probes;
pub mod series;
pub mod show;
mod value;
pub mod values;

pub use course::{Fingerprint, FingerprintProgress, FingerprintRequest, ProbeBudget, take};
