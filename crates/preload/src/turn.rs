//! Turns: one call after the other, over all threads and processes of a campaign's program.

use crate::kernel::{self, call};
use libc::{c_int, c_void, sigset_t};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The folder whose files the campaign has.
pub struct TapeFolder {
    /// Its path, as the kernel has it.
    pub root: Vec<u8>,
    /// Its device.
    device: u64,
    /// The campaign's socket.
    socket: Vec<u8>,
}

/// What a call did. The names and numbers are those of the campaign's reader.
#[derive(Clone, Copy)]
#[repr(u8)]
pub enum CallDeed {
    Create = 1,
    MakeDirectory = 2,
    Unlink = 3,
    RemoveDirectory = 4,
    Rename = 5,
    Link = 6,
    Write = 7,
    SetLength = 8,
    Sync = 9,
    SyncData = 10,
    SyncDirectory = 11,
    SyncAll = 12,
    /// Bytes that no call wrote: of a mapping.
    Content = 13,
    /// A file that is written without our calls, by a stream.
    Streamed = 14,
    /// A file that is written without our calls, by a mapping.
    Mapped = 15,
    Unsupported = 16,
}

/// The smallest number of our descriptor: programs expect low ones for theirs.
const DESCRIPTOR_MIN: c_int = 900;

static FOLDER: OnceLock<Option<TapeFolder>> = OnceLock::new();
/// The connection, or -1. Guarded by `BUSY`.
static CONNECTION: AtomicI32 = AtomicI32::new(-1);
/// Whether a thread of this process has its turn.
static BUSY: AtomicBool = AtomicBool::new(false);

fn variable(name: &std::ffi::CStr) -> Option<Vec<u8>> {
    // SAFETY: a name that ends in a zero.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: the environment's strings end in a zero.
    (!value.is_null()).then(|| unsafe { kernel::bytes(value) }.to_vec())
}

extern "C" fn before_fork() {
    acquire();
}

extern "C" fn after_fork() {
    BUSY.store(false, Ordering::Release);
}

extern "C" fn after_fork_in_child() {
    // Turns of parent and child are two queues.
    let connection = CONNECTION.swap(-1, Ordering::Relaxed);
    if connection >= 0 {
        kernel::close(connection);
    }
    BUSY.store(false, Ordering::Release);
}

/// The folder of the campaign; `None`: there is no campaign.
pub fn folder() -> Option<&'static TapeFolder> {
    let campaign = FOLDER.get_or_init(|| {
        let root = variable(c"SSDLAB_PRELOAD_ROOT")?;
        let socket = variable(c"SSDLAB_PRELOAD_SOCKET")?;
        let mut path = root.clone();
        path.push(0);
        let status = kernel::status_at(libc::AT_FDCWD, path.as_ptr().cast(), 0)?;
        // SAFETY: functions without arguments that live as long as the process.
        unsafe {
            libc::pthread_atfork(
                Some(before_fork),
                Some(after_fork),
                Some(after_fork_in_child),
            );
        }
        Some(TapeFolder {
            root,
            device: status.st_dev,
            socket,
        })
    });
    campaign.as_ref()
}

impl TapeFolder {
    /// Whether something may be one of its files; the campaign knows which are.
    pub fn has(&self, status: &libc::stat) -> bool {
        status.st_dev == self.device
    }

    /// A path from its top; `None`: it is outside.
    pub fn inside<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let tail = path.strip_prefix(self.root.as_slice())?;
        match tail.split_first() {
            None => Some(tail),
            Some((b'/', tail)) => Some(tail),
            Some(_) => None,
        }
    }
}

fn acquire() {
    while BUSY.swap(true, Ordering::Acquire) {
        call!(libc::SYS_sched_yield);
    }
}

/// A turn: nobody else of the program changes a file until it ends.
pub struct CallTurn {
    signals: sigset_t,
    deeds: Vec<u8>,
    connection: c_int,
    errno: c_int,
}

