//! A drive without time, brought into a state by writes: a tenth of the work of the timed one.

use ssdlab_base::LabError;
use ssdlab_ssd::rng::Rng;
use ssdlab_ssd::{Command, CountingDrive, Drive, DriveConfig};

/// Bytes of a command that fills.
pub const FILL_BLOCK: u32 = 128 << 10;
/// Rounds of half the drive until write amplification is steady.
const ROUNDS_MIN: usize = 6;
const ROUNDS_MAX: usize = 16;
/// Rounds over which it is taken, and their largest difference as a share.
const LAST_ROUNDS: usize = 3;
const STEADY_WAF: f64 = 0.03;
/// Commands that are applied at once.
const BATCH: u64 = 4096;
const SEED: u64 = 1;

/// A drive, and the draws of its writes.
pub struct UntimedRig {
    drive: CountingDrive,
    /// Bytes in whole commands that fill.
    user: u64,
    rng: Rng,
}

impl UntimedRig {
    /// A fresh drive.
    ///
    /// # Errors
    /// When the configuration is impossible.
    pub fn new(config: DriveConfig) -> Result<UntimedRig, LabError> {
        let user = config.user_bytes / u64::from(FILL_BLOCK) * u64::from(FILL_BLOCK);
        let drive = CountingDrive::new(config);
        Ok(UntimedRig {
            drive: drive.map_err(|error| LabError::refused(error.to_string(), ""))?,
            user,
            rng: Rng::named(SEED, "ledger"),
        })
    }

    /// Bytes that commands write: the drive in whole commands that fill.
    pub fn user(&self) -> u64 {
        self.user
    }

    /// The drive after a fill and random writes of 4 KiB, with time.
    ///
    /// # Errors
    /// When the drive is block-mapped.
    pub fn steady(mut self) -> Result<Drive, LabError> {
        self.in_order(0, Command::write);
        self.overwrite(4096, |rng, slots| rng.below(slots));
        let drive = self.drive.into_timed();
        drive.map_err(|error| LabError::refused(error.to_string(), ""))
    }

    /// Commands of [`FILL_BLOCK`] from `offset` to the end.
    pub fn in_order(&mut self, offset: u64, command: impl Fn(u64, u32) -> Command) {
        for offset in (offset..self.user).step_by(FILL_BLOCK as usize) {
            self.drive.apply(&command(offset, FILL_BLOCK));
        }
    }

    /// Write amplification while `write` writes.
    pub fn waf_of(&mut self, write: impl FnOnce(&mut UntimedRig)) -> f64 {
        let before = self.drive.counters().clone();
        write(self);
        let slot = self.drive.config().shape.slot_bytes;
        let counters = self.drive.counters();
        counters.waf_since(&before, slot).unwrap_or(1.0)
    }

    /// Writes of `block` bytes to slots that `choose` draws, in rounds of half the drive, until
    /// write amplification agrees; that of the last rounds.
    pub fn overwrite(&mut self, block: u32, choose: impl Fn(&mut Rng, u64) -> u64) -> f64 {
        let slots = self.user / u64::from(block);
        let mut wafs: Vec<f64> = Vec::new();
        while wafs.len() < ROUNDS_MAX {
            wafs.push(
                self.waf_of(|rig| rig.write_some(slots / 2, block, |rng| choose(rng, slots))),
            );
            let last = &wafs[wafs.len().saturating_sub(LAST_ROUNDS)..];
            if wafs.len() >= ROUNDS_MIN && agree(last) {
                break;
            }
        }
        let last = &wafs[wafs.len() - LAST_ROUNDS..];
        last.iter().sum::<f64>() / last.len() as f64
    }

    fn write_some(&mut self, count: u64, block: u32, choose: impl Fn(&mut Rng) -> u64) {
        let mut written = 0;
        while written < count {
            let batch = BATCH.min(count - written);
            let commands: Vec<Command> = (0..batch)
                .map(|_| Command::write(choose(&mut self.rng) * u64::from(block), block))
                .collect();
            self.drive.apply_all(&commands);
            written += batch;
        }
    }
}

fn agree(wafs: &[f64]) -> bool {
    let least = wafs.iter().copied().fold(f64::MAX, f64::min);
    let most = wafs.iter().copied().fold(f64::MIN, f64::max);
    most - least <= STEADY_WAF * most
}
