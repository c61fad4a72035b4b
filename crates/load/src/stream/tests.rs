use super::*;
use crate::plan::{CapacityShares, Distribution, JobTiming, WriteDurability, WritePayload};
use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::strategy::{Just, Strategy};

const MIB: u64 = 1 << 20;

fn sized(list: &[(u32, u8)]) -> [Vec<BlockSize>; 3] {
    let list: Vec<_> = list
        .iter()
        .map(|&(bytes, percent)| BlockSize { bytes, percent })
        .collect();
    [list.clone(), list.clone(), list]
}

fn random(align: u64, distribution: Distribution, each_once: bool) -> Order {
    Order::Random {
        align,
        distribution,
        each_once,
    }
}

fn endless() -> JobTiming {
    JobTiming {
        time_based: true,
        ..JobTiming::default()
    }
}

fn take(job: &JobSpec, capacity: u64, count: usize) -> Vec<Command> {
    let mut stream = JobStream::new(job, 0, capacity).unwrap();
    std::iter::from_fn(|| stream.next_command())
        .take(count)
        .collect()
}

fn offsets(commands: &[Command]) -> Vec<u64> {
    commands.iter().map(|c| c.offset).collect()
}

#[test]
fn sequential_reads_cover_the_region_once_and_end() {
    let job = JobSpec {
        offset: 4096,
        region: Some(5 * 4096 + 512),
        ..JobSpec::default()
    };
    let commands = take(&job, MIB, 100);
    assert_eq!(offsets(&commands), [1, 2, 3, 4, 5].map(|n| n * 4096));
    assert!(
        commands
            .iter()
            .all(|c| c.op == Op::Read && c.len == 4096 && !c.fua)
    );
}

#[test]
fn sequential_wraps_where_the_next_block_does_not_fit() {
    let job = JobSpec {
        region: Some(3 * 4096 + 512),
        io_limit: Some(5 * 4096),
        ..JobSpec::default()
    };
    assert_eq!(offsets(&take(&job, MIB, 100)), [0, 4096, 8192, 0, 4096]);
}

#[test]
fn a_stride_leaves_gaps_and_wraps() {
    let order = Order::Sequential {
        stride: Some(8192),
        start_step: 0,
        split_positions: false,
    };
    let job = JobSpec {
        order,
        region: Some(20480),
        time: endless(),
        ..JobSpec::default()
    };
    assert_eq!(offsets(&take(&job, MIB, 4)), [0, 8192, 16384, 0]);
    let order = Order::Sequential {
        stride: Some(MIB),
        start_step: 0,
        split_positions: false,
    };
    let job = JobSpec {
        order,
        region: Some(20480),
        time: endless(),
        ..JobSpec::default()
    };
    assert_eq!(offsets(&take(&job, MIB, 3)), [0, 0, 0]);
}

#[test]
fn copies_start_a_step_apart_and_wrap_to_the_region_s_start() {
    let order = Order::Sequential {
        stride: None,
        start_step: 8192,
        split_positions: false,
    };
    let job = JobSpec {
        order,
        region: Some(16384),
        time: endless(),
        ..JobSpec::default()
    };
    let mut stream = JobStream::new(&job, 1, MIB).unwrap();
    let got: Vec<u64> = (0..4)
        .map(|_| stream.next_command().unwrap().offset)
        .collect();
    assert_eq!(got, [8192, 12288, 0, 4096]);
    let error = JobStream::new(&job, 2, MIB).unwrap_err();
    assert_eq!(
        error.to_string(),
        "job ``: copy 2 would start 16 KiB into a region of 16 KiB"
    );
}

#[test]
fn split_positions_keep_reads_and_writes_apart() {
    for split in [true, false] {
        let job = JobSpec {
            mix: Mix::ReadWrite { read_pct: 50 },
            order: Order::Sequential {
                stride: None,
                start_step: 0,
                split_positions: split,
            },
            ..JobSpec::default()
        };
        let commands = take(&job, MIB, 40);
        let all = offsets(&commands);
        let reads = commands
            .iter()
            .filter(|c| c.op == Op::Read)
            .map(|c| c.offset);
        assert_eq!(reads.enumerate().all(|(n, o)| o == n as u64 * 4096), split);
        assert_eq!(
            all.iter().enumerate().all(|(n, o)| *o == n as u64 * 4096),
            !split
        );
    }
}

