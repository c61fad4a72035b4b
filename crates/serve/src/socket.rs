//! Unix and TCP sockets under one type.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::net::{IpAddr, Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An address at which to listen or connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A unix socket.
    Unix(PathBuf),
    /// A TCP address, `host:port`; port 0 selects a free one.
    Tcp(String),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
            Address::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

/// Silence after which a TCP peer is asked whether it is still there.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(300);
/// Interval between two such questions.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(30);
/// Number of unanswered questions after which the peer counts as gone.
const KEEPALIVE_COUNT: u32 = 10;

/// Maximum number of file descriptors that [`raise_descriptor_limit`] asks for.
const DESCRIPTORS: u64 = 16 << 10;

/// The number of file descriptors that the process may have.
pub(crate) fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Raises the number of file descriptors that the process may have as far as the system allows
/// without further rights, at most to 16,384: each client needs one, and most systems begin with
/// 1,024.
pub fn raise_descriptor_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = DESCRIPTORS.min(maximum.unwrap_or(u64::MAX));
    if current.is_some_and(|current| current < raised) {
        let current = Some(raised);
        // The lower limit serves fewer clients, and says so to those that it refuses.
        let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum });
    }
}

/// Waits until one of `sources` can be read or has ended, at most for `at_most`.
pub(crate) fn wait_readable(sources: &[BorrowedFd<'_>], at_most: Option<Duration>) {
    let mut polled: Vec<_> = sources
        .iter()
        .map(|source| PollFd::from_borrowed_fd(*source, PollFlags::IN))
        .collect();
    let at_most = at_most.and_then(|time| Timespec::try_from(time).ok());
    // An interrupted wait is a short one.
    let _ = poll(&mut polled, at_most.as_ref());
}

/// Whether a client waits at `listener`, or one comes before the time is over.
#[cfg(feature = "vhost-user")]
pub(crate) fn has_client(listener: &Listener, at_most: Duration) -> bool {
    let mut polled = [PollFd::new(listener, PollFlags::IN)];
    let at_most = Timespec::try_from(at_most).ok();
    poll(&mut polled, at_most.as_ref()).is_ok_and(|count| count > 0)
}

/// Who is at the other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A user of this machine, by number.
    User(u32),
    /// A machine.
    Host(IpAddr),
    /// It cannot be known.
    Unknown,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Peer::User(user) => write!(f, "user {user}"),
            Peer::Host(host) => write!(f, "{host}"),
            Peer::Unknown => write!(f, "an unknown peer"),
        }
    }
}

/// A listening socket.
pub(crate) enum Listener {
    /// A unix socket, its path, which is removed on drop, and the number of its file.
    Unix(UnixListener, PathBuf, Option<u64>),
    /// A TCP socket.
    Tcp(TcpListener),
}

/// One connection.
#[derive(Debug)]
pub enum SocketStream {
    /// Over a unix socket.
    Unix(UnixStream),
    /// Over TCP.
    Tcp(TcpStream),
}

/// Binds a unix socket, in place of a socket at that path on which no process listens. A live
/// socket is an error, and so is anything else at that path: a file refuses connections as a dead
/// socket does.
fn bind_unix(path: &Path) -> io::Result<UnixListener> {
    match UnixListener::bind(path) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse && !is_socket(path) => {
            Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "it exists and is not a socket",
            ))
        }
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => match UnixStream::connect(path) {
            Err(dead) if dead.kind() == io::ErrorKind::ConnectionRefused => {
                std::fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            _ => Err(error),
        },
        bound => bound,
    }
}

fn is_socket(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
}

/// The number of the file at `path`, if there is one.
fn file_number(path: &Path) -> Option<u64> {
    std::fs::symlink_metadata(path).ok().map(|it| it.ino())
}

impl Listener {
    /// Listens at `address`.
    pub fn bind(address: &Address) -> io::Result<Self> {
        let listener = match address {
            Address::Unix(path) => {
                let socket = bind_unix(path)?;
                Listener::Unix(socket, path.clone(), file_number(path))
            }
            Address::Tcp(address) => Listener::Tcp(TcpListener::bind(address)?),
        };
        match &listener {
            Listener::Unix(socket, ..) => socket.set_nonblocking(true)?,
            Listener::Tcp(socket) => socket.set_nonblocking(true)?,
        }
        Ok(listener)
    }

