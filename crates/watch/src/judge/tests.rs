//! Each cause in requests made for it, and the same host on a healthy drive.

use super::*;
use crate::figures::tests::request;
use crate::request::{BlockRequest, InFlight};
use crate::source::event::{ProcessName, RequestKind};
use crate::source::host_counters::HostCounters;
use crate::source::settings::{CgroupLimit, LimitedRate, LinkState, MountedFileSystem};
use crate::steps::{StepKind, WatchedSecond, find_step};

const US: u64 = 1000;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// A window of a second on a SATA drive with a volatile cache, unless changed.
struct Scene {
    requests: Vec<BlockRequest>,
    settings: HostSettings,
    layers: Vec<LayerTimes>,
    seconds: Vec<WatchedSecond>,
}

impl Scene {
    fn new(requests: Vec<BlockRequest>) -> Scene {
        Scene {
            requests,
            settings: HostSettings {
                interface: "sata".into(),
                write_cache: Some("write back".into()),
                scheduler: Some("none".into()),
                requests_max: Some(64),
                discards_since_boot: Some(100),
                ..HostSettings::default()
            },
            layers: Vec::new(),
            seconds: Vec::new(),
        }
    }

    fn answer(&mut self) -> LiveAnswer {
        self.requests.sort_by_key(|request| request.done_ns);
        let figures = WatchFigures::new(&self.requests, 1.0);
        let step = find_step(&self.seconds);
        JudgedWindow {
            figures: &figures,
            settings: &self.settings,
            layers: &self.layers,
            step: step.as_ref(),
            seconds: &self.seconds,
            model: None,
            counters: &HostCounters::default(),
        }
        .judge()
    }

    fn first(&mut self) -> Option<LiveCause> {
        match self.answer() {
            LiveAnswer::Causes { findings } => findings.first().map(|finding| finding.cause),
            LiveAnswer::TooLittle { .. } | LiveAnswer::AsExpected { .. } => None,
        }
    }
}

/// A permuted place on 1 GiB, in sectors.
fn somewhere(i: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (1 << 18) * 8
}

fn beside(mut request: BlockRequest, kind: RequestKind, count: u32) -> BlockRequest {
    let mut counts = [0; RequestKind::ALL.len()];
    counts[kind as usize] = count;
    request.beside = InFlight::new(counts);
    request
}

fn named(mut request: BlockRequest, name: &str) -> BlockRequest {
    request.origin.name = ProcessName::new(name.as_bytes());
    request
}

/// `count` requests one after the other over a second, each taking `device` ns.
fn evenly(rwbs: &str, count: u64, bytes: u64, device: u64) -> Vec<BlockRequest> {
    let place = |i| somewhere(i);
    (0..count)
        .map(|i| request(rwbs, place(i), bytes, i * SECOND / count, 0, device))
        .collect()
}

/// The same with `depth` others in the drive.
fn deep(rwbs: &str, count: u64, bytes: u64, device: u64, depth: u32) -> Vec<BlockRequest> {
    let kind = if rwbs.starts_with('R') {
        RequestKind::Read
    } else {
        RequestKind::Write
    };
    let requests = evenly(rwbs, count, bytes, device).into_iter();
    requests
        .map(|request| beside(request, kind, depth))
        .collect()
}

fn commits(flush: u64) -> Vec<BlockRequest> {
    let period = 100 * US + flush;
    (0..SECOND / period)
        .flat_map(|i| {
            let write = request("WS", 8 * i, 4096, i * period, 0, 60 * US);
            [write, request("FF", 0, 0, i * period + 70 * US, 0, flush)]
        })
        .collect()
}

#[test]
fn a_flush_that_waits_for_the_media_is_a_volatile_buffer() {
    assert_eq!(
        Scene::new(commits(3 * MS)).first(),
        Some(LiveCause::VolatileBuffer)
    );
    let protected = Scene::new(commits(60 * US)).first();
    assert_eq!(
        protected,
        Some(LiveCause::OneAtATime),
        "a healthy drive, one writer"
    );
}

#[test]
fn flushes_without_a_write_before_them_are_doubled() {
    let mut requests = Vec::new();
    for i in 0..200 {
        let begin = i * 4 * MS;
        requests.push(request("WS", 8 * i, 4096, begin, 0, 60 * US));
        requests.push(request("FF", 0, 0, begin + 70 * US, 0, MS));
        requests.push(request("FF", 0, 0, begin + 2 * MS, 0, MS));
        requests.push(request("FF", 0, 0, begin + 3 * MS, 0, MS));
    }
    let mut scene = Scene::new(requests);
    let LiveAnswer::Causes { findings } = scene.answer() else {
        panic!("no cause")
    };
    let names: Vec<_> = findings.iter().map(|finding| finding.cause).collect();
    assert!(names.contains(&LiveCause::DoubledFlushes), "{findings:?}");
}

