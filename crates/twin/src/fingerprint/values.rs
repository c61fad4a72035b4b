//! From readings to values.

pub use super::value::FingerprintValue;

use super::probes::ProbeReadings;
use super::{inside, outside};

/// Every value that the readings decide, and those that they do not.
pub fn values(r: &ProbeReadings) -> Vec<FingerprintValue> {
    vec![
        outside::buffer(r),
        inside::drain(r),
        outside::durable(r),
        outside::latency(r),
        outside::link(r),
        outside::overhead(r),
        outside::read_time(r),
        outside::read_parallelism(r),
        outside::map(r),
        inside::slc(r),
        inside::slc_static(r),
        inside::spare(r),
        inside::superblock(r),
        inside::shared(r),
        inside::trimmed(r),
    ]
}
