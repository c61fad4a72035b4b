//! fio's options, as far as a job with `verify=` may have them. An option that would change the
//! writes and is not known here is refused: fio would look for other writes.

use crate::checksum::BlockChecksum;
use crate::format::FioFormat;
use crate::job::{VerifiedJob, VerifyPolicy};
use crate::pattern::VerifyPattern;
use crate::random::SEED_DEFAULT;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_fio::{Error, JobFile, JobFileLocation, JobOption, ResolvedJob, Surroundings, names};
use std::path::{Path, PathBuf};

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Options that change neither the writes nor what is durable.
const WITHOUT_EFFECT: &[&str] = &[
    "buffered",
    "description",
    "direct",
    "do_verify",
    "exitall",
    "fallocate",
    "group_reporting",
    "invalidate",
    "ioengine",
    "iodepth_batch",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
    "iodepth_low",
    "name",
    "refill_buffers",
    "scramble_buffers",
    "stonewall",
    "thread",
    "verify_async",
    "verify_dump",
    "verify_fatal",
];
/// Options that must have the value that does nothing.
const ONLY: &[(&str, &str)] = &[
    ("loops", "1"),
    ("nrfiles", "1"),
    ("numjobs", "1"),
    ("time_based", "0"),
    ("unlink", "0"),
    ("verify_backlog", "0"),
    ("zonemode", "none"),
];

fn lab(error: Error) -> LabError {
    let place = |place: JobFileLocation| InputLocation {
        source: place.source,
        line: place.line,
    };
    match error {
        Error::UnknownOption {
            option,
            place: location,
            hint,
        } => LabError::UnknownOption {
            language: "fio",
            option,
            place: place(location),
            hint,
        },
        Error::BadValue {
            option,
            given,
            allowed,
            place: location,
            hint,
        } => LabError::BadValue {
            option,
            given,
            allowed,
            place: place(location),
            hint,
        },
        Error::Refused { what, hint } => LabError::refused(what, hint),
    }
}

impl VerifiedJob {
    /// The job in the file at `path`, in the surroundings of this process.
    ///
    /// # Errors
    /// When it cannot be read, or as [`VerifiedJob::parse`].
    pub fn read(path: &Path, format: FioFormat) -> Result<VerifiedJob, LabError> {
        let text = std::fs::read_to_string(path).map_err(|e| LabError::file("reading", path, e))?;
        let source = path.display().to_string();
        parse(&text, &source, &Surroundings::here(), format)
    }

    /// The job in `text`; `source` is its name in messages.
    ///
    /// # Errors
    /// When it is not one job that writes and verifies, or has an option that would change its
    /// writes in a way that is not known here.
    pub fn parse(text: &str, source: &str, format: FioFormat) -> Result<VerifiedJob, LabError> {
        parse(text, source, &Surroundings::none(), format)
    }
}

fn parse(
    text: &str,
    source: &str,
    surroundings: &Surroundings,
    format: FioFormat,
) -> Result<VerifiedJob, LabError> {
    let (file, errors) = JobFile::parse(text, source, surroundings);
    if let Some(error) = errors.into_iter().next() {
        return Err(lab(error));
    }
    let jobs = file.jobs();
    let [job] = jobs.as_slice() else {
        return Err(LabError::refused(
            format!("{source} has {} jobs: one is verified", jobs.len()),
            "put each job into a file of its own; `[global]` is no job",
        ));
    };
    resolve(job, source, format)
}

/// Reads options one by one.
struct JobDraft {
    job: VerifiedJob,
    checksum: Option<BlockChecksum>,
    block_bytes: u32,
    interval_bytes: Option<u32>,
    has_seed: bool,
    rw: bool,
}