proptest! {
    #[test]
    fn each_once_visits_every_block_exactly_once_a_pass(
        blocks in 1u64..2000, tail in 0u64..8, seed: u64,
    ) {
        let job = JobSpec {
            order: random(4096, Distribution::Uniform, true),
            region: Some(blocks * 4096 + tail * 512),
            time: endless(),
            seed,
            ..JobSpec::default()
        };
        let commands = take(&job, 16 * MIB, 2 * blocks as usize);
        for pass in commands.chunks(blocks as usize) {
            let mut seen = offsets(pass);
            seen.sort_unstable();
            prop_assert!(seen.into_iter().eq((0..blocks).map(|n| n * 4096)));
        }
    }
}

#[test]
fn successive_passes_differ() {
    let job = JobSpec {
        order: random(4096, Distribution::Uniform, true),
        region: Some(MIB),
        time: endless(),
        ..JobSpec::default()
    };
    let commands = offsets(&take(&job, MIB, 512));
    assert_ne!(commands[..256], commands[256..]);
}

#[test]
fn uniform_addresses_are_uniform() {
    let job = JobSpec {
        order: random(4096, Distribution::Uniform, false),
        time: endless(),
        ..JobSpec::default()
    };
    let mut counts = [0u64; 256];
    for command in take(&job, MIB, 256_000) {
        counts[(command.offset / 4096) as usize] += 1;
    }
    // Chi-square, 255 degrees of freedom: mean 255, standard deviation 22.6; five of them.
    let chi: f64 = counts
        .iter()
        .map(|&c| (c as f64 - 1000.0).powi(2) / 1000.0)
        .sum();
    assert!(chi < 368.0, "{chi}");
}

#[test]
fn sizes_come_in_their_shares_and_stay_inside() {
    let shares = [(512, 4), (4096, 67), (16384, 19), (65536, 10)];
    let job = JobSpec {
        mix: Mix::Write,
        block_sizes: sized(&shares),
        order: random(4096, Distribution::Uniform, false),
        time: endless(),
        ..JobSpec::default()
    };
    let commands = take(&job, MIB, 100_000);
    for (bytes, percent) in shares {
        let count = commands.iter().filter(|c| c.len == bytes).count() as f64;
        let expected = 1000.0 * f64::from(percent);
        assert!(
            (count - expected).abs() < 5.0 * expected.sqrt(),
            "{bytes}: {count}"
        );
    }
    assert!(commands.iter().all(|c| c.offset + u64::from(c.len) <= MIB));
    assert!(commands.iter().all(|c| c.offset % 4096 == 0));
}

#[test]
fn the_mix_has_its_share_and_does_not_move_the_addresses() {
    let job = |read_pct| JobSpec {
        mix: Mix::ReadWrite { read_pct },
        order: random(4096, Distribution::Uniform, false),
        time: endless(),
        ..JobSpec::default()
    };
    let commands = take(&job(30), MIB, 100_000);
    let reads = commands.iter().filter(|c| c.op == Op::Read).count();
    assert!(reads.abs_diff(30_000) < 750, "{reads}");
    assert_eq!(offsets(&commands), offsets(&take(&job(70), MIB, 100_000)));
    assert!(take(&job(0), MIB, 1000).iter().all(|c| c.op == Op::Write));
    assert!(take(&job(100), MIB, 1000).iter().all(|c| c.op == Op::Read));
}

#[test]
fn flushes_follow_every_nth_write() {
    let job = JobSpec {
        mix: Mix::Write,
        durability: WriteDurability {
            flush_every: 3,
            ..WriteDurability::default()
        },
        region: Some(6 * 4096),
        ..JobSpec::default()
    };
    let ops: Vec<Op> = take(&job, MIB, 100).iter().map(|c| c.op).collect();
    let (w, f) = (Op::Write, Op::Flush);
    assert_eq!(ops, [w, w, w, f, w, w, w, f]);
}

