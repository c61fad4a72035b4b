//! A command line half read, and the jobs made of it.

use crate::plan::{
    BlockSize, DiskspdOutput, Distribution, JobDependencies, JobRateLimits, JobSpec, JobTiming,
    Mix, Order, WriteDurability, WritePayload,
};
use ssdlab_base::LabError;
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// Contents of writes.
#[derive(Clone, Copy)]
pub(super) enum DiskspdContents {
    Pattern,
    Zeroes,
    Random {
        refill: bool,
    },
    /// Of a file that compresses so far, per cent.
    File {
        compress_pct: u8,
    },
}

/// A command line half read, with DISKSPD's defaults.
#[derive(Clone)]
pub(super) struct DiskspdDraft {
    pub block: u32,
    pub threads: u32,
    pub depth: u32,
    pub write_pct: u8,
    pub random: Option<u64>,
    /// `-rs`: per cent of random commands.
    pub random_pct: Option<u8>,
    /// `-rd`.
    pub distribution: Distribution,
    /// `-B`: where the region begins.
    pub base: u64,
    /// `-c`: length of the file.
    pub file: Option<u64>,
    /// `-F`, `-O`: threads and their commands, over all targets.
    pub threads_total: Option<u32>,
    pub depth_total: Option<u32>,
    /// Its commands go to any of several targets.
    pub shares_depth: bool,
    /// `-t` was given.
    pub threads_given: bool,
    /// `-p`: each outstanding command goes its own way from the same place.
    pub parallel: bool,
    /// `-i`, `-j`: commands of a burst, and the pause after it.
    pub burst: Option<u32>,
    pub pause: Option<Nanos>,
    /// `-Sm`, and `-N` that flushes.
    pub mapped: bool,
    pub flushes: bool,
    /// `-X`.
    pub profile: Option<String>,
    /// Which times were given, for they go before those of a profile: `-d`, `-W`, `-C`.
    pub times_given: [bool; 3],
    /// `-z` was given.
    pub seed_given: bool,
    pub stride: Option<u64>,
    pub interlocked: bool,
    pub thread_step: u64,
    pub region: Option<u64>,
    pub time: JobTiming,
    /// `-S`: whether the page cache is bypassed, once it has been said.
    pub uncached: Option<bool>,
    pub write_through: bool,
    pub contents: DiskspdContents,
    pub bytes_per_second: u64,
    pub iops: u64,
    pub seed: u64,
    pub output: DiskspdOutput,
}

