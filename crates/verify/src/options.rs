//! fio's options, as far as a job with `verify=` may have them. An option that would change what
//! is written and is not known here is refused: fio would look for other writes.

use crate::checksum::BlockChecksum;
use crate::job::{FioFormat, VerifiedJob, VerifyPolicy};
use crate::random::SEED_DEFAULT;
use ssdlab_base::LabError;
use ssdlab_base::error::InputLocation;
use ssdlab_fio::{Error, JobFile, JobFileLocation, JobOption, ResolvedJob, Surroundings, names};
use std::path::PathBuf;

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
    "verify_only",
    "verify_state_load",
    "verify_state_save",
];
/// Options that must have the value that does nothing.
const ONLY: &[(&str, &str)] = &[
    ("loops", "1"),
    ("nrfiles", "1"),
    ("numjobs", "1"),
    ("time_based", "0"),
    ("unlink", "0"),
    ("verify_backlog", "0"),
    ("verify_offset", "0"),
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

pub fn parse(
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
        },
        checksum: None,
        block_bytes: 4096,
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
        let job = &mut self.job;
        let refused = |what: String, hint: &str| Err(LabError::refused(what, hint));
        let Some(checksum) = self.checksum else {
            return refused(format!("{source}: no verify="), "add verify=crc32c");
        };
        if !self.rw {
            return refused(format!("{source}: no rw="), "add rw=write or rw=randwrite");
        }
        job.checksum = checksum;
        job.block_bytes = self.block_bytes;
        let block = u64::from(job.block_bytes);
        let rest = job.size % block;
        if job.size == 0 || rest != 0 {
            return refused(
                format!(
                    "{source}: size={} is no whole number of {block}-byte blocks",
                    job.size
                ),
                "give size= as a multiple of bs=",
            );
        }
        if job.count() > u64::from(u32::MAX) {
            return refused(
                format!("{source}: {} blocks of {block} bytes", job.count()),
                "at most 2^32 blocks are known here: give a smaller size= or a larger bs=",
            );
        }
        // To fio, randseed= is randrepeat=0.
        if self.has_seed {
            job.repeats = false;
        } else if !job.repeats {
            return refused(
                format!("{source}: with randrepeat=0 nobody can find the writes again"),
                "leave it out, or add randseed=",
            );
        }
        Ok(self.job)
    }
}
