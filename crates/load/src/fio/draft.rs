//! A job while its options are being read, with fio's defaults.

use crate::plan::{
    BlockSize, CapacityShares, Distribution, ExitScope, FlowShare, JobDependencies, JobRateLimits,
    JobSpec, JobTiming, LatencyTarget, Mix, Order, SteadyRateCriterion, Verify, WriteAs,
    WriteDurability, WritePayload,
};
use ssdlab_fio::Error;
use ssdlab_fio::SizeOrPercent;
use ssdlab_fio::{JobFileSection, JobOption};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// fio's FIO_RANDSEED default for `randseed`.
const SEED: u64 = 0x89;

/// A sequential order as fio has it.
pub(super) const SEQUENTIAL: Order = Order::Sequential {
    stride: None,
    start_step: 0,
    split_positions: true,
};

/// A criterion of steady state before its options are read.
const STEADY: SteadyRateCriterion = SteadyRateCriterion {
    bandwidth: false,
    slope: false,
    percent: false,
    limit: 0.0,
    window_s: 0,
    ramp: Nanos::ZERO,
};

/// A search for a depth before its options are read.
const LATENCY: LatencyTarget = LatencyTarget {
    limit: Nanos::ZERO,
    window: Nanos::ZERO,
    percentile: 100.0,
    run: false,
};

/// What the setter of an option returns.
pub(super) type SetterResult = Result<(), Error>;

/// `rw` without its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RwDirection {
    Read,
    Write,
    Trim,
    Both,
}

/// How commands enter and leave the queue, and what follows the last.
#[derive(Clone, Debug, Default)]
pub(super) struct SubmissionOptions {
    /// The option that said how large commands are.
    pub block_option: Option<JobOption>,
    /// `iodepth_low`; 0: the depth.
    pub depth_low: u32,
    /// `iodepth_batch_complete_min`; 0 is 1.
    pub reap_min: u32,
    pub end_fsync: bool,
    /// `fsync_on_close`.
    pub close_fsync: bool,
}

/// A job half read, with fio's defaults.
#[derive(Clone, Debug)]
pub(super) struct FioJobDraft {
    pub stonewall: bool,
    /// Options as written, for the exporters.
    pub written: Vec<(String, String)>,
    pub kb_base: u64,
    pub name: Option<String>,
    pub direction: RwDirection,
    pub random: bool,
    pub read_pct: u8,
    pub block: [u32; 3],
    pub split: Option<[Vec<BlockSize>; 3]>,
    pub align: Option<u64>,
    pub size: Option<SizeOrPercent>,
    pub file_size: Option<u64>,
    pub offset: SizeOrPercent,
    pub io_size: Option<SizeOrPercent>,
    /// The engine waits for each command.
    pub synchronous: bool,
    /// A value is wrong; the error is reported.
    pub crooked: bool,
    /// The engine is not for block I/O; the error is reported.
    pub engine_refused: bool,
    /// The number after the colon of `rw`.
    pub after_colon: i64,
    pub offset_step: u64,
    pub loops: u64,
    /// `number_ios`.
    pub commands: Option<u64>,
    pub wait_for: Option<JobOption>,
    pub files: super::files::FilenameOptions,
    /// `random_generator=lfsr`: no address twice, with or without the map.
    pub lfsr: bool,
    pub depth: u32,
    pub submission: SubmissionOptions,
    pub copies: u32,
    pub time: JobTiming,
    pub direct: bool,
    pub sync: bool,
    pub fsync: u32,
    pub fdatasync: u32,
    pub distribution: Distribution,
    pub random_map: bool,
    /// Of reads, writes and trims.
    pub random_pct: [u8; 3],
    pub seed: u64,
    pub pace: JobRateLimits,
    pub compress_pct: u8,
    pub zero: bool,
    pub refill: bool,
    /// `bsrange`, smallest and largest of each kind.
    pub range: Option<[(u32, u32); 3]>,
    pub dedupe: super::dedupe::DedupeOptions,
    /// What writes hold, repeated; empty: what `compress_pct` says.
    pub pattern: Vec<u8>,
    /// One of fio's logs is asked for.
    pub logs: bool,
    /// `log_avg_msec`; 0: a line for each command.
    pub log_avg_ms: u64,
    /// `io_uring_cmd`.
    pub passthrough: bool,
    pub replayed: super::replayed::IologOptions,
    pub write_as: WriteAs,
    pub verifies: bool,
    pub verify_after: bool,
    pub verify_backlog: u32,
    pub verify_batch: u32,
    pub verify_goes_on: bool,
    pub strided: bool,
    /// `zonemode=zbd`.
    pub zbd: Option<JobOption>,
    pub zones: ZoneSizes,
    pub new_group: bool,
    /// Weight; 0 = no flow.
    pub flow: u32,
    pub flow_id: u32,
    pub exits: bool,
    pub exit_what: ExitScope,
    pub ends_steady: bool,
    pub steady: SteadyRateCriterion,
    /// Without a limit, no depth is searched.
    pub latency: LatencyTarget,
}

