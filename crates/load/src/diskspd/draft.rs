//! A command line half read, and the jobs made of it.

use crate::plan::{
    BlockSize, Data, DiskspdOutput, Distribution, Durability, JobSpec, Mix, Order, Pace, Time,
};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// Contents of writes.
#[derive(Clone, Copy)]
pub(super) enum Contents {
    Pattern,
    Zeroes,
    Random { refill: bool },
}

/// A command line half read, with DISKSPD's defaults.
pub(super) struct Draft {
    pub block: u32,
    pub threads: u32,
    pub depth: u32,
    pub write_pct: u8,
    pub random: Option<u64>,
    pub stride: Option<u64>,
    pub interlocked: bool,
    pub thread_step: u64,
    pub region: Option<u64>,
    pub time: Time,
    /// `-S`: whether the page cache is bypassed, once it has been said.
    pub uncached: Option<bool>,
    pub write_through: bool,
    pub contents: Contents,
    pub bytes_per_second: u64,
    pub iops: u64,
    pub seed: u64,
    pub output: DiskspdOutput,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            block: 64 << 10,
            threads: 1,
            depth: 2,
            write_pct: 0,
            random: None,
            stride: None,
            interlocked: false,
            thread_step: 0,
            region: None,
            time: Time {
                ramp: Nanos::from_secs(5),
                run: Some(Nanos::from_secs(10)),
                time_based: true,
                cool_down: Nanos::ZERO,
                delay: Nanos::ZERO,
            },
            uncached: None,
            write_through: false,
            contents: Contents::Pattern,
            bytes_per_second: 0,
            iops: 0,
            seed: 0,
            output: DiskspdOutput::default(),
        }
    }
}

/// How far DISKSPD's default contents, bytes 0 to 255 repeated, compress: a compressor keeps the
/// first 256 bytes and a few to say "again". In per cent removed of a command of `block` bytes.
pub fn pattern_compress_pct(block: u32) -> u8 {
    const KEPT: u64 = 256 + 16;
    let block = u64::from(block).max(1);
    (block.saturating_sub(KEPT) * 100 / block) as u8
}

impl Draft {
    /// Refuses options that contradict each other.
    pub fn check(&self) -> Result<(), LabError> {
        let conflict = |what: &str, hint: &str| {
            Err(LabError::refused(
                format!("DISKSPD command line: {what}"),
                hint,
            ))
        };
        if self.random.is_some() && (self.stride.is_some() || self.interlocked) {
            return conflict("-r and -s contradict each other", "use one of them");
        }
        if self.interlocked && self.thread_step > 0 {
            return conflict("-si and -T contradict each other", "use one of them");
        }
        if self.bytes_per_second > 0 && self.iops > 0 {
            return conflict("two limits are given with -g", "use one of them");
        }
        Ok(())
    }

    /// The job on the `index`th target.
    pub fn job(&self, target: String, index: usize, options: &[(String, String)]) -> JobSpec {
        let order = match self.random {
            Some(align) => Order::Random {
                align,
                distribution: Distribution::Uniform,
                each_once: false,
            },
            None => Order::Sequential {
                stride: self.stride,
                start_step: self.thread_step,
                split_positions: false,
            },
        };
        let merged = if self.interlocked { self.threads } else { 1 };
        let block = vec![BlockSize {
            bytes: self.block,
            percent: 100,
        }];
        JobSpec {
            name: target.clone(),
            target: Some(target),
            options: options.to_vec(),
            mix: match self.write_pct {
                0 => Mix::Read,
                100 => Mix::Write,
                percent => Mix::ReadWrite {
                    read_pct: 100 - percent,
                },
            },
            order,
            block_sizes: [block.clone(), block.clone(), block],
            region: self.region,
            depth: self.depth.saturating_mul(merged),
            copies: self.threads / merged,
            time: self.time,
            durability: Durability {
                fua: self.write_through,
                ..Durability::default()
            },
            pace: self.pace(u64::from(merged)),
            data: match self.contents {
                Contents::Pattern => Data {
                    compress_pct: pattern_compress_pct(self.block),
                    refill: false,
                },
                Contents::Zeroes => Data {
                    compress_pct: 100,
                    refill: false,
                },
                Contents::Random { refill } => Data {
                    compress_pct: 0,
                    refill,
                },
            },
            direct: self.uncached.unwrap_or(false),
            seed: Rng::named(self.seed, &format!("DISKSPD target {index}")).next_u64(),
            ..JobSpec::default()
        }
    }

    /// The limit of one copy that stands for `merged` threads, shared out by the mix.
    fn pace(&self, merged: u64) -> Pace {
        let write = u64::from(self.write_pct);
        let share = |total: u64| {
            let part = |percent: u64| {
                let limit = u128::from(total) * u128::from(merged) * u128::from(percent) / 100;
                // 0 means no limit, so a small share of a small limit is at least 1.
                let least = u64::from(total > 0 && percent > 0);
                u64::try_from(limit).unwrap_or(u64::MAX).max(least)
            };
            [part(100 - write), part(write), 0]
        };
        Pace {
            rate_bytes: share(self.bytes_per_second),
            rate_iops: share(self.iops),
            ..Pace::default()
        }
    }
}
