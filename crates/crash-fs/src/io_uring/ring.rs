//! Requests on their way, and in which order they run.
//!
//! A request that is not linked to the one before it may run before it, beside it or after it: the
//! seed of the disk decides. So it does how far the disk has come when the program looks.

use super::entry::{Flags, RingCompletion, RingRequest};
use super::memory::UserBuffer;
use super::operation::Operation;
use super::request::Request;
use super::work::run;
use crate::descriptors::file_of;
use crate::std::fs::File;
use libc::{EBADF, ECANCELED};
use std::collections::VecDeque;
use std::mem;
use std::sync::{Mutex, MutexGuard};

/// Requests that run one after the other.
#[derive(Debug)]
struct Chain {
    number: u64,
    requests: VecDeque<Request>,
    /// It waits for all before it, and all behind it wait for it.
    drains: bool,
    /// One of its requests runs at this moment.
    runs: bool,
}

/// Sizes of the queues of a ring, in entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct RingCapacity {
    pub submissions: u32,
    pub completions: u32,
}

#[derive(Debug)]
pub(super) struct Ring {
    pub capacity: RingCapacity,
    /// It was set up with a thread that polls.
    pub polls: bool,
    /// Not submitted yet.
    pub queued: VecDeque<RingRequest>,
    pub files: Option<Vec<Option<File>>>,
    pub buffers: Option<Vec<UserBuffer>>,
    chains: VecDeque<Chain>,
    chain_last: u64,
    completed: VecDeque<RingCompletion>,
}

impl Ring {
    fn new(capacity: RingCapacity, polls: bool) -> Ring {
        Ring {
            capacity,
            polls,
            queued: VecDeque::new(),
            files: None,
            buffers: None,
            chains: VecDeque::new(),
            chain_last: 0,
            completed: VecDeque::new(),
        }
    }

    /// Submits what is queued, and returns how much that was. Links end with a submission.
    fn submit(&mut self) -> usize {
        let entries = mem::take(&mut self.queued);
        let count = entries.len();
        let mut is_linked = false;
        for entry in entries {
            if !is_linked {
                self.chain_last += 1;
                self.chains.push_back(Chain {
                    number: self.chain_last,
                    requests: VecDeque::new(),
                    drains: false,
                    runs: false,
                });
            }
            let is_first = !is_linked;
            is_linked = entry.flags.intersects(Flags::IO_LINK | Flags::IO_HARDLINK);
            let drains = entry.flags.contains(Flags::IO_DRAIN);
            let registered = self.buffers.as_deref().unwrap_or_default();
            let operation = Operation::of(&entry, registered);
            let mut request = Request {
                entry,
                operation,
                file: None,
                chain: self.chain_last,
            };
            if is_first {
                self.find_file(&mut request);
            }
            if let Some(chain) = self.chains.back_mut() {
                chain.drains |= drains;
                chain.requests.push_back(request);
            }
        }
        count
    }

    /// Looks the file of a request up: that of a link when it begins, others' at submission.
    fn find_file(&self, request: &mut Request) {
        let entry = &request.entry;
        if !request.operation.is_of_file() {
            return;
        }
        request.file = if entry.flags.contains(Flags::FIXED_FILE) {
            let files = self.files.as_deref().unwrap_or_default();
            let file = files.get(entry.fd as usize).and_then(Option::as_ref);
            file.and_then(|file| file.try_clone().ok())
        } else {
            file_of(entry.fd)
        };
    }

    /// Indices of the chains that may run.
    fn ready(&self) -> Vec<usize> {
        let mut indices = Vec::new();
        for (index, chain) in self.chains.iter().enumerate() {
            if chain.drains && index > 0 {
                break;
            }
            if !chain.runs {
                indices.push(index);
            }
            if chain.drains {
                break;
            }
        }
        indices
    }

    /// A number below a bound, by the seed of a disk that is concerned; 0 if none is.
    fn draw(&self, ready: &[usize], bound: usize) -> usize {
        let requests = ready
            .iter()
            .map(|&index| self.chains[index].requests.front());
        let disk = requests.flatten().find_map(Request::disk);
        disk.map_or(0, |disk| disk.lock().draw(bound as u64) as usize)
    }