fn resolve(
    job: &ResolvedJob<'_>,
    source: &str,
    format: FioFormat,
) -> Result<VerifiedJob, LabError> {
    let mut draft = JobDraft {
        job: VerifiedJob {
            name: job.section.name.clone(),
            filename: None,
            format,
            checksum: BlockChecksum::Crc32c,
            pattern: None,
            interval_bytes: 4096,
            header_offset: 0,
            block_bytes: 4096,
            offset: 0,
            size: 0,
            is_random: false,
            has_random_map: true,
            depth: 1,
            sync_every: None,
            has_durable_writes: false,
            syncs_at_end: false,
            policy: VerifyPolicy::Completed,
            seed: SEED_DEFAULT,
            repeats: true,
            thread: 1,
            verifies_only: false,
            loads_state: false,
            saves_state: true,
        },
        checksum: None,
        block_bytes: 4096,
        interval_bytes: None,
        has_seed: false,
        rw: false,
    };
    for option in &job.settings {
        draft.set(option).map_err(lab)?;
    }
    draft.finish(source)
}

impl JobDraft {
    fn set(&mut self, option: &JobOption) -> Result<(), Error> {
        let name = names::canonical(&option.name).unwrap_or(&option.name);
        let job = &mut self.job;
        match name {
            "filename" => job.filename = Some(PathBuf::from(option.text())),
            "rw" => {
                (self.rw, job.is_random) = match option.text() {
                    "write" => (true, false),
                    "randwrite" => (true, true),
                    _ => {
                        let hint = "reads and trims have no place in a state";
                        return Err(option.bad("a verified job is write or randwrite", hint));
                    }
                }
            }
            "bs" => self.block_bytes = option.block(option.text(), 1024)?,
            "size" | "io_size" => job.size = option.size(1024)?,
            "offset" => job.offset = option.size(1024)?,
            "iodepth" => job.depth = option.count(1024, 1..=65_536)? as u32,
            "fsync" | "fdatasync" => {
                job.sync_every =
                    Some(option.count(1024, 0..=u64::from(u32::MAX))?).filter(|n| *n > 0);
            }
            "sync" => {
                job.has_durable_writes = match option.text() {
                    "0" | "none" => false,
                    "1" | "sync" | "dsync" => true,
                    _ => return Err(option.bad("it is 0, 1, none, sync or dsync", "")),
                }
            }
            "end_fsync" => job.syncs_at_end = option.flag()?,
            "norandommap" => job.has_random_map = !option.flag()?,
            "randseed" => {
                job.seed = option.count(1024, 0..=u64::MAX)?;
                self.has_seed = true;
            }
            "randrepeat" => job.repeats = option.flag()?,
            "random_generator" if option.text() == "tausworthe" => {}
            _ => return self.set_verification(name, option),
        }
        Ok(())
    }

    /// Options of what stands in a block, and of its check.
    fn set_verification(&mut self, name: &str, option: &JobOption) -> Result<(), Error> {
        let job = &mut self.job;
        match name {
            "verify" => {
                let checksum = BlockChecksum::named(option.text());
                let allowed = BlockChecksum::ALL.map(|entry| entry.0).join(" ");
                let error = || {
                    option.bad(
                        &format!("it is one of {allowed}"),
                        "crc32c is the usual one",
                    )
                };
                self.checksum = Some(checksum.ok_or_else(error)?);
            }
            "verify_pattern" => {
                let pattern = VerifyPattern::parse(option.text());
                let error = || {
                    option.bad(
                        "it is made of 0x and pairs of hexadecimal digits, numbers, \"text\", %o",
                        "verify_pattern=0xdeadbeef%o, for example",
                    )
                };
                job.pattern = Some(pattern.ok_or_else(error)?);
            }
            "verify_interval" => self.interval_bytes = Some(option.block(option.text(), 1024)?),
            "verify_offset" => job.header_offset = option.count(1024, 0..=1 << 24)? as u32,
            "verify_only" => job.verifies_only = option.flag()?,
            "verify_state_load" => job.loads_state = option.flag()?,
            "verify_state_save" => job.saves_state = option.flag()?,
            "verify_policy" => {
                let policy = VerifyPolicy::named(option.text());
                job.policy = policy.ok_or_else(|| option.bad("it is completed or fsynced", ""))?;
            }
            _ => return self.set_plain(name, option),
        }
        Ok(())
    }

