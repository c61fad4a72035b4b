//! What a plan asks of a target, and what the user has said about a real one.

use crate::engine::depth_needed;
use ssdlab_base::LabError;
use ssdlab_load::plan::{Dedupe, FILL_DEPTH, JobSpec, Mix, Order, WorkloadPlan, WriteAs};

/// Most commands that a ring is asked to keep outstanding.
const DEPTH_MAX: u64 = 32_768;

/// What the user has said about writing.
#[derive(Clone, Debug, Default)]
pub struct WriteOptions {
    /// An existing file may be overwritten.
    pub allow_overwrite: bool,
    /// The serial number typed to confirm that a block device may lose its contents.
    pub confirmed_serial: Option<String>,
    /// The word typed to destroy what a block device without a serial number holds: a UUID on it,
    /// its backing file, its name in the device mapper, or its exact size.
    pub destroy: Option<String>,
}

/// What the user has said about a real target.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Permission to write.
    pub write: WriteOptions,
    /// Bytes of a file to create or extend; `None`: what the plan needs.
    pub size: Option<u64>,
    /// Go through the page cache: for file systems without direct I/O, or to measure the cache.
    pub buffered: bool,
    /// Do not remove a file that was created.
    pub keep: bool,
}

/// What a plan asks of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Commands outstanding.
    pub depth: u32,
    /// Largest read, bytes; 0: reads nothing.
    pub read_bytes: u32,
    /// Largest write, bytes; 0: writes nothing.
    pub write_bytes: u32,
    /// Longest read or write that will be sent, bytes, where it is known to be shorter than the
    /// buffers of [`Needs::read_bytes`] and [`Needs::write_bytes`].
    pub longest: Option<u32>,
    /// Writes, trims or flushes: needs permission to write.
    pub changes: bool,
    /// Every flush is an fdatasync.
    pub data_only: bool,
    /// Some job wants fresh contents for every write.
    pub refill: bool,
    /// Some job verifies its writes.
    pub verify: bool,
    /// Some job verifies without writing: what an earlier run wrote.
    pub verify_all: bool,
    /// Every job bypasses the page cache.
    pub direct: bool,
    /// Some job sends NVMe commands to a character device.
    pub passthrough: bool,
    /// What the writes of each job hold, without doubles.
    pub contents: Vec<PayloadContents>,
    /// Every address and length is a multiple of this many bytes.
    pub granule: u64,
    /// Where the last job's region ends; `None` when some job uses all of the target.
    pub extent: Option<u64>,
}

impl Default for Needs {
    /// One command at a time that reads and writes nothing, past the page cache.
    fn default() -> Needs {
        Needs {
            depth: 1,
            read_bytes: 0,
            write_bytes: 0,
            longest: None,
            changes: false,
            data_only: true,
            refill: false,
            verify: false,
            verify_all: false,
            direct: true,
            passthrough: false,
            contents: Vec::new(),
            granule: 0,
            extent: Some(0),
        }
    }
}

impl Needs {
    /// What `plan` asks.
    ///
    /// # Errors
    /// When it keeps more commands outstanding than a ring takes.
    pub fn of(plan: &WorkloadPlan) -> Result<Needs, LabError> {
        let depth = depth_needed(plan);
        if depth > DEPTH_MAX {
            return Err(LabError::refused(
                format!("the plan keeps {depth} commands outstanding, {DEPTH_MAX} are possible"),
                "lower iodepth or numjobs (-o or -t)",
            ));
        }
        let mut needs = Needs {
            depth: depth.max(1) as u32,
            ..Needs::default()
        };
        for job in plan.phases.iter().flat_map(|phase| &phase.jobs) {
            needs.add(job);
        }
        Ok(needs)
    }

    /// Adds what filling the target takes, `block` bytes at a time.
    pub fn fill(&mut self, block: u32) {
        self.changes = true;
        self.depth = self.depth.max(FILL_DEPTH);
        self.write_bytes = self.write_bytes.max(block);
        self.longest = self.longest.map(|longest| longest.max(block));
    }

    /// Bytes of the longest read or write.
    pub fn len_max(&self) -> u32 {
        let buffers = self.read_bytes.max(self.write_bytes);
        self.longest.map_or(buffers, |longest| longest.min(buffers))
    }

