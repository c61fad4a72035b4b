//! Operations, as [`io_uring::opcode`](https://docs.rs/io-uring/0.7/io_uring/opcode). What is
//! missing does not compile.

#![allow(clippy::new_without_default)]

use super::entry::{Flags, RingRequest as Entry};
use super::types::sealed::{FileSlot, UseFixed};
use super::types::{Fd, FsyncFlags};
use libc::{c_char, iovec, mode_t, off_t};

/// Numbers of operations.
pub(super) mod code {
    pub const NOP: u8 = 0;
    pub const READV: u8 = 1;
    pub const WRITEV: u8 = 2;
    pub const FSYNC: u8 = 3;
    pub const READ_FIXED: u8 = 4;
    pub const WRITE_FIXED: u8 = 5;
    pub const SYNC_FILE_RANGE: u8 = 8;
    pub const FALLOCATE: u8 = 17;
    pub const OPENAT: u8 = 18;
    pub const CLOSE: u8 = 19;
    pub const READ: u8 = 22;
    pub const WRITE: u8 = 23;
    pub const FADVISE: u8 = 24;
    pub const RENAMEAT: u8 = 35;
    pub const UNLINKAT: u8 = 36;
    pub const MKDIRAT: u8 = 37;
    pub const LINKAT: u8 = 39;
    pub const FTRUNCATE: u8 = 55;
    pub const ALL: [u8; 18] = [
        NOP,
        READV,
        WRITEV,
        FSYNC,
        READ_FIXED,
        WRITE_FIXED,
        SYNC_FILE_RANGE,
        FALLOCATE,
        OPENAT,
        CLOSE,
        READ,
        WRITE,
        FADVISE,
        RENAMEAT,
        UNLINKAT,
        MKDIRAT,
        LINKAT,
        FTRUNCATE,
    ];
}

impl Entry {
    fn on(mut self, file: impl UseFixed) -> Entry {
        match file.target() {
            FileSlot::Fd(fd) => self.fd = fd,
            FileSlot::Fixed(index) => {
                self.fd = index as i32;
                self.flags |= Flags::FIXED_FILE;
            }
        }
        self
    }

    fn memory<T>(mut self, pointer: *const T, length: u32) -> Entry {
        self.address = address(pointer);
        self.length = length;
        self
    }
}

/// An address in the program's memory, as the kernel gets it.
fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}

