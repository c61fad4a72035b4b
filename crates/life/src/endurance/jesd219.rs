//! The enterprise stream of JESD219.

use ssdlab_base::LabError;
use ssdlab_ssd::Command;
use ssdlab_ssd::rng::Rng;

/// Sizes of JESD219's enterprise commands in 512-byte blocks, with their shares of 100 (as fio's
/// `examples/jesd219.fio` has them).
pub const SIZES: [(u32, u32); 12] = [
    (1, 4),
    (2, 1),
    (3, 1),
    (4, 1),
    (5, 1),
    (6, 1),
    (7, 1),
    (8, 67),
    (16, 10),
    (32, 7),
    (64, 3),
    (128, 3),
];

/// Shares of 100 commands, and of 100 addresses, in the order of addresses.
pub const ZONES: [(u32, u64); 3] = [(50, 5), (30, 15), (20, 80)];

/// The writes of JESD219's enterprise stream on a drive of `capacity` bytes.
pub struct Jesd219 {
    rng: Rng,
    blocks: u64,
}

impl Jesd219 {
    /// The stream of `seed`.
    ///
    /// # Errors
    /// When the drive is smaller than 16 MiB: its zones would be a few commands wide.
    pub fn new(capacity: u64, seed: u64) -> Result<Jesd219, LabError> {
        if capacity < 16 << 20 {
            return Err(LabError::refused(
                format!("a drive of {capacity} bytes is too small for JESD219's zones"),
                "16 MiB or more",
            ));
        }
        Ok(Jesd219 {
            rng: Rng::named(seed, "jesd219"),
            blocks: capacity / 512,
        })
    }

    /// Index of an entry drawn by its share of 100.
    fn draw<const N: usize>(&mut self, shares: [u32; N]) -> usize {
        let mut draw = self.rng.below(100) as u32;
        for (index, share) in shares.into_iter().enumerate() {
            if draw < share {
                return index;
            }
            draw -= share;
        }
        N - 1
    }
}

impl Iterator for Jesd219 {
    type Item = Command;

    fn next(&mut self) -> Option<Command> {
        let size = u64::from(SIZES[self.draw(SIZES.map(|(_, share)| share))].0);
        let zone = self.draw(ZONES.map(|(share, _)| share));
        let before: u64 = ZONES[..zone].iter().map(|(_, wide)| wide).sum();
        let (first, wide) = (
            self.blocks * before / 100,
            self.blocks * ZONES[zone].1 / 100,
        );
        // Starts at multiples of 4 KiB, as in fio's example.
        let place = self.rng.below((wide - size) / 8 + 1) * 8;
        let offset = (first.next_multiple_of(8) + place).min(self.blocks - size);
        Some(Command::write(offset * 512, (size * 512) as u32))
    }
}
