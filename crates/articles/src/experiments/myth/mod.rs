//! Article `myth`: how a drive slows down in production, and what keeps it from doing so.
//!
//! ```text
//! in_place    one erase block rewritten per update; the same flash with a log   .inplace, .log
//! production  a server's file system ages drives that differ in one thing each  .degrade,
//!             from the same bad start                                .full70, .trim, .op, .map
//! trim        what a TRIM that is not queued does to reads around it            .trim
//! whole_disk  4 KiB over every block of the DC S3700                            .s3700
//! ```
//! `myth.tps` is the matter of the OLTP host model and not run here.

mod files;
mod in_place;
mod production;
#[cfg(test)]
mod tests;
mod trim;
mod whole_disk;

pub use in_place::{InPlace, Logged};
pub use production::{Age, Aged, EARLIER, REMEDIES, Remedy, Swept};
pub use trim::TrimCost;
pub use whole_disk::WholeDisk;

use super::{Health, Scale};
use ssdlab_base::LabError;
use ssdlab_base::stop::go_on;
use std::sync::atomic::AtomicBool;

/// What a run of the article may be told.
#[derive(Clone, Debug, PartialEq)]
pub struct MythSettings {
    /// Of every load.
    pub seed: u64,
    /// Size of the drives in production and over the whole disk.
    pub scale: Scale,
    /// User capacities that the server writes to each drive.
    pub drive_writes: u32,
    /// Of 100 bytes of the user capacity, so many are used by files.
    pub used_pct: u32,
    /// Commands of each look at the mixed load.
    pub probe_commands: u32,
    /// Also the drives and conditions that no published figure needs, which explain those that do.
    pub complete: bool,
}

impl Default for MythSettings {
    fn default() -> MythSettings {
        MythSettings {
            seed: 1,
            scale: Scale {
                blocks: 4,
                pages: 32,
            },
            drive_writes: 5,
            used_pct: 70,
            probe_commands: 20_000,
            complete: true,
        }
    }
}

/// Everything that the article's ids need.
#[derive(Clone, Debug)]
pub struct MythResult {
    /// As given.
    pub settings: MythSettings,
    /// By page size and pages per erase block (`myth.inplace`).
    pub in_place: Vec<InPlace>,
    /// The same flash written as a log, by how much of it holds valid data (`myth.log`).
    pub logged: Vec<Logged>,
    /// The server on the earlier drive, with each remedy alone, with all, and on the DC S3700
    /// (`myth.degrade`, `myth.full70`, `myth.trim`, `myth.op`, `myth.map`).
    pub aged: Vec<Aged>,
    /// With TRIM, by used share of the capacity: a trimmed drive can still fill up
    /// (`myth.trim`).
    pub by_used: Vec<Swept>,
    /// Without, by used share of the capacity (`myth.full70`).
    pub by_used_untold: Vec<Swept>,
    /// Without TRIM, by over-provisioning (`myth.op`).
    pub by_op: Vec<Swept>,
    /// Reads beside TRIMs (`myth.trim`).
    pub trim: Vec<TrimCost>,
    /// The DC S3700 over all its blocks (`myth.s3700`).
    pub whole_disk: WholeDisk,
    /// Of every drive of the article.
    pub health: Health,
}

impl MythResult {
    /// The drive aged with the remedy of that name.
    pub fn aged(&self, name: &str) -> Option<&Aged> {
        self.aged.iter().find(|aged| aged.name == name)
    }
}

/// Runs every experiment of the article but `myth.tps`.
///
/// # Errors
/// When a drive is not possible at the scale asked for, or `stop` was set.
pub fn run_myth(settings: &MythSettings, stop: &AtomicBool) -> Result<MythResult, LabError> {
    let mut health = Health::default();
    let mut aged = Vec::new();
    for remedy in REMEDIES.iter().filter(|r| r.published || settings.complete) {
        aged.push(production::age(remedy, settings, &mut health, stop)?);
        go_on(stop)?;
    }
    let used: [&[u32]; 2] = if settings.complete {
        [&[50, 70, 80, 90, 97]; 2]
    } else {
        [&[70, 97], &[50, 97]]
    };
    // The first two remedies: none, and TRIM.
    let by_used_untold = production::by_used(&aged[0], used[0], settings, &mut health, stop)?;
    let by_used = production::by_used(&aged[1], used[1], settings, &mut health, stop)?;
    let by_op = if settings.complete {
        production::by_op(settings, &mut health, stop)?
    } else {
        Vec::new()
    };
    go_on(stop)?;
    let in_place = in_place::in_place(settings.seed, &mut health, stop)?;
    let logged = in_place::logged(settings.seed, &mut health, stop)?;
    let trim = trim::cost(settings, &mut health, stop)?;
    let whole_disk = whole_disk::run(settings, &mut health, stop)?;
    // Stopped in between, a drive was not given all of its commands.
    go_on(stop)?;
    Ok(MythResult {
        settings: settings.clone(),
        in_place,
        logged,
        aged,
        by_used,
        by_used_untold,
        by_op,
        trim,
        whole_disk,
        health,
    })
}