    /// Options that change nothing, or that must not.
    fn set_plain(&mut self, name: &str, option: &JobOption) -> Result<(), Error> {
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(());
        }
        match ONLY.iter().find(|(only, _)| *only == name) {
            Some((_, value)) if option.text() == *value => Ok(()),
            Some((_, value)) => Err(option.bad(&format!("a verified job has {value}"), "")),
            None => Err(option.unsupported(
                "leave it out: with it, fio's writes would not be those that are known here",
            )),
        }
    }

    fn finish(mut self, source: &str) -> Result<VerifiedJob, LabError> {
        let refused = |what: &str, hint: &str| LabError::refused(format!("{source}: {what}"), hint);
        let Some(checksum) = self.checksum else {
            return Err(refused("no verify=", "add verify=crc32c"));
        };
        if !self.rw {
            return Err(refused("no rw=", "add rw=write or rw=randwrite"));
        }
        if !self.job.repeats && !self.has_seed {
            return Err(refused(
                "with randrepeat=0 nobody can find the writes again",
                "leave it out, or add randseed=",
            ));
        }
        self.job.checksum = checksum;
        self.job.block_bytes = self.block_bytes;
        self.job.interval_bytes = self.block_bytes;
        if let Some(interval) = self.interval_bytes.filter(|bytes| *bytes > 0) {
            self.job.interval_bytes = interval.min(self.block_bytes);
        }
        // To the current fio, randseed= is randrepeat=0; 3.33 finds that out too late.
        if self.has_seed && self.job.format == FioFormat::Current {
            self.job.repeats = false;
        }
        let checked = check_size(&self.job).and_then(|()| check_layout(&self.job));
        checked.map_err(|(what, hint)| refused(&what, hint))?;
        Ok(self.job)
    }
}

/// Why a job is refused, and what to do.
type Refusal = (String, &'static str);

fn check_size(job: &VerifiedJob) -> Result<(), Refusal> {
    let block = u64::from(job.block_bytes);
    if !block.is_multiple_of(SECTOR) || !job.offset.is_multiple_of(SECTOR) {
        return Err((
            format!(
                "blocks of {block} bytes from byte {} are no sectors",
                job.offset
            ),
            "give bs= and offset= as multiples of 512",
        ));
    }
    if job.size == 0 || !job.size.is_multiple_of(block) {
        return Err((
            format!(
                "size={} is no whole number of {block}-byte blocks",
                job.size
            ),
            "give size= as a multiple of bs=",
        ));
    }
    if job.count() > u64::from(u32::MAX) {
        return Err((
            format!("{} blocks of {block} bytes", job.count()),
            "at most 2^32 blocks are known here: give a smaller size= or a larger bs=",
        ));
    }
    Ok(())
}

/// Whether headers have room, and each lies in one sector: a torn one would belong to no write.
fn check_layout(job: &VerifiedJob) -> Result<(), Refusal> {
    let (head, interval) = (job.head_bytes() as u64, u64::from(job.interval_bytes));
    let shift = u64::from(job.header_offset);
    if job.checksum == BlockChecksum::Pattern && job.pattern.is_none() {
        return Err((
            "verify=pattern and no verify_pattern=".to_owned(),
            "add verify_pattern=0xdeadbeef%o, for example",
        ));
    }
    if !u64::from(job.block_bytes).is_multiple_of(interval) {
        return Err((
            format!(
                "verify_interval={interval} does not divide bs={}",
                job.block_bytes
            ),
            "give a divisor of bs=: fio would take another number",
        ));
    }
    if shift > 0 && job.pattern.is_some() {
        return Err((
            "verify_offset= together with verify_pattern=".to_owned(),
            "leave one of them out: fio 3.33 leaves old headers in the pattern",
        ));
    }
    if shift > 0 && shift < head {
        return Err((
            format!("verify_offset={shift} is within the header of {head} bytes"),
            "give 0, or more than the header has",
        ));
    }
    if interval <= shift + head {
        return Err((
            format!("a header of {head} bytes at {shift} does not fit into {interval} bytes"),
            "give a larger verify_interval= or bs=, or a smaller verify_offset=",
        ));
    }
    let crosses = |start: u64| start % SECTOR + head > SECTOR;
    let mut starts = (0..SECTOR).map(|index| index * interval + shift);
    if head > 0 && starts.any(crosses) {
        return Err((
            format!("a header of {head} bytes would lie in two sectors of 512 bytes"),
            "let verify_interval= and verify_offset= keep each header within a sector",
        ));
    }
    Ok(())
}
