//! Bytes received from a client and not yet consumed.
//!
//! Memory is bounded whatever lengths the client sends: a payload's buffer grows only as its
//! bytes arrive.

use std::io::{self, Read};

/// Bytes requested from the stream in one read.
pub(super) const READ_BYTES: usize = 256 << 10;
/// Bytes of the buffer. The rest of a request moves to the front when less than [`READ_BYTES`]
/// is free behind it.
const BUFFER_BYTES: usize = 1 << 20;
/// Bytes by which a payload's buffer grows at first; it doubles from there.
const PAYLOAD_STEP: usize = 1 << 20;

pub(super) struct Input {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
}

impl Input {
    pub fn new() -> Self {
        Self {
            bytes: vec![0; BUFFER_BYTES].into(),
            start: 0,
            end: 0,
        }
    }

    /// The bytes received and not yet consumed.
    pub fn ready(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Consumes `count` bytes of [`Input::ready`].
    pub fn take(&mut self, count: usize) {
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// The free space for the next read.
    fn free(&mut self) -> &mut [u8] {
        if BUFFER_BYTES - self.end < READ_BYTES {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        &mut self.bytes[self.end..][..READ_BYTES]
    }

    /// Receives some bytes and returns their number; 0 at the end of the stream.
    pub fn fill<S: Read>(&mut self, stream: &mut S) -> io::Result<usize> {
        let got = loop {
            match stream.read(self.free()) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => break result?,
            }
        };
        self.end += got;
        Ok(got)
    }

    /// Moves the next `count` bytes into `payload`.
    pub fn collect<S: Read>(
        &mut self,
        stream: &mut S,
        count: usize,
        payload: &mut Vec<u8>,
    ) -> io::Result<()> {
        payload.clear();
        let here = self.ready().len().min(count);
        payload.extend(&self.ready()[..here]);
        self.take(here);
        while payload.len() < count {
            let had = payload.len();
            payload.resize(count.min(had + had.max(PAYLOAD_STEP)), 0);
            stream.read_exact(&mut payload[had..])?;
        }
        Ok(())
    }

    /// Receives and drops `count` bytes.
    pub fn skip<S: Read>(&mut self, stream: &mut S, mut count: usize) -> io::Result<()> {
        while count > 0 {
            if self.ready().is_empty() && self.fill(stream)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let here = self.ready().len().min(count);
            self.take(here);
            count -= here;
        }
        Ok(())
    }
}
