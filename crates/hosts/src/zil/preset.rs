//! Whole hosts by age: what is known of the code, and what was fitted to which figure.

use super::block_size::SizeRule;
use super::chain::LogBlockFormat;
use super::space::{MetaslabPolicy, SpaceRules, Weighting};
use super::spec::{CommitRules, GroupRules, HostSpec, PathRules};
use super::writer::WriterSpec;
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_view::text::wrap;
use std::fmt::Write as _;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// An age of ZFS, with the writers that its figures were measured with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZfsPreset {
    /// OpenSolaris in 2010: the slides' code.
    V2010,
    /// ZFS 2.1.
    V2_1,
}

/// One value of a preset.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct ZfsParameter {
    /// Name.
    pub name: &'static str,
    /// Its value, with unit.
    pub value: &'static str,
    /// `code`, `calibrated`, `measured` or `assumed`.
    pub kind: &'static str,
    /// Where it comes from, or the figure that it was fitted to.
    pub why: &'static str,
}

/// Parameters of a preset.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ZfsParameters {
    /// Name of the preset.
    pub preset: &'static str,
    /// Its parameters.
    pub parameters: &'static [ZfsParameter],
}

impl ZfsPreset {
    /// The preset called `name`.
    ///
    /// # Errors
    /// When no preset has that name.
    pub fn named(name: &str) -> Result<ZfsPreset, LabError> {
        match name {
            "2010" => Ok(ZfsPreset::V2010),
            "2.1" => Ok(ZfsPreset::V2_1),
            _ => Err(LabError::refused(
                format!("`{name}` is no preset of the intent log"),
                "choose 2010 (OpenSolaris) or 2.1 (ZFS 2.1)",
            )),
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ZfsPreset::V2010 => "2010",
            ZfsPreset::V2_1 => "2.1",
        }
    }

    /// Every value that is not a plain consequence of others, with its reason.
    pub fn parameters(self) -> &'static [ZfsParameter] {
        match self {
            ZfsPreset::V2010 => &PARAMETERS_2010,
            ZfsPreset::V2_1 => &PARAMETERS_2_1,
        }
    }

    /// Its parameters as text, at most 80 columns.
    pub fn parameters_text(self) -> String {
        let mut out = String::new();
        for p in self.parameters() {
            let _ = writeln!(out, "{} = {}  [{}]", p.name, p.value, p.kind);
            for line in wrap(p.why, 74) {
                let _ = writeln!(out, "      {line}");
            }
        }
        out
    }

    /// Its parameters as JSON.
    pub fn parameters_json(self) -> ZfsParameters {
        ZfsParameters {
            preset: self.name(),
            parameters: self.parameters(),
        }
    }

    /// A host with `writers` and `datasets` on a log device of `capacity` bytes.
    ///
    /// # Errors
    /// When there is no writer or no dataset, more datasets than writers, or the device is too
    /// small for a log.
    pub fn host(
        self,
        writers: usize,
        datasets: usize,
        capacity: u64,
        seed: u64,
    ) -> Result<HostSpec, LabError> {
        check(writers, datasets, capacity)?;
        Ok(match self {
            ZfsPreset::V2010 => host_2010(writers, datasets, capacity, seed),
            ZfsPreset::V2_1 => host_2_1(writers, datasets, capacity, seed),
        })
    }
}

fn check(writers: usize, datasets: usize, capacity: u64) -> Result<(), LabError> {
    const MOST: usize = 1000;
    if writers == 0 || datasets == 0 || datasets > writers || writers > MOST {
        return Err(LabError::refused(
            format!(
                "{writers} writers on {datasets} datasets: 1 to {MOST} writers are \
                 allowed, and 1 to as many datasets",
            ),
            "every dataset has at least one writer; try --writers 5 --datasets 5",
        ));
    }
    if capacity < 64 * MIB {
        return Err(LabError::refused(
            format!("a log device of {capacity} bytes: ZFS takes no device below 64 MiB"),
            "choose a larger --device",
        ));
    }
    Ok(())
}

