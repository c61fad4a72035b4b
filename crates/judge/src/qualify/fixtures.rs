//! Hand-made evidence for tests: drives whose verdicts are known beforehand.

use super::loads::{self, RoleLoad};
use super::{
    DurableRun, Evidence, FlushPoint, Overwrite, SustainedRun, UsedRun, WriteProbe, names,
};
use ssdlab_bench::analysis::{SteadyState, WriteCliff};
use ssdlab_bench::device::{TargetFacts, TargetKind};
use ssdlab_bench::record::{OpSecond, Second};
use ssdlab_ssd::Op;

pub fn facts(kind: TargetKind) -> TargetFacts {
    TargetFacts {
        name: "fixture".into(),
        typed: None,
        kind,
        capacity: 1_000_000_000_000,
        block_size: 512,
        model: None,
        serial: None,
        interface: None,
        write_cache: Some("write back".into()),
        fua: None,
        power_loss_protection: None,
        power_loss_protection_source: None,
        power_loss_protection_assumed: false,
        rated_bytes_written: None,
        warranty_years: None,
        rotational: Some(false),
        virtualised: Some(false),
        file_system: None,
        health: None,
        heat: None,
        notes: Vec::new(),
    }
}

/// A probe whose tail is 1.5 times its median.
pub fn probe(method: &str, writers: u32, p50_us: f64, per_second: f64) -> WriteProbe {
    let p50_ns = (p50_us * 1e3) as u64;
    let durable = method != names::PLAIN;
    WriteProbe {
        method: method.into(),
        block_size: 4096,
        writers,
        per_second,
        mean_ns: p50_us * 1e3,
        p50_ns,
        p99_ns: p50_ns * 3 / 2,
        p999_ns: p50_ns * 2,
        p9999_ns: p50_ns * 5 / 2,
        max_ns: p50_ns * 3,
        flush_p99_ns: (method == names::WRITE_FLUSH).then_some(p50_ns * 7 / 5),
        count: (per_second * 4.0) as u64,
        device_writes: Some(1.0),
        device_fua: Some(if method == names::FUA { 1.0 } else { 0.0 }),
        device_flushes: Some(if durable { 1.0 } else { 0.0 }),
        waf: None,
    }
}

pub fn flush(dirty_bytes: u64, p50_us: f64) -> FlushPoint {
    FlushPoint {
        dirty_bytes,
        p50_ns: (p50_us * 1e3) as u64,
        max_ns: (p50_us * 2e3) as u64,
        count: 16,
    }
}

pub fn second(t_s: i64, op: Op, count: u64) -> Second {
    let mut ops = [OpSecond::default(); Op::COUNT];
    ops[op as usize].count = count;
    Second {
        phase: 0,
        t_s,
        length_s: 1.0,
        ops,
        nand_bytes_written: None,
        device_flushes: None,
    }
}

/// A run of the given number of even seconds; with a read tail when it reads.
pub fn run(name: &str, length_s: i64, iops: f64, read_p99_us: f64) -> SustainedRun {
    SustainedRun {
        name: name.into(),
        title: name.into(),
        seconds: (0..length_s)
            .map(|t| second(t, Op::Write, iops as u64))
            .collect(),
        iops_end: iops,
        read_p50_ns: (read_p99_us * 500.0) as u64,
        read_p99_ns: (read_p99_us * 1e3) as u64,
        ..SustainedRun::default()
    }
}

fn loads(mixed: f64, durable: f64, busy_p99_us: f64, length_s: i64) -> Vec<SustainedRun> {
    vec![
        run(names::READ_QD1, length_s, 8_000.0, 200.0),
        run(names::READ_QD32, length_s, 90_000.0, 800.0),
        run(names::MIXED, length_s, mixed, busy_p99_us),
        run(names::MIXED_DURABLE, length_s, durable, busy_p99_us),
        run(names::RANDOM_WRITE, length_s, mixed, 0.0),
    ]
}

/// A terabyte overwritten until nothing moved: one writer's durable rate fell from `before` to
/// `after`, the rate of all after 21 GB.
pub fn overwritten(p50_us: f64, before: f64, after: f64) -> Overwrite {
    let p50_ns = (p50_us * 1e3) as u64;
    let run = |method: &str| DurableRun {
        method: method.into(),
        before,
        after,
        count: 100_000,
        p50_ns,
        p99_ns: p50_ns * 3 / 2,
        p999_ns: p50_ns * 2,
        p9999_ns: p50_ns * 5 / 2,
        max_ns: p50_ns * 3,
        after_80_min: None,
    };
    let used = |load: &RoleLoad| UsedRun {
        load: load.name.into(),
        per_second: after,
        count: 10_000,
        p50_ns,
        p99_ns: p50_ns * 3 / 2,
        max_ns: p50_ns * 3,
        commit_bytes: 4096.0,
    };
    let whole = 1_000_000_000_000;
    Overwrite {
        scaled: "scaled".into(),
        capacity: whole,
        written: 3 * whole,
        needed: 3 * whole,
        rates: vec![before, after, after],
        point_bytes: 21_000_000_000,
        sustained: after,
        waf: 2.5,
        longest_ns: p50_ns * 30,
        written_80_min: None,
        rate_steady: true,
        waf_steady: true,
        map_steady: true,
        durable: vec![run(names::FUA), run(names::WRITE_FLUSH)],
        used: loads::LOADS.iter().map(used).collect(),
        faults: None,
    }
}

