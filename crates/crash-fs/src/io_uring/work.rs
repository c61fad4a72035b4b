//! What requests do to files.

use super::operation::{Operation, PathAt, Transfer};
use super::request::Request;
use crate::descriptors::{close, file_of};
use crate::state::OpenTarget;
use crate::std::fs::{self, File, OpenOptions};
use crate::std::os::unix::fs::{FileExt, OpenOptionsExt};
use libc::{
    AT_FDCWD, EBADF, EINVAL, EIO, ENAMETOOLONG, ENOENT, ENOTDIR, EOPNOTSUPP, O_ACCMODE, O_APPEND,
    O_CLOEXEC, O_CREAT, O_DIRECTORY, O_DSYNC, O_EXCL, O_NOATIME, O_NOCTTY, O_NOFOLLOW, O_RDONLY,
    O_RDWR, O_SYNC, O_TRUNC, O_WRONLY,
};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::fd::IntoRawFd;
use std::path::PathBuf;

/// Does what a request is for. The result is that of its completion.
pub(super) fn run(request: &Request) -> i32 {
    let result = match (&request.operation, &request.file) {
        (Operation::Answer(answer), _) => Ok(*answer),
        (operation, Some(file)) => on_file(operation, file),
        (operation, None) if operation.is_of_file() => Err(number(EBADF)),
        (Operation::Close, None) => close_descriptor(request.entry.fd),
        (operation, None) => on_names(operation),
    };
    result.unwrap_or_else(|error| -number_of(&error))
}

fn number(number: i32) -> Error {
    Error::from_raw_os_error(number)
}

/// The number of an error; `EIO` when power is lost.
fn number_of(error: &Error) -> i32 {
    error.raw_os_error().unwrap_or(match error.kind() {
        ErrorKind::InvalidInput => EINVAL,
        ErrorKind::InvalidFilename => ENAMETOOLONG,
        ErrorKind::Unsupported => EOPNOTSUPP,
        _ => EIO,
    })
}

fn on_file(operation: &Operation, file: &File) -> Result<i32> {
    let description = file.description();
    let is_directory = matches!(description.target, OpenTarget::Directory(_));
    match operation {
        Operation::Read(transfer) => return read(transfer, file),
        Operation::Write(transfer) => return write(transfer, file),
        Operation::Sync { data_only: true } => file.sync_data()?,
        Operation::Sync { data_only: false } => file.sync_all()?,
        Operation::WriteOut { begins } if *begins && !is_directory => file.sync_file_range()?,
        Operation::WriteOut { .. } => {}
        Operation::SetLen(size) => file.set_len(*size)?,
        Operation::Lengthen(_) if !description.flags.is_writing() => return Err(number(EBADF)),
        Operation::Lengthen(size) if *size > file.metadata()?.len() => file.set_len(*size)?,
        Operation::Lengthen(_) => {}
        _ => return Err(number(EINVAL)),
    }
    Ok(0)
}

fn read(transfer: &Transfer, mut file: &File) -> Result<i32> {
    let mut bytes = vec![0; transfer.length()];
    let count = match transfer.offset {
        Some(offset) => file.read_at(&mut bytes, offset)?,
        None => file.read(&mut bytes)?,
    };
    let mut rest = &bytes[..count];
    for buffer in &transfer.buffers {
        let (part, behind) = rest.split_at(rest.len().min(buffer.length));
        buffer.fill(part);
        rest = behind;
    }
    Ok(count as i32)
}

fn write(transfer: &Transfer, mut file: &File) -> Result<i32> {
    let mut bytes = Vec::with_capacity(transfer.length());
    for buffer in &transfer.buffers {
        buffer.append_to(&mut bytes);
    }
    match transfer.offset {
        _ if transfer.appends => {
            file.description().write(None, &bytes)?;
        }
        Some(offset) => {
            file.write_at(&bytes, offset)?;
        }
        None => {
            file.write_all(&bytes)?;
        }
    }
    if transfer.syncs {
        file.sync_all()?;
    } else if transfer.syncs_data {
        file.sync_data()?;
    }
    Ok(bytes.len() as i32)
}

fn close_descriptor(descriptor: i32) -> Result<i32> {
    if close(descriptor) {
        Ok(0)
    } else {
        Err(number(EBADF))
    }
}

/// Where a path leads from an open directory.
fn resolved(at: &PathAt) -> Result<PathBuf> {
    if at.path.as_os_str().is_empty() {
        return Err(number(ENOENT));
    }
    if at.path.is_absolute() || at.directory == AT_FDCWD {
        return Ok(at.path.clone());
    }
    let file = file_of(at.directory).ok_or_else(|| number(EBADF))?;
    let description = file.description();
    let directory = description.call(|state| state.directory(description.target))?;
    let directory = directory.ok_or_else(|| number(ENOENT))?;
    Ok(description.machine.root().join(directory).join(&at.path))
}

fn on_names(operation: &Operation) -> Result<i32> {
    match operation {
        Operation::Open { at, flags, mode } => return open(at, *flags, *mode),
        Operation::Rename { from, to } => fs::rename(resolved(from)?, resolved(to)?)?,
        Operation::Link { file, name } => fs::hard_link(resolved(file)?, resolved(name)?)?,
        Operation::MakeDir(at) => fs::create_dir(resolved(at)?)?,
        Operation::Unlink { at, is_directory } if *is_directory => fs::remove_dir(resolved(at)?)?,
        Operation::Unlink { at, .. } => fs::remove_file(resolved(at)?)?,
        _ => return Err(number(EINVAL)),
    }
    Ok(0)
}

fn open(at: &PathAt, flags: i32, mode: u32) -> Result<i32> {
    let harmless = O_CLOEXEC | O_NOATIME | O_NOCTTY | O_NOFOLLOW;
    let known = O_ACCMODE | O_APPEND | O_CREAT | O_DIRECTORY | O_DSYNC | O_EXCL | O_SYNC | O_TRUNC;
    if flags & !(known | harmless) != 0 {
        return Err(number(EINVAL));
    }
    let access = flags & O_ACCMODE;
    let writes = access == O_WRONLY || access == O_RDWR;
    let appends = writes && flags & O_APPEND != 0;
    let file = OpenOptions::new()
        .read(access == O_RDONLY || access == O_RDWR)
        .write(writes)
        .append(appends)
        .truncate(flags & O_TRUNC != 0)
        .create(flags & O_CREAT != 0)
        .create_new(flags & O_CREAT != 0 && flags & O_EXCL != 0)
        .mode(mode)
        .custom_flags(flags & O_SYNC)
        .open(resolved(at)?)?;
    let is_directory = matches!(file.description().target, OpenTarget::Directory(_));
    if flags & O_DIRECTORY != 0 && !is_directory {
        return Err(number(ENOTDIR));
    }
    Ok(file.into_raw_fd())
}
