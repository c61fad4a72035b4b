use super::life::{LifeObserver, LifeProgress, NullLifeObserver, live};
use super::sample::LifePhase;
use super::sweep::{Dimension, LifeGrid};
use super::*;
use ssdlab_drives::catalogue;
use ssdlab_drives::catalogue::CatalogueDrive;
use ssdlab_drives::settings::{self, DriveSetting};
use ssdlab_load::synthetic::{SyntheticLoad, SyntheticPattern};
use ssdlab_ssd::Nanos;
use ssdlab_view::units;
use std::sync::atomic::AtomicBool;

/// Some 64 MiB of the catalogue's drive.
const SMALL: [&str; 10] = [
    "nand.channels=2",
    "nand.dies_per_channel=1",
    "nand.blocks_per_plane=96",
    "nand.pages_per_block=24",
    "nand.page=16KiB",
    "slc_superblocks=0",
    "journal_entry=0B",
    "commit_map_programs=0",
    "buffer.size=1MiB",
    "op=28%",
];

fn small() -> (CatalogueDrive, Vec<DriveSetting>) {
    let settings = SMALL
        .map(|text| DriveSetting::parse(text).unwrap())
        .to_vec();
    (catalogue::drive("consumer-sata-1tb").unwrap(), settings)
}

fn plan(gear: SimulationGear, until: &str) -> SimulationPlan {
    let (drive, settings) = small();
    let drive = settings::apply(&drive, &settings).unwrap();
    SimulationPlan {
        name: String::new(),
        title: String::new(),
        config: drive.config.clone(),
        settings: Vec::new(),
        rests_on: Vec::new(),
        attributes: None,
        history: Vec::new(),
        gear,
        load: SyntheticLoad {
            pattern: SyntheticPattern::Uniform,
            block: 4096,
            read_pct: 0,
            trim_pct: 0,
            seed: 1,
        },
        depth: 32,
        write_through: false,
        fill: Prefill::Sequential,
        used_pct: 100,
        until: LoadEnd::parse(until).unwrap(),
    }
    .on(&drive)
}

fn lived(plan: &SimulationPlan) -> life::SimulatedLife {
    let lived = live(plan, None, &mut NullLifeObserver, &AtomicBool::new(false)).unwrap();
    assert_eq!(lived.simulation.failures(), [""; 0]);
    lived
}

