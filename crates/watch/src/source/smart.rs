//! The drive's own counters, by what `ssdlab inspect` reads: SMART attributes and NVMe log pages.
//!
//! A drive may take seconds to answer, so it is asked beside the watch, once a minute.

use super::host_counters::DriveCounters;
use ssdlab_judge::inspect::{Inspection, ReportedValue, collect, inspect};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// s between two looks.
const LOOK_EVERY_S: f64 = 60.0;

/// What a look gave.
type Look = Result<Inspection, String>;

/// Looks at one drive.
pub struct DriveLooks {
    device: PathBuf,
    pending: Option<Receiver<Look>>,
    first: Option<TimedLook>,
    last: Option<TimedLook>,
    /// Why the drive was not understood; it is not asked again.
    refused: Option<String>,
}

#[derive(Clone)]
struct TimedLook {
    at_s: f64,
    inspection: Inspection,
}

impl DriveLooks {
    /// At this block device, from now on.
    pub fn begin(device: &Path) -> DriveLooks {
        let mut looks = DriveLooks {
            device: device.to_owned(),
            pending: None,
            first: None,
            last: None,
            refused: None,
        };
        looks.ask();
        looks
    }

    fn ask(&mut self) {
        let (answer, pending) = channel();
        let device = self.device.clone();
        let asker = move || {
            let look = collect(&device, None).and_then(|report| inspect(&report));
            // Nobody waits for it when the watch has ended.
            let _ = answer.send(look.map_err(|error| error.to_string()));
        };
        let spawned = std::thread::Builder::new()
            .name("smart".to_owned())
            .spawn(asker);
        match spawned {
            Ok(_) => self.pending = Some(pending),
            Err(error) => self.refused = Some(error.to_string()),
        }
    }

    /// Takes what has been answered by now, and asks again when it is time.
    pub fn poll(&mut self, watched_s: f64) {
        let Some(pending) = &self.pending else {
            let last_s = self.last.as_ref().map_or(0.0, |look| look.at_s);
            if self.refused.is_none() && watched_s >= last_s + LOOK_EVERY_S {
                self.ask();
            }
            return;
        };
        match pending.try_recv() {
            Ok(Ok(inspection)) => {
                let look = TimedLook {
                    at_s: watched_s,
                    inspection,
                };
                self.first.get_or_insert_with(|| look.clone());
                self.last = Some(look);
                self.pending = None;
            }
            Ok(Err(why)) => {
                self.refused = Some(why);
                self.pending = None;
            }
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.pending = None,
        }
    }

    /// Why there are no counters; `None` when there are.
    pub fn missing(&self) -> Option<String> {
        if self.last.is_some() {
            return None;
        }
        let why = self.refused.as_deref();
        Some(why.unwrap_or("the drive has not answered yet").to_owned())
    }

    /// The counters, as of the last look.
    pub fn counters(&self) -> Option<DriveCounters> {
        let (first, last) = (self.first.as_ref()?, self.last.as_ref()?);
        Some(since(
            &first.inspection,
            &last.inspection,
            last.at_s - first.at_s,
        ))
    }
}

/// What a drive counted between two looks.
fn since(first: &Inspection, last: &Inspection, seconds: f64) -> DriveCounters {
    let grown = |value: fn(&Inspection) -> &Option<ReportedValue>| {
        let (first, last) = (value(first).as_ref()?, value(last).as_ref()?);
        Some((last.value - first.value, last.resolution))
    };
    let host = grown(|look| &look.life.host_bytes_written);
    let nand = grown(|look| &look.life.nand_bytes_written);
    let warm = first
        .events
        .too_warm_minutes
        .zip(last.events.too_warm_minutes);
    let resolutions = [host, nand].into_iter().flatten();
    DriveCounters {
        seconds,
        too_warm_minutes: warm.map(|(first, last)| last - first),
        host_bytes_written: host.map(|(bytes, _)| bytes),
        nand_bytes_written: nand.map(|(bytes, _)| bytes),
        resolution: resolutions.map(|(_, step)| step).fold(0.0, f64::max),
        write_cache: last.cache.enabled,
        celsius: last.events.temperature_c,
        used_percent: last.life.used_percent.as_ref().map(|value| value.value),
        spare_percent: last.life.spare_percent.as_ref().map(|value| value.value),
        media_errors: last.events.media_errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdlab_judge::inspect::DriveReport;

    /// Log pages of an NVMe drive, as smartctl prints them: units of 512,000 bytes.
    fn look(units_written: u64, warm_minutes: u64) -> Inspection {
        let smartctl = serde_json::json!({
            "device": { "name": "/dev/nvme0", "protocol": "NVMe", "type": "nvme" },
            "model_name": "EXAMPLE NVMe",
            "serial_number": "1",
            "temperature": { "current": 81 },
            "user_capacity": { "bytes": 1_000_000_000_000_u64, "blocks": 1_953_125_000_u64 },
            "nvme_smart_health_information_log": {
                "critical_warning": 0, "temperature": 81, "available_spare": 100,
                "available_spare_threshold": 10, "percentage_used": 3,
                "data_units_read": 10, "data_units_written": units_written,
                "host_reads": 1, "host_writes": 1, "power_cycles": 1, "power_on_hours": 1,
                "unsafe_shutdowns": 0, "media_errors": 0, "num_err_log_entries": 0,
                "warning_temp_time": warm_minutes, "critical_comp_time": 0
            }
        });
        let report = DriveReport {
            smartctl,
            ..DriveReport::default()
        };
        inspect(&report).expect("understood")
    }

    #[test]
    fn counters_are_those_between_two_looks() {
        let counters = since(&look(1000, 5), &look(3000, 7), 120.0);
        assert_eq!(counters.too_warm_minutes, Some(2.0));
        let written = counters.host_bytes_written.expect("counted");
        assert!((written - 2000.0 * 512_000.0).abs() < 1.0, "{written}");
        assert_eq!(counters.nand_bytes_written, None);
        assert_eq!(counters.write_amplification(), None);
        assert_eq!(counters.celsius, Some(81.0));
    }

    /// What is no drive answers once, and the watch goes on.
    #[test]
    fn a_device_that_is_none_gives_a_reason() {
        let mut looks = DriveLooks::begin(Path::new("/dev/no-such-drive"));
        for _ in 0..200 {
            looks.poll(1.0);
            if looks.pending.is_none() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        assert!(looks.counters().is_none());
        let missing = looks.missing().expect("a reason");
        assert!(
            missing.contains("smartctl") || missing.contains("drive"),
            "{missing}"
        );
    }
}
