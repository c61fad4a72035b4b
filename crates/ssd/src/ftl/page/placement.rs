//! Placement: the frontiers, and which of them takes what: a frontier for the pSLC cache, one for
//! each stream of the host, one for what is moved from each stream, one for the pages of a map that
//! lies apart, and one for commits that have superblocks of their own.

use crate::config::DriveConfig;
use crate::config::policy::Separation;
use crate::ftl::frontier::Frontier;
use crate::ftl::translation::Hint;
use crate::image::image_of;
use crate::nand::{Gear, Mode, Nand, UnitPlace};

/// The pSLC cache's frontier; that of stream `s` is `1 + s`.
pub(super) const SLC_FRONTIER: usize = 0;

image_of! {
    /// Lifespans of overwritten data, for separation by lifespan.
    #[derive(Clone, Debug, Default)]
    struct Lifespans {
        /// Time of the last write of each slot, in host slots written, modulo 2^32.
        written_at: Vec<u32>,
        /// Exponential mean of recent lifespans, in 1/16 host slots.
        mean: u64,
    }
}

image_of! {
    /// See the module's documentation.
    #[derive(Clone, Debug)]
    pub(super) struct Placement {
        /// pSLC, host streams, relocation streams, those of the map and of commits if they have
        /// one.
        frontiers: Vec<Frontier>,
        streams: u32,
        /// Whether moved data shares the frontiers of the host's.
        shared: bool,
        separation: Separation,
        map_apart: bool,
        /// Whether pages of a map that lies apart are a tree's.
        tree: bool,
        /// Whether the last frontier is that of commits.
        commits_apart: bool,
        lifespans: Lifespans,
        /// Host slots written, coalesced ones included: the clock of lifespans.
        host_slots: u64,
    }
}

impl Placement {
    pub fn new(config: &DriveConfig) -> Placement {
        let reclaim = &config.ftl.reclaim;
        let streams = reclaim.streams;
        let map_apart = config.map_is_apart();
        let lifespans = reclaim.separation == Separation::Lifespan;
        let commits_apart = config.ftl.slc.commit_superblocks > 0;
        let apart = usize::from(map_apart) + usize::from(commits_apart);
        let frontiers = 1 + 2 * streams as usize + apart;
        Placement {
            frontiers: vec![Frontier::default(); frontiers],
            streams,
            shared: reclaim.shared_frontier,
            separation: reclaim.separation,
            map_apart,
            commits_apart,
            tree: config.ftl.mapping.kind == crate::config::MappingKind::Tree,
            lifespans: Lifespans {
                written_at: vec![
                    0;
                    if lifespans {
                        config.user_slots() as usize
                    } else {
                        0
                    }
                ],
                mean: 0,
            },
            host_slots: 0,
        }
    }

    /// Forgets which superblocks are open, without closing them.
    pub fn clear(&mut self) {
        self.frontiers.fill(Frontier::default());
    }

    /// Discards all that is not on media, before recovery.
    pub fn forget(&mut self) {
        self.clear();
        self.lifespans.written_at.fill(0);
        self.lifespans.mean = 0;
        self.host_slots = 0;
    }

    /// Streams of the host.
    #[inline(always)]
    pub fn streams(&self) -> u32 {
        self.streams
    }

    /// Whether all data of the host goes one way and all that is moved another.
    pub fn is_plain(&self) -> bool {
        self.separation == Separation::Single && self.streams == 1 && !self.shared
    }

    /// Whether pages of the map have superblocks of their own.
    #[inline(always)]
    pub fn map_is_apart(&self) -> bool {
        self.map_apart
    }

    /// The frontier of host data of a stream.
    #[inline(always)]
    pub fn host_frontier(&self, stream: usize) -> usize {
        1 + stream
    }

    /// The frontier of the map's pages.
    #[inline(always)]
    pub fn map_frontier(&self) -> usize {
        if self.map_apart {
            self.own_map_frontier()
        } else {
            self.host_frontier(0)
        }
    }

    fn own_map_frontier(&self) -> usize {
        1 + 2 * self.streams as usize
    }

    /// The frontier of commits, if they have superblocks of their own.
    #[inline(always)]
    pub fn commit_frontier(&self) -> Option<usize> {
        self.commits_apart.then(|| self.frontiers.len() - 1)
    }

    /// Frontiers that may hold a native superblock open.
    pub fn native_count(&self) -> usize {
        self.frontiers.len() - usize::from(self.commits_apart)
    }