/// `zonesize`, `zonerange` and `zoneskip`, in bytes; 0: not given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ZoneSizes {
    pub bytes: u64,
    pub range: u64,
    pub skip: u64,
}

impl Default for FioJobDraft {
    fn default() -> FioJobDraft {
        FioJobDraft {
            stonewall: false,
            written: Vec::new(),
            kb_base: 1024,
            name: None,
            direction: RwDirection::Read,
            random: false,
            read_pct: 50,
            block: [4096; 3],
            split: None,
            align: None,
            size: None,
            file_size: None,
            offset: SizeOrPercent::Bytes(0),
            io_size: None,
            synchronous: false,
            crooked: false,
            engine_refused: false,
            after_colon: 0,
            offset_step: 0,
            loops: 1,
            commands: None,
            wait_for: None,
            files: super::files::FilenameOptions::default(),
            lfsr: false,
            depth: 1,
            submission: SubmissionOptions::default(),
            copies: 1,
            time: JobTiming::default(),
            direct: false,
            sync: false,
            fsync: 0,
            fdatasync: 0,
            distribution: Distribution::Uniform,
            random_map: true,
            random_pct: [100; 3],
            seed: SEED,
            pace: JobRateLimits::default(),
            compress_pct: 0,
            zero: false,
            refill: false,
            range: None,
            dedupe: super::dedupe::DedupeOptions::default(),
            pattern: Vec::new(),
            logs: false,
            log_avg_ms: 0,
            passthrough: false,
            replayed: super::replayed::IologOptions::default(),
            write_as: WriteAs::Write,
            verifies: false,
            verify_after: true,
            verify_backlog: 0,
            verify_batch: 0,
            verify_goes_on: false,
            strided: false,
            zbd: None,
            zones: ZoneSizes::default(),
            new_group: false,
            flow: 0,
            flow_id: 0,
            exits: false,
            exit_what: ExitScope::Group,
            ends_steady: false,
            steady: STEADY,
            latency: LATENCY,
        }
    }
}

impl FioJobDraft {
    /// The job of `section`, the `index`th of the file, as far as it can be made.
    pub fn finish(
        mut self,
        section: &JobFileSection,
        index: u32,
        errors: &mut Vec<Error>,
    ) -> JobSpec {
        self.time.time_based &= self.time.run.is_some();
        let (mix, data) = (self.mix(), self.data());
        let mut report = |error: Option<Error>| errors.extend(error);
        let (region, region_share) = self.region(section).unwrap_or_else(|error| {
            report(Some(error));
            (None, None)
        });
        let (io_limit, io_share) = self.limit(section, region).unwrap_or_else(|error| {
            report(Some(error));
            (None, None)
        });
        let (offset, offset_share) = self.offset_or_share();
        report(self.contradiction(section));
        let order = self.order(section).unwrap_or_else(|error| {
            report(Some(error));
            SEQUENTIAL
        });
        let (block_sizes, steps) = (self.block_sizes(), self.steps());
        let dedupe = self.dedupe.plan(self.smallest()[1]);
        let (verify, ties) = (self.verify(&order), self.ties());
        let depth = if self.synchronous { 1 } else { self.depth };
        let (refill_at, end_flushes) = (self.refill_at(depth), self.end_flushes());
        let (random_pct, creates_file) = (self.random_pct(), self.files.are_created());
        JobSpec {
            name: self.name.unwrap_or_else(|| section.name.clone()),
            target: None,
            options: self.written,
            mix,
            order,
            random_pct,
            steps,
            verify,
            ties,
            block_sizes,
            offset,
            region,
            shares: CapacityShares {
                offset: offset_share,
                region: region_share,
                io_limit: io_share,
            },
            io_limit,
            depth,
            refill_at,
            end_flushes,
            copies: self.copies,
            time: self.time,
            durability: WriteDurability {
                fua: self.sync,
                flush_every: self.fsync.max(self.fdatasync),
                data_only: self.fdatasync > 0,
            },
            pace: self.pace,
            data,
            pattern: self.pattern,
            dedupe,
            direct: self.direct,
            passthrough: self.passthrough,
            log_each: self.logs && self.log_avg_ms == 0,
            creates_file,
            seed: Rng::named(self.seed, &format!("fio job {index}")).next_u64(),
            replay: None,
        }
    }

