//! A request as it is understood when it is submitted.
//!
//! As the kernel does, it copies paths and iovecs then, and no bytes of buffers.

use super::entry::{Flags, RingRequest};
use super::memory::{self, UserBuffer};
use super::opcode::code;
use super::types::FsyncFlags;
use libc::{
    AT_REMOVEDIR, EFAULT, EFBIG, EINVAL, EOPNOTSUPP, FALLOC_FL_KEEP_SIZE, RWF_APPEND, RWF_DSYNC,
    RWF_NOWAIT, RWF_SYNC,
};
use std::path::PathBuf;

/// The most iovecs of a request.
const VECTORS_MAX: u32 = 1024;

/// A path below an open directory.
#[derive(Debug)]
pub(super) struct PathAt {
    pub directory: i32,
    pub path: PathBuf,
}

/// Bytes between a file and memory.
#[derive(Debug)]
pub(super) struct Transfer {
    pub buffers: Vec<UserBuffer>,
    /// None: the position of the open file.
    pub offset: Option<u64>,
    pub appends: bool,
    pub syncs: bool,
    pub syncs_data: bool,
}

impl Transfer {
    /// Bytes.
    pub fn length(&self) -> usize {
        self.buffers.iter().map(|buffer| buffer.length).sum()
    }
}

#[derive(Debug)]
pub(super) enum Operation {
    /// Nothing, and a result.
    Answer(i32),
    Read(Transfer),
    Write(Transfer),
    Sync {
        data_only: bool,
    },
    WriteOut {
        begins: bool,
    },
    /// To at least this length.
    Lengthen(u64),
    SetLen(u64),
    Open {
        at: PathAt,
        flags: i32,
        mode: u32,
    },
    Close,
    /// Index of a registered file.
    CloseRegistered(usize),
    Rename {
        from: PathAt,
        to: PathAt,
    },
    Link {
        file: PathAt,
        name: PathAt,
    },
    Unlink {
        at: PathAt,
        is_directory: bool,
    },
    MakeDir(PathAt),
}

impl Operation {
    /// Understands an entry; what the kernel would refuse at once is an operation that answers it.
    pub fn of(entry: &RingRequest, registered: &[UserBuffer]) -> Operation {
        let operation = match entry.opcode {
            code::NOP | code::FADVISE => Ok(Operation::Answer(0)),
            code::READ | code::READV | code::READ_FIXED => {
                transfer(entry, registered).map(Operation::Read)
            }
            code::WRITE | code::WRITEV | code::WRITE_FIXED => {
                transfer(entry, registered).map(Operation::Write)
            }
            code::FSYNC => sync(entry),
            code::SYNC_FILE_RANGE => write_out(entry),
            code::FALLOCATE => allocate(entry),
            code::FTRUNCATE if entry.offset > i64::MAX as u64 => Err(EINVAL),
            code::FTRUNCATE => Ok(Operation::SetLen(entry.offset)),
            code::CLOSE if entry.flags.contains(Flags::FIXED_FILE) => {
                Ok(Operation::CloseRegistered(entry.fd as usize))
            }
            code::CLOSE => Ok(Operation::Close),
            _ => of_names(entry),
        };
        operation.unwrap_or_else(|error| Operation::Answer(-error))
    }

    /// Whether it is about an open file.
    pub fn is_of_file(&self) -> bool {
        use Operation::{Lengthen, Read, SetLen, Sync, Write, WriteOut};
        matches!(
            self,
            Read(_) | Write(_) | Sync { .. } | WriteOut { .. } | Lengthen(_) | SetLen(_)
        )
    }

    /// A path that it is about.
    pub fn path(&self) -> Option<&PathAt> {
        match self {
            Operation::Open { at, .. } | Operation::Unlink { at, .. } => Some(at),
            Operation::Rename { from: at, .. } | Operation::Link { file: at, .. } => Some(at),
            Operation::MakeDir(at) => Some(at),
            _ => None,
        }
    }

    /// Whether a result breaks the chain of links that the request is in.
    pub fn fails_with(&self, result: i32) -> bool {
        match self {
            Operation::Read(transfer) | Operation::Write(transfer) => {
                usize::try_from(result) != Ok(transfer.length())
            }
            _ => result < 0,
        }
    }
}

