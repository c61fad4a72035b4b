//! Unix and TCP sockets under one type.

use rustix::io::Errno;
use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::net::{RecvFlags, recv};
use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileTypeExt;
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

/// A listening socket.
pub(crate) enum Listener {
    /// A unix socket and its path, which is removed on drop.
    Unix(UnixListener, PathBuf),
    /// A TCP socket.
    Tcp(TcpListener),
}

/// One connection.
#[derive(Debug)]
pub enum Stream {
    /// Over a unix socket.
    Unix(UnixStream),
    /// Over TCP.
    Tcp(TcpStream),
}

/// Binds a unix socket, in place of a socket at that path on which nobody listens any more. A live
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

impl Listener {
    /// Listens at `address`.
    pub fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => Ok(Listener::Unix(bind_unix(path)?, path.clone())),
            Address::Tcp(address) => Ok(Listener::Tcp(TcpListener::bind(address)?)),
        }
    }

    /// The address at which it listens, with the port that was selected.
    pub fn address(&self) -> io::Result<Address> {
        match self {
            Listener::Unix(_, path) => Ok(Address::Unix(path.clone())),
            Listener::Tcp(socket) => Ok(Address::Tcp(socket.local_addr()?.to_string())),
        }
    }

    /// Waits for a client.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Unix(socket, _) => Ok(Stream::Unix(socket.accept()?.0)),
            Listener::Tcp(socket) => {
                let stream = socket.accept()?.0;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listener::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Stream {
    /// Connects to `address`.
    pub fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Address::Tcp(address) => TcpStream::connect(address).map(Stream::Tcp),
        }
    }

    /// Returns a second handle of the same connection.
    pub fn try_clone(&self) -> io::Result<Self> {
        match self {
            Stream::Unix(socket) => socket.try_clone().map(Stream::Unix),
            Stream::Tcp(socket) => socket.try_clone().map(Stream::Tcp),
        }
    }

    /// Ends the connection for every handle of it.
    pub fn hang_up(&self) {
        let _ = match self {
            Stream::Unix(socket) => socket.shutdown(Shutdown::Both),
            Stream::Tcp(socket) => socket.shutdown(Shutdown::Both),
        };
    }

    /// Reads without waiting; `None` if no byte has arrived.
    pub fn read_now(&self, into: &mut [u8]) -> io::Result<Option<usize>> {
        let got = match self {
            Stream::Unix(socket) => recv(socket, into, RecvFlags::DONTWAIT),
            Stream::Tcp(socket) => recv(socket, into, RecvFlags::DONTWAIT),
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
            Stream::Unix(socket) => set_socket_send_buffer_size(socket, bytes)?,
            Stream::Tcp(socket) => set_socket_send_buffer_size(socket, bytes)?,
        }
        Ok(())
    }

    /// Limits the time for which a read waits; `None` removes the limit.
    pub fn set_read_timeout(&self, at_most: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Unix(socket) => socket.set_read_timeout(at_most),
            Stream::Tcp(socket) => socket.set_read_timeout(at_most),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(socket) => socket.read(into),
            Stream::Tcp(socket) => socket.read(into),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Unix(socket) => socket.write(from),
            Stream::Tcp(socket) => socket.write(from),
        }
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
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
