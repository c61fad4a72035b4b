//! A client's stream that is polled before the thread sleeps on it.
//!
//! Sleeping until the next request arrives and being woken costs more than a 4 KiB request: in a
//! virtual machine it is most of the time of a request at queue depth 1. After a reply the thread
//! therefore polls for a while if the last requests arrived that soon. It sleeps for a slower
//! client, and for one that gets no processor in the meantime. It does not yield between polls:
//! where others want the processor, a yield would cost milliseconds, and the scheduler prefers a
//! thread that wakes from sleep.

use crate::busy_poll::BusyPoll;
use crate::socket::SocketStream;
use std::io::{self, IoSlice, Read, Write};
use std::time::{Duration, Instant};

/// Longest time spent polling for one request; a wait within it counts as short.
const SHORT: Duration = Duration::from_micros(80);
/// Bytes moved since the last wait from which the thread sleeps without polling: their transfer
/// costs more than a wake-up.
const BYTES_MAX: usize = 64 << 10;
/// Polls between two reads of the clock.
const POLLS: u32 = 8;
/// Weight of a long wait, in short ones.
const LONG_WEIGHT: i32 = 64;

/// A stream whose reads poll before they sleep.
pub(super) struct PollingStream<'a> {
    stream: &'a SocketStream,
    poll: BusyPoll,
    /// Bytes received and sent since the last wait.
    moved: usize,
}

impl<'a> PollingStream<'a> {
    pub fn new(stream: &'a SocketStream) -> Self {
        Self {
            stream,
            poll: BusyPoll::new(LONG_WEIGHT),
            moved: 0,
        }
    }

    /// Polls until bytes arrive or [`SHORT`] has passed since `begun`.
    fn poll(&mut self, into: &mut [u8], begun: Instant) -> io::Result<Option<usize>> {
        loop {
            for _ in 0..POLLS {
                std::hint::spin_loop();
                if let Some(got) = self.stream.read_now(into)? {
                    return Ok(Some(got));
                }
            }
            if begun.elapsed() >= SHORT {
                return Ok(None);
            }
        }
    }
}

impl Read for PollingStream<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.moved) >= BYTES_MAX {
            return self.stream.read(into).inspect(|got| self.moved = *got);
        }
        if let Some(got) = self.stream.read_now(into)? {
            self.moved = got;
            return Ok(got);
        }
        let begun = Instant::now();
        if self.poll.pays_off()
            && let Some(got) = self.poll(into, begun)?
        {
            self.poll.waited(begun.elapsed() < SHORT);
            self.moved = got;
            return Ok(got);
        }
        let got = self.stream.read(into);
        self.poll.waited(begun.elapsed() < SHORT);
        got.inspect(|got| self.moved = *got)
    }
}

impl Write for PollingStream<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.moved = self.moved.saturating_add(from.len());
        self.stream.write(from)
    }

    fn write_vectored(&mut self, from: &[IoSlice<'_>]) -> io::Result<usize> {
        let bytes: usize = from.iter().map(|part| part.len()).sum();
        self.moved = self.moved.saturating_add(bytes);
        self.stream.write_vectored(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// Polling and sleeping return the same bytes, and both see the end of the stream.
    #[test]
    fn bytes_arrive_whether_it_polls_or_sleeps() {
        for poll in [
            BusyPoll::new(LONG_WEIGHT),
            BusyPoll::new(LONG_WEIGHT).highest(),
        ] {
            let (mut client, server) = UnixStream::pair().unwrap();
            let stream = SocketStream::Unix(server);
            let mut polled = PollingStream::new(&stream);
            let polls = poll.pays_off();
            polled.poll = poll;
            let sender = std::thread::spawn(move || {
                for byte in 0..50 {
                    std::thread::sleep(Duration::from_micros(u64::from(byte) * 4));
                    client.write_all(&[byte; 3]).unwrap();
                }
            });
            let mut all = Vec::new();
            polled.read_to_end(&mut all).unwrap();
            sender.join().unwrap();
            let expected: Vec<u8> = (0..50).flat_map(|byte| [byte; 3]).collect();
            assert_eq!(all, expected, "polls: {polls}");
        }
    }
}
