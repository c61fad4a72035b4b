//! A terminal for a program's output: on a terminal, a program prints each line when it ends, and
//! on a pipe, most print when a buffer is full.

use rustix::pty::OpenptFlags;
use rustix::termios::OptionalActions;
use std::fs::File;
use std::io;

/// Opens a terminal that passes bytes on unchanged: our side, and the program's.
///
/// # Errors
/// When the system has none, as in a root directory without `/dev/ptmx`.
pub fn open() -> io::Result<(File, File)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = rustix::pty::openpt(flags)?;
    rustix::pty::grantpt(&ours)?;
    rustix::pty::unlockpt(&ours)?;
    // By the descriptor: the name is no use where /dev/pts is not mounted.
    let theirs = rustix::pty::ioctl_tiocgptpeer(&ours, flags)?;
    let mut settings = rustix::termios::tcgetattr(&theirs)?;
    settings.make_raw();
    rustix::termios::tcsetattr(&theirs, OptionalActions::Now, &settings)?;
    Ok((ours.into(), theirs.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn bytes_pass_unchanged() {
        let Ok((mut ours, mut theirs)) = open() else {
            return ssdlab_skips::skip("no terminals here");
        };
        theirs.write_all(b"one\ttwo\n").expect("written");
        let mut read = [0; 8];
        ours.read_exact(&mut read).expect("read");
        assert_eq!(&read, b"one\ttwo\n");
    }
}