    fn add(&mut self, job: &JobSpec) {
        let granule_before = self.granule;
        let kinds: &[usize] = match job.mix {
            Mix::Read => &[0],
            Mix::Write => &[1],
            Mix::ReadWrite { .. } => &[0, 1],
            Mix::Trim => &[2],
        };
        let step = match &job.order {
            Order::Sequential {
                stride, start_step, ..
            } => gcd(stride.unwrap_or(0), *start_step),
            Order::Random { align, .. } => *align,
        };
        self.granule = gcd(self.granule, gcd(job.offset, step));
        let steps = gcd(job.steps.skip.unsigned_abs(), job.steps.copy);
        self.granule = gcd(self.granule, steps);
        let sent = job.replay.as_ref().map_or(u64::MAX, |it| it.survey.longest);
        for &kind in kinds {
            for size in &job.block_sizes[kind] {
                self.granule = gcd(self.granule, u64::from(size.bytes));
                match kind {
                    0 => self.read_bytes = self.read_bytes.max(size.bytes),
                    1 => self.write_bytes = self.write_bytes.max(size.bytes),
                    _ => continue,
                }
                let bytes = u64::from(size.bytes).min(sent) as u32;
                self.longest = self.longest.max(Some(bytes));
            }
        }
        let durability = &job.durability;
        self.changes |= job.mix != Mix::Read || durability.flush_every > 0;
        self.data_only &= durability.flush_every == 0 || durability.data_only;
        // fsync, in fio.
        self.data_only &= job.end_flushes == 0;
        self.refill |= job.data.refill;
        self.verify |= job.verify.is_some();
        self.verify_all |= job.verify.is_some() && job.mix == Mix::Read;
        if job.verify.is_some()
            || matches!(job.steps.write_as, WriteAs::Read | WriteAs::WriteAndRead)
        {
            // Its writes are read, too.
            self.read_bytes = self.read_bytes.max(self.write_bytes);
        }
        if job.steps.pages {
            self.add_pages(granule_before);
        }
        if let Some(zones) = job.steps.zones {
            self.granule = gcd(self.granule, gcd(zones.range, zones.skip));
        }
        if let Some(ranges) = job.steps.size_range {
            // Any multiple of the smallest is possible.
            let size_min = |kind: &usize| u64::from(ranges[*kind].0);
            self.granule = kinds.iter().map(size_min).fold(self.granule, gcd);
        }
        self.direct &= job.direct;
        self.passthrough |= job.passthrough;
        let contents = PayloadContents::of(job);
        if kinds.contains(&1) && !self.contents.contains(&contents) {
            self.contents.push(contents);
        }
        self.add_extent(job);
    }

    fn add_extent(&mut self, job: &JobSpec) {
        let share = job.shares.offset.is_some() || job.shares.region.is_some();
        let further = job
            .steps
            .copy
            .saturating_mul(job.copies.saturating_sub(1).into());
        let last = job.offset.saturating_add(further);
        let end = job
            .region
            .filter(|_| !share)
            .map(|len| last.saturating_add(len));
        self.extent = self.extent.zip(end).map(|(extent, end)| extent.max(end));
    }
}

impl Needs {
    /// Commands are whole pages, of which a block of any size may touch one more than it fills.
    fn add_pages(&mut self, granule_before: u64) {
        const PAGE: u32 = 4096;
        let in_pages = |bytes: u32| match bytes {
            0 => 0,
            bytes => bytes.next_multiple_of(PAGE).saturating_add(PAGE),
        };
        self.granule = gcd(granule_before, u64::from(PAGE));
        self.read_bytes = in_pages(self.read_bytes);
        self.write_bytes = in_pages(self.write_bytes);
        self.longest = self.longest.map(in_pages);
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What writes hold; by default random data that no other block equals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PayloadContents {
    /// Repeated from the start of each write, unless it is empty.
    pub pattern: Vec<u8>,
    /// Blocks that equal others.
    pub repeated: Option<RepeatedBlocks>,
}

impl PayloadContents {
    /// Of the writes of `job`.
    fn of(job: &JobSpec) -> PayloadContents {
        PayloadContents {
            pattern: job.pattern.clone(),
            repeated: job.dedupe.map(|dedupe| RepeatedBlocks {
                dedupe,
                region: job.region,
                share_pct: job.shares.region.unwrap_or(100),
            }),
        }
    }
}

/// How often a block equals another, and the region that the working set is a share of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedBlocks {
    /// How often, and what.
    pub dedupe: Dedupe,
    /// Bytes of the region; `None`: a share of the target.
    pub region: Option<u64>,
    /// That share, in per cent.
    pub share_pct: u8,
}
