//! The reference behind a write buffer: what it takes is placed in the order in which it came, a
//! page that is written again while it waits stays where it is and is placed once.
//!
//! A stream has a buffer of its own. Write amplification counts pages that are placed, so that what
//! coalesced is on neither side of the ratio; but it changes which pages reach the media: hot ones
//! less often than they are written.

use super::protocol::TheorySubject;
use super::reference::ReferenceDrive;
use std::collections::VecDeque;

/// The drive and its buffer.
pub struct BufferedReference {
    drive: ReferenceDrive,
    /// Pages that wait, oldest first, by stream.
    waiting: Vec<VecDeque<usize>>,
    waits: Vec<bool>,
    stream: Vec<usize>,
    slots: usize,
}

impl BufferedReference {
    /// An empty buffer of `slots` pages for each stream before an empty drive; `stream` has the
    /// stream of each page.
    pub fn new(drive: ReferenceDrive, stream: Vec<usize>, slots: usize) -> BufferedReference {
        let streams = stream.iter().max().map_or(1, |most| most + 1);
        BufferedReference {
            drive,
            waiting: vec![VecDeque::new(); streams],
            waits: vec![false; stream.len()],
            stream,
            slots,
        }
    }
}

impl TheorySubject for BufferedReference {
    fn write(&mut self, lpn: usize) {
        if self.waits[lpn] {
            return;
        }
        let waiting = &mut self.waiting[self.stream[lpn]];
        if waiting.len() == self.slots
            && let Some(oldest) = waiting.pop_front()
        {
            self.waits[oldest] = false;
            self.drive.write(oldest);
        }
        waiting.push_back(lpn);
        self.waits[lpn] = true;
    }

    fn trim(&mut self, lpn: usize) {
        if self.waits[lpn] {
            self.waits[lpn] = false;
            self.waiting[self.stream[lpn]].retain(|waiting| *waiting != lpn);
        }
        self.drive.trim(lpn);
    }

    fn host(&self) -> u64 {
        self.drive.host
    }

    fn programmed(&self) -> u64 {
        self.drive.programmed
    }

    fn in_use(&self) -> u64 {
        self.drive.in_use
    }
}