#[test]
fn a_limit_is_the_cause_only_where_it_is_reached_by_an_idle_drive() {
    let mut scene = Scene::new(evenly("WS", 1024, 4096, 60 * US));
    scene.settings.limits.push(CgroupLimit {
        group: "/web".into(),
        rate: LimitedRate::WriteBytes,
        limit: 4 << 20,
    });
    assert_eq!(scene.first(), Some(LiveCause::CgroupLimit));
    scene.settings.limits[0].limit = 400 << 20;
    assert_eq!(scene.first(), None);
}

#[test]
fn a_wait_in_the_host_beside_an_idle_drive_is_the_hosts() {
    let waits: Vec<_> = (0..500)
        .map(|i| request("R", somewhere(i), 4096, 2 * MS * i, 1500 * US, 100 * US))
        .collect();
    assert_eq!(Scene::new(waits).first(), Some(LiveCause::HostQueue));
    let mut short = Scene::new(deep("R", 20_000, 4096, 190 * US, 3));
    assert_eq!(short.first(), None);
    short.settings.requests_max = Some(4);
    assert_eq!(short.first(), Some(LiveCause::HostQueue));
}

#[test]
fn a_neighbour_is_named_with_what_it_costs_the_others() {
    let mut requests = Vec::new();
    for i in 0..100 {
        // A burst of large reads in the first half of each 10 ms.
        requests.push(named(
            request("R", 1 << 20, 1 << 20, 10 * MS * i, 0, 5 * MS),
            "backup",
        ));
        requests.push(named(
            request("R", somewhere(i), 4096, 10 * MS * i + MS, 0, 2 * MS),
            "app",
        ));
        requests.push(named(
            request("R", somewhere(i), 4096, 10 * MS * i + 7 * MS, 0, 90 * US),
            "app",
        ));
    }
    let mut scene = Scene::new(requests);
    let LiveAnswer::Causes { findings } = scene.answer() else {
        panic!("no cause")
    };
    assert_eq!(findings[0].cause, LiveCause::Neighbour, "{findings:?}");
    assert!(findings[0].why.contains("backup"), "{}", findings[0].why);
}

#[test]
fn a_layer_above_that_takes_the_time_is_named() {
    let mut scene = Scene::new(evenly("WS", 500, 4096, 60 * US));
    let layer = "dm-0 (dm-crypt)".to_owned();
    scene.layers.push(LayerTimes {
        layer,
        above_ns: 400e3,
        drive_ns: 60e3,
    });
    assert_eq!(scene.first(), Some(LiveCause::LayerAbove));
    scene.layers[0].above_ns = 70e3;
    assert_eq!(scene.first(), None);
}

#[test]
fn reads_and_writes_beside_discards_are_compared_with_the_others() {
    let mut requests = evenly("R", 400, 4096, 90 * US);
    let slow = evenly("R", 100, 4096, 20 * MS).into_iter();
    requests.extend(slow.map(|request| beside(request, RequestKind::Discard, 1)));
    assert_eq!(Scene::new(requests).first(), Some(LiveCause::Discards));
}

#[test]
fn reads_beside_writes_are_compared_with_the_others() {
    let mut requests = evenly("R", 200, 4096, 100 * US);
    let slow = evenly("R", 200, 4096, 3 * MS).into_iter();
    requests.extend(slow.map(|request| beside(request, RequestKind::Write, 2)));
    assert_eq!(
        Scene::new(requests).first(),
        Some(LiveCause::ReadsBehindWrites)
    );
}

/// A drive with writes in its buffer makes reads wait that meet none on their way.
#[test]
fn reads_that_are_as_slow_without_writes_do_not_wait_behind_them() {
    let mut requests = evenly("R", 60, 4096, 3 * MS);
    let slow = evenly("R", 1000, 4096, 2 * MS).into_iter();
    requests.extend(slow.map(|request| beside(request, RequestKind::Write, 2)));
    assert_ne!(
        Scene::new(requests).first(),
        Some(LiveCause::ReadsBehindWrites)
    );
}

#[test]
fn slow_writes_are_reclaim_at_random_and_a_full_cache_in_order() {
    let mut random = Scene::new(deep("WS", 2_000, 4096, 8 * MS, 15));
    assert_eq!(random.first(), Some(LiveCause::Reclaim));
    random.settings.file_systems.push(MountedFileSystem {
        point: "/srv".into(),
        kind: "ext4".into(),
        options: vec!["rw".into()],
        used: Some(0.95),
        device: "/dev/sda1".into(),
    });
    assert_eq!(
        random.first(),
        Some(LiveCause::Reclaim),
        "it was trimmed before"
    );
    random.settings.discards_since_boot = Some(0);
    assert_eq!(random.first(), Some(LiveCause::FullWithoutTrim));
    let ordered: Vec<_> = (0..400)
        .map(|i| {
            let write = request("WS", 512 * i, 256 << 10, 2_500 * US * i, 0, 10 * MS);
            beside(write, RequestKind::Write, 3)
        })
        .collect();
    assert_eq!(Scene::new(ordered).first(), Some(LiveCause::SlcFull));
    // As fast as a healthy drive takes them.
    assert_eq!(
        Scene::new(deep("WS", 20_000, 4096, 800 * US, 15)).first(),
        None
    );
}

