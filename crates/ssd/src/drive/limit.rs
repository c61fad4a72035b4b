//! The firmware's limit on the bytes of writes per second.
//!
//! Some drives hold one rate for every load that the media could take faster: a PM9A3 of 960 GB
//! takes 1,484.8 MB/s of 16 KiB and of 2 MiB writes, by 1 to 32 writers. Bytes are counted when the
//! link has delivered them; a write that comes before its turn waits, however many came before.

use super::span::transfer_ns;
use crate::config::HostConfig;

/// Time by which writes may be ahead of the rate, so that a burst as long as this passes at the
/// speed of the link. The counting interval of no drive is known; at this one the rates of all
/// loads above a few commands are the limit.
const AHEAD_NS: u64 = 1_000_000;

/// See the module's documentation.
#[derive(Clone, Debug)]
pub(super) struct WriteLimit {
    bytes_per_second: u64,
    /// When the bytes so far would have come at the rate.
    pub due: u64,
}

impl WriteLimit {
    /// That of a drive; `None` if it takes writes as they come.
    pub fn of(host: &HostConfig) -> Option<WriteLimit> {
        let bytes_per_second = host.write_bytes_per_second;
        (bytes_per_second > 0).then_some(WriteLimit {
            bytes_per_second,
            due: 0,
        })
    }

    /// When a write of `bytes` goes on that has been received at `received`.
    pub fn admit(&mut self, received: u64, bytes: u32) -> u64 {
        let begin = received.max(self.due.saturating_sub(AHEAD_NS));
        self.due = self.due.max(received) + transfer_ns(bytes.into(), self.bytes_per_second);
        begin
    }
}