    /// Whether a frontier's superblocks are in SLC mode.
    fn is_slc(&self, frontier: usize) -> bool {
        frontier == SLC_FRONTIER || self.commit_frontier() == Some(frontier)
    }

    /// Whether a frontier's superblocks are those of a tree's pages.
    pub fn is_of_tree(&self, frontier: usize) -> bool {
        self.map_apart && self.tree && frontier == self.own_map_frontier()
    }

    /// Whether a frontier takes data that is overwritten soon: the host's, or a tree's.
    pub fn is_hot(&self, frontier: usize) -> bool {
        frontier <= self.streams as usize || self.is_of_tree(frontier) || self.is_slc(frontier)
    }

    /// Whether a frontier takes nothing but data that has stayed.
    pub fn is_cold(&self, frontier: usize) -> bool {
        !self.shared && !self.is_hot(frontier)
    }

    /// The stream of a host or relocation frontier; 0 for those of the pSLC cache and the map.
    pub fn stream_of(&self, frontier: usize) -> u8 {
        if self.is_slc(frontier) {
            return 0;
        }
        ((frontier.max(1) - 1) % self.streams as usize) as u8
    }

    /// The frontier of a batch that is moved out of a superblock of `stream`: data goes back to its
    /// stream, or all of it to one; pages of the map to their own superblocks where they have them.
    #[inline(always)]
    pub fn relocation_frontier(&self, is_of_map: bool, stream: u8) -> usize {
        if is_of_map && self.map_apart {
            return self.own_map_frontier();
        }
        let stream = match self.separation {
            Separation::InitiallyIsolated => 0,
            _ => usize::from(stream),
        };
        1 + stream
            + if self.shared {
                0
            } else {
                self.streams as usize
            }
    }

    /// The stream of a host write; `is_mapped`: the slot has been written before.
    #[inline(always)]
    pub fn stream_for(&mut self, lpn: u32, hint: Hint, is_mapped: impl FnOnce() -> bool) -> usize {
        match self.separation {
            Separation::Single => 0,
            Separation::Hint | Separation::InitiallyIsolated => {
                (u32::from(hint.stream) % self.streams) as usize
            }
            Separation::Lifespan => self.stream_by_lifespan(lpn, is_mapped()),
        }
    }

    fn stream_by_lifespan(&mut self, lpn: u32, is_mapped: bool) -> usize {
        let written = self.host_slots as u32;
        let lifespan = written.wrapping_sub(self.lifespans.written_at[lpn as usize]);
        self.lifespans.written_at[lpn as usize] = written;
        if !is_mapped {
            return 0;
        }
        let spans = u64::from(lifespan) << 4;
        let mean = self.lifespans.mean;
        self.lifespans.mean = (mean * 1023 + spans) / 1024;
        usize::from(spans < mean).min(self.streams as usize - 1)
    }

    /// Counts host slots written.
    #[inline(always)]
    pub fn count_host_slots(&mut self, slots: u64) {
        self.host_slots += slots;
    }

    /// The frontiers.
    pub fn frontiers(&self) -> &[Frontier] {
        &self.frontiers
    }

    /// The open superblock of a frontier and its mode.
    #[inline(always)]
    pub fn open(&self, frontier: usize) -> Option<(u32, Mode)> {
        self.frontiers[frontier].open()
    }

    #[inline(always)]
    pub fn is_open(&self, frontier: usize) -> bool {
        self.open(frontier).is_some()
    }

    /// The frontier at which a superblock is open.
    pub fn frontier_of(&self, superblock: u32) -> Option<usize> {
        let open = |frontier: &Frontier| frontier.open().map(|open| open.0);
        let mut frontiers = self.frontiers.iter();
        frontiers.position(|frontier| open(frontier) == Some(superblock))
    }

    #[inline(always)]
    pub fn frontier_mut(&mut self, frontier: usize) -> &mut Frontier {
        &mut self.frontiers[frontier]
    }

    /// Takes the next unit of a frontier.
    #[inline(always)]
    pub fn take<G: Gear>(&mut self, frontier: usize, nand: &Nand<G>) -> UnitPlace {
        self.frontiers[frontier].take(nand)
    }

    /// Whether a frontier may continue a superblock in this mode.
    pub fn fits(&self, mode: Mode, frontier: usize) -> bool {
        (mode == Mode::Slc) == self.is_slc(frontier)
    }
}