#[test]
fn a_map_that_is_read_first_shows_in_reads_far_from_the_last_ones() {
    // Of each five reads in a region the first finds its part of the map absent.
    let reads = |nears: u64| -> Vec<BlockRequest> {
        (0..1000)
            .map(|i| {
                let (visit, number) = (i / (nears + 1), i % (nears + 1));
                let place = ((visit % 64 * 16) << 20) / 512 + visit * 64 + number * 16;
                let device = if number == 0 { 500 * US } else { 150 * US };
                request("R", place, 4096, MS * i, 0, device)
            })
            .collect()
    };
    let near = WatchFigures::new(&reads(4), 1.0).locality.near;
    assert!(near.apart.median_ns > 2 * near.beside.median_ns, "{near:?}");
    // A fifth of the reads is slower: little would be won.
    let answer = Scene::new(reads(1)).answer();
    let LiveAnswer::Causes { findings } = &answer else {
        panic!(
            "{answer:?}, {:?}",
            WatchFigures::new(&reads(1), 1.0).locality
        )
    };
    assert_eq!(findings[0].cause, LiveCause::Map, "{findings:?}");
    assert!(findings[0].why.contains("4 MiB"), "{}", findings[0].why);
    assert_eq!(Scene::new(reads(9)).first(), None);
}

#[test]
fn a_link_is_slow_when_it_says_so_or_when_all_large_reads_take_alike() {
    let reads = || deep("R", 400, 256 << 10, 5_000 * US, 1);
    assert_eq!(Scene::new(reads()).first(), Some(LiveCause::Link));
    let mut down = Scene::new(reads());
    down.settings.link = Some(LinkState {
        speed: "2.5 GT/s PCIe".into(),
        speed_max: "8.0 GT/s PCIe".into(),
        width: 1,
        width_max: 4,
    });
    let LiveAnswer::Causes { findings } = down.answer() else {
        panic!("no cause")
    };
    assert_eq!(
        (findings[0].cause, findings[0].certainty),
        (LiveCause::Link, Certainty::Shown)
    );
}

#[test]
fn what_looks_alike_from_outside_is_one_answer() {
    assert_eq!(
        Scene::new(evenly("R", 800, 4096, 900 * US)).first(),
        Some(LiveCause::SlowMedia)
    );
    let mut through = Scene::new(evenly("WS", 200, 4096, 4 * MS));
    through.settings.write_cache = Some("write through".into());
    assert_eq!(through.first(), Some(LiveCause::WriteCacheOff));
    let odd: Vec<_> = (0..400)
        .map(|i| {
            let write = request("WS", somewhere(i) + 1, 2048, 2_500 * US * i, 0, 9 * MS);
            beside(write, RequestKind::Write, 3)
        })
        .collect();
    assert_eq!(Scene::new(odd).first(), Some(LiveCause::Misaligned));
}

#[test]
fn reads_and_writes_that_fall_together_on_a_warm_drive_are_throttled() {
    let mut scene = Scene::new(deep("R", 2_000, 4096, 2 * MS, 3));
    let second = |bytes: u64| {
        let mut second = WatchedSecond::default();
        for kind in [&mut second.reads, &mut second.writes] {
            kind.bytes = bytes;
            kind.count = bytes >> 12;
            kind.device_ns = 4 * SECOND;
        }
        second
    };
    scene.seconds = [vec![second(80 << 20); 6], vec![second(20 << 20); 6]].concat();
    assert_eq!(
        find_step(&scene.seconds).map(|step| step.kind),
        Some(StepKind::All)
    );
    scene.settings.temperature_c = Some(84.0);
    let LiveAnswer::Causes { findings } = scene.answer() else {
        panic!("no cause")
    };
    assert_eq!(
        (findings[0].cause, findings[0].certainty),
        (LiveCause::Throttling, Certainty::Shown)
    );
}

/// The null model, that whoever complains is right, would accuse all of these.
#[test]
fn healthy_drives_are_not_accused() {
    for (name, requests) in [
        ("reads with room", evenly("R", 1500, 4096, 120 * US)),
        ("buffered writes", deep("W", 8_000, 65_536, 900 * US, 3)),
        ("deep reads", deep("R", 40_000, 4096, 400 * US, 15)),
    ] {
        let answer = Scene::new(requests).answer();
        let LiveAnswer::AsExpected { why } = &answer else {
            panic!("{name}: {answer:?}")
        };
        // What nobody waited for has no time to show.
        let is_awaited = name != "buffered writes";
        assert_eq!(
            why.contains("awaited requests take"),
            is_awaited,
            "{name}: {why}"
        );
    }
    let few = Scene::new(evenly("R", 10, 4096, 90 * MS)).answer();
    assert!(matches!(few, LiveAnswer::TooLittle { requests: 10 }));
}
