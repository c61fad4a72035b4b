//! Client traces: volumes as published, everything else assumed from what the article says was
//! done on the machine.

use super::measure::ClientTraceName;
use crate::experiments::spare::bench::DESKTOP_COMPRESS_PCT;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

/// A trace's statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClientTrace {
    pub name: ClientTraceName,
    /// MB written; published.
    pub written_mb: u64,
    /// MB read; published.
    pub read_mb: u64,
    /// Sizes of commands in KiB, with their shares in per cent; assumed.
    pub sizes: [(u32, u32); 4],
    /// Percentage of commands that go on where the last of their kind ended; assumed.
    pub sequential_pct: u32,
    /// Commands outstanding in playback; assumed.
    pub depth: u32,
    /// Per cent that a compressor takes off; assumed.
    pub compress_pct: u8,
    /// The part of the drive that it uses, bytes; assumed.
    pub system_bytes: u64,
}

/// Home theatre, productivity, gaming.
pub(super) const TRACES: [ClientTrace; 3] = [
    // Films and downloads: large, in order, compressed already.
    ClientTrace {
        name: ClientTraceName::Htpc,
        written_mb: 2986,
        read_mb: 1924,
        sizes: [(4, 10), (16, 10), (64, 50), (128, 30)],
        sequential_pct: 80,
        depth: 4,
        compress_pct: 0,
        system_bytes: 16 << 30,
    },
    // Mail, office, browser: small, and scattered.
    ClientTrace {
        name: ClientTraceName::Productivity,
        written_mb: 4830,
        read_mb: 2758,
        sizes: [(4, 50), (8, 15), (32, 20), (64, 15)],
        sequential_pct: 40,
        depth: 4,
        compress_pct: DESKTOP_COMPRESS_PCT,
        system_bytes: 16 << 30,
    },
    // Levels and textures, read.
    ClientTrace {
        name: ClientTraceName::Gaming,
        written_mb: 426,
        read_mb: 7235,
        sizes: [(4, 15), (16, 15), (64, 40), (128, 30)],
        sequential_pct: 70,
        depth: 4,
        compress_pct: 0,
        system_bytes: 16 << 30,
    },
];

impl ClientTrace {
    /// Its commands, with the volume divided by `smaller`.
    pub fn commands(&self, rng: &mut Rng, smaller: u64) -> Vec<Command> {
        const MB: u64 = 1_000_000;
        let mut remaining = [self.read_mb, self.written_mb].map(|mb| mb * MB / smaller);
        let mut next = [0_u64; 2];
        let mut commands = Vec::new();
        let system = self.system_bytes / smaller;
        while remaining[0] + remaining[1] > 0 {
            let side = usize::from(rng.below(remaining[0] + remaining[1]) >= remaining[0]);
            let len = self.draw(rng);
            if !rng.percent(self.sequential_pct) || next[side] + u64::from(len) > system {
                next[side] = rng.below((system - u64::from(len)) / 4096) * 4096;
            }
            let offset = next[side];
            next[side] += u64::from(len);
            remaining[side] = remaining[side].saturating_sub(u64::from(len));
            commands.push(match side {
                0 => Command::read(offset, len),
                _ => Command {
                    compress_pct: self.compress_pct,
                    ..Command::write(offset, len)
                },
            });
        }
        commands
    }

    fn draw(&self, rng: &mut Rng) -> u32 {
        let mut drawn = rng.below(100) as u32;
        for (kib, share) in self.sizes {
            match drawn.checked_sub(share) {
                Some(rest) => drawn = rest,
                None => return kib << 10,
            }
        }
        4 << 10
    }
}