impl Default for DiskspdDraft {
    fn default() -> DiskspdDraft {
        DiskspdDraft {
            block: 64 << 10,
            threads: 1,
            depth: 2,
            write_pct: 0,
            random: None,
            random_pct: None,
            distribution: Distribution::Uniform,
            base: 0,
            file: None,
            threads_total: None,
            depth_total: None,
            shares_depth: false,
            threads_given: false,
            parallel: false,
            burst: None,
            pause: None,
            mapped: false,
            flushes: false,
            profile: None,
            times_given: [false; 3],
            seed_given: false,
            stride: None,
            interlocked: false,
            thread_step: 0,
            region: None,
            time: JobTiming {
                ramp: Nanos::from_secs(5),
                run: Some(Nanos::from_secs(10)),
                time_based: true,
                cool_down: Nanos::ZERO,
                delay: Nanos::ZERO,
            },
            uncached: None,
            write_through: false,
            contents: DiskspdContents::Pattern,
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

impl DiskspdDraft {
    /// Refuses options that contradict each other.
    pub fn check(&self) -> Result<(), LabError> {
        let conflict = |problem: &str, hint: &str| {
            Err(LabError::refused(
                format!("DISKSPD command line: {problem}"),
                hint,
            ))
        };
        let is_random = self.random.is_some() || self.random_pct.is_some_and(|pct| pct > 0);
        if is_random && (self.stride.is_some() || self.interlocked) {
            return conflict(
                "-r and -s contradict each other",
                "use one of them; with -rs, -r gives the alignment",
            );
        }
        if self.distribution != Distribution::Uniform && !is_random {
            return conflict("-rd without random commands", "add -r or -rs");
        }
        if self.threads_total.is_some() && self.threads_given {
            return conflict("-F and -t contradict each other", "use one of them");
        }
        if self.depth_total.is_some() && self.threads_total.is_none() {
            return conflict(
                "-O without -F",
                "-O is for the threads of -F; otherwise use -o",
            );
        }
        if self.burst.is_some() != self.pause.is_some() {
            return conflict(
                "-i and -j need each other",
                "give a burst and the pause after it",
            );
        }
        if self.parallel && (self.interlocked || self.thread_step > 0) {
            return conflict("-p with -si or -T", "use -p alone");
        }
        if self.flushes && !self.mapped {
            return conflict("-N without -Sm", "it flushes memory-mapped files");
        }
        let ends = [self.region, self.file].into_iter().flatten().min();
        if ends.is_some_and(|end| self.base >= end) {
            return conflict("-B lies behind the end of -f or -c", "use a smaller base");
        }
        if self.interlocked && self.thread_step > 0 {
            return conflict("-si and -T contradict each other", "use one of them");
        }
        if self.bytes_per_second > 0 && self.iops > 0 {
            return conflict("two limits are given with -g", "use one of them");
        }
        Ok(())
    }

    /// `-O` for this many targets: the commands of a thread go to any of them.
    pub fn share_depth(&mut self, targets: usize) {
        if let Some(total) = self.depth_total {
            self.depth = total;
            self.shares_depth = targets > 1;
        }
    }

    /// The job on the `index`th target.
    pub fn job(&self, target: String, index: usize, options: &[(String, String)]) -> JobSpec {
        // -rs alone is random at multiples of the block.
        let random = self.random.or_else(|| {
            let some = self.random_pct.is_some_and(|pct| pct > 0);
            some.then_some(u64::from(self.block))
        });
        let order = match random {
            Some(align) => Order::Random {
                align,
                distribution: self.distribution.clone(),
                each_once: false,
            },
            None => Order::Sequential {
                stride: self.stride,
                start_step: self.thread_step,
                split_positions: false,
            },
        };
        // -p has no effect on random commands.
        let parallel = self.parallel && random.is_none();
        let threads = self.threads_total.unwrap_or(self.threads);
        let merged = if self.interlocked { threads } else { 1 };
        let (depth, threads) = match (self.mapped, parallel) {
            // A command to mapped memory is over before the next begins.
            (true, _) => (1, threads),
            (false, true) => (1, threads.saturating_mul(self.depth)),
            (false, false) => (self.depth, threads),
        };
        let end = [self.region, self.file].into_iter().flatten().min();
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
            random_pct: self.random_pct.unwrap_or(100),
            block_sizes: [block.clone(), block.clone(), block],
            offset: self.base,
            region: end.map(|end| end.saturating_sub(self.base)),
            depth: depth.saturating_mul(merged),
            copies: threads / merged,
            time: self.time,
            durability: WriteDurability {
                fua: self.write_through,
                flush_every: u32::from(self.flushes),
                data_only: self.flushes,
            },
            pace: self.pace(u64::from(merged), parallel),
            data: self.data(),
            direct: self.uncached.unwrap_or(false),
            creates_file: self.file.is_some(),
            ties: JobDependencies {
                shares_depth: self.shares_depth,
                ..JobDependencies::default()
            },
            seed: Rng::named(self.seed, &format!("DISKSPD target {index}")).next_u64(),
            ..JobSpec::default()
        }
    }

    fn data(&self) -> WritePayload {
        match self.contents {
            DiskspdContents::Pattern => WritePayload {
                compress_pct: pattern_compress_pct(self.block),
                refill: false,
            },
            DiskspdContents::Zeroes => WritePayload {
                compress_pct: 100,
                refill: false,
            },
            DiskspdContents::Random { refill } => WritePayload {
                compress_pct: 0,
                refill,
            },
            DiskspdContents::File { compress_pct } => WritePayload {
                compress_pct,
                refill: false,
            },
        }
    }

    /// The limit of one copy that stands for `merged` threads, or of one of the commands of a
    /// thread, shared out by the mix.
    fn pace(&self, merged: u64, parallel: bool) -> JobRateLimits {
        let parts = if parallel { u64::from(self.depth) } else { 1 };
        let write = u64::from(self.write_pct);
        let share = |total: u64| {
            let part = |percent: u64| {
                let scaled = u128::from(total) * u128::from(merged) * u128::from(percent);
                let limit = scaled / 100 / u128::from(parts);
                // 0 means no limit, so a small share of a small limit is at least 1.
                let least = u64::from(total > 0 && percent > 0);
                u64::try_from(limit).unwrap_or(u64::MAX).max(least)
            };
            [part(100 - write), part(write), 0]
        };
        JobRateLimits {
            rate_bytes: share(self.bytes_per_second),
            rate_iops: share(self.iops),
            think: self.pause.unwrap_or_default(),
            think_blocks: self.burst.unwrap_or(1),
            ..JobRateLimits::default()
        }
    }
}
