//! A job while its options are being read, with fio's defaults.

use crate::plan::{
    AddressSteps, BlockSize, CapacityShares, Distribution, ExitScope, FlowShare, JobDependencies,
    JobRateLimits, JobSpec, JobTiming, LatencyTarget, Mix, Order, SteadyRateCriterion, Verify,
    WriteAs, WriteDurability, WritePayload, Zones,
};
use ssdlab_fio::Error;
use ssdlab_fio::SizeOrPercent;
use ssdlab_fio::{JobFileSection, JobOption};
use ssdlab_ssd::Nanos;
use ssdlab_ssd::rng::Rng;

/// fio's FIO_RANDSEED default for `randseed`.
const SEED: u64 = 0x89;

/// Files of a job, over all copies.
const FILES_MAX: u64 = 65_536;

/// A sequential order as fio has it.
const SEQUENTIAL: Order = Order::Sequential {
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

/// Bytes, or per cent of the region.
type IoLimit = (Option<u64>, Option<u64>);

/// `rw` without its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RwDirection {
    Read,
    Write,
    Trim,
    Both,
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
    /// The engine is no block I/O; the error is reported.
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
    pub copies: u32,
    pub time: JobTiming,
    pub direct: bool,
    pub sync: bool,
    pub fsync: u32,
    pub fdatasync: u32,
    pub distribution: Distribution,
    pub random_map: bool,
    pub random_pct: u8,
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
    pub zone_bytes: u64,
    pub zone_range: u64,
    pub zone_skip: u64,
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
            copies: 1,
            time: JobTiming::default(),
            direct: false,
            sync: false,
            fsync: 0,
            fdatasync: 0,
            distribution: Distribution::Uniform,
            random_map: true,
            random_pct: 100,
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
            zone_bytes: 0,
            zone_range: 0,
            zone_skip: 0,
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
        let (offset, offset_share) = match self.offset {
            SizeOrPercent::Bytes(bytes) => (bytes, None),
            SizeOrPercent::Percent(percent) => (0, Some(percent)),
        };
        report(self.contradiction(section));
        let order = self.order(section).unwrap_or_else(|error| {
            report(Some(error));
            SEQUENTIAL
        });
        let (block_sizes, steps) = (self.block_sizes(), self.steps());
        let dedupe = self.dedupe.plan(self.smallest()[1]);
        let (verify, ties) = (self.verify(&order), self.ties());
        JobSpec {
            name: self.name.unwrap_or_else(|| section.name.clone()),
            target: None,
            options: self.written,
            mix,
            order,
            random_pct: self.random_pct,
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
            depth: if self.synchronous { 1 } else { self.depth },
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
            seed: Rng::named(self.seed, &format!("fio job {index}")).next_u64(),
            replay: None,
        }
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

    /// What cannot be meant together.
    fn contradiction(&self, section: &JobFileSection) -> Option<Error> {
        let files = u64::from(self.files.in_turn()) * u64::from(self.copies);
        if let Some(setting) = &self.zbd {
            return Some(super::zbd::refused(setting, self.zone_bytes > 0));
        }
        let (what, hint) = if self.fsync > 0 && self.fdatasync > 0 {
            ("both fsync and fdatasync", "use one of them")
        } else if let Some(contradiction) = self.contradiction_of_bindings() {
            contradiction
        } else if let Some(contradiction) =
            (self.dedupe).contradiction(self.size.is_some(), self.files.in_turn())
        {
            contradiction
        } else if self.replayed.log.is_some() && self.shapes_commands() {
            let problem =
                "read_iolog with a rate, thinktime, flow, latency_target, verify or zones";
            (
                problem,
                "leave the others out: the log says what is sent when",
            )
        } else if files > FILES_MAX {
            ("more than 65,536 files", "use fewer copies or files")
        } else if self.after_colon < 0 && !self.random && self.offset != SizeOrPercent::Bytes(0) {
            (
                "backwards from an offset, where fio leaves the region",
                "write offset=0",
            )
        } else {
            return None;
        };
        Some(refuse(section, what, hint))
    }

    /// Whether anything but a log says what is sent when.
    fn shapes_commands(&self) -> bool {
        let pace = &self.pace;
        let limited = pace.rate_bytes != [0; 3] || pace.rate_iops != [0; 3];
        let held = limited || pace.think.0 > 0 || self.flow > 0 || self.latency.limit.0 > 0;
        held || self.verifies || self.strided
    }

    fn contradiction_of_bindings(&self) -> Option<(&'static str, &'static str)> {
        let zone = self.zone_bytes > 0;
        Some(if self.strided && !zone {
            (
                "zonemode=strided without zones",
                "say how large with zonesize=",
            )
        } else if zone && !self.strided {
            ("zones without a zonemode", "write zonemode=strided")
        } else if self.strided && (self.files.in_turn() > 1 || self.after_colon != 0) {
            (
                "zones with several files, or with a number after rw's colon",
                "give it one file, or leave the number out",
            )
        } else if self.ends_steady && self.steady.window_s == 0 {
            (
                "steadystate without a window",
                "say over what time with steadystate_duration=",
            )
        } else if self.latency.limit > Nanos::ZERO && self.latency.window == Nanos::ZERO {
            (
                "latency_target without a window",
                "say over what time a depth is judged with latency_window=",
            )
        } else if self.write_as == WriteAs::TrimAndWrite && self.split.is_some() {
            ("trimwrite with several sizes", "use one block size")
        } else if self.verifies && self.write_as != WriteAs::Write {
            (
                "verify with writes that are something else to the drive",
                "leave verify= out",
            )
        } else {
            return None;
        })
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

    /// Bytes to transfer, or per cent of the region: `io_size`, `loops` and `number_ios`.
    fn limit(&self, section: &JobFileSection, region: Option<u64>) -> Result<IoLimit, Error> {
        let (bytes, share) = match self.io_size {
            Some(SizeOrPercent::Percent(percent)) => (None, Some(u64::from(percent))),
            Some(SizeOrPercent::Bytes(bytes)) => (Some(bytes), None),
            None => {
                match (self.size, region) {
                    // A filesize was given beside it, which is the region.
                    (Some(SizeOrPercent::Bytes(size)), Some(region)) if size < region => {
                        (Some(size), None)
                    }
                    _ if self.passes() == 1 && self.commands.is_none() => (None, None),
                    _ => (region, region.is_none().then_some(100)),
                }
            }
        };
        let bytes = bytes.map(|bytes| bytes.saturating_mul(self.passes()));
        let share = share.map(|share| share.saturating_mul(self.passes()));
        let Some(commands) = self.commands else {
            return Ok((bytes, share));
        };
        let sizes = self.block_sizes();
        let mut used = sizes[self.kinds()].iter().flatten().map(|b| b.bytes);
        let first = used.next().unwrap_or(4096);
        if used.any(|bytes| bytes != first) {
            let problem = "number_ios with commands of several sizes";
            return Err(refuse(
                section,
                problem,
                "say how much to transfer with io_size=",
            ));
        }
        let counted = commands
            .saturating_mul(self.passes())
            .saturating_mul(first.into());
        Ok((
            Some(bytes.map_or(counted, |bytes| bytes.min(counted))),
            share,
        ))
    }

    /// Passes that a limit is for. What verifies is limited by the pass.
    fn passes(&self) -> u64 {
        if self.verifies { 1 } else { self.loops }
    }

    /// The kinds of command, as indices into the block sizes.
    fn kinds(&self) -> std::ops::Range<usize> {
        match self.direction {
            RwDirection::Read => 0..1,
            RwDirection::Write => 1..2,
            RwDirection::Trim => 2..3,
            RwDirection::Both => 0..2,
        }
    }

    fn smallest(&self) -> [u64; 3] {
        self.block_sizes().map(|list| {
            let bytes = list.iter().map(|b| u64::from(b.bytes));
            bytes.min().unwrap_or(4096)
        })
    }

    /// Where each kind may start, if reads and writes differ in it: fio aligns each to its own
    /// smallest block.
    fn own_align(&self) -> Option<[u64; 3]> {
        let smallest = self.smallest();
        let used = &smallest[self.kinds()];
        let differ = used.iter().any(|bytes| *bytes != used[0]);
        (self.random && self.align.is_none() && differ).then_some(smallest)
    }

    fn steps(&self) -> AddressSteps {
        let colon = self.after_colon;
        AddressSteps {
            skip: if self.random { 0 } else { colon },
            followers: if self.random {
                u32::try_from(colon.max(1) - 1).unwrap_or(u32::MAX)
            } else {
                0
            },
            align: self.own_align(),
            copy: self.offset_step,
            zones: self.strided.then_some(Zones {
                bytes: self.zone_bytes,
                // fio: "backward compatibility dictates it should be made equal to zone_size".
                range: match self.zone_range {
                    0 => self.zone_bytes,
                    range => range,
                },
                skip: self.zone_skip,
            }),
            size_range: self.range.filter(|_| self.split.is_none()),
            write_as: self.write_as,
            ..AddressSteps::default()
        }
    }

    /// The region in bytes, or in per cent of the target.
    fn region(&self, section: &JobFileSection) -> Result<(Option<u64>, Option<u8>), Error> {
        let files = u64::from(self.files.in_turn());
        let file_size = self.file_size.map(|bytes| bytes.saturating_mul(files));
        match (self.size, file_size) {
            (None, None) => Ok((None, None)),
            (Some(SizeOrPercent::Bytes(bytes)), None) => Ok((Some(bytes), None)),
            // All of the target is what no region at all means.
            (Some(SizeOrPercent::Percent(100)), None) => Ok((None, None)),
            (Some(SizeOrPercent::Percent(percent)), None) => Ok((None, Some(percent))),
            (Some(SizeOrPercent::Percent(percent)), Some(file)) => {
                let bytes = u128::from(file) * u128::from(percent) / 100;
                Ok((u64::try_from(bytes).ok(), None))
            }
            // The file from the offset to its end; `size` limits the bytes only.
            (None | Some(SizeOrPercent::Bytes(_)), Some(file)) => {
                let offset = match self.offset {
                    SizeOrPercent::Bytes(bytes) => bytes,
                    SizeOrPercent::Percent(_) => 0,
                };
                match file.checked_sub(offset).filter(|rest| *rest > 0) {
                    Some(rest) => Ok((Some(rest), None)),
                    None => Err(refuse(
                        section,
                        "its offset is not below filesize",
                        "use a smaller offset or a larger file",
                    )),
                }
            }
        }
    }

    fn block_sizes(&self) -> [Vec<BlockSize>; 3] {
        let ends = |(low, high)| {
            let half = |bytes| BlockSize { bytes, percent: 50 };
            if low == high {
                vec![BlockSize {
                    bytes: low,
                    percent: 100,
                }]
            } else {
                vec![half(low), half(high)]
            }
        };
        match (&self.split, self.range) {
            (Some(split), _) => split.clone(),
            (None, Some(range)) => range.map(ends),
            (None, None) => self.block.map(|bytes| {
                vec![BlockSize {
                    bytes,
                    percent: 100,
                }]
            }),
        }
    }

    fn order(&self, section: &JobFileSection) -> Result<Order, Error> {
        if !self.random {
            return Ok(SEQUENTIAL);
        }
        let smallest = self.smallest();
        let used = &smallest[self.kinds()];
        if self.own_align().is_some() && self.distribution != Distribution::Uniform {
            // fio draws one block number for all kinds, which may lie outside for one of them.
            return Err(refuse(
                section,
                "reads and writes whose smallest blocks differ, at skewed addresses",
                "say where both may start with blockalign=",
            ));
        }
        // fio: "Any use of blockalign= turns off randommap"; so does any skew.
        let mapped = self.random_map && self.align.is_none();
        let each_once = (mapped || self.lfsr) && self.distribution == Distribution::Uniform;
        Ok(Order::Random {
            align: self
                .align
                .unwrap_or_else(|| used.iter().copied().min().unwrap_or(4096)),
            distribution: self.distribution.clone(),
            each_once,
        })
    }
}

pub(super) fn refuse(section: &JobFileSection, problem: &str, hint: &str) -> Error {
    Error::refused(
        format!("{}: job `{}`: {problem}", section.place, section.name),
        hint,
    )
}
