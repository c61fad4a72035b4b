//! The modelled drive as the suite of theory sees it: pages are slots, blocks are superblocks, and
//! there is no time. Without a buffer every page is written through, so that none is overwritten
//! while it waits; with one, pages coalesce, and only those that are placed count as the host's.

use super::protocol::TheorySubject;
use super::reference::{ReferencePolicy, ReferenceSetup};
use ssdlab_base::LabError;
use ssdlab_ssd::config::{FtlConfig, Pace};
use ssdlab_ssd::ftl::policies::{Separation, VictimChoice};
use ssdlab_ssd::{Command, CountingDrive, DriveConfig};

const SLOT: u64 = 4096;

/// A drive without time, whose pages are written one by one.
pub struct DriveSubject {
    drive: CountingDrive,
    /// Stream of each page.
    stream: Vec<u8>,
    in_use: Vec<bool>,
    in_use_count: u64,
    /// Writes wait in the buffer.
    is_buffered: bool,
}

/// A drive of one die whose superblocks are blocks of `np` single-slot pages.
fn config(setup: &ReferenceSetup, buffer: usize) -> DriveConfig {
    let mut c = DriveConfig::tiny();
    c.name = "theory".into();
    c.shape.channel_count = 1;
    c.shape.dies_per_channel = 1;
    c.shape.planes_per_die = 1;
    c.shape.blocks_per_plane = setup.blocks as u32;
    c.shape.pages_per_block = setup.np as u32;
    c.shape.page_bytes = SLOT as u32;
    c.shape.slot_bytes = SLOT as u32;
    c.shape.bits_per_cell = 1;
    c.nand.timing.read.truncate(1);
    c.nand.timing.program.truncate(1);
    c.user_bytes = setup.logical_pages as u64 * SLOT;
    let (name, parameter) = match setup.policy {
        ReferencePolicy::Greedy => ("greedy", 0),
        ReferencePolicy::Fifo => ("fifo", 0),
        ReferencePolicy::Random => ("random", 0),
        ReferencePolicy::DChoices(d) => ("d-choices", d.into()),
        ReferencePolicy::CostBenefit => ("cost-benefit", 0),
        ReferencePolicy::Windowed(w) => ("windowed", w.into()),
    };
    c.ftl = FtlConfig::default();
    c.ftl.reclaim.victim = VictimChoice::new(name, parameter);
    c.ftl.reclaim.pace = Pace::Whole;
    c.ftl.reclaim.free_superblocks_low = setup.reserve as u32;
    c.ftl.reclaim.shared_frontier = !setup.separate;
    c.ftl.reclaim.streams = setup.streams as u32;
    c.ftl.reclaim.separation = Separation::Hint;
    c.ftl.seed = setup.seed;
    if buffer > 0 {
        // One page is gathered beside those that are held.
        c.buffer.hold_bytes = (buffer as u64 - 1) * SLOT;
        c.buffer.bytes = (setup.streams as u64 * buffer as u64 + 2) * SLOT;
    }
    c
}

impl DriveSubject {
    /// An empty drive with `buffer` pages of write buffer for each stream; with none, all is
    /// written through. `stream(page)` is the stream that the host names with each write.
    ///
    /// # Errors
    /// When the drive model refuses the setup.
    pub fn new(
        setup: &ReferenceSetup,
        buffer: usize,
        stream: impl Fn(usize) -> usize,
    ) -> Result<DriveSubject, LabError> {
        let drive = CountingDrive::new(config(setup, buffer)).map_err(|error| {
            LabError::refused(error.to_string(), "choose other sizes for the experiment")
        })?;
        Ok(DriveSubject {
            drive,
            stream: (0..setup.logical_pages)
                .map(|page| stream(page) as u8)
                .collect(),
            in_use: vec![false; setup.logical_pages],
            in_use_count: 0,
            is_buffered: buffer > 0,
        })
    }

    /// The drive itself.
    pub fn drive(&self) -> &CountingDrive {
        &self.drive
    }
}

impl TheorySubject for DriveSubject {
    fn write(&mut self, lpn: usize) {
        let start = lpn as u64 * SLOT;
        let command = Command {
            stream: self.stream[lpn],
            ..if self.is_buffered {
                Command::write(start, SLOT as u32)
            } else {
                Command::write_fua(start, SLOT as u32)
            }
        };
        self.drive.apply(&command);
        self.in_use_count += u64::from(!self.in_use[lpn]);
        self.in_use[lpn] = true;
    }

    fn trim(&mut self, lpn: usize) {
        self.drive
            .apply(&Command::trim(lpn as u64 * SLOT, SLOT as u32));
        self.in_use_count -= u64::from(self.in_use[lpn]);
        self.in_use[lpn] = false;
    }

    fn host(&self) -> u64 {
        self.drive.counters().slots_host
    }

    fn programmed(&self) -> u64 {
        self.drive.counters().slots_programmed()
    }

    fn in_use(&self) -> u64 {
        self.in_use_count
    }
}
