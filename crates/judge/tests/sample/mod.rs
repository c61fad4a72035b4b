//! A believable qualification and two runs, made up from the published figures: a file on a
//! virtual disk, a consumer drive without protection (a drop of about 10,000 IOPS after two
//! minutes; 220 IOPS written through, so 66 durable writes per second) and its protected twin.
//!
//! Built as JSON, so that fields added to the results later need no change here.

use serde_json::{Value, json};
use ssdlab_base::check::SelfCheck;
use ssdlab_bench::analysis::{SteadyState, WriteCliff};
use ssdlab_bench::device::{Counters, TargetFacts};
use ssdlab_bench::record::{OpSecond, PhaseCounters, RunEnding, Second};
use ssdlab_bench::report::{OpTotals, PhaseName, RunReport};
use ssdlab_judge::qualify::Qualification;
use ssdlab_ssd::Op;

/// Seconds of a sustained load.
pub const RUN_S: usize = 1_800;

/// What a drive does under a sustained load: IOPS and write p99 before and after `cliff_s`.
struct Load {
    iops: [f64; 2],
    p99_us: [f64; 2],
    cliff_s: usize,
    read_share: f64,
    noise: f64,
}

/// A repeatable number in -1..1.
fn noise(seed: u64, t: usize) -> f64 {
    let mut x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(t as u64);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn op_second(count: f64, p99_us: f64) -> OpSecond {
    let count = count.round().max(0.0) as u64;
    let p99_ns = (p99_us * 1e3) as u64;
    OpSecond {
        count,
        bytes: count * 4096,
        mean_ns: p99_us * 400.0,
        p50_ns: p99_ns * 3 / 8,
        p99_ns,
        p999_ns: p99_ns * 2,
        max_ns: p99_ns * 3,
    }
}

fn seconds(load: &Load, seed: u64, length: usize) -> Vec<Second> {
    (0..length)
        .map(|t| {
            let level = usize::from(t >= load.cliff_s);
            let shake = |n| 1.0 + load.noise * noise(seed + n, t);
            let iops = load.iops[level] * shake(0);
            let mut ops = [OpSecond::default(); Op::COUNT];
            let p99 = load.p99_us[level] * shake(1);
            if load.read_share > 0.0 {
                ops[Op::Read as usize] = op_second(iops * load.read_share, p99 * 0.6);
            }
            if load.read_share < 1.0 {
                ops[Op::Write as usize] = op_second(iops * (1.0 - load.read_share), p99);
            }
            Second {
                phase: 0,
                t_s: t as i64,
                length_s: 1.0,
                ops,
                nand_bytes_written: None,
                device_flushes: None,
            }
        })
        .collect()
}

fn iops(second: &Second) -> f64 {
    second.ops.iter().map(|op| op.count as f64).sum()
}

fn steady(seconds: &[Second], first_round: usize) -> SteadyState {
    let rounds: Vec<f64> = seconds
        .chunks_exact(60)
        .map(|round| round.iter().map(iops).sum::<f64>() / 60.0)
        .collect();
    let window = rounds[first_round..first_round + 5].to_vec();
    SteadyState {
        attained: true,
        window_start: first_round,
        average: window.iter().sum::<f64>() / 5.0,
        window,
        range_share: 0.02,
        excursion_share: 0.01,
        slope: -3.5,
        left_for: None,
    }
}

fn cliff(load: &Load) -> Option<WriteCliff> {
    (load.iops[0] > load.iops[1] * 1.2).then(|| WriteCliff {
        at_s: load.cliff_s as f64,
        after_bytes: (load.cliff_s as f64 * load.iops[0] * 4096.0) as u64,
        before: load.iops[0],
        after: load.iops[1],
        signal_to_noise: 40.0,
    })
}

fn sustained(name: &str, title: &str, load: &Load, seed: u64) -> Value {
    let seconds = seconds(load, seed, RUN_S);
    json!({
        "name": name, "title": title,
        "steady": steady(&seconds, 4), "cliff": cliff(load), "seconds": seconds,
        "iops_end": load.iops[1], "write_p99_ns": (load.p99_us[1] * 1e3) as u64,
        "waf": if seed.is_multiple_of(3) { Value::Null } else { json!(1.0 + load.p99_us[1] / 4e3) },
    })
}

fn probe(method: &str, writers: u32, per_second: f64, p50_us: f64, p99_us: f64) -> Value {
    let durable = f64::from(u8::from(method != "plain"));
    let fua = f64::from(u8::from(method == "fua"));
    json!({
        "method": method, "block_size": 4096, "writers": writers, "per_second": per_second,
        "mean_ns": p50_us * 1.05e3, "p50_ns": (p50_us * 1e3) as u64,
        "p99_ns": (p99_us * 1e3) as u64, "p999_ns": (p99_us * 1.4e3) as u64,
        "max_ns": (p99_us * 3e3) as u64, "count": (per_second * 30.0) as u64,
        "device_writes": 1.0, "device_fua": fua, "device_flushes": durable - fua,
        "waf": 1.0 + durable * 3.2,
    })
}

/// Probes of one drive: plain and durable with one writer, durable with 2, 4 and 8.
fn probes(plain: f64, durable: f64, scaling: f64, p99_over_p50: f64) -> Vec<Value> {
    let us = |rate: f64| 1e6 / rate;
    let mut all = vec![probe("plain", 1, plain, us(plain), us(plain) * 2.5)];
    for (method, share) in [("fua", 1.0), ("write_flush", 0.94)] {
        for writers in [1u32, 2, 4, 8] {
            let rate = durable * share * f64::from(writers).powf(scaling);
            let p50 = us(rate) * f64::from(writers);
            all.push(probe(method, writers, rate, p50, p50 * p99_over_p50));
        }
    }
    all
}

fn flush_points(base_us: f64, us_per_mib: f64) -> Vec<Value> {
    let sizes = (12..=26).step_by(2).map(|log2| 1u64 << log2);
    sizes
        .map(|dirty| {
            let p50 = base_us + us_per_mib * dirty as f64 / 1_048_576.0;
            json!({
                "dirty_bytes": dirty, "p50_ns": (p50 * 1e3) as u64,
                "max_ns": (p50 * 1.8e3) as u64, "count": 50,
            })
        })
        .collect()
}

fn loads(drive: usize) -> Vec<Value> {
    let load = |iops, p99_us, cliff_s, read_share, noise| Load {
        iops,
        p99_us,
        cliff_s,
        read_share,
        noise,
    };
    let all: [[Load; 4]; 3] = [
        [
            load([5_200.0; 2], [2_100.0; 2], 0, 0.0, 0.12),
            load([519.0; 2], [12_900.0; 2], 0, 0.0, 0.15),
            load([6_900.0; 2], [1_900.0; 2], 0, 0.7, 0.10),
            load([1_610.0; 2], [13_500.0; 2], 0, 0.7, 0.15),
        ],
        [
            load([71_000.0, 9_400.0], [700.0, 9_800.0], 64, 0.0, 0.04),
            load([66.0; 2], [31_000.0; 2], 0, 0.0, 0.05),
            load([22_100.0, 12_000.0], [420.0, 1_350.0], 120, 0.7, 0.02),
            load([262.0, 220.0], [29_000.0, 33_000.0], 120, 0.7, 0.03),
        ],
        [
            load([62_000.0, 21_000.0], [800.0, 2_600.0], 96, 0.0, 0.03),
            load([24_100.0; 2], [61.0; 2], 0, 0.0, 0.02),
            load([22_300.0; 2], [410.0; 2], 0, 0.7, 0.02),
            load([21_900.0; 2], [430.0; 2], 0, 0.7, 0.02),
        ],
    ];
    let names = [
        (
            "random_write_4k_qd32",
            "4 KiB random writes, 32 outstanding",
        ),
        (
            "durable_write_4k_qd1",
            "4 KiB durable writes, one outstanding",
        ),
        (
            "mixed_70_30_4k_qd8",
            "70 % reads, 30 % writes, 8 outstanding",
        ),
        (
            "mixed_70_30_4k_qd8_durable",
            "70 % reads, 30 % durable writes, 8 outstanding",
        ),
    ];
    let named = names.iter().zip(&all[drive]).enumerate();
    named
        .map(|(i, ((name, title), load))| sustained(name, title, load, (drive * 10 + i) as u64))
        .collect()
}

fn facts(drive: usize) -> Value {
    match drive {
        0 => json!({
            "name": "/srv/pool/probe.img", "kind": "file", "capacity": 8_589_934_592u64,
            "block_size": 4096, "interface": "virtio", "write_cache": "write back",
            "fua": false, "rotational": true, "virtualised": true, "file_system": "ext4",
            "notes": ["The hypervisor decides what a flush does; the drive underneath is hidden."],
        }),
        _ => json!({
            "name": if drive == 1 { "consumer-sata-1tb" } else { "consumer-sata-1tb-protected" },
            "kind": "modelled", "capacity": 1_000_204_886_016u64, "block_size": 512,
            "model": "1 TB consumer SATA", "interface": "sata", "write_cache": "write back",
            "fua": true, "power_loss_protection": drive == 2,
            "power_loss_protection_source": if drive == 1 { "data sheet lists none" }
                else { "the same drive with its buffer protected, by assumption" },
            "rated_bytes_written": 185_000_000_000_000u64, "warranty_years": 5.0,
            "rotational": false, "notes": [],
        }),
    }
}

fn evidence(drive: usize) -> Value {
    let (probes, flush) = match drive {
        0 => (
            probes(7_400.0, 519.0, 0.55, 6.6),
            flush_points(1_300.0, 480.0),
        ),
        1 => (
            probes(22_500.0, 66.0, 0.08, 2.05),
            flush_points(14_800.0, 2_100.0),
        ),
        _ => (
            probes(24_400.0, 24_100.0, 0.45, 1.5),
            flush_points(22.0, 0.05),
        ),
    };
    let rests_on: &[&str] = match drive {
        0 => &[],
        1 => &[
            "flush overhead 11.2 ms: calibrated against 220 IOPS written through (s2d)",
            "cache of 3.2 GB before the cliff: calibrated against 'about 2 minutes in' (s2d)",
            "program time 1.4 ms: assumed, typical of planar TLC",
        ],
        _ => &["protected buffer: assumed; all else as consumer-sata-1tb"],
    };
    json!({
        "facts": facts(drive), "probes": probes, "flush_by_dirty": flush,
        "sustained": loads(drive), "rests_on": rests_on,
    })
}

fn finding(id: &str, hard: bool, outcome: &str, shown: [&str; 5], grade: &str) -> Value {
    let [title, value, limit, why, source] = shown;
    json!({
        "id": id, "title": title, "hard": hard, "outcome": outcome, "value": value,
        "limit": limit, "grade": grade, "why": why, "source": source,
    })
}

fn findings() -> Vec<Value> {
    vec![
        finding(
            "durability",
            true,
            "UNKNOWN",
            [
                "Acknowledged, flushed writes survive a power cut",
                "unknown",
                "yes",
                "This is a virtual machine's disk: what is underneath is not visible. A durable \
                 write took 1.93 ms: long enough for the media to have been written, but only \
                 power cuts can tell whether it was.",
                "Storage Spaces Direct hardware requirements",
            ],
            "behavioural",
        ),
        finding(
            "durable_write_rate",
            true,
            "FAIL",
            [
                "Durable 4 KiB writes, one writer",
                "519 /s",
                ">= 2,200 /s",
                "519 durable writes per second with one writer; per durable write the device saw \
                 1.00 writes, 1.00 of them FUA, and 0.00 flushes.",
                "ssdlab's own judgement: ten times the 220 IOPS that the published consumer \
                 drive gave up at",
            ],
            "behavioural",
        ),
        finding(
            "sustained_write",
            false,
            "PASS",
            [
                "No write cliff within half an hour",
                "none found",
                "none",
                "4 KiB random writes with 32 outstanding stayed at 5.2k IOPS for 1,800 s.",
                "D. Lovinger, consumer SSDs in Storage Spaces Direct (2016)",
            ],
            "behavioural",
        ),
        finding(
            "endurance",
            false,
            "UNKNOWN",
            [
                "Endurance",
                "unknown",
                ">= 3 DWPD",
                "No rating is documented or declared for what is underneath.",
                "Storage Spaces Direct hardware requirements: at least 3 DWPD",
            ],
            "none",
        ),
    ]
}

/// Verdict of one of the three drives.
fn verdict(drive: usize) -> Value {
    let (outcome, answer) = match drive {
        0 => (
            "FAIL",
            "No: as a cache device this disk would hold every write back to 519 a second, and \
             nothing shows that an acknowledged write survives a power cut.",
        ),
        1 => (
            "FAIL",
            "No: 66 durable writes a second, and no power-loss protection.",
        ),
        _ => ("PASS", "Yes: durable writes are as fast as buffered ones."),
    };
    let mechanisms = json!([
        {
            "id": "flush_reaches_slow_media", "title": "Every durable write waits for the media",
            "sentence": "A plain write takes 135 us, a durable one 1.93 ms: 14 times as long. \
                         The volatile buffer is emptied for each of them.",
        },
        {
            "id": "flush_grows", "title": "A flush takes longer the more is dirty",
            "sentence": "1.30 ms after 4 KiB, 32.0 ms after 64 MiB: other writers' dirty bytes \
                         are paid for by whoever flushes first.",
        },
    ]);
    json!({
        "role": "s2d-cache", "outcome": outcome, "answer": answer,
        "findings": if drive == 0 { findings() } else { vec![] },
        "mechanisms": if drive == 2 { json!([]) } else { mechanisms },
    })
}

/// A finished qualification of a file, with the consumer drive and its twin beside it.
pub fn qualification() -> Qualification {
    let drive = |i| json!({"evidence": evidence(i), "verdict": verdict(i)});
    let q = json!({
        "version": 1, "role": "s2d-cache", "profile": "standard", "seed": 42,
        "target": drive(0), "references": [drive(1), drive(2)],
        "incomplete": ["Whole-drive preconditioning: left out, only the file may be written."],
    });
    serde_json::from_value(q).expect("the sample follows the result format")
}

/// The published mixed load on the consumer drive, buffered and written through.
pub fn runs() -> Vec<RunReport> {
    let load = |iops, p99_us| Load {
        iops,
        p99_us,
        cliff_s: 120,
        read_share: 0.7,
        noise: 0.02,
    };
    vec![
        run(
            "buffered",
            "-Su",
            &load([22_100.0, 12_000.0], [420.0, 1_350.0]),
        ),
        run("through", "-Suw", &load([262.0, 220.0], [29e3, 33e3])),
    ]
}

/// A run of three phases.
pub fn phases() -> RunReport {
    let mut run = runs().swap_remove(0);
    let name = |name: &str, what: &str| PhaseName {
        name: name.into(),
        what: what.into(),
    };
    run.phase_names = vec![
        name("precondition", "write 128 KiB, depth 32"),
        name("r65-8k", "randrw 65/35 8 KiB, depth 32 x 4"),
        name(
            "reader + writer",
            "randread 4 KiB, depth 1 + write 512 B to 64 KiB, depth 128 x 16",
        ),
    ];
    let (read, write) = (run.totals[0].clone(), run.totals[1].clone());
    let of = |total: &OpTotals, phase| OpTotals {
        phase,
        ..total.clone()
    };
    run.totals = vec![
        of(&write, 0),
        of(&read, 1),
        of(&write, 1),
        of(&read, 2),
        of(&write, 2),
    ];
    run
}

fn run(label: &str, flag: &str, load: &Load) -> RunReport {
    let seconds = seconds(load, 7, RUN_S);
    let facts: TargetFacts = serde_json::from_value(facts(1)).expect("facts follow the format");
    let op = |op: Op| {
        let each = || seconds.iter().map(|s| s.ops[op as usize]);
        let count: u64 = each().map(|o| o.count).sum();
        OpTotals {
            phase: 0,
            op,
            count,
            bytes: count * 4096,
            errors: 0,
            length_s: RUN_S as f64,
            mean_ns: load.p99_us[1] * 400.0,
            p50_ns: (load.p99_us[1] * 375.0) as u64,
            p99_ns: (load.p99_us[1] * 1e3) as u64,
            p999_ns: (load.p99_us[1] * 1.5e3) as u64,
            max_ns: each().map(|o| o.max_ns).max().unwrap_or(0),
        }
    };
    let totals = vec![op(Op::Read), op(Op::Write)];
    let written = totals[1].bytes;
    RunReport {
        label: label.into(),
        title: format!("Mixed 70/30, 4 KiB random, 8 threads, {label}"),
        command: format!(
            "diskspd -t8 -b4k -r4k -o1 -w30 {flag} -D -L -d{RUN_S} -Rxml consumer-sata-1tb"
        ),
        phase_names: Vec::new(),
        counters: vec![PhaseCounters {
            before: Counters {
                writes: Some(100),
                ..Counters::default()
            },
            after: Counters {
                writes: Some(100 + totals[1].count),
                host_bytes_written: Some(written),
                nand_bytes_written: Some(written * 4),
                ..Counters::default()
            },
        }],
        steady: Some(steady(&seconds, 5)),
        steady_round_s: 60.0,
        cliff: cliff(load),
        analysed_phase: 0,
        ending: RunEnding::Complete,
        checks: vec![
            SelfCheck::new("little's law", Ok(())),
            SelfCheck::new("page conservation", Ok(())),
        ],
        premises: Vec::new(),
        notes: vec!["seed 42".into()],
        facts,
        seconds,
        totals,
    }
}