fn transfer(entry: &RingRequest, registered: &[UserBuffer]) -> Result<Transfer, i32> {
    let is_vectored = matches!(entry.opcode, code::READV | code::WRITEV);
    let is_registered = matches!(entry.opcode, code::READ_FIXED | code::WRITE_FIXED);
    let buffers = if is_vectored {
        if entry.length > VECTORS_MAX {
            return Err(EINVAL);
        }
        if entry.address == 0 && entry.length > 0 {
            return Err(EFAULT);
        }
        memory::buffers(entry.address, entry.length)
    } else {
        vec![UserBuffer {
            address: entry.address,
            length: entry.length as usize,
        }]
    };
    if is_registered {
        let buffer = registered.get(usize::from(entry.buffer_index));
        if !buffer.is_some_and(|buffer| buffer.contains(&buffers[0])) {
            return Err(EFAULT);
        }
    }
    if buffers.iter().any(UserBuffer::is_bad) {
        return Err(EFAULT);
    }
    let flags = entry.call_flags as i32;
    if flags & !(RWF_APPEND | RWF_DSYNC | RWF_NOWAIT | RWF_SYNC) != 0 {
        return Err(EOPNOTSUPP);
    }
    Ok(Transfer {
        buffers,
        offset: (entry.offset != u64::MAX).then_some(entry.offset),
        appends: flags & RWF_APPEND != 0,
        syncs: flags & RWF_SYNC != 0,
        syncs_data: flags & RWF_DSYNC != 0,
    })
}

fn sync(entry: &RingRequest) -> Result<Operation, i32> {
    let Some(flags) = FsyncFlags::from_bits(entry.call_flags) else {
        return Err(EINVAL);
    };
    if entry.offset != 0 || entry.length != 0 {
        return Err(EOPNOTSUPP);
    }
    Ok(Operation::Sync {
        data_only: flags.contains(FsyncFlags::DATASYNC),
    })
}

fn write_out(entry: &RingRequest) -> Result<Operation, i32> {
    let begin = libc::SYNC_FILE_RANGE_WRITE;
    let known = begin | libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    if entry.call_flags & !known != 0 {
        return Err(EINVAL);
    }
    Ok(Operation::WriteOut {
        begins: entry.call_flags & begin != 0,
    })
}

fn allocate(entry: &RingRequest) -> Result<Operation, i32> {
    let (offset, length, mode) = (entry.offset, entry.address, entry.length as i32);
    let last = offset.checked_add(length);
    if length == 0 || offset > i64::MAX as u64 || length > i64::MAX as u64 {
        return Err(EINVAL);
    }
    let Some(last) = last.filter(|&last| last <= i64::MAX as u64) else {
        return Err(EFBIG);
    };
    match mode {
        0 => Ok(Operation::Lengthen(last)),
        FALLOC_FL_KEEP_SIZE => Ok(Operation::Lengthen(0)),
        _ => Err(EOPNOTSUPP),
    }
}

fn path_at(directory: i32, address: u64) -> Result<PathAt, i32> {
    let path = memory::path(address).ok_or(EFAULT)?;
    Ok(PathAt { directory, path })
}

fn of_names(entry: &RingRequest) -> Result<Operation, i32> {
    let flags = entry.call_flags as i32;
    let first = path_at(entry.fd, entry.address);
    match entry.opcode {
        code::OPENAT => Ok(Operation::Open {
            at: first?,
            flags,
            mode: entry.length,
        }),
        code::MKDIRAT => first.map(Operation::MakeDir),
        code::UNLINKAT if flags & !AT_REMOVEDIR == 0 => Ok(Operation::Unlink {
            at: first?,
            is_directory: flags == AT_REMOVEDIR,
        }),
        code::RENAMEAT if flags == 0 => Ok(Operation::Rename {
            from: first?,
            to: path_at(entry.length as i32, entry.offset)?,
        }),
        code::LINKAT if flags == 0 => Ok(Operation::Link {
            file: first?,
            name: path_at(entry.length as i32, entry.offset)?,
        }),
        _ => Err(EINVAL),
    }
}
