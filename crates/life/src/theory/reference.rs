//! The reference: a page-mapped drive in plain words, to hold the real one against.
//!
//! It counts pages and nothing else: no time, no buffer, no dies. What it fixes, because results
//! under skew depend on it by several per cent:
//! - *reserve*: when the frontier of a host page has no room for it, whole victims are reclaimed
//!   until more than R blocks are free, or R are and the frontier has room (a shared one gets it
//!   from the relocated pages' own blocks);
//! - *victim*: a closed block; among equals the one with the lowest number;
//! - *order*: a victim's valid pages are copied in ascending order, and erased after the last;
//! - *age* of a block: pages written by the host since it was closed, and one;
//! - *frontier*: K blocks filled in turn, page by page, each replaced when its turn finds it full.
//!   Free blocks are taken first in, first out. The older copy of a page that the host writes stays
//!   valid until the new one is placed.

use ssdlab_ssd::rng::Rng;

/// How a victim is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReferencePolicy {
    /// Fewest valid pages.
    Greedy,
    /// Closed first.
    Fifo,
    /// Any.
    Random,
    /// Fewest valid pages of a number of blocks drawn at random, with repetition.
    DChoices(u32),
    /// Highest (1 - u) age / 2u, u the share of valid pages (A. Kawaguchi et al., "A flash-memory
    /// based file system", 1995); a block without any comes first.
    CostBenefit,
    /// Fewest valid pages of a number of blocks that were closed first.
    Windowed(u32),
}

/// The drive to be built.
#[derive(Clone, Debug)]
pub struct ReferenceSetup {
    /// N.
    pub blocks: usize,
    /// Np, pages of a block.
    pub np: usize,
    /// U, logical pages.
    pub logical_pages: usize,
    /// R, blocks kept free. At least `open` times `streams`.
    pub reserve: usize,
    /// K, blocks open per frontier.
    pub open: usize,
    /// Host streams; each has a frontier, and one more for relocated pages if `separate`.
    pub streams: usize,
    /// Whether relocated pages have frontiers of their own.
    pub separate: bool,
    /// Chooses victims.
    pub policy: ReferencePolicy,
    /// Of the policy's draws.
    pub seed: u64,
}

const NONE: usize = usize::MAX;

#[derive(Clone, Default)]
struct ReferenceBlock {
    /// Pages written, in order; a page is valid while the map points back at it.
    pages: Vec<usize>,
    valid: usize,
    /// Pages that the host had written when it was closed.
    closed_at: u64,
}

/// The drive.
pub struct ReferenceDrive {
    setup: ReferenceSetup,
    blocks: Vec<ReferenceBlock>,
    free: std::collections::VecDeque<usize>,
    /// Per logical page: block and page, or `NONE`.
    map: Vec<(usize, usize)>,
    /// Per logical page, the stream that it belongs to.
    stream: Vec<usize>,
    /// Per frontier: its open blocks, and whose turn it is.
    frontiers: Vec<(Vec<usize>, usize)>,
    /// Blocks that are full, in the order of closing.
    closed: Vec<usize>,
    rng: Rng,
    /// Pages written by the host.
    pub host: u64,
    /// Pages programmed: host and relocated.
    pub programmed: u64,
    /// Logical pages that hold data.
    pub in_use: u64,
    /// Victims by the number of valid pages they held.
    pub victims: Vec<u64>,
}

impl ReferenceDrive {
    /// An empty drive. `stream(lpn)` is the oracle that separates hot from cold.
    pub fn new(setup: ReferenceSetup, stream: impl Fn(usize) -> usize) -> ReferenceDrive {
        let frontiers = setup.streams * if setup.separate { 2 } else { 1 };
        assert!(setup.reserve >= setup.open * setup.streams);
        ReferenceDrive {
            blocks: vec![ReferenceBlock::default(); setup.blocks],
            free: (0..setup.blocks).collect(),
            map: vec![(NONE, NONE); setup.logical_pages],
            stream: (0..setup.logical_pages).map(stream).collect(),
            frontiers: vec![(vec![NONE; setup.open], 0); frontiers],
            closed: Vec::new(),
            rng: Rng::named(setup.seed, "policy"),
            host: 0,
            programmed: 0,
            in_use: 0,
            victims: vec![0; setup.np + 1],
            setup,
        }
    }