fn host_2010(writers: usize, datasets: usize, capacity: u64, seed: u64) -> HostSpec {
    HostSpec {
        seed,
        writers,
        datasets,
        allocator_of: Vec::new(),
        writer: WriterSpec {
            file_bytes: (64 * KIB, 512 * KIB),
            record_bytes: (2 * KIB, 128 * KIB),
            passes: 1,
            think: Nanos::from_micros(400),
            think_per_kib: Nanos(5_600),
            think_jitter_pct: 100,
            between_files: Nanos::from_millis(63),
        },
        commit: CommitRules {
            format: LogBlockFormat::Whole,
            size_rule: SizeRule::LargestUse,
            chunk: Some(64 * KIB),
            pipelined: false,
            open_wait_pct: 0,
            copy_per_kib: Nanos(500),
        },
        group: GroupRules {
            timeout: Nanos::from_secs(30),
            bytes_max: Some(12_800_000),
            sync: Nanos::from_millis(100),
        },
        path: PathRules {
            per_write: Nanos::from_micros(180),
            per_kib: Nanos::from_micros(95),
            jitter_pct: 27,
            per_flush: Nanos::from_micros(30),
        },
        space: SpaceRules {
            start: 4 * MIB,
            // asize / 200 rounded to the power of two that its highest bit names.
            metaslab: 1 << (u64::BITS - (capacity / 200).leading_zeros()),
            policy: MetaslabPolicy::Ndf { clump_shift: 4 },
            weighting: Weighting::Space,
            allocators: 1,
            defer_groups: 0,
        },
        capacity,
        sides: 1,
        autotrim: false,
    }
}

fn host_2_1(writers: usize, datasets: usize, capacity: u64, seed: u64) -> HostSpec {
    HostSpec {
        seed,
        writers,
        datasets,
        allocator_of: Vec::new(),
        writer: WriterSpec {
            file_bytes: (128 * KIB, 4 * MIB),
            record_bytes: (4 * KIB, 128 * KIB),
            passes: 2,
            think: Nanos::from_millis(8),
            think_per_kib: Nanos::from_micros(100),
            think_jitter_pct: 100,
            between_files: Nanos::ZERO,
        },
        commit: CommitRules {
            format: LogBlockFormat::Slim,
            size_rule: SizeRule::Buckets,
            chunk: None,
            pipelined: true,
            open_wait_pct: 5,
            copy_per_kib: Nanos::from_micros(1),
        },
        group: GroupRules {
            timeout: Nanos::from_secs(5),
            bytes_max: None,
            sync: Nanos::from_millis(300),
        },
        path: PathRules {
            per_write: Nanos::from_micros(30),
            per_kib: Nanos::from_micros(1),
            jitter_pct: 50,
            per_flush: Nanos::from_micros(500),
        },
        space: SpaceRules {
            // The labels, and the partition that ZFS on Linux puts on whole disks.
            start: 5 * MIB,
            metaslab: metaslab_2_1(capacity),
            policy: MetaslabPolicy::Df {
                free_pct_low: 4,
                search_max: Some(16 * MIB),
            },
            weighting: Weighting::Segment {
                switch_threshold: 2,
            },
            allocators: 4,
            defer_groups: 2,
        },
        capacity,
        sides: 1,
        autotrim: false,
    }
}

/// About 16 metaslabs below 8 GiB, 512 MiB each up to 100 GiB, about 200 above.
fn metaslab_2_1(capacity: u64) -> u64 {
    let power = |bytes: u64| 1u64 << (63 - bytes.max(1).leading_zeros());
    match capacity {
        ..=0x1_FFFF_FFFF => power(capacity / 16),
        small if small < 100 * GIB => 512 * MIB,
        large => power(large / 200),
    }
}

const fn p(
    name: &'static str,
    value: &'static str,
    kind: &'static str,
    why: &'static str,
) -> ZfsParameter {
    ZfsParameter {
        name,
        value,
        kind,
        why,
    }
}

