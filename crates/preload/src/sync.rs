//! Calls that make data and names durable.

use crate::files::place_of;
use crate::kernel::{self, call};
use crate::turn::{CallDeed, CallTurn, folder};
use libc::{c_int, c_long};

/// Runs the sync of an open file or directory in a turn.
fn synced(fd: c_int, deed: CallDeed, number: c_long) -> c_int {
    let run = || kernel::status(call!(number, fd));
    let status = folder().and_then(|folder| kernel::status_of(fd).filter(|s| folder.has(s)));
    let (Some(status), Some(mut turn)) = (status, status.and_then(|_| CallTurn::begin())) else {
        return run();
    };
    let answer = run();
    turn.ended();
    if answer != 0 {
        return answer;
    }
    if status.st_mode & libc::S_IFMT == libc::S_IFDIR {
        if let Some(path) = place_of(fd) {
            turn.report(CallDeed::SyncDirectory, 0, [0, 0], [&path, b""]);
        }
    } else {
        turn.report(deed, status.st_ino, [0, 0], [b"", b""]);
    }
    answer
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fsync(fd: c_int) -> c_int {
    synced(fd, CallDeed::Sync, libc::SYS_fsync)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fdatasync(fd: c_int) -> c_int {
    synced(fd, CallDeed::SyncData, libc::SYS_fdatasync)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sync() {
    let turn = CallTurn::begin();
    call!(libc::SYS_sync);
    if let Some(mut turn) = turn {
        turn.report(CallDeed::SyncAll, 0, [0, 0], [b"", b""]);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn syncfs(fd: c_int) -> c_int {
    let run = || kernel::status(call!(libc::SYS_syncfs, fd));
    let has = folder().is_some_and(|folder| kernel::status_of(fd).is_some_and(|s| folder.has(&s)));
    let Some(mut turn) = has.then(CallTurn::begin).flatten() else {
        return run();
    };
    let answer = run();
    turn.ended();
    if answer == 0 {
        turn.report(CallDeed::SyncAll, 0, [0, 0], [b"", b""]);
    }
    answer
}