#[test]
fn writes_carry_fua_and_compressibility_and_reads_do_not() {
    let job = JobSpec {
        mix: Mix::ReadWrite { read_pct: 50 },
        durability: WriteDurability {
            fua: true,
            ..WriteDurability::default()
        },
        data: WritePayload {
            compress_pct: 40,
            refill: false,
        },
        ..JobSpec::default()
    };
    for command in take(&job, MIB, 100) {
        let write = command.op == Op::Write;
        assert_eq!(
            (command.fua, command.compress_pct),
            (write, if write { 40 } else { 0 })
        );
    }
}

#[test]
fn shares_of_the_target_become_bytes() {
    let job = JobSpec {
        shares: CapacityShares {
            offset: Some(50),
            region: Some(25),
            io_limit: Some(50),
        },
        ..JobSpec::default()
    };
    let commands = take(&job, MIB, 1000);
    assert_eq!(commands.len(), 32);
    assert_eq!(commands[0].offset, MIB / 2);
    let whole = CapacityShares {
        offset: Some(50),
        region: Some(100),
        io_limit: None,
    };
    let job = JobSpec {
        shares: whole,
        ..JobSpec::default()
    };
    assert_eq!(take(&job, MIB, 1000).len(), 128);
}

#[test]
fn copies_and_seeds_differ_and_repeat() {
    let job = JobSpec {
        order: random(512, Distribution::Uniform, false),
        ..JobSpec::default()
    };
    let first = |job: &JobSpec, copy| {
        let mut stream = JobStream::new(job, copy, MIB).unwrap();
        [(); 8].map(|()| stream.next_command().unwrap().offset)
    };
    assert_eq!(first(&job, 0), first(&job, 0));
    assert_ne!(first(&job, 0), first(&job, 1));
    assert_ne!(
        first(&job, 0),
        first(
            &JobSpec {
                seed: 1,
                ..job.clone()
            },
            0
        )
    );
}

#[test]
fn commands_of_a_seed_stay_what_they_are() {
    // Golden: a change here changes every recorded run.
    let job = JobSpec {
        order: random(4096, Distribution::Uniform, false),
        seed: 42,
        ..JobSpec::default()
    };
    let blocks: Vec<u64> = offsets(&take(&job, 1 << 30, 4))
        .iter()
        .map(|o| o / 4096)
        .collect();
    assert_eq!(blocks, [117_571, 233_811, 160_791, 165_314]);
}

/// Jobs no stream can be made of on 1 MiB, with the message.
fn impossible_jobs() -> Vec<(JobSpec, &'static str)> {
    let base = JobSpec {
        name: "j".to_owned(),
        ..JobSpec::default()
    };
    let mut cases = vec![
        (
            JobSpec {
                offset: 100,
                ..base.clone()
            },
            "job `j`: its offset of 100 bytes is not a multiple of 512",
        ),
        (
            JobSpec {
                offset: MIB,
                ..base.clone()
            },
            "job `j`: it starts at byte 1048576, but the target ends at byte 1048576 (1 MiB)",
        ),
        (
            JobSpec {
                region: Some(2 * MIB),
                ..base.clone()
            },
            "job `j`: 2 MiB from byte 0 on do not fit a target of 1 MiB",
        ),
        (
            JobSpec {
                region: Some(2048),
                ..base.clone()
            },
            "job `j`: a block of 4 KiB does not fit its region of 2 KiB",
        ),
        (
            JobSpec {
                region: Some(0),
                ..base.clone()
            },
            "job `j`: a block of 4 KiB does not fit its region of 0 B",
        ),
        (
            JobSpec {
                block_sizes: sized(&[(1000, 100)]),
                ..base.clone()
            },
            "job `j`: a block of 1000 bytes is not a multiple of 512",
        ),
        (
            JobSpec {
                block_sizes: sized(&[(512, 50), (4096, 40)]),
                ..base.clone()
            },
            "job `j`: the shares of its block sizes add up to 90 %",
        ),
        (
            JobSpec {
                io_limit: Some(512),
                ..base.clone()
            },
            "job `j`: its limit of 512 B is less than one block of 4 KiB",
        ),
    ];
    cases.extend(impossible_orders(&base));
    cases
}