    /// Commands outstanding at which a queue that was full is filled again, unless that is as soon
    /// as one has completed: fio's `wait_for_completions`.
    fn refill_at(&self, depth: u32) -> Option<u32> {
        let low = match self.submission.depth_low {
            0 => depth,
            low => low.min(depth),
        };
        let batch = self.submission.reap_min.max(1);
        let batches = (depth - low).div_ceil(batch).max(1);
        let refill_at = depth.saturating_sub(batch.saturating_mul(batches));
        (refill_at + 1 < depth).then_some(refill_at)
    }

    fn offset_or_share(&self) -> (u64, Option<u8>) {
        match self.offset {
            SizeOrPercent::Bytes(bytes) => (bytes, None),
            SizeOrPercent::Percent(percent) => (0, Some(percent)),
        }
    }

    /// The share of random commands, of the first kind that occurs.
    fn random_pct(&self) -> u8 {
        self.random_pct[self.kinds().start]
    }

    /// Passes that end with a flush.
    fn end_flushes(&self) -> u64 {
        if self.flushes_at_end() { self.loops } else { 0 }
    }

    /// Whether a flush ends each pass.
    pub(super) fn flushes_at_end(&self) -> bool {
        self.submission.end_fsync || self.submission.close_fsync
    }

    fn mix(&self) -> Mix {
        match self.direction {
            RwDirection::Read => Mix::Read,
            RwDirection::Write => Mix::Write,
            RwDirection::Trim => Mix::Trim,
            RwDirection::Both => Mix::ReadWrite {
                read_pct: self.read_pct,
            },
        }
    }

    /// How buffers are filled; of several ways, fio takes one.
    fn data(&mut self) -> WritePayload {
        if self.verifies {
            self.dedupe.percent = 0;
        }
        let repeats = self.dedupe.percent > 0;
        if self.zero || self.verifies || repeats {
            self.pattern.clear();
        }
        WritePayload {
            compress_pct: match (self.zero, self.pattern.len()) {
                (true, _) if !repeats => 100,
                (true, _) => self.compress_pct,
                (false, 0) => self.compress_pct,
                (false, len) => super::pattern::compress_pct(len),
            },
            refill: self.refill,
        }
    }

    /// Reads that verify; `order` says whether fio would keep the writes in their order.
    fn verify(&self, order: &Order) -> Option<Verify> {
        let mapped = matches!(
            order,
            Order::Random {
                each_once: true,
                ..
            }
        );
        self.verifies.then_some(Verify {
            after: self.verify_after,
            backlog: self.verify_backlog,
            batch: self.verify_batch,
            sorted: !mapped || self.lfsr,
            passes: self.loops,
            go_on: self.verify_goes_on,
        })
    }

    fn ties(&self) -> JobDependencies {
        JobDependencies {
            group: 0,
            flow: (self.flow > 0).then_some(FlowShare {
                id: self.flow_id,
                weight: self.flow,
            }),
            exit: self.exits.then_some(self.exit_what),
            steady: self.ends_steady.then_some(self.steady),
            latency: (self.latency.limit > Nanos::ZERO).then_some(self.latency),
            shares_depth: false,
        }
    }
}
