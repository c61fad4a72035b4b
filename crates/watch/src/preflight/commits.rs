//! Durable writes as a drive sees them: writes, and the flush that ends them.

use crate::request::BlockRequest;
use crate::source::event::RequestKind;
use ssdlab_base::latencies::{Latencies, latencies};

/// Some writes and the flush after them.
#[derive(Clone, Copy)]
struct FlushedGroup {
    begun_ns: u64,
    done_ns: u64,
}

/// Times of durable writes, from the first write handed over to the end of the flush after it, or
/// of a write with forced unit access.
///
/// A journal's commit is two of these: its record is a write with a flush before it, which waits
/// from the end of that flush on. Such a write goes on with the group before. Several
/// writers at a time share a flush: each then has the time of the one that waited longest, so these
/// times are not too short.
pub(super) struct Commits {
    times: Latencies,
    /// The first write since the last flush.
    open_ns: Option<u64>,
    /// A group that is flushed, unless the next write goes on with it.
    flushed: Option<FlushedGroup>,
}

impl Default for Commits {
    fn default() -> Commits {
        Commits {
            times: latencies(),
            open_ns: None,
            flushed: None,
        }
    }
}

impl Commits {
    /// The times so far.
    pub(super) fn times(&self) -> &Latencies {
        &self.times
    }

    /// The next request that was done.
    pub(super) fn request(&mut self, request: &BlockRequest) {
        match request.kind {
            RequestKind::Write if request.is_awaited() => {
                let begun_ns = self.goes_on_with(request);
                let open_ns = self.open_ns.map_or(begun_ns, |open| open.min(begun_ns));
                if request.flags.fua {
                    self.record(open_ns, request.done_ns);
                    self.open_ns = None;
                } else {
                    self.open_ns = Some(open_ns);
                }
            }
            RequestKind::Flush => {
                self.end_group();
                if let Some(begun_ns) = self.open_ns.take() {
                    self.flushed = Some(FlushedGroup {
                        begun_ns,
                        done_ns: request.done_ns,
                    });
                }
            }
            RequestKind::Read | RequestKind::Write | RequestKind::Discard => {}
        }
    }

    /// When the durable write began that this write belongs to.
    fn goes_on_with(&mut self, request: &BlockRequest) -> u64 {
        match self.flushed.take() {
            Some(group) if group.done_ns == request.queued_ns => group.begun_ns,
            Some(group) => {
                self.record(group.begun_ns, group.done_ns);
                request.queued_ns
            }
            None => request.queued_ns,
        }
    }

    fn end_group(&mut self) {
        if let Some(group) = self.flushed.take() {
            self.record(group.begun_ns, group.done_ns);
        }
    }

    fn record(&mut self, begun_ns: u64, done_ns: u64) {
        self.times
            .saturating_record(done_ns.saturating_sub(begun_ns).max(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::request;

    fn times(requests: &[BlockRequest]) -> Vec<u64> {
        let mut commits = Commits::default();
        for request in requests {
            commits.request(request);
        }
        commits.end_group();
        let recorded = commits.times.iter_recorded();
        recorded
            .flat_map(|step| {
                let count = step.count_at_value() as usize;
                vec![step.value_iterated_to() / 1000; count]
            })
            .collect()
    }

    #[test]
    fn a_durable_write_lasts_until_its_flush_is_done() {
        let append = request("WS", 0, 4096, 1_000, 0, 50_000);
        let flush = request("FF", 0, 0, 60_000, 0, 39_000);
        assert_eq!(times(&[append, flush]), [98]);
        let lazy = request("W", 0, 4096, 1_000, 0, 50_000);
        assert!(times(&[lazy, flush]).is_empty(), "nobody waits for it");
        assert!(times(&[flush]).is_empty(), "nothing was written");
        let forced = request("WFS", 0, 4096, 1_000, 0, 30_000);
        assert_eq!(times(&[forced]), [30]);
    }

    /// ext4: data, the journal's blocks, a flush, the commit record, a flush: one fdatasync.
    #[test]
    fn the_commit_of_a_journal_is_one_durable_write() {
        let data = request("WS", 0, 4096, 0, 0, 20_000);
        let journal = request("WSM", 800, 8192, 25_000, 0, 20_000);
        let first = request("FF", 0, 0, 50_000, 0, 20_000);
        let record = request("WSM", 816, 4096, first.done_ns, 0, 10_000);
        let second = request("FF", 0, 0, 80_000, 0, 20_000);
        let next = request("WS", 8, 4096, 120_000, 0, 10_000);
        let last = request("FF", 0, 0, 130_000, 0, 20_000);
        let requests = [data, journal, first, record, second, next, last];
        assert_eq!(times(&requests), [30, 100]);
    }
}