    /// The request that runs next.
    fn next(&mut self) -> Option<Request> {
        let ready = self.ready();
        let index = *ready.get(self.draw(&ready, ready.len()))?;
        let chain = &mut self.chains[index];
        chain.runs = true;
        chain.requests.pop_front()
    }

    fn complete(&mut self, entry: &RingRequest, result: i32, fails: bool) {
        if fails || !entry.flags.contains(Flags::SKIP_SUCCESS) {
            self.completed.push_back(RingCompletion {
                result,
                user_data: entry.user_data,
            });
        }
    }

    fn finish(&mut self, request: &Request, result: i32) {
        let fails = request.operation.fails_with(result);
        self.complete(&request.entry, result, fails);
        let mut chains = self.chains.iter();
        let Some(index) = chains.position(|chain| chain.number == request.chain) else {
            return;
        };
        self.chains[index].runs = false;
        if fails && !request.entry.flags.contains(Flags::IO_HARDLINK) {
            let cancelled = mem::take(&mut self.chains[index].requests);
            for link in cancelled {
                self.complete(&link.entry, -ECANCELED, true);
            }
        }
        match self.chains[index].requests.pop_front() {
            None => drop(self.chains.remove(index)),
            Some(mut link) => {
                self.find_file(&mut link);
                self.chains[index].requests.push_front(link);
            }
        }
    }

    /// Requests that have not completed.
    fn in_flight(&self) -> usize {
        let chains = self.chains.iter();
        chains
            .map(|chain| chain.requests.len() + usize::from(chain.runs))
            .sum()
    }

    /// Completions that can be read now.
    pub fn visible(&self) -> usize {
        self.completed.len().min(self.capacity.completions as usize)
    }

    /// Whether completions wait for room.
    pub fn overflows(&self) -> bool {
        self.completed.len() > self.capacity.completions as usize
    }

    /// A completion.
    pub fn completion(&self, index: usize) -> RingCompletion {
        self.completed[index].clone()
    }

    /// Forgets the oldest completions.
    pub fn discard(&mut self, count: usize) {
        self.completed.drain(..count);
    }
}

/// A ring that queues and submitters share.
#[derive(Debug)]
pub(super) struct SharedRing {
    ring: Mutex<Ring>,
}

impl SharedRing {
    pub fn new(capacity: RingCapacity, polls: bool) -> SharedRing {
        SharedRing {
            ring: Mutex::new(Ring::new(capacity, polls)),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Submits what is queued.
    pub fn submit(&self) -> usize {
        let count = self.lock().submit();
        let drawn = {
            let ring = self.lock();
            ring.draw(&ring.ready(), ring.in_flight() + 1)
        };
        self.run_some(drawn);
        count
    }

    /// Lets time pass: some requests run, at least one if no completion is there.
    pub fn work(&self) {
        let count = {
            let ring = self.lock();
            let drawn = ring.draw(&ring.ready(), ring.in_flight() + 1);
            drawn.max(usize::from(ring.completed.is_empty()))
        };
        self.run_some(count);
    }

    fn run_some(&self, count: usize) {
        for _ in 0..count {
            if !self.step() {
                break;
            }
        }
    }

    /// Runs one request, outside of the lock; false if none may run.
    fn step(&self) -> bool {
        let Some(request) = self.lock().next() else {
            return false;
        };
        let result = match request.operation {
            Operation::CloseRegistered(index) => self.close(index),
            _ => run(&request),
        };
        self.lock().finish(&request, result);
        true
    }

    /// Empties the place of a registered file.
    fn close(&self, index: usize) -> i32 {
        let mut ring = self.lock();
        let files = ring.files.as_deref_mut().unwrap_or_default();
        let file = files.get_mut(index).and_then(Option::take);
        drop(ring);
        if file.is_some() { 0 } else { -EBADF }
    }

    /// Runs requests until this many completions are there; false if there will be fewer.
    pub fn wait(&self, completions: usize) -> bool {
        while self.lock().completed.len() < completions {
            if self.step() {
                continue;
            }
            // Another thread may be running one.
            if self.lock().in_flight() == 0 {
                return self.lock().completed.len() >= completions;
            }
            std::thread::yield_now();
        }
        true
    }
}