#[test]
fn untils_are_read_and_shown() {
    for text in ["10x", "0.5x"] {
        assert_eq!(LoadEnd::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(
        LoadEnd::parse("30m").unwrap(),
        LoadEnd::Time(Nanos::from_secs(1800))
    );
    assert_eq!(
        LoadEnd::parse("100GB").unwrap(),
        LoadEnd::Bytes(100_000_000_000)
    );
    for bad in ["", "x", "0x", "-1x", "nanx", "10", "0s", "100G", "ten"] {
        let error = LoadEnd::parse(bad).unwrap_err().to_string();
        assert!(error.contains("10x"), "{bad}: {error}");
    }
}

#[test]
fn a_life_ends_where_it_should_in_both_gears() {
    for gear in [SimulationGear::Counting, SimulationGear::Timed] {
        let plan = plan(gear, "2x");
        let s = lived(&plan).simulation;
        let wanted = (2.0 * plan.config.user_bytes as f64) as u64;
        assert!(
            s.host_bytes.abs_diff(wanted) <= 4096,
            "{gear:?}: {}",
            s.host_bytes
        );
        assert_eq!(s.commands, s.host_bytes / 4096);
        assert!(!s.stopped);
    }
    let s = lived(&plan(SimulationGear::Timed, "2s")).simulation;
    let seconds = s.virtual_s.unwrap();
    assert!((2.0..2.2).contains(&seconds), "{seconds}");
}

/// What the host does not use is spare area: the WAF falls, and no more than the part is written.
#[test]
fn a_part_of_the_capacity_in_use_leaves_more_spare_area() {
    let waf = |used_pct| {
        let plan = SimulationPlan {
            used_pct,
            ..plan(SimulationGear::Counting, "4x")
        };
        let s = lived(&plan).simulation;
        let valid = plan.config.user_slots() * u64::from(used_pct) / 100;
        assert_eq!(plan.span_bytes(), valid * 4096);
        s.waf_last_quarter.unwrap()
    };
    let (whole, part) = (waf(100), waf(60));
    assert!(part < 1.5 && whole > 2.0 * part, "{whole} {part}");
    for used_pct in [0, 101] {
        let plan = SimulationPlan {
            used_pct,
            ..plan(SimulationGear::Counting, "1x")
        };
        let error = plan.validate().unwrap_err().to_string();
        assert!(error.contains("1 to 100"), "{error}");
    }
}

#[test]
fn the_same_plan_gives_the_same_bytes() {
    for gear in [SimulationGear::Counting, SimulationGear::Timed] {
        let json = || {
            let l = lived(&plan(gear, "1x"));
            serde_json::to_string(&l.simulation).unwrap() + &sample::csv(&l.samples)
        };
        assert_eq!(json(), json());
    }
}

#[test]
fn samples_add_up_to_the_result() {
    let l = lived(&plan(SimulationGear::Timed, "2x"));
    let load: Vec<_> = l.samples.iter().filter(|s| s.phase == "load").collect();
    assert!(load.len() > 100, "{}", load.len());
    let fill = l.samples.iter().rev().find(|s| s.phase == "fill").unwrap();
    let (mut bytes, mut t_s, mut nand, mut commands) = (fill.host_bytes, fill.t_s, 0.0, 0.0);
    for s in load {
        nand += s.waf.unwrap_or(0.0) * (s.host_bytes - bytes) as f64;
        commands += s.iops.unwrap_or(0.0) * (s.t_s - t_s);
        (bytes, t_s) = (s.host_bytes, s.t_s);
    }
    let s = &l.simulation;
    assert!((commands - s.commands as f64).abs() < 1.0, "{commands}");
    let waf = nand / s.host_bytes as f64;
    assert!(
        (waf / s.waf.unwrap() - 1.0).abs() < 1e-3,
        "{waf} {:?}",
        s.waf
    );
    let count: u64 = s.latency.iter().map(|l| l.count).sum();
    assert_eq!(count, s.commands, "every command's latency is recorded");
    for l in &s.latency {
        assert_eq!(l.p9999_ns.is_some(), l.count >= 10_000, "{}", l.op);
        assert!(
            l.p9999_ns
                .is_none_or(|at| l.p999_ns <= at && at <= l.max_ns)
        );
        let cells = l.cells();
        assert_eq!(cells[6] == units::NOTHING, l.p9999_ns.is_none());
    }
}

#[test]
fn uniform_greedy_is_near_its_closed_form() {
    let mut plan = plan(SimulationGear::Counting, "12x");
    plan.fill = Prefill::Random;
    let s = lived(&plan).simulation;
    let g = plan.config.geometry();
    let reclaim = &plan.config.ftl.reclaim;
    let waf = s.waf_last_quarter.unwrap();
    // N_eff = N - R - K/2 - K/(2 WA) for separate frontiers, K of each.
    let usable = f64::from(g.superblock_count - reclaim.free_superblocks_low) - 0.5 - 0.5 / waf;
    let alpha = usable * f64::from(g.slots_per_superblock) / plan.config.user_slots() as f64;
    let expected = crate::theory::closed_form::greedy(alpha, g.slots_per_superblock);
    assert!(
        (waf / expected - 1.0).abs() < 0.05,
        "{waf} expected {expected}"
    );
}

#[test]
fn a_stop_keeps_what_there_is() {
    struct StopHalfWay<'a>(&'a AtomicBool);
    impl LifeObserver for StopHalfWay<'_> {
        fn progress(&mut self, progress: &LifeProgress) {
            let half = progress.phase == LifePhase::Load && progress.done > 0.5;
            self.0.store(half, std::sync::atomic::Ordering::Relaxed);
        }
    }
    for gear in [SimulationGear::Counting, SimulationGear::Timed] {
        let stop = AtomicBool::new(false);
        let l = live(&plan(gear, "2x"), None, &mut StopHalfWay(&stop), &stop).unwrap();
        let s = l.simulation;
        assert!(s.stopped);
        assert!((0.9..1.2).contains(&s.drive_writes), "{}", s.drive_writes);
        assert_eq!(s.failures(), [""; 0]);
    }
}