const PARAMETERS_2010: [ZfsParameter; 19] = [
    p("format", "whole blocks", "code", "pool version below 23"),
    p(
        "next block",
        "largest of last use, this use, waiting",
        "code",
        "b121 to b134",
    ),
    p(
        "chunk",
        "64 KiB",
        "code",
        "writes too large for a block are logged in chunks",
    ),
    p(
        "allocator",
        "NDF, clump 2^4",
        "code",
        "default of b134; DF gives no far seeks",
    ),
    p(
        "metaslab",
        "32 MiB on 4 GB",
        "code",
        "2^highbit(size / 200)",
    ),
    p(
        "metaslab kept until full",
        "yes",
        "code",
        "an active metaslab is used up first; with it dropped every group there would be \
         hundreds of seeks beyond 32 MiB, published are 12",
    ),
    p(
        "group timeout",
        "30 s",
        "code",
        "zfs_txg_timeout of the time",
    ),
    p(
        "group bytes",
        "12.8 MB of data",
        "calibrated",
        "zil.seek.five, far buckets: how far apart free segments lie. As a limit on dirty \
         data it closes groups long before the timeout; zil.seek.one implies the same (560 \
         MB in 35 cycles: 16 MB of log per group, ours 22)",
    ),
    p("sync time", "100 ms", "assumed", "no figure depends on it"),
    p(
        "record sizes",
        "2 to 128 KiB, doubling",
        "calibrated",
        "zil.pattern: blocks of 4 KiB in every interval and more than half of all",
    ),
    p(
        "file sizes",
        "64 to 512 KiB, doubling",
        "calibrated",
        "zil.pattern.one: small and large blocks in every interval",
    ),
    p("passes", "1", "calibrated", "zil.pattern.one"),
    p(
        "think",
        "400 us, exponential",
        "calibrated",
        "zil.seek.five: share of seek 0",
    ),
    p(
        "think per KiB",
        "5.6 us",
        "calibrated",
        "zil.seek.five: buckets 32 to 256",
    ),
    p("between files", "63 ms", "calibrated", "zil.pattern: KW"),
    p(
        "path per write",
        "180 us",
        "calibrated",
        "zil.pattern.five: COUNT",
    ),
    p(
        "path per KiB",
        "95 us",
        "calibrated",
        "zil.pattern.five: KW at most 12 MB an interval",
    ),
    p("path jitter", "27 %", "calibrated", "zil.seek.five"),
    p("copy per KiB", "0.5 us", "calibrated", "zil.seek.five"),
];

const PARAMETERS_2_1: [ZfsParameter; 15] = [
    p("format", "slim", "code", "pool version 23 and later"),
    p(
        "next block",
        "buckets, largest of 16",
        "code",
        "zil_block_buckets, ZIL_PREV_BLKS",
    ),
    p(
        "large writes",
        "cut to fit the blocks",
        "code",
        "WR_NEED_COPY above 65152 bytes",
    ),
    p(
        "open wait",
        "5 % of the last latency",
        "code",
        "zfs_commit_timeout_pct",
    ),
    p(
        "allocator",
        "DF, search 16 MiB, best fit below 4 %",
        "code",
        "metaslab_df_*",
    ),
    p(
        "metaslab",
        "256 MiB on 4 GiB",
        "code",
        "16 of them below 8 GiB",
    ),
    p(
        "metaslab given up",
        "2 powers of two",
        "code",
        "zfs_metaslab_switch_threshold: seen in the trace as a move after 128 of 256 MiB",
    ),
    p("allocators", "4, dataset by hash", "code", "spa_allocators"),
    p("defer", "2 groups", "code", "TXG_DEFER_SIZE"),
    p("group timeout", "5 s", "code", "zfs_txg_timeout"),
    p("sync time", "300 ms", "assumed", "no figure depends on it"),
    p(
        "record sizes",
        "4 to 128 KiB",
        "measured",
        "runs of equal commands in the one-dataset trace",
    ),
    p(
        "file sizes",
        "128 KiB to 4 MiB",
        "measured",
        "lengths of those runs, doubling from 64 writes to 2048",
    ),
    p(
        "passes",
        "2",
        "measured",
        "the same: a run is twice file / record",
    ),
    p(
        "think",
        "8 ms + 100 us/KiB, exponential",
        "measured",
        "time between flush and write in the trace, in the mean; its share of random \
         commands does not depend on it",
    ),
];