/// The article's 1 TB consumer SATA drive, modelled: 66 durable writes a second.
pub fn consumer() -> Evidence {
    let mut e = Evidence::none(facts(TargetKind::Modelled));
    e.facts.power_loss_protection = Some(false);
    e.facts.power_loss_protection_source = Some("article: volatile write cache".into());
    e.facts.rated_bytes_written = Some(185_000_000_000_000);
    e.facts.warranty_years = Some(5.0);
    e.probes = vec![
        probe(names::PLAIN, 1, 30.0, 30_000.0),
        probe(names::FUA, 1, 15_100.0, 66.0),
        probe(names::WRITE_FLUSH, 1, 15_200.0, 66.0),
        probe(names::FUA, 8, 120_000.0, 67.0),
        probe(names::WRITE_FLUSH, 8, 120_000.0, 68.0),
    ];
    e.flush_by_dirty = vec![flush(4096, 15_000.0), flush(16 << 20, 400_000.0)];
    e.sustained = loads(30_000.0, 220.0, 5_000.0, 12);
    e.overwrite = Some(overwritten(15_100.0, 66.0, 66.0));
    e
}

/// The same drive with its buffer protected and server endurance.
pub fn protected() -> Evidence {
    let mut e = consumer();
    e.facts.power_loss_protection = Some(true);
    e.facts.power_loss_protection_source = Some("data sheet: power loss protection".into());
    e.facts.rated_bytes_written = Some(7_300_000_000_000_000);
    e.probes = vec![
        probe(names::PLAIN, 1, 30.0, 30_000.0),
        probe(names::FUA, 1, 32.0, 29_000.0),
        probe(names::WRITE_FLUSH, 1, 40.0, 24_000.0),
        probe(names::FUA, 8, 90.0, 85_000.0),
        probe(names::WRITE_FLUSH, 8, 100.0, 75_000.0),
    ];
    e.flush_by_dirty = vec![flush(4096, 10.0), flush(16 << 20, 12.0)];
    e.sustained = loads(30_000.0, 29_000.0, 700.0, 300);
    e.overwrite = Some(overwritten(40.0, 29_000.0, 29_000.0));
    e.sustained
        .push(run(names::DURABLE_WRITE, 60, 29_000.0, 0.0));
    for run in &mut e.sustained {
        run.steady = Some(steady(0.04, 0.01));
    }
    e
}

/// A file on a virtual machine's disk that reports write back: fast enough, nothing else known.
pub fn virtio_file() -> Evidence {
    let mut e = Evidence::none(facts(TargetKind::File));
    e.facts.virtualised = Some(true);
    e.facts.interface = Some("virtio".into());
    e.facts.file_system = Some("ext4".into());
    e.probes = vec![
        probe(names::PLAIN, 1, 18.0, 40_000.0),
        probe(names::FUA, 1, 21.0, 38_000.0),
        probe(names::WRITE_FLUSH, 1, 45.0, 20_000.0),
        probe(names::FUA, 8, 60.0, 110_000.0),
        probe(names::WRITE_FLUSH, 8, 90.0, 80_000.0),
    ];
    e.flush_by_dirty = vec![flush(4096, 20.0), flush(16 << 20, 60.0)];
    e.sustained = loads(50_000.0, 40_000.0, 900.0, 12);
    e
}

/// A drive with a write-back cache whose flushes return at once.
pub fn liar() -> Evidence {
    let mut e = virtio_file();
    e.facts.kind = TargetKind::BlockDevice;
    e.facts.virtualised = Some(false);
    e.probes[1] = probe(names::FUA, 1, 6.0, 140_000.0);
    e.probes[2] = probe(names::WRITE_FLUSH, 1, 8.0, 110_000.0);
    e
}

/// A protected drive that falls to an eighth of its rate after two minutes.
pub fn cliff() -> Evidence {
    let mut e = protected();
    e.overwrite = Some(overwritten(40.0, 29_000.0, 3_625.0));
    for run in &mut e.sustained {
        if run.name == names::RANDOM_WRITE {
            run.iops_end = 5_000.0;
            run.steady = Some(steady(0.9, 0.4));
            run.cliff = Some(WriteCliff {
                at_s: 118.0,
                after_bytes: 19 << 30,
                before: 40_000.0,
                after: 5_000.0,
                signal_to_noise: 30.0,
            });
        }
    }
    e
}

pub fn steady(range_share: f64, excursion_share: f64) -> SteadyState {
    SteadyState {
        attained: range_share <= 0.20 && excursion_share <= 0.10,
        window_start: 0,
        window: vec![1.0; 5],
        average: 1.0,
        range_share,
        excursion_share,
        slope: 0.0,
        left_for: None,
    }
}