#[test]
fn a_sweep_is_the_same_on_one_thread_and_on_many() {
    let (drive, base) = small();
    let dimensions: Vec<Dimension> = [
        "ftl.victim=greedy,fifo,d-choices:4",
        "op=20%,28%",
        "seed=1,2",
    ]
    .iter()
    .map(|text| Dimension::parse(text).unwrap())
    .collect();
    let sweep = LifeGrid::new(
        &drive,
        &base,
        &plan(SimulationGear::Counting, "1x"),
        &dimensions,
    )
    .unwrap();
    let run = |jobs| {
        let rows = sweep.run(jobs, &AtomicBool::new(false), |_| ()).unwrap();
        let json = serde_json::to_string(&rows).unwrap();
        (
            sweep::csv(&sweep.keys, &rows),
            sweep::table(&sweep.keys, &rows),
            json,
        )
    };
    let one = run(1);
    assert_eq!(one, run(2));
    assert_eq!(one, run(7));
    let first: Vec<&str> = one
        .0
        .lines()
        .map(|l| l.split(',').next().unwrap())
        .collect();
    assert_eq!(first.len(), 13);
    assert_eq!(
        first[..5],
        ["ftl.victim", "greedy", "greedy", "greedy", "greedy"]
    );
    assert!(
        one.1.lines().all(|line| line.chars().count() <= 80),
        "{}",
        one.1
    );
}

#[test]
fn a_life_can_be_cut_in_two_by_saving() {
    let mut first = plan(SimulationGear::Timed, "1x");
    let drive = lived(&first).drive.unwrap();
    first.fill = Prefill::None;
    let stop = AtomicBool::new(false);
    let second = live(&first, Some(drive), &mut NullLifeObserver, &stop).unwrap();
    assert_eq!(second.simulation.failures(), [""; 0]);
    assert!((second.simulation.drive_writes - 1.0).abs() < 0.01);
}

#[test]
fn impossible_plans_are_refused() {
    let cases: [fn(&mut SimulationPlan); 5] = [
        |p| p.until = LoadEnd::Time(Nanos::from_secs(1)),
        |p| p.load.read_pct = 100,
        |p| p.depth = 0,
        |p| p.load.block = 1000,
        |p| p.load.trim_pct = 101,
    ];
    for change in cases {
        let mut plan = plan(SimulationGear::Counting, "1x");
        change(&mut plan);
        let error = live(&plan, None, &mut NullLifeObserver, &AtomicBool::new(false))
            .err()
            .unwrap();
        assert!(!error.advice().is_empty(), "{error}");
    }
}

/// A skewed stream rewrites slots while they wait in the buffer; written through, each is placed.
#[test]
fn written_through_nothing_coalesces() {
    let placed = |through: bool| {
        let mut plan = plan(SimulationGear::Timed, "1x");
        plan.load.pattern = SyntheticPattern::parse("zipf:1.2").unwrap();
        plan.fill = Prefill::None;
        plan.config.buffer.protected = false;
        plan.write_through = through;
        let drive = lived(&plan).drive.unwrap();
        let counters = drive.counters();
        let slot = f64::from(plan.config.shape.slot_bytes);
        counters.slots_host as f64 * slot / counters.host_bytes_written as f64
    };
    let (buffered, through) = (placed(false), placed(true));
    assert!(buffered < 0.98, "{buffered}");
    assert_eq!(through, 1.0);
}

/// Small objects in one handle, the log of large ones in another: what reclaim finds is all of one
/// age, and the figures of the FDP log say so.
#[test]
fn data_placement_keeps_write_amplification_of_a_cache_down() {
    let with = |separation: &str, streams: u32| {
        let (drive, mut given) = small();
        for text in [
            format!("ftl.separation={separation}"),
            format!("ftl.streams={streams}"),
            "free_superblocks_low=5".to_owned(),
            "op=28%".to_owned(),
        ] {
            given.push(DriveSetting::parse(&text).unwrap());
        }
        let config = settings::apply(&drive, &given).unwrap().config;
        let mut plan = plan(SimulationGear::Counting, "10x");
        plan.config = config;
        plan.load.pattern = SyntheticPattern::parse("cache:80/4").unwrap();
        lived(&plan).simulation
    };
    let mixed = with("single", 1);
    assert_eq!(mixed.placement, None);
    let mixed = mixed.waf_last_quarter.unwrap();
    for separation in ["hint", "initially-isolated"] {
        let apart = with(separation, 2);
        let placement = apart.placement.unwrap();
        let waf = placement.media_bytes_written as f64 / placement.host_bytes_with_metadata as f64;
        assert!(
            (waf - apart.waf.unwrap()).abs() < 0.01,
            "{waf} {:?}",
            apart.waf
        );
        assert!(apart.waf_last_quarter.unwrap() < 1.1, "{separation}");
        assert!(mixed > 1.4, "{mixed}");
        assert!(placement.media_bytes_erased > 0 && placement.handle_count == 2);
    }
}
