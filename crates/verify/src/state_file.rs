//! State files: `local-JOB-0-verify.state`.

use crate::crc::crc32c;
use crate::job::VerifiedJob;
use crate::state::{NO_WRITE, NewestWrites, VerifyState};
use ssdlab_base::LabError;
use std::fs;
use std::path::{Path, PathBuf};

const NAME_BYTES: usize = 64;
/// Entries that a file may have: more than fio's largest depth.
const ENTRIES_MAX: u64 = 1 << 22;

/// Where fio keeps the state of a job, in `folder`.
pub fn state_path(folder: &Path, job: &VerifiedJob) -> PathBuf {
    let index = job.thread - 1;
    let name = job.name.replace('/', ".");
    folder.join(format!("local-{name}-{index}-verify.state"))
}

/// Writes a state where fio looks for it, and returns the path.
///
/// # Errors
/// When it cannot be written.
pub fn write_state(
    folder: &Path,
    job: &VerifiedJob,
    state: &VerifyState,
) -> Result<PathBuf, LabError> {
    let path = state_path(folder, job);
    fs::write(&path, to_bytes(state)).map_err(|e| LabError::file("writing", &path, e))?;
    Ok(path)
}

/// Reads the state of a job.
///
/// # Errors
/// When it cannot be read, is damaged, of another version, or of another job.
pub fn read_state(path: &Path, job: &VerifiedJob) -> Result<VerifyState, LabError> {
    let bytes = fs::read(path).map_err(|e| LabError::file("reading", path, e))?;
    let refused = |why: String, hint: &str| {
        LabError::refused(format!("{}: {why}", path.display()), hint.to_owned())
    };
    let state = from_bytes(&bytes).map_err(|why| {
        refused(
            why,
            "fio writes it at the end of a job with verify_state_save=1",
        )
    })?;
    if state.name != job.name || state.number > job.count() {
        let why = format!(
            "is of job `{}` with {} writes, not of `{}` with {}",
            state.name,
            state.number,
            job.name,
            job.count()
        );
        return Err(refused(
            why,
            "give the job file that the state was written by",
        ));
    }
    Ok(state)
}

fn put(bytes: &mut Vec<u8>, value: u64) {
    bytes.extend(value.to_le_bytes());
}

fn to_bytes(state: &VerifyState) -> Vec<u8> {
    let mut body = Vec::new();
    let (count, mut entries) = match &state.newest {
        NewestWrites::Completed(offsets) => {
            let pairs = offsets.iter().flat_map(|offset| [0, *offset]);
            (offsets.len() as u64, pairs.collect::<Vec<u64>>())
        }
        NewestWrites::InFlight(numbers) => (0, numbers.clone()),
    };
    match state.newest {
        NewestWrites::Completed(_) => {
            entries.resize(2 * state.depth as usize, 0);
            put(&mut body, count);
            put(&mut body, u64::from(state.depth) | 1 << 32);
        }
        NewestWrites::InFlight(_) => {
            entries.resize(state.depth as usize, NO_WRITE);
            put(&mut body, u64::from(state.depth));
        }
    }
    put(&mut body, state.number);
    put(&mut body, state.index);
    state
        .generator
        .iter()
        .for_each(|part| put(&mut body, *part));
    let name = state.name.as_bytes();
    let name = &name[..name.len().min(NAME_BYTES - 1)];
    body.extend(name);
    body.extend(vec![0; NAME_BYTES - name.len()]);
    entries.iter().for_each(|entry| put(&mut body, *entry));
    let mut bytes = Vec::new();
    put(&mut bytes, state.version);
    put(&mut bytes, body.len() as u64);
    put(&mut bytes, u64::from(crc32c(&body)));
    bytes.extend(body);
    bytes
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + 8)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u64::from(*byte)),
    )
}

fn from_bytes(bytes: &[u8]) -> Result<VerifyState, String> {
    let short = || format!("is cut short: {} bytes", bytes.len());
    let header = |at| u64_at(bytes, at).ok_or_else(short);
    let (version, size, crc) = (header(0)?, header(8)?, header(16)?);
    if !matches!(version, 3 | 5..=7) {
        return Err(format!(
            "has version {version}; versions 3, 5, 6 and 7 are known"
        ));
    }
    let body = &bytes[24..];
    if body.len() as u64 != size {
        return Err(format!(
            "has {} bytes of state, and says {size}",
            body.len()
        ));
    }
    if u64::from(crc32c(body)) != crc {
        return Err("is damaged: its checksum differs".to_owned());
    }
    let at = |at| u64_at(body, at).ok_or_else(short);
    let is_old = version == 3;
    // Version 3 begins with the number of completions.
    let start = if is_old { 8 } else { 0 };
    let depth = at(start)? as u32;
    let mut generator = [0; 7];
    for (index, part) in generator.iter_mut().enumerate() {
        *part = at(start + 24 + 8 * index)?;
    }
    let name_at = start + 80;
    let name = body.get(name_at..name_at + NAME_BYTES).ok_or_else(short)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let count = if is_old { at(0)? } else { u64::from(depth) };
    let per_entry = if is_old { 2 } else { 1 };
    let entries_at = name_at + NAME_BYTES;
    if count > ENTRIES_MAX || (entries_at as u64 + count * per_entry * 8) > size {
        return Err(format!("has {size} bytes for {count} entries"));
    }
    let entry = |index: u64| at(entries_at + (8 * (index * per_entry + per_entry - 1)) as usize);
    let entries = (0..count)
        .map(entry)
        .collect::<Result<Vec<u64>, String>>()?;
    Ok(VerifyState {
        version,
        depth,
        number: at(start + 8)?,
        index: at(start + 16)?,
        generator,
        name: String::from_utf8_lossy(name).into_owned(),
        newest: if is_old {
            NewestWrites::Completed(entries)
        } else {
            NewestWrites::InFlight(entries)
        },
    })
}