impl CallTurn {
    /// Waits for a turn; `None`: there is no campaign, or it has gone.
    pub fn begin() -> Option<CallTurn> {
        let folder = folder()?;
        let errno = kernel::errno();
        let mut signals = std::mem::MaybeUninit::<sigset_t>::zeroed();
        let mut every = std::mem::MaybeUninit::<sigset_t>::zeroed();
        // A handler that came in a turn and wrote would wait for itself.
        // SAFETY: sets of ours.
        let signals = unsafe {
            libc::sigfillset(every.as_mut_ptr());
            libc::pthread_sigmask(libc::SIG_SETMASK, every.as_ptr(), signals.as_mut_ptr());
            signals.assume_init()
        };
        acquire();
        let mut turn = CallTurn {
            signals,
            deeds: Vec::new(),
            connection: CONNECTION.load(Ordering::Relaxed),
            errno,
        };
        if turn.connection >= 0 && turn.granted() {
            return Some(turn);
        }
        turn.connection = connected(folder);
        CONNECTION.store(turn.connection, Ordering::Relaxed);
        // Its drop gives back the lock and the signals.
        (turn.connection >= 0 && turn.granted()).then_some(turn)
    }

    /// Asks for the turn, and waits.
    fn granted(&self) -> bool {
        let mut answer = 0_u8;
        let begin = [0_u8; 4];
        send(self.connection, &begin)
            && loop {
                let length = call!(
                    libc::SYS_read,
                    self.connection,
                    (&raw mut answer).cast::<c_void>(),
                    1_usize
                );
                if length == 1 {
                    break true;
                }
                if length == 0 || kernel::errno() != libc::EINTR {
                    break false;
                }
            }
    }

    /// Reports what the call did. Paths are from the folder's top.
    pub fn report(&mut self, deed: CallDeed, file: u64, range: [u64; 2], paths: [&[u8]; 2]) {
        self.deeds.push(deed as u8);
        for number in [file, range[0], range[1]] {
            self.deeds.extend(number.to_le_bytes());
        }
        for path in paths {
            self.deeds.extend((path.len() as u32).to_le_bytes());
            self.deeds.extend(path);
        }
    }

    /// Keeps `errno` of the call for its caller.
    pub fn ended(&mut self) {
        self.errno = kernel::errno();
    }
}

impl Drop for CallTurn {
    fn drop(&mut self) {
        if self.connection >= 0 {
            let mut message = (self.deeds.len() as u32 + 1).to_le_bytes().to_vec();
            message.push(0);
            message.extend(&self.deeds);
            send(self.connection, &message);
        }
        BUSY.store(false, Ordering::Release);
        let unused = std::ptr::null_mut();
        // SAFETY: the set that was there before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.signals, unused) };
        kernel::set_errno(self.errno);
    }
}

fn send(connection: c_int, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let sent = call!(
            libc::SYS_sendto,
            connection,
            bytes.as_ptr(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
            std::ptr::null::<c_void>(),
            0
        );
        match usize::try_from(sent) {
            Ok(count) => bytes = &bytes[count..],
            Err(_) if kernel::errno() == libc::EINTR => {}
            Err(_) => return false,
        }
    }
    true
}

/// A new connection, or -1.
fn connected(folder: &TapeFolder) -> c_int {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    let socket = kernel::status(call!(libc::SYS_socket, libc::AF_UNIX, kind, 0));
    // SAFETY: an address of zeroes is one.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    if socket < 0 || folder.socket.len() >= address.sun_path.len() {
        return -1;
    }
    for (to, &from) in address.sun_path.iter_mut().zip(&folder.socket) {
        *to = from as libc::c_char;
    }
    let length = size_of::<libc::sockaddr_un>();
    if call!(libc::SYS_connect, socket, &raw const address, length) != 0 {
        kernel::close(socket);
        return -1;
    }
    let high = call!(
        libc::SYS_fcntl,
        socket,
        libc::F_DUPFD_CLOEXEC,
        DESCRIPTOR_MIN
    );
    if high < 0 {
        return socket;
    }
    kernel::close(socket);
    kernel::status(high)
}

/// Whether a descriptor is ours: a program that closes all that it finds leaves it open.
pub fn is_ours(fd: c_int) -> bool {
    fd >= 0 && fd == CONNECTION.load(Ordering::Relaxed)
}
