//! A limit of a volume in seconds made for it, and loads and drives that look alike.

use super::*;
use crate::figures::WatchFigures;
use crate::figures::tests::request;
use crate::judge::LiveAnswer;
use crate::source::host_counters::HostCounters;
use crate::source::settings::HostSettings;
use crate::steps::{KindSecond, WatchedSecond, find_step};

/// Reads and writes of 4 KiB a second, each of them this long in the device, ns.
struct Load {
    reads: u64,
    writes: u64,
    read_ns: u64,
    write_ns: u64,
}

impl Load {
    fn second(&self) -> WatchedSecond {
        let kind = |count: u64, device_ns: u64| KindSecond {
            count,
            bytes: count * 4096,
            device_ns: count * device_ns,
            max_ns: device_ns,
        };
        WatchedSecond {
            reads: kind(self.reads, self.read_ns),
            writes: kind(self.writes, self.write_ns),
            ..WatchedSecond::default()
        }
    }

    fn figures(&self) -> WatchFigures {
        let requests = |rwbs, count: u64, device_ns| {
            (0..count).map(move |i| {
                let begin = i * 1_000_000_000 / count;
                request(rwbs, (i * 7919 % 100_000) * 8, 4096, begin, 0, device_ns)
            })
        };
        let mut all: Vec<_> = requests("R", self.reads, self.read_ns).collect();
        all.extend(requests("WS", self.writes, self.write_ns));
        all.sort_by_key(|request| request.done_ns);
        WatchFigures::new(&all, 1.0)
    }
}

fn findings(load: &Load, seconds: &[WatchedSecond], model: Option<&str>) -> Vec<LiveFinding> {
    let settings = HostSettings {
        interface: "nvme".to_owned(),
        ..HostSettings::default()
    };
    let step = find_step(seconds);
    let answer = JudgedWindow {
        figures: &load.figures(),
        settings: &settings,
        layers: &[],
        step: step.as_ref(),
        seconds,
        model,
        counters: &HostCounters::default(),
    }
    .judge();
    match answer {
        LiveAnswer::Causes { findings } => findings,
        LiveAnswer::TooLittle { .. } | LiveAnswer::AsExpected { .. } => Vec::new(),
    }
}

const MS: u64 = 1_000_000;

/// 32 requests wait for 300 a second: reads as long as writes.
const HELD_BACK: Load = Load {
    reads: 150,
    writes: 150,
    read_ns: 106 * MS,
    write_ns: 107 * MS,
};

#[test]
fn reads_and_writes_that_wait_alike_for_a_constant_rate_are_held_by_a_volume() {
    let seconds = [HELD_BACK.second(); 12];
    let findings = findings(&HELD_BACK, &seconds, None);
    assert_eq!(findings[0].cause, LiveCause::VolumeLimit, "{findings:?}");
    assert_eq!(findings[0].certainty, Certainty::Shown);
    assert_eq!(findings.len(), 1, "it explains the rest: {findings:?}");
    assert!(
        findings[0].why.contains("300 a second"),
        "{}",
        findings[0].why
    );
}

#[test]
fn the_end_of_a_burst_is_in_the_answer() {
    let burst = Load {
        reads: 1500,
        writes: 1500,
        read_ns: 10 * MS,
        write_ns: 10 * MS,
    };
    let mut seconds = vec![burst.second(); 15];
    seconds.extend([HELD_BACK.second(); 12]);
    let findings = findings(&HELD_BACK, &seconds, None);
    assert_eq!(findings[0].cause, LiveCause::VolumeLimit, "{findings:?}");
    let why = &findings[0].why;
    assert!(why.contains("it was 3.00k until second 15"), "{why}");
}

#[test]
fn writes_alone_are_held_only_where_the_device_says_that_it_is_a_volume() {
    let writes = Load {
        reads: 0,
        writes: 300,
        read_ns: 0,
        write_ns: 106 * MS,
    };
    let seconds = [writes.second(); 12];
    let causes = |model| {
        let findings = findings(&writes, &seconds, model);
        findings
            .iter()
            .map(|finding| finding.cause)
            .collect::<Vec<_>>()
    };
    let volume = causes(Some("Amazon Elastic Block Store"));
    assert!(volume.contains(&LiveCause::VolumeLimit), "{volume:?}");
    let drive = causes(Some("Samsung SSD 980 PRO 1TB"));
    assert!(!drive.contains(&LiveCause::VolumeLimit), "{drive:?}");
}

#[test]
fn drives_and_hosts_are_no_volumes() {
    let is_volume = |load: &Load, seconds: &[WatchedSecond]| {
        findings(load, seconds, None)
            .iter()
            .any(|finding| finding.cause == LiveCause::VolumeLimit)
    };
    // A drive whose reads are as fast as ever beside writes that wait.
    let cliff = Load {
        write_ns: 106 * MS,
        read_ns: MS,
        ..HELD_BACK
    };
    assert!(!is_volume(&cliff, &[cliff.second(); 12]));
    // A host that asks for 300 a second and gets them.
    let paced = Load {
        read_ns: 90_000,
        write_ns: 60_000,
        ..HELD_BACK
    };
    assert!(!is_volume(&paced, &[paced.second(); 12]));
    // A rate that wavers by a tenth, as a drive's does while it reclaims.
    let mut rng = ssdlab_ssd::rng::Rng::new(7);
    let wavering = (0..30).map(|_| {
        let count = 135 + rng.below(31);
        let load = Load {
            reads: count,
            writes: count,
            ..HELD_BACK
        };
        load.second()
    });
    assert!(!is_volume(&HELD_BACK, &wavering.collect::<Vec<_>>()));
    // A link of SATA that is full.
    let mut full = [HELD_BACK.second(); 12];
    for second in &mut full {
        second.reads.bytes = 2_000_000_000;
        second.writes.bytes = 2_000_000_000;
    }
    assert!(!is_volume(&HELD_BACK, &full));
}