/// The same, of random orders.
fn impossible_orders(base: &JobSpec) -> Vec<(JobSpec, &'static str)> {
    let zoned = Distribution::Zoned {
        zones: vec![(60, 50), (50, 50)],
    };
    vec![
        (
            JobSpec {
                order: random(1000, Distribution::Uniform, true),
                ..base.clone()
            },
            "job `j`: an alignment of 1000 bytes",
        ),
        (
            JobSpec {
                order: random(4096, Distribution::Zipf { theta: -1.0 }, false),
                ..base.clone()
            },
            "job `j`: a Zipf exponent of -1",
        ),
        (
            JobSpec {
                order: random(4096, Distribution::Pareto { h: 1.0 }, false),
                ..base.clone()
            },
            "job `j`: a Pareto power of 1",
        ),
        (
            JobSpec {
                order: random(4096, zoned, false),
                ..base.clone()
            },
            "job `j`: zones of [(60, 50), (50, 50)] per cent",
        ),
        (
            JobSpec {
                mix: Mix::ReadWrite { read_pct: 101 },
                ..base.clone()
            },
            "job `j`: a share of reads above 100 %",
        ),
    ]
}

#[test]
fn what_cannot_be_is_refused_with_a_hint() {
    for (job, message) in impossible_jobs() {
        let error = JobStream::new(&job, 0, MIB).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.hint().is_empty(), "{message}");
    }
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        Just(Distribution::Uniform),
        (0.01f64..50.0).prop_map(|theta| Distribution::Zipf { theta }),
        (0.001f64..0.999).prop_map(|h| Distribution::Pareto { h }),
        prop::collection::vec((0u8..30, 0u8..30), 0..5)
            .prop_map(|zones| Distribution::Zoned { zones }),
    ]
}

fn any_order() -> impl Strategy<Value = Order> {
    let step = (0u64..20).prop_map(|n| n * 512);
    prop_oneof![
        (prop::option::of(step.clone()), step.clone(), any::<bool>()).prop_map(
            |(stride, start_step, split_positions)| Order::Sequential {
                stride,
                start_step,
                split_positions,
            }
        ),
        (step, any_distribution(), any::<bool>())
            .prop_map(|(align, distribution, each_once)| random(align, distribution, each_once)),
    ]
}

proptest! {
    /// Whatever the job, it is refused or every command lies in the region, whole and aligned.
    #[test]
    fn every_command_lies_in_the_region(
        order in any_order(),
        blocks in prop::collection::vec(1u32..40, 1..4),
        read_pct in 0u8..=100,
        (base, len) in (0u64..40, 0u64..200),
        capacity in 0u64..200,
        copy in 0u32..3,
        seed: u64,
    ) {
        let each = 100 / blocks.len() as u8;
        let mut list: Vec<(u32, u8)> = blocks.iter().map(|b| (b * 512, each)).collect();
        list[0].1 += 100 - each * blocks.len() as u8;
        let job = JobSpec {
            mix: Mix::ReadWrite { read_pct },
            order,
            block_sizes: sized(&list),
            offset: base * 512,
            region: Some(len * 512),
            io_limit: Some(1 << 20),
            seed,
            ..JobSpec::default()
        };
        let Ok(mut stream) = JobStream::new(&job, copy, capacity * 512) else { return Ok(()) };
        for _ in 0..200 {
            let Some(command) = stream.next_command() else { break };
            let end = command.offset + u64::from(command.len);
            prop_assert!(command.offset >= base * 512 && end <= (base + len) * 512);
            prop_assert!(end <= capacity * 512);
            prop_assert_eq!(command.offset % 512, 0);
            prop_assert!(list.iter().any(|b| b.0 == command.len));
        }
    }
}