    /// The address at which it listens, with the port that was selected.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Listener::Unix(_, path, _) => Ok(Address::Unix(path.clone())),
            Listener::Tcp(socket) => Ok(Address::Tcp(socket.local_addr()?.to_string())),
        }
    }

    /// Another handle of a unix socket that is listened to.
    #[cfg(feature = "vhost-user")]
    pub fn try_clone_unix(&self) -> io::Result<UnixListener> {
        match self {
            Listener::Unix(socket, ..) => socket.try_clone(),
            Listener::Tcp(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Takes the next client; `None` if none has come, or it has gone again.
    pub fn accept(&self) -> io::Result<Option<SocketStream>> {
        let accepted = match self {
            Listener::Unix(socket, ..) => socket
                .accept()
                .map(|(stream, _)| SocketStream::Unix(stream)),
            Listener::Tcp(socket) => socket.accept().map(|(stream, _)| SocketStream::Tcp(stream)),
        };
        match accepted {
            Ok(stream) => {
                stream.prepare();
                Ok(Some(stream))
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::Interrupted
                | io::ErrorKind::ConnectionAborted => Ok(None),
                _ => Err(error),
            },
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Listener::Unix(socket, ..) => socket.as_fd(),
            Listener::Tcp(socket) => socket.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path, number) = self
            && file_number(path) == *number
        {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl SocketStream {
    /// Connects to `address`.
    pub fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(SocketStream::Unix),
            Address::Tcp(address) => TcpStream::connect(address).map(SocketStream::Tcp),
        }
    }

    /// Sets up a connection that was accepted: small replies leave at once, and a peer that has
    /// vanished is noticed. Without either, the connection works as well.
    fn prepare(&self) {
        let SocketStream::Tcp(socket) = self else {
            return;
        };
        let _ = socket.set_nodelay(true);
        let _ = sockopt::set_socket_keepalive(socket, true);
        let _ = sockopt::set_tcp_keepidle(socket, KEEPALIVE_IDLE);
        let _ = sockopt::set_tcp_keepintvl(socket, KEEPALIVE_INTERVAL);
        let _ = sockopt::set_tcp_keepcnt(socket, KEEPALIVE_COUNT);
    }

    /// Who is at the other end.
    pub(crate) fn peer(&self) -> Peer {
        match self {
            SocketStream::Unix(socket) => sockopt::socket_peercred(socket)
                .map_or(Peer::Unknown, |found| Peer::User(found.uid.as_raw())),
            SocketStream::Tcp(socket) => socket
                .peer_addr()
                .map_or(Peer::Unknown, |found| Peer::Host(found.ip())),
        }
    }

    /// Whether the other end has closed the connection, in both directions.
    pub(crate) fn is_closed(&self) -> bool {
        let mut polled = [PollFd::new(self, PollFlags::empty())];
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let gone = PollFlags::HUP | PollFlags::ERR;
        poll(&mut polled, Some(&at_once)).is_ok() && polled[0].revents().intersects(gone)
    }

    /// Ends the connection for every handle of it.
    pub fn hang_up(&self) {
        let _ = match self {
            SocketStream::Unix(socket) => socket.shutdown(Shutdown::Both),
            SocketStream::Tcp(socket) => socket.shutdown(Shutdown::Both),
        };
    }

    /// Reads without waiting; `None` if no byte has arrived.
    pub fn read_now(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let got = match self {
            SocketStream::Unix(socket) => recv(socket, into, RecvFlags::DONTWAIT),
            SocketStream::Tcp(socket) => recv(socket, into, RecvFlags::DONTWAIT),
        };
        match got {
            Ok((got, _)) => Ok(Some(got)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the size of the send buffer in bytes, as far as the system allows.
    pub fn set_send_buffer(&self, bytes: usize) -> io::Result<()> {
        match self {
            SocketStream::Unix(socket) => sockopt::set_socket_send_buffer_size(socket, bytes)?,
            SocketStream::Tcp(socket) => sockopt::set_socket_send_buffer_size(socket, bytes)?,
        }
        Ok(())
    }

    /// Limits the time for which a read waits; `None` removes the limit.
    pub fn set_read_timeout(&self, at_most: Option<Duration>) -> io::Result<()> {
        match self {
            SocketStream::Unix(socket) => socket.set_read_timeout(at_most),
            SocketStream::Tcp(socket) => socket.set_read_timeout(at_most),
        }
    }
}

impl AsFd for SocketStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            SocketStream::Unix(socket) => socket.as_fd(),
            SocketStream::Tcp(socket) => socket.as_fd(),
        }
    }
}

impl AsRawFd for SocketStream {
    fn as_raw_fd(&self) -> RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl Read for &SocketStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            SocketStream::Unix(socket) => (&mut &*socket).read(into),
            SocketStream::Tcp(socket) => (&mut &*socket).read(into),
        }
    }
}

impl Write for &SocketStream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            SocketStream::Unix(socket) => (&mut &*socket).write(from),
            SocketStream::Tcp(socket) => (&mut &*socket).write(from),
        }
    }

    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            SocketStream::Unix(socket) => (&mut &*socket).write_vectored(from),
            SocketStream::Tcp(socket) => (&mut &*socket).write_vectored(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for SocketStream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        (&mut &*self).read(into)
    }
}

impl Write for SocketStream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        (&mut &*self).write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file was once removed: it refuses connections as a dead socket does.
    #[test]
    fn only_a_dead_socket_is_replaced() {
        let folder = std::env::temp_dir().join(format!("ssdlab-socket-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let (file, socket) = (folder.join("file"), folder.join("socket"));
        std::fs::write(&file, "mine").expect("written");
        let link = folder.join("link");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        for taken in [&file, &link, &folder] {
            let error = bind_unix(taken).expect_err("taken");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{taken:?}");
        }
        assert_eq!(std::fs::read(&file).expect("there"), b"mine");
        let first = bind_unix(&socket).expect("free");
        let live = bind_unix(&socket).expect_err("live");
        assert_eq!(live.kind(), io::ErrorKind::AddrInUse);
        drop(first);
        drop(bind_unix(&socket).expect("dead"));
        // Whose socket was replaced by another's leaves that one alone.
        let address = Address::Unix(socket.clone());
        let first = Listener::bind(&address).expect("dead");
        std::fs::remove_file(&socket).expect("removed");
        let second = Listener::bind(&address).expect("free");
        drop(first);
        assert!(socket.exists(), "the second one's");
        drop(second);
        assert!(!socket.exists());
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
