//! What watching says of Ceph's `osd_mclock_max_capacity_iops_[hdd|ssd]`.
//!
//! That option is the rate of random writes of 4 KiB that an OSD can do; Ceph finds it by a
//! benchmark when the OSD starts, ignores results above 500 (hdd) or 80,000 (ssd), and takes 315
//! or 21,500 instead (Ceph documentation, mClock config reference). A benchmark writes, a watch
//! does not: a drive that was kept busy by small writes shows a rate that an OSD on it does not
//! exceed, because each write of an OSD is at least one of the drive.

use crate::steps::WatchedSecond;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_view::units;

/// Seconds in a row that a rate is taken over.
const SPAN_S: usize = 10;
/// Writes under way, mean, of a drive that is kept busy by them.
const DEPTH_MIN: f64 = 4.0;
/// Mean bytes of a small write, at most.
const WRITE_BYTES_MAX: f64 = 16384.0;
/// Share of requests that are writes, at least.
const WRITES_MIN: f64 = 0.95;
/// Results above these are not taken by Ceph: hdd, ssd.
const THRESHOLDS: [f64; 2] = [500.0, 80_000.0];

/// What Ceph's scheduler may be given.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CephCapacity {
    /// The option.
    pub option: String,
    /// An OSD on this drive, as it is now, does not exceed this; `None`: not settled by watching.
    pub iops_at_most: Option<f64>,
    /// What was seen.
    pub sentence: String,
    /// The command that settles it.
    pub command: String,
}

/// The busiest span of small writes.
struct BusySpan {
    iops: f64,
    depth: f64,
    bytes: f64,
}

fn busy_span(seconds: &[WatchedSecond]) -> Option<BusySpan> {
    let spans = seconds.windows(SPAN_S).filter_map(|span| {
        let sum = |value: fn(&WatchedSecond) -> u64| span.iter().map(value).sum::<u64>() as f64;
        let writes = sum(|second| second.writes.count);
        let reads = sum(|second| second.reads.count);
        let busy = BusySpan {
            iops: writes / SPAN_S as f64,
            depth: sum(|second| second.writes.device_ns) / 1e9 / SPAN_S as f64,
            bytes: sum(|second| second.writes.bytes) / writes.max(1.0),
        };
        let is_busy = busy.depth >= DEPTH_MIN
            && busy.bytes <= WRITE_BYTES_MAX
            && writes >= WRITES_MIN * (writes + reads)
            && span.iter().all(|second| second.writes.count > 0);
        is_busy.then_some(busy)
    });
    spans.max_by(|a, b| a.iops.total_cmp(&b.iops))
}

impl CephCapacity {
    /// Of the seconds of a watch.
    pub fn new(seconds: &[WatchedSecond], is_rotational: bool) -> CephCapacity {
        let (kind, threshold) = if is_rotational {
            ("hdd", THRESHOLDS[0])
        } else {
            ("ssd", THRESHOLDS[1])
        };
        let option = format!("osd_mclock_max_capacity_iops_{kind}");
        let bench = "ceph tell osd.N bench 12288000 4096 4194304 100".to_owned();
        let Some(span) = busy_span(seconds) else {
            return CephCapacity {
                option,
                iops_at_most: None,
                sentence: format!(
                    "not settled by watching: in no {SPAN_S} s did small writes alone keep the \
                     drive busy ({DEPTH_MIN:.0} under way)"
                ),
                command: bench,
            };
        };
        let iops = span.iops.floor();
        let shown = format!(
            "the drive did {iops:.0} writes of {} a second for {SPAN_S} s with {:.1} under way, \
             and an OSD on it does no more",
            units::bytes(span.bytes as u64),
            span.depth
        );
        if iops > threshold {
            return CephCapacity {
                option,
                iops_at_most: Some(iops),
                sentence: format!("{shown}; more than Ceph takes from its own benchmark"),
                command: bench,
            };
        }
        CephCapacity {
            command: format!("ceph config set osd.N {option} {iops:.0}"),
            option,
            iops_at_most: Some(iops),
            sentence: shown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::KindSecond;

    fn capacity(count: u64, depth: f64, bytes: u64, seconds: usize) -> CephCapacity {
        let second = WatchedSecond {
            writes: KindSecond {
                count,
                bytes: count * bytes,
                device_ns: (depth * 1e9) as u64,
                max_ns: 0,
            },
            ..WatchedSecond::default()
        };
        CephCapacity::new(&vec![second; seconds], false)
    }

    #[test]
    fn only_a_drive_kept_busy_by_small_writes_shows_a_bound() {
        let busy = capacity(9000, 8.0, 4096, 12);
        assert_eq!(busy.iops_at_most, Some(9000.0));
        assert_eq!(
            busy.command,
            "ceph config set osd.N osd_mclock_max_capacity_iops_ssd 9000"
        );
        for (count, depth, bytes, seconds) in [
            (9000, 2.0, 4096, 12),
            (9000, 8.0, 65536, 12),
            (9000, 8.0, 4096, 8),
        ] {
            let idle = capacity(count, depth, bytes, seconds);
            assert_eq!(idle.iops_at_most, None);
            assert!(idle.sentence.contains("not settled"), "{}", idle.sentence);
        }
        let fast = capacity(90_000, 8.0, 4096, 12);
        assert!(fast.command.starts_with("ceph tell"), "{}", fast.command);
    }
}