    /// The host writes a page.
    pub fn write(&mut self, lpn: usize) {
        let frontier = self.stream[lpn];
        if !self.has_room(frontier) {
            while self.free.len() + usize::from(self.has_room(frontier)) <= self.setup.reserve {
                self.reclaim();
            }
        }
        self.trim(lpn);
        self.place(lpn, frontier);
        self.host += 1;
        self.in_use += 1;
    }

    /// The host forgets a page.
    pub fn trim(&mut self, lpn: usize) {
        if self.map[lpn].0 != NONE {
            self.blocks[self.map[lpn].0].valid -= 1;
            self.map[lpn] = (NONE, NONE);
            self.in_use -= 1;
        }
    }

    /// Whether the block whose turn it is is there to take a page.
    fn has_room(&self, frontier: usize) -> bool {
        let (open, turn) = &self.frontiers[frontier];
        open[*turn] != NONE
    }

    fn place(&mut self, lpn: usize, frontier: usize) {
        if !self.has_room(frontier) {
            let (open, turn) = &mut self.frontiers[frontier];
            open[*turn] = self.free.pop_front().expect("a free block");
        }
        let (open, turn) = &mut self.frontiers[frontier];
        let number = open[*turn];
        let block = &mut self.blocks[number];
        self.map[lpn] = (number, block.pages.len());
        block.pages.push(lpn);
        block.valid += 1;
        if block.pages.len() == self.setup.np {
            block.closed_at = self.host;
            self.closed.push(number);
            open[*turn] = NONE;
        }
        *turn = (*turn + 1) % open.len();
        self.programmed += 1;
    }

    fn reclaim(&mut self) {
        let victim = self.choose();
        self.closed.retain(|&b| b != victim);
        self.victims[self.blocks[victim].valid] += 1;
        let pages = std::mem::take(&mut self.blocks[victim].pages);
        for (i, &lpn) in pages.iter().enumerate() {
            if self.map[lpn] == (victim, i) {
                self.blocks[victim].valid -= 1;
                let streams = if self.setup.separate {
                    self.setup.streams
                } else {
                    0
                };
                self.place(lpn, self.stream[lpn] + streams);
            }
        }
        assert_eq!(self.blocks[victim].valid, 0);
        self.blocks[victim] = ReferenceBlock::default();
        self.free.push_back(victim);
    }

    /// The victim, by the policy.
    fn choose(&mut self) -> usize {
        let (np, host) = (self.setup.np, self.host);
        let (blocks, closed, rng) = (&self.blocks, &self.closed, &mut self.rng);
        let emptiest = |candidates: &[usize]| {
            candidates
                .iter()
                .copied()
                .min_by_key(|&b| (blocks[b].valid, b))
        };
        let mut any = || closed[rng.below(closed.len() as u64) as usize];
        let victim = match self.setup.policy {
            ReferencePolicy::Greedy => emptiest(closed),
            ReferencePolicy::Fifo => closed.first().copied(),
            ReferencePolicy::Random => Some(any()),
            ReferencePolicy::DChoices(d) => {
                emptiest(&(0..d).map(|_| any()).collect::<Vec<usize>>())
            }
            ReferencePolicy::Windowed(w) => emptiest(&closed[..closed.len().min(w as usize)]),
            ReferencePolicy::CostBenefit => {
                let score = |b: usize| match blocks[b].valid {
                    0 => f64::INFINITY,
                    v => {
                        ((np - v) as u64 * (host - blocks[b].closed_at + 1)) as f64 / (2 * v) as f64
                    }
                };
                let worse = |a: &usize, b: &usize| score(*a).total_cmp(&score(*b)).then(b.cmp(a));
                closed.iter().copied().max_by(worse)
            }
        };
        victim.expect("a closed block")
    }
}
