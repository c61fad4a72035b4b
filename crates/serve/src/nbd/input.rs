//! Bytes received from a client and not yet consumed.
//!
//! Memory is bounded whatever lengths the client sends: a payload's buffer grows only as its
//! bytes arrive. A client that sends little, or nothing for a while, takes little.

use std::io::{self, Read};

/// Bytes requested from the stream in one read.
pub(super) const READ_BYTES: usize = 256 << 10;
/// Bytes of the buffer. The rest of a request moves to the front when less than [`READ_BYTES`]
/// is free behind it.
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes of the buffer until they have been too few.
const SMALL_BYTES: usize = 4 << 10;
/// Bytes by which a payload's buffer grows at first; it doubles from there.
const PAYLOAD_STEP: usize = 1 << 20;

pub(super) struct ReceiveBuffer {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

/// Whether a read ended because nothing has come for a while.
pub(super) fn is_silence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

impl ReceiveBuffer {
    pub fn new() -> Self {
        Self {
            bytes: vec![0; SMALL_BYTES].into(),
            start: 0,
            end: 0,
        }
    }

    /// The bytes received and not yet consumed.
    pub fn ready(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Consumes `count` bytes of [`ReceiveBuffer::ready`].
    pub fn take(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Gives back memory, if nothing is ready.
    pub fn rest(&mut self) {
        if self.end == 0 && self.bytes.len() > SMALL_BYTES {
            self.bytes = vec![0; SMALL_BYTES].into();
        }
    }

    /// The free space for the next read.
    fn free(&mut self) -> &mut [u8] {
        if self.bytes.len() == SMALL_BYTES {
            if self.end < SMALL_BYTES {
                return &mut self.bytes[self.end..];
            }
            let small = std::mem::replace(&mut self.bytes, vec![0; BUFFER_BYTES].into());
            self.bytes[..SMALL_BYTES].copy_from_slice(&small);
        }
        if BUFFER_BYTES - self.end < READ_BYTES {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..][..READ_BYTES]
    }

    /// Receives up to `most` bytes and returns their number; 0 at the end of the stream.
    pub fn fill<S: Read>(&mut self, stream: &mut S, most: usize) -> io::Result<usize> {
        let got = loop {
            let free = self.free();
            let most = most.min(free.len());
            match stream.read(&mut free[..most]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += got;
        Ok(got)
    }

    /// Receives some bytes, however long the client is silent.
    pub fn wait<S: Read>(&mut self, stream: &mut S) -> io::Result<usize> {
        loop {
            match self.fill(stream, READ_BYTES) {
                Err(error) if is_silence(&error) => {}
                got => return got,
            }
        }
    }

    /// Moves the next `count` bytes into `payload`.
    pub fn collect<S: Read>(
        &mut self,
        stream: &mut S,
        count: usize,
        payload: &mut Vec<u8>,
    ) -> io::Result<()> {
        payload.clear();
        let available = self.ready().len().min(count);
        payload.extend(&self.ready()[..available]);
        self.take(available);
        while payload.len() < count {
            let had = payload.len();
            payload.resize(count.min(had + had.max(PAYLOAD_STEP)), 0);
            read_exact(stream, &mut payload[had..])?;
        }
        Ok(())
    }

    /// Receives and drops `count` bytes.
    pub fn skip<S: Read>(&mut self, stream: &mut S, mut count: usize) -> io::Result<()> {
        while count > 0 {
            if self.ready().is_empty() && self.wait(stream)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let available = self.ready().len().min(count);
            self.take(available);
            count -= available;
        }
        Ok(())
    }
}

/// Fills `into`, however long the client is silent.
fn read_exact<S: Read>(stream: &mut S, mut into: &mut [u8]) -> io::Result<()> {
    while !into.is_empty() {
        match stream.read(into) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(got) => into = &mut into[got..],
            Err(error) if is_silence(&error) || error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand idle clients once took a megabyte each.
    #[test]
    fn a_silent_client_takes_little_and_a_busy_one_gets_room() {
        let mut input = ReceiveBuffer::new();
        assert_eq!(input.bytes.len(), SMALL_BYTES);
        let sent: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
        let mut stream = sent.as_slice();
        let mut seen: Vec<u8> = Vec::new();
        while input.fill(&mut stream, READ_BYTES).unwrap() > 0 {
            let take = input.ready().len().saturating_sub(100);
            seen.extend(&input.ready()[..take]);
            input.take(take);
            input.rest();
        }
        assert_eq!(input.bytes.len(), BUFFER_BYTES, "the rest is not lost");
        seen.extend(input.ready());
        assert!(seen == sent);
        input.take(100);
        input.rest();
        assert_eq!(input.bytes.len(), SMALL_BYTES);
    }
}
