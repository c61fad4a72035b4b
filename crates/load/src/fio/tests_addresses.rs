//! Which commands go where: kind, size, region, order.

use super::tests::{bytes, job, one};
use crate::plan::{BlockSize, CapacityShares, Distribution, JobSpec, Mix, Order};

#[test]
fn rw_values() {
    for (text, mix, random) in [
        ("read", Mix::Read, false),
        ("write", Mix::Write, false),
        ("trim", Mix::Trim, false),
        ("randread", Mix::Read, true),
        ("randwrite", Mix::Write, true),
        ("randtrim", Mix::Trim, true),
        ("rw", Mix::ReadWrite { read_pct: 50 }, false),
        ("readwrite", Mix::ReadWrite { read_pct: 50 }, false),
        ("randrw", Mix::ReadWrite { read_pct: 50 }, true),
    ] {
        let job = job(&format!("rw={text}"));
        assert_eq!(job.mix, mix, "{text}");
        assert_eq!(matches!(job.order, Order::Random { .. }), random, "{text}");
    }
    assert_eq!(
        job("readwrite=randrw\nrwmixread=40").mix,
        Mix::ReadWrite { read_pct: 40 }
    );
    assert_eq!(
        job("rw=rw\nrwmixwrite=30").mix,
        Mix::ReadWrite { read_pct: 70 }
    );
}

#[test]
fn sizes_are_spelled_as_fio_spells_them() {
    // Each checked against fio 3.33 with ioengine=null.
    for (text, expected) in [
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4KB", 4096),
        ("4ki", 4096),
        ("512", 512),
        ("4096b", 4096),
        ("0x1000", 4096),
        ("1m", 1 << 20),
    ] {
        assert_eq!(
            bytes(&job(&format!("bs={text}")))[0],
            one(expected),
            "{text}"
        );
    }
    assert_eq!(job("size=64MiB").region, Some(64_000_000));
    assert_eq!(job("size=64MiB\nkb_base=1000").region, Some(64 << 20));
    assert_eq!(job("kb_base=1000\nsize=64m").region, Some(64_000_000));
    assert_eq!(job("size=2t").region, Some(2 << 40));
}

#[test]
fn block_sizes_by_kind() {
    for (text, expected) in [
        ("8k", [8192, 8192, 8192]),
        ("8k,32k", [8192, 32768, 32768]),
        ("8k,32k,", [8192, 32768, 4096]),
        ("8k,", [8192, 4096, 4096]),
        (",8k", [4096, 8192, 8192]),
        (",8k,", [4096, 8192, 4096]),
        ("8k,16k,64k", [8192, 16384, 65536]),
    ] {
        assert_eq!(
            bytes(&job(&format!("bs={text}"))),
            expected.map(one),
            "{text}"
        );
    }
}

#[test]
fn bssplit_shares() {
    let split = |text: &str| bytes(&job(&format!("bssplit={text}")));
    let plain = split("4k/50:8k/30:64k/20");
    assert_eq!(plain[0], [(4096, 50), (8192, 30), (65536, 20)]);
    assert_eq!(plain[0], plain[2]);
    assert_eq!(
        split("4k:8k/20:16k")[1],
        [(4096, 40), (8192, 20), (16384, 40)]
    );
    assert_eq!(
        split("4k/:8k/:16k/")[0],
        [(4096, 33), (8192, 33), (16384, 34)]
    );
    assert_eq!(split("4k/60%:8k/40%")[0], [(4096, 60), (8192, 40)]);
    assert_eq!(split("4k/100:8k/0")[0], [(4096, 100)]);
    let kinds = split("2k/50:4k/50,4k/90:8k/10");
    assert_eq!(kinds[0], [(2048, 50), (4096, 50)]);
    assert_eq!(kinds[1], [(4096, 90), (8192, 10)]);
    assert_eq!(kinds[1], kinds[2]);
}

#[test]
fn regions() {
    let shares = |lines: &str| job(lines).shares;
    assert_eq!(job("size=100%").shares, CapacityShares::default());
    assert_eq!(shares("size=50%").region, Some(50));
    assert_eq!(shares("offset=25%").offset, Some(25));
    assert_eq!(shares("io_size=50%").io_limit, Some(50));
    assert_eq!(job("io_limit=1m").io_limit, Some(1 << 20));
    assert_eq!(job("fileoffset=1m").offset, 1 << 20);
    assert_eq!(job("filesize=1m").region, Some(1 << 20));
    assert_eq!(job("filesize=2m\nsize=50%").region, Some(1 << 20));
    assert_eq!(
        job("filename=/dev/a\\:b").target.as_deref(),
        Some("/dev/a:b")
    );
}

#[test]
fn random_orders() {
    let order = |lines: &str| job(&format!("rw=randwrite\n{lines}")).order;
    let random = |align, distribution, each_once| Order::Random {
        align,
        distribution,
        each_once,
    };
    let uniform = Distribution::Uniform;
    assert_eq!(order(""), random(4096, uniform.clone(), true));
    assert_eq!(order("bs=,8k"), random(8192, uniform.clone(), true));
    assert_eq!(order("norandommap"), random(4096, uniform.clone(), false));
    assert_eq!(order("norandommap=0"), random(4096, uniform.clone(), true));
    assert_eq!(order("ba=8k"), random(8192, uniform.clone(), false));
    assert_eq!(order("blockalign=512"), random(512, uniform, false));
    let skewed = |text: &str| order(&format!("random_distribution={text}"));
    let zipf = |theta| random(4096, Distribution::Zipf { theta }, false);
    assert_eq!(skewed("zipf:1.2"), zipf(1.2));
    assert_eq!(skewed("zipf"), zipf(1.1));
    assert_eq!(
        skewed("pareto:0.3"),
        random(4096, Distribution::Pareto { h: 0.3 }, false)
    );
    assert_eq!(skewed("random"), order(""));
    let zones = vec![(60, 10), (30, 20), (10, 70)];
    let zoned = random(4096, Distribution::Zoned { zones }, false);
    assert_eq!(skewed("zoned:60/10:30/20:10/70"), zoned);
}

#[test]
fn block_size_lists_are_never_empty() {
    let empty = |job: &JobSpec| job.block_sizes.iter().any(Vec::is_empty);
    assert!(!empty(&job("bssplit=4k:8k/100")));
    let wanted = vec![BlockSize {
        bytes: 8192,
        percent: 100,
    }];
    assert_eq!(job("bssplit=4k:8k/100").block_sizes[0], wanted);
}
