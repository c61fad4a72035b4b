//! Reading from a client that is about to send: looking a few times before sleeping.
//!
//! To sleep until the next request and be woken costs more than a request of 4 KiB does: on a
//! virtual machine most of the time of one at queue depth 1. So after a reply the thread looks for
//! the next request for a while, if the last ones came that soon. A client that is slower, or that
//! gets no processor meanwhile, is waited for asleep. It does not yield in between: where others
//! want the processor they would get it for milliseconds, and a sleeper is preferred when it wakes.

use crate::hope::Hope;
use crate::socket::Stream;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

/// How long it looks.
const SOON: Duration = Duration::from_micros(80);
/// After so many bytes it sleeps: their transfer costs more than being woken.
const MUCH: usize = 64 << 10;
/// Looks between two looks at the clock.
const LOOKS: u32 = 8;
/// What a long wait counts: looking in vain takes as long as several requests.
const LONG: i32 = 64;

/// A stream that may be looked at before it is slept upon.
pub(super) struct Eager<'a> {
    stream: &'a mut Stream,
    hope: Hope,
    /// Bytes received and sent since the last wait.
    moved: usize,
}

impl<'a> Eager<'a> {
    pub fn new(stream: &'a mut Stream) -> Self {
        let hope = Hope::new(LONG);
        Self {
            stream,
            hope,
            moved: 0,
        }
    }

    /// Looks for a while.
    fn look(&mut self, into: &mut [u8], begun: Instant) -> io::Result<Option<usize>> {
        loop {
            for _ in 0..LOOKS {
                std::hint::spin_loop();
                if let Some(got) = self.stream.read_now(into)? {
                    return Ok(Some(got));
                }
            }
            if begun.elapsed() >= SOON {
                return Ok(None);
            }
        }
    }
}

impl Read for Eager<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if std::mem::take(&mut self.moved) >= MUCH {
            return self.stream.read(into).inspect(|got| self.moved = *got);
        }
        if let Some(got) = self.stream.read_now(into)? {
            self.moved = got;
            return Ok(got);
        }
        let begun = Instant::now();
        if self.hope.is_high()
            && let Some(got) = self.look(into, begun)?
        {
            self.hope.waited(begun.elapsed() < SOON);
            self.moved = got;
            return Ok(got);
        }
        let got = self.stream.read(into);
        self.hope.waited(begun.elapsed() < SOON);
        got.inspect(|got| self.moved = *got)
    }
}

impl Write for Eager<'_> {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.moved = self.moved.saturating_add(from.len());
        self.stream.write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;

    /// Looking and sleeping bring the same bytes, and the end of the stream is seen by both.
    #[test]
    fn bytes_come_whether_it_looks_or_sleeps() {
        for hope in [Hope::new(LONG), Hope::new(LONG).highest()] {
            let (mut client, server) = UnixStream::pair().unwrap();
            let mut stream = Stream::Unix(server);
            let mut eager = Eager::new(&mut stream);
            let high = hope.is_high();
            eager.hope = hope;
            let sender = std::thread::spawn(move || {
                for byte in 0..50 {
                    std::thread::sleep(Duration::from_micros(u64::from(byte) * 4));
                    client.write_all(&[byte; 3]).unwrap();
                }
            });
            let mut all = Vec::new();
            eager.read_to_end(&mut all).unwrap();
            sender.join().unwrap();
            let expected: Vec<u8> = (0..50).flat_map(|byte| [byte; 3]).collect();
            assert_eq!(all, expected, "hope is high: {high}");
        }
    }
}