/// One operation: what it needs, the entry that is made of that, and what can be added.
macro_rules! opcode {
    (
        $(#[$doc:meta])*
        $name:ident($($field:ident: { $($type:tt)+ }),*) = $code:ident, |$new:ident| $entry:expr;
        $($(#[$option_doc:meta])* $option:ident: $option_type:ty => |$it:ident| $set:expr,)*
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name {
            entry: Entry,
        }

        impl $name {
            /// Number of the operation, for
            /// [`Probe::is_supported`](crate::io_uring::Probe::is_supported).
            pub const CODE: u8 = code::$code;

            /// The request without options.
            pub fn new($($field: $($type)+),*) -> $name {
                let $new = Entry::new(Self::CODE);
                $name { entry: $entry }
            }

            $($(#[$option_doc])*
            pub const fn $option(mut self, $option: $option_type) -> $name {
                let $it = &mut self.entry;
                $set;
                self
            })*

            /// The request as an entry of the queue.
            pub fn build(self) -> Entry {
                self.entry
            }
        }
    };
}

/// Reads and writes, which have the same options.
macro_rules! transfer {
    (
        $(#[$doc:meta])*
        $name:ident($($field:ident: { $($type:tt)+ }),*) = $code:ident, |$new:ident| $entry:expr
    ) => {
        opcode! {
            $(#[$doc])*
            $name($($field: { $($type)+ }),*) = $code, |$new| $entry;
            /// Where in the file, in bytes; `u64::MAX` is the position of the open file.
            offset: u64 => |it| it.offset = offset,
            /// Changes nothing here.
            ioprio: u16 => |_it| { let _ = ioprio; },
            /// `RWF_DSYNC` and `RWF_SYNC` sync the file as part of a write, `RWF_APPEND` appends;
            /// `RWF_NOWAIT` changes nothing.
            rw_flags: i32 => |it| it.call_flags = rw_flags as u32,
        }
    };
}

opcode! {
    /// Nothing.
    Nop() = NOP, |entry| entry;
}

transfer! {
    /// As preadv(2). The buffers are looked up when it is submitted, and filled until it completes.
    Readv(fd: { impl UseFixed }, iovec: { *const iovec }, len: { u32 }) = READV,
    |entry| entry.on(fd).memory(iovec, len)
}

transfer! {
    /// As pwritev(2). The buffers are looked up when it is submitted, and read until it completes.
    Writev(fd: { impl UseFixed }, iovec: { *const iovec }, len: { u32 }) = WRITEV,
    |entry| entry.on(fd).memory(iovec, len)
}

transfer! {
    /// As pread(2).
    Read(fd: { impl UseFixed }, buf: { *mut u8 }, len: { u32 }) = READ,
    |entry| entry.on(fd).memory(buf, len)
}

transfer! {
    /// As pwrite(2).
    Write(fd: { impl UseFixed }, buf: { *const u8 }, len: { u32 }) = WRITE,
    |entry| entry.on(fd).memory(buf, len)
}

transfer! {
    /// As [`Read`], into a part of a registered buffer.
    ReadFixed(fd: { impl UseFixed }, buf: { *mut u8 }, len: { u32 }, buf_index: { u16 })
        = READ_FIXED,
    |entry| Entry { buffer_index: buf_index, ..entry.on(fd).memory(buf, len) }
}

transfer! {
    /// As [`Write`], from a part of a registered buffer.
    WriteFixed(fd: { impl UseFixed }, buf: { *const u8 }, len: { u32 }, buf_index: { u16 })
        = WRITE_FIXED,
    |entry| Entry { buffer_index: buf_index, ..entry.on(fd).memory(buf, len) }
}

opcode! {
    /// As fsync(2), or fdatasync(2). It makes those writes durable that had completed when it
    /// *began*: the one before it in the queue is among them if the two are linked.
    Fsync(fd: { impl UseFixed }) = FSYNC, |entry| entry.on(fd);
    /// Begin of the part to be synced, in bytes. A part of a file is refused with `-EOPNOTSUPP`.
    offset: u64 => |it| it.offset = offset,
    /// Length of the part to be synced, in bytes.
    len: u32 => |it| it.length = len,
    /// fsync(2) or fdatasync(2).
    flags: FsyncFlags => |it| it.call_flags = flags.bits(),
}

opcode! {
    /// As sync_file_range(2), of the whole file: it makes nothing durable.
    SyncFileRange(fd: { impl UseFixed }, len: { u32 }) = SYNC_FILE_RANGE,
    |entry| Entry { length: len, ..entry.on(fd) };
    /// Begin of the part, in bytes.
    offset: u64 => |it| it.offset = offset,
    /// `SYNC_FILE_RANGE_WRITE` and its like.
    flags: u32 => |it| it.call_flags = flags,
}

opcode! {
    /// As fallocate(2): mode 0 lengthens a file, `FALLOC_FL_KEEP_SIZE` changes nothing that can be
    /// seen; others are refused with `-EOPNOTSUPP`. No room is reserved.
    Fallocate(fd: { impl UseFixed }, len: { u64 }) = FALLOCATE,
    |entry| Entry { address: len, ..entry.on(fd) };
    /// Begin of the part, in bytes.
    offset: u64 => |it| it.offset = offset,
    /// `FALLOC_FL_KEEP_SIZE` or 0.
    mode: i32 => |it| it.length = mode as u32,
}

opcode! {
    /// As ftruncate(2).
    Ftruncate(fd: { impl UseFixed }, len: { u64 }) = FTRUNCATE,
    |entry| Entry { offset: len, ..entry.on(fd) };
}

opcode! {
    /// As posix_fadvise(2): nothing.
    Fadvise(fd: { impl UseFixed }, len: { off_t }, advice: { i32 }) = FADVISE,
    |entry| Entry { length: len as u32, call_flags: advice as u32, ..entry.on(fd) };
    /// Begin of the part, in bytes.
    offset: u64 => |it| it.offset = offset,
}

opcode! {
    /// As openat(2). Its result is a descriptor that [`Close`] or the `File` of
    /// [`FromRawFd`](std::os::fd::FromRawFd) closes.
    OpenAt(dirfd: { Fd }, pathname: { *const c_char }) = OPENAT,
    |entry| entry.on(dirfd).memory(pathname, 0);
    /// `O_CREAT` and its like. `O_DIRECT` is refused with `-EINVAL`.
    flags: i32 => |it| it.call_flags = flags as u32,
    /// Permissions of a new file.
    mode: mode_t => |it| it.length = mode,
}

opcode! {
    /// As close(2).
    Close(fd: { impl UseFixed }) = CLOSE, |entry| entry.on(fd);
}

opcode! {
    /// As renameat2(2) without flags.
    RenameAt(olddirfd: { Fd }, oldpath: { *const c_char }, newdirfd: { Fd },
        newpath: { *const c_char }) = RENAMEAT,
    |entry| Entry {
        offset: address(newpath), ..entry.on(olddirfd).memory(oldpath, newdirfd.0 as u32)
    };
    /// Any flag is refused with `-EINVAL`.
    flags: u32 => |it| it.call_flags = flags,
}

opcode! {
    /// As unlinkat(2).
    UnlinkAt(dirfd: { Fd }, pathname: { *const c_char }) = UNLINKAT,
    |entry| entry.on(dirfd).memory(pathname, 0);
    /// `AT_REMOVEDIR` or 0.
    flags: i32 => |it| it.call_flags = flags as u32,
}

opcode! {
    /// As mkdirat(2).
    MkDirAt(dirfd: { Fd }, pathname: { *const c_char }) = MKDIRAT,
    |entry| entry.on(dirfd).memory(pathname, 0);
    /// Permissions of the directory.
    mode: mode_t => |it| it.length = mode,
}

opcode! {
    /// As linkat(2) without flags.
    LinkAt(olddirfd: { Fd }, oldpath: { *const c_char }, newdirfd: { Fd },
        newpath: { *const c_char }) = LINKAT,
    |entry| Entry {
        offset: address(newpath), ..entry.on(olddirfd).memory(oldpath, newdirfd.0 as u32)
    };
    /// Any flag is refused with `-EINVAL`.
    flags: i32 => |it| it.call_flags = flags as u32,
}
